// SPDX-License-Identifier: Apache-2.0
// ff_example_axi_stream: a packet FIFO between two AXI4-Streams, recorded on both sides by the small device, whose
// registers stand behind AXI4-Lite. The first worked example of docs/add-to-your-nic.md.
//
// The card's part is the FIFO and a check: a packet whose length is not that of its header is the cause `length`.
// ctl.options.select_tap 0 records what goes in, 1 what comes out. Latency: the FIFO's, three cycles; the recorder adds
// none. Throughput: one beat a cycle. Back-pressure: s_axis_tready, from the FIFO alone. Clock domain: clk. rst is the
// recorder's own, at power-up; nic_rst the card's; s_axi_aresetn, active low, that of the bus.
`default_nettype none
module ff_example_axi_stream #(
    parameter [31:0] BUILD_HASH = 0, // identifies the build
    parameter TAP_DEPTH = 2048,      // records, power of two, 256..16384
    parameter FIFO_LOG2 = 5          // log2 of the FIFO's beats, 2..6
) (
    input  wire        clk, rst, nic_rst,
    input  wire [31:0] boot_nonce,   // new at every power-up; constant after rst
    // datapath
    input  wire        s_axis_tvalid, s_axis_tlast,
    input  wire [63:0] s_axis_tdata,
    output wire        s_axis_tready,
    output wire        m_axis_tvalid, m_axis_tlast,
    output wire [63:0] m_axis_tdata,
    input  wire        m_axis_tready,
    // registers
    input  wire        s_axi_aresetn,
    input  wire        s_axi_awvalid, s_axi_wvalid, s_axi_bready, s_axi_arvalid, s_axi_rready,
    input  wire [31:0] s_axi_awaddr, s_axi_wdata, s_axi_araddr,
    input  wire [3:0]  s_axi_wstrb,
    output wire        s_axi_awready, s_axi_wready, s_axi_bvalid, s_axi_arready, s_axi_rvalid,
    output wire [1:0]  s_axi_bresp, s_axi_rresp,
    output wire [31:0] s_axi_rdata
);
    // -- the card: what stands here without a recorder ----------------------------------------------
    ff_cdc_fifo #(.DATA_W(65), .DEPTH_LOG2(FIFO_LOG2)) i_fifo (
        .s_clk(clk), .s_rst(nic_rst), .s_valid(s_axis_tvalid), .s_data({s_axis_tlast, s_axis_tdata}),
        .s_ready(s_axis_tready), .m_clk(clk), .m_rst(nic_rst), .m_valid(m_axis_tvalid),
        .m_data({m_axis_tlast, m_axis_tdata}), .m_ready(m_axis_tready)
    );

    // -- taps: the streams themselves, and nothing between them and the FIFO ---------------------------
    wire       in_valid, out_valid;
    wire [3:0] in_kind, out_kind;
    wire [63:0] in_data, out_data;
    ff_tap_axi_stream #(.DATA_W(64), .HEADS(2)) i_tap_in (
        .clk(clk), .rst(nic_rst), .axis_tvalid(s_axis_tvalid), .axis_tready(s_axis_tready), .axis_tlast(s_axis_tlast),
        .axis_tdata(s_axis_tdata), .tap_valid(in_valid), .tap_kind(in_kind), .tap_data(in_data)
    );
    ff_tap_axi_stream #(.DATA_W(64), .HEADS(2)) i_tap_out (
        .clk(clk), .rst(nic_rst), .axis_tvalid(m_axis_tvalid), .axis_tready(m_axis_tready), .axis_tlast(m_axis_tlast),
        .axis_tdata(m_axis_tdata), .tap_valid(out_valid), .tap_kind(out_kind), .tap_data(out_data)
    );

    // -- a check of the card as a cause: one register behind the tap, so the cause is of the next cycle -----
    localparam [3:0] HEAD = 4'd1, TAIL = 4'd3;            // enum kind
    localparam LENGTH = 4;                                // bit of enum cause
    reg  [9:0] left_q;                                    // payload words still to come
    reg        begun_q, length_error_q;
    always @(posedge clk) begin
        length_error_q <= in_valid && in_kind == TAIL && left_q != 10'd0;
        if (in_valid) begin
            begun_q <= in_kind != TAIL;
            if (in_kind == HEAD && !begun_q) left_q <= in_data[25:16];
            else if (in_kind != HEAD && in_kind != TAIL) left_q <= left_q - 10'd1;
        end
        if (nic_rst) {begun_q, length_error_q} <= 2'b00;
    end
    wire [15:0] causes = {15'd0, length_error_q} << LENGTH;

    // -- the recorder, and the way to it -----------------------------------------------------------------
    wire        req, we, ack, err;
    wire [31:0] addr, wdata, rdata;
    wire        hold, frozen, trigger_out, cross_out;
    wire [32:0] time_line;
    wire        bus_rst = rst || !s_axi_aresetn;
    ff_axi_lite i_axi_lite (
        .clk(clk), .rst(bus_rst), .s_axi_awvalid(s_axi_awvalid), .s_axi_awready(s_axi_awready), .s_axi_awaddr(s_axi_awaddr),
        .s_axi_wvalid(s_axi_wvalid), .s_axi_wready(s_axi_wready), .s_axi_wdata(s_axi_wdata), .s_axi_wstrb(s_axi_wstrb),
        .s_axi_bvalid(s_axi_bvalid), .s_axi_bready(s_axi_bready), .s_axi_bresp(s_axi_bresp),
        .s_axi_arvalid(s_axi_arvalid), .s_axi_arready(s_axi_arready), .s_axi_araddr(s_axi_araddr),
        .s_axi_rvalid(s_axi_rvalid), .s_axi_rready(s_axi_rready), .s_axi_rdata(s_axi_rdata), .s_axi_rresp(s_axi_rresp),
        .m_req(req), .m_we(we), .m_addr(addr), .m_wdata(wdata), .m_ack(ack), .m_err(err), .m_rdata(rdata)
    );
    ff_select #(
        .BUILD_HASH(BUILD_HASH), .TAP_DEPTH(TAP_DEPTH), .CLK_HZ(100000000), .WITH_CRC(1)
    ) i_recorder (
        .clk(clk), .rst(rst), .bus_rst(bus_rst), .boot_nonce(boot_nonce),
        .s_req(req), .s_we(we), .s_addr({8'd0, addr[23:0]}), .s_wdata(wdata), .s_ack(ack), .s_err(err), .s_rdata(rdata),
        .tap_valid({2'b00, out_valid, in_valid}), .tap_kind({8'd0, out_kind, in_kind}),
        .tap_data({128'd0, out_data, in_data}), .causes_in(causes), .trigger_in(1'b0), .trigger_out(trigger_out),
        .cross_in(1'b0), .cross_out(cross_out), .hold(hold), .frozen(frozen), .nic_held(1'b0),
        .time_in(time_line), .time_out(time_line)
    );
    wire unused = &{1'b0, addr[31:24], hold, frozen, trigger_out, cross_out};
endmodule
`default_nettype wire
