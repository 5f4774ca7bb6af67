// SPDX-License-Identifier: Apache-2.0
// ff_trigger_srl: the small form of ff_trigger: one term of value and mask over data and kind, held in shift-register tables.
//
// A table a nibble of the data, and one of the kinds, says for each value of its four bits whether they agree: 17 tables
// in place of 144 flip-flops and their comparison. They are filled one bit a cycle from the registers, which another block
// keeps in a RAM: 306 cycles behind load and no more, if the RAM answers in each cycle of cfg_turn; the trigger sees nothing
// meanwhile. No edge, sequence or count. Latency: fire is up in the cycle of the word in the tap register. Throughput: one
// word a cycle. Back-pressure: none. Clock domain: clk, of the tap and the registers.
`default_nettype none
module ff_trigger_srl (
    input  wire        clk, rst,    // the recorder's own reset, synchronous
    input  wire        restart,     // arm: nothing has been seen yet
    input  wire        load,        // a register of the trigger is new: fill the tables, from the beginning
    input  wire        cfg_enable,
    output wire        cfg_turn,    // cfg_data is looked at in this cycle
    output wire [2:0]  cfg_word,    // register asked for: 0 value_lo, 1 value_hi, 2 mask_lo, 3 mask_hi, 4 kinds
    input  wire [31:0] cfg_data,    // its value, in the same cycle
    input  wire        word_valid,  // tap register
    input  wire [3:0]  word_kind,
    input  wire [63:0] word_data,
    output wire        stat_busy,   // the tables are being filled
    output wire        fire         // once until restart or load
);
    // Filling: each table has 18 turns: its nibble's value, its mask, and the 16 bits, entry 15 first; the last table is the
    // kinds', whose register is the table itself. A table shifts in all of its turns: the first two bits fall out of it.
    reg  [16:0] turn_q;             // the table whose turn it is; 0: none
    reg  [4:0] step_q;              // 14, 15: value, mask; 16..31: entry 15..0
    reg  [3:0] nibble_q, value_q, mask_q;
    reg  loaded_q;
    wire kinds = turn_q[16];
    wire last = &step_q;
    wire [3:0] entry = ~step_q[3:0];
    assign stat_busy = |turn_q;
    assign cfg_turn = stat_busy && (kinds || !step_q[4]);
    assign cfg_word = kinds ? 3'd4 : {1'b0, step_q[0], nibble_q[3]};
    wire [2:0] place = kinds ? {1'b0, entry[3:2]} : nibble_q[2:0];
    wire [3:0] nibble = cfg_data[{place, 2'b00} +: 4];
    wire agrees = kinds ? nibble[entry[1:0]] : ((entry ^ value_q) & mask_q) == 4'd0;
    always @(posedge clk) begin
        if (!step_q[4]) {value_q, mask_q} <= {mask_q, nibble};
        step_q <= step_q + 5'd1;
        if (last) begin
            step_q <= 5'd14;
            nibble_q <= nibble_q + 4'd1;
            turn_q <= {turn_q[15:0], 1'b0};
            if (kinds) loaded_q <= 1'b1;
        end
        if (load || rst) begin
            step_q <= 5'd14;
            nibble_q <= 4'd0;
            turn_q <= {16'd0, !rst};
            loaded_q <= 1'b0;
        end
    end

    // Tables 0 to 15 are the nibbles of the data, 16 the kinds.
    wire [67:0] bits = {word_kind, word_data};
    wire [16:0] agree;
    genvar i;
    generate for (i = 0; i < 17; i = i + 1) begin : g_table
        reg [15:0] table_q;         // entry 0 is the newest bit
        always @(posedge clk) if (turn_q[i]) table_q <= {table_q[14:0], agrees};
        assign agree[i] = table_q[bits[i*4 +: 4]];
    end endgenerate

    wire step;
    ff_trigger_steps #(.WITH_EDGE(0), .WITH_SEQUENCE(0), .COUNT_W(1), .LIMIT_W(1)) i_steps (
        .clk(clk), .rst(rst), .restart(restart), .cfg_enable(cfg_enable && loaded_q && !load), .cfg_edge(1'b0),
        .cfg_sequence(1'b0), .cfg_count(32'd0), .cfg_limit(32'd0), .word_valid(word_valid), .same({1'b0, &agree}),
        .step(step), .fire(fire)
    );
    wire unused = &{1'b0, step};
endmodule
`default_nettype wire
