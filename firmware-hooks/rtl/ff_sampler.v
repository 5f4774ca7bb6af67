// SPDX-License-Identifier: Apache-2.0
// ff_sampler: throughput samples, cumulative words out and in, at equal distances of time while the recorder is armed.
//
// A sample is taken every cfg_period cycles from reset, or from the last write of the period, on. The counts stand in
// clk_link and hold the strobes up to its second edge behind the sample's cycle. Latency: about four cycles of each clock.
// Throughput: one sample in that time (a nearer one is left out). Back-pressure: none. Clock domains: clk_bus, and clk_link for the
// two strobes. A window answers in two cycles.
`default_nettype none
module ff_sampler #(
    parameter DEPTH = 1024     // samples, power of two, 16..4096
) (
    input  wire         clk_bus, rst_bus,
    input  wire         clk_link, rst_link,
    input  wire         word_out, word_in,   // clk_link: a word passed tx_deq, rx_enq
    input  wire [63:0]  cycle,               // bus cycle
    input  wire [31:0]  cfg_period,          // bus cycles; 0 takes no samples
    input  wire         cfg_written,         // the period was written: it begins anew
    input  wire         armed,               // clk_bus: state armed or triggered
    input  wire         arm,                 // clk_bus: one cycle, start at slot 0
    output wire         m_sampled,           // clk_bus: one cycle, the time of a sample
    // windows
    input  wire         sel_samples, sel_sampler,
    input  wire [12:0]  win_word,
    output reg          win_ack, win_err,
    output reg  [31:0]  win_rdata
);
    generate if (DEPTH < 16 || DEPTH > 4096 || (DEPTH & (DEPTH - 1)) != 0) begin : g_check_DEPTH
        ff_error_DEPTH_must_be_a_power_of_two_16_to_4096 stop (); // none such
    end endgenerate
    localparam A = $clog2(DEPTH);

    // -- clk_link: the two counts, latched when the ask arrives --------------------------------------
    reg         ask_q;                       // toggles for each sample
    reg  [31:0] out_q, in_q;
    reg  [63:0] latched_q;
    reg         asked_q;
    wire        asked, answered;
    ff_cdc_sync i_ask (.clk(clk_link), .d(ask_q), .q(asked));
    ff_cdc_sync i_answer (.clk(clk_bus), .d(asked_q), .q(answered));
    always @(posedge clk_link) begin
        if (word_out) out_q <= out_q + 32'd1;
        if (word_in) in_q <= in_q + 32'd1;
        asked_q <= asked;
        if (asked != asked_q) latched_q <= {in_q, out_q};
        if (rst_link) begin
            out_q <= 32'd0;
            in_q <= 32'd0;
            asked_q <= 1'b0;
        end
    end

    // -- clk_bus ---------------------------------------------------------------------------------
    reg  [31:0] since_q;                     // cycles since the last time of a sample
    reg         waits_q;                     // asked, and no answer yet
    reg  [A-1:0] write_ptr_q;
    reg         wrapped_q;
    reg  [63:0] asked_cycle_q, last_cycle_q;
    wire due = cfg_period != 32'd0 && since_q >= cfg_period - 32'd1 && !cfg_written; // the period is new already
    wire take = due && armed && !waits_q && !arm;
    wire store = waits_q && answered == ask_q;
    assign m_sampled = take;
    reg  [63:0] ram [0:DEPTH-1];
    integer k;
    initial for (k = 0; k < DEPTH; k = k + 1) ram[k] = 64'd0; // a slot not written since power-up reads 0
    always @(posedge clk_bus) if (store) ram[write_ptr_q] <= latched_q;
    always @(posedge clk_bus) begin
        since_q <= due || cfg_written ? 32'd0 : since_q + 32'd1;
        if (take) begin
            ask_q <= !ask_q;
            waits_q <= 1'b1;
            asked_cycle_q <= cycle;
        end
        if (store) begin
            waits_q <= 1'b0;
            write_ptr_q <= write_ptr_q + {{A-1{1'b0}}, 1'b1};
            if (&write_ptr_q) wrapped_q <= 1'b1;
            last_cycle_q <= asked_cycle_q;
        end
        if (arm || rst_bus) begin
            write_ptr_q <= {A{1'b0}};
            wrapped_q <= 1'b0;
            last_cycle_q <= 64'd0;
        end
        if (rst_bus) begin
            since_q <= 32'd0;
            ask_q <= 1'b0;
            waits_q <= 1'b0;
            asked_cycle_q <= 64'd0;
        end
    end

    // -- reading -----------------------------------------------------------------------------------
    reg  [63:0] sample_q;
    reg         looked_q;                    // sample_q holds what is asked for
    reg  [31:0] status;
    always @* begin
        case (win_word[1:0])
            2'd0: status = {{32-A{1'b0}}, write_ptr_q};
            2'd1: status = {31'd0, wrapped_q};
            2'd2: status = last_cycle_q[31:0];
            default: status = last_cycle_q[63:32];
        endcase
    end
    wire beyond = {20'd0, win_word[12:1]} >= DEPTH;
    always @(posedge clk_bus) begin
        if (sel_samples) sample_q <= ram[win_word[A:1]];
        looked_q <= sel_samples && !win_ack;
        win_ack <= !win_ack && !rst_bus && (sel_sampler || (sel_samples && looked_q));
        win_err <= sel_samples && beyond;
        win_rdata <= sel_sampler ? status
            : !sel_samples || !looked_q || beyond ? 32'd0 : win_word[0] ? sample_q[63:32] : sample_q[31:0];
    end
endmodule
`default_nettype wire
