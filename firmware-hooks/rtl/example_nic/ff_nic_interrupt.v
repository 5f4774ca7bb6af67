// SPDX-License-Identifier: Apache-2.0
// ff_nic_interrupt: completions that wait for the host, the interrupt line and its mask.
//
// The line rises with the first completion while it is neither masked nor high; the handler masks it, takes every
// completion, enables it again, and it rises anew where one waits. Latency: one cycle. Throughput: one completion a
// cycle. Back-pressure: none. Clock domain: clk (bus).
//
// Faults, from when they are armed until the next reset. fault_unmasked: the handler's mask lowers the line and is not
// kept, so that the next completion raises it while the handler runs. fault_edge: the line rises with a completion
// only, so that one that came between the handler's last look and its enabling waits for the next; once.
`default_nettype none
module ff_nic_interrupt (
    input  wire        clk, rst,
    input  wire        complete,                    // one completion was written
    input  wire        host_mask, host_enable, host_take, // the handler; one cycle each
    output reg         irq,
    output reg         stat_masked,
    output reg  [15:0] stat_waiting,                // completions
    output reg         ev_raised, ev_masked, ev_enabled,
    output reg  [39:0] ev_value, ev_host_value,     // of raised; of masked and enabled
    input  wire [15:0] complete_seq,                // of the completion
    input  wire [6:0]  complete_flow,
    input  wire        fault_unmasked, fault_edge,
    output reg         fault_struck,                // fault_unmasked: for a cycle, each time
    output reg  [15:0] fault_seq,                   // of fault_edge: the completion that waits
    output reg  [6:0]  fault_struck_flow
);
    reg  enabled_q;
    // A take in the completion's own cycle is of that one.
    wire taken = host_take && (complete || stat_waiting != 16'd0);
    wire [15:0] waiting = stat_waiting + {15'd0, complete} - {15'd0, taken};
    wire mask = host_mask && !fault_unmasked;
    wire masked = (stat_masked || mask) && !host_enable;
    wire raised = irq && !host_mask;
    // Where the handler enables and a completion waits, the line rises one cycle later, as its event does.
    wire may_rise = !masked && !raised && waiting != 16'd0;
    wire loses = enabled_q && !complete && may_rise && fault_edge && !fault_struck;
    wire rise = (complete || (enabled_q && !loses)) && may_rise;
    // The oldest that the handler does not know of when it enables is the first since nothing waited.
    reg  [15:0] oldest_seq_q;
    reg  [6:0]  oldest_flow_q;
    reg         running_q; // the handler
    wire stormed = fault_unmasked && running_q && rise && waiting > 16'd1;
    always @(posedge clk) begin
        stat_waiting <= waiting;
        stat_masked <= masked;
        irq <= raised || rise;
        enabled_q <= host_enable;
        ev_raised <= rise;
        ev_masked <= mask;
        ev_enabled <= host_enable;
        ev_value <= {24'd0, waiting};
        ev_host_value <= {24'd0, waiting};
        if (complete && stat_waiting == 16'd0) begin
            oldest_seq_q <= complete_seq;
            oldest_flow_q <= complete_flow;
        end
        running_q <= (running_q || host_mask) && !host_enable;
        if (loses || stormed) begin
            fault_struck <= 1'b1;
            fault_seq <= oldest_seq_q;
            fault_struck_flow <= oldest_flow_q;
        end else if (fault_unmasked) fault_struck <= 1'b0;
        if (rst) begin
            stat_waiting <= 16'd0;
            stat_masked <= 1'b0;
            irq <= 1'b0;
            enabled_q <= 1'b0;
            ev_raised <= 1'b0;
            ev_masked <= 1'b0;
            ev_enabled <= 1'b0;
            running_q <= 1'b0;
            oldest_seq_q <= 16'd0;
            oldest_flow_q <= 7'd0;
            fault_struck <= 1'b0;
            fault_seq <= 16'd0;
            fault_struck_flow <= 7'd0;
        end
    end
endmodule
`default_nettype wire
