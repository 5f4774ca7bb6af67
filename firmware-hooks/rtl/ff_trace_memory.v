// SPDX-License-Identifier: Apache-2.0
// ff_trace_memory: the memory of one recorder: 72-bit records, written in one clock domain, read in another.
//
// Latency: a record stands at rd_record one rd_clk cycle after rd_en. Throughput: one write and one read a cycle.
// Back-pressure: none. Clock domains: wr_clk, rd_clk. Block RAM; no reset reaches it. The write port is enabled by
// the write strobe, the read port by rd_en, which the register side lets up only while frozen: whatever the addresses
// do while a card is in reset, no record is touched. Slots that were never written read 0.
`default_nettype none
module ff_trace_memory #(
    parameter DEPTH = 2048 // records, a power of two, 16..65536
) (
    input  wire                     wr_clk,
    input  wire                     wr_en,
    input  wire [$clog2(DEPTH)-1:0] wr_slot,
    input  wire [71:0]              wr_record,
    input  wire                     rd_clk,
    input  wire                     rd_en,     // read AND frozen
    input  wire [$clog2(DEPTH)-1:0] rd_slot,
    output reg  [71:0]              rd_record
);
    generate if (DEPTH < 16 || DEPTH > 65536 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
        ff_error_DEPTH_must_be_a_power_of_two_from_16_to_65536 stop (); // none such
    end endgenerate

    (* ram_style = "block" *) reg [71:0] ram [0:DEPTH-1];
    integer slot;
    initial for (slot = 0; slot < DEPTH; slot = slot + 1) ram[slot] = 72'd0; // what a block RAM holds after configuration

    always @(posedge wr_clk) if (wr_en) ram[wr_slot] <= wr_record;
    always @(posedge rd_clk) if (rd_en) rd_record <= ram[rd_slot];
endmodule
`default_nettype wire
