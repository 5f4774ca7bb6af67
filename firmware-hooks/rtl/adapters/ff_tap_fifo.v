// SPDX-License-Identifier: Apache-2.0
// ff_tap_fifo: two taps on a FIFO, what goes in and what comes out, and a strobe for each word it loses or never had.
//
// Latency: none on the write side; on the read side READ_LATENCY. Throughput: one word a cycle on each side. Back-pressure:
// none, it only listens. Clock domains: wr_clk and rd_clk, which may be one.
`default_nettype none
module ff_tap_fifo #(
    parameter READ_LATENCY = 0 // 0: the word stands at rd_data with rd_en; 1: one cycle later
) (
    // the FIFO's write side
    input  wire        wr_en, wr_full,
    input  wire [3:0]  wr_kind,
    input  wire [63:0] wr_data,
    // its read side
    input  wire        rd_clk, rd_rst,
    input  wire        rd_en, rd_empty,
    input  wire [3:0]  rd_kind,
    input  wire [63:0] rd_data,
    // tap into the FIFO, in the write side's clock
    output wire        enq_valid,
    output wire [3:0]  enq_kind,
    output wire [63:0] enq_data,
    output wire        overflow,   // a word was lost: counter and cause
    // tap out of it, rd_clk
    output wire        deq_valid,
    output wire [3:0]  deq_kind,
    output wire [63:0] deq_data,
    output wire        underflow   // a word was read that was none
);
    generate if (READ_LATENCY < 0 || READ_LATENCY > 1) begin : g_check_READ_LATENCY
        ff_error_READ_LATENCY_must_be_0_or_1 stop (); // none such
    end endgenerate

    assign enq_valid = wr_en && !wr_full;
    assign enq_kind = wr_kind;
    assign enq_data = wr_data;
    assign overflow = wr_en && wr_full;

    wire takes = rd_en && !rd_empty;
    assign underflow = rd_en && rd_empty;
    assign deq_kind = rd_kind;
    assign deq_data = rd_data;
    generate
        if (READ_LATENCY == 1) begin : g_later
            reg takes_q;
            always @(posedge rd_clk) takes_q <= takes && !rd_rst;
            assign deq_valid = takes_q;
        end else begin : g_now
            wire unused = &{1'b0, rd_clk, rd_rst};
            assign deq_valid = takes;
        end
    endgenerate
endmodule
`default_nettype wire
