// SPDX-License-Identifier: Apache-2.0
// ff_nic_wire: the cable of one direction with its serializers: a delay, and an unknown byte phase for each lane.
//
// Latency: LATENCY + 2 cycles and the phase. Throughput: one word a cycle. Back-pressure: none. Clock domain: clk, the
// sender's.
`default_nettype none
module ff_nic_wire #(
    parameter LATENCY = 25 // cycles, 2..255
) (
    input  wire        clk, rst,
    input  wire [3:0]  cfg_phase,   // bytes each lane is late by, 2 bits a lane; stands still
    input  wire [63:0] s_data,
    input  wire [7:0]  s_k,
    output reg  [63:0] m_data,
    output reg  [7:0]  m_k
);
    generate if (LATENCY < 2 || LATENCY > 255) begin : g_check_LATENCY
        ff_error_LATENCY_must_be_2_to_255 stop (); // none such
    end endgenerate
    localparam integer LAST_CYCLE = LATENCY - 1;
    localparam [7:0] LAST = LAST_CYCLE[7:0];

    reg  [71:0] line [0:255];
    reg  [7:0]  place_q;
    reg         full_q;
    reg  [71:0] old_q, before_q;
    wire [127:0] bytes = {old_q[63:32], before_q[63:32], old_q[31:0], before_q[31:0]};
    wire [15:0]  ks = {old_q[71:68], before_q[71:68], old_q[67:64], before_q[67:64]};
    // Of eight bytes, the older four and the newer, a lane that is late by n bytes shows four from 4 - n on.
    wire [63:0] data;
    wire [7:0]  k;
    genvar i;
    generate for (i = 0; i < 2; i = i + 1) begin : g_lane
        wire [2:0] first = 3'd4 - {1'b0, cfg_phase[i*2 +: 2]};
        wire [63:0] lane_bytes = bytes[i*64 +: 64];
        wire [7:0]  lane_ks = ks[i*8 +: 8];
        assign data[i*32 +: 32] = lane_bytes[first*8 +: 32];
        assign k[i*4 +: 4] = lane_ks[first +: 4];
    end endgenerate
    always @(posedge clk) begin
        line[place_q] <= {s_k, s_data};
        place_q <= place_q == LAST ? 8'd0 : place_q + 8'd1;
        if (place_q == LAST) full_q <= 1'b1;
        old_q <= full_q ? line[place_q] : {8'hFF, {8{8'hFE}}};
        before_q <= old_q;
        m_data <= data;
        m_k <= k;
        if (rst) begin
            place_q <= 8'd0;
            full_q <= 1'b0;
            old_q <= {8'hFF, {8{8'hFE}}};
            before_q <= {8'hFF, {8{8'hFE}}};
        end
    end
endmodule
`default_nettype wire
