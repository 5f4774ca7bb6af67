// SPDX-License-Identifier: Apache-2.0
// ff_quad_counts: what a device counts besides its traces: counters with their snapshots, throughput sampler, two histograms.
//
// What a parameter leaves out answers in the same way as one that is there and has counted nothing: zeros, and of the samples an
// error. Latency, throughput: those of ff_counters, ff_sampler and ff_histogram; what is left out answers in the cycle behind its
// select. Back-pressure: none. Clock domains: clk_bus; clk_link for count_link, word_out, word_in and the taps 1 and 2.
`default_nettype none
module ff_quad_counts #(
    parameter COUNTERS = 32,       // counters of the map, 32; 0: none
    parameter COUNTER_W = 64,      // bits of a counter, 32..64
    parameter SAMPLER_DEPTH = 1024, // samples, power of two, 16..4096; 0: no sampler, no histograms
    parameter RX_FIFO = 2048       // words of the incoming FIFO, power of two, 16..32768
) (
    input  wire         clk_bus, rst, clk_link, rst_link,
    input  wire [63:0]  now,               // clk_bus
    input  wire         arm, armed, frozen,
    // counted: one wire a counter in the order of the map; those of taps and lost events are made here
    input  wire [31:0]  count_bus, count_link,
    input  wire [3:0]   tap_valid,
    input  wire [15:0]  tap_kind,
    input  wire [5:0]   lost_now,
    input  wire         length_valid,
    input  wire [9:0]   length_words,
    input  wire [15:0]  rx_level,
    // configuration
    input  wire [31:0]  cfg_snapshot_log2, cfg_sample_period,
    input  wire         cfg_period_written,
    output wire [31:0]  stat_snapshot_seq,
    output wire         stat_copying,
    // windows
    input  wire         sel_snapshot, sel_frozen_counters, sel_samples, sel_sampler, sel_lengths, sel_occupancy,
    input  wire [12:0]  win_word,
    output wire         win_ack, win_err,
    output wire [31:0]  win_rdata
);
    wire        counters_ack;
    wire [31:0] counters_rdata;
    generate
        if (COUNTERS != 0) begin : g_counters
            // Of the taps: words and packets, in the order of the map. Lost events, of which a cycle may have many, one by one.
            localparam [3:0] TAIL = 4'd3; // enum kind
            wire [3:0] words = tap_valid;
            wire [3:0] packets = {tap_valid[3] && tap_kind[15:12] == TAIL, tap_valid[2] && tap_kind[11:8] == TAIL,
                tap_valid[1] && tap_kind[7:4] == TAIL, tap_valid[0] && tap_kind[3:0] == TAIL};
            reg  [31:0] owed_q;
            wire owes = owed_q != 32'd0;
            always @(posedge clk_bus) owed_q <= rst ? 32'd0 : owed_q + {26'd0, lost_now} - {31'd0, owes};
            ff_counters #(.COUNT(32), .COUNTER_W(COUNTER_W)) i_counters (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
                .count_bus({owes, count_bus[30:8], packets[3], words[3], 4'b0000, packets[0], words[0]}),
                .count_link({1'b0, count_link[30:8], 2'b00, packets[2], words[2], packets[1], words[1], 2'b00}),
                .cycle(now[39:0]), .cfg_snapshot_log2(cfg_snapshot_log2 > 32'd40 ? 6'd40 : cfg_snapshot_log2[5:0]),
                .stat_snapshot_seq(stat_snapshot_seq), .frozen(frozen), .stat_copying(stat_copying),
                .sel_snapshot(sel_snapshot), .sel_frozen(sel_frozen_counters), .win_word(win_word[8:0]),
                .win_ack(counters_ack), .win_rdata(counters_rdata)
            );
            wire unused = &{1'b0, count_bus[31], count_bus[7:0], count_link[31], count_link[7:0]};
        end else begin : g_no_counters
            assign {counters_ack, counters_rdata, stat_snapshot_seq, stat_copying} = 66'd0;
            wire unused = &{1'b0, count_bus, count_link, tap_kind, lost_now, cfg_snapshot_log2, frozen};
        end
    endgenerate

    wire        sampler_ack, sampler_err, lengths_ack, occupancy_ack;
    wire [31:0] sampler_rdata, lengths_rdata, occupancy_rdata;
    generate
        if (SAMPLER_DEPTH != 0) begin : g_sampler
            wire sampled;
            ff_sampler #(.DEPTH(SAMPLER_DEPTH)) i_sampler (
                .clk_bus(clk_bus), .rst_bus(rst), .clk_link(clk_link), .rst_link(rst_link),
                .word_out(tap_valid[1]), .word_in(tap_valid[2]), .cycle(now), .cfg_period(cfg_sample_period),
                .cfg_written(cfg_period_written), .armed(armed), .arm(arm),
                .m_sampled(sampled), .sel_samples(sel_samples), .sel_sampler(sel_sampler), .win_word(win_word),
                .win_ack(sampler_ack), .win_err(sampler_err), .win_rdata(sampler_rdata)
            );
            // bin of a length: its number of bits
            reg  [3:0] bits;
            integer b;
            always @* begin
                bits = 4'd0;
                for (b = 0; b < 10; b = b + 1) if (length_words[b]) bits = b[3:0] + 4'd1;
            end
            ff_histogram i_lengths (
                .clk(clk_bus), .rst(rst), .s_valid(length_valid), .s_bin(bits), .frozen(frozen), .sel(sel_lengths),
                .win_word(win_word[3:0]), .win_ack(lengths_ack), .win_rdata(lengths_rdata)
            );
            wire [15:0] sixteenths = rx_level >> ($clog2(RX_FIFO) - 4);
            ff_histogram i_occupancy (
                .clk(clk_bus), .rst(rst), .s_valid(sampled), .s_bin(sixteenths > 16'd15 ? 4'd15 : sixteenths[3:0]),
                .frozen(frozen), .sel(sel_occupancy), .win_word(win_word[3:0]), .win_ack(occupancy_ack),
                .win_rdata(occupancy_rdata)
            );
        end else begin : g_no_sampler
            assign {sampler_ack, sampler_err, sampler_rdata} = 34'd0;
            assign {lengths_ack, lengths_rdata, occupancy_ack, occupancy_rdata} = 66'd0;
            wire unused = &{1'b0, length_valid, length_words, rx_level, cfg_sample_period, cfg_period_written, armed, arm};
        end
    endgenerate

    wire refused = SAMPLER_DEPTH == 0 && sel_samples;
    wire reads_0 = (COUNTERS == 0 && (sel_snapshot || sel_frozen_counters))
        || (SAMPLER_DEPTH == 0 && (sel_sampler || sel_lengths || sel_occupancy));
    reg  none_ack, none_err;
    always @(posedge clk_bus) begin
        none_ack <= (reads_0 || refused) && !none_ack && !rst;
        none_err <= refused;
    end
    assign win_ack = counters_ack || sampler_ack || lengths_ack || occupancy_ack || none_ack;
    assign win_err = (sampler_ack && sampler_err) || (none_ack && none_err);
    assign win_rdata = counters_rdata | sampler_rdata | lengths_rdata | occupancy_rdata;
    wire unused_bits = &{1'b0, clk_link, rst_link, now, win_word, tap_valid};
endmodule
`default_nettype wire
