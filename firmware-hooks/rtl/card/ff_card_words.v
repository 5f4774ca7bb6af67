// SPDX-License-Identifier: Apache-2.0
// ff_card_words: reads one of many words, each of a clock of its own, for the register port, whole, never torn.
//
// Latency: two cycles for a word of clk, else as ff_cdc_read; one of a clock that stands still answers an error. Throughput: one word at
// a time. Back-pressure: none. Clock domains: clk; clks[d] for the words of domain d, where 0 is clk itself.
`default_nettype none
module ff_card_words #(
    parameter WORDS = 1,                         // 1..128
    parameter CLOCKS = 2,                        // 2..32
    parameter [WORDS*8-1:0] DOMAIN = {WORDS{8'd0}} // of each word
) (
    input  wire                clk, rst,
    input  wire [CLOCKS-1:0]   clks, rsts,
    input  wire [WORDS*32-1:0] words,            // each in its domain; may be chosen by what stands still while sel is up
    // window: the word; stands still until win_ack
    input  wire                sel,
    input  wire [6:0]          win_word,
    output reg                 win_ack, win_err,
    output reg  [31:0]         win_rdata
);
    generate if (WORDS < 1 || WORDS > 128 || CLOCKS < 2 || CLOCKS > 32) begin : g_check_WORDS
        ff_error_WORDS_must_be_1_to_128_and_CLOCKS_2_to_32 stop (); // none such
    end endgenerate
    wire [CLOCKS-1:0] acks, errs;
    wire [CLOCKS*32-1:0] told;
    genvar d;
    generate for (d = 0; d < CLOCKS; d = d + 1) begin : g_clock
        reg         ours;
        reg  [31:0] word;
        integer k;
        always @* begin
            ours = 1'b0;
            word = 32'd0;
            for (k = 0; k < WORDS; k = k + 1) if ({24'd0, DOMAIN[8*k +: 8]} == d && {25'd0, win_word} == k) begin
                ours = 1'b1;
                word = words[32*k +: 32];
            end
        end
        wire asked = sel && ours && !win_ack;
        if (d == 0) begin : g_near
            assign acks[0] = asked;
            assign errs[0] = 1'b0;
            assign told[31:0] = word;
            wire unused = &{1'b0, clks[0], rsts[0]};
        end else begin : g_far
            ff_cdc_read #(.DATA_W(32)) i_read (
                .clk(clk), .rst(rst), .req(asked), .ack(acks[d]), .err(errs[d]), .data(told[32*d +: 32]),
                .far_clk(clks[d]), .far_rst(rsts[d]), .far_data(word)
            );
        end
    end endgenerate
    integer n;
    reg  [31:0] chosen;
    always @* begin
        chosen = 32'd0;
        for (n = 0; n < CLOCKS; n = n + 1) chosen = chosen | (told[32*n +: 32] & {32{acks[n]}});
    end
    wire none = {25'd0, win_word} >= WORDS;
    always @(posedge clk) begin
        win_ack <= sel && !win_ack && !rst && (none || |acks);
        win_err <= none || |(acks & errs);
        win_rdata <= chosen;
    end
endmodule
`default_nettype wire
