// SPDX-License-Identifier: Apache-2.0
// ff_check_sequence: a packet whose number is not that of the packet before and one, modulo 2^WIDTH.
//
// The first packet after reset or arm gives the beginning, and each wrong one a new one, so one lost packet is one error. A packet too
// short to hold the field is not compared. Latency: bad stands three cycles after the last beat. Throughput: a beat a cycle.
// Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_check_sequence #(
    parameter BITS = 64, // as ff_stream_field, as the others
    parameter KEEP = 1,
    parameter AT = 0,
    parameter WIDTH = 16,
    parameter LITTLE = 0
) (
    input  wire              clk, rst,
    input  wire              tvalid, tready, tlast,
    input  wire [BITS-1:0]   tdata,
    input  wire [BITS/8-1:0] tkeep,
    output reg               bad
);
    wire             fresh, ended, whole;
    wire [WIDTH-1:0] field;
    wire [16:0]      length;
    ff_stream_field #(.BITS(BITS), .KEEP(KEEP), .AT(AT), .WIDTH(WIDTH), .LITTLE(LITTLE)) i_field (
        .clk(clk), .rst(rst), .tvalid(tvalid), .tready(tready), .tlast(tlast), .tdata(tdata), .tkeep(tkeep),
        .fresh(fresh), .ended(ended), .field(field), .whole(whole), .length(length)
    );
    reg  [WIDTH-1:0] next_q;
    reg  known_q;
    wire [WIDTH:0] following = {1'b0, field} + {{WIDTH{1'b0}}, 1'b1};
    always @(posedge clk) begin
        bad <= ended && whole && known_q && field != next_q && !rst;
        if (ended && whole) {known_q, next_q} <= {1'b1, following[WIDTH-1:0]};
        if (rst) known_q <= 1'b0;
    end
    wire unused = &{1'b0, fresh, length, following[WIDTH]};
endmodule
`default_nettype wire
