// SPDX-License-Identifier: Apache-2.0
// ff_avalon: the register port from an Avalon-MM host (Avalon Interface Specifications 3.5, transfers with waitrequest).
//
// Latency: the register port's. Throughput: one access at a time. Back-pressure: avs_waitrequest. An error answer is SLVERR.
// Clock domain: clk, the bus domain.
`default_nettype none
module ff_avalon (
    input  wire        clk, rst,
    // Avalon-MM, addresses in bytes
    input  wire        avs_read, avs_write,
    input  wire [31:0] avs_address, avs_writedata,
    output wire        avs_waitrequest,
    output wire [31:0] avs_readdata,
    output wire [1:0]  avs_response,
    // register port
    output wire        m_req, m_we,
    output wire [31:0] m_addr, m_wdata,
    input  wire        m_ack, m_err,
    input  wire [31:0] m_rdata
);
    assign m_req = (avs_read || avs_write) && !rst;
    assign m_we = avs_write;
    assign m_addr = avs_address;
    assign m_wdata = avs_writedata;
    assign avs_waitrequest = !m_ack;
    assign avs_readdata = m_rdata;
    assign avs_response = {m_err, 1'b0};
    wire unused = &{1'b0, clk};
endmodule
`default_nettype wire
