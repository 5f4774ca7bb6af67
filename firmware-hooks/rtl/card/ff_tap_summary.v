// SPDX-License-Identifier: Apache-2.0
// ff_tap_summary: one SUM for each packet of a stream (docs/card-map.md section 5): its length, duration, CRC-32 and flags.
//
// Bytes that are off enter the CRC as zeros, to the beat's full width, and beats without a byte not at all; whoever reads it runs the
// register back over them. A packet that began before the arm is told whole; the first one since reset may have begun before that, and
// says so. Latency: SUM stands three cycles after its packet's last beat. Throughput: a beat a cycle, a packet a cycle. Back-pressure:
// none, it only listens. Clock domain: clk.
`default_nettype none
module ff_tap_summary #(
    parameter BITS = 64, // as ff_tap_beats
    parameter KEEP = 1
) (
    input  wire              clk, rst,
    input  wire              arm,        // no SUM stands for a packet that ended before it
    // an accepted beat
    input  wire              beat, beat_last, beat_user,
    input  wire [BITS-1:0]   beat_data,
    input  wire [BITS/8-1:0] beat_keep,
    output reg               sum_valid,
    output reg  [63:0]       sum_data,
    output reg  [7:0]        pending     // beats since the arm of a packet without a SUM yet; 255: that or more
);
    localparam BYTES = BITS / 8, POP_W = $clog2(BYTES + 1);
    integer n, i;

    // The beat, off bytes zero.
    reg              beat_q, last_q, user_q;
    reg  [BITS-1:0]  data_q;
    reg  [BYTES-1:0] on_q;
    wire [BYTES-1:0] on = KEEP == 0 ? {BYTES{1'b1}} : beat_keep;
    always @(posedge clk) begin
        beat_q <= beat && !rst;
        {last_q, user_q, on_q} <= {beat_last, beat_user, on};
        for (n = 0; n < BYTES; n = n + 1) data_q[8*n +: 8] <= on[n] ? beat_data[8*n +: 8] : 8'd0;
    end

    // What it adds to the packet's CRC and length.
    wire [31:0] adds;
    ff_crc32_step #(.BITS(BITS)) i_adds (.crc(32'd0), .data(data_q), .next(adds));
    reg  [POP_W-1:0] count;
    always @* begin
        count = {POP_W{1'b0}};
        for (i = 0; i < BYTES; i = i + 1) count = count + {{POP_W-1{1'b0}}, on_q[i]};
    end
    wire [BYTES:0]   lower = {on_q, 1'b1};
    reg              beat_2q, last_2q, user_2q, any_2q, hole_2q, part_2q; // a byte is on behind one that is off; the last one is off
    reg  [31:0]      adds_2q;
    reg  [POP_W-1:0] count_2q;
    always @(posedge clk) begin
        beat_2q <= beat_q && !rst;
        {last_2q, user_2q, any_2q, adds_2q, count_2q} <= {last_q, user_q, on_q != {BYTES{1'b0}}, adds, count};
        {hole_2q, part_2q} <= {(on_q & ~lower[BYTES-1:0]) != {BYTES{1'b0}}, !on_q[BYTES-1]};
    end

    // The packet so far. Irregular: a byte is on behind one that is off, in the beat or in one before it.
    reg         first_q, unseen_q, marked_q, irregular_q, part_q;
    reg  [31:0] crc_q;
    reg  [15:0] length_q;
    reg  [11:0] cycles_q;
    wire [31:0] from = first_q ? 32'hFFFFFFFF : crc_q;
    wire [31:0] run_on;
    ff_crc32_step #(.BITS(BITS)) i_run_on (.crc(from), .data({BITS{1'b0}}), .next(run_on));
    wire [31:0] crc = any_2q ? run_on ^ adds_2q : from;
    wire [16:0] sum = {1'b0, first_q ? 16'd0 : length_q} + {{17-POP_W{1'b0}}, count_2q};
    wire [15:0] length = sum[16] ? 16'hFFFF : sum[15:0];
    wire [11:0] cycles = first_q ? 12'd0 : cycles_q;
    wire        marked = user_2q || (marked_q && !first_q);
    wire        irregular = (irregular_q && !first_q) || (any_2q && (hole_2q || (part_q && !first_q)));
    wire        ends = beat_2q && last_2q;
    reg         arm_q, open_3q;
    always @(posedge clk) begin
        arm_q <= arm;
        cycles_q <= &cycles ? cycles : cycles + 12'd1;
        if (beat_2q) begin
            {crc_q, length_q, marked_q, irregular_q} <= {crc, length, marked, irregular};
            part_q <= any_2q ? part_2q : part_q && !first_q;
            first_q <= last_2q;
            if (last_2q) unseen_q <= 1'b0;
        end else if (first_q) cycles_q <= 12'd0;
        sum_valid <= ends && !rst && !arm && !arm_q;
        sum_data <= {unseen_q, irregular, marked, user_2q, cycles, length, ~crc};
        open_3q <= beat_2q && !last_2q && !arm && !arm_q;
        pending <= sum_valid ? 8'd0 : pending + {7'd0, open_3q && pending != 8'hFF};
        if (arm || rst) pending <= 8'd0;
        if (rst) {first_q, unseen_q} <= 2'd3; // a packet may be on its way
    end
    wire unused = &{1'b0, beat_keep, lower};
endmodule
`default_nettype wire
