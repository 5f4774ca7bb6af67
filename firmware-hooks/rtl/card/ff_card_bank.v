// SPDX-License-Identifier: Apache-2.0
// ff_card_bank: wires of a card as they stood when their clock's memories closed.
//
// Latency: two cycles for a wire of clk, else as ff_cdc_read; one of a clock that stands still answers an error. Throughput: one word at
// a time. Back-pressure: none. Clock domains: clk; clks[d] for the wires of domain d, where 0 is clk itself.
`default_nettype none
module ff_card_bank #(
    parameter WIRES = 1,                         // words, 1..128
    parameter CLOCKS = 2,                        // 2..32
    parameter [WIRES*8-1:0] DOMAIN = {WIRES{8'd0}} // of each wire
) (
    input  wire                clk, rst,
    input  wire [CLOCKS-1:0]   clks, rsts,
    input  wire [CLOCKS-1:0]   closed,           // each in its domain: up until the next arm
    input  wire [WIRES*32-1:0] wires,            // each in its domain
    // window: the wire; stands still until win_ack
    input  wire                sel,
    input  wire [6:0]          win_word,
    output reg                 win_ack, win_err,
    output reg  [31:0]         win_rdata
);
    generate if (WIRES < 1 || WIRES > 128 || CLOCKS < 2 || CLOCKS > 32) begin : g_check_WIRES
        ff_error_WIRES_must_be_1_to_128_and_CLOCKS_2_to_32 stop (); // none such
    end endgenerate
    wire [CLOCKS-1:0] acks, errs;
    wire [CLOCKS*32-1:0] words;
    wire [WIRES*32-1:0] held;
    genvar d, w;
    generate for (d = 0; d < CLOCKS; d = d + 1) begin : g_held
        for (w = 0; w < WIRES; w = w + 1) begin : g_wire
            if ({24'd0, DOMAIN[8*w +: 8]} == d) begin : g_ours
                reg [31:0] held_q;
                always @(posedge clks[d]) if (!closed[d]) held_q <= wires[32*w +: 32];
                assign held[32*w +: 32] = held_q;
            end
        end
    end endgenerate
    generate for (d = 0; d < CLOCKS; d = d + 1) begin : g_clock
        reg         ours;
        reg  [31:0] word;
        integer k;
        always @* begin
            ours = 1'b0;
            word = 32'd0;
            for (k = 0; k < WIRES; k = k + 1) if ({24'd0, DOMAIN[8*k +: 8]} == d && {25'd0, win_word} == k) begin
                ours = 1'b1;
                word = held[32*k +: 32];
            end
        end
        wire asked = sel && ours && !win_ack;
        if (d == 0) begin : g_near
            assign acks[0] = asked;
            assign errs[0] = 1'b0;
            assign words[31:0] = word;
            wire unused = &{1'b0, rsts[0], clks, closed};
        end else begin : g_far
            ff_cdc_read #(.DATA_W(32)) i_read (
                .clk(clk), .rst(rst), .req(asked), .ack(acks[d]), .err(errs[d]), .data(words[32*d +: 32]),
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
    wire none = {25'd0, win_word} >= WIRES;
    always @(posedge clk) begin
        win_ack <= sel && !win_ack && !rst && (none || |acks);
        win_err <= none || |(acks & errs);
        win_rdata <= chosen;
    end
endmodule
`default_nettype wire
