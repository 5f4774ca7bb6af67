// SPDX-License-Identifier: Apache-2.0
// ff_trigger_table: one trigger term at one tap, as shift-register tables: a table for each five bits of the data, one of the kinds.
//
// Latency: none, agree is of the word that stands in the tap register. Throughput: one word a cycle. Back-pressure: none.
// Clock domains: clk shifts (ff_trigger_fill); word_* may be of another, for the tables stand still while anybody looks at
// agree, which counts only when they have been filled.
`default_nettype none
module ff_trigger_table (
    input  wire        clk,
    input  wire [13:0] shift,       // the table that takes agrees
    input  wire        agrees,
    input  wire [3:0]  word_kind,
    input  wire [63:0] word_data,
    output wire        agree        // the word is what the term asks for
);
    // Tables 0 to 12 are of five data bits each, from bit 32 down, behind bit 0 from 63 to 32 again; 13 is of the kind.
    wire [69:0] bits;
    assign bits[69:65] = {1'b0, word_kind};
    wire [13:0] same;
    genvar i;
    generate
        for (i = 0; i < 65; i = i + 1) begin : g_bit
            assign bits[i] = word_data[(96 - i) % 64];
        end
        for (i = 0; i < 14; i = i + 1) begin : g_table
            reg [31:0] table_q;     // entry 0 is the newest bit
            always @(posedge clk) if (shift[i]) table_q <= {table_q[30:0], agrees};
            assign same[i] = table_q[bits[5*i +: 5]];
        end
    endgenerate
    // The carry of an addition is their conjunction, in no LUT of its own.
    wire [15:0] all = {1'b0, same, 1'b1} + 16'd1;
    assign agree = all[15];
    wire unused = &{1'b0, all[14:0]};
endmodule
`default_nettype wire
