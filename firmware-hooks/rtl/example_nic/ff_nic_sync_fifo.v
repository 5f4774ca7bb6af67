// SPDX-License-Identifier: Apache-2.0
// ff_nic_sync_fifo: the synchronization FIFO of one lane, 32-bit halves from the recovered clock to the own link clock.
//
// Latency: two to three cycles of m_clk. Throughput: one half a cycle; the reader may skip one (m_pop 2) or stay (0).
// Back-pressure: none. A half written into a full FIFO is lost and counted; a read while empty repeats the last half
// and is told. Clock domains: s_clk, m_clk, near the same rate; both resets together.
`default_nettype none
module ff_nic_sync_fifo #(
    parameter DEPTH_LOG2 = 4 // log2 of the halves, 3..6
) (
    input  wire        s_clk, s_rst,
    input  wire        s_valid, s_idle, s_halt,
    input  wire [31:0] s_data,
    input  wire        m_clk, m_rst,
    input  wire        m_read,          // a half is wanted in this cycle
    input  wire [1:0]  m_pop,           // halves to go on by, 0..2
    input  wire        m_stale,         // fault: the crossing of the write pointer stands still
    output wire        m_idle, m_halt,
    output wire [31:0] m_data,
    output wire        m_next_idle,     // the half behind it is there and idle
    output wire [DEPTH_LOG2:0] m_level, // halves
    output wire        m_underflow,     // read while empty
    output wire        s_lost,          // written while full
    output wire        m_overflow,      // known to have been, one cycle for one or more
    output reg  [31:0] stat_overflows
);
    localparam A = DEPTH_LOG2;
    generate if (DEPTH_LOG2 < 3 || DEPTH_LOG2 > 6) begin : g_check_DEPTH_LOG2
        ff_error_DEPTH_LOG2_must_be_3_to_6 stop (); // none such
    end endgenerate

    reg  [33:0] ram [0:(1<<A)-1];
    reg  [A:0]  write_q, write_gray_q;
    reg  [A:0]  read_q, read_gray_q, seen_q;
    reg  [3:0]  lost_q, lost_gray_q, known_q;
    wire [A:0]  read_gray_s, read_s, write_gray_m, write_m;
    wire [3:0]  lost_gray_m, lost_m;
    wire [A:0]  used = write_q - read_s;
    wire        full = used[A];
    assign s_lost = s_valid && full;
    wire [A:0]  write_next = write_q + {{A{1'b0}}, s_valid && !full};
    always @(posedge s_clk) begin
        if (s_valid && !full) ram[write_q[A-1:0]] <= {s_idle, s_halt, s_data};
        write_q <= write_next;
        write_gray_q <= write_next ^ (write_next >> 1);
        lost_q <= lost_q + {3'd0, s_valid && full};
        lost_gray_q <= lost_q ^ (lost_q >> 1);
        if (s_rst) begin
            write_q <= {A+1{1'b0}};
            write_gray_q <= {A+1{1'b0}};
            lost_q <= 4'd0;
            lost_gray_q <= 4'd0;
        end
    end

    // The last half again while there is none: what a bonded word is then made of.
    reg  [33:0] last_q;
    wire [A:0]  seen = m_stale ? seen_q : write_m;
    assign m_level = seen - read_q;
    wire        empty = m_level == {A+1{1'b0}};
    wire [33:0] head = empty ? last_q : ram[read_q[A-1:0]];
    wire [A-1:0] second = read_q[A-1:0] + {{A-1{1'b0}}, 1'b1};
    wire [33:0] next = ram[second];
    wire        two = m_level > {{A{1'b0}}, 1'b1};
    wire [1:0]  pop = empty ? 2'd0 : m_pop == 2'd2 && !two ? 2'd1 : m_pop;
    wire [A:0]  read_next = read_q + (m_read ? {{A-1{1'b0}}, pop} : {A+1{1'b0}});
    assign {m_idle, m_halt, m_data} = head;
    assign m_next_idle = two && next[33];
    assign m_underflow = m_read && empty;
    assign m_overflow = lost_m != known_q;
    always @(posedge m_clk) begin
        if (m_read && !empty) last_q <= head;
        seen_q <= seen;
        read_q <= read_next;
        read_gray_q <= read_next ^ (read_next >> 1);
        known_q <= lost_m;
        stat_overflows <= stat_overflows + {28'd0, lost_m - known_q};
        if (m_rst) begin
            last_q <= {1'b1, 33'd0};
            seen_q <= {A+1{1'b0}};
            read_q <= {A+1{1'b0}};
            read_gray_q <= {A+1{1'b0}};
            known_q <= 4'd0;
            stat_overflows <= 32'd0;
        end
    end
    ff_cdc_sync #(.W(A+1)) i_read (.clk(s_clk), .d(read_gray_q), .q(read_gray_s));
    ff_cdc_sync #(.W(A+1)) i_write (.clk(m_clk), .d(write_gray_q), .q(write_gray_m));
    ff_cdc_sync #(.W(4)) i_lost (.clk(m_clk), .d(lost_gray_q), .q(lost_gray_m));
    ff_nic_gray_binary #(.W(A+1)) i_read_binary (.gray(read_gray_s), .binary(read_s));
    ff_nic_gray_binary #(.W(A+1)) i_write_binary (.gray(write_gray_m), .binary(write_m));
    ff_nic_gray_binary #(.W(4)) i_lost_binary (.gray(lost_gray_m), .binary(lost_m));
    wire unused = &{1'b0, next[32:0]};
endmodule
`default_nettype wire
