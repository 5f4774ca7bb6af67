// SPDX-License-Identifier: Apache-2.0
// ff_trace_memory_half: ff_trace_memory, read in halves, so that no multiplexer stands behind it.
//
// Latency: a half stands at rd_half one cycle after rd_en. Throughput: one write and one read a cycle. Back-pressure: none.
// Clock domains: wr_clk, rd_clk. Block RAM with a write port twice as wide as the read port. The write port is
// enabled by the write strobe, the read port by rd_en and rd_clear, which the register side lets up only while frozen (rd_clear in
// the recorder's reset, too: it clears the read register, what is in the memory stays). Slots that were never written read 0.
`default_nettype none
module ff_trace_memory_half #(
    parameter DEPTH = 2048 // records, a power of two, 16..16384
) (
    input  wire                     wr_clk,
    input  wire                     wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_slot,
    input  wire [71:0]              wr_record,
    input  wire                     rd_clk,
    input  wire                     rd_en,     // read AND frozen
    input  wire [$clog2(DEPTH)-1:0] rd_slot,
    input  wire                     rd_high,   // 0: kind and data 0-31, 1: dt and data 32-63
    input  wire                     rd_clear,  // rd_half becomes 0, whatever rd_en says
    output reg  [35:0]              rd_half
);
    generate if (DEPTH < 16 || DEPTH > 16384 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
        ff_error_DEPTH_must_be_a_power_of_two_from_16_to_16384 stop (); // none such
    end endgenerate

    (* ram_style = "block" *) reg [35:0] ram [0:2*DEPTH-1];
    integer half;
    initial for (half = 0; half < 2 * DEPTH; half = half + 1) ram[half] = 36'd0; // what a block RAM holds after configuration

    always @(posedge wr_clk) if (wr_en) begin
        ram[{wr_slot, 1'b0}] <= {wr_record[67:64], wr_record[31:0]};
        ram[{wr_slot, 1'b1}] <= {wr_record[71:68], wr_record[63:32]};
    end
    initial rd_half = 36'd0;
    always @(posedge rd_clk) begin
        if (rd_clear) rd_half <= 36'd0;
        else if (rd_en) rd_half <= ram[{rd_slot, rd_high}];
    end
endmodule
`default_nettype wire
