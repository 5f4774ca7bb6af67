// SPDX-License-Identifier: Apache-2.0
// ff_trigger_fill: fills the shift-register tables of any number of ff_trigger_tables from the registers of one trigger term.
//
// Each table takes 42 turns: value and mask of its five bits, which it reads one by one, then its 32 entries, entry 31
// first; a table shifts in all of its turns, and the first ten fall out of it. The first table stands still in those ten:
// nothing moves within ten cycles behind load, in which another clock domain can learn that the tables do not count. The
// last table is the kinds', whose register is the table itself. Latency: 588 cycles behind load. Throughput: a load at any
// time begins anew. Back-pressure: none: the registers, which another block keeps, have to answer in each cycle of
// cfg_turn. Clock domain: clk.
`default_nettype none
module ff_trigger_fill (
    input  wire        clk, rst,    // the recorder's own reset, synchronous
    input  wire        load,        // a register of the trigger is new: fill the tables, from the beginning
    output wire        cfg_turn,    // cfg_bit is looked at in this cycle
    output wire [2:0]  cfg_word,    // register asked for: 0 value_lo, 1 value_hi, 2 mask_lo, 3 mask_hi, 4 kinds
    output wire [4:0]  cfg_number,  // and bit of it
    input  wire        cfg_bit,     // its value, in the same cycle
    output wire [13:0] shift,       // the table that takes agrees
    output wire        agrees,
    output reg         stat_busy,   // the tables are being filled
    output wire        stat_loaded  // they are what the registers say
);
    reg  [13:0] turn_q;             // the table whose turn it is; 0: none
    reg  [5:0] step_q;              // 22..31: value and mask of a bit, five times; 32..63: entry 31..0
    reg  [5:0] left_q;              // the bit that is read: the word, and how many bits of it stand above
    reg  [9:0] term_q;              // {mask, value} of the table's bit i at [2*i +: 2]
    reg  missing_q;                 // of loaded the opposite
    assign stat_loaded = !missing_q;
    wire kinds = turn_q[13];
    wire [6:0] next = {1'b0, step_q} + 7'd1;
    wire last = next[6];
    wire [4:0] entry = ~step_q[4:0];
    assign shift = {turn_q[13:1], turn_q[0] && step_q[5]};
    assign cfg_turn = stat_busy && kinds == step_q[5];
    assign cfg_word = {kinds, {step_q[0], left_q[5]} & {2{!kinds}}};
    assign cfg_number = ~left_q[4:0]; // of the kinds, 65 bits later, 31 to 0: their entries

    genvar i;
    wire [4:0] unlike;
    generate for (i = 0; i < 5; i = i + 1) begin : g_bit
        assign unlike[i] = (entry[i] ^ term_q[2*i]) & term_q[2*i+1];
    end endgenerate
    wire [1:0] two;                 // of two bits, a LUT each
    ff_node #(.W(2)) i_two (.d({|unlike[3:2], |unlike[1:0]}), .q(two));
    assign agrees = !two[1] && !two[0] && !unlike[4] && (cfg_bit || !kinds); // of the kinds, term_q is 0
    wire renew, switch;
    ff_node i_renew (.d(load || rst), .q(renew));
    ff_node i_switch (.d(load || (last && kinds)), .q(switch));
    always @(posedge clk) begin
        if (!step_q[5]) term_q <= {cfg_bit, term_q[9:1]};
        if (kinds) term_q <= 10'd0;
        if (kinds ? step_q[5] : !step_q[5] && step_q[0]) left_q <= left_q + 6'd1;
        step_q <= next[5:0];
        if (last) turn_q[13:1] <= turn_q[12:0];
        if (last || renew) begin
            step_q <= 6'd22;
            turn_q[0] <= load;
        end
        if (renew) begin
            left_q <= 6'd63;
            turn_q[13:1] <= 13'd0;
        end
        if (switch) {stat_busy, missing_q} <= {load, load};
        if (rst) {turn_q[0], stat_busy, missing_q} <= 3'b001;
    end
endmodule
`default_nettype wire
