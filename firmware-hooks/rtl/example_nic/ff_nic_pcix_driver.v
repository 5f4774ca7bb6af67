// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_driver: the registers that a driver of the example card writes, in base 1; offsets in bytes.
//
//   0x000..0x0FF w   descriptors: word at address bits 3:2, the packet's type at bits 7:4; word 3 posts it
//   0x100 w          interrupt: bit 0 mask, bit 1 enable, bit 2 one completion taken
//   0x104 rw         bit 0 run (0 after power-up: the card is in reset), bit 1 take no words
//   0x108 rw         cycles between two receive bursts
//   0x10C rw         words of credit of an active flow
//   0x110, 0x114 rw  where notifications are written, low and high
//   0x118 r          bit 0 no descriptor fits, bit 1 the interrupt line, bit 2 a write has stopped, bit 3 a read has;
//         w          bit 4: what has stopped goes on
//   0x120..0x12C rw  active flows, 32 each
//
// What the driver sets stands until power-up; RST# does not touch it. Latency: one cycle. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_driver (
    input  wire         clk, rst,
    input  wire         v_write,
    input  wire [11:0]  v_addr,
    input  wire [31:0]  v_wdata,
    output reg  [31:0]  v_rdata,
    input  wire         posting,        // a write to the descriptors has begun
    // the card: see ff_nic_core.v
    output reg          td_ask, td_valid,
    output reg  [1:0]   td_word,
    output reg  [3:0]   td_type,
    output reg  [31:0]  td_data,
    input  wire         td_full, irq,
    output reg          host_mask, host_enable, host_take,
    output wire [127:0] host_active,
    output reg  [15:0]  host_share,
    output wire [63:0]  host_note_base,
    output reg          host_rx_stop,
    output reg  [15:0]  host_rx_pause,
    output reg          run,
    // the bus interface
    input  wire         stat_write_halted, stat_read_halted,
    output reg          resume
);
    reg  [31:0] note_low_q, note_high_q, active_0_q, active_1_q, active_2_q, active_3_q;
    assign host_active = {active_3_q, active_2_q, active_1_q, active_0_q};
    assign host_note_base = {note_high_q, note_low_q};
    wire descriptor = v_addr[11:8] == 4'd0;

    always @* case (v_addr)
        12'h104: v_rdata = {30'd0, host_rx_stop, run};
        12'h108: v_rdata = {16'd0, host_rx_pause};
        12'h10C: v_rdata = {16'd0, host_share};
        12'h110: v_rdata = note_low_q;
        12'h114: v_rdata = note_high_q;
        12'h118: v_rdata = {28'd0, stat_read_halted, stat_write_halted, irq, td_full};
        12'h120: v_rdata = active_0_q;
        12'h124: v_rdata = active_1_q;
        12'h128: v_rdata = active_2_q;
        12'h12C: v_rdata = active_3_q;
        default: v_rdata = 32'd0;
    endcase

    always @(posedge clk) begin
        td_ask <= posting;
        td_valid <= v_write && descriptor;
        {td_type, td_word, td_data} <= {v_addr[7:4], v_addr[3:2], v_wdata};
        {host_take, host_enable, host_mask} <= {3{v_write && v_addr == 12'h100}} & v_wdata[2:0];
        resume <= v_write && v_addr == 12'h118 && v_wdata[4];
        if (v_write) case (v_addr)
            12'h104: {host_rx_stop, run} <= v_wdata[1:0];
            12'h108: host_rx_pause <= v_wdata[15:0];
            12'h10C: host_share <= v_wdata[15:0];
            12'h110: note_low_q <= v_wdata;
            12'h114: note_high_q <= v_wdata;
            12'h120: active_0_q <= v_wdata;
            12'h124: active_1_q <= v_wdata;
            12'h128: active_2_q <= v_wdata;
            12'h12C: active_3_q <= v_wdata;
            default: ;
        endcase
        if (rst) begin
            {td_ask, td_valid, host_take, host_enable, host_mask, resume, host_rx_stop, run} <= 8'd0;
            {host_rx_pause, host_share} <= 32'd0;
            {note_low_q, note_high_q, active_0_q, active_1_q, active_2_q, active_3_q} <= 192'd0;
        end
    end
endmodule
`default_nettype wire
