// SPDX-License-Identifier: Apache-2.0
// ff_trace_window: leads the register port's windows, INDEX_DATA and the CRC engine to the trace memories.
//
// A record is four words: data 0-31, data 32-63, kind | dt << 4, 0. Latency: an access answers in its second cycle, and
// in its first where the record asked for still stands at its memory. Throughput: one access at a time; the CRC engine
// has every cycle that is left. Back-pressure: crc_grant. Clock domain: clk; the answer comes straight from the memory,
// ff_regs registers it. The selects come only while frozen, so no memory is read before.
`default_nettype none
module ff_trace_window #(
    parameter MEMORIES = 5,    // memories, 1..5
    // records in each, 15 bits each, memory 0 lowest; 0: there is none
    parameter [74:0] DEPTHS = {15'd2048, 15'd2048, 15'd2048, 15'd2048, 15'd2048}
) (
    input  wire                   clk, rst,
    input  wire                   frozen,
    // windows
    input  wire [MEMORIES-1:0]    sel_trace,
    input  wire                   sel_index,   // ctl.index_data, word 0..2
    input  wire [15:0]            win_word,
    input  wire [23:0]            cfg_index_record,
    input  wire [2:0]             cfg_index_memory,
    output wire                   win_ack, win_err,
    output wire [31:0]            win_rdata,
    // CRC engine
    input  wire                   crc_en,
    input  wire [2:0]             crc_memory,
    input  wire [13:0]            crc_slot,
    output wire                   crc_grant,
    output reg  [71:0]            crc_record,  // one cycle after crc_en && crc_grant
    // memories
    output reg  [MEMORIES-1:0]    rd_en,
    output wire [13:0]            rd_slot,
    input  wire [MEMORIES*72-1:0] rd_record
);
    generate if (MEMORIES < 1 || MEMORIES > 5) begin : g_check_MEMORIES
        ff_error_MEMORIES_must_be_1_to_5 stop (); // none such
    end endgenerate

    function [14:0] depth_of(input [2:0] memory);
        depth_of = {29'd0, memory} < MEMORIES ? DEPTHS[memory*15 +: 15] : 15'd0;
    endfunction

    // stands_q: the record of memory_q and slot_q stands at its memory, no read and no arm has come since.
    wire sel = |sel_trace || sel_index;
    reg         stands_q;
    reg  [2:0]  memory_q;                      // whose record stands at the port
    reg  [13:0] slot_q;
    reg  [2:0] number;                         // memory of the access
    integer k;
    always @* begin
        number = cfg_index_memory;
        for (k = 0; k < MEMORIES; k = k + 1) if (sel_trace[k]) number = k[2:0];
    end
    wire [23:0] record = sel_index ? cfg_index_record : {10'd0, win_word[15:2]};
    wire exists = record < {9'd0, depth_of(number)};
    wire here = stands_q && memory_q == number && slot_q == record[13:0];
    wire first = sel && exists && !here;

    wire [2:0] memory = first ? number : crc_memory;
    assign rd_slot = first ? record[13:0] : crc_slot;
    assign crc_grant = !first;
    always @* for (k = 0; k < MEMORIES; k = k + 1) rd_en[k] = memory == k[2:0] && (first || crc_en);

    always @* begin
        crc_record = 72'd0;
        for (k = 0; k < MEMORIES; k = k + 1)
            crc_record = crc_record | (rd_record[k*72 +: 72] & {72{memory_q == k[2:0]}});
    end
    reg  [31:0] part;
    always @* begin
        case (win_word[1:0])
            2'd0: part = crc_record[31:0];
            2'd1: part = crc_record[63:32];
            2'd2: part = {24'd0, crc_record[71:64]};
            default: part = 32'd0;
        endcase
    end
    always @(posedge clk) begin
        if (first || crc_en) begin
            memory_q <= memory;
            slot_q <= rd_slot;
        end
        stands_q <= frozen && !rst && (first || (stands_q && !crc_en));
    end
    assign win_ack = sel && (here || !exists);
    assign win_err = sel && !exists;
    assign win_rdata = part & {32{sel && exists}};
endmodule
`default_nettype wire
