// SPDX-License-Identifier: Apache-2.0
// ff_histogram: 16 counters of 32 bits, one of which a strobe adds one to; what they were at freeze stays readable.
//
// The bins run on for ever; at freeze they are copied, and while `frozen` the copy is read. Latency: one cycle from strobe
// to bin. Throughput: one strobe a cycle; of those in the 16 cycles after rst, in which the bins are cleared, only the
// newest counts. Back-pressure: none; an access waits until the copy stands. Clock domain: clk.
`default_nettype none
module ff_histogram (
    input  wire         clk, rst,
    input  wire         s_valid,
    input  wire [3:0]   s_bin,
    input  wire         frozen,
    // window
    input  wire         sel,
    input  wire [3:0]   win_word,
    output reg          win_ack,
    output reg  [31:0]  win_rdata
);
    // One read-modify-write a cycle: a strobe, or else the sweep that clears after reset and copies at freeze.
    reg  [31:0] live [0:15];
    reg  [31:0] kept [0:15];
    reg  [3:0]  at_q;
    reg         clearing_q, copying_q, frozen_q;
    reg         wait_q;                    // a strobe that came while the bins were being cleared
    reg  [3:0]  wait_bin_q;
    wire strobe = s_valid || wait_q;
    wire [3:0]  bin = wait_q ? wait_bin_q : s_bin;
    wire add = strobe && !clearing_q;
    wire sweep = (clearing_q || copying_q) && !add;
    wire [3:0]  place = add ? bin : at_q;
    wire [31:0] old = live[place];
    wire [31:0] new_value = clearing_q ? 32'd0 : old + {31'd0, add};
    always @(posedge clk) begin
        if (add || clearing_q) live[place] <= new_value;
        if (sweep) kept[at_q] <= new_value;
        frozen_q <= frozen;
        wait_q <= (s_valid && wait_q) || (strobe && clearing_q);
        if (s_valid) wait_bin_q <= s_bin;
        if (frozen && !frozen_q) copying_q <= 1'b1;
        if (sweep) begin
            at_q <= at_q + 4'd1;
            if (at_q == 4'd15) begin
                clearing_q <= 1'b0;
                if (!clearing_q) copying_q <= 1'b0;
            end
        end
        if (rst) begin
            frozen_q <= 1'b0;
            wait_q <= 1'b0;
            at_q <= 4'd0;
            clearing_q <= 1'b1;
            copying_q <= 1'b0;
        end
    end

    wire waits = clearing_q || (frozen && (copying_q || !frozen_q));
    always @(posedge clk) begin
        win_ack <= sel && !win_ack && !waits && !rst;
        win_rdata <= !sel || waits ? 32'd0 : frozen ? kept[win_word] : live[win_word];
    end
endmodule
`default_nettype wire
