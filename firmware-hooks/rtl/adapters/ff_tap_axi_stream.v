// SPDX-License-Identifier: Apache-2.0
// ff_tap_axi_stream: a tap on an AXI4-Stream: its accepted beats as words with a kind.
//
// The first HEADS beats of a packet are HEAD, the last one (tlast) is TAIL, those between are BODY. Latency: none; the
// recorder has the register. Throughput: one beat a cycle. Back-pressure: none, it only listens. Clock domain: clk;
// rst is that of the stream. A packet of HEADS beats or fewer ends with TAIL all the same.
`default_nettype none
module ff_tap_axi_stream #(
    parameter DATA_W = 64, // bits of tdata, 1..64
    parameter HEADS = 2    // beats that are header, 0..15
) (
    input  wire              clk, rst,
    // the stream, as it stands between the two who talk
    input  wire              axis_tvalid, axis_tready, axis_tlast,
    input  wire [DATA_W-1:0] axis_tdata,
    // tap
    output wire              tap_valid,
    output wire [3:0]        tap_kind,
    output wire [63:0]       tap_data
);
    generate
        if (DATA_W < 1 || DATA_W > 64) begin : g_check_DATA_W
            ff_error_DATA_W_must_be_1_to_64 stop (); // none such
        end
        if (HEADS < 0 || HEADS > 15) begin : g_check_HEADS
            ff_error_HEADS_must_be_0_to_15 stop (); // none such
        end
        if (DATA_W < 64) begin : g_narrow
            assign tap_data = {{64-DATA_W{1'b0}}, axis_tdata};
        end else begin : g_full
            assign tap_data = axis_tdata;
        end
    endgenerate
    localparam [3:0] HEAD = 4'd1, BODY = 4'd2, TAIL = 4'd3; // enum kind
    localparam [3:0] ALL = HEADS[3:0];

    reg  [3:0] left_q; // header beats still to come
    assign tap_valid = axis_tvalid && axis_tready;
    assign tap_kind = axis_tlast ? TAIL : left_q != 4'd0 ? HEAD : BODY;
    always @(posedge clk) begin
        if (rst || (tap_valid && axis_tlast)) left_q <= ALL;
        else if (tap_valid && left_q != 4'd0) left_q <= left_q - 4'd1;
    end
endmodule
`default_nettype wire
