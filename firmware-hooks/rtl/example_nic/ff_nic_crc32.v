// SPDX-License-Identifier: Apache-2.0
// ff_nic_crc32: CRC-32/ISO-HDLC of payload words, least significant byte first.
//
// Latency: one cycle from a word to crc. Throughput: one word a cycle. Back-pressure: none. Clock domain: clk.
// s_first begins a payload (with s_valid: this word is its first; without: the payload is empty so far).
// Source: docs/formats.md section 3.
`default_nettype none
module ff_nic_crc32 (
    input  wire        clk,
    input  wire        s_first, s_valid,
    input  wire [63:0] s_data,
    output wire [31:0] crc      // over all words taken since s_first
);
    function [31:0] step;
        input [31:0] crc_in;
        input [63:0] word;
        integer at;
        reg [63:0] mixed;
        reg [31:0] c;
        begin
            mixed = word ^ {32'h0, crc_in};
            c = mixed[31:0];
            for (at = 0; at < 32; at = at + 1) c = {1'b0, c[31:1]} ^ (c[0] ? 32'hEDB88320 : 32'h0);
            c = c ^ mixed[63:32];
            for (at = 0; at < 32; at = at + 1) c = {1'b0, c[31:1]} ^ (c[0] ? 32'hEDB88320 : 32'h0);
            step = c;
        end
    endfunction

    reg [31:0] crc_q;
    always @(posedge clk) begin
        if (s_valid) crc_q <= step(s_first ? 32'hFFFFFFFF : crc_q, s_data);
        else if (s_first) crc_q <= 32'hFFFFFFFF;
    end
    assign crc = ~crc_q;
endmodule
`default_nettype wire
