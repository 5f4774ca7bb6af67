// SPDX-License-Identifier: Apache-2.0
// ff_crc32_step: the CRC-32 of Ethernet (IEEE 802.3 3.2.9) one beat on: the register after BITS more bits, lowest bit of byte 0 first.
//
// Written as a constant matrix: each bit of the result is the parity of the bits that its row selects, which synthesis shares and
// balances; the usual loop over bits costs twice the LUTs and ten times the levels. The register is the reflected one, before the
// final inversion. Latency, throughput, back-pressure, clock domain: none, it is combinational.
`default_nettype none
module ff_crc32_step #(
    parameter BITS = 64 // bits of a beat, a multiple of 8, 8..1024
) (
    input  wire [31:0]     crc,
    input  wire [BITS-1:0] data,
    output wire [31:0]     next
);
    generate if (BITS < 8 || BITS > 1024 || BITS % 8 != 0) begin : g_check_BITS
        ff_error_BITS_must_be_a_multiple_of_8_from_8_to_1024 stop (); // none such
    end endgenerate
    localparam [31:0] POLY = 32'hEDB88320;
    localparam OVER = BITS < 32 ? 32 - BITS : 0; // bits of the register that a narrow beat does not reach

    // What bit i of a beat leaves in the register when the beat has passed: 32 bits each, bit 0 lowest.
    function [32*BITS-1:0] effects(input begin_0);
        integer i;
        reg [31:0] one;
        begin
            one = {31'd0, 1'b1 | begin_0};
            for (i = BITS - 1; i >= 0; i = i - 1) begin
                one = {1'b0, one[31:1]} ^ (one[0] ? POLY : 32'd0);
                effects[32*i +: 32] = one;
            end
        end
    endfunction
    localparam [32*BITS-1:0] EFFECT = effects(1'b0);

    wire [BITS-1:0] fed;
    generate if (BITS > 32) begin : g_wide
        assign fed = data ^ {{BITS-32{1'b0}}, crc};
    end else begin : g_narrow
        assign fed = data ^ crc[BITS-1:0];
    end endgenerate
    wire [31:0] kept;
    generate if (OVER != 0) begin : g_over
        assign kept = {{32-OVER{1'b0}}, crc[31 -: OVER]};
    end else begin : g_all
        assign kept = 32'd0;
    end endgenerate
    genvar b, i;
    generate for (b = 0; b < 32; b = b + 1) begin : g_bit
        wire [BITS-1:0] row;
        for (i = 0; i < BITS; i = i + 1) begin : g_row
            assign row[i] = EFFECT[32*i + b];
        end
        assign next[b] = kept[b] ^ ^(fed & row);
    end endgenerate
endmodule
`default_nettype wire
