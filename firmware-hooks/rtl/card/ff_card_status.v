// SPDX-License-Identifier: Apache-2.0
// ff_card_status: how full the taps' memories are, read for the register port out of each tap's clock, whole, never torn.
//
// Words of a tap: 0 write_ptr, 1 wrapped and closed, 2 stored, 3 offered. Latency: two cycles for a tap of clk, else as ff_cdc_read. A tap of a
// clock that is left out of the recording reads 0. Throughput: one word at a time. Back-pressure: none. Clock domains: clk; clks[d] for
// the taps of domain d, where 0 is clk itself.
`default_nettype none
module ff_card_status #(
    parameter CLOCKS = 2,                       // 2..32
    parameter TAPS = 2,                         // 1..64
    parameter [TAPS*8-1:0] DOMAIN = {TAPS{8'd0}} // of each tap
) (
    input  wire               clk, rst,
    input  wire [CLOCKS-1:0]  clks, rsts,
    input  wire [CLOCKS-1:0]  alive,        // in clk: clocks of this recording
    input  wire [TAPS*16-1:0] write_ptr,
    input  wire [TAPS-1:0]    wrapped, closed,
    input  wire [TAPS*32-1:0] stored, offered,
    // window: bits 7:2 the tap, 1:0 the word; stands still until win_ack
    input  wire               sel,
    input  wire [7:0]         win_word,
    output reg                win_ack, win_err,
    output reg  [31:0]        win_rdata
);
    generate
        if (CLOCKS < 2 || CLOCKS > 32) begin : g_check_CLOCKS
            ff_error_CLOCKS_must_be_2_to_32 stop (); // none such
        end
        if (TAPS < 1 || TAPS > 64) begin : g_check_TAPS
            ff_error_TAPS_must_be_1_to_64 stop (); // none such
        end
    endgenerate
    wire [CLOCKS-1:0] acks, errs;
    wire [CLOCKS*32-1:0] words;
    genvar d;
    generate for (d = 0; d < CLOCKS; d = d + 1) begin : g_clock
        reg         ours;
        reg  [31:0] word;
        integer t;
        always @* begin
            ours = 1'b0;
            word = 32'd0;
            for (t = 0; t < TAPS; t = t + 1) if ({24'd0, DOMAIN[8*t +: 8]} == d && {26'd0, win_word[7:2]} == t) begin
                ours = 1'b1;
                case (win_word[1:0])
                    2'd0: word = {16'd0, write_ptr[16*t +: 16]};
                    2'd1: word = {30'd0, closed[t], wrapped[t]};
                    2'd2: word = stored[32*t +: 32];
                    default: word = offered[32*t +: 32];
                endcase
            end
        end
        wire asked = sel && ours && !win_ack;
        if (d == 0) begin : g_near
            assign acks[0] = asked;
            assign errs[0] = 1'b0;
            assign words[31:0] = word;
            wire unused = &{1'b0, clks[0], rsts[0], alive[0]};
        end else begin : g_far
            wire answered;
            wire [31:0] told;
            assign acks[d] = answered || (asked && !alive[d]);
            assign words[32*d +: 32] = told & {32{alive[d]}};
            ff_cdc_read #(.DATA_W(32)) i_read (
                .clk(clk), .rst(rst), .req(asked && alive[d]), .ack(answered), .err(errs[d]), .data(told),
                .far_clk(clks[d]), .far_rst(rsts[d]), .far_data(word)
            );
        end
    end endgenerate
    integer n;
    reg  [31:0] chosen;
    always @* begin
        chosen = 32'd0;
        for (n = 0; n < CLOCKS; n = n + 1) chosen = chosen | (words[32*n +: 32] & {32{acks[n]}});
    end
    wire none = {26'd0, win_word[7:2]} >= TAPS;
    always @(posedge clk) begin
        win_ack <= sel && !win_ack && !rst && (none || |acks);
        win_err <= none || |(acks & errs & alive);
        win_rdata <= chosen;
    end
endmodule
`default_nettype wire
