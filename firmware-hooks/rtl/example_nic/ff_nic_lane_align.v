// SPDX-License-Identifier: Apache-2.0
// ff_nic_lane_align: finds where the halves of one lane begin in its stream of bytes, and keeps to it.
//
// While the far end trains it sends halves of a comma and three other bytes; eight in a row at one place lock the
// phase, and the first idle half after that is the first that goes on. Nothing aligns again before the next reset.
// Latency: one cycle and the phase. Throughput: four bytes a cycle. Back-pressure: none. Clock domain: clk, recovered
// from the lane.
`default_nettype none
module ff_nic_lane_align (
    input  wire        clk, rst,
    input  wire [31:0] s_data,      // bytes of the lane, first byte least significant
    input  wire [3:0]  s_k,         // one bit a byte: control symbol
    input  wire        slip,        // fault: the stream loses slip_bytes bytes just before the half taken now
    input  wire [1:0]  slip_bytes,  // 1..3
    output reg         m_valid,     // from the first idle half on
    output reg         m_idle, m_halt,
    output reg  [31:0] m_data,
    output reg  [1:0]  stat_phase,  // found by the alignment
    output reg         stat_locked
);
    localparam [7:0] COMMA = 8'hBC, HALT = 8'hFE;

    reg  [31:0] before_q;
    reg  [3:0]  before_k_q;
    wire [63:0] window = {s_data, before_q};
    wire [7:0]  window_k = {s_k, before_k_q};

    // Training: a comma at one place and no other control symbol behind it.
    reg  [3:0]  at;
    integer i;
    always @* for (i = 0; i < 4; i = i + 1)
        at[i] = window[i*8 +: 8] == COMMA && window_k[i +: 4] == 4'b0001;
    wire        one = at == 4'd1 || at == 4'd2 || at == 4'd4 || at == 4'd8;
    wire [1:0]  place = {at[3] | at[2], at[3] | at[1]};
    reg  [1:0]  hunt_q, use_q;
    reg  [2:0]  seen_q;
    reg         run_q;

    wire [2:0]  slipped = {1'b0, use_q} + {1'b0, slip_bytes};
    wire [1:0]  phase = slip ? slipped[1:0] : use_q;
    wire        skip = slip && slipped[2]; // the next half is not whole before the next cycle
    wire [31:0] half = window[phase*8 +: 32];
    wire [1:0]  half_k = window_k[{1'b0, phase} +: 2];
    wire        idle = half_k[0] && half[7:0] == COMMA;
    wire        first = stat_locked && idle && half_k[1];

    always @(posedge clk) begin
        before_q <= s_data;
        before_k_q <= s_k;
        hunt_q <= place;
        if (!stat_locked) begin
            seen_q <= one && place == hunt_q ? seen_q + 3'd1 : 3'd0;
            if (one && place == hunt_q && seen_q == 3'd7) begin
                stat_locked <= 1'b1;
                stat_phase <= place;
                use_q <= place;
            end
        end else use_q <= phase;
        if (first) run_q <= 1'b1;
        m_valid <= (run_q || first) && !skip;
        m_idle <= idle;
        m_halt <= half_k[0] && half[7:0] == HALT;
        m_data <= half;
        if (rst) begin
            before_k_q <= 4'd0;
            hunt_q <= 2'd0;
            seen_q <= 3'd0;
            stat_locked <= 1'b0;
            stat_phase <= 2'd0;
            use_q <= 2'd0;
            run_q <= 1'b0;
            m_valid <= 1'b0;
            m_idle <= 1'b0;
            m_halt <= 1'b0;
        end
    end
endmodule
`default_nettype wire
