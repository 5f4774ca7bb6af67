// SPDX-License-Identifier: Apache-2.0
// ff_card_pairs: for each clock the first and the last toggle of the time line within a recording: its number and the clock's own cycle.
//
// The pairs of all clocks stand in one LUT RAM; an engine takes one domain's news a cycle. Latency: at most as many cycles as there are
// clocks behind the toggle's arrival. Throughput: every toggle, for PERIOD is far longer. Back-pressure: none. Clock domain: clk; far_at
// and far_parity stand still behind far_told, which is synchronized here. A window answers in two cycles.
`default_nettype none
module ff_card_pairs #(
    parameter CLOCKS = 2,  // with the register bus, clock 0; 2..32
    parameter TIME_W = 64  // 40..64
) (
    input  wire                  clk, rst,
    input  wire                  arm_next, arm_toggle, closed, // of the bus domain
    input  wire                  seen,                          // a toggle counts here
    input  wire [31:0]           number,
    input  wire [TIME_W-1:0]     now,
    input  wire [CLOCKS-2:0]     far_told, far_parity,
    input  wire [(CLOCKS-1)*TIME_W-1:0] far_at,
    // window: bits 7:3 the clock, 2:0 the word
    input  wire                  sel,
    input  wire [7:0]            win_word,
    output reg                   win_ack, win_err,
    output reg  [31:0]           win_rdata
);
    generate if (CLOCKS < 2 || CLOCKS > 32) begin : g_check_CLOCKS
        ff_error_CLOCKS_must_be_2_to_32 stop (); // none such
    end endgenerate
    reg  [31:0] number_q;      // of the last toggle, which is the one that far clocks tell of
    reg  [TIME_W-1:0] near_q;
    reg  running_q;
    reg  [CLOCKS-1:0] news_q, first_q, last_q; // a pair to take; taken ones
    wire [CLOCKS-2:0] told;
    reg  [4:0]  at_q;          // the engine's clock
    reg  [TIME_W-1:0] cycle;
    integer n;
    always @* begin
        cycle = near_q;
        for (n = 1; n < CLOCKS; n = n + 1) if ({27'd0, at_q} == n) cycle = far_at[(n-1)*TIME_W +: TIME_W];
    end
    genvar d;
    generate for (d = 0; d < CLOCKS - 1; d = d + 1) begin : g_far
        ff_cdc_edge i_told (.clk(clk), .rst(rst), .d(far_told[d]), .pulse(told[d]));
    end endgenerate
    reg  [31+TIME_W:0] first [0:31];
    reg  [31+TIME_W:0] last [0:31];
    wire take = {27'd0, at_q} < CLOCKS && news_q[at_q[$clog2(CLOCKS)-1:0]];
    wire begins = !first_q[at_q[$clog2(CLOCKS)-1:0]];
    always @(posedge clk) if (take && begins) first[at_q] <= {number_q, cycle};
    always @(posedge clk) if (take) last[at_q] <= {number_q, cycle};
    always @(posedge clk) begin
        if (seen) number_q <= number;
        if (seen) near_q <= now;
        at_q <= {27'd0, at_q} == CLOCKS - 1 ? 5'd0 : at_q + 5'd1;
        if (take) begin
            news_q[at_q[$clog2(CLOCKS)-1:0]] <= 1'b0;
            first_q[at_q[$clog2(CLOCKS)-1:0]] <= 1'b1;
            last_q[at_q[$clog2(CLOCKS)-1:0]] <= 1'b1;
        end
        if (seen && running_q && !closed) news_q[0] <= 1'b1;
        for (n = 1; n < CLOCKS; n = n + 1) if (told[n-1] && far_parity[n-1] == arm_toggle) news_q[n] <= 1'b1;
        if (arm_next) running_q <= 1'b1;
        if (arm_next || rst) {news_q, first_q, last_q} <= {3*CLOCKS{1'b0}};
        if (rst) begin
            running_q <= 1'b0;
            at_q <= 5'd0;
        end
    end

    wire [4:0] asked = win_word[7:3];
    wire [31+TIME_W:0] pair = win_word[2:0] < 3'd3 ? first[asked] : last[asked];
    wire [63:0] own = {{64-TIME_W{1'b0}}, pair[TIME_W-1:0]};
    wire [95:0] wide = {pair[TIME_W +: 32], own};
    wire exists = {27'd0, asked} < CLOCKS;
    wire has_first = exists && first_q[asked[$clog2(CLOCKS)-1:0]], has_last = exists && last_q[asked[$clog2(CLOCKS)-1:0]];
    always @(posedge clk) begin
        win_ack <= sel && !win_ack && !rst;
        win_err <= !exists || win_word[2:0] == 3'd7;
        case (win_word[2:0])
            3'd0: win_rdata <= wide[95:64] & {32{has_first}};
            3'd1: win_rdata <= wide[31:0] & {32{has_first}};
            3'd2: win_rdata <= wide[63:32] & {32{has_first}};
            3'd3: win_rdata <= wide[95:64] & {32{has_last}};
            3'd4: win_rdata <= wide[31:0] & {32{has_last}};
            3'd5: win_rdata <= wide[63:32] & {32{has_last}};
            default: win_rdata <= {30'd0, has_last, has_first};
        endcase
    end
endmodule
`default_nettype wire
