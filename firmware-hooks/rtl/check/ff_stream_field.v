// SPDX-License-Identifier: Apache-2.0
// ff_stream_field: a field of each packet's header, and the packet's length, for the checks that compare them.
//
// The field is WIDTH bits from bit AT of the packet on, bits counted from the highest of the first byte, as protocol drawings do;
// LITTLE turns the order of its bytes (it is then whole bytes). tkeep is a run from byte 0. Latency: ended stands two cycles after
// the last beat, with what belongs to that packet. Throughput: a beat a cycle. Back-pressure: none, it only listens. Clock domain: clk.
`default_nettype none
module ff_stream_field #(
    parameter BITS = 64,  // of a beat, a multiple of 8, 8..1024
    parameter KEEP = 1,   // 0: every byte is on; 1: tkeep says
    parameter AT = 0,     // first bit of the field, 0..65535
    parameter WIDTH = 16, // its bits, 1..64
    parameter LITTLE = 0  // 1: least significant byte first
) (
    input  wire              clk, rst,
    input  wire              tvalid, tready, tlast,
    input  wire [BITS-1:0]   tdata,
    input  wire [BITS/8-1:0] tkeep,
    output reg               fresh,  // a beat's values stand: length so far, and the field once whole is up
    output reg               ended,  // with the last one's, one cycle for each packet
    output wire [WIDTH-1:0]  field,
    output reg               whole,  // the packet was long enough to hold it
    output reg  [16:0]       length  // bytes; 131071: that or more
);
    generate
        if (BITS < 8 || BITS > 1024 || BITS % 8 != 0) begin : g_check_BITS
            ff_error_BITS_must_be_a_multiple_of_8_from_8_to_1024 stop (); // none such
        end
        if (WIDTH < 1 || WIDTH > 64 || AT < 0 || AT > 65535 || (LITTLE != 0 && (AT % 8 != 0 || WIDTH % 8 != 0))) begin : g_check_WIDTH
            ff_error_WIDTH_must_be_1_to_64_AT_0_to_65535_and_LITTLE_needs_whole_bytes stop (); // none such
        end
    endgenerate
    localparam BYTES = BITS / 8, FIRST = AT / 8, LAST = (AT + WIDTH - 1) / 8, SPAN = LAST - FIRST + 1;
    localparam COUNT_W = $clog2(BYTES + 1);

    reg              beat_q, last_q;
    reg  [BITS-1:0]  data_q;
    reg  [BYTES-1:0] on_q;
    reg  [16:0]      number_q, so_far_q; // of the beat; bytes before it
    reg  [8*SPAN-1:0] held_q;            // the bytes that hold the field, first one highest
    reg  [8*SPAN-1:0] held;
    reg  [COUNT_W-1:0] count;
    wire [17:0] sum = {1'b0, so_far_q} + {{18-COUNT_W{1'b0}}, count};
    wire [16:0] total = sum[17] ? 17'h1FFFF : sum[16:0];
    integer n;
    always @* begin
        count = {COUNT_W{1'b0}};
        for (n = 0; n < BYTES; n = n + 1) count = count + {{COUNT_W-1{1'b0}}, on_q[n]};
        held = held_q;
        for (n = 0; n < SPAN; n = n + 1) if ({15'd0, number_q} == (FIRST + n) / BYTES)
            held[8*(SPAN-1-n) +: 8] = data_q[8*((FIRST + n) % BYTES) +: 8];
    end
    always @(posedge clk) begin
        beat_q <= tvalid && tready && !rst;
        last_q <= tlast;
        data_q <= tdata;
        on_q <= KEEP != 0 ? tkeep : {BYTES{1'b1}};
        fresh <= beat_q && !rst;
        ended <= beat_q && last_q && !rst;
        if (beat_q) begin
            held_q <= held;
            length <= total;
            whole <= {15'd0, total} > LAST;
            number_q <= last_q ? 17'd0 : number_q + {16'd0, number_q != 17'h1FFFF};
            so_far_q <= last_q ? 17'd0 : total;
        end
        if (rst) {number_q, so_far_q} <= 34'd0;
    end
    genvar k;
    generate if (LITTLE != 0) begin : g_little
        for (k = 0; k < SPAN; k = k + 1) begin : g_byte
            assign field[8*k +: 8] = held_q[8*(SPAN-1-k) +: 8];
        end
    end else begin : g_big
        assign field = held_q[8*SPAN-1 - AT%8 -: WIDTH];
        wire unused_bits = &{1'b0, held_q};
    end endgenerate
    wire unused = &{1'b0, tkeep};
endmodule
`default_nettype wire
