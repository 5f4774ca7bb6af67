// SPDX-License-Identifier: Apache-2.0
// ff_check_fcs: a packet whose last four bytes are not its CRC-32 (IEEE 802.3 3.2.9), on a stream of any width.
//
// Bytes that are off enter the register as zeros, to the beat's full width: the register of a good packet is then the residue run on
// over as many zero bytes, one of BITS/8 constants that the number of bytes on in the last beat chooses. A preamble enters like any
// bytes, from the value that it turns into the usual beginning, so one of another form is a bad packet. Latency: bad stands three cycles
// after the last beat. Throughput: a beat a cycle. Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_check_fcs #(
    parameter BITS = 64,    // of a beat, a multiple of 8, 8..1024
    parameter KEEP = 1,     // 0: every byte of every beat is on; 1: tkeep says, in a run from byte 0
    parameter PREAMBLE = 0  // 1: seven bytes 55 and one d5 stand before the frame
) (
    input  wire              clk, rst,
    input  wire              tvalid, tready, tlast,
    input  wire [BITS-1:0]   tdata,
    input  wire [BITS/8-1:0] tkeep,
    output reg               bad,      // one cycle for each bad packet
    output reg               checked   // one cycle for each packet, bad with it
);
    generate
        if (KEEP != 0 && KEEP != 1) begin : g_check_KEEP
            ff_error_KEEP_must_be_0_or_1 stop (); // none such
        end
        if (PREAMBLE != 0 && PREAMBLE != 1) begin : g_check_PREAMBLE
            ff_error_PREAMBLE_must_be_0_or_1 stop (); // none such
        end
    endgenerate
    localparam BYTES = BITS / 8;
    localparam [31:0] POLY = 32'hEDB88320, RESIDUE = 32'hDEBB20E3;

    function [31:0] bit_on(input [31:0] crc);
        bit_on = {1'b0, crc[31:1]} ^ (crc[0] ? POLY : 32'd0);
    endfunction
    function [31:0] bit_back(input [31:0] crc);
        bit_back = crc[31] ? {crc[30:0] ^ POLY[30:0], 1'b1} : {crc[30:0], 1'b0};
    endfunction
    // The register that the preamble turns into all ones.
    function [31:0] before_preamble(input begin_0);
        integer n;
        reg [63:0] octets;
        begin
            octets = 64'hD555555555555555;
            before_preamble = {32{1'b1 | begin_0}};
            for (n = 63; n >= 0; n = n - 1) before_preamble = bit_back(before_preamble) ^ {31'd0, octets[n]};
        end
    endfunction
    localparam [31:0] BEGINS = PREAMBLE != 0 ? before_preamble(1'b0) : 32'hFFFFFFFF;
    // The residue after 0, 1, ... BYTES-1 zero bytes, 32 bits each.
    function [32*BYTES-1:0] run_on(input begin_0);
        integer n, step;
        reg [31:0] crc;
        begin
            crc = RESIDUE & {32{1'b1 | begin_0}};
            for (n = 0; n < BYTES; n = n + 1) begin
                run_on[32*n +: 32] = crc;
                for (step = 0; step < 8; step = step + 1) crc = bit_on(crc);
            end
        end
    endfunction
    localparam [32*BYTES-1:0] GOOD = run_on(1'b0);

    reg              beat_q, last_q, first_q, ended_q, empty_q;
    reg  [BITS-1:0]  data_q;
    reg  [BYTES-1:0] on_q;
    reg  [31:0]      crc_q, want_q, want;
    wire [31:0]      next;
    ff_crc32_step #(.BITS(BITS)) i_step (.crc(first_q ? BEGINS : crc_q), .data(data_q), .next(next));
    integer n;
    always @* begin
        want = GOOD[31:0];
        for (n = 1; n < BYTES; n = n + 1) if (on_q[n-1] && !on_q[n]) want = GOOD[32*(BYTES-n) +: 32];
    end
    wire [BYTES-1:0] on = KEEP != 0 ? tkeep : {BYTES{1'b1}};
    wire any = beat_q && on_q[0];
    always @(posedge clk) begin
        beat_q <= tvalid && tready && !rst;
        last_q <= tlast;
        on_q <= on;
        for (n = 0; n < BYTES; n = n + 1) data_q[8*n +: 8] <= tdata[8*n +: 8] & {8{on[n]}};
        if (any) {crc_q, want_q, first_q} <= {next, want, 1'b0};
        if (beat_q && last_q) first_q <= 1'b1;
        ended_q <= beat_q && last_q && !rst;
        empty_q <= first_q && !on_q[0]; // a packet without a byte
        checked <= ended_q && !rst;
        bad <= ended_q && (empty_q || crc_q != want_q) && !rst;
        if (rst) first_q <= 1'b1;
    end
    wire unused = &{1'b0, tkeep};
endmodule
`default_nettype wire
