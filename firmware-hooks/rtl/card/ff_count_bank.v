// SPDX-License-Identifier: Apache-2.0
// ff_count_bank: the counters of every domain, 64 bits wide, in two snapshots and as they stood at the freeze.
//
// A sweep without end reads one ff_count after another over its clock's crossing and adds what has come since to the wide counter, so a
// counter of 32 bits is passed long before it wraps. A sweep that begins when a snapshot is due fills the older bank; one that begins
// after the freeze takes what the counters held when their domain closed. A clock that stands still leaves its counters as they were.
//
// Latency: a sweep takes some ten cycles a counter and clock, up to 2^TIMEOUT_LOG2 for one of a clock that stands still. Throughput:
// one counter at a time. Back-pressure: none. Clock domains: clk; clks[d] for the counters of domain d, where 0 is clk itself.
`default_nettype none
module ff_count_bank #(
    parameter COUNT = 4,                        // counters, 1..128
    parameter DOMAINS = 2,                      // clocks, 1..32
    parameter [COUNT*8-1:0] DOMAIN = {COUNT{8'd0}}, // of each counter
    parameter TIMEOUT_LOG2 = 8                  // as ff_cdc_read
) (
    input  wire                clk, rst,
    input  wire [DOMAINS-1:0]  clks, rsts,
    input  wire [COUNT*32-1:0] live, held,      // each in its domain
    input  wire [39:0]         cycle,           // low bits of the bus cycle
    input  wire [5:0]          cfg_snapshot_log2, // below 12: 12
    output reg  [31:0]         stat_snapshot_seq,
    input  wire                frozen,
    output wire                stat_copying,    // frozen, and the values at the freeze do not stand yet
    // windows: snapshot (bit 8 the bank) and frozen_counters; bits 7:1 the counter, bit 0 its upper half
    input  wire                sel_snapshot, sel_frozen,
    input  wire [8:0]          win_word,
    output reg                 win_ack, win_err,
    output reg  [31:0]         win_rdata
);
    generate
        if (COUNT < 1 || COUNT > 128) begin : g_check_COUNT
            ff_error_COUNT_must_be_1_to_128 stop (); // none such
        end
        if (DOMAINS < 1 || DOMAINS > 32) begin : g_check_DOMAINS
            ff_error_DOMAINS_must_be_1_to_32 stop (); // none such
        end
    endgenerate
    localparam [31:0] LAST = COUNT - 1;
    localparam [1:0] PLAIN = 2'd0, SNAPSHOT = 2'd1, FREEZE = 2'd2;

    // -- one word of one domain ------------------------------------------------------------------------
    reg  [6:0]  at_q;                        // the counter asked for; stands still until its answer
    reg  [1:0]  sweep_q;                     // what this sweep is for
    reg         asks_q;
    wire        takes_held = sweep_q == FREEZE;
    wire [DOMAINS-1:0] acks, errs;
    wire [DOMAINS*32-1:0] words;
    genvar d;
    generate for (d = 0; d < DOMAINS; d = d + 1) begin : g_domain
        reg          ours;                   // the counter asked for is one of this domain
        reg  [31:0]  chosen;
        integer k;
        always @* begin
            ours = 1'b0;
            chosen = 32'd0;
            for (k = 0; k < COUNT; k = k + 1) if ({24'd0, DOMAIN[8*k +: 8]} == d && {25'd0, at_q} == k) begin
                ours = 1'b1;
                chosen = chosen | (takes_held ? held[32*k +: 32] : live[32*k +: 32]);
            end
        end
        if (d == 0) begin : g_near
            assign acks[0] = asks_q && ours;
            assign errs[0] = 1'b0;
            assign words[31:0] = chosen;
            wire unused = &{1'b0, clks[0], rsts[0]};
        end else begin : g_far
            ff_cdc_read #(.DATA_W(32), .TIMEOUT_LOG2(TIMEOUT_LOG2)) i_read (
                .clk(clk), .rst(rst), .req(asks_q && ours), .ack(acks[d]), .err(errs[d]), .data(words[32*d +: 32]),
                .far_clk(clks[d]), .far_rst(rsts[d]), .far_data(chosen)
            );
        end
    end endgenerate
    reg  [31:0] word;
    reg         known;
    integer n;
    always @* begin
        word = 32'd0;
        known = 1'b0;
        for (n = 0; n < DOMAINS; n = n + 1) begin
            word = word | (words[32*n +: 32] & {32{acks[n]}});
            known = known || (acks[n] && !errs[n]);
        end
    end
    wire answered = asks_q && |acks;

    // -- the wide counters -------------------------------------------------------------------------------
    reg  [95:0] wide [0:127];                // {total, the word that it has reached}
    reg  [63:0] bank [0:511];                // 0, 1 the snapshots, 2 the freeze
    reg         first_q;                     // the first sweep since reset: nothing stands in wide yet
    wire [95:0] old = first_q ? 96'd0 : wide[at_q];
    wire [31:0] since = word - old[31:0];    // held may lie before what was reached
    wire [63:0] total = old[95:32] + {{32{takes_held && since[31]}}, since};
    wire [63:0] value = known ? total : old[95:32];
    always @(posedge clk) if (answered && !takes_held) wide[at_q] <= {value, known ? word : old[31:0]};
    wire [1:0]  into = takes_held ? 2'd2 : {1'b0, !stat_snapshot_seq[0]};
    always @(posedge clk) if (answered && sweep_q != PLAIN) bank[{into, at_q}] <= value;

    reg         snapshot_due_q, freeze_due_q, frozen_q;
    reg  [2:0]  valid_q;                     // banks that were filled since reset
    wire [5:0]  log2 = cfg_snapshot_log2 < 6'd12 ? 6'd12 : cfg_snapshot_log2 > 6'd40 ? 6'd40 : cfg_snapshot_log2;
    wire [39:0] low = ~(40'hFFFFFFFFFF << log2);
    wire        due = (cycle & low) == 40'd0;
    wire        ends = answered && {25'd0, at_q} == LAST;
    always @(posedge clk) begin
        frozen_q <= frozen;
        asks_q <= !answered;
        if (answered) at_q <= ends ? 7'd0 : at_q + 7'd1;
        if (due && !first_q) snapshot_due_q <= 1'b1; // cycle 0 is no time for a snapshot
        if (ends) begin
            first_q <= 1'b0;
            sweep_q <= freeze_due_q && !takes_held ? FREEZE : snapshot_due_q ? SNAPSHOT : PLAIN;
            if (!(freeze_due_q && !takes_held)) snapshot_due_q <= due;
            if (sweep_q == SNAPSHOT) begin
                valid_q[{1'b0, !stat_snapshot_seq[0]}] <= 1'b1;
                stat_snapshot_seq <= stat_snapshot_seq + 32'd1;
            end
            if (takes_held) begin
                freeze_due_q <= 1'b0;
                valid_q[2] <= 1'b1;
            end
        end
        if (frozen && !frozen_q) freeze_due_q <= 1'b1;
        if (rst) begin
            at_q <= 7'd0;
            asks_q <= 1'b0;
            sweep_q <= PLAIN;
            first_q <= 1'b1;
            snapshot_due_q <= 1'b0;
            freeze_due_q <= 1'b0;
            frozen_q <= 1'b0;
            valid_q <= 3'd0;
            stat_snapshot_seq <= 32'd0;
        end
    end
    assign stat_copying = freeze_due_q || (frozen && !frozen_q);

    // -- reading -------------------------------------------------------------------------------------------
    wire [1:0]  from = sel_frozen ? 2'd2 : {1'b0, win_word[8]};
    wire        sel = sel_snapshot || sel_frozen;
    reg  [63:0] read_q;
    reg         read_valid_q, stands_q;
    always @(posedge clk) begin
        read_q <= bank[{from, win_word[7:1]}];
        stands_q <= valid_q[from];
        read_valid_q <= sel && !win_ack && !rst && !(sel_frozen && stat_copying);
        win_ack <= read_valid_q && sel && !win_ack && !rst;
        win_err <= {25'd0, win_word[7:1]} > LAST;
        win_rdata <= !stands_q ? 32'd0 : win_word[0] ? read_q[63:32] : read_q[31:0];
    end
endmodule
`default_nettype wire
