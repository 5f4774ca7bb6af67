// SPDX-License-Identifier: Apache-2.0
// ff_time: the cycle counter of one clock domain (ff_time_line), and the two pairs that tie it to the time master's.
//
// A domain latches {number, own cycle} of the first toggle it sees after arm, and of the last before its memories had closed
// (docs/formats.md section 6). Latency: a toggle is latched 2 to 3 cycles of clk after it, in the master's own domain
// in its very cycle. Throughput: every toggle. Back-pressure: none. Clock domain: clk; line_in may be of any clock.
`default_nettype none
module ff_time #(
    parameter MASTER = 0,    // 1: this is the master's bus domain, line_in is its own line_out
    parameter PERIOD = 4096, // cycles between two toggles, a power of two, 64..16777216
    parameter TIME_W = 64    // bits of the counter, 40..64: the time it takes to wrap is the longest recording
) (
    input  wire        clk, rst,         // the recorder's own reset, synchronous
    input  wire        arm,
    input  wire        closed,           // the domain's memories have closed
    input  wire [32:0] line_in,          // {number, toggle}
    output wire [32:0] line_out,         // what this domain gives as master, from flip-flops
    output wire [63:0] now,              // number of this cycle, 0 behind rst
    output reg         stat_first_valid, stat_last_valid,
    output wire [31:0] stat_first_number, stat_last_number,
    output wire [63:0] stat_first_cycle, stat_last_cycle
);
    localparam PERIOD_W = $clog2(PERIOD);
    wire seen;
    wire [31:0] number;
    ff_time_line #(.MASTER(MASTER), .PERIOD(PERIOD), .TIME_W(TIME_W)) i_line (
        .clk(clk), .rst(rst), .line_in(line_in), .line_out(line_out), .now(now), .seen(seen), .number(number)
    );
    reg  running_q;
    wire take = seen && running_q && !closed;
    always @(posedge clk) begin
        if (take) stat_first_valid <= 1'b1;
        if (take) stat_last_valid <= 1'b1;
        if (arm || rst) begin
            running_q <= !rst;
            stat_first_valid <= 1'b0;
            stat_last_valid <= 1'b0;
        end
    end

    generate if (MASTER == 1) begin : g_master
        // The cycle of toggle n is n * PERIOD: the number alone says it.
        localparam N = TIME_W - PERIOD_W;
        reg [N-1:0] first_q, last_q;
        always @(posedge clk) begin
            if (take && !stat_first_valid) first_q <= now[TIME_W-1:PERIOD_W];
            if (take) last_q <= now[TIME_W-1:PERIOD_W];
            if (arm || rst) begin // cleared here: a flop's reset is free, a gate at 56 outputs is not
                first_q <= {N{1'b0}};
                last_q <= {N{1'b0}};
            end
        end
        wire [63:0] first = {{64-N{1'b0}}, first_q}, last = {{64-N{1'b0}}, last_q};
        assign stat_first_number = first[31:0];
        assign stat_last_number = last[31:0];
        assign stat_first_cycle = first << PERIOD_W;
        assign stat_last_cycle = last << PERIOD_W;
        wire unused = &{1'b0, number, first[63:32], last[63:32]};
    end else begin : g_follower
        reg [31:0] first_number_q, last_number_q;
        reg [TIME_W-1:0] first_cycle_q, last_cycle_q;
        always @(posedge clk) begin
            if (take && !stat_first_valid) begin
                first_number_q <= number;
                first_cycle_q <= now[TIME_W-1:0];
            end
            if (take) begin
                last_number_q <= number;
                last_cycle_q <= now[TIME_W-1:0];
            end
            if (arm || rst) begin
                first_number_q <= 32'd0;
                first_cycle_q <= {TIME_W{1'b0}};
                last_number_q <= 32'd0;
                last_cycle_q <= {TIME_W{1'b0}};
            end
        end
        assign stat_first_number = first_number_q;
        assign stat_last_number = last_number_q;
        assign stat_first_cycle = {{64-TIME_W{1'b0}}, first_cycle_q};
        assign stat_last_cycle = {{64-TIME_W{1'b0}}, last_cycle_q};
    end endgenerate
endmodule
`default_nettype wire
