// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix_target: answers PCI-X transactions to the card: configuration, memory, and Split Completions to its reads.
//
// Decode speed B, so that the parity of the address is known before DEVSEL#; the answer stands one clock behind it, and
// there is never a wait state. Configuration is answered at once. A memory read gets a Split Response while s_free,
// else Retry. A memory write is taken up to the next boundary of 128 bytes (ADB) while w_free, else Retry; one that
// begins fewer than four phases before it ends with a Single Data Phase Disconnect. A Split Completion is taken whole,
// whether it was asked for or not (PCI-X 1.0b, 2.10). An attribute phase with wrong parity is a Target-Abort.
//
// Latency: four clocks from the address to the first data. Throughput: one word a clock. Clock domain: clk.
`default_nettype none
module ff_nic_pcix_target (
    input  wire        clk, rst,
    // the bus as sampled at the last edge; 1 is asserted, C/BE# as on the pins
    input  wire        i_frame, i_irdy, i_trdy, i_idsel, i_req64,
    input  wire [31:0] i_ad,
    input  wire [7:0]  i_cbe,
    input  wire        bad,             // parity of the clock before the last edge
    input  wire        mine,            // this card is the initiator
    // who this is
    input  wire [15:0] id,              // bus, device, function
    input  wire        en_memory,
    input  wire [63:0] cfg_base0,       // of 16 MB
    input  wire [63:0] cfg_base1,       // of 4 KB
    // configuration
    output reg  [5:0]  c_addr,          // of a 32-bit word
    output wire        c_write,
    output reg  [3:0]  c_enables,       // 1: this byte
    output reg  [7:0]  c_bus,           // with c_write: where this card is
    output reg  [4:0]  c_device,
    input  wire [31:0] c_rdata,
    // memory: a transaction that is accepted
    input  wire        s_free, w_free,
    output reg         s_valid,         // read, with the next
    output reg         w_begin,         // write, with s_addr and s_window
    output reg  [23:0] s_addr,
    output reg         s_window,        // 0: base 0, 1: base 1
    output reg         s_dword,
    output wire [12:0] s_count,
    output reg  [31:8] s_attr,
    output wire        w_valid, w_wide,
    output wire        w_enabled,       // the byte enables stand on C/BE#, else all are
    output reg  [6:0]  w_at,            // byte of the phase, in its 128
    output reg         w_end,           // the write is over
    // Split Completions to this card
    output reg         k_begin, k_message, k_error,
    output reg  [4:0]  k_tag,
    output wire        k_valid, k_wide, k_high,
    // status
    output reg         stat_aborted,    // this card has signaled a Target-Abort
    output reg         stat_header,     // wrong parity in an address or attribute phase
    output wire        data,            // data goes over to this card with the sampled clock
    output wire        data_wide,
    // the bus
    output reg         o_devsel, o_trdy, o_stop, o_ack64, o_oe,
    output reg  [31:0] o_ad,
    output reg         o_ad_oe
);
    localparam [2:0] IDLE = 3'd0, SECOND = 3'd1, DECIDE = 3'd2, ANSWER = 3'd3, GIVE = 3'd4, OVER = 3'd5;
    localparam [2:0] NONE = 3'd0, CONFIG = 3'd1, READ = 3'd2, WRITE = 3'd3, COMPLETION = 3'd4;
    localparam [3:0] DUAL = 4'd13;

    reg  [2:0]  state_q, kind_q;
    reg         frame_q, idsel_q, req64_q, wide_q, taking_q, header_q, reads_q;
    reg  [3:0]  cmd_q;
    reg  [63:0] addr_q;
    reg  [11:0] count_q;
    reg  [10:0] phases_q;           // still to be offered

    wire begins = i_frame && !frame_q && !mine;
    wire burst_write = cmd_q == 4'd7 || cmd_q == 4'd15 || cmd_q == 4'd9;
    wire burst_read = cmd_q == 4'd14 || cmd_q == 4'd8;
    wire hit0 = en_memory && addr_q[63:24] == cfg_base0[63:24];
    wire hit1 = en_memory && addr_q[63:12] == cfg_base1[63:12];
    wire config_hit = (cmd_q == 4'd10 || cmd_q == 4'd11) && idsel_q && addr_q[10:8] == 3'd0 && addr_q[1:0] == 2'd0;
    wire [2:0] kind = config_hit ? CONFIG
        : cmd_q == 4'd12 && addr_q[23:8] == id ? COMPLETION
        : !(hit0 || hit1) ? NONE
        : burst_write ? WRITE
        : burst_read || cmd_q == 4'd6 ? READ : NONE;

    // Phases of the byte count, and of those up to the boundary.
    wire [12:0] bytes = {count_q == 12'd0, count_q};
    wire [2:0]  low = wide_q ? addr_q[2:0] : {1'b0, addr_q[1:0]};
    wire [12:0] span = bytes + {10'd0, low} + (wide_q ? 13'd7 : 13'd3);
    wire [10:0] phases = wide_q ? {1'b0, span[12:3]} : span[12:2];
    wire [7:0]  to_boundary = 8'd128 - {1'b0, addr_q[6:0]} + {5'd0, low};
    wire [5:0]  near = wide_q ? {1'b0, to_boundary[7:3]} : to_boundary[7:2];
    wire crosses = {6'd0, addr_q[6:0]} + bytes > 13'd128;
    wire single = crosses && near < 6'd4;
    assign s_count = s_dword ? 13'd4 : bytes;

    assign data = taking_q && i_trdy && i_irdy;
    assign data_wide = wide_q;
    assign c_write = data && kind_q == CONFIG;
    assign w_valid = data && kind_q == WRITE;
    assign w_wide = wide_q;
    assign w_enabled = cmd_q == 4'd7;
    assign k_valid = data && kind_q == COMPLETION;
    assign k_wide = wide_q;
    assign k_high = w_at[2];

    always @(posedge clk) begin
        frame_q <= i_frame;
        {s_valid, w_begin, w_end, k_begin, stat_aborted, stat_header} <= 6'd0;
        o_oe <= o_devsel || o_trdy || o_stop; // driven high for a clock before they float
        o_ad_oe <= 1'b0;
        header_q <= 1'b0;
        if (data) w_at <= wide_q ? {w_at[6:3], 3'd0} + 7'd8 : {w_at[6:2], 2'd0} + 7'd4;
        case (state_q)
            IDLE: if (begins) begin
                addr_q <= {32'd0, i_ad};
                cmd_q <= i_cbe[3:0];
                idsel_q <= i_idsel;
                req64_q <= i_req64;
                kind_q <= NONE;
                state_q <= i_cbe[3:0] == DUAL ? SECOND : DECIDE;
            end
            SECOND: begin
                addr_q[63:32] <= i_ad;
                cmd_q <= i_cbe[3:0];
                header_q <= bad;
                state_q <= DECIDE;
            end
            DECIDE: begin // the attributes are sampled, and the parity of the address
                count_q <= {i_cbe[3:0], i_ad[7:0]};
                s_attr <= i_ad[31:8];
                c_enables <= ~i_cbe[3:0];
                c_bus <= i_ad[7:0];
                c_device <= addr_q[15:11];
                c_addr <= addr_q[7:2];
                s_dword <= cmd_q == 4'd6;
                reads_q <= cmd_q == 4'd10 || kind == READ;
                {k_message, k_error} <= i_ad[29] ? {1'b1, i_ad[30]} : 2'd0;
                k_tag <= addr_q[28:24];
                w_at <= addr_q[6:0];
                s_addr <= hit0 ? addr_q[23:0] : {12'd0, addr_q[11:0]};
                s_window <= !hit0;
                wide_q <= req64_q && (kind == WRITE || kind == COMPLETION);
                if (bad || header_q) stat_header <= 1'b1;
                if (kind == NONE || bad || header_q) state_q <= OVER;
                else begin
                    kind_q <= kind;
                    o_devsel <= 1'b1;
                    o_ack64 <= req64_q && (kind == WRITE || kind == COMPLETION);
                    o_oe <= 1'b1;
                    state_q <= ANSWER;
                end
            end
            ANSWER: begin // the parity of the attributes is known
                o_ad <= kind_q == CONFIG ? c_rdata : 32'hFFFFFFFF;
                phases_q <= 11'd0;
                state_q <= GIVE;
                if (bad) begin
                    {o_devsel, o_trdy, o_stop, o_ack64} <= 4'b0010;
                    {stat_header, stat_aborted} <= 2'b11;
                    kind_q <= NONE;
                end else case (kind_q)
                    CONFIG: begin
                        o_trdy <= 1'b1;
                        o_ad_oe <= reads_q;
                        taking_q <= !reads_q;
                    end
                    READ: if (s_free) begin
                        {o_devsel, o_trdy} <= 2'b01;
                        o_ad_oe <= 1'b1;
                        s_valid <= 1'b1;
                    end else o_stop <= 1'b1;
                    WRITE: if (w_free) begin
                        o_trdy <= 1'b1;
                        o_stop <= crosses;
                        o_devsel <= !single;
                        o_ack64 <= o_ack64 && !single;
                        phases_q <= single ? 11'd0 : (crosses ? {5'd0, near} : phases) - 11'd1;
                        taking_q <= 1'b1;
                        w_begin <= 1'b1;
                    end else o_stop <= 1'b1;
                    default: begin // COMPLETION
                        o_trdy <= 1'b1;
                        phases_q <= phases - 11'd1;
                        taking_q <= 1'b1;
                        k_begin <= 1'b1;
                    end
                endcase
            end
            GIVE: if (phases_q != 11'd0 && i_frame) phases_q <= phases_q - 11'd1;
                else begin
                    {o_devsel, o_trdy, o_stop, o_ack64} <= 4'd0;
                    state_q <= OVER;
                end
            default: if (!i_frame && !i_irdy) begin // OVER
                w_end <= taking_q && kind_q == WRITE;
                taking_q <= 1'b0;
                state_q <= IDLE;
            end
        endcase
        if (rst) begin
            state_q <= IDLE;
            kind_q <= NONE;
            {frame_q, taking_q, wide_q, req64_q, idsel_q, reads_q} <= 6'd0;
            {o_devsel, o_trdy, o_stop, o_ack64, o_oe, o_ad_oe} <= 6'd0;
            {cmd_q, addr_q, count_q, phases_q} <= 91'd0;
            o_ad <= 32'd0;
            {c_addr, c_enables, c_bus, c_device, s_addr, s_window, s_dword, s_attr, w_at, k_message, k_error, k_tag} <= 87'd0;
        end
    end
    wire unused = &{1'b0, i_cbe[7:4], cfg_base0[23:0], cfg_base1[11:0], span[1:0], to_boundary[1:0]};
endmodule
`default_nettype wire
