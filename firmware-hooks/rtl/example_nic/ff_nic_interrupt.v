// SPDX-License-Identifier: Apache-2.0
// ff_nic_interrupt: completions that wait for the host, the interrupt line and its mask.
//
// The line rises with the first completion while it is neither masked nor high; the handler masks it, takes every
// completion, enables it again, and it rises anew where one waits. Latency: one cycle. Throughput: one completion a
// cycle. Back-pressure: none. Clock domain: clk (bus).
`default_nettype none
module ff_nic_interrupt (
    input  wire        clk, rst,
    input  wire        complete,                    // one completion was written
    input  wire        host_mask, host_enable, host_take, // the handler; one cycle each
    output reg         irq,
    output reg         stat_masked,
    output reg  [15:0] stat_waiting,                // completions
    output reg         ev_raised, ev_masked, ev_enabled,
    output reg  [39:0] ev_value, ev_host_value      // of raised; of masked and enabled
);
    reg  enabled_q;
    // A take in the completion's own cycle is of that one.
    wire taken = host_take && (complete || stat_waiting != 16'd0);
    wire [15:0] waiting = stat_waiting + {15'd0, complete} - {15'd0, taken};
    wire masked = (stat_masked || host_mask) && !host_enable;
    wire raised = irq && !host_mask;
    // Where the handler enables and a completion waits, the line rises one cycle later, as its event does.
    wire rise = (complete || enabled_q) && !masked && !raised && waiting != 16'd0;
    always @(posedge clk) begin
        stat_waiting <= waiting;
        stat_masked <= masked;
        irq <= raised || rise;
        enabled_q <= host_enable;
        ev_raised <= rise;
        ev_masked <= host_mask;
        ev_enabled <= host_enable;
        ev_value <= {24'd0, waiting};
        ev_host_value <= {24'd0, waiting};
        if (rst) begin
            stat_waiting <= 16'd0;
            stat_masked <= 1'b0;
            irq <= 1'b0;
            enabled_q <= 1'b0;
            ev_raised <= 1'b0;
            ev_masked <= 1'b0;
            ev_enabled <= 1'b0;
        end
    end
endmodule
`default_nettype wire
