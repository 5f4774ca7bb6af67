// SPDX-License-Identifier: Apache-2.0
// ff_trigger_srl: the small form of ff_trigger: one term of value and mask over data and kind, held in shift-register tables.
//
// A table a nibble of the data, and one of the kinds, says for each value of its four bits whether they agree: 17 tables
// in place of 136 flip-flops and their comparison. They are filled one bit a cycle from the registers, which another block
// keeps (a LUT RAM, say): 308 cycles behind load, in which the trigger sees nothing. No edge, sequence or count.
// Latency: fire is up in the cycle of the word in the tap register. Throughput: one word a cycle. Back-pressure: none.
// Clock domain: clk, of the tap and the registers.
`default_nettype none
module ff_trigger_srl (
    input  wire        clk, rst,    // the recorder's own reset, synchronous
    input  wire        restart,     // arm: nothing has been seen yet
    input  wire        load,        // a register of the trigger is new: fill the tables, from the beginning
    input  wire        cfg_enable,
    output wire [2:0]  cfg_word,    // register asked for: 0 value_lo, 1 value_hi, 2 mask_lo, 3 mask_hi, 4 kinds
    input  wire [31:0] cfg_data,    // its value, in the same cycle
    input  wire        word_valid,  // tap register
    input  wire [3:0]  word_kind,
    input  wire [63:0] word_data,
    output wire        stat_loaded, // the tables hold the registers
    output wire        fire         // once until restart or load
);
    // Filling: nibble by nibble its value, its mask, then the 16 bits of its table, entry 15 first; the kinds at last,
    // whose register is the table itself.
    localparam [1:0] IDLE = 2'd0, VALUE = 2'd1, MASK = 2'd2, SHIFT = 2'd3;
    reg  [1:0] phase_q;
    reg  [4:0] nibble_q;            // 15 down to 0: of the data; 16: kinds
    reg  [3:0] entry_q, value_q, mask_q;
    reg  loaded_q;
    wire kinds = nibble_q[4];
    assign cfg_word = kinds ? 3'd4 : {1'b0, phase_q == MASK, nibble_q[3]};
    wire [2:0] place = kinds ? {1'b0, entry_q[3:2]} : nibble_q[2:0];
    wire [3:0] nibble = cfg_data[{place, 2'b00} +: 4];
    wire agrees = kinds ? nibble[entry_q[1:0]] : ((entry_q ^ value_q) & mask_q) == 4'd0;
    wire shift = phase_q == SHIFT;
    always @(posedge clk) begin
        case (phase_q)
            VALUE: begin
                value_q <= nibble;
                phase_q <= MASK;
            end
            MASK: begin
                mask_q <= nibble;
                phase_q <= SHIFT;
            end
            SHIFT: begin
                entry_q <= entry_q - 4'd1;
                if (entry_q == 4'd0) begin
                    phase_q <= kinds ? IDLE : VALUE;
                    nibble_q <= nibble_q - 5'd1;
                    if (nibble_q == 5'd0) nibble_q <= 5'd16;
                    if (kinds) loaded_q <= 1'b1;
                end
            end
            default: phase_q <= IDLE;
        endcase
        if (load || rst) begin
            phase_q <= rst ? IDLE : VALUE;
            nibble_q <= 5'd15;
            entry_q <= 4'd15;
            loaded_q <= 1'b0;
        end
    end
    assign stat_loaded = loaded_q;

    // Tables 0 to 15 are the nibbles of the data, 16 the kinds. One bit goes to the table whose turn it is.
    wire [67:0] bits = {word_kind, word_data};
    wire [16:0] agree;
    genvar i;
    generate for (i = 0; i < 17; i = i + 1) begin : g_table
        localparam [4:0] TABLE = i;
        wire row = shift && nibble_q[4:2] == TABLE[4:2];
        reg [15:0] table_q;         // entry 0 is the newest bit
        always @(posedge clk) if (row && nibble_q[1:0] == TABLE[1:0]) table_q <= {table_q[14:0], agrees};
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
