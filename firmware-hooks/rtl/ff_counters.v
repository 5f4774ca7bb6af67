// SPDX-License-Identifier: Apache-2.0
// ff_counters: event counters of both clock domains, their double-banked snapshots and their values at freeze.
//
// Each strobe is first counted in a few flip-flops; a sweep adds those to the wide counters in LUT RAM, one counter a
// cycle, and copies what it passes into a bank when a snapshot is due or the recorder froze. So the counters of one
// bank are COUNT cycles apart, each is exact in its own cycle, and no strobe is ever lost. What arises in clk_link
// is counted there and crosses within 40 * COUNT cycles (the slower clock's); the copy at freeze waits for all of
// it, so that for a card that is held the numbers are those of the freeze.
//
// Latency: a snapshot is complete COUNT cycles and at most COUNT / 4 more after its time. Throughput: one strobe a
// cycle and counter. Back-pressure: none. Clock domains: clk_bus (counters, banks), clk_link (its strobes); clk_link at
// most 4 times as fast. A window access answers in two cycles, one to the banks of the freeze when they stand.
`default_nettype none
module ff_counters #(
    parameter COUNT = 32,                    // counters, 2..32
    parameter COUNTER_W = 64,                // bits of a counter, 32..64
    parameter [31:0] LINK_MASK = 32'hFFFFFFFF // counters that have strobes in clk_link, one bit each
) (
    input  wire             clk_bus, rst_bus,
    input  wire             clk_link, rst_link,
    input  wire [COUNT-1:0] count_bus,       // clk_bus
    input  wire [COUNT-1:0] count_link,      // clk_link
    input  wire [39:0]      cycle,           // low bits of the bus cycle
    input  wire [5:0]       cfg_snapshot_log2,
    output reg  [31:0]      stat_snapshot_seq,
    input  wire             frozen,          // clk_bus
    output wire             stat_copying,    // frozen, and the frozen counters do not stand yet
    // windows: snapshot (word bit 8 the bank), frozen_counters
    input  wire             sel_snapshot, sel_frozen,
    input  wire [8:0]       win_word,        // bit 0 high half, bits 5:1 counter, bit 8 bank
    output reg              win_ack,
    output reg  [31:0]      win_rdata
);
    generate
        if (COUNT < 2 || COUNT > 32) begin : g_check_COUNT
            ff_error_COUNT_must_be_2_to_32 stop (); // none such
        end
        if (COUNTER_W < 32 || COUNTER_W > 64) begin : g_check_COUNTER_W
            ff_error_COUNTER_W_must_be_32_to_64 stop (); // none such
        end
    endgenerate
    localparam FEW_W = 6;   // 32 cycles of a sweep and at most every fourth for a word from clk_link: below 64
    localparam FAR_W = 12;  // 32 words from clk_link at 5 own and 4 x 4 bus cycles each, doubled
    localparam [4:0] LAST = COUNT[4:0] - 5'd1;

    // -- strobes of clk_bus ----------------------------------------------------------------------
    reg  [4:0] at_q;                       // counter the sweep stands at
    reg  [COUNT*FEW_W-1:0] bus_few_q;          // strobes since the sweep was here
    wire sweep;                            // the sweep goes on in this cycle
    wire [FEW_W-1:0] few = bus_few_q[at_q*FEW_W +: FEW_W];
    integer i;
    always @(posedge clk_bus) begin
        if (few != {FEW_W{1'b0}} || count_bus != {COUNT{1'b0}}) // else all stay as they are
            for (i = 0; i < COUNT; i = i + 1)
                bus_few_q[i*FEW_W +: FEW_W] <= (sweep && at_q == i[4:0] ? {FEW_W{1'b0}} : bus_few_q[i*FEW_W +: FEW_W])
                    + {{FEW_W-1{1'b0}}, count_bus[i]};
        if (rst_bus) bus_few_q <= {COUNT*FEW_W{1'b0}};
    end

    // -- strobes of clk_link, sent one counter at a time; number 32 says: all that was counted before the ask is sent --
    wire              far_valid;
    wire [5:0]        far_number;
    wire [FAR_W-1:0]  far_few;
    reg               far_ready_q;
    reg               drain_q;             // ask for everything
    generate
        if (LINK_MASK[COUNT-1:0] != {COUNT{1'b0}}) begin : g_link
            reg  [4:0] link_at_q;
            wire [COUNT*FAR_W-1:0] far;
            reg  [5:0] left_q;             // counters until everything is sent
            reg  told_q;
            wire drain, ready;
            wire [FAR_W-1:0] here = far[link_at_q*FAR_W +: FAR_W];
            wire tell = drain && !told_q && left_q == 6'd0;
            wire send = tell || here != {FAR_W{1'b0}};
            wire step = ready && !tell;
            ff_cdc_sync i_drain (.clk(clk_link), .d(drain_q), .q(drain));
            genvar j;
            for (j = 0; j < COUNT; j = j + 1) begin : g_far
                localparam [4:0] SELF = j;
                if (LINK_MASK[j]) begin : g_counted
                    wire [FAR_W-1:0] one = {{FAR_W-1{1'b0}}, count_link[j]};
                    reg  [FAR_W-1:0] few_q;
                    assign far[j*FAR_W +: FAR_W] = few_q;
                    always @(posedge clk_link) begin
                        if (rst_link) few_q <= {FAR_W{1'b0}};
                        else few_q <= step && link_at_q == SELF ? one : few_q + one;
                    end
                end else begin : g_none
                    wire unused_strobe = &{1'b0, count_link[j]};
                    assign far[j*FAR_W +: FAR_W] = {FAR_W{1'b0}};
                end
            end
            always @(posedge clk_link) begin
                if (step) link_at_q <= link_at_q == LAST ? 5'd0 : link_at_q + 5'd1;
                if (!drain) left_q <= COUNT[5:0];
                else if (step && left_q != 6'd0) left_q <= left_q - 6'd1;
                told_q <= drain && (told_q || (tell && ready));
                if (rst_link) begin
                    link_at_q <= 5'd0;
                    left_q <= COUNT[5:0];
                    told_q <= 1'b0;
                end
            end
            ff_cdc_handshake #(.DATA_W(6 + FAR_W)) i_cross (
                .s_clk(clk_link), .s_rst(rst_link), .s_valid(send),
                .s_data({tell, link_at_q, here}), .s_ready(ready),
                .m_clk(clk_bus), .m_rst(rst_bus), .m_valid(far_valid),
                .m_data({far_number, far_few}), .m_ready(far_ready_q)
            );
        end else begin : g_no_link
            wire unused_link = &{1'b0, clk_link, rst_link, count_link, far_ready_q, drain_q};
            assign far_valid = 1'b0;
            assign far_number = 6'd0;
            assign far_few = {FAR_W{1'b0}};
        end
    endgenerate

    // -- the wide counters: one read-modify-write a cycle ------------------------------------------
    // A word from clk_link takes a cycle from the sweep. A counter holds nothing before the sweep was there once.
    reg  [COUNTER_W-1:0] live [0:31];
    reg  first_q;                          // the first sweep after reset
    wire take = far_valid && !far_ready_q && !far_number[5] && !first_q;
    wire finished = far_valid && !far_ready_q && far_number[5];
    assign sweep = !take;
    wire [4:0] number = take ? far_number[4:0] : at_q;
    wire [FAR_W-1:0] add = take ? far_few : {{FAR_W-FEW_W{1'b0}}, few};
    wire [COUNTER_W-1:0] old = first_q ? {COUNTER_W{1'b0}} : live[number];
    wire [COUNTER_W-1:0] sum = old + {{COUNTER_W-FAR_W{1'b0}}, add};
    always @(posedge clk_bus) if (!rst_bus) live[number] <= sum;

    // -- banks: 0 and 1 the snapshots, 2 the freeze --------------------------------------------------
    reg  [COUNTER_W-1:0] bank [0:127];
    reg  [2:0] valid_q;                    // banks that were written since reset
    reg  [1:0] into_q;                     // bank that is being filled
    reg  [5:0] left_q;                     // counters it still lacks
    reg  snapshot_due_q, freeze_due_q, drained_q, frozen_q;
    reg  [12:0] patience_q;                // clk_link may stand still: then the copy is made without it
    wire copying = left_q != 6'd0;
    wire [5:0] log2 = cfg_snapshot_log2 < 6'd6 ? 6'd6 : cfg_snapshot_log2 > 6'd40 ? 6'd40 : cfg_snapshot_log2;
    wire [39:0] low = ~(40'hFFFFFFFFFF << log2);
    wire due = (cycle & low) == 40'd0;
    wire copy = copying && sweep && !first_q;
    always @(posedge clk_bus) if (copy) bank[{into_q, at_q}] <= sum;
    always @(posedge clk_bus) begin
        far_ready_q <= take || finished;
        if (sweep) at_q <= at_q == LAST ? 5'd0 : at_q + 5'd1;
        if (sweep && at_q == LAST) first_q <= 1'b0;
        if (due && !first_q) snapshot_due_q <= 1'b1; // cycle 0 is no time for a snapshot
        frozen_q <= frozen;
        if (frozen && !frozen_q) begin
            freeze_due_q <= 1'b1;
            drained_q <= LINK_MASK[COUNT-1:0] == {COUNT{1'b0}};
            patience_q <= 13'd0;
            drain_q <= 1'b1;
        end else begin
            if (!patience_q[12]) patience_q <= patience_q + 13'd1;
            if (finished || patience_q[12]) begin
                drained_q <= 1'b1;
                drain_q <= 1'b0;
            end
        end
        if (copy) begin
            left_q <= left_q - 6'd1;
            if (left_q == 6'd1) begin
                valid_q[into_q] <= 1'b1;
                if (into_q[1]) freeze_due_q <= 1'b0;
                else stat_snapshot_seq <= stat_snapshot_seq + 32'd1;
            end
        end else if (!copying && !first_q) begin
            if (freeze_due_q && drained_q) begin
                into_q <= 2'd2;
                left_q <= COUNT[5:0];
            end else if (snapshot_due_q) begin
                into_q <= {1'b0, !stat_snapshot_seq[0]};
                left_q <= COUNT[5:0];
                snapshot_due_q <= due;
            end
        end
        if (rst_bus) begin
            far_ready_q <= 1'b0;
            at_q <= 5'd0;
            first_q <= 1'b1;
            valid_q <= 3'd0;
            into_q <= 2'd0;
            left_q <= 6'd0;
            snapshot_due_q <= 1'b0;
            freeze_due_q <= 1'b0;
            drained_q <= 1'b0;
            drain_q <= 1'b0;
            frozen_q <= 1'b0;
            patience_q <= 13'd0;
            stat_snapshot_seq <= 32'd0;
        end
    end

    // -- reading -------------------------------------------------------------------------------------
    wire [1:0] from = sel_frozen ? 2'd2 : {1'b0, win_word[8]};
    wire [4:0] asked = win_word[5:1];
    wire stands = valid_q[from] && {1'b0, asked} < COUNT[5:0];
    wire [63:0] whole;
    generate
        if (COUNTER_W < 64) begin : g_narrow
            assign whole = {{64-COUNTER_W{1'b0}}, bank[{from, asked}]};
        end else begin : g_full
            assign whole = bank[{from, asked}];
        end
    endgenerate
    assign stat_copying = freeze_due_q || (frozen && !frozen_q);
    wire waits = sel_frozen && freeze_due_q;
    always @(posedge clk_bus) begin
        win_ack <= (sel_snapshot || sel_frozen) && !win_ack && !waits && !rst_bus;
        win_rdata <= !(sel_snapshot || sel_frozen) || !stands ? 32'd0 : win_word[0] ? whole[63:32] : whole[31:0];
    end
    wire unused = &{1'b0, win_word[7:6]};
endmodule
`default_nettype wire
