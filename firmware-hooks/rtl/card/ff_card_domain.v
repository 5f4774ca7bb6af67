// SPDX-License-Identifier: Apache-2.0
// ff_card_domain: what the recorders of one clock share beside the register bus's: its time, its freeze, and what it tells the bus.
//
// Latency: as ff_freeze_remote and ff_time_line. Throughput: a set of causes a cycle. Back-pressure: none. Clock domain: clk; rst and
// the bus_* are of the register bus and are synchronized here; what goes to the bus leaves from flip-flops and stands still while
// its level or toggle says so.
`default_nettype none
module ff_card_domain #(
    parameter CAUSES = 24,       // 12..32
    parameter POST_DRAIN = 1024, // as ff_cause_latch
    parameter SYNC_PERIOD = 4096, // as ff_time_line
    parameter TIME_W = 64        // as ff_time_line
) (
    input  wire              clk,
    input  wire              bus_rst,      // the recorder's own reset, in the bus domain
    input  wire [32:0]       line_in,      // time line
    input  wire              bus_arm_toggle, bus_level,
    input  wire [CAUSES-1:0] bus_causes, bus_cause_mask,
    // this domain
    output wire              rst,
    input  wire [CAUSES-1:0] causes_in,
    input  wire              all_closed,   // every memory of the domain
    output wire [63:0]       now,
    output wire              arm, triggered_next, triggered,
    output wire [CAUSES-1:0] causes,
    output wire [31:0]       since,
    output wire              drain,
    // to the bus: ff_card_freeze and ff_card_pairs
    output wire              level, armed,
    output reg               closed,
    output reg               beats,        // changes with each toggle of the time line: the clock runs
    output wire              told, parity,
    output wire [TIME_W-1:0] at
);
    ff_cdc_sync i_rst (.clk(clk), .d(bus_rst), .q(rst));
    wire        seen;
    wire [31:0] unused_number;
    wire [32:0] unused_line;
    ff_time_line #(.MASTER(0), .PERIOD(SYNC_PERIOD), .TIME_W(TIME_W)) i_time (
        .clk(clk), .rst(rst), .line_in(line_in), .line_out(unused_line), .now(now), .seen(seen), .number(unused_number)
    );
    ff_time_told #(.TIME_W(TIME_W)) i_told (
        .clk(clk), .rst(rst), .arm(arm), .closed(all_closed), .seen(seen), .now(now[TIME_W-1:0]), .told(told), .parity(parity), .at(at)
    );
    ff_freeze_remote #(.POST_DRAIN(POST_DRAIN), .W(CAUSES), .PEER(2)) i_freeze (
        .clk(clk), .rst(rst), .bus_arm_toggle(bus_arm_toggle), .bus_level(bus_level), .bus_causes(bus_causes),
        .bus_cfg_cause_mask(bus_cause_mask), .causes_in(causes_in), .far_level(level), .far_armed(armed), .arm(arm),
        .triggered_next(triggered_next), .triggered(triggered), .causes(causes), .since(since), .drain(drain)
    );
    always @(posedge clk) begin
        closed <= all_closed && !rst;
        beats <= !rst && (beats ^ seen);
    end
    wire unused = &{1'b0, unused_number, unused_line};
endmodule
`default_nettype wire
