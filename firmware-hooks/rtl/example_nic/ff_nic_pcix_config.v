// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_config: the configuration space of the example card, type 0, with the PCI-X capability at 0x40.
//
// Base 0 (0x10, 64 bits, 16 MB): the recorder's registers and trace memories; base 1 (0x18, 64 bits, 4 KB): the driver's
// registers, see ff_nic_pcix_driver.v. A write of type 0 also tells the card its bus and device. The vendor's number is
// nobody's: a board of your own sets VENDOR and DEVICE. Latency: none to read, one cycle to write. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_config #(
    parameter [15:0] VENDOR = 16'hFF0F,
    parameter [15:0] DEVICE = 16'h0001
) (
    input  wire        clk, rst,
    input  wire [5:0]  c_addr,          // of a 32-bit word
    input  wire        c_write,
    input  wire [3:0]  c_enables,
    input  wire [31:0] c_wdata,
    input  wire [7:0]  c_bus,
    input  wire [4:0]  c_device,
    output reg  [31:0] c_rdata,
    // what has happened: each for one cycle
    input  wire        set_master_parity, set_signaled_abort, set_received_abort, set_master_abort, set_serr,
                       set_parity, set_discarded, set_unexpected, set_message,
    // what it says
    output wire        en_memory, en_master, en_parity, en_serr, en_recover,
    output wire [63:0] base0, base1,
    output wire [15:0] id,
    output wire [7:0]  latency,
    output wire [12:0] most             // bytes of a read request
);
    reg  [3:0]  command_q;              // SERR#, parity, master, memory
    reg  [5:0]  status_q;               // bits 15 to 11 and 8
    reg  [39:0] base0_q;
    reg  [51:0] base1_q;
    reg  [7:0]  line_q, latency_q, interrupt_q, bus_q;
    reg  [4:0]  device_q;
    reg         recover_q, relaxed_q;
    reg  [1:0]  most_q;
    reg  [2:0]  outstanding_q, split_q; // split: error message, unexpected, discarded
    assign {en_serr, en_parity, en_master, en_memory} = command_q;
    assign en_recover = recover_q;
    assign base0 = {base0_q, 24'd0};
    assign base1 = {base1_q, 12'd0};
    assign id = {bus_q, device_q, 3'd0};
    assign latency = latency_q;
    assign most = 13'd512 << most_q;

    always @* case (c_addr)
        6'h00: c_rdata = {DEVICE, VENDOR};
        6'h01: c_rdata = {status_q[5:1], 2'd1, status_q[0], 3'b001, 1'b1, 4'd0,
                          7'd0, command_q[3], 1'b0, command_q[2], 3'd0, command_q[1:0], 1'b0};
        6'h02: c_rdata = 32'h02800001;  // network controller, other; revision 1
        6'h03: c_rdata = {16'd0, latency_q, line_q};
        6'h04: c_rdata = {base0_q[7:0], 24'd4}; // memory, 64 bits, not to be prefetched
        6'h05: c_rdata = base0_q[39:8];
        6'h06: c_rdata = {base1_q[19:0], 12'd4};
        6'h07: c_rdata = base1_q[51:20];
        6'h0B: c_rdata = {DEVICE, VENDOR};
        6'h0D: c_rdata = 32'h00000040;
        6'h0F: c_rdata = {16'd0, 8'd1, interrupt_q};
        6'h10: c_rdata = {9'd0, outstanding_q, most_q, relaxed_q, recover_q, 8'd0, 8'h07};
        // designed for one read of up to 4,096 bytes at a time; 64 bits, 133 MHz
        6'h11: c_rdata = {2'd0, split_q[2], 3'd2, 3'd0, 2'd3, 1'b0, split_q[1:0], 1'b1, 1'b1, bus_q, device_q, 3'd0};
        default: c_rdata = 32'd0;
    endcase

    wire [3:0] we = {4{c_write}} & c_enables;
    wire [5:0] clear = c_addr == 6'h01 && we[3] ? {c_wdata[31:27], 1'b0} : 6'd0;
    wire       clear_master = c_addr == 6'h01 && we[3] && c_wdata[24];
    wire [2:0] clear_split = {c_addr == 6'h11 && we[3] && c_wdata[29], {2{c_addr == 6'h11 && we[2]}} & c_wdata[19:18]};
    always @(posedge clk) begin
        status_q <= (status_q & ~(clear | {5'd0, clear_master}))
            | {set_parity, set_serr, set_master_abort, set_received_abort, set_signaled_abort, set_master_parity};
        split_q <= (split_q & ~clear_split) | {set_message, set_unexpected, set_discarded};
        if (c_write) begin
            bus_q <= c_bus;
            device_q <= c_device;
        end
        case (c_addr)
            6'h01: begin
                if (we[0]) command_q[2:0] <= {c_wdata[6], c_wdata[2:1]};
                if (we[1]) command_q[3] <= c_wdata[8];
            end
            6'h03: begin
                if (we[0]) line_q <= c_wdata[7:0];
                if (we[1]) latency_q <= c_wdata[15:8];
            end
            6'h04: if (we[3]) base0_q[7:0] <= c_wdata[31:24];
            6'h05: begin
                if (we[0]) base0_q[15:8] <= c_wdata[7:0];
                if (we[1]) base0_q[23:16] <= c_wdata[15:8];
                if (we[2]) base0_q[31:24] <= c_wdata[23:16];
                if (we[3]) base0_q[39:32] <= c_wdata[31:24];
            end
            6'h06: begin
                if (we[1]) base1_q[3:0] <= c_wdata[15:12];
                if (we[2]) base1_q[11:4] <= c_wdata[23:16];
                if (we[3]) base1_q[19:12] <= c_wdata[31:24];
            end
            6'h07: begin
                if (we[0]) base1_q[27:20] <= c_wdata[7:0];
                if (we[1]) base1_q[35:28] <= c_wdata[15:8];
                if (we[2]) base1_q[43:36] <= c_wdata[23:16];
                if (we[3]) base1_q[51:44] <= c_wdata[31:24];
            end
            6'h0F: if (we[0]) interrupt_q <= c_wdata[7:0];
            6'h10: if (we[2]) {outstanding_q, most_q, relaxed_q, recover_q} <= c_wdata[22:16];
            default: ;
        endcase
        if (rst) begin
            {command_q, status_q, base0_q, base1_q, line_q, interrupt_q, split_q, recover_q} <= 122'd0;
            latency_q <= 8'd64;         // PCI-X 1.0b, 7.1.4: the default in PCI-X mode
            bus_q <= 8'hFF;
            device_q <= 5'h1F;
            relaxed_q <= 1'b1;
            most_q <= 2'd0;
            outstanding_q <= 3'd0;
        end
    end
endmodule
`default_nettype wire
