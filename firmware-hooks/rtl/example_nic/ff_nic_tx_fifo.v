// SPDX-License-Identifier: Apache-2.0
// ff_nic_tx_fifo: the outgoing FIFO: whole packets from the bus to the link domain.
//
// Latency: a packet is offered three link cycles after its last word was written. Throughput: one word a cycle on
// either side. Back-pressure: s_room, by which the writer asks for a whole packet first; a word written into a full
// FIFO is lost and told (stat_overflow). Clock domains: s_clk, m_clk, any ratio; both resets together.
//
// Only the number of whole packets crosses to the reader, one more at a time, so a Gray code carries it.
`default_nettype none
module ff_nic_tx_fifo #(
    parameter DEPTH_LOG2 = 10,  // log2 of the words, 4..15
    parameter PACKETS_LOG2 = 9  // log2 of the packets that may stand in it, 2..12
) (
    input  wire        s_clk, s_rst,
    input  wire        s_valid, s_last,
    input  wire [1:0]  s_kind,
    input  wire [63:0] s_data,
    input  wire        s_omit,          // fault: the write enable of this word is lost
    output wire [DEPTH_LOG2:0] s_room,  // words
    output wire        s_packet_room,   // one packet more may be begun
    output wire        stat_overflow,   // a word was lost in this cycle
    input  wire        stat_clk,        // s_clk, but goes on where that is stopped: the level is then exact
    output wire [15:0] stat_level,      // words
    output wire [15:0] stat_left,       // packets that have left since reset, s_clk
    input  wire        m_clk, m_rst,
    output wire        m_valid,         // a whole packet stands here, this is its first word or a later one
    output wire        m_last,
    output wire [1:0]  m_kind,
    output wire [63:0] m_data,
    output wire [10:0] m_words,         // words of the packet
    input  wire        m_take,
    input  wire        m_hold           // fault: this read does not move the pointer
);
    localparam A = DEPTH_LOG2, C = PACKETS_LOG2;
    generate
        if (DEPTH_LOG2 < 4 || DEPTH_LOG2 > 15) begin : g_check_DEPTH_LOG2
            ff_error_DEPTH_LOG2_must_be_4_to_15 stop (); // none such
        end
        if (PACKETS_LOG2 < 2 || PACKETS_LOG2 > 12) begin : g_check_PACKETS_LOG2
            ff_error_PACKETS_LOG2_must_be_2_to_12 stop (); // none such
        end
    endgenerate

    // bus side
    reg  [66:0] ram [0:(1<<A)-1];
    reg  [10:0] lengths [0:(1<<C)-1];
    reg  [A:0]  write_q;
    reg  [C:0]  packets_q, packets_gray_q;
    reg  [10:0] words_q;        // of the packet being written
    wire [A:0]  read_gray_s, read_s;
    wire [C:0]  left_gray_s, left_s;
    wire full = s_room == {A+1{1'b0}};
    wire write = s_valid && !full && !s_omit;
    wire [C:0] packets_next = packets_q + {{C{1'b0}}, 1'b1};
    assign s_room = read_s - write_q + {1'b1, {A{1'b0}}};
    assign s_packet_room = packets_q - left_s != {1'b1, {C{1'b0}}};
    assign stat_overflow = s_valid && full;
    always @(posedge s_clk) begin
        if (write) begin
            ram[write_q[A-1:0]] <= {s_last, s_kind, s_data};
            write_q <= write_q + {{A{1'b0}}, 1'b1};
        end
        if (s_valid) begin
            words_q <= s_last ? 11'd1 : words_q + 11'd1;
            if (s_last) begin
                lengths[packets_q[C-1:0]] <= words_q;
                packets_q <= packets_next;
            end
        end
        packets_gray_q <= packets_q ^ (packets_q >> 1); // one cycle after the last word is in the memory
        if (s_rst) begin
            write_q <= {A+1{1'b0}};
            packets_q <= {C+1{1'b0}};
            packets_gray_q <= {C+1{1'b0}};
            words_q <= 11'd1;
        end
    end

    // link side
    reg  [A:0]  read_q, read_gray_q;
    reg  [C:0]  left_q, left_gray_q;
    reg  [66:0] head_q;
    reg  [10:0] length_q;
    reg         ready_q;        // head_q and length_q hold what read_q and left_q point to
    wire [C:0]  packets_gray_m;
    wire        take = m_valid && m_take;
    wire        move = take && !m_hold;
    wire [A:0]  read_next = read_q + {{A{1'b0}}, move};
    wire [C:0]  left_next = left_q + {{C{1'b0}}, move && m_last};
    assign m_valid = ready_q;
    assign {m_last, m_kind, m_data} = head_q;
    assign m_words = length_q;
    always @(posedge m_clk) begin
        head_q <= ram[read_next[A-1:0]];
        length_q <= lengths[left_next[C-1:0]];
        ready_q <= packets_gray_m != (left_next ^ (left_next >> 1));
        read_q <= read_next;
        read_gray_q <= read_next ^ (read_next >> 1);
        left_q <= left_next;
        left_gray_q <= left_next ^ (left_next >> 1);
        if (m_rst) begin
            read_q <= {A+1{1'b0}};
            read_gray_q <= {A+1{1'b0}};
            left_q <= {C+1{1'b0}};
            left_gray_q <= {C+1{1'b0}};
            ready_q <= 1'b0;
        end
    end

    ff_cdc_sync #(.W(C+1)) i_packets (.clk(m_clk), .d(packets_gray_q), .q(packets_gray_m));
    ff_cdc_sync #(.W(A+1)) i_read (.clk(s_clk), .d(read_gray_q), .q(read_gray_s));
    ff_cdc_sync #(.W(C+1)) i_left (.clk(s_clk), .d(left_gray_q), .q(left_gray_s));
    ff_nic_gray_binary #(.W(A+1)) i_read_binary (.gray(read_gray_s), .binary(read_s));
    ff_nic_gray_binary #(.W(C+1)) i_left_binary (.gray(left_gray_s), .binary(left_s));

    wire [A:0] read_gray_stat, read_stat;
    ff_cdc_sync #(.W(A+1)) i_stat (.clk(stat_clk), .d(read_gray_q), .q(read_gray_stat));
    ff_nic_gray_binary #(.W(A+1)) i_stat_binary (.gray(read_gray_stat), .binary(read_stat));
    wire [A:0] level = write_q - read_stat;
    assign stat_level = {{15-A{1'b0}}, level};
    assign stat_left = {{15-C{1'b0}}, left_s};
endmodule
`default_nettype wire
