// SPDX-License-Identifier: Apache-2.0
// ff_check_length: a packet shorter or longer than the format allows, or of another length than its header says.
//
// Latency: bad stands three cycles after the last beat; of a packet that is too long as soon as it is, and not again at its end.
// Throughput: a beat a cycle. Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_check_length #(
    parameter BITS = 64,          // as ff_stream_field, as the next four
    parameter KEEP = 1,
    parameter AT = 0,
    parameter WIDTH = 16,
    parameter LITTLE = 0,
    parameter WITH_FIELD = 0,     // 1: the field says how long the packet is
    parameter signed [31:0] PLUS = 0,          // bytes of the packet beyond what the field says, -65536..65536
    parameter [31:0] SHORTEST = 0, // bytes
    parameter [31:0] LONGEST = 0  // bytes; 0: no limit
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
    localparam WIDE = WIDTH + 34;
    localparam [31:0] PLUS_BITS = PLUS;
    wire [WIDE-1:0] said = {{WIDE-WIDTH{1'b0}}, field} + {{WIDE-32{PLUS_BITS[31]}}, PLUS_BITS};
    wire unlike = WITH_FIELD != 0 && (!whole || said != {{WIDE-17{1'b0}}, length});
    wire giant = fresh && LONGEST != 32'd0 && {15'd0, length} > LONGEST;
    wire short = {15'd0, length} + 32'd1 <= SHORTEST;
    reg  told_q; // of this packet
    always @(posedge clk) begin
        bad <= !rst && ((giant && !told_q) || (ended && !told_q && (short || unlike)));
        told_q <= !rst && !ended && (told_q || giant);
    end
endmodule
`default_nettype wire
