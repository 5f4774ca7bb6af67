// SPDX-License-Identifier: Apache-2.0
// ff_tap_select: mode SELECT: leads one of four taps to the one recorder.
//
// Latency: none, it stands before the recorder's tap register. Throughput: one word a cycle. Back-pressure: none.
// Clock domain: clk, of all four taps. The tap is taken over from cfg_tap one cycle before the recorder is armed, so
// that a recording is of one tap, whatever is written meanwhile.
`default_nettype none
module ff_tap_select (
    input  wire         clk, rst,        // the recorder's own reset
    input  wire         arm_next,        // the recorder's arm is up in the next cycle
    input  wire [1:0]   cfg_tap,         // enum memory: 0 tx_enq, 1 tx_deq, 2 rx_enq, 3 rx_deq
    input  wire [3:0]   s_valid,         // taps: tap i at bit i, [i*4+:4], [i*64+:64]
    input  wire [15:0]  s_kind,
    input  wire [255:0] s_data,
    output wire         m_valid,         // to ff_tap_recorder
    output wire [3:0]   m_kind,
    output wire [63:0]  m_data,
    output reg  [1:0]   stat_tap         // the tap that is recorded
);
    always @(posedge clk) if (rst) stat_tap <= 2'd0; else if (arm_next) stat_tap <= cfg_tap;

    // The arm's own cycle already looks where the new recording looks: its word stands in the tap register
    // in the first recorded cycle.
    assign m_valid = s_valid[stat_tap];
    assign m_kind = s_kind[{stat_tap, 2'b00} +: 4];
    assign m_data = s_data[{stat_tap, 6'b000000} +: 64];
endmodule
`default_nettype wire
