// SPDX-License-Identifier: Apache-2.0
// ff_nic_bus: lets the receive DMA, the notification writer and the transmit DMA share the one host bus port.
//
// Latency: one cycle from a master's request to hb_req. Throughput: one transaction after the other, in turn.
// Back-pressure: a request is held until its ack or retry. Clock domain: clk.
//
// The host bus port. A request (hb_req with hb_we, hb_addr, hb_len) stands until hb_ack or hb_retry, one cycle each;
// after hb_retry it is gone and may come again. Write: from the cycle after hb_ack on the card gives words with
// hb_wvalid, hb_len at most, and ends with hb_wend, which is high for one cycle and brings no word. Read: a split
// transaction; the completion announces itself with hb_cown at least three cycles before its first hb_cvalid, and
// hb_clast goes with its last word; before hb_len words it is a disconnect, and the card asks again for the rest.
// Reads come one at a time. hb_gnt: for one cycle, the request that stands has the bus. hb_own: the bus works for this card (for its counters: arbitration, address, data, a
// descriptor posted).
`default_nettype none
module ff_nic_bus (
    input  wire        clk, rst,
    // masters: 0 receive DMA (write), 1 notifications (write), 2 transmit DMA (read)
    input  wire [2:0]   s_req,
    input  wire [191:0] s_addr,
    input  wire [29:0]  s_len,
    output wire [2:0]   s_gnt, s_ack, s_retry,
    input  wire [1:0]   s_wvalid, s_wend,
    input  wire [127:0] s_wdata,
    // host bus port
    output wire         hb_req, hb_we,
    output wire [63:0]  hb_addr,
    output wire [9:0]   hb_len,
    input  wire         hb_gnt, hb_ack, hb_retry,
    output wire         hb_wvalid, hb_wend,
    output wire [63:0]  hb_wdata
);
    reg  [1:0] owner_q, last_q;
    reg        asking_q, writing_q;
    wire [1:0] after = last_q == 2'd2 ? 2'd0 : last_q + 2'd1;
    wire [1:0] after2 = after == 2'd2 ? 2'd0 : after + 2'd1;
    wire [1:0] next = s_req[after] ? after : s_req[after2] ? after2 : last_q;
    wire answered = asking_q && (hb_ack || hb_retry);
    always @(posedge clk) begin
        if (!asking_q && !writing_q && |s_req) begin
            owner_q <= next;
            last_q <= next;
            asking_q <= 1'b1;
        end
        if (answered) begin
            asking_q <= 1'b0;
            writing_q <= hb_ack && hb_we;
        end
        if (writing_q && hb_wend) writing_q <= 1'b0;
        if (rst) begin
            owner_q <= 2'd0;
            last_q <= 2'd0;
            asking_q <= 1'b0;
            writing_q <= 1'b0;
        end
    end

    assign hb_req = asking_q;
    assign hb_we = owner_q != 2'd2;
    assign hb_addr = owner_q == 2'd0 ? s_addr[63:0] : owner_q == 2'd1 ? s_addr[127:64] : s_addr[191:128];
    assign hb_len = owner_q == 2'd0 ? s_len[9:0] : owner_q == 2'd1 ? s_len[19:10] : s_len[29:20];
    assign s_gnt = {3{asking_q && hb_gnt}} & (3'd1 << owner_q);
    assign s_ack = {3{asking_q && hb_ack}} & (3'd1 << owner_q);
    assign s_retry = {3{asking_q && hb_retry}} & (3'd1 << owner_q);
    assign hb_wvalid = writing_q && (owner_q[0] ? s_wvalid[1] : s_wvalid[0]);
    assign hb_wend = writing_q && (owner_q[0] ? s_wend[1] : s_wend[0]);
    assign hb_wdata = owner_q[0] ? s_wdata[127:64] : s_wdata[63:0];
endmodule
`default_nettype wire
