// SPDX-License-Identifier: Apache-2.0
// ff_nic_tx_link: the transmitter: whole packets that fit their flow's credit, and credits between them, onto two
// lanes.
//
// After a reset it trains the far end's lanes. A frame is followed by GAP idle slots, and every SKIP slots by three
// more, so that the far end can correct its clock. Latency: two cycles from a word to the lanes. Throughput: one word
// a cycle. Back-pressure: credit. Clock domain: clk (link).
`default_nettype none
module ff_nic_tx_link #(
    parameter CREDIT_W = 13,    // bits of a credit counter, 10..24
    parameter TRAIN = 256,      // cycles of training, 160..4095
    parameter GAP = 1,          // idle slots behind a frame, 1..15
    parameter SKIP = 1024       // slots after which a longer gap is due, 64..65535
) (
    input  wire        clk, rst,
    input  wire        cfg_up,          // the own lanes run: the far end is there
    input  wire [31:0] cfg_stall_limit, // cycles; 0 never
    // outgoing FIFO
    input  wire        f_valid, f_last,
    input  wire [63:0] f_data,
    output wire        f_take, f_first,
    // credit of the packet's flow
    output wire [6:0]  c_flow,
    input  wire        c_fits, c_wrong,
    input  wire signed [CREDIT_W+1:0] c_free,
    // credits to be sent
    input  wire        r_valid,
    input  wire [6:0]  r_flow,
    input  wire [CREDIT_W-1:0] r_freed,
    output wire        r_take,
    // fault: a bit of one credit word changes before the CRC is made; credits of a flow never leave
    input  wire        fault_corrupt, fault_lose,
    input  wire [5:0]  fault_bit,       // 8..39
    input  wire [6:0]  fault_flow,
    input  wire [15:0] fault_count,     // credits that are left alone first
    output reg         fault_struck,
    output reg  [6:0]  fault_struck_flow,
    output reg  [15:0] fault_struck_seq,
    // lanes: one word a cycle
    output reg  [63:0] m_data,
    output reg  [1:0]  m_what,          // 0 word, 1 idle, 2 training
    // status, events, counters
    output reg  [7:0]  stat_state,      // enum machine_state
    output wire [31:0] stat_stalled,    // flows 0-31 over the limit
    output wire        cause_stall,
    output reg         ev_begin, ev_end, ev_credit,
    output reg  [6:0]  ev_flow, ev_credit_flow,
    output reg  [39:0] ev_value, ev_credit_value,
    output wire        count_credit, count_pressure
);
    generate
        if (TRAIN < 160 || TRAIN > 4095) begin : g_check_TRAIN
            ff_error_TRAIN_must_be_160_to_4095 stop (); // none such
        end
        if (GAP < 1 || GAP > 15) begin : g_check_GAP
            ff_error_GAP_must_be_1_to_15 stop (); // none such
        end
        if (SKIP < 64 || SKIP > 65535) begin : g_check_SKIP
            ff_error_SKIP_must_be_64_to_65535 stop (); // none such
        end
    endgenerate
    localparam [1:0] WORD = 2'd0, IDLE = 2'd1, TRAINING = 2'd2;
    localparam [7:0] M_IDLE = 8'd0, M_DATA = 8'd3, M_WAIT_CREDIT = 8'd5;
    localparam [3:0] CREDIT = 4'd4;
    localparam [11:0] TRAIN_CYCLES = TRAIN[11:0];
    localparam [4:0] GAP_SLOTS = GAP[4:0];
    localparam [15:0] SKIP_SLOTS = SKIP[15:0];

    reg  [11:0] train_q;
    reg  [4:0]  gap_q;
    reg  [15:0] skip_q;
    reg         sending_q, blocked_q;
    reg  [6:0]  flow_q;
    reg  [31:0] since_q;        // cycles of waiting
    reg  [15:0] left_alone_q;

    wire open = !sending_q && gap_q == 5'd0 && cfg_up && train_q == TRAIN_CYCLES;
    assign r_take = open && r_valid;
    wire look = open && !r_valid && f_valid;
    wire begins = look && c_fits;
    assign f_take = sending_q || begins;
    assign f_first = begins;
    assign c_flow = sending_q ? flow_q : f_data[14:8];
    wire ends = f_take && f_valid && f_last;
    wire skip = skip_q == SKIP_SLOTS;

    // A credit word: parity over bits 0-47 odd, then the fault, then the CRC.
    wire [47:0] plain = {8'd0, {24-CREDIT_W{1'b0}}, r_freed, 1'b0, r_flow, 4'd0, CREDIT};
    wire [47:0] parity = plain | {32'd0, ~^plain, 15'd0};
    wire strike = r_take && ((fault_corrupt && !fault_struck && left_alone_q == fault_count)
        || (fault_lose && r_flow == fault_flow));
    wire [47:0] low = strike && fault_corrupt ? parity ^ (48'd1 << fault_bit) : parity;
    wire [15:0] crc;
    ff_nic_crc16 #(.BYTES(6)) i_crc (.en(r_take), .header(low), .address(64'd0), .crc(crc));

    wire over = cfg_stall_limit != 32'd0 && blocked_q && since_q >= cfg_stall_limit;
    assign cause_stall = over;
    assign stat_stalled = over && flow_q[6:5] == 2'd0 ? 32'd1 << flow_q[4:0] : 32'd0;
    assign count_credit = r_take;
    assign count_pressure = blocked_q;
    wire [CREDIT_W+1:0] free = c_free < 0 ? {CREDIT_W+2{1'b0}} : c_free;

    always @(posedge clk) begin
        m_what <= IDLE;
        m_data <= {8{8'hBC}};
        if (train_q != TRAIN_CYCLES) begin
            train_q <= train_q + 12'd1;
            m_what <= TRAINING;
        end
        if (gap_q != 5'd0) gap_q <= gap_q - 5'd1;
        if (!skip) skip_q <= skip_q + 16'd1;
        if (r_take) begin
            m_data <= {crc, low};
            m_what <= strike && fault_lose ? IDLE : WORD;
        end else if (f_take && f_valid) begin
            m_data <= f_data;
            m_what <= WORD;
        end
        if (begins) flow_q <= f_data[14:8];
        sending_q <= f_take && !(f_valid && f_last);
        if (r_take || ends) begin
            gap_q <= skip ? GAP_SLOTS + 5'd3 : GAP_SLOTS;
            if (skip) skip_q <= 16'd0;
        end

        // waiting for credit
        ev_begin <= look && !c_fits && !blocked_q;
        ev_end <= begins && blocked_q;
        ev_flow <= c_flow;
        ev_value <= {{38-CREDIT_W{1'b0}}, free};
        since_q <= blocked_q ? since_q + 32'd1 : 32'd1;
        if (look) blocked_q <= !c_fits;
        if (look && !c_fits) flow_q <= f_data[14:8];

        ev_credit <= r_take;
        ev_credit_flow <= r_flow;
        ev_credit_value <= parity[39:0];
        if (r_take && fault_corrupt && !strike) left_alone_q <= left_alone_q + {15'd0, left_alone_q != fault_count};
        if (strike || (begins && c_wrong && !fault_struck)) begin
            fault_struck <= 1'b1;
            fault_struck_flow <= strike ? r_flow : c_flow;
            fault_struck_seq <= strike ? 16'd0 : f_data[47:32];
        end
        if (rst) begin
            train_q <= 12'd0;
            gap_q <= 5'd0;
            skip_q <= 16'd0;
            sending_q <= 1'b0;
            blocked_q <= 1'b0;
            flow_q <= 7'd0;
            since_q <= 32'd0;
            left_alone_q <= 16'd0;
            fault_struck <= 1'b0;
            fault_struck_flow <= 7'd0;
            fault_struck_seq <= 16'd0;
            m_what <= IDLE;
            ev_begin <= 1'b0;
            ev_end <= 1'b0;
            ev_credit <= 1'b0;
        end
    end
    always @* stat_state = sending_q || begins ? M_DATA : blocked_q ? M_WAIT_CREDIT : state_idle_q ? M_IDLE : M_DATA;
    // Between two packets that follow each other the machine stays in its state.
    reg state_idle_q;
    always @(posedge clk) begin
        if (f_take) state_idle_q <= 1'b0;
        else if (open && !f_valid && !r_valid) state_idle_q <= 1'b1;
        if (rst) state_idle_q <= 1'b1;
    end
endmodule
`default_nettype wire
