// SPDX-License-Identifier: Apache-2.0
// ff_card_log: the event log of a card: the entries of all sources, one a cycle in turn, their recorder and their memory.
//
// A record's data: value [0,40], at [40,16], source [56,8]; kind 12 an event, 8 a state, 14 how many entries of the source were lost before
// the next one of it. Latency: an entry stands in the log's register one cycle after it is offered, in which its record is written, the
// count of those lost before it first. Throughput: one record a cycle. Back-pressure: in_ready. Clock domain: clk.
`default_nettype none
module ff_card_log #(
    parameter SOURCES = 4,                       // 1..80
    parameter [SOURCES-1:0] MACHINES = {SOURCES{1'b0}}, // those that are state machines
    parameter DEPTH = 1024,                      // records, as ff_card_recorder
    parameter POST_W = 16,                       // as ff_card_recorder
    parameter CAUSES = 24                        // 12..24
) (
    input  wire                  clk, rst,
    // ff_card_source, source 0 lowest
    input  wire [SOURCES-1:0]    in_valid, in_some,
    input  wire [SOURCES*16-1:0] in_lost, in_at,
    input  wire [SOURCES*40-1:0] in_value,
    output wire [SOURCES-1:0]    in_ready,
    // of the clock domain
    input  wire [63:0]           now,
    input  wire                  arm, triggered_next, triggered,
    input  wire [CAUSES-1:0]     causes,
    input  wire [31:0]           since,
    input  wire                  drain,
    // configuration
    input  wire [POST_W-1:0]     cfg_post,
    input  wire [15:0]           cfg_kinds,
    // status
    output wire [$clog2(DEPTH)-1:0] stat_write_ptr,
    output wire                  stat_wrapped,
    output wire [31:0]           stat_stored, stat_offered,
    output wire                  stat_closed,
    // what is recorded, for the trigger
    output reg                   word_valid,
    output reg  [3:0]            word_kind,
    output reg  [63:0]           word_data,
    // memory
    input  wire                  rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_slot,
    output wire [71:0]           rd_record
);
    localparam [3:0] KIND_STATE = 4'd8, KIND_EVENT = 4'd12, KIND_LOSS = 4'd14;
    generate
        if (SOURCES < 1 || SOURCES > 80) begin : g_check_SOURCES
            ff_error_SOURCES_must_be_1_to_80 stop (); // none such
        end
        if (CAUSES < 12 || CAUSES > 24) begin : g_check_CAUSES
            ff_error_CAUSES_must_be_12_to_24 stop (); // none such
        end
    endgenerate

    // Whose turn it is: the next behind the last one that has an entry; of an entry with a count of lost ones it stays twice.
    localparam [SOURCES-1:0] ONE = 1;
    reg  [SOURCES-1:0] behind_q, turn_q;
    reg                told_q;                   // its count is out, the entry is next
    wire [SOURCES-1:0] later = in_valid & behind_q;
    wire [SOURCES-1:0] pool = |later ? later : in_valid;
    wire [SOURCES-1:0] turn = told_q ? turn_q : pool & (~pool + ONE);
    reg                some, machine;
    reg  [15:0]        lost, at;
    reg  [39:0]        value;
    reg  [7:0]         source;
    integer n;
    always @* begin
        {some, machine, lost, at, value, source} = 82'd0;
        for (n = 0; n < SOURCES; n = n + 1) if (turn[n]) begin
            some = some | in_some[n];
            machine = machine | MACHINES[n];
            lost = lost | in_lost[16*n +: 16];
            at = at | in_at[16*n +: 16];
            value = value | in_value[40*n +: 40];
            source = source | n[7:0];
        end
    end
    wire any = |in_valid;
    wire tells_lost = lost != 16'd0 && !told_q;
    wire takes = any && !(tells_lost && some);
    assign in_ready = turn & {SOURCES{takes}};
    always @(posedge clk) begin
        word_valid <= any && !rst;
        word_kind <= tells_lost ? KIND_LOSS : machine ? KIND_STATE : KIND_EVENT;
        word_data <= {source, at, tells_lost ? {24'd0, lost} : value};
        told_q <= any && tells_lost && some && !rst;
        turn_q <= turn;
        if (takes) behind_q <= ~(turn << 1) + ONE;
        if (rst) behind_q <= {SOURCES{1'b0}};
    end

    wire        wr_en, unused_wr_word;
    wire [71:0] wr_record;
    ff_card_recorder #(.DEPTH(DEPTH), .POST_W(POST_W)) i_recorder (
        .clk(clk), .rst(rst), .word(word_valid && cfg_kinds[word_kind]), .word_kind(word_kind), .word_data(word_data),
        .pending(8'd0), .now(now), .arm(arm), .triggered_next(triggered_next), .triggered(triggered),
        .causes({{24-CAUSES{1'b0}}, causes}), .since(since), .drain(drain), .cfg_post(cfg_post), .wr_en(wr_en), .wr_word(unused_wr_word),
        .wr_slot(stat_write_ptr), .wr_record(wr_record), .stat_wrapped(stat_wrapped), .stat_stored(stat_stored),
        .stat_offered(stat_offered), .stat_closed(stat_closed)
    );
    ff_trace_memory #(.DEPTH(DEPTH)) i_memory (
        .wr_clk(clk), .wr_en(wr_en), .wr_slot(stat_write_ptr), .wr_record(wr_record), .rd_clk(clk), .rd_en(rd_en), .rd_slot(rd_slot),
        .rd_record(rd_record)
    );
    wire unused = &{1'b0, unused_wr_word};
endmodule
`default_nettype wire
