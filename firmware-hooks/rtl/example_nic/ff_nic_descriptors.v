// SPDX-License-Identifier: Apache-2.0
// ff_nic_descriptors: the ring of descriptors that wait for the transmit DMA; gives packets their sequence numbers.
//
// A descriptor is four 32-bit target writes, word 0 to 3 (docs/formats.md section 5); it counts with word 3, whose
// td_type is the packet's type. One of more than 512 words is ignored. Latency: one cycle. Throughput: one a cycle.
// Back-pressure: td_full, by which a host waits; what is written into a full ring is ignored. Pattern packets enter
// here as well, when no descriptor does. Clock domain: clk.
`default_nettype none
module ff_nic_descriptors #(
    parameter PLACES_LOG2 = 4 // log2 of the descriptors that may wait, 1..8
) (
    input  wire        clk, rst,
    // target writes
    input  wire        td_ask,          // the host asks for the bus to write one; one cycle
    input  wire        td_valid,
    input  wire [1:0]  td_word,
    input  wire [3:0]  td_type,
    input  wire [31:0] td_data,
    output wire        td_full,
    // pattern packets
    input  wire        pat_valid,
    input  wire [31:0] pat_seed, pat_number,
    input  wire [9:0]  pat_length,
    input  wire [6:0]  pat_flow,
    output wire        pat_taken,
    // to the DMA: the oldest
    output wire        m_valid,
    output wire [63:0] m_src,       // of a pattern packet: seed, number
    output wire [31:0] m_dest,
    output wire [9:0]  m_length,
    output wire [3:0]  m_flags, m_type,
    output wire [6:0]  m_flow,
    output wire [15:0] m_seq,
    output wire        m_pattern,
    input  wire        m_take,
    // status and event
    output wire [15:0] stat_waiting,
    output reg         ev_posted, ev_from_host, ev_posting,
    output reg  [6:0]  ev_flow,
    output reg  [39:0] ev_value,
    output wire [39:0] ev_posting_value // the number that comes next; what it is to be is not known yet
);
    localparam A = PLACES_LOG2;
    generate if (PLACES_LOG2 < 1 || PLACES_LOG2 > 8) begin : g_check_PLACES_LOG2
        ff_error_PLACES_LOG2_must_be_1_to_8 stop (); // none such
    end endgenerate
    localparam [3:0] RDMA_WRITE = 4'd1, PATTERN = 4'd4;

    reg  [137:0] ring [0:(1<<A)-1];
    reg  [A:0]   write_q, read_q;
    reg  [15:0]  seq_q;
    reg  [95:0]  words_q;
    wire [A:0]   waiting = write_q - read_q;
    assign td_full = waiting[A];
    wire host = td_valid && td_word == 2'd3 && !td_full && td_data[9:0] <= 10'd512;
    assign pat_taken = pat_valid && !td_valid && !td_full;
    wire push = host || pat_taken;
    wire [9:0] length = host ? td_data[9:0] : pat_length;
    wire [3:0] flags = host ? td_data[15:12] : PATTERN;
    wire [6:0] flow = host ? td_data[22:16] : pat_flow;
    wire [3:0] packet_type = host ? td_type : RDMA_WRITE;
    wire [63:0] src = host ? words_q[63:0] : {pat_seed, pat_number};
    wire [31:0] dest = host ? words_q[95:64] : 32'd0;

    always @(posedge clk) begin
        if (td_valid) case (td_word)
            2'd0: words_q[31:0] <= td_data;
            2'd1: words_q[63:32] <= td_data;
            2'd2: words_q[95:64] <= td_data;
            default: ;
        endcase
        if (push) begin
            ring[write_q[A-1:0]] <= {pat_taken, seq_q, packet_type, flow, flags, length, dest, src};
            write_q <= write_q + {{A{1'b0}}, 1'b1};
            seq_q <= seq_q + 16'd1;
        end
        if (m_valid && m_take) read_q <= read_q + {{A{1'b0}}, 1'b1};
        ev_posted <= push;
        ev_from_host <= host;
        ev_posting <= td_ask;
        ev_flow <= flow;
        ev_value <= {4'd0, seq_q, flags, 2'd0, packet_type, length};
        if (rst) begin
            write_q <= {A+1{1'b0}};
            read_q <= {A+1{1'b0}};
            seq_q <= 16'd0;
            ev_posted <= 1'b0;
            ev_from_host <= 1'b0;
            ev_posting <= 1'b0;
        end
    end
    assign m_valid = waiting != {A+1{1'b0}};
    assign {m_pattern, m_seq, m_type, m_flow, m_flags, m_length, m_dest, m_src} = ring[read_q[A-1:0]];
    assign ev_posting_value = {4'd0, seq_q, 20'd0};
    assign stat_waiting = {{15-A{1'b0}}, waiting};
    wire unused = &{1'b0, td_data[31:23], td_data[11:10]};
endmodule
`default_nettype wire
