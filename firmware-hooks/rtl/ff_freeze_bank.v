// SPDX-License-Identifier: Apache-2.0
// ff_freeze_bank: what the network card was doing in the cycle in which the recorder froze.
//
// Each domain latches its own values when it sees `frozen` rise: clk_bus in that cycle, clk_link two to three of its
// cycles later; the levels of the FIFOs when the frozen counters stand. The state of the flows is then asked for one number after another and kept in RAM; the card answers at
// leisure, but within 2^WAIT_LOG2 cycles, else the window of the flows answers errors. Everything stays until the
// next freeze, and reads 0 before the first.
//
// Latency: 8 * FLOWS answers of the card; its answer is that to the number which stands in the cycle of flow_ack. Throughput: one flow number an answer. Back-pressure: none on the card; an
// access to the flows waits until they stand. Clock domains: clk_bus, and clk_link for bank_* of the link. The link's
// words are given out as far_data, selected by win_word, for the crossing that all link registers share.
`default_nettype none
module ff_freeze_bank #(
    parameter FLOWS = 8,       // flows, 1..128
    parameter WAIT_LOG2 = 10   // log2 of the cycles an answer may take, 4..16
) (
    input  wire         clk_bus, rst_bus,
    input  wire         clk_link, rst_link,
    input  wire         frozen,              // clk_bus
    input  wire         copying,             // clk_bus: the counters of this freeze do not stand yet, and tx_level, rx_level wait
    input  wire [63:0]  cycle,               // bus cycle
    // card, clk_bus
    input  wire [7:0]   bank_tx_dma_state, bank_rx_dma_state,
    input  wire [15:0]  bank_tx_level, bank_rx_level,
    input  wire [63:0]  bank_dma_address,
    input  wire [15:0]  bank_dma_remaining, bank_descriptor_length, bank_descriptors_waiting,
    input  wire         bank_interrupt_mask,
    input  wire [15:0]  bank_completions_waiting,
    input  wire [15:0]  bank_next_seq_out,
    // card, clk_link
    input  wire [7:0]   bank_tx_link_state, bank_rx_link_state,
    input  wire [15:0]  bank_next_seq_in,
    input  wire [31:0]  bank_stalled_flows,
    input  wire [15:0]  bank_sync_level,
    input  wire [63:0]  bank_underflows, bank_overflows,
    input  wire [3:0]   bank_comma_phase,
    // flows, clk_bus
    output reg          flow_req,
    output wire [6:0]   flow_number,
    output wire [2:0]   flow_field,
    input  wire         flow_ack,
    input  wire [31:0]  flow_data,
    // windows frozen (bus words) and frozen_flow
    input  wire         sel_frozen, sel_frozen_flow,
    input  wire [9:0]   win_word,
    output reg          win_ack, win_err,
    output reg  [31:0]  win_rdata,
    // window frozen, words of the link: far_mine tells them, far_data holds them in clk_link
    output wire         far_mine,
    output reg  [31:0]  far_data
);
    generate
        if (FLOWS < 1 || FLOWS > 128) begin : g_check_FLOWS
            ff_error_FLOWS_must_be_1_to_128 stop (); // none such
        end
        if (WAIT_LOG2 < 4 || WAIT_LOG2 > 16) begin : g_check_WAIT_LOG2
            ff_error_WAIT_LOG2_must_be_4_to_16 stop (); // none such
        end
    endgenerate

    // -- clk_bus ---------------------------------------------------------------------------------
    reg  frozen_q;
    wire rises = frozen && !frozen_q;
    reg  [7:0]  tx_dma_state_q, rx_dma_state_q;
    reg  [15:0] tx_level_q, rx_level_q, remaining_q, length_q, waiting_q, completions_q, seq_out_q;
    reg  [63:0] address_q, cycle_q;
    reg         mask_q;
    // A level is taken with the counters: a held card's words in are then those out and the level's.
    reg  level_due_q;
    always @(posedge clk_bus) begin
        frozen_q <= frozen && !rst_bus;
        level_due_q <= (rises || level_due_q) && copying && !rst_bus;
        if (rst_bus) {tx_level_q, rx_level_q} <= 32'd0;
        else if (rises || level_due_q) {tx_level_q, rx_level_q} <= {bank_tx_level, bank_rx_level};
        if (rst_bus) begin
            {tx_dma_state_q, rx_dma_state_q} <= 16'd0;
            {remaining_q, length_q} <= 32'd0;
            {waiting_q, completions_q, seq_out_q} <= 48'd0;
            {address_q, cycle_q} <= 128'd0;
            mask_q <= 1'b0;
        end else if (rises) begin
            {tx_dma_state_q, rx_dma_state_q} <= {bank_tx_dma_state, bank_rx_dma_state};
            {remaining_q, length_q, waiting_q} <=
                {bank_dma_remaining, bank_descriptor_length, bank_descriptors_waiting};
            {completions_q, seq_out_q} <= {bank_completions_waiting, bank_next_seq_out};
            {address_q, cycle_q} <= {bank_dma_address, cycle};
            mask_q <= bank_interrupt_mask;
        end
    end
    reg  [31:0] plain;
    always @* begin
        case (win_word[4:0])
            5'h00: plain = {24'd0, tx_dma_state_q};
            5'h01: plain = {24'd0, rx_dma_state_q};
            5'h04: plain = {16'd0, tx_level_q};
            5'h05: plain = {16'd0, rx_level_q};
            5'h06: plain = address_q[31:0];
            5'h07: plain = address_q[63:32];
            5'h08: plain = {16'd0, remaining_q};
            5'h09: plain = {16'd0, length_q};
            5'h0A: plain = {16'd0, waiting_q};
            5'h0B: plain = {31'd0, mask_q};
            5'h0C: plain = {16'd0, completions_q};
            5'h0D: plain = {16'd0, seq_out_q};
            5'h0F: plain = cycle_q[31:0];
            5'h10: plain = cycle_q[63:32];
            default: plain = 32'd0;
        endcase
    end

    // -- clk_link --------------------------------------------------------------------------------
    assign far_mine = win_word[4:0] == 5'h02 || win_word[4:0] == 5'h03 || win_word[4:0] == 5'h0E
        || win_word[4:0] == 5'h11 || win_word[4:3] == 2'd3;
    wire frozen_link;
    ff_cdc_sync i_frozen (.clk(clk_link), .d(frozen_q), .q(frozen_link));
    reg         frozen_link_q;
    reg  [7:0]  tx_link_state_q, rx_link_state_q;
    reg  [15:0] seq_in_q, sync_q;
    reg  [31:0] stalled_q;
    reg  [63:0] underflows_q, overflows_q;
    reg  [3:0]  phase_q;
    always @(posedge clk_link) begin
        frozen_link_q <= frozen_link && !rst_link;
        if (rst_link) begin
            {tx_link_state_q, rx_link_state_q, seq_in_q, sync_q, stalled_q} <= 80'd0;
            {underflows_q, overflows_q, phase_q} <= 132'd0;
        end else if (frozen_link && !frozen_link_q) begin
            {tx_link_state_q, rx_link_state_q} <= {bank_tx_link_state, bank_rx_link_state};
            {seq_in_q, sync_q, stalled_q} <= {bank_next_seq_in, bank_sync_level, bank_stalled_flows};
            {underflows_q, overflows_q, phase_q} <= {bank_underflows, bank_overflows, bank_comma_phase};
        end
    end
    always @* begin
        case (win_word[4:0])
            5'h02: far_data = {24'd0, tx_link_state_q};
            5'h03: far_data = {24'd0, rx_link_state_q};
            5'h0E: far_data = {16'd0, seq_in_q};
            5'h11: far_data = stalled_q;
            5'h18: far_data = {24'd0, sync_q[7:0]};
            5'h19: far_data = underflows_q[31:0];
            5'h1A: far_data = overflows_q[31:0];
            5'h1B: far_data = {30'd0, phase_q[1:0]};
            5'h1C: far_data = {24'd0, sync_q[15:8]};
            5'h1D: far_data = underflows_q[63:32];
            5'h1E: far_data = overflows_q[63:32];
            5'h1F: far_data = {30'd0, phase_q[3:2]};
            default: far_data = 32'd0;
        endcase
    end

    // -- flows -------------------------------------------------------------------------------------
    localparam WORDS = FLOWS * 8, A = $clog2(WORDS);
    reg  [31:0] ram [0:WORDS-1];
    reg  [9:0]  at_q;
    wire last = {1'b0, at_q} == WORDS[10:0] - 11'd1;
    wire exists = {1'b0, win_word} < WORDS[10:0];
    reg         valid_q, bad_q;              // the flows stand; the card did not answer
    reg  [WAIT_LOG2-1:0] wait_q;
    wire take = flow_req && flow_ack;
    wire late = flow_req && !flow_ack && &wait_q;
    assign {flow_number, flow_field} = at_q;
    always @(posedge clk_bus) begin
        if (take) ram[at_q[A-1:0]] <= flow_data;
        wait_q <= flow_req && !flow_ack ? wait_q + {{WAIT_LOG2-1{1'b0}}, 1'b1} : {WAIT_LOG2{1'b0}};
        if (rises) begin
            flow_req <= 1'b1;
            at_q <= 10'd0;
            bad_q <= 1'b0;
        end else if (late) begin
            flow_req <= 1'b0;
            bad_q <= 1'b1;
        end else if (take) begin
            at_q <= at_q + 10'd1;
            if (last) begin
                flow_req <= 1'b0;
                valid_q <= 1'b1;
            end
        end
        if (rst_bus) begin
            flow_req <= 1'b0;
            at_q <= 10'd0;
            valid_q <= 1'b0;
            bad_q <= 1'b0;
        end
    end

    // -- reading -----------------------------------------------------------------------------------
    reg  [31:0] flow_word_q;
    reg         looked_q;                    // flow_word_q holds what is asked for
    wire level = win_word[4:1] == 4'h2; // tx_level, rx_level
    wire here = sel_frozen && !far_mine && !(level && level_due_q);
    wire there = sel_frozen_flow && !flow_req;
    wire [31:0] flow_word = valid_q && exists ? flow_word_q : 32'd0;
    always @(posedge clk_bus) begin
        if (exists) flow_word_q <= ram[win_word[A-1:0]];
        looked_q <= there && !win_ack && !rises;
        win_ack <= !win_ack && !rst_bus && (here || (there && looked_q));
        win_err <= sel_frozen_flow && bad_q;
        win_rdata <= here ? plain : sel_frozen_flow && looked_q && !bad_q ? flow_word : 32'd0;
    end
endmodule
`default_nettype wire
