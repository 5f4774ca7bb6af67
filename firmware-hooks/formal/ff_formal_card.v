// SPDX-License-Identifier: Apache-2.0
// ff_formal_card: one tap of a card with its recorder, plain or fast, its memory and the causes of its clock, for proofs.
//
// Everything from outside is free in every cycle: beats, causes, arm, post, kinds. The reset is up in the first cycle. One slot of the
// memory is watched; which one, the solver chooses.
`default_nettype none
module ff_formal_card #(
    parameter FAST = 0
) (
    input wire        clk, rst,
    input wire        arm_next,
    input wire [11:0] causes_in,
    input wire        tvalid, tready, tlast, tuser,
    input wire [63:0] tdata,
    input wire [7:0]  tkeep,
    input wire [3:0]  cfg_post,
    input wire [15:0] cfg_kinds
);
    reg [63:0] now = 64'd0;
    reg arm = 1'b0;
    always @(posedge clk) begin
        now <= rst ? 64'd0 : now + 64'd1;
        arm <= arm_next && !rst;
    end
    always @* if ($initstate) assume (rst);

    wire next, triggered, drain, closed;
    wire [11:0] causes;
    wire [31:0] since;
    ff_cause_latch #(.POST_DRAIN(4), .SINCE_W(17), .W(12)) i_causes (
        .clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm), .causes_in(causes_in), .hit(), .level(), .triggered_next(next),
        .triggered(triggered), .causes(causes), .since(since), .drain(drain));

    (* anyconst *) wire [3:0] watched;
    wire [71:0] seen;
    wire [31:0] stored, offered;
    ff_card_tap #(.BITS(64), .KEEP(2), .USER_W(1), .FAST(FAST), .DEPTH(16), .POST_W(4), .COUNT_W(8), .CAUSES(12)) i_tap (
        .clk(clk), .rst(rst), .tvalid(tvalid), .tready(tready), .tlast(tlast), .tuser(tuser), .tdata(tdata), .tkeep(tkeep),
        .now(now), .arm(arm), .triggered_next(next), .triggered(triggered), .causes(causes), .since(since), .drain(drain),
        .cfg_post(cfg_post), .cfg_kinds(cfg_kinds), .stat_write_ptr(), .stat_wrapped(), .stat_stored(stored),
        .stat_offered(offered), .stat_closed(closed), .word_valid(), .word_kind(), .word_data(), .rd_clk(clk), .rd_en(1'b1),
        .rd_slot(watched), .rd_record(seen));

    // closed, and neither an arm nor a reset: in the cycle before and the one before that
    reg still_q = 1'b0, still_before_q = 1'b0;
    always @(posedge clk) begin
        still_q <= closed && !arm && !rst;
        still_before_q <= still_q;
        if (!$initstate) begin
            if (still_q && !rst) assert (closed && stored == $past(stored) && offered == $past(offered));
            if (still_q && still_before_q) assert (seen == $past(seen));
        end
    end
endmodule
`default_nettype wire
