// SPDX-License-Identifier: Apache-2.0
// ff_inject: the buffer of a hand-built packet, and its sending, once for each write with the right token.
//
// Latency: three cycles from the pulse to the first word. Throughput: a word in two cycles. Back-pressure: m_ready; a pulse
// while a packet is being sent, with a wrong token, without words, or while the card is held changes nothing.
// Clock domain: clk. A window access answers in two cycles.
`default_nettype none
module ff_inject (
    input  wire         clk, rst,
    input  wire         pulse,               // provoke.inject was written
    input  wire [31:0]  pulse_data,          // token [15:0], words [25:16]
    input  wire         held,                // the card stands still
    output reg  [31:0]  stat_count,          // packets injected
    // packet
    output reg          m_valid, m_last,
    output reg  [63:0]  m_data,
    input  wire         m_ready,
    // window: half words, low half first
    input  wire         sel, win_we,
    input  wire [10:0]  win_word,
    input  wire [31:0]  win_wdata,
    output reg          win_ack,
    output reg  [31:0]  win_rdata
);
    reg  [31:0] low [0:1023];
    reg  [31:0] high [0:1023];
    integer k;
    initial for (k = 0; k < 1024; k = k + 1) begin // a word not written since power-up reads 0
        low[k] = 32'd0;
        high[k] = 32'd0;
    end

    // One port: the host's access goes first, the sender reads in the cycles that are left.
    reg  [9:0]  at_q, left_q;                // next word, words to read
    reg         sends_q, fetched_q;          // fetched_q: word_q holds the next word
    reg  [63:0] word_q;
    reg         looked_q;
    wire host = sel && !win_ack && !looked_q;
    wire fetch = sends_q && left_q != 10'd0 && !fetched_q && !m_valid && !host;
    wire [9:0] address = host ? win_word[10:1] : at_q;
    always @(posedge clk) begin
        if (host && win_we && !win_word[0]) low[address] <= win_wdata;
        if (host && win_we && win_word[0]) high[address] <= win_wdata;
        if (host || fetch) word_q <= {high[address], low[address]};
    end

    wire starts = pulse && !sends_q && !held && pulse_data[25:16] != 10'd0
        && pulse_data[15:0] == stat_count[15:0] + 16'd1;
    always @(posedge clk) begin
        fetched_q <= fetch;
        if (starts) begin
            stat_count <= stat_count + 32'd1;
            sends_q <= 1'b1;
            at_q <= 10'd0;
            left_q <= pulse_data[25:16];
        end
        if (fetch) begin
            at_q <= at_q + 10'd1;
            left_q <= left_q - 10'd1;
        end
        if (fetched_q) begin
            m_valid <= 1'b1;
            m_data <= word_q;
            m_last <= left_q == 10'd0;
        end else if (m_valid && m_ready) begin
            m_valid <= 1'b0;
            if (m_last) sends_q <= 1'b0;
        end
        if (rst) begin
            stat_count <= 32'd0;
            sends_q <= 1'b0;
            fetched_q <= 1'b0;
            m_valid <= 1'b0;
            left_q <= 10'd0;
        end
    end

    always @(posedge clk) begin
        looked_q <= host && !rst;
        win_ack <= looked_q && sel && !rst;
        win_rdata <= !looked_q || !sel ? 32'd0 : win_word[0] ? word_q[63:32] : word_q[31:0];
    end
    wire unused = &{1'b0, pulse_data[31:26]};
endmodule
`default_nettype wire
