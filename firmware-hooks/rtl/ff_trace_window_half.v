// SPDX-License-Identifier: Apache-2.0
// ff_trace_window_half: ff_trace_window for memories that are read in halves, without a CRC engine, for a small build.
//
// A record is four words: data 0-31, data 32-63, kind | dt << 4, 0. A half is 36 bits: {kind, data 0-31}, {dt, data 32-63}.
// Latency: an access answers in its second cycle, the third word in its third; what does not exist at once. Throughput: one
// access at a time. Back-pressure: none. Clock domain: clk; ff_regs answers in the cycle of win_ack. The selects come only
// while frozen, so no memory is read before.
`default_nettype none
module ff_trace_window_half #(
    parameter MEMORIES = 5,    // memories, 1..5
    // records in each, 15 bits each, memory 0 lowest; 0: there is none
    parameter [74:0] DEPTHS = {15'd2048, 15'd2048, 15'd2048, 15'd2048, 15'd2048}
) (
    input  wire                   clk, rst,
    // windows
    input  wire [MEMORIES-1:0]    sel_trace,
    input  wire                   sel_index,   // ctl.index_data, word 0..2
    input  wire [15:0]            win_word,
    input  wire [23:0]            cfg_index_record,
    input  wire [2:0]             cfg_index_memory,
    output wire                   win_ack, win_err,
    output wire [31:0]            win_rdata,
    // memories
    output wire [MEMORIES-1:0]    rd_en,
    output wire [13:0]            rd_slot,
    output wire                   rd_high,
    input  wire [MEMORIES*36-1:0] rd_half
);
    generate if (MEMORIES < 1 || MEMORIES > 5) begin : g_check_MEMORIES
        ff_error_MEMORIES_must_be_1_to_5 stop (); // none such
    end endgenerate

    function [14:0] depth_of(input [2:0] memory);
        depth_of = {29'd0, memory} < MEMORIES ? DEPTHS[memory*15 +: 15] : 15'd0;
    endfunction

    reg  [2:0] number;                         // memory of the access
    integer k;
    always @* begin
        number = cfg_index_memory;
        for (k = 0; k < MEMORIES; k = k + 1) if (sel_trace[k]) number = k[2:0];
    end
    wire sel = |sel_trace || sel_index;
    wire [23:0] record = sel_index ? cfg_index_record : {10'd0, win_word[15:2]};
    wire exists = record < {9'd0, depth_of(number)};

    // Reads: the half asked for, and of the third word the lower half first.
    reg  [1:0] step_q;                         // reads that were made
    reg  [3:0] kind_q;
    wire third = win_word[1:0] == 2'd2;
    assign rd_slot = record[13:0];
    assign rd_high = win_word[0] || step_q != 2'd0;
    genvar m;
    generate for (m = 0; m < MEMORIES; m = m + 1) begin : g_read
        assign rd_en[m] = sel && number == m;
    end endgenerate
    wire [179:0] halves = {{180-MEMORIES*36{1'b0}}, rd_half};
    wire [35:0] of_four, half;
    ff_mux4 #(.W(36)) i_half (
        .sel(number[1:0]), .d0(halves[35:0]), .d1(halves[71:36]), .d2(halves[107:72]), .d3(halves[143:108]), .q(of_four)
    );
    generate if (DEPTHS[74:60] != 15'd0 && MEMORIES == 5) begin : g_fifth
        assign half = number[2] ? halves[179:144] : of_four;
    end else begin : g_four
        assign half = of_four;
        wire unused = &{1'b0, halves[179:144]};
    end endgenerate
    always @(posedge clk) begin
        kind_q <= half[35:32];
        step_q <= rst || !sel || win_ack ? 2'd0 : step_q + 2'd1;
    end
    assign win_ack = sel && (!exists || (third ? step_q[1] : step_q[0]));
    assign win_err = sel && !exists;
    wire [31:0] part = {half[31:8] & {24{!win_word[1]}}, third ? {half[35:32], kind_q} : half[7:0] & {8{!win_word[1]}}};
    assign win_rdata = part & {32{sel && exists}};
endmodule
`default_nettype wire
