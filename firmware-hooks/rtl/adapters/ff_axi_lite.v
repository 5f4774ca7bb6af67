// SPDX-License-Identifier: Apache-2.0
// ff_axi_lite: the register port from AXI4-Lite (AMBA AXI and ACE, B1), one access at a time, writes before reads.
//
// Latency: two cycles more than the register port. Throughput: one access in about six cycles. Back-pressure: awready,
// wready and arready come with the start of the access. An error answer is SLVERR; so is a write that does not
// strobe all four bytes, which reaches no register. Clock domain: clk, the bus domain; rst is the bus reset.
`default_nettype none
module ff_axi_lite (
    input  wire        clk, rst,
    // AXI4-Lite
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_awaddr,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    output reg         s_axi_bvalid,
    input  wire        s_axi_bready,
    output reg  [1:0]  s_axi_bresp,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    input  wire [31:0] s_axi_araddr,
    output reg         s_axi_rvalid,
    input  wire        s_axi_rready,
    output reg  [31:0] s_axi_rdata,
    output reg  [1:0]  s_axi_rresp,
    // register port
    output reg         m_req, m_we,
    output reg  [31:0] m_addr, m_wdata,
    input  wire        m_ack, m_err,
    input  wire [31:0] m_rdata
);
    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    wire idle = !m_req && !s_axi_bvalid && !s_axi_rvalid && !rst;
    wire write = idle && s_axi_awvalid && s_axi_wvalid;
    wire read = idle && s_axi_arvalid && !write;
    assign s_axi_awready = write;
    assign s_axi_wready = write;
    assign s_axi_arready = read;
    always @(posedge clk) begin
        if (s_axi_bready) s_axi_bvalid <= 1'b0;
        if (s_axi_rready) s_axi_rvalid <= 1'b0;
        if (write || read) begin
            m_req <= !write || &s_axi_wstrb;
            m_we <= write;
            m_addr <= write ? s_axi_awaddr : s_axi_araddr;
            m_wdata <= s_axi_wdata;
        end
        if (write && !(&s_axi_wstrb)) begin
            s_axi_bvalid <= 1'b1;
            s_axi_bresp <= SLVERR;
        end
        if (m_req && m_ack) begin
            m_req <= 1'b0;
            s_axi_bvalid <= m_we;
            s_axi_bresp <= m_err ? SLVERR : OKAY;
            s_axi_rvalid <= !m_we;
            s_axi_rresp <= m_err ? SLVERR : OKAY;
            s_axi_rdata <= m_rdata;
        end
        if (rst) begin
            m_req <= 1'b0;
            s_axi_bvalid <= 1'b0;
            s_axi_rvalid <= 1'b0;
        end
    end
endmodule
`default_nettype wire
