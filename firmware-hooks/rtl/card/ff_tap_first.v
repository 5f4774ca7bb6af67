// SPDX-License-Identifier: Apache-2.0
// ff_tap_first: of each packet the words of its first bytes, and SUM in place of the last word of one that has more.
//
// Latency: words stand two cycles later than they come, as SUM needs. Throughput: a word a cycle. Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_tap_first #(
    parameter FIRST = 64, // bytes of a packet whose words are kept, 2..65535
    parameter SIDE = 8    // bits of word_lanes, as ff_tap_beats: 72 for each side lane and 8
) (
    input  wire            clk, rst, arm,
    // of ff_tap_beats
    input  wire            word_valid,
    input  wire [3:0]      word_kind,
    input  wire [63:0]     word_data,
    input  wire [SIDE-1:0] word_lanes,
    input  wire [7:0]      pending,
    // of ff_tap_summary: a packet's SUM stands two cycles after its last word
    input  wire [63:0]     sum_data,
    output wire            out_valid,
    output wire [3:0]      out_kind,
    output wire [63:0]     out_data,
    output wire [SIDE-1:0] out_lanes,
    output wire [7:0]      out_pending
);
    generate if (FIRST < 2 || FIRST > 65535) begin : g_check_FIRST
        ff_error_FIRST_must_be_2_to_65535 stop (); // none such
    end endgenerate
    localparam LANES = SIDE / 72, COUNT_W = $clog2(FIRST + 8 * LANES + 9);
    integer i, k;
    // Bytes of the word, and those of the packet before it, as many as count.
    wire [7:0] mask = word_kind[2] && !word_kind[3] ? word_data[63:56] : 8'hFF;
    reg  [COUNT_W-1:0] bytes, before_q;
    always @* begin
        bytes = {COUNT_W{1'b0}};
        for (i = 0; i < 8; i = i + 1) bytes = bytes + {{COUNT_W-1{1'b0}}, mask[i]};
        for (k = 0; k < LANES; k = k + 1)
            for (i = 0; i < 8; i = i + 1) bytes = bytes + {{COUNT_W-1{1'b0}}, word_lanes[72*k + 64 + i]};
    end
    wire kept = {{32-COUNT_W{1'b0}}, before_q} < FIRST;
    wire last = word_kind[0] && word_kind != 4'd1;

    reg            valid_q, valid_2q, sum_q, sum_2q;
    reg [3:0]      kind_q, kind_2q;
    reg [63:0]     data_q, data_2q;
    reg [SIDE-1:0] lanes_q, lanes_2q;
    reg [7:0]      pending_q, pending_2q;
    always @(posedge clk) begin
        if (word_valid) before_q <= last ? {COUNT_W{1'b0}} : kept ? before_q + bytes : before_q;
        if (rst) before_q <= {COUNT_W{1'b0}};
        valid_q <= word_valid && (kept || last) && !rst && !arm;
        valid_2q <= valid_q && !rst && !arm;
        {sum_q, kind_q, data_q, lanes_q} <= {!kept, word_kind, word_data, word_lanes};
        {sum_2q, kind_2q, data_2q, lanes_2q} <= {sum_q, kind_q, data_q, lanes_q};
        {pending_q, pending_2q} <= arm ? 16'd0 : {pending, pending_q};
    end
    assign {out_valid, out_lanes, out_pending} = {valid_2q, lanes_2q, pending_2q};
    assign {out_kind, out_data} = sum_2q ? {4'd8, sum_data} : {kind_2q, data_2q};
endmodule
`default_nettype wire
