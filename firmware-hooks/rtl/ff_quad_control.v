// SPDX-License-Identifier: Apache-2.0
// ff_quad_control: time and freeze of a device with two clock domains: what its recorders are told, a part in each domain.
//
// Latency, throughput: those of ff_time, ff_freeze and ff_freeze_remote. Back-pressure: none. Clock domains: clk_bus, clk_link;
// what ends in _link is of clk_link, all else of clk_bus but closed, of which each bit is of its memory's domain.
`default_nettype none
module ff_quad_control #(
    parameter [4:0] MEMORIES = 5'b11111,  // memories that exist, bit numbers of enum memory
    parameter TIME_MASTER = 1,            // 1: this device's clk_bus makes the time line
    parameter SYNC_PERIOD = 4096,         // master cycles between two toggles of the time line
    parameter TIME_W = 64,                // bits of the cycle counters, 40..64
    parameter CROSS_LATENCY = 32,         // bus cycles from the first cause to cross_out
    parameter POST_DRAIN = 1024           // as ff_cause_latch
) (
    input  wire         clk_bus, rst, clk_link, rst_link,
    // registers
    input  wire         pulse_arm, pulse_freeze,
    input  wire [31:0]  wr_data,
    input  wire [15:0]  cfg_cause_mask,
    output wire [31:0]  stat_generation,
    output wire [1:0]   stat_state,
    output wire [4:0]   stat_closed,
    output wire [63:0]  stat_cause_cycle,
    // time line and its pairs: 0 of clk_bus, 1 of clk_link; each {last_cycle, last_number, first_cycle, first_number}
    input  wire [32:0]  time_in,
    output wire [32:0]  time_out,
    output wire [383:0] stat_pair,
    output wire [1:0]   stat_first_valid, stat_last_valid,
    // causes, enum cause; host and cross are made here
    input  wire [15:0]  causes_in, causes_in_link,
    input  wire         cross_in,
    output wire         cross_out,
    // recorders: bit or word 0 of clk_bus, 1 of clk_link
    output wire [127:0] now,
    output wire [1:0]   arm, triggered_next, triggered, drain,
    output wire [31:0]  causes,
    output wire [63:0]  since,
    input  wire [4:0]   closed,
    output wire         frozen
);
    localparam [4:0] FAR = 5'b00110;
    wire [32:0] unused_line;
    ff_time #(.MASTER(TIME_MASTER), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_bus (
        .clk(clk_bus), .rst(rst), .arm(arm[0]), .closed(&(closed | ~MEMORIES | FAR)), .line_in(time_in), .line_out(time_out),
        .now(now[63:0]), .stat_first_valid(stat_first_valid[0]), .stat_last_valid(stat_last_valid[0]),
        .stat_first_number(stat_pair[31:0]), .stat_last_number(stat_pair[127:96]),
        .stat_first_cycle(stat_pair[95:32]), .stat_last_cycle(stat_pair[191:128])
    );
    ff_time #(.MASTER(0), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time_link (
        .clk(clk_link), .rst(rst_link), .arm(arm[1]), .closed(closed[1] && closed[2]), .line_in(time_in), .line_out(unused_line),
        .now(now[127:64]), .stat_first_valid(stat_first_valid[1]), .stat_last_valid(stat_last_valid[1]),
        .stat_first_number(stat_pair[223:192]), .stat_last_number(stat_pair[319:288]),
        .stat_first_cycle(stat_pair[287:224]), .stat_last_cycle(stat_pair[383:320])
    );

    wire        far_level, far_armed, arm_toggle, level, unused_peer, unused_hold;
    ff_freeze #(.MEMORIES(MEMORIES), .FAR(FAR), .CROSS_LATENCY(CROSS_LATENCY), .POST_DRAIN(POST_DRAIN)) i_freeze (
        .clk(clk_bus), .rst(rst), .now(now[63:0]), .wr_arm(pulse_arm), .wr_freeze(pulse_freeze), .wr_data(wr_data),
        .cfg_cause_mask(cfg_cause_mask), .cfg_hold(1'b0), .causes_in(causes_in),
        .far_level(far_level), .far_causes(causes[31:16]), .far_armed(far_armed), .arm_toggle(arm_toggle), .level(level),
        .cross_in(cross_in), .cross_out(cross_out), .peer_frozen(1'b0), .frozen_level(unused_peer),
        .arm(arm[0]), .triggered_next(triggered_next[0]), .triggered(triggered[0]), .causes(causes[15:0]), .since(since[31:0]),
        .drain(drain[0]), .closed(closed), .frozen(frozen), .hold(unused_hold),
        .stat_generation(stat_generation), .stat_state(stat_state), .stat_closed(stat_closed), .stat_cause_cycle(stat_cause_cycle)
    );
    ff_freeze_remote #(.POST_DRAIN(POST_DRAIN)) i_freeze_link (
        .clk(clk_link), .rst(rst_link), .bus_arm_toggle(arm_toggle), .bus_level(level), .bus_causes(causes[15:0]),
        .bus_cfg_cause_mask(cfg_cause_mask), .causes_in(causes_in_link), .far_level(far_level), .far_armed(far_armed),
        .arm(arm[1]), .triggered_next(triggered_next[1]), .triggered(triggered[1]), .causes(causes[31:16]),
        .since(since[63:32]), .drain(drain[1])
    );
    wire unused_bits = &{1'b0, unused_line, unused_peer, unused_hold};
endmodule
`default_nettype wire
