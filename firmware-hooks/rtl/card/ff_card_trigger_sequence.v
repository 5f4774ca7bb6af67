// SPDX-License-Identifier: Apache-2.0
// ff_card_trigger_sequence: what a card's trigger makes of the words of all its taps: steps of combined terms, counts, a timer, a pin.
//
// The truth table stands in docs/trigger.md. One word a cycle is taken, of the lowest tap that has one; the time of a step is over in a
// cycle of its own, in which no word is taken. Latency: fire is up three cycles behind the offer of its word, of the pin two to three
// behind its edge, which counts from the cycle behind an arm on. Throughput: one word a cycle, of all taps together. Back-pressure:
// in_ready. Clock domain: clk, of the register bus; pin_in is of any.
`default_nettype none
module ff_card_trigger_sequence #(
    parameter TAPS = 2,              // 1..64
    parameter STEPS = 3,             // 1..3
    parameter COUNT_W = 16,          // bits of a count, 0..32; 0: every count is 1
    parameter TIMER_W = 24,          // bits of the timer, 0..32; 0: no step has a time
    parameter PIN = 1                // 0: pin_in is not looked at
) (
    input  wire                clk, rst,
    input  wire                arm,
    input  wire                triggered,     // the recording is over: the state stands still
    input  wire [31:0]         now,
    // configuration, from ff_card_trigger_port
    input  wire                enable,
    input  wire [1:0]          cfg_last,      // number of the last step, below STEPS
    input  wire [47:0]         cfg_when,      // of each step: which combinations of terms it looks for
    input  wire [5:0]          cfg_mode,      // 0 any time, 1 within, 2 after, 3 not within
    input  wire [95:0]         cfg_count,     // words a step needs; 0 counts as 1
    input  wire [31:0]         cfg_timer,     // cycles
    input  wire                pin_enable, pin_falling,
    input  wire                pin_in,
    input  wire                outside,       // trigger_in
    // words of the taps, from ff_card_trigger_tap
    input  wire [TAPS-1:0]     in_valid, in_epoch, in_lost,
    input  wire [4*TAPS-1:0]   in_terms,
    input  wire [32*TAPS-1:0]  in_cycle,
    output wire [TAPS-1:0]     in_ready,
    output wire                fire,          // of the steps, once an arm
    output wire                pin_fire,
    // registers
    output wire [31:0]         stat_fired,
    output wire [95:0]         stat_word, stat_cycle
);
    localparam [1:0] WITHIN = 2'd1, AFTER = 2'd2, NOT_WITHIN = 2'd3;
    generate
        if (TAPS < 1 || TAPS > 64) begin : g_check_TAPS
            ff_error_TAPS_must_be_1_to_64 stop (); // none such
        end
        if (STEPS < 1 || STEPS > 3) begin : g_check_STEPS
            ff_error_STEPS_must_be_1_to_3 stop (); // none such
        end
        if (COUNT_W < 0 || COUNT_W > 32) begin : g_check_COUNT_W
            ff_error_COUNT_W_must_be_0_to_32 stop (); // none such
        end
        if (TIMER_W < 0 || TIMER_W > 32) begin : g_check_TIMER_W
            ff_error_TIMER_W_must_be_0_to_32 stop (); // none such
        end
        if (PIN != 0 && PIN != 1) begin : g_check_PIN
            ff_error_PIN_must_be_0_or_1 stop (); // none such
        end
    endgenerate

    // -- the next word: of the lowest tap; it waits in a register -----------------------------------------------------
    reg         word_q, word_epoch_q;
    reg  [5:0]  word_tap_q;
    reg  [3:0]  word_terms_q;
    reg  [31:0] word_cycle_q;
    wire        takes;                        // what waits is taken, or nothing waits
    wire [TAPS-1:0] turn = in_valid & (~in_valid + {{TAPS-1{1'b0}}, 1'b1});
    assign in_ready = turn & {TAPS{takes}};
    reg         epoch;
    reg  [5:0]  tap;
    reg  [3:0]  terms;
    reg  [31:0] cycle;
    integer     n;
    always @* begin
        {epoch, tap, terms, cycle} = 43'd0;
        for (n = 0; n < TAPS; n = n + 1) if (turn[n]) begin
            epoch = epoch | in_epoch[n];
            tap = tap | n[5:0];
            terms = terms | in_terms[4*n +: 4];
            cycle = cycle | in_cycle[32*n +: 32];
        end
    end
    reg         epoch_q;                      // of this arm; what was told before it is not looked at
    always @(posedge clk) begin
        epoch_q <= !rst && (epoch_q ^ arm);
        if (takes) begin
            word_q <= |in_valid;
            {word_epoch_q, word_tap_q, word_terms_q, word_cycle_q} <= {epoch, tap, terms, cycle};
        end
        if (rst) word_q <= 1'b0;
    end

    // -- the step that is waited for -------------------------------------------------------------------------------------
    reg  [1:0]  step_q;
    reg         fired_q, fire_q;
    wire        clear = rst || arm || (!enable && !triggered); // evidence stands until the arm
    wire        looks = !clear && !triggered && !fired_q;
    wire [15:0] when = cfg_when[16*step_q +: 16];
    wire [1:0]  mode = TIMER_W == 0 ? 2'd0 : cfg_mode[2*step_q +: 2];
    wire        over, nearly;
    wire        ends = looks && over && (mode == WITHIN || mode == NOT_WITHIN);
    assign takes = !word_q || !ends;
    wire        seen = looks && !ends && word_q && word_epoch_q == epoch_q && when[word_terms_q] && !(mode == AFTER && !over);
    wire        enough = seen && nearly;
    wire        reach = mode == NOT_WITHIN ? ends : enough;
    wire        back = mode == NOT_WITHIN ? enough : ends;
    wire        last = step_q == cfg_last;
    wire        enters = clear || reach || back;
    wire [1:0]  next = clear || back ? 2'd0 : last ? step_q : step_q + 2'd1;
    always @(posedge clk) begin
        if (enters) step_q <= next;
        fired_q <= !clear && (fired_q || (reach && last));
        fire_q <= reach && last;
    end
    assign fire = fire_q;

    generate if (COUNT_W != 0) begin : g_count
        reg [COUNT_W-1:0] left_q;             // words still needed; 0 and 1: the next one
        if (COUNT_W == 1) assign nearly = 1'b1;
        else assign nearly = left_q[COUNT_W-1:1] == {COUNT_W-1{1'b0}};
        always @(posedge clk) begin
            if (enters) left_q <= cfg_count[32*next +: COUNT_W];
            else if (seen) left_q <= left_q - {{COUNT_W-1{1'b0}}, 1'b1};
        end
        wire unused_count = &{1'b0, cfg_count, left_q};
    end else begin : g_no_count
        assign nearly = 1'b1;
        wire unused_count = &{1'b0, cfg_count};
    end
    if (TIMER_W != 0) begin : g_timer
        reg [TIMER_W-1:0] time_q;             // cycles until the step's time is over
        assign over = time_q == {TIMER_W{1'b0}};
        always @(posedge clk) begin
            if (enters) time_q <= cfg_timer[TIMER_W-1:0];
            else if (!over) time_q <= time_q - {{TIMER_W-1{1'b0}}, 1'b1};
        end
        wire unused_timer = &{1'b0, cfg_timer};
    end else begin : g_no_timer
        assign over = 1'b0;
        wire unused_timer = &{1'b0, cfg_timer, cfg_mode};
    end

    // -- the pin, from any clock: a level that lasts two cycles is seen ---------------------------------------------------
    // What is set counts from the next arm on, for edges behind it: those of before it that are still on their way do not.
    if (PIN != 0) begin : g_pin
        wire       level;
        reg        level_q, on_q, falling_q;  // as they stood at the arm; off is off at once
        reg  [1:0] way_q;                     // two cycles behind an arm
        ff_cdc_sync i_pin (.clk(clk), .d(pin_in), .q(level));
        always @(posedge clk) begin
            level_q <= level;
            way_q <= arm ? 2'b11 : {way_q[0], 1'b0};
            if (arm) {on_q, falling_q} <= {1'b1, pin_falling};
            if (rst || !pin_enable) on_q <= 1'b0;
        end
        assign pin_fire = on_q && !arm && !way_q[1] && level != level_q && level != falling_q;
        wire unused_pin = 1'b0;
    end else begin : g_no_pin
        assign pin_fire = 1'b0;
        wire unused_pin = &{1'b0, pin_in, pin_enable, pin_falling};
    end endgenerate

    // -- what is kept for the host: each step's word, and what fired ------------------------------------------------------
    reg  [2:0]  by_q;                         // steps, pin, trigger_in
    always @(posedge clk) begin
        if (!triggered) by_q <= by_q | {outside, pin_fire, fire_q};
        if (rst || arm) by_q <= 3'd0;
    end
    wire [1:0] reached = fired_q ? cfg_last + 2'd1 : step_q;
    assign stat_fired = {23'd0, |in_lost, 2'd0, reached, 1'b0, by_q};
    genvar s;
    generate for (s = 0; s < 3; s = s + 1) begin : g_kept
        localparam [1:0] SELF = s;
        if (s < STEPS) begin : g_step
            reg        timer_q;
            reg [5:0]  tap_q;
            reg [3:0]  terms_q;
            reg [31:0] cycle_q;
            always @(posedge clk) if (reach && step_q == SELF) begin
                timer_q <= mode == NOT_WITHIN;
                {tap_q, terms_q} <= {word_tap_q, word_terms_q} & {10{mode != NOT_WITHIN}};
                cycle_q <= mode == NOT_WITHIN ? now : word_cycle_q;
            end
            assign stat_word[32*s +: 32] = {timer_q, 17'd0, tap_q, 4'd0, terms_q};
            assign stat_cycle[32*s +: 32] = cycle_q;
        end else begin : g_none
            assign {stat_word[32*s +: 32], stat_cycle[32*s +: 32]} = 64'd0;
        end
    end endgenerate
endmodule
`default_nettype wire
