// SPDX-License-Identifier: Apache-2.0
// ff_nic_rx_fifo: the incoming FIFO, from the link to the bus domain; read while it is still being written
// (cut-through).
//
// Each word carries its kind, whether it is the first stored of its packet, and what the checks before the FIFO found.
// Latency: four m_clk cycles. Throughput: one word a cycle on either side. Back-pressure: none towards the link: a word
// for which there is no room is lost (s_accept low). Clock domains: s_clk, m_clk, any ratio; both resets together.
`default_nettype none
module ff_nic_rx_fifo #(
    parameter DEPTH_LOG2 = 11 // log2 of the words, 4..15
) (
    input  wire        s_clk, s_rst,
    input  wire        s_valid, s_first, s_last, // last: the packet ends, whether this word is stored or not
    input  wire [1:0]  s_kind,
    input  wire [63:0] s_data,
    input  wire        s_omit,          // fault: the write enable of this word is lost
    output wire        s_accept,        // the word goes in
    input  wire [2:0]  s_flags,         // of the word before: bad length, payload, header; one cycle after it
    input  wire        m_clk, m_rst,
    output wire        m_valid, m_start,
    output wire [1:0]  m_kind,
    output wire [63:0] m_data,
    output wire [2:0]  m_flags,
    input  wire        m_take,
    input  wire        m_hold,          // fault: this read does not move the pointer
    output wire        m_complete,      // the oldest packet stands here to its end; what m_valid then does not show was read
    input  wire        m_done,          // the oldest packet has been read
    output wire [DEPTH_LOG2:0] m_level, // words that may be read
    input  wire        stat_clk,        // m_clk, but goes on where that is stopped: the level is then exact
    output wire [DEPTH_LOG2:0] stat_level // words that were accepted and not read
);
    localparam A = DEPTH_LOG2;
    generate if (DEPTH_LOG2 < 4 || DEPTH_LOG2 > 15) begin : g_check_DEPTH_LOG2
        ff_error_DEPTH_LOG2_must_be_4_to_15 stop (); // none such
    end endgenerate

    // link side: a word is written one cycle after it was accepted, with the verdict on it
    reg  [69:0] ram [0:(1<<A)-1];
    reg  [A:0]  write_q, write_gray_q, stored_q, stored_gray_q;
    reg  [A:0]  ends_q, ends_gray_q;    // packets that ended, each with a word here
    reg         pending_q, any_q, end_q, end2_q;
    reg         store_q, start_q;
    reg  [1:0]  kind_q;
    reg  [63:0] data_q;
    wire [A:0]  read_gray_s, read_s;
    wire [A:0]  used = write_q - read_s;
    wire        store = s_valid && !used[A] && !s_omit;
    wire        start = s_first || pending_q;       // no word of this packet has been stored so far
    assign s_accept = s_valid && !used[A];
    wire [A:0]  write_next = write_q + {{A{1'b0}}, store};
    wire [A:0]  stored_next = stored_q + {{A{1'b0}}, store_q};
    wire [A:0]  ends_next = ends_q + {{A{1'b0}}, end2_q};
    always @(posedge s_clk) begin
        store_q <= store;
        {start_q, kind_q, data_q} <= {start, s_kind, s_data};
        write_q <= write_next;
        write_gray_q <= write_next ^ (write_next >> 1);
        if (s_valid) pending_q <= start && !store;
        if (s_valid) any_q <= !s_last && (store || (any_q && !s_first));
        end_q <= s_valid && s_last && (store || (any_q && !s_first));
        end2_q <= end_q; // the words first, then the end
        if (store_q) ram[stored_q[A-1:0]] <= {s_flags, start_q, kind_q, data_q};
        stored_q <= stored_next;
        stored_gray_q <= stored_next ^ (stored_next >> 1);
        ends_q <= ends_next;
        ends_gray_q <= ends_next ^ (ends_next >> 1);
        if (s_rst) begin
            write_q <= {A+1{1'b0}};
            write_gray_q <= {A+1{1'b0}};
            stored_q <= {A+1{1'b0}};
            stored_gray_q <= {A+1{1'b0}};
            ends_q <= {A+1{1'b0}};
            ends_gray_q <= {A+1{1'b0}};
            store_q <= 1'b0;
            pending_q <= 1'b0;
            any_q <= 1'b0;
            end_q <= 1'b0;
            end2_q <= 1'b0;
        end
    end

    // bus side
    reg  [A:0]  read_q, read_gray_q, done_q;
    reg  [A:0]  ended_q;                // not known before the packet's last word shows, at any ratio of the clocks
    reg  [69:0] head_q;
    reg         valid_q;
    wire [A:0]  stored_gray_m, stored_m, ends_gray_m, ends_m;
    wire        move = valid_q && m_take && !m_hold;
    wire [A:0]  read_next = read_q + {{A{1'b0}}, move};
    always @(posedge m_clk) begin
        head_q <= ram[read_next[A-1:0]];
        valid_q <= stored_m != read_next;
        read_q <= read_next;
        read_gray_q <= read_next ^ (read_next >> 1);
        ended_q <= ends_m;
        if (m_done) done_q <= done_q + {{A{1'b0}}, 1'b1};
        if (m_rst) begin
            valid_q <= 1'b0;
            read_q <= {A+1{1'b0}};
            read_gray_q <= {A+1{1'b0}};
            ended_q <= {A+1{1'b0}};
            done_q <= {A+1{1'b0}};
        end
    end
    assign m_valid = valid_q;
    assign {m_flags, m_start, m_kind, m_data} = head_q;
    assign m_level = stored_m - read_q;
    assign m_complete = ended_q != done_q;

    wire [A:0] write_gray_stat, write_stat;
    ff_cdc_sync #(.W(A+1)) i_stat (.clk(stat_clk), .d(write_gray_q), .q(write_gray_stat));
    ff_nic_gray_binary #(.W(A+1)) i_stat_binary (.gray(write_gray_stat), .binary(write_stat));
    assign stat_level = write_stat - read_q;

    ff_cdc_sync #(.W(A+1)) i_read (.clk(s_clk), .d(read_gray_q), .q(read_gray_s));
    ff_cdc_sync #(.W(A+1)) i_stored (.clk(m_clk), .d(stored_gray_q), .q(stored_gray_m));
    ff_cdc_sync #(.W(A+1)) i_ends (.clk(m_clk), .d(ends_gray_q), .q(ends_gray_m));
    ff_nic_gray_binary #(.W(A+1)) i_read_binary (.gray(read_gray_s), .binary(read_s));
    ff_nic_gray_binary #(.W(A+1)) i_stored_binary (.gray(stored_gray_m), .binary(stored_m));
    ff_nic_gray_binary #(.W(A+1)) i_ends_binary (.gray(ends_gray_m), .binary(ends_m));
endmodule
`default_nettype wire
