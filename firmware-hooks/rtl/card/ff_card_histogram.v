// SPDX-License-Identifier: Apache-2.0
// ff_card_histogram: packets of a stream since the arm by their length, or by the gap before them: 16 counters.
//
// Bin 0: the value 0; bin k: 2^(k-1) to 2^k - 1; bin 15: 16,384 and more. A length is the bytes that are on, a gap the cycles without a
// beat from the last beat of one packet to the first of the next. A counter stays at its greatest value. Latency: a packet stands in
// its bin three cycles after ff_stream_counts tells it; later than closed it is not counted. Throughput: a packet a cycle.
// Back-pressure: none. Clock domain: clk.
`default_nettype none
module ff_card_histogram #(
    parameter GAPS = 0               // 0: lengths
) (
    input  wire        clk, rst,
    input  wire        arm,          // every bin is 0
    input  wire        closed,       // the domain's memories are closed: up until the next arm
    input  wire        words, packets, // ff_stream_counts
    input  wire [7:0]  bytes,
    input  wire [3:0]  win_bin,
    output wire [31:0] win_count     // of that bin, in this cycle
);
    localparam [14:0] MOST = 15'h7FFF;
    reg         valid_q;
    reg  [14:0] sum_q, value_q;      // of the packet or the gap until now; of one that is over
    generate if (GAPS != 0) begin : g_gaps
        reg between_q;               // behind a packet's last beat
        always @(posedge clk) begin
            valid_q <= words && between_q;
            value_q <= sum_q;
            sum_q <= words ? 15'd0 : sum_q == MOST ? MOST : sum_q + 15'd1;
            if (words) between_q <= packets;
            if (rst) between_q <= 1'b0;
            if (arm || rst) valid_q <= 1'b0;
        end
        wire unused = &{1'b0, bytes};
    end else begin : g_lengths
        wire [15:0] sum = {1'b0, sum_q} + {8'd0, bytes};
        wire [14:0] length = sum[15] ? MOST : sum[14:0];
        always @(posedge clk) begin
            valid_q <= packets;
            value_q <= length;
            if (words) sum_q <= packets ? 15'd0 : length;
            if (rst) sum_q <= 15'd0;
            if (arm || rst) valid_q <= 1'b0;
        end
    end endgenerate

    reg  [3:0]  bits, bin_q;
    reg         add_q;
    integer b;
    always @* begin
        bits = 4'd0;
        for (b = 0; b < 15; b = b + 1) if (value_q[b]) bits = b[3:0] + 4'd1;
    end
    reg  [31:0] live [0:15];
    reg  [15:0] counted_q;           // bins that hold something since the arm
    wire [31:0] old = live[bin_q] & {32{counted_q[bin_q]}};
    wire        adds = add_q && !closed;
    always @(posedge clk) begin
        {add_q, bin_q} <= {valid_q && !arm && !rst, bits};
        if (adds) begin
            live[bin_q] <= &old ? old : old + 32'd1;
            counted_q[bin_q] <= 1'b1;
        end
        if (arm || rst) counted_q <= 16'd0;
    end
    assign win_count = live[win_bin] & {32{counted_q[win_bin]}};
endmodule
`default_nettype wire
