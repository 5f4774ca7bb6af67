// SPDX-License-Identifier: Apache-2.0
// ff_quad_records: the ways to what stands in the trace memories of a device: their window, INDEX, and the CRC table over them.
//
// Latency, throughput: those of ff_trace_window and ff_crc_table; without a table its window answers an error in the cycle behind
// its select. Back-pressure: none; the host goes before the CRC engine. Clock domain: clk.
`default_nettype none
module ff_quad_records #(
    // records in each memory, 15 bits each, memory 0 lowest; 0: there is none
    parameter [74:0] DEPTHS = {15'd2048, 15'd2048, 15'd2048, 15'd2048, 15'd2048},
    parameter DEPTH_LOG2 = 11,         // of the deepest one
    parameter WITH_CRC = 1             // CRC table
) (
    input  wire         clk, rst, bus_rst, frozen,
    // windows
    input  wire [4:0]   sel_trace,
    input  wire         sel_index, sel_crc,
    input  wire [15:0]  win_word,
    input  wire [23:0]  cfg_index_record,
    input  wire [2:0]   cfg_index_memory,
    output wire         trace_ack, trace_err,
    output wire [31:0]  trace_rdata,
    output wire [71:0]  trace_record,  // with trace_ack: the whole record
    output wire         crc_ack, crc_err,
    output wire [31:0]  crc_rdata,
    output wire [34:0]  stat_chunks_done,
    // memories
    output wire [4:0]   rd_en,
    output wire [13:0]  rd_slot,
    input  wire [359:0] rd_record
);
    wire        crc_en, crc_grant;
    wire [2:0]  crc_memory;
    wire [13:0] crc_slot;
    ff_trace_window #(.MEMORIES(5), .DEPTHS(DEPTHS)) i_trace (
        .clk(clk), .rst(rst), .frozen(frozen), .sel_trace(sel_trace), .sel_index(sel_index), .win_word(win_word),
        .cfg_index_record(cfg_index_record), .cfg_index_memory(cfg_index_memory),
        .win_ack(trace_ack), .win_err(trace_err), .win_rdata(trace_rdata),
        .crc_en(crc_en), .crc_memory(crc_memory), .crc_slot(crc_slot), .crc_grant(crc_grant), .crc_record(trace_record),
        .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record)
    );
    generate
        if (WITH_CRC != 0) begin : g_crc
            ff_crc_table #(.MEMORIES(5), .DEPTH_LOG2(DEPTH_LOG2), .DEPTHS(DEPTHS)) i_crc (
                .clk(clk), .rst(rst), .bus_rst(bus_rst), .frozen(frozen),
                .rd_en(crc_en), .rd_memory(crc_memory), .rd_slot(crc_slot), .grant(crc_grant), .rd_record(trace_record),
                .stat_chunks_done(stat_chunks_done), .sel(sel_crc), .win_word(win_word[8:0]),
                .win_ack(crc_ack), .win_err(crc_err), .win_rdata(crc_rdata)
            );
        end else begin : g_no_crc
            reg  none_ack;
            always @(posedge clk) none_ack <= sel_crc && !none_ack && !rst;
            assign {crc_ack, crc_err} = {none_ack, none_ack};
            assign {crc_en, crc_memory, crc_slot, stat_chunks_done, crc_rdata} = 85'd0;
            wire unused = &{1'b0, crc_grant, bus_rst};
        end
    endgenerate
endmodule
`default_nettype wire
