// SPDX-License-Identifier: Apache-2.0
// ff_card_trigger: a card's trigger at one tap: its tables, and the first word since the arm that agrees.
//
// Latency: fire stands with the word. Throughput: one word a cycle. Back-pressure: none. Clock domains: bus_clk fills the tables
// (ff_trigger_fill) and says on; clk is the tap's.
`default_nettype none
module ff_card_trigger (
    input  wire        bus_clk,
    input  wire [13:0] shift,
    input  wire        agrees,
    input  wire        on,          // bus domain: this tap is asked, and its tables are filled
    input  wire        clk, rst,
    input  wire        arm,
    input  wire        word_valid,
    input  wire [3:0]  word_kind,
    input  wire [63:0] word_data,
    output wire        fire
);
    wire agree, enable, unused;
    ff_trigger_table i_table (
        .clk(bus_clk), .shift(shift), .agrees(agrees), .word_kind(word_kind), .word_data(word_data), .agree(agree)
    );
    ff_cdc_sync i_on (.clk(clk), .d(on), .q(enable));
    ff_trigger_steps #(.WITH_EDGE(0), .WITH_SEQUENCE(0), .COUNT_W(1), .LIMIT_W(1)) i_steps (
        .clk(clk), .rst(rst), .restart(arm), .cfg_enable(enable), .cfg_edge(1'b0), .cfg_sequence(1'b0), .cfg_count(32'd0),
        .cfg_limit(32'd0), .word_valid(word_valid), .same({1'b0, agree}), .step(unused), .fire(fire)
    );
endmodule
`default_nettype wire
