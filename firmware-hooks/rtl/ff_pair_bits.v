// SPDX-License-Identifier: Apache-2.0
// ff_pair_bits: the first and the last toggle of the time line since arm, read bit by bit.
//
// Both toggles stand in RAMs of 64 words of one bit, written and read at the same place: bit now[5:0] of the cycle of the
// toggle, 0 to 63, in every 64 cycles, a frame. Of the number, bit i stands in the place of i + log2(PERIOD): in the master the
// number is the cycle without its low bits, and no more than that is kept. A toggle stands in the RAM from the second frame on
// that begins behind it (the master's toggles are where a frame begins); a reader that begins and ends with a frame reads
// words of one toggle, and pair_valid is that of the frame. In a device that is not the master toggles must be more than a
// frame apart, and it takes 144 flip-flops for them.
//
// Latency: none from now to the bit. Throughput: a bit a cycle. Back-pressure: none. Clock domain: clk. rst is the
// recorder's own reset, synchronous.
`default_nettype none
module ff_pair_bits #(
    parameter MASTER = 1,    // 1: this device makes the time line
    parameter PERIOD = 4096, // cycles between two toggles, a power of two, 64..16777216
    parameter TIME_W = 64    // bits of now, 40..64
) (
    input  wire              clk, rst,
    input  wire              begins,     // now[5:0] is 0
    input  wire              arm,        // forget both
    input  wire              armed,      // there was an arm since rst; up from the cycle behind it on
    input  wire              closed,     // toggles do not count any more
    // time: ff_time_line
    input  wire [TIME_W-1:0] now,
    input  wire              time_seen,
    input  wire [31:0]       time_number,
    // read
    input  wire              of_number,  // the number, not the cycle
    output wire              pair_valid, // both stand
    output wire              first_bit, last_bit
);
    localparam PERIOD_W = $clog2(PERIOD);
    generate
        if (MASTER != 0 && MASTER != 1) begin : g_check_MASTER
            ff_error_MASTER_must_be_0_or_1 stop (); // none such
        end
        if (PERIOD < 64 || PERIOD > 16777216 || (PERIOD & (PERIOD - 1)) != 0) begin : g_check_PERIOD
            ff_error_PERIOD_must_be_a_power_of_two_from_64_to_16777216 stop (); // none such
        end
        if (TIME_W < 40 || TIME_W > 64) begin : g_check_TIME_W
            ff_error_TIME_W_must_be_40_to_64 stop (); // none such
        end
    endgenerate

    wire [5:0] place;            // read and written at one place: a net that synthesis does not take apart
    ff_node #(.W(6)) i_place (.d(now[5:0]), .q(place));
    reg  seen_q;                 // a toggle counted since arm
    always @(posedge clk) begin
        if (time_seen && armed && !closed) seen_q <= 1'b1;
        if (arm || rst) seen_q <= 1'b0;
    end

    // What is written in this frame. The first is written until it stands, so that there is nothing to begin.
    reg  write_first_q, write_last_q;
    wire time_bit;
    reg  first_ram [0:63];
    reg  last_ram [0:63];
    integer i;
    initial for (i = 0; i < 64; i = i + 1) {first_ram[i], last_ram[i]} = 2'b00;
    always @(posedge clk) begin
        if (write_first_q) first_ram[place] <= time_bit;
        if (write_last_q) last_ram[place] <= time_bit;
    end

    generate
        if (MASTER != 0) begin : g_master
            // A toggle is in a frame's first cycle; the cycle's low bits are 0 there, and those above stand still in the frame.
            always @(posedge clk) if (begins) {write_first_q, write_last_q} <= {!seen_q, !closed};
            ff_bit #(.W(TIME_W), .INDEX_W(6), .FIRST(PERIOD_W)) i_time (.index(place), .d(now), .q(time_bit));
            assign pair_valid = seen_q && !write_first_q;
            assign {first_bit, last_bit} = {first_ram[place], last_ram[place]};
            wire unused = &{1'b0, of_number, time_number};
        end else begin : g_follower
            reg  [TIME_W-1:0] at_q, kept_q;
            reg  [31:0] number_q, kept_number_q;
            reg  kept_seen_q;
            wire number_bit;
            reg  first_number_ram [0:63];
            reg  last_number_ram [0:63];
            initial for (i = 0; i < 64; i = i + 1) {first_number_ram[i], last_number_ram[i]} = 2'b00;
            always @(posedge clk) begin
                if (time_seen && armed && !closed) {at_q, number_q} <= {now, time_number};
                if (&place) begin // in the next cycle a frame begins
                    {kept_q, kept_number_q, kept_seen_q} <= {at_q, number_q, seen_q};
                    {write_first_q, write_last_q} <= {!kept_seen_q, 1'b1};
                end
                if (arm || rst) kept_seen_q <= 1'b0;
                if (rst) {at_q, number_q, kept_q, kept_number_q} <= {2*TIME_W+64{1'b0}};
                if (write_first_q) first_number_ram[place] <= number_bit;
                if (write_last_q) last_number_ram[place] <= number_bit;
            end
            wire [63:0] placed_number = {32'd0, kept_number_q} << PERIOD_W;
            ff_bit #(.W(TIME_W), .INDEX_W(6)) i_time (.index(place), .d(kept_q), .q(time_bit));
            ff_bit #(.W(64), .INDEX_W(6)) i_number (.index(place), .d(placed_number), .q(number_bit));
            assign pair_valid = seen_q && kept_seen_q && !write_first_q;
            assign first_bit = of_number ? first_number_ram[place] : first_ram[place];
            assign last_bit = of_number ? last_number_ram[place] : last_ram[place];
            wire unused = &{1'b0, begins};
        end
    endgenerate
endmodule
`default_nettype wire
