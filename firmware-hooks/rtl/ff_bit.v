// SPDX-License-Identifier: Apache-2.0
// ff_bit: one bit of a word, by its number: for a reader that takes a word bit by bit.
//
// Latency: none, it is combinational. Throughput: a bit a cycle. Back-pressure: none. Clock domain: none. Made of ff_mux4,
// because synthesis that chooses for itself takes half as much again: eleven LUTs of six inputs for 32 bits.
`default_nettype none
module ff_bit #(
    parameter W = 32,      // bits of the word, 1..64
    parameter INDEX_W = 5, // bits of its number, 2..6; a bit that the word lacks reads 0
    parameter FIRST = 0    // bits below this one read 0, too, 0..W-1
) (
    input  wire [INDEX_W-1:0] index,
    input  wire [W-1:0]       d,
    output wire               q
);
    generate
        if (W < 1 || W > 64) begin : g_check_W
            ff_error_W_must_be_1_to_64 stop (); // none such
        end
        if (INDEX_W < 2 || INDEX_W > 6 || W > (1 << INDEX_W)) begin : g_check_INDEX_W
            ff_error_INDEX_W_must_be_2_to_6_and_reach_every_bit stop (); // none such
        end
        if (FIRST < 0 || FIRST >= W) begin : g_check_FIRST
            ff_error_FIRST_must_be_0_to_W_minus_1 stop (); // none such
        end
    endgenerate
    localparam FOURS = (W + 3) / 4;
    wire [67:0] wide = {{68-W{1'b0}}, d & ~({W{1'b1}} >> (W - FIRST))};
    wire [15:0] four;        // of each four bits, the one
    wire [5:0]  number = {{6-INDEX_W{1'b0}}, index};
    wire [3:0]  sixteen;     // of each sixteen
    genvar i;
    generate
        for (i = 0; i < 16; i = i + 1) begin : g_four
            if (i < FOURS && 4 * i + 3 >= FIRST) begin : g_there
                ff_mux4 #(.W(1)) i_bit (
                    .sel(number[1:0]), .d0(wide[4*i]), .d1(wide[4*i+1]), .d2(wide[4*i+2]), .d3(wide[4*i+3]), .q(four[i])
                );
            end else begin : g_lacking
                assign four[i] = 1'b0;
            end
        end
        for (i = 0; i < 4; i = i + 1) begin : g_sixteen
            if (4 * i + 3 < FOURS && 16 * i + 3 >= FIRST) begin : g_full
                ff_mux4 #(.W(1)) i_four (
                    .sel(number[3:2]), .d0(four[4*i]), .d1(four[4*i+1]), .d2(four[4*i+2]), .d3(four[4*i+3]), .q(sixteen[i])
                );
            end else begin : g_part
                assign sixteen[i] = four[{i[1:0], number[3:2]}];
            end
        end
    endgenerate
    assign q = sixteen[number[5:4]];
    wire unused = &{1'b0, wide};
endmodule
`default_nettype wire
