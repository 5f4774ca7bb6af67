// SPDX-License-Identifier: Apache-2.0
// ff_wishbone: the register port from Wishbone B4, classic cycles, 32 bits, byte address without its two low bits.
//
// Latency: one cycle more than the register port. Throughput: one access in about five cycles. Back-pressure: ack or err
// ends the cycle. A write that does not select all four bytes is answered by err and reaches no register. Clock domain:
// clk, the bus domain; rst is the bus reset, and a cycle given up by the master is forgotten when its answer comes.
`default_nettype none
module ff_wishbone (
    input  wire        clk, rst,
    // Wishbone
    input  wire        wb_cyc, wb_stb, wb_we,
    input  wire [31:2] wb_adr,
    input  wire [31:0] wb_dat_w,
    input  wire [3:0]  wb_sel,
    output reg         wb_ack, wb_err,
    output reg  [31:0] wb_dat_r,
    // register port
    output reg         m_req, m_we,
    output reg  [31:0] m_addr, m_wdata,
    input  wire        m_ack, m_err,
    input  wire [31:0] m_rdata
);
    wire asked = wb_cyc && wb_stb && !wb_ack && !wb_err;
    wire whole = !wb_we || &wb_sel;
    reg  given_up_q;
    always @(posedge clk) begin
        wb_ack <= 1'b0;
        wb_err <= 1'b0;
        if (!m_req && asked) begin
            m_req <= whole;
            wb_err <= !whole;
            m_we <= wb_we;
            m_addr <= {wb_adr, 2'b00};
            m_wdata <= wb_dat_w;
            given_up_q <= 1'b0;
        end
        if (m_req) begin
            if (!wb_cyc || !wb_stb) given_up_q <= 1'b1;
            if (m_ack) begin
                m_req <= 1'b0;
                wb_ack <= asked && !given_up_q && !m_err;
                wb_err <= asked && !given_up_q && m_err;
                wb_dat_r <= m_rdata;
            end
        end
        if (rst) begin
            m_req <= 1'b0;
            wb_ack <= 1'b0;
            wb_err <= 1'b0;
        end
    end
endmodule
`default_nettype wire
