// SPDX-License-Identifier: Apache-2.0
// ff_uartbone: the register port from a serial line, for a board with nothing else (docs/formats.md section 9).
//
// A command is one byte (1 write, 2 read, 3 write and 4 read without counting the address up), one byte count (1..255
// words), four bytes word address, and the words written; all big-endian. A read answers with its words, an error answer
// among them as all ones. Anything else where a command should stand is skipped; a command that is not continued within
// TIMEOUT cycles is given up. Latency and throughput: the line's. Back-pressure: none. Clock domain: clk; rst is the bus reset.
`default_nettype none
module ff_uartbone #(
    parameter CYCLES = 868,        // cycles of clk in a bit, 8..65535
    parameter TIMEOUT = 10000000   // cycles between two bytes of a command, 256..2147483647
) (
    input  wire        clk, rst,
    input  wire        rx,
    output wire        tx,
    // register port
    output reg         m_req,
    output wire        m_we,
    output wire [31:0] m_addr, m_wdata,
    input  wire        m_ack, m_err,
    input  wire [31:0] m_rdata
);
    generate
        if (CYCLES < 8 || CYCLES > 65535) begin : g_check_CYCLES
            ff_error_CYCLES_must_be_8_to_65535 stop (); // none such
        end
        if (TIMEOUT < 256) begin : g_check_TIMEOUT
            ff_error_TIMEOUT_must_be_256_to_2147483647 stop (); // none such
        end
    endgenerate
    localparam [2:0] COMMAND = 3'd0, COUNT = 3'd1, ADDRESS = 3'd2, GATHER = 3'd3, ACCESS = 3'd4, ANSWER = 3'd5;

    wire       in_valid;
    wire [7:0] in_data;
    wire       out_ready;
    reg  [2:0] state_q;
    reg  [1:0] octet_q;            // of the address or word
    reg        write_q, fixed_q;
    reg  [7:0] count_q;            // words left
    reg  [29:0] address_q;
    reg  [31:0] word_q;
    reg  [31:0] wait_q;
    ff_uart_rx #(.CYCLES(CYCLES)) i_rx (
        .clk(clk), .rst(rst), .rx(rx), .m_valid(in_valid), .m_data(in_data)
    );
    ff_uart_tx #(.CYCLES(CYCLES)) i_tx (
        .clk(clk), .rst(rst), .s_valid(state_q == ANSWER), .s_data(word_q[31:24]), .s_ready(out_ready), .tx(tx)
    );

    assign m_we = write_q;
    assign m_addr = {address_q, 2'b00};
    assign m_wdata = word_q;
    wire listens = state_q == COUNT || state_q == ADDRESS || state_q == GATHER;
    wire last = count_q == 8'd1;
    always @(posedge clk) begin
        wait_q <= in_valid || !listens ? 32'd0 : wait_q + 32'd1;
        case (state_q)
            COMMAND: if (in_valid && in_data >= 8'd1 && in_data <= 8'd4) begin
                write_q <= in_data[0];
                fixed_q <= in_data >= 8'd3;
                state_q <= COUNT;
            end
            COUNT: if (in_valid) begin
                count_q <= in_data;
                octet_q <= 2'd0;
                state_q <= in_data == 8'd0 ? COMMAND : ADDRESS;
            end
            ADDRESS: if (in_valid) begin
                address_q <= {address_q[21:0], in_data};
                octet_q <= octet_q + 2'd1;
                if (octet_q == 2'd3) begin
                    state_q <= write_q ? GATHER : ACCESS;
                    m_req <= !write_q;
                end
            end
            GATHER: if (in_valid) begin
                word_q <= {word_q[23:0], in_data};
                octet_q <= octet_q + 2'd1;
                if (octet_q == 2'd3) begin
                    state_q <= ACCESS;
                    m_req <= 1'b1;
                end
            end
            ACCESS: if (m_ack) begin
                m_req <= 1'b0;
                if (!write_q) word_q <= m_rdata | {32{m_err}}; // the line has no other error answer
                if (write_q) begin
                    count_q <= count_q - 8'd1;
                    if (!fixed_q) address_q <= address_q + 30'd1;
                    state_q <= last ? COMMAND : GATHER;
                end else state_q <= ANSWER;
            end
            ANSWER: if (out_ready) begin
                word_q <= {word_q[23:0], 8'd0};
                octet_q <= octet_q + 2'd1;
                if (octet_q == 2'd3) begin
                    count_q <= count_q - 8'd1;
                    if (!fixed_q) address_q <= address_q + 30'd1;
                    state_q <= last ? COMMAND : ACCESS;
                    m_req <= !last;
                end
            end
            default: state_q <= COMMAND;
        endcase
        if (listens && wait_q == TIMEOUT) state_q <= COMMAND;
        if (rst) begin
            state_q <= COMMAND;
            m_req <= 1'b0;
            wait_q <= 32'd0;
        end
    end
endmodule
`default_nettype wire
