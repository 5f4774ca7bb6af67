// SPDX-License-Identifier: Apache-2.0
// ff_trigger_srl: the small form of ff_trigger: one term of value and mask over data and kind, held in shift-register tables.
//
// 14 tables (ff_trigger_table) in place of 144 flip-flops and their comparison. They are filled one bit a cycle from the
// registers, which another block keeps in a RAM (ff_trigger_fill): 588 cycles behind load and no more, if the RAM answers in
// each cycle of stat_busy; the trigger sees nothing meanwhile. No edge, sequence or count. Latency: fire is up in the cycle of
// the word in the tap register. Throughput: one word a cycle. Back-pressure: none. Clock domain: clk, of the tap and the registers.
`default_nettype none
module ff_trigger_srl (
    input  wire        clk, rst,    // the recorder's own reset, synchronous
    input  wire        restart,     // arm: nothing has been seen yet
    input  wire        load,        // a register of the trigger is new: fill the tables, from the beginning
    input  wire        cfg_enable,
    output wire [7:0]  cfg_place,   // bit asked for: {register: 0 value_lo, 1 value_hi, 2 mask_lo, 3 mask_hi, 4 kinds; its number}
    input  wire        cfg_bit,     // its value, in the same cycle, while stat_busy is up
    input  wire        word_valid,  // tap register
    input  wire [3:0]  word_kind,
    input  wire [63:0] word_data,
    output wire        stat_busy,   // the tables are being filled
    output wire        fire         // once until restart or load
);
    wire [13:0] shift;
    wire agrees, loaded, agree, turn, step;
    ff_trigger_fill i_fill (
        .clk(clk), .rst(rst), .load(load), .cfg_turn(turn), .cfg_word(cfg_place[7:5]), .cfg_number(cfg_place[4:0]),
        .cfg_bit(cfg_bit), .shift(shift), .agrees(agrees), .stat_busy(stat_busy), .stat_loaded(loaded)
    );
    ff_trigger_table i_table (
        .clk(clk), .shift(shift), .agrees(agrees), .word_kind(word_kind), .word_data(word_data), .agree(agree)
    );
    ff_trigger_steps #(.WITH_EDGE(0), .WITH_SEQUENCE(0), .COUNT_W(1), .LIMIT_W(1)) i_steps (
        .clk(clk), .rst(rst), .restart(restart), .cfg_enable(cfg_enable && loaded), .cfg_edge(1'b0),
        .cfg_sequence(1'b0), .cfg_count(32'd0), .cfg_limit(32'd0), .word_valid(word_valid), .same({1'b0, agree}),
        .step(step), .fire(fire)
    );
    wire unused = &{1'b0, turn, step};
endmodule
`default_nettype wire
