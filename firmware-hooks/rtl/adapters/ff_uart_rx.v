// SPDX-License-Identifier: Apache-2.0
// ff_uart_rx: bytes from a serial line, 8 data bits, no parity, one stop bit.
//
// Latency: a byte is out in the middle of its stop bit. Throughput: the line's. Back-pressure: none. A byte whose
// stop bit is low is not given out, and the next start is waited for on a line that is high again. Clock domain: clk; the
// line is synchronized here.
`default_nettype none
module ff_uart_rx #(
    parameter CYCLES = 868 // cycles of clk in a bit, 8..65535
) (
    input  wire       clk, rst,
    input  wire       rx,
    output reg        m_valid, // one cycle
    output reg  [7:0] m_data
);
    generate if (CYCLES < 8 || CYCLES > 65535) begin : g_check_CYCLES
        ff_error_CYCLES_must_be_8_to_65535 stop (); // none such
    end endgenerate
    localparam BIT_CYCLES = CYCLES - 1, HALF_CYCLES = CYCLES / 2;
    localparam [15:0] BIT = BIT_CYCLES[15:0], HALF = HALF_CYCLES[15:0];

    wire line;
    ff_cdc_sync i_line (.clk(clk), .d(rx), .q(line));
    reg  [15:0] wait_q;
    reg  [3:0]  bit_q;      // 0 start bit, 1-8 data, 9 stop, 15 waiting for a line at rest, 14 for a start
    localparam [3:0] RESTING = 4'd15, READY = 4'd14;
    always @(posedge clk) begin
        m_valid <= 1'b0;
        wait_q <= wait_q - 16'd1;
        if (bit_q == RESTING) begin
            if (line) bit_q <= READY;
        end else if (bit_q == READY) begin
            wait_q <= HALF;
            if (!line) bit_q <= 4'd0;
        end else if (wait_q == 16'd0) begin
            wait_q <= BIT;
            bit_q <= bit_q + 4'd1;
            if (bit_q == 4'd0 && line) bit_q <= READY; // a glitch is no start bit
            if (bit_q != 4'd0 && bit_q != 4'd9) m_data <= {line, m_data[7:1]};
            if (bit_q == 4'd9) begin
                m_valid <= line;
                bit_q <= line ? READY : RESTING;
            end
        end
        if (rst) begin
            m_valid <= 1'b0;
            bit_q <= RESTING;
        end
    end
endmodule
`default_nettype wire
