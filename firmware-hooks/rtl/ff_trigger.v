// SPDX-License-Identifier: Apache-2.0
// ff_trigger: watches the words of one tap and fires on value and mask over data and kind, on an edge, on a sequence.
//
// The truth table stands in docs/trigger.md. Latency: fire and step are up in the cycle of the word in the tap register;
// the cause register makes fire a cause of the next cycle. Throughput: one word a cycle. Back-pressure: none. Clock
// domain: clk, the tap's; cfg_* stand still in it, but for the cycles before restart.
`default_nettype none
module ff_trigger #(
    parameter TERMS = 2,     // 1: term 0 alone, cfg_sequence counts as 0; 2: a sequence can be asked for
    parameter WITH_EDGE = 1, // 0: cfg_edge counts as 0
    parameter COUNT_W = 32,  // bits of cfg_count that count, 1..32
    parameter LIMIT_W = 32   // bits of cfg_limit that count, 1..32
) (
    input  wire         clk, rst,      // the recorder's own reset, synchronous
    input  wire         restart,       // arm, or the configuration is new in this cycle: nothing has been seen yet
    // configuration: register file trigger of the map; term i at [i*WIDTH +: WIDTH]
    input  wire         cfg_enable, cfg_edge, cfg_sequence,
    input  wire [31:0]  cfg_count,     // matches of the last term needed; 0 counts as 1
    input  wire [31:0]  cfg_limit,     // cycles from term 0 to the last match of term 1; 0 no limit
    input  wire [127:0] cfg_value, cfg_mask,
    input  wire [31:0]  cfg_kinds,     // kinds that may match, one bit each
    // tap register
    input  wire         word_valid,
    input  wire [3:0]   word_kind,
    input  wire [63:0]  word_data,
    output wire         step,          // a sequence has begun: term 0 was seen
    output wire         fire           // once until restart
);
    generate
        if (TERMS < 1 || TERMS > 2) begin : g_check_TERMS
            ff_error_TERMS_must_be_1_or_2 stop (); // none such
        end
        if (WITH_EDGE != 0 && WITH_EDGE != 1) begin : g_check_WITH_EDGE
            ff_error_WITH_EDGE_must_be_0_or_1 stop (); // none such
        end
        if (COUNT_W < 1 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_1_to_32 stop (); // none such
        end
        if (LIMIT_W < 1 || LIMIT_W > 32) begin : g_check_LIMIT_W
            ff_error_LIMIT_W_must_be_1_to_32 stop (); // none such
        end
    endgenerate

    // Two bits of data, value and mask are one LUT of six inputs; kept as nets, so that synthesis finds that.
    wire [127:0] unlike = ({word_data, word_data} ^ cfg_value) & cfg_mask;
    (* keep *) wire [32*TERMS-1:0] differ; // none for a term that is not there: keep would hold its registers
    genvar i;
    generate for (i = 0; i < 32 * TERMS; i = i + 1) begin : g_differ
        assign differ[i] = |unlike[2*i +: 2];
    end endgenerate

    // The carry of an addition is their conjunction, in no LUT of its own.
    wire [1:0] same, kind_on;       // the kind is chosen in five LUTs, which synthesis alone does not find
    genvar t;
    generate for (t = 0; t < TERMS; t = t + 1) begin : g_kind
        wire [15:0] on = cfg_kinds[16*t +: 16];
        wire [3:0] of_four;
        ff_mux4 #(.W(4)) i_four (.sel(word_kind[1:0]), .d0({on[12], on[8], on[4], on[0]}), .d1({on[13], on[9], on[5], on[1]}),
            .d2({on[14], on[10], on[6], on[2]}), .d3({on[15], on[11], on[7], on[3]}), .q(of_four));
        ff_mux4 #(.W(1)) i_one (.sel(word_kind[3:2]), .d0(of_four[0]), .d1(of_four[1]), .d2(of_four[2]), .d3(of_four[3]), .q(kind_on[t]));
    end endgenerate
    wire [32:0] all0 = {1'b0, ~differ[31:0]} + 33'd1;
    generate
        assign same[0] = kind_on[0] && all0[32];
        if (TERMS == 2) begin : g_second
            wire [32:0] all1 = {1'b0, ~differ[63:32]} + 33'd1;
            assign same[1] = kind_on[1] && all1[32];
            wire unused = &{1'b0, all1[31:0]};
        end else begin : g_no_second
            assign {same[1], kind_on[1]} = 2'b00;
            wire unused = &{1'b0, unlike[127:64], cfg_kinds[31:16], kind_on[1]};
        end
    endgenerate
    wire unused_sum = &{1'b0, all0[31:0]};

    ff_trigger_steps #(.WITH_EDGE(WITH_EDGE), .WITH_SEQUENCE(TERMS - 1), .COUNT_W(COUNT_W), .LIMIT_W(LIMIT_W)) i_steps (
        .clk(clk), .rst(rst), .restart(restart), .cfg_enable(cfg_enable), .cfg_edge(cfg_edge), .cfg_sequence(cfg_sequence),
        .cfg_count(cfg_count), .cfg_limit(cfg_limit), .word_valid(word_valid), .same(same), .step(step), .fire(fire)
    );
endmodule
`default_nettype wire
