// SPDX-License-Identifier: Apache-2.0
// ff_cdc_read: reads one word of another clock domain for the register port, whole, never torn.
//
// Latency: about three cycles of each clock. Throughput: one word at a time. Back-pressure: req stays high, and what
// selects far_data stands still, until ack, which is high for one cycle. Clock domains: clk asks, far_clk answers.
// Where far_clk stands still nobody can tell the word: after 2^TIMEOUT_LOG2 cycles ack comes with err.
`default_nettype none
module ff_cdc_read #(
    parameter DATA_W = 32,      // bits of a word, 1..64
    parameter TIMEOUT_LOG2 = 8  // log2 of the clk cycles to wait, 4..16
) (
    input  wire              clk, rst,
    input  wire              req,
    output reg               ack, err,
    output wire [DATA_W-1:0] data,          // counts while ack
    input  wire              far_clk, far_rst,
    input  wire [DATA_W-1:0] far_data       // selected by what stands still in clk
);
    generate
        if (DATA_W < 1 || DATA_W > 64) begin : g_check_DATA_W
            ff_error_DATA_W_must_be_1_to_64 stop (); // none such
        end
        if (TIMEOUT_LOG2 < 4 || TIMEOUT_LOG2 > 16) begin : g_check_TIMEOUT_LOG2
            ff_error_TIMEOUT_LOG2_must_be_4_to_16 stop (); // none such
        end
    endgenerate

    // Four phases: ask, word held, not asked any more, gone. An ask is always carried through; own_q tells whether the
    // access it was made for still waits, so that one that was given up cannot answer the next.
    reg  ask_q, own_q, held_q;
    wire asked, held;
    ff_cdc_sync i_ask  (.clk(far_clk), .d(ask_q), .q(asked));
    ff_cdc_sync i_held (.clk(clk), .d(held_q), .q(held));

    reg  [DATA_W-1:0] word_q;
    always @(posedge far_clk) begin
        held_q <= asked && !far_rst;
        if (asked && !held_q) word_q <= far_data;
    end

    reg  [TIMEOUT_LOG2-1:0] wait_q;
    wire late = &wait_q;
    wire answered = ask_q && held && own_q;
    wire begins = req && !ack && !ask_q && !held;
    assign data = word_q;
    always @(posedge clk) begin
        ack <= req && !ack && (answered || late);
        err <= !answered;
        wait_q <= req && !ack && !late ? wait_q + {{TIMEOUT_LOG2-1{1'b0}}, 1'b1} : {TIMEOUT_LOG2{1'b0}};
        ask_q <= begins || (ask_q && !held);
        own_q <= begins || (own_q && req && !ack && !answered && !late);
        if (rst) begin
            ack <= 1'b0;
            ask_q <= 1'b0;
            own_q <= 1'b0;
            wait_q <= {TIMEOUT_LOG2{1'b0}};
        end
    end
endmodule
`default_nettype wire
