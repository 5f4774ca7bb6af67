// SPDX-License-Identifier: Apache-2.0
// ff_trigger_fill: fills the shift-register tables of any number of ff_trigger_tables from the registers of one trigger term.
//
// Each table takes 42 turns: value and mask of its five bits, which it reads one by one, then its 32 entries, entry 31
// first; a table shifts in all of its turns, and the first ten fall out of it. The last table is the kinds', whose register is
// the table itself. Latency: 588 cycles behind load. Throughput: a load at any time begins anew. Back-pressure: none: the
// registers, which another block keeps in a RAM, have to answer in each cycle of cfg_turn. Clock domain: clk.
`default_nettype none
module ff_trigger_fill (
    input  wire        clk, rst,    // the recorder's own reset, synchronous
    input  wire        load,        // a register of the trigger is new: fill the tables, from the beginning
    output wire        cfg_turn,    // cfg_data is looked at in this cycle
    output wire [2:0]  cfg_word,    // register asked for: 4 value_lo, 5 value_hi, 6 mask_lo, 7 mask_hi, 0 kinds
    input  wire [31:0] cfg_data,    // its value, in the same cycle
    output wire [13:0] shift,       // the table that takes agrees
    output wire        agrees,
    output wire        stat_busy,   // the tables are being filled
    output reg         stat_loaded  // they are what the registers say
);
    reg  [13:0] turn_q;             // the table whose turn it is; 0: none
    reg  [5:0] step_q;              // 22..31: value and mask of a bit, five times; 32..63: entry 31..0
    reg  [5:0] bit_q;               // bit of the word that is read
    reg  [9:0] term_q;              // {mask, value} of the table's bit i at [2*i +: 2]
    wire kinds = turn_q[13];
    wire last = &step_q;
    wire [4:0] entry = ~step_q[4:0];
    assign stat_busy = |turn_q;
    assign shift = turn_q;
    assign cfg_turn = stat_busy && kinds == step_q[5];
    assign cfg_word = kinds ? 3'd0 : {1'b1, step_q[0], bit_q[5]};
    wire [4:0] number = kinds ? entry : bit_q[4:0];
    wire one = cfg_data[number];
    wire [4:0] unlike;
    genvar i;
    generate for (i = 0; i < 5; i = i + 1) begin : g_bit
        assign unlike[i] = (entry[i] ^ term_q[2*i]) & term_q[2*i+1];
    end endgenerate
    assign agrees = kinds ? one : unlike == 5'd0;
    always @(posedge clk) begin
        if (!step_q[5]) term_q <= {one, term_q[9:1]};
        if (!step_q[5] && step_q[0]) bit_q <= bit_q + 6'd1; // behind 63 comes 0 again
        step_q <= step_q + 6'd1;
        if (last) begin
            step_q <= 6'd22;
            turn_q <= {turn_q[12:0], 1'b0};
            if (kinds) stat_loaded <= 1'b1;
        end
        if (load || rst) begin
            step_q <= 6'd22;
            bit_q <= 6'd0;
            turn_q <= {13'd0, !rst};
            stat_loaded <= 1'b0;
        end
    end
endmodule
`default_nettype wire
