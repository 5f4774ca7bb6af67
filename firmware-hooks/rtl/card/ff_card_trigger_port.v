// SPDX-License-Identifier: Apache-2.0
// ff_card_trigger_port: the registers of a card's trigger, 0x140 to 0x1ff of map 2 (docs/card-map.md), and the filler of its tables.
//
// Latency: known, writable and rdata are of the address that stands; a write counts from the next cycle on. The tables of a term
// that was written are filled in 588 cycles (ff_trigger_fill), one term after another, of all terms behind rst; nothing is on
// meanwhile. Throughput: a write a cycle. Back-pressure: none. Clock domain: clk, of the register bus.
`default_nettype none
module ff_card_trigger_port #(
    parameter TAPS = 2,              // 1..64, with the event log
    parameter TERMS = 1,             // 1..4
    parameter STEPS = 0,             // 0: one term alone, whose tap fires by itself; 1..3: ff_card_trigger_sequence
    parameter COUNT_W = 16,          // bits of a step's count, 0..32
    parameter TIMER_W = 24,          // bits of the timer, 0..32
    parameter PIN = 0                // 1: the outer pin
) (
    input  wire                  clk, rst,
    input  wire                  write,       // a write access begins; of another address it does nothing
    input  wire [13:0]           addr,
    input  wire [31:0]           wdata,
    output reg                   known, writable,
    output reg  [31:0]           rdata,
    // ff_card_trigger or ff_card_trigger_tap of each tap
    output wire [14*TERMS-1:0]   shift,
    output wire                  agrees,
    output wire [TAPS*TERMS-1:0] on,
    output wire [15:0]           wanted,      // terms of a word that some step looks for, one bit each combination
    // ff_card_trigger_sequence; stand still while enable is up
    output wire                  enable,
    output wire [1:0]            cfg_last,    // number of the last step
    output wire [47:0]           cfg_when,
    output wire [5:0]            cfg_mode,
    output wire [95:0]           cfg_count,
    output wire [31:0]           cfg_timer,
    output wire                  pin_enable, pin_falling,
    input  wire [31:0]           stat_fired,
    input  wire [95:0]           stat_word, stat_cycle
);
    localparam HELD = STEPS == 0 ? 1 : STEPS; // steps whose registers are kept
    generate
        if (TAPS < 1 || TAPS > 64) begin : g_check_TAPS
            ff_error_TAPS_must_be_1_to_64 stop (); // none such
        end
        if (TERMS < 1 || TERMS > 4 || (STEPS == 0 && TERMS != 1)) begin : g_check_TERMS
            ff_error_TERMS_must_be_1_to_4_and_1_without_STEPS stop (); // none such
        end
        if (STEPS < 0 || STEPS > 3) begin : g_check_STEPS
            ff_error_STEPS_must_be_0_to_3 stop (); // none such
        end
        if (COUNT_W < 0 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_0_to_32 stop (); // none such
        end
        if (TIMER_W < 0 || TIMER_W > 32) begin : g_check_TIMER_W
            ff_error_TIMER_W_must_be_0_to_32 stop (); // none such
        end
        if (PIN != 0 && (PIN != 1 || STEPS == 0)) begin : g_check_PIN
            ff_error_PIN_must_be_0_or_1_and_needs_STEPS stop (); // none such
        end
    endgenerate

    // -- whose register it is: eight words a term from 0x140, four a step from 0x1c0, then what is of all ---------------
    wire        here = addr[13:8] == 6'h01 && addr[7:6] != 2'd0 && addr[1:0] == 2'd0;
    wire        of_term = here && addr[7:0] < 8'hC0;
    wire [1:0]  number = {addr[7], addr[5]};  // of the term
    wire [2:0]  part = addr[4:2];
    wire        of_step = here && STEPS != 0 && addr[7:6] == 2'b11 && addr[5:4] != 2'b11;
    wire [1:0]  step = addr[5:4];
    wire [1:0]  item = addr[3:2];
    wire        of_all = here && STEPS != 0 && addr[7:4] == 4'hF;
    wire        has_term = of_term && {30'd0, number} < TERMS && part < 3'd6;
    wire        has_step = of_step && {30'd0, step} < STEPS;

    // -- terms: value_lo, value_hi, mask_lo, mask_hi, kinds, in a RAM of LUTs; what was not written since rst is 0 ----------
    reg                  enable_q;
    reg  [6*TERMS-1:0]   tap_q;
    reg  [31:0]          words [0:31];        // eight a term, from its second on
    wire [31:0]          written;             // a word of it was
    reg  [TERMS-1:0]     dirty_q;             // written since its tables were filled
    reg  [1:0]           filled_q;            // the term whose tables are filled
    wire [2:0]           word;
    wire [4:0]           bit_number;
    wire                 busy, loaded, unused_turn;
    wire [13:0]          turn;
    wire                 writes_term = write && has_term && part != 3'd0;
    wire                 load = dirty_q != {TERMS{1'b0}} && !busy && !rst;
    integer              t;
    reg  [1:0]           lowest;
    always @* begin
        lowest = 2'd0;
        for (t = TERMS - 1; t >= 0; t = t - 1) if (dirty_q[t]) lowest = t[1:0];
    end
    always @(posedge clk) if (writes_term) words[{number, part}] <= wdata;
    wire [4:0]  asked_at = {filled_q, word + 3'd1};
    wire [31:0] asked = words[asked_at];
    wire [31:0] term_word = words[{number, part}] & {32{written[{number, part}]}};
    ff_trigger_fill i_fill (
        .clk(clk), .rst(rst), .load(load), .cfg_turn(unused_turn), .cfg_word(word), .cfg_number(bit_number),
        .cfg_bit(asked[bit_number] && written[asked_at]), .shift(turn), .agrees(agrees), .stat_busy(busy), .stat_loaded(loaded)
    );
    assign enable = enable_q;
    wire ready = enable_q && loaded && !busy && dirty_q == {TERMS{1'b0}} && !writes_term && !rst;
    genvar k, n, w;
    generate for (k = 0; k < 4; k = k + 1) begin : g_written
        localparam [1:0] TERM = k;
        for (w = 0; w < 8; w = w + 1) begin : g_word
            localparam [2:0] PART = w;
            if (k < TERMS && w > 0 && w < 6) begin : g_held
                reg written_q;
                always @(posedge clk) written_q <= !rst && (written_q || (writes_term && number == TERM && part == PART));
                assign written[8*k + w] = written_q;
            end else begin : g_none
                assign written[8*k + w] = 1'b0;
            end
        end
    end endgenerate
    generate for (k = 0; k < TERMS; k = k + 1) begin : g_term
        localparam [1:0] TERM = k;
        assign shift[14*k +: 14] = turn & {14{filled_q == TERM}};
        always @(posedge clk) begin
            if (load && lowest == TERM) dirty_q[k] <= 1'b0;
            if (writes_term && number == TERM) dirty_q[k] <= 1'b1;
            if (write && has_term && number == TERM && part == 3'd0) tap_q[6*k +: 6] <= wdata[13:8];
            if (rst) {tap_q[6*k +: 6], dirty_q[k]} <= 7'd1;
        end
        for (n = 0; n < TAPS; n = n + 1) begin : g_on
            localparam [5:0] SELF = n;
            reg on_q;
            always @(posedge clk) on_q <= ready && tap_q[6*k +: 6] == SELF;
            assign on[TERMS*n + k] = on_q;
        end
    end endgenerate
    always @(posedge clk) begin
        if (load) filled_q <= lowest;
        if (write && has_term && number == 2'd0 && part == 3'd0) enable_q <= wdata[0];
        if (rst) {enable_q, filled_q} <= 3'd0;
    end

    // -- steps, timer, pin -------------------------------------------------------------------------------------------------------
    wire [1:0]           last;
    wire [16*HELD-1:0]   whens;
    wire [2*HELD-1:0]    modes;
    wire [32*HELD-1:0]   counts;
    wire [31:0]          timer;
    wire [1:0]           pin;
    generate if (STEPS == 0) begin : g_alone
        assign {last, whens, modes, wanted} = 36'd0;
    end else begin : g_steps
        reg [1:0]          last_q;
        reg [16*STEPS-1:0] when_q;            // one bit each combination of terms
        reg [2*STEPS-1:0]  mode_q;
        reg [15:0]         wanted_q;
        assign {last, whens, modes, wanted} = {last_q, when_q, mode_q, wanted_q};
        integer s;
        reg [15:0] any;
        always @* begin
            any = 16'd0;
            for (s = 0; s < STEPS; s = s + 1) if (s[1:0] <= last_q) any = any | when_q[16*s +: 16];
        end
        genvar g;
        for (g = 0; g < STEPS; g = g + 1) begin : g_step
            localparam [1:0] STEP = g;
            always @(posedge clk) begin
                if (write && of_step && step == STEP && item == 2'd0) begin
                    when_q[16*g +: 16] <= wdata[15:0];
                    mode_q[2*g +: 2] <= TIMER_W == 0 ? 2'd0 : wdata[17:16];
                end
                if (rst) {when_q[16*g +: 16], mode_q[2*g +: 2]} <= {16'hAAAA, 2'd0}; // term 0, whatever the others say
            end
        end
        always @(posedge clk) begin
            wanted_q <= any;
            if (write && of_all && item == 2'd0) last_q <= {30'd0, wdata[1:0]} < STEPS ? wdata[1:0] : 2'd0;
            if (rst) last_q <= 2'd0;
        end
    end
    if (STEPS != 0 && COUNT_W != 0) begin : g_count
        genvar h;
        for (h = 0; h < HELD; h = h + 1) begin : g_step
            localparam [1:0] STEP = h;
            reg [COUNT_W-1:0] count_q;
            always @(posedge clk) begin
                if (write && of_step && step == STEP && item == 2'd1) count_q <= wdata[COUNT_W-1:0];
                if (rst) count_q <= {COUNT_W{1'b0}};
            end
            if (COUNT_W == 32) assign counts[32*h +: 32] = count_q;
            else assign counts[32*h +: 32] = {{32-COUNT_W{1'b0}}, count_q};
        end
    end else begin : g_no_count
        assign counts = {32*HELD{1'b0}};
    end
    if (STEPS != 0 && TIMER_W != 0) begin : g_timer
        reg [TIMER_W-1:0] timer_q;
        always @(posedge clk) begin
            if (write && of_all && item == 2'd1) timer_q <= wdata[TIMER_W-1:0];
            if (rst) timer_q <= {TIMER_W{1'b0}};
        end
        if (TIMER_W == 32) assign timer = timer_q;
        else assign timer = {{32-TIMER_W{1'b0}}, timer_q};
    end else begin : g_no_timer
        assign timer = 32'd0;
    end
    if (PIN != 0) begin : g_pin
        reg [1:0] pin_q;
        always @(posedge clk) begin
            if (write && of_all && item == 2'd2) pin_q <= wdata[1:0];
            if (rst) pin_q <= 2'd0;
        end
        assign pin = pin_q;
    end else begin : g_no_pin
        assign pin = 2'd0;
    end endgenerate
    assign {pin_falling, pin_enable} = pin;
    assign cfg_last = last;
    assign cfg_timer = timer;
    genvar j;
    generate for (j = 0; j < 3; j = j + 1) begin : g_cfg
        if (j < HELD) begin : g_held
            assign {cfg_when[16*j +: 16], cfg_mode[2*j +: 2], cfg_count[32*j +: 32]} =
                {whens[16*j +: 16], modes[2*j +: 2], counts[32*j +: 32]};
        end else begin : g_none
            assign {cfg_when[16*j +: 16], cfg_mode[2*j +: 2], cfg_count[32*j +: 32]} = 50'd0;
        end
    end endgenerate

    // -- what is read ------------------------------------------------------------------------------------------------------------
    localparam [31:0] TERMS_W = TERMS, STEPS_W = STEPS, COUNT_BITS = COUNT_W, TIMER_BITS = TIMER_W, PIN_W = PIN;
    localparam [31:0] BUILT = {7'd0, PIN_W[0], 2'd0, TIMER_BITS[5:0], 2'd0, COUNT_BITS[5:0], 2'd0, STEPS_W[1:0], 1'b0, TERMS_W[2:0]};
    wire         of_built = here && STEPS != 0 && addr[7:0] == 8'h58;
    reg  [23:0]  controls;                    // six bits a term: its tap
    reg  [511:0] page;                        // 0x1c0 to 0x1ff
    integer      r;
    always @* begin
        controls = 24'd0;
        controls[6*TERMS-1:0] = tap_q;
        page = 512'd0;
        for (r = 0; r < HELD; r = r + 1) if (r < STEPS)
            page[128*r +: 128] = {stat_cycle[32*r +: 32], stat_word[32*r +: 32], counts[32*r +: 32],
                                  14'd0, modes[2*r +: 2], whens[16*r +: 16]};
        page[511:384] = {stat_fired, 30'd0, pin, timer, 30'd0, last};
        writable = has_term || (has_step && (item == 2'd0 || (item == 2'd1 && COUNT_W != 0)))
            || (of_all && (item == 2'd0 || (item == 2'd1 && TIMER_W != 0) || (item == 2'd2 && PIN != 0)));
        known = writable || of_built || (has_step && item[1]) || (of_all && item == 2'd3);
        rdata = 32'd0;
        if (has_term) rdata = part != 3'd0 ? term_word : {18'd0, controls[6*number +: 6], 7'd0, enable_q && number == 2'd0};
        if (has_step || of_all) rdata = page[32*addr[5:2] +: 32];
        if (of_built) rdata = BUILT;
    end
    wire unused = &{1'b0, unused_turn, wdata, stat_fired, stat_word, stat_cycle, of_step, of_all};
endmodule
`default_nettype wire
