// SPDX-License-Identifier: Apache-2.0
// ff_trigger_steps: what a trigger makes of the words that are the same as its terms: edge, count, sequence, limit.
//
// Behind the comparison of ff_trigger or ff_trigger_srl. Latency: none from same to fire. Throughput: one word a cycle.
// Back-pressure: none. Clock domain: clk. The truth table stands in docs/trigger.md.
`default_nettype none
module ff_trigger_steps #(
    parameter WITH_EDGE = 1,     // 0: cfg_edge counts as 0
    parameter WITH_SEQUENCE = 1, // 0: cfg_sequence counts as 0
    parameter COUNT_W = 32,      // bits of cfg_count that count, 1..32
    parameter LIMIT_W = 32       // bits of cfg_limit that count, 1..32
) (
    input  wire        clk, rst, // synchronous
    input  wire        restart,  // nothing has been seen yet; what is offered in this cycle is not seen either
    input  wire        cfg_enable, cfg_edge, cfg_sequence,
    input  wire [31:0] cfg_count, cfg_limit,
    input  wire        word_valid,
    input  wire [1:0]  same,     // the word agrees with term 0, term 1
    output wire        step, fire
);
    generate
        if (WITH_EDGE != 0 && WITH_EDGE != 1) begin : g_check_WITH_EDGE
            ff_error_WITH_EDGE_must_be_0_or_1 stop (); // none such
        end
        if (WITH_SEQUENCE != 0 && WITH_SEQUENCE != 1) begin : g_check_WITH_SEQUENCE
            ff_error_WITH_SEQUENCE_must_be_0_or_1 stop (); // none such
        end
        if (COUNT_W < 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_1_to_32 stop (); // none such
        end
        if (LIMIT_W < 1 || LIMIT_W > 32) begin : g_check_LIMIT_W
            ff_error_LIMIT_W_must_be_1_to_32 stop (); // none such
        end
    endgenerate

    wire clear = rst || restart || !cfg_enable;
    reg  fired_q;
    wire look = !clear && word_valid && !fired_q;

    // Edge: the word before, at the same tap, must not have agreed.
    wire [1:0] match;
    generate if (WITH_EDGE == 1) begin : g_edge
        reg [1:0] before_q;
        always @(posedge clk) begin
            if (look) before_q <= same;
            if (clear) before_q <= 2'b00;
        end
        assign match = same & ~(before_q & {2{cfg_edge}});
    end else begin : g_level
        assign match = same;
        wire unused = &{1'b0, cfg_edge};
    end endgenerate

    // Sequence: only while begun_q do matches of term 1 count.
    wire counted;
    wire begin_now;
    generate if (WITH_SEQUENCE == 1) begin : g_sequence
        reg begun_q;
        reg [LIMIT_W-1:0] left_q;          // cycles in which term 1 may still come, behind this one
        wire limited = cfg_limit[LIMIT_W-1:0] != {LIMIT_W{1'b0}};
        assign begin_now = look && cfg_sequence && !begun_q && match[0];
        assign counted = look && (cfg_sequence ? begun_q && match[1] : match[0]);
        always @(posedge clk) begin
            left_q <= (begun_q ? left_q : cfg_limit[LIMIT_W-1:0]) - {{LIMIT_W-1{1'b0}}, 1'b1};
            if (begin_now) begun_q <= 1'b1;
            else if (limited && left_q == {LIMIT_W{1'b0}}) begun_q <= 1'b0;
            if (clear) begun_q <= 1'b0;
        end
    end else begin : g_alone
        assign begin_now = 1'b0;
        assign counted = look && match[0];
        wire unused = &{1'b0, cfg_sequence, cfg_limit, match[1]};
    end endgenerate
    assign step = begin_now;

    reg  [COUNT_W-1:0] matches_q;          // matches still needed; 0 and 1: the next one fires
    wire nearly;
    generate if (COUNT_W > 1) begin : g_count
        assign nearly = matches_q[COUNT_W-1:1] == {COUNT_W-1{1'b0}};
    end else begin : g_one
        assign nearly = 1'b1;
    end endgenerate
    assign fire = counted && nearly;
    always @(posedge clk) begin
        if (counted && !nearly) matches_q <= matches_q - {{COUNT_W-1{1'b0}}, 1'b1};
        if (clear || begin_now) matches_q <= cfg_count[COUNT_W-1:0];
        if (fire) fired_q <= 1'b1;
        if (clear) fired_q <= 1'b0;
    end
    generate if (COUNT_W < 32) begin : g_short_count
        wire unused_count = &{1'b0, cfg_count[31:COUNT_W]};
    end
    if (LIMIT_W < 32 && WITH_SEQUENCE == 1) begin : g_short_limit
        wire unused_limit = &{1'b0, cfg_limit[31:LIMIT_W]};
    end endgenerate
endmodule
`default_nettype wire
