// SPDX-License-Identifier: Apache-2.0
// ff_quad_events: the event log of a device with two clock domains: its lanes, the link's brought over, and its memory.
//
// Lanes are logged in order of their number, those of clk_bus first, then those of clk_link, which cross 2 to 4 cycles of clk_bus
// later, then the recorder's own: a step of the trigger, its firing. Latency, throughput: those of ff_event_log. Back-pressure:
// none. Clock domains: clk_bus; clk_link for ev_link_* but the source, which is constant.
`default_nettype none
module ff_quad_events #(
    parameter DEPTH = 2048,      // records in the memory, power of two, 256..16384
    parameter PLACES = 32,       // places before it, even, 8..64
    parameter EV_BUS = 6,        // event sources in clk_bus, 1..14
    parameter EV_LINK = 4        // event sources in clk_link, 1..14
) (
    input  wire         clk_bus, rst, clk_link, rst_link,
    input  wire [EV_BUS-1:0]     ev_bus_valid,
    input  wire [EV_BUS*4-1:0]   ev_bus_kind,
    input  wire [EV_BUS*8-1:0]   ev_bus_source, ev_bus_code,
    input  wire [EV_BUS*7-1:0]   ev_bus_flow,
    input  wire [EV_BUS*40-1:0]  ev_bus_value,
    input  wire [EV_LINK-1:0]    ev_link_valid,
    input  wire [EV_LINK*4-1:0]  ev_link_kind,
    input  wire [EV_LINK*8-1:0]  ev_link_source, ev_link_code,
    input  wire [EV_LINK*7-1:0]  ev_link_flow,
    input  wire [EV_LINK*40-1:0] ev_link_value,
    input  wire         fired, stepped,      // of the trigger
    input  wire [2:0]   trigger_tap,
    // of the bus domain: ff_quad_control
    input  wire [63:0]  now,
    input  wire         arm, triggered, drain,
    input  wire [15:0]  causes,
    input  wire [31:0]  since,
    input  wire [15:0]  cfg_kinds,
    input  wire [31:0]  cfg_post,
    // status and memory
    output wire [13:0]  stat_write_ptr,
    output wire         stat_wrapped, stat_closed,
    output wire [31:0]  stat_stored, stat_offered, stat_lost,
    output wire [5:0]   lost_now,
    input  wire         rd_en,
    input  wire [$clog2(DEPTH)-1:0] rd_slot,
    output wire [71:0]  rd_record
);
    localparam A = $clog2(DEPTH), LANES = EV_BUS + EV_LINK + 2;
    wire [EV_LINK-1:0]    far_valid;
    wire [EV_LINK*4-1:0]  far_kind;
    wire [EV_LINK*8-1:0]  far_code;
    wire [EV_LINK*7-1:0]  far_flow;
    wire [EV_LINK*40-1:0] far_value;
    genvar e;
    generate for (e = 0; e < EV_LINK; e = e + 1) begin : g_lane
        wire unused_ready;
        ff_cdc_fifo #(.DATA_W(59), .DEPTH_LOG2(3)) i_cross (
            .s_clk(clk_link), .s_rst(rst_link), .s_valid(ev_link_valid[e]),
            .s_data({ev_link_kind[e*4 +: 4], ev_link_code[e*8 +: 8], ev_link_flow[e*7 +: 7], ev_link_value[e*40 +: 40]}),
            .s_ready(unused_ready),
            .m_clk(clk_bus), .m_rst(rst), .m_valid(far_valid[e]),
            .m_data({far_kind[e*4 +: 4], far_code[e*8 +: 8], far_flow[e*7 +: 7], far_value[e*40 +: 40]}),
            .m_ready(1'b1)
        );
    end endgenerate
    localparam [3:0] USER = 4'd12;
    localparam [7:0] RECORDER = 8'd5, STEP = 8'd1, FIRE = 8'd2;
    wire wr_en;
    wire [A-1:0] wr_slot, ptr;
    wire [71:0] wr_record;
    ff_event_log #(.SOURCES(LANES), .DEPTH(DEPTH), .PLACES(PLACES)) i_log (
        .clk(clk_bus), .rst(rst),
        .ev_valid({fired, stepped, far_valid, ev_bus_valid}),
        .ev_kind({USER, USER, far_kind, ev_bus_kind}),
        .ev_source({RECORDER, RECORDER, ev_link_source, ev_bus_source}),
        .ev_code({FIRE, STEP, far_code, ev_bus_code}), .ev_flow({14'd0, far_flow, ev_bus_flow}),
        .ev_value({37'd0, trigger_tap, 37'd0, trigger_tap, far_value, ev_bus_value}),
        .now(now), .arm(arm), .triggered(triggered), .causes(causes), .since(since), .drain(drain), .cfg_kinds(cfg_kinds),
        .cfg_post(cfg_post), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record), .stat_write_ptr(ptr),
        .stat_wrapped(stat_wrapped), .stat_stored(stat_stored), .stat_offered(stat_offered), .stat_lost(stat_lost),
        .stat_closed(stat_closed), .lost_now(lost_now)
    );
    ff_trace_memory #(.DEPTH(DEPTH)) i_memory (
        .wr_clk(clk_bus), .wr_en(wr_en), .wr_slot(wr_slot), .wr_record(wr_record),
        .rd_clk(clk_bus), .rd_en(rd_en), .rd_slot(rd_slot), .rd_record(rd_record)
    );
    assign stat_write_ptr = {{14-A{1'b0}}, ptr};
endmodule
`default_nettype wire
