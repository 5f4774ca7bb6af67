// SPDX-License-Identifier: Apache-2.0
// ff_time_pair: ff_time with its two pairs in a RAM of LUTs, read word by word, for a build that must be small.
//
// A domain keeps {number, own cycle} of the first toggle it sees after arm, and of the last before its memories had closed
// (docs/formats.md section 6). Latency: three words are written one after the other, from the toggle's cycle on; the pair
// counts behind the third. rd_data follows rd_word at once. Throughput: every toggle. Back-pressure: none. Clock domain:
// clk; line_in may be of any clock.
`default_nettype none
module ff_time_pair #(
    parameter MASTER = 0,    // 1: this is the master's bus domain, line_in is its own line_out
    parameter PERIOD = 4096, // cycles between two toggles, a power of two, 64..16777216
    parameter TIME_W = 64    // bits of the counter, 40..64: the time it takes to wrap is the longest recording
) (
    input  wire        clk, rst,         // the recorder's own reset, synchronous
    input  wire        arm,
    input  wire        closed,           // the domain's memories have closed
    input  wire [32:0] line_in,          // {number, toggle}
    output wire [32:0] line_out,         // what this domain gives as master, from flip-flops
    output wire [63:0] now,              // number of this cycle, 0 behind rst
    input  wire [2:0]  rd_word,          // register of the pair, as in the map: number, lo, hi of first and last, status
    output wire [31:0] rd_data
);
    localparam [1:0] NUMBER = 2'd0, LO = 2'd1, HI = 2'd2, NONE = 2'd3;
    localparam HI_W = TIME_W - 32;
    wire seen;
    wire [31:0] number;
    ff_time_line #(.MASTER(MASTER), .PERIOD(PERIOD), .TIME_W(TIME_W)) i_line (
        .clk(clk), .rst(rst), .line_in(line_in), .line_out(line_out), .now(now), .seen(seen), .number(number)
    );

    // The low word is written in the toggle's cycle, the high one, kept, in the next, then the number, which stands still.
    reg  running_q, valid_q, second_q;   // armed; a pair stands; the last one is another than the first
    reg  [1:0] next_q;                   // word to be written next
    reg  [HI_W-1:0] hi_q;
    wire take = seen && running_q && !closed;
    wire [1:0] place = take ? LO : next_q;
    reg  [31:0] ram [0:7];               // place 3 of either pair is never written: 0
    integer i;
    initial for (i = 0; i < 8; i = i + 1) ram[i] = 32'd0;
    always @(posedge clk) begin
        hi_q <= now[TIME_W-1:32];
        if (place != NONE)
            ram[{valid_q, place}] <= place == LO ? now[31:0] : place == HI ? {{32-HI_W{1'b0}}, hi_q} : number;
        case (place)
            LO: next_q <= HI;
            HI: next_q <= NUMBER;
            default: next_q <= NONE;
        endcase
        if (place == NUMBER) begin
            valid_q <= 1'b1;
            second_q <= valid_q;
        end
        if (arm || rst) begin
            running_q <= !rst;
            valid_q <= 1'b0;
            second_q <= 1'b0;
            next_q <= NONE;
        end
    end

    wire last = rd_word == 3'd3 || rd_word == 3'd4 || rd_word == 3'd5;
    wire status = rd_word == 3'd6;
    wire [1:0] word = rd_word == 3'd0 || rd_word == 3'd3 ? NUMBER : rd_word == 3'd1 || rd_word == 3'd4 ? LO
        : rd_word == 3'd2 || rd_word == 3'd5 ? HI : NONE;
    assign rd_data = ram[{last && second_q, valid_q ? word : NONE}] | {30'd0, {2{status && valid_q}}};
endmodule
`default_nettype wire
