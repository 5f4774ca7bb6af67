// SPDX-License-Identifier: Apache-2.0
// ff_nic_bond: re-forms words and packets from the two lanes' synchronization FIFOs, and corrects the clocks in the
// gaps.
//
// A slot is a half of each lane. Neither idle: a word. In a gap a lane that is idle waits for one that is not (that
// lane's late half is lost: it is realigned), idles are repeated when a FIFO runs low and skipped when both run high.
// A frame's last word is known when the slot behind it is idle: one word alone is a credit, else HEAD HEAD BODY*
// TAIL. A halted sender (halt symbols) leaves the frame open. Without cfg_correct no idle is repeated or skipped, and
// the FIFOs run empty or full as the clocks differ. Latency: two cycles from the slot. Throughput: one word
// a cycle. Back-pressure: none. Clock domain: clk (link).
`default_nettype none
module ff_nic_bond #(
    parameter FILL = 4,    // halves in each FIFO before words are read, 3..12
    parameter LEVEL_W = 5  // bits of a FIFO's level, 4..7
) (
    input  wire        clk, rst,
    // the FIFOs; lane i at [i]
    input  wire [1:0]  l_idle, l_halt, l_next_idle, l_underflow,
    input  wire [63:0] l_data,
    input  wire [2*LEVEL_W-1:0] l_level,
    output wire        l_read,
    output reg  [3:0]  l_pop,           // 2 bits a lane
    output wire [1:0]  l_stale,
    input  wire        cfg_correct,
    // fault: from fault_run on the write pointer of fault_lane is not seen until its FIFO has been read empty
    input  wire        fault_run, fault_lane,
    output reg         fault_struck,
    output reg  [9:0]  fault_word,      // the word that repeats the half, 0 the header
    // slots as they are read
    output wire        slot_word, slot_first,
    output wire [63:0] slot_data,
    // words
    output reg         m_valid, m_first, m_last,
    output reg         m_credit,        // a frame of one word
    output reg  [1:0]  m_kind,
    output reg  [63:0] m_data,
    // status, events
    output reg         stat_up,         // both lanes run
    output reg  [63:0] stat_underflows, // 32 bits a lane
    output reg         inserted, removed, trained
);
    localparam [1:0] HEAD = 2'd1, BODY = 2'd2, TAIL = 2'd3;
    localparam integer LOW_HALVES = FILL - 2, HIGH_HALVES = FILL + 2;
    localparam [LEVEL_W-1:0] START = FILL[LEVEL_W-1:0], LOW = LOW_HALVES[LEVEL_W-1:0], HIGH = HIGH_HALVES[LEVEL_W-1:0];
    generate
        if (FILL < 3 || FILL > 12) begin : g_check_FILL
            ff_error_FILL_must_be_3_to_12 stop (); // none such
        end
        if (LEVEL_W < 4 || LEVEL_W > 7) begin : g_check_LEVEL_W
            ff_error_LEVEL_W_must_be_4_to_7 stop (); // none such
        end
    endgenerate

    wire [LEVEL_W-1:0] level0 = l_level[0 +: LEVEL_W], level1 = l_level[LEVEL_W +: LEVEL_W];
    wire halt = |l_halt;
    wire gap = &l_idle;
    wire word = stat_up && l_idle == 2'd0 && !halt;
    wire low = cfg_correct && (level0 <= LOW || level1 <= LOW);
    wire high = cfg_correct && level0 >= HIGH && level1 >= HIGH && &l_next_idle;
    assign l_read = stat_up;
    always @* begin
        l_pop = 4'b0101;
        if (!halt && gap && low) l_pop = 4'b0000;
        else if (!halt && gap && high) l_pop = 4'b1010;
        else if (!halt && l_idle == 2'b01) l_pop = 4'b0100;
        else if (!halt && l_idle == 2'b10) l_pop = 4'b0001;
    end

    wire [63:0] joined;
    genvar g;
    generate for (g = 0; g < 4; g = g + 1) begin : g_join
        assign joined[g*16 +: 8] = l_data[g*8 +: 8];
        assign joined[g*16+8 +: 8] = l_data[32+g*8 +: 8];
    end endgenerate

    assign slot_word = word;
    assign slot_first = index_q == 10'd0;
    assign slot_data = joined;

    // One word waits to learn whether it is the last.
    reg         wait_q;
    reg  [63:0] wait_data_q;
    reg  [9:0]  index_q;    // of the next slot's word
    reg         many_q;     // the waiting word is the third or later
    reg         second_q;
    reg         stale_q;
    wire        emit = stat_up && wait_q;
    wire        last = !word && !halt;
    always @(posedge clk) begin
        if (level0 >= START && level1 >= START) stat_up <= 1'b1;
        trained <= level0 >= START && level1 >= START && !stat_up;
        inserted <= stat_up && gap && !halt && low;
        removed <= stat_up && gap && !halt && !low && high;
        if (word) begin
            wait_data_q <= joined;
            index_q <= index_q + {9'd0, index_q != 10'h3FF};
            second_q <= index_q == 10'd1;
            many_q <= index_q > 10'd1;
        end else if (stat_up && !halt) index_q <= 10'd0;
        wait_q <= word || (wait_q && !emit);
        m_valid <= emit;
        m_first <= emit && !second_q && !many_q;
        m_last <= emit && last;
        m_credit <= emit && last && !second_q && !many_q;
        m_kind <= !many_q ? HEAD : last ? TAIL : BODY;
        m_data <= wait_data_q;
        if (l_underflow[0]) stat_underflows[31:0] <= stat_underflows[31:0] + 32'd1;
        if (l_underflow[1]) stat_underflows[63:32] <= stat_underflows[63:32] + 32'd1;
        // Within a frame only: in a gap idles would be repeated for ever, and nothing would run empty.
        if (fault_run) stale_q <= 1'b1;
        if (l_underflow[fault_lane] || (stat_up && !word)) stale_q <= 1'b0;
        if (stale_q && l_underflow[fault_lane]) begin
            fault_struck <= 1'b1;
            fault_word <= index_q;
        end
        if (rst) begin
            stat_up <= 1'b0;
            trained <= 1'b0;
            inserted <= 1'b0;
            removed <= 1'b0;
            index_q <= 10'd0;
            second_q <= 1'b0;
            many_q <= 1'b0;
            wait_q <= 1'b0;
            m_valid <= 1'b0;
            m_first <= 1'b0;
            m_last <= 1'b0;
            m_credit <= 1'b0;
            m_kind <= HEAD;
            stat_underflows <= 64'd0;
            stale_q <= 1'b0;
            fault_struck <= 1'b0;
            fault_word <= 10'd0;
        end
    end
    assign l_stale = {stale_q && fault_lane, stale_q && !fault_lane};
endmodule
`default_nettype wire
