// SPDX-License-Identifier: Apache-2.0
// ff_nic_link_side: the card's side of the link: words and credits to the lanes and from them, flow control, and what
// the recorder sees of that: events, causes, counters.
//
// Latency: those of ff_nic_tx_link.v and ff_nic_rx_link.v; a cause comes one cycle after its word. Throughput: a word
// a cycle each way. Back-pressure: s_take, which waits for credit; none towards the lanes. Clock domains: link, rx and
// bus, which stand still while the card is held, and clk_link and clk_bus, which never do: the lanes go on, and the
// registers' read port.
`default_nettype none
module ff_nic_link_side #(
    parameter FLOWS = 8,        // flows with state of their own, 1..128
    parameter CREDIT_W = 13,    // bits of a credit counter, 10..24
    parameter CREDIT_UNIT = 64  // words freed between two credits, 1..65535
) (
    input  wire        clk_bus, bus, rst,
    input  wire        clk_link, link, rst_link, en_link,   // en_link (clk_link): link is not held
    input  wire        rx, rst_rx,
    // lanes: see ff_nic_core.v
    output reg  [63:0] lane_out,            // clk_link
    output reg  [7:0]  lane_out_k,
    input  wire [63:0] lane_in,             // rx
    input  wire [7:0]  lane_in_k,
    // driver's and recorder's configuration
    input  wire [127:0] cfg_active,
    input  wire [CREDIT_W-1:0] cfg_share,
    input  wire [31:0] cfg_stall_limit,     // clk_bus
    // faults 3..13 and 18 of ff_nic_core.v, which tells what goes with them
    input  wire        arm_link, arm_rx,    // armed, as each domain sees it
    input  wire [4:0]  fault_select,
    input  wire        fault_outgoing,
    input  wire [15:0] fault_count,
    input  wire [9:0]  fault_min_length, fault_word,
    input  wire        fault_lane,
    input  wire [1:0]  fault_bytes,
    input  wire [63:0] fault_mask,
    input  wire [5:0]  fault_bit,
    input  wire [6:0]  fault_flow,
    input  wire [CREDIT_W-1:0] fault_limit,
    input  wire        fault_room,          // the incoming FIFO has room
    output reg  [33:0] fault_truth,         // struck, sequence number, flow, word; quasi-static
    output wire        fault_waits,
    // words out of the outgoing FIFO (link)
    input  wire        s_valid, s_last,
    input  wire [63:0] s_data,
    input  wire [10:0] s_words,
    output wire        s_take, s_first,
    // words for the incoming FIFO (link)
    output wire        m_valid, m_first, m_last,
    output wire [1:0]  m_kind,
    output wire [63:0] m_data,
    output wire [2:0]  m_flags,
    input  wire        m_accept,
    // words as they are read from there (bus), each told as freed in the cycle after
    input  wire        read_valid, read_first, read_last,
    input  wire [6:0]  read_flow,           // with read_first
    input  wire        freed_valid,
    input  wire [6:0]  freed_flow,
    // read port of the flows (clk_bus)
    input  wire        flow_req,
    input  wire [6:0]  flow_number,
    input  wire [2:0]  flow_field,
    output wire        flow_ack,
    output wire [31:0] flow_data,
    // status (link)
    output wire [7:0]  stat_tx_state, stat_rx_state,
    output wire [31:0] stat_stalled,        // a bit a flow
    output wire [15:0] stat_next_seq, stat_sync_level,
    output wire [63:0] stat_underflows, stat_overflows,
    output wire [3:0]  stat_phase,
    // events, causes, counters (link): see ff_nic_core.v
    output wire [6:0]  ev_valid,
    output wire [27:0] ev_kind,
    output wire [55:0] ev_code,
    output wire [48:0] ev_flow,
    output wire [279:0] ev_value,
    output wire [15:0] causes,
    output wire [31:0] count
);
    generate
        if (FLOWS < 1 || FLOWS > 128) begin : g_check_FLOWS
            ff_error_FLOWS_must_be_1_to_128 stop (); // none such
        end
        if (CREDIT_W < 10 || CREDIT_W > 24) begin : g_check_CREDIT_W
            ff_error_CREDIT_W_must_be_10_to_24 stop (); // none such
        end
        if (CREDIT_UNIT < 1 || CREDIT_UNIT > 65535) begin : g_check_CREDIT_UNIT
            ff_error_CREDIT_UNIT_must_be_1_to_65535 stop (); // none such
        end
    endgenerate

    // -- sending ---------------------------------------------------------------------------------
    wire        credit_valid, credit_take, fits, wrong, struck_tx, press_begin, press_end, credit_sent;
    wire [6:0]  credit_flow, check_flow, flow_tx, press_flow, credit_sent_flow;
    wire [CREDIT_W-1:0] credit_freed;
    wire signed [CREDIT_W+1:0] free;
    wire [15:0] seq_tx;
    wire [39:0] press_value, credit_sent_value;
    wire [63:0] out_data;
    wire [1:0]  out_what;
    wire        count_credit, count_pressure, cause_stall, rx_up;
    wire [31:0] stall_limit;
    // Changes only by a write to a register; a count that is compared while it changes is off for one cycle at most.
    ff_cdc_sync #(.W(32)) i_stall_limit (.clk(link), .d(cfg_stall_limit), .q(stall_limit));
    ff_nic_tx_link #(.CREDIT_W(CREDIT_W)) i_tx_link (
        .clk(link), .rst(rst_link), .cfg_up(rx_up), .cfg_stall_limit(stall_limit), .f_valid(s_valid), .f_last(s_last),
        .f_data(s_data), .f_take(s_take), .f_first(s_first), .c_flow(check_flow), .c_fits(fits), .c_wrong(wrong),
        .c_free(free), .r_valid(credit_valid), .r_flow(credit_flow), .r_freed(credit_freed), .r_take(credit_take),
        .fault_corrupt(arm_link && fault_select == 5'd7), .fault_lose(arm_link && fault_select == 5'd8),
        .fault_bit(fault_bit), .fault_flow(fault_flow), .fault_count(fault_count), .fault_struck(struck_tx),
        .fault_struck_flow(flow_tx), .fault_struck_seq(seq_tx), .m_data(out_data), .m_what(out_what),
        .stat_state(stat_tx_state), .stat_stalled(stat_stalled), .cause_stall(cause_stall),
        .ev_begin(press_begin), .ev_end(press_end), .ev_credit(credit_sent), .ev_flow(press_flow),
        .ev_credit_flow(credit_sent_flow), .ev_value(press_value), .ev_credit_value(credit_sent_value),
        .count_credit(count_credit), .count_pressure(count_pressure));

    // The lanes go on while the card is held: halt symbols, which end no packet.
    integer b;
    always @(posedge clk_link) begin
        lane_out_k <= 8'h00;
        for (b = 0; b < 4; b = b + 1) begin
            lane_out[b*8 +: 8] <= out_data[b*16 +: 8];
            lane_out[32+b*8 +: 8] <= out_data[b*16+8 +: 8];
        end
        if (!en_link) begin
            lane_out <= {8{8'hFE}};
            lane_out_k <= 8'hFF;
        end else if (out_what == 2'd1) begin
            lane_out <= {8{8'hBC}};
            lane_out_k <= 8'hFF;
        end else if (out_what == 2'd2) begin
            lane_out <= {2{32'h4A4A4ABC}};
            lane_out_k <= 8'h11;
        end
    end

    // -- receiving -------------------------------------------------------------------------------
    wire        raw_struck, empty_struck, drift_struck, taken, taken_ev, inserted, removed;
    wire [15:0] raw_seq, empty_seq, drift_seq;
    wire [6:0]  raw_flow, empty_flow, drift_flow, taken_flow, taken_ev_flow;
    wire [9:0]  empty_word, drift_word;
    wire [CREDIT_W-1:0] taken_freed;
    wire        rc_header, rc_payload, rc_length, rc_sequence, rc_underflow, rc_parity;
    wire [1:0]  line;
    wire [15:0] line_code;
    wire [7:0]  taken_code;
    wire [39:0] taken_value;
    ff_nic_rx_link #(.CREDIT_W(CREDIT_W), .FILL(4)) i_rx_link (
        .clk_rx(rx), .rst_rx(rst_rx), .clk(link), .rst(rst_link), .s_data(lane_in), .s_k(lane_in_k),
        .fault_slip(arm_rx && fault_select == 5'd4),
        .fault_flip(arm_rx && (fault_select == 5'd5 || fault_select == 5'd6)),
        .fault_empty(arm_link && fault_select == 5'd3), .fault_lane(fault_lane), .fault_bytes(fault_bytes),
        .fault_mask(fault_mask), .fault_count(fault_count), .fault_min_length(fault_min_length),
        .fault_word(fault_word), .raw_struck(raw_struck), .empty_struck(empty_struck), .raw_seq(raw_seq),
        .empty_seq(empty_seq), .raw_flow(raw_flow), .empty_flow(empty_flow), .empty_word(empty_word),
        .m_valid(m_valid), .m_first(m_first), .m_last(m_last), .m_kind(m_kind), .m_data(m_data), .m_flags(m_flags),
        .taken_valid(taken), .taken_flow(taken_flow), .taken_freed(taken_freed), .stat_up(rx_up),
        .stat_state(stat_rx_state), .stat_level(stat_sync_level), .stat_underflows(stat_underflows),
        .stat_overflows(stat_overflows), .stat_phase(stat_phase), .stat_next_seq(stat_next_seq),
        .cause_header(rc_header), .cause_payload(rc_payload), .cause_length(rc_length), .cause_sequence(rc_sequence),
        .cause_underflow(rc_underflow), .cause_parity(rc_parity), .ev_credit(taken_ev), .ev_credit_code(taken_code),
        .ev_credit_flow(taken_ev_flow), .ev_credit_value(taken_value), .ev_line(line), .ev_line_code(line_code),
        .count_inserted(inserted), .count_removed(removed), .fault_drift(fault_select == 5'd11),
        .drift_struck(drift_struck), .drift_seq(drift_seq), .drift_flow(drift_flow), .drift_word(drift_word));

    // -- flow control ----------------------------------------------------------------------------
    wire        withheld, miscounted;
    ff_nic_credits #(.FLOWS(FLOWS), .CREDIT_W(CREDIT_W), .CREDIT_UNIT(CREDIT_UNIT)) i_credits (
        .clk_bus(clk_bus), .bus(bus), .rst(rst), .clk_link(clk_link), .link(link), .rst_link(rst_link),
        .cfg_active(cfg_active), .cfg_share(cfg_share), .fault_coarse(fault_select == 5'd12),
        .fault_start(fault_select == 5'd10), .fault_wrap(arm_link && fault_select == 5'd9),
        .fault_add(fault_select == 5'd13), .fault_miscount(fault_select == 5'd18), .fault_outgoing(fault_outgoing),
        .fault_flow(fault_flow), .fault_count(fault_count), .fault_words(fault_mask[2:0]), .fault_limit(fault_limit),
        .fault_withheld(withheld), .fault_miscounted(miscounted), .tx_flow(check_flow), .tx_words(s_words),
        .tx_fits(fits), .tx_wrong(wrong), .tx_free(free), .sent_valid(s_valid && s_take), .sent_first(s_first),
        .sent_last(s_last), .m_valid(credit_valid), .m_flow(credit_flow), .m_freed(credit_freed), .m_take(credit_take),
        .taken_valid(taken), .taken_flow(taken_flow), .taken_freed(taken_freed), .received_valid(m_valid),
        .received_accept(m_accept), .received_first(m_first), .received_last(m_last), .received_flow(m_data[14:8]),
        .read_valid(read_valid), .read_first(read_first), .read_last(read_last), .read_flow(read_flow),
        .freed_valid(freed_valid), .freed_flow(freed_flow), .flow_req(flow_req), .flow_number(flow_number),
        .flow_field(flow_field), .flow_ack(flow_ack), .flow_data(flow_data));

    // -- what the recorder sees ------------------------------------------------------------------
    wire        state_tx, state_rx;
    wire [39:0] state_tx_value, state_rx_value;
    ff_nic_state_event i_state_tx (
        .clk(link), .rst(rst_link), .state(stat_tx_state), .ev_valid(state_tx), .ev_value(state_tx_value));
    ff_nic_state_event i_state_rx (
        .clk(link), .rst(rst_link), .state(stat_rx_state), .ev_valid(state_rx), .ev_value(state_rx_value));
    localparam [3:0] CREDIT = 4'd4, STATE = 4'd8, PRESSURE = 4'd9, LINK = 4'd10;
    // tx_link: state, pressure, credit; rx_link: state, credit, lane 0, lane 1
    assign ev_valid = {7{en_link}} & {
        line[1], line[0], taken_ev, state_rx, credit_sent, press_begin || press_end, state_tx};
    assign ev_kind = {LINK, LINK, CREDIT, STATE, CREDIT, PRESSURE, STATE};
    assign ev_code = {line_code, taken_code, 8'd3, 8'd1, press_begin ? 8'd1 : 8'd2, 8'd2};
    assign ev_flow = {7'd0, 7'd0, taken_ev_flow, 7'd0, credit_sent_flow, press_flow, 7'd0};
    assign ev_value = {
        40'd1, 40'd0, taken_value, state_rx_value, credit_sent_value, press_value, state_tx_value};

    // Causes and counters: enum cause, and the counters in the order of the map.
    reg overflow_q;
    always @(posedge link) overflow_q <= m_valid && !m_accept && !rst_link;
    assign causes = {16{en_link}} & {
        5'd0, rc_sequence, rc_underflow, 1'b0, overflow_q, cause_stall, rc_parity, rc_length, rc_payload, rc_header,
        2'd0};
    assign count = {32{en_link}} & {
        1'b0, count_pressure, 8'd0, removed, inserted, 1'b0, overflow_q, 2'd0, taken_ev && taken_code != 8'd2,
        taken_ev && taken_code == 8'd2, count_credit, 1'b0, rc_parity, rc_length, rc_payload, rc_header, 8'd0};

    assign fault_waits = press_begin && press_flow == fault_flow && en_link;
    always @* case (fault_select)
        5'd3:       fault_truth = {empty_struck, empty_seq, empty_flow, empty_word};
        5'd4:       fault_truth = {raw_struck, raw_seq, raw_flow, fault_word + 10'd1};
        5'd5, 5'd6: fault_truth = {raw_struck, raw_seq, raw_flow, fault_word};
        5'd7, 5'd8, 5'd9, 5'd10, 5'd13:
                    fault_truth = {struck_tx, seq_tx, flow_tx, 10'd0};
        5'd11:      fault_truth = {drift_struck, drift_seq, drift_flow, drift_word};
        // The one that is not for once and all: while words are kept back that would have been told, with room for more.
        5'd12:      fault_truth = {withheld && fault_room, 16'd0, fault_flow, 10'd0};
        5'd18:      fault_truth = {miscounted, 16'd0, fault_flow, 10'd0};
        default:    fault_truth = 34'd0;
    endcase
endmodule
`default_nettype wire
