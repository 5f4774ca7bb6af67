// SPDX-License-Identifier: Apache-2.0
// ff_nic_crc16: CRC-16/IBM-3740 over header bytes 0-5 and the eight address bytes, or over the six bytes alone.
//
// Latency: none, a function of its inputs; 0 while en is low. Throughput and back-pressure: none of its own.
// Clock domain: that of its inputs. Source: docs/formats.md section 3.
`default_nettype none
module ff_nic_crc16 #(
    parameter BYTES = 14 // 14: header and address, 6: a credit word
) (
    input  wire        en,      // saves the work where nobody looks
    input  wire [47:0] header,  // bytes 0-5, byte 0 least significant
    input  wire [63:0] address, // bytes 6-13; not used with 6 bytes
    output reg  [15:0] crc
);
    generate if (BYTES != 14 && BYTES != 6) begin : g_check_BYTES
        ff_error_BYTES_must_be_14_or_6 stop (); // none such
    end endgenerate

    wire [111:0] octets = {address, header};
    integer i, b;
    always @* begin
        crc = 16'h0000;
        if (en) begin
            crc = 16'hFFFF;
            for (i = 0; i < BYTES; i = i + 1) begin
                crc = crc ^ {octets[i*8 +: 8], 8'h00};
                for (b = 0; b < 8; b = b + 1)
                    crc = {crc[14:0], 1'b0} ^ (crc[15] ? 16'h1021 : 16'h0000);
            end
        end
    end
    generate if (BYTES == 6) begin : g_unused
        wire unused = &{1'b0, address, octets[111:48]};
    end endgenerate
endmodule
`default_nettype wire
