// SPDX-License-Identifier: Apache-2.0
// ff_stream_counts: what a counter at a tap counts: accepted words, packets and bytes, and cycles in which a word waits.
//
// Latency: one cycle. Throughput: a beat a cycle. Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_stream_counts #(
    parameter BITS = 64, // of a beat, a multiple of 8, 8..1024
    parameter KEEP = 1   // 0: every byte is on; 1: tkeep says
) (
    input  wire              clk, rst,
    input  wire              tvalid, tready, tlast,
    input  wire [BITS/8-1:0] tkeep,
    output reg               words, packets, waits,
    output reg  [7:0]        bytes
);
    generate if (BITS < 8 || BITS > 1024 || BITS % 8 != 0) begin : g_check_BITS
        ff_error_BITS_must_be_a_multiple_of_8_from_8_to_1024 stop (); // none such
    end endgenerate
    localparam BYTES = BITS / 8;
    wire [BYTES-1:0] on = KEEP != 0 ? tkeep : {BYTES{1'b1}};
    wire beat = tvalid && tready && !rst;
    reg  [7:0] sum;
    integer n;
    always @* begin
        sum = 8'd0;
        for (n = 0; n < BYTES; n = n + 1) sum = sum + {7'd0, on[n]};
    end
    always @(posedge clk) begin
        words <= beat;
        packets <= beat && tlast;
        waits <= tvalid && !tready && !rst;
        bytes <= beat ? sum : 8'd0;
    end
    wire unused = &{1'b0, tkeep};
endmodule
`default_nettype wire
