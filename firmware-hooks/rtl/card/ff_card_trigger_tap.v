// SPDX-License-Identifier: Apache-2.0
// ff_card_trigger_tap: which terms of a card's trigger a tap's words agree with, told to the register bus in the words' order.
//
// Only words with a combination of terms that some step looks for are told, each with its cycle; 16 may wait, what finds no room is
// lost and lost stands until the arm. Latency: a word is offered four to five cycles of bus_clk behind its own. Throughput: one word
// a cycle until 16 wait. Back-pressure: out_ready. Clock domains: clk is the tap's; out_*, on, wanted and the tables are of bus_clk.
`default_nettype none
module ff_card_trigger_tap #(
    parameter TERMS = 2                  // 1..4
) (
    input  wire                bus_clk, bus_rst,
    input  wire [14*TERMS-1:0] shift,
    input  wire                agrees,
    input  wire [TERMS-1:0]    on,       // the term is asked of this tap, and its tables are filled
    input  wire [15:0]         wanted,   // stands still while on
    input  wire                clk, rst,
    input  wire                arm,
    input  wire                triggered, // the recording is over: nothing more is told
    input  wire [31:0]         now,
    input  wire                word_valid,
    input  wire [3:0]          word_kind,
    input  wire [63:0]         word_data,
    output wire                out_valid,
    output wire [3:0]          out_terms,
    output wire [31:0]         out_cycle,
    output wire                out_epoch, // changes with every arm
    input  wire                out_ready,
    output wire                lost
);
    generate if (TERMS < 1 || TERMS > 4) begin : g_check_TERMS
        ff_error_TERMS_must_be_1_to_4 stop (); // none such
    end endgenerate
    wire [TERMS-1:0] agree, asked;
    ff_cdc_sync #(.W(TERMS)) i_on (.clk(clk), .d(on), .q(asked));
    genvar k;
    generate for (k = 0; k < TERMS; k = k + 1) begin : g_term
        ff_trigger_table i_table (
            .clk(bus_clk), .shift(shift[14*k +: 14]), .agrees(agrees), .word_kind(word_kind), .word_data(word_data), .agree(agree[k])
        );
    end endgenerate

    reg              valid_q, epoch_q, lost_q;
    reg  [TERMS-1:0] agree_q;
    reg  [31:0]      cycle_q;
    wire [4:0]       padded = {{5-TERMS{1'b0}}, agree_q};
    wire [3:0]       terms = padded[3:0];
    wire             tells = valid_q && wanted[terms];
    wire             room;
    always @(posedge clk) begin
        valid_q <= word_valid && asked != {TERMS{1'b0}} && !arm && !triggered && !rst;
        agree_q <= agree & asked;
        cycle_q <= now;
        epoch_q <= !rst && (epoch_q ^ arm);
        lost_q <= !rst && !arm && (lost_q || (tells && !room));
    end
    ff_cdc_fifo #(.DATA_W(37), .DEPTH_LOG2(4)) i_fifo (
        .s_clk(clk), .s_rst(rst), .s_valid(tells), .s_data({epoch_q, terms, cycle_q}), .s_ready(room),
        .m_clk(bus_clk), .m_rst(bus_rst), .m_valid(out_valid), .m_data({out_epoch, out_terms, out_cycle}), .m_ready(out_ready)
    );
    wire             unused = padded[4];
    ff_cdc_sync i_lost (.clk(bus_clk), .d(lost_q), .q(lost));
endmodule
`default_nettype wire
