// SPDX-License-Identifier: Apache-2.0
// ff_uart_tx: bytes onto a serial line, 8 data bits, no parity, one stop bit.
//
// Latency: one cycle to the start bit. Throughput: a byte in ten bits. Back-pressure: s_ready. Clock domain: clk.
`default_nettype none
module ff_uart_tx #(
    parameter CYCLES = 868 // cycles of clk in a bit, 8..65535
) (
    input  wire       clk, rst,
    input  wire       s_valid,
    input  wire [7:0] s_data,
    output wire       s_ready,
    output wire       tx
);
    generate if (CYCLES < 8 || CYCLES > 65535) begin : g_check_CYCLES
        ff_error_CYCLES_must_be_8_to_65535 stop (); // none such
    end endgenerate
    localparam BIT_CYCLES = CYCLES - 1;
    localparam [15:0] BIT = BIT_CYCLES[15:0];

    reg  [15:0] wait_q;
    reg  [3:0]  left_q;     // bits still to send, the present one included
    reg  [8:0]  bits_q;     // the present one at the bottom
    assign s_ready = left_q == 4'd0 && !rst;
    assign tx = left_q == 4'd0 || bits_q[0];
    always @(posedge clk) begin
        wait_q <= wait_q - 16'd1;
        if (s_ready && s_valid) begin
            left_q <= 4'd10;
            bits_q <= {s_data, 1'b0};
            wait_q <= BIT;
        end else if (left_q != 4'd0 && wait_q == 16'd0) begin
            wait_q <= BIT;
            left_q <= left_q - 4'd1;
            bits_q <= {1'b1, bits_q[8:1]};
        end
        if (rst) left_q <= 4'd0;
    end
endmodule
`default_nettype wire
