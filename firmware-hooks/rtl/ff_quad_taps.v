// SPDX-License-Identifier: Apache-2.0
// ff_quad_taps: the four word taps of a device with two clock domains: a recorder and a memory each, and the trigger.
//
// Of the trigger there is one in each domain; the one whose tap is named watches. Latency: a word stands in the tap register one
// cycle after tap_valid; fire is up in that cycle in the tap's own domain, some cycles of clk_bus later in fired. Throughput: one
// word a cycle and tap. Back-pressure: none. Clock domains: clk_bus (taps 0 and 3, everything else) and clk_link (taps 1 and 2);
// vectors of two: bit or word 0 of clk_bus, 1 of clk_link. Trigger words stand still but for writes, and a driver writes them
// while the trigger is off: only the enable crosses.
`default_nettype none
module ff_quad_taps #(
    parameter TAP_DEPTH = 2048,  // records in a memory, power of two, 256..16384
    parameter POST_W = 32,       // bits of cfg_post that count, 1..32
    parameter COUNT_W = 32,      // bits of stored and offered, log2(TAP_DEPTH)+1..32
    parameter TRIGGER_TERMS = 2  // 1: the trigger has term 0 alone, no edge, no count, no limit
) (
    input  wire         clk_bus, rst, clk_link, rst_link,
    // taps: tap i at bit i, [i*4+:4], [i*64+:64]
    input  wire [3:0]   tap_valid,
    input  wire [15:0]  tap_kind,
    input  wire [255:0] tap_data,
    // of the domains: ff_quad_control
    input  wire [127:0] now,
    input  wire [1:0]   arm, triggered_next, triggered, drain,
    input  wire [31:0]  causes,
    input  wire [63:0]  since,
    // configuration, memory i at [i*32 +: 32]; term i of the trigger in the i-th half
    input  wire [127:0] cfg_kinds, cfg_post,
    input  wire         cfg_enable, cfg_edge, cfg_sequence,
    input  wire [2:0]   cfg_tap,
    input  wire         cfg_written,      // a register of the trigger is new
    input  wire [31:0]  cfg_count, cfg_limit,
    input  wire [127:0] cfg_value, cfg_mask,
    input  wire [31:0]  cfg_term_kinds,
    // trigger
    output wire [1:0]   fire,             // a cause, in its own domain
    output wire         fired, stepped,   // clk_bus: of either domain, one cycle
    // memories: memory i at bit i, [i*14 +: 14], [i*32 +: 32]
    output wire [55:0]  stat_write_ptr,
    output wire [3:0]   stat_wrapped, stat_closed,
    output wire [127:0] stat_stored, stat_offered,
    input  wire [3:0]   rd_en,
    input  wire [$clog2(TAP_DEPTH)-1:0] rd_slot,
    output wire [287:0] rd_record
);
    localparam A = $clog2(TAP_DEPTH);
    wire [3:0]   word_valid;
    wire [15:0]  word_kind;
    wire [255:0] word_data;
    genvar t;
    generate for (t = 0; t < 4; t = t + 1) begin : g_tap
        localparam D = t == 1 || t == 2 ? 1 : 0; // domain
        wire clk = D == 1 ? clk_link : clk_bus;
        wire wr_en;
        wire [A-1:0] wr_slot, ptr;
        wire [71:0] wr_record;
        ff_tap_recorder #(.DEPTH(TAP_DEPTH), .POST_W(POST_W), .COUNT_W(COUNT_W)) i_recorder (
            .clk(clk), .rst(D == 1 ? rst_link : rst),
            .tap_valid(tap_valid[t]), .tap_kind(tap_kind[t*4 +: 4]), .tap_data(tap_data[t*64 +: 64]),
            .word_valid(word_valid[t]), .word_kind(word_kind[t*4 +: 4]), .word_data(word_data[t*64 +: 64]),
            .now(now[D*64 +: 64]), .arm(arm[D]), .triggered_next(triggered_next[D]), .triggered(triggered[D]), .causes(causes[D*16 +: 16]),
            .since(since[D*32 +: 32]), .drain(drain[D]), .cfg_kinds(cfg_kinds[t*32 +: 16]), .cfg_post(cfg_post[t*32 +: POST_W]),
            .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(ptr), .stat_wrapped(stat_wrapped[t]),
            .stat_stored(stat_stored[t*32 +: 32]), .stat_offered(stat_offered[t*32 +: 32]), .stat_closed(stat_closed[t])
        );
        ff_trace_memory #(.DEPTH(TAP_DEPTH)) i_memory (
            .wr_clk(clk), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
            .rd_clk(clk_bus), .rd_en(rd_en[t]), .rd_slot(rd_slot), .rd_record(rd_record[t*72 +: 72])
        );
        assign stat_write_ptr[t*14 +: 14] = {{14-A{1'b0}}, ptr};
        wire unused = &{1'b0, cfg_kinds[t*32+16 +: 16], cfg_post[t*32 +: 32]};
    end endgenerate

    wire far = cfg_tap == 3'd1 || cfg_tap == 3'd2;
    wire enable_link, restart_link;
    reg  written_q;                          // changes with each write
    always @(posedge clk_bus) written_q <= !rst && (written_q ^ cfg_written);
    ff_cdc_sync i_enable_link (.clk(clk_link), .d(cfg_enable), .q(enable_link));
    ff_cdc_edge i_written_link (.clk(clk_link), .rst(rst_link), .d(written_q), .pulse(restart_link));
    wire near_second = cfg_tap != 3'd0;      // rx_deq
    wire far_second = cfg_tap == 3'd2;       // rx_enq
    wire [1:0] step;
    localparam EDGE = TRIGGER_TERMS == 2, NUMBER_W = TRIGGER_TERMS == 2 ? 32 : 1;
    ff_trigger #(.TERMS(TRIGGER_TERMS), .WITH_EDGE(EDGE), .COUNT_W(NUMBER_W), .LIMIT_W(NUMBER_W)) i_trigger_bus (
        .clk(clk_bus), .rst(rst), .restart(arm[0] || cfg_written), .cfg_enable(cfg_enable && !far),
        .cfg_edge(cfg_edge), .cfg_sequence(cfg_sequence), .cfg_count(cfg_count), .cfg_limit(cfg_limit),
        .cfg_value(cfg_value), .cfg_mask(cfg_mask), .cfg_kinds(cfg_term_kinds),
        .word_valid(near_second ? word_valid[3] : word_valid[0]),
        .word_kind(near_second ? word_kind[15:12] : word_kind[3:0]),
        .word_data(near_second ? word_data[255:192] : word_data[63:0]), .step(step[0]), .fire(fire[0])
    );
    ff_trigger #(.TERMS(TRIGGER_TERMS), .WITH_EDGE(EDGE), .COUNT_W(NUMBER_W), .LIMIT_W(NUMBER_W)) i_trigger_link (
        .clk(clk_link), .rst(rst_link), .restart(arm[1] || restart_link), .cfg_enable(enable_link && far),
        .cfg_edge(cfg_edge), .cfg_sequence(cfg_sequence), .cfg_count(cfg_count), .cfg_limit(cfg_limit),
        .cfg_value(cfg_value), .cfg_mask(cfg_mask), .cfg_kinds(cfg_term_kinds),
        .word_valid(far_second ? word_valid[2] : word_valid[1]),
        .word_kind(far_second ? word_kind[11:8] : word_kind[7:4]),
        .word_data(far_second ? word_data[191:128] : word_data[127:64]), .step(step[1]), .fire(fire[1])
    );
    reg  fired_link_q, stepped_link_q;       // change with each
    always @(posedge clk_link) begin
        fired_link_q <= !rst_link && (fired_link_q ^ fire[1]);
        stepped_link_q <= !rst_link && (stepped_link_q ^ step[1]);
    end
    wire fired_far, stepped_far;
    ff_cdc_edge i_fired (.clk(clk_bus), .rst(rst), .d(fired_link_q), .pulse(fired_far));
    ff_cdc_edge i_stepped (.clk(clk_bus), .rst(rst), .d(stepped_link_q), .pulse(stepped_far));
    assign fired = fire[0] || fired_far;
    assign stepped = step[0] || stepped_far;
endmodule
`default_nettype wire
