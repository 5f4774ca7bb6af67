// SPDX-License-Identifier: Apache-2.0
// ff_nic_notes: writes notifications into host memory, one 64-bit word over the bus each.
//
// Local ones when a packet has left the outgoing FIFO, remote ones when one was received whole. The word is
// {8'd code, 17'd0, 7'd flow, 16'd0, 16'd seq}, code 1 local, 2 remote; the address walks through 256 words from
// cfg_base on. Latency: the bus's. Throughput: one a bus transaction. Back-pressure: r_ready; local ones wait in the
// order of sending. Clock domain: clk (bus).
`default_nettype none
module ff_nic_notes #(
    parameter PACKETS_LOG2 = 9 // log2 of the packets the outgoing FIFO may hold, 2..12
) (
    input  wire        clk, rst,
    input  wire [63:0] cfg_base,
    // packets put into the outgoing FIFO, and how many have left it
    input  wire        p_valid, p_notify,
    input  wire [15:0] p_seq,
    input  wire [6:0]  p_flow,
    input  wire [15:0] p_left,
    // remote notifications
    input  wire        r_valid,
    input  wire [15:0] r_seq,
    input  wire [6:0]  r_flow,
    output wire        r_ready,
    // host bus, write
    output wire        b_req,
    output wire [63:0] b_addr,
    output wire [9:0]  b_len,
    input  wire        b_ack, b_retry,
    output wire        b_wvalid, b_wend,
    output wire [63:0] b_wdata,
    // events
    output reg         ev_local, ev_remote,
    output reg  [6:0]  ev_flow,
    output reg  [39:0] ev_value
);
    localparam C = PACKETS_LOG2;
    generate if (PACKETS_LOG2 < 2 || PACKETS_LOG2 > 12) begin : g_check_PACKETS_LOG2
        ff_error_PACKETS_LOG2_must_be_2_to_12 stop (); // none such
    end endgenerate
    localparam [1:0] LOOK = 2'd0, ASK = 2'd1, WRITE = 2'd2, END = 2'd3;

    reg  [23:0] sent [0:(1<<C)-1]; // notify, seq, flow of each packet on its way
    reg  [C:0]  put_q, done_q;
    reg  [23:0] oldest_q;
    reg         looked_q;           // oldest_q is that of done_q
    reg  [22:0] remote [0:15];
    reg  [4:0]  remote_put_q, remote_done_q;
    reg  [1:0]  state_q;
    reg         remote_q;
    reg  [15:0] seq_q;
    reg  [6:0]  flow_q;
    reg  [7:0]  index_q;
    wire [4:0]  remote_waiting = remote_put_q - remote_done_q;
    wire        left = done_q != p_left[C:0];
    assign r_ready = !remote_waiting[4];

    always @(posedge clk) begin
        if (p_valid) begin
            sent[put_q[C-1:0]] <= {p_notify, p_seq, p_flow};
            put_q <= put_q + {{C{1'b0}}, 1'b1};
        end
        if (r_valid && r_ready) begin
            remote[remote_put_q[3:0]] <= {r_seq, r_flow};
            remote_put_q <= remote_put_q + 5'd1;
        end
        oldest_q <= sent[done_q[C-1:0]];
        looked_q <= left && !(state_q == LOOK && looked_q && remote_waiting == 5'd0);
        ev_local <= 1'b0;
        ev_remote <= 1'b0;
        case (state_q)
            LOOK: if (remote_waiting != 5'd0) begin
                {seq_q, flow_q} <= remote[remote_done_q[3:0]];
                remote_done_q <= remote_done_q + 5'd1;
                remote_q <= 1'b1;
                state_q <= ASK;
            end else if (looked_q) begin
                {seq_q, flow_q} <= oldest_q[22:0];
                done_q <= done_q + {{C{1'b0}}, 1'b1};
                remote_q <= 1'b0;
                if (oldest_q[23]) state_q <= ASK;
            end
            ASK: if (b_ack) state_q <= WRITE;
            WRITE: state_q <= END;
            default: begin
                state_q <= LOOK;
                index_q <= index_q + 8'd1;
                ev_local <= !remote_q;
                ev_remote <= remote_q;
                ev_flow <= flow_q;
                ev_value <= {24'd0, seq_q};
            end
        endcase
        if (rst) begin
            put_q <= {C+1{1'b0}};
            done_q <= {C+1{1'b0}};
            looked_q <= 1'b0;
            remote_put_q <= 5'd0;
            remote_done_q <= 5'd0;
            state_q <= LOOK;
            index_q <= 8'd0;
            ev_local <= 1'b0;
            ev_remote <= 1'b0;
        end
    end
    assign b_req = state_q == ASK;
    assign b_addr = cfg_base + {53'd0, index_q, 3'd0};
    assign b_len = 10'd1;
    assign b_wvalid = state_q == WRITE;
    assign b_wend = state_q == END;
    assign b_wdata = {6'd0, remote_q ? 2'd2 : 2'd1, 17'd0, flow_q, 16'd0, seq_q};
    generate if (C < 15) begin : g_unused
        wire unused = &{1'b0, p_left[15:C+1]};
    end endgenerate
    wire unused_retry = b_retry; // the request simply stands again
endmodule
`default_nettype wire
