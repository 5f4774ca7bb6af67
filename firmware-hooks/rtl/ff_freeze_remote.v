// SPDX-License-Identifier: Apache-2.0
// ff_freeze_remote: the freeze controller's part in the device's other clock domain: its arm and its first cause.
//
// Latency: arm comes 2 to 3 cycles of clk after that of ff_freeze; a cause of this domain stands in the cause register one
// cycle after its input, one of the bus domain 2 to 3 cycles of clk after it arose. Throughput: one set of causes a cycle.
// Back-pressure: none. Clock domain: clk (link); bus_* come from ff_freeze and are synchronized here.
`default_nettype none
module ff_freeze_remote #(
    parameter POST_DRAIN = 1024, // as ff_cause_latch
    parameter SINCE_W = 32,      // as ff_cause_latch
    parameter DRAIN_ON = 1,      // as ff_cause_latch
    parameter W = 16,            // causes, 12..32
    parameter PEER = 11          // the cause that another device's freeze is
) (
    input  wire        clk, rst,           // the recorder's own reset, synchronous to clk
    input  wire        bus_arm_toggle,
    input  wire        bus_level,
    input  wire [W-1:0] bus_causes,
    input  wire [W-1:0] bus_cfg_cause_mask, // bits synchronized one by one
    input  wire [W-1:0] causes_in,          // causes of this domain, enum cause
    output wire        far_level,          // to ff_freeze
    output wire        far_armed,
    // recorders of this domain
    output reg         arm,
    output wire        triggered_next,   // triggered is up in the next cycle
    output wire        triggered,
    output wire [W-1:0] causes,             // to ff_freeze too: they stand still while far_level is up
    output wire [31:0] since,
    output wire        drain
);
    localparam [W-1:0] OURS = ({{W-1{1'b0}}, 1'b1} << PEER) | {{W-1{1'b0}}, 1'b1}; // peer and host: the bus domain's

    wire arm_next;
    ff_cdc_edge i_arm (.clk(clk), .rst(rst), .d(bus_arm_toggle), .pulse(arm_next));

    // The answer leaves two cycles behind the arm: by then level and closed bits are those of the new recording.
    reg taken_q, answer_q;
    always @(posedge clk) begin
        arm <= arm_next;
        answer_q <= taken_q;
        if (arm) taken_q <= !taken_q;
        if (rst) begin
            taken_q <= 1'b0;
            answer_q <= 1'b0;
        end
    end
    assign far_armed = answer_q;

    wire bus_hit, hit;
    wire [W-1:0] bus_seen, mask;
    ff_cdc_held #(.W(W)) i_causes (.clk(clk), .s_level(bus_level), .s_data(bus_causes), .m_level(bus_hit), .m_data(bus_seen));
    ff_cdc_sync #(.W(W)) i_mask (.clk(clk), .d(bus_cfg_cause_mask), .q(mask));
    ff_cause_latch #(.POST_DRAIN(POST_DRAIN), .SINCE_W(SINCE_W), .DRAIN_ON(DRAIN_ON), .W(W)) i_latch (
        .clk(clk), .rst(rst), .arm_next(arm_next), .arm(arm),
        .causes_in((causes_in & mask & ~OURS) | bus_seen),
        .hit(hit), .level(far_level), .triggered_next(triggered_next), .triggered(triggered), .causes(causes), .since(since), .drain(drain)
    );
    wire unused = &{1'b0, hit, bus_hit};
endmodule
`default_nettype wire
