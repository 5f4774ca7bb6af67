// SPDX-License-Identifier: Apache-2.0
// ff_card_bank: wires of a card as they stood when their clock's memories closed.
//
// Latency, throughput, back-pressure: those of ff_card_words. Clock domains: clk; clks[d] for the wires of domain d, where 0 is clk itself.
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
    output wire                win_ack, win_err,
    output wire [31:0]         win_rdata
);
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
    ff_card_words #(.WORDS(WIRES), .CLOCKS(CLOCKS), .DOMAIN(DOMAIN)) i_words (
        .clk(clk), .rst(rst), .clks(clks), .rsts(rsts), .words(held), .sel(sel), .win_word(win_word), .win_ack(win_ack),
        .win_err(win_err), .win_rdata(win_rdata)
    );
    wire unused = &{1'b0, clks, closed};
endmodule
`default_nettype wire
