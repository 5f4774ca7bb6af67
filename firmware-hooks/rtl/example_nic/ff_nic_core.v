// SPDX-License-Identifier: Apache-2.0
// ff_nic_core: the example network card without its recorder: two DMA engines on a host bus, two FIFOs between the
// bus and the link domain, two bonded lanes each way, flow control by credits; and a switch for each fault it can
// show.
//
// Latency: a message leaves when it stands whole in the outgoing FIFO; the receiver cuts through. Throughput: one
// 64-bit word a cycle of either domain. Back-pressure: credits towards the link, descriptors towards the host.
//
// Clock domains: clk_bus, clk_link, and clk_rx, the far end's link clock as recovered from the lanes. rst is the card's
// own reset, in clk_bus; the recorder does not see it. hold stops all clocks of the card; what it shows stands still.
// Taps, events, causes and counters are those of ff_quad.v; a check's cause comes one cycle after the word.
`default_nettype none
module ff_nic_core #(
    parameter FLOWS = 8,            // flows with state of their own, 1..128
    parameter CREDIT_W = 13,        // bits of a credit counter: log2 of the far end's incoming FIFO + 2, 10..24
    parameter CREDIT_UNIT = 64,     // words freed between two credits, 1..65535
    parameter TX_FIFO_LOG2 = 10,    // log2 of the words of the outgoing FIFO, 10..15
    parameter RX_FIFO_LOG2 = 11,    // log2 of the words of the incoming FIFO, 8..15
    parameter BURST = 128,          // words of the longest write burst, 4..512, half the incoming FIFO at most
    parameter DESCRIPTORS_LOG2 = 4  // log2 of the descriptors that may wait, 1..8
) (
    input  wire         clk_bus, clk_link, clk_rx,
    input  wire         rst, hold,          // clk_bus
    // lanes: bytes 0, 2, 4, 6 of a word on lane 0, the others on lane 1; first byte least significant
    output wire [63:0]  lane_out,           // clk_link
    output wire [7:0]   lane_out_k,
    input  wire [63:0]  lane_in,            // clk_rx
    input  wire [7:0]   lane_in_k,
    // host bus: see ff_nic_bus.v
    output wire         hb_req, hb_we,
    output wire [63:0]  hb_addr,
    output wire [9:0]   hb_len,
    input  wire         hb_own, hb_gnt, hb_ack, hb_retry,
    output wire         hb_wvalid, hb_wend,
    output wire [63:0]  hb_wdata,
    input  wire         hb_cown, hb_cvalid, hb_clast,
    input  wire [63:0]  hb_cdata,
    // descriptors: four 32-bit target writes, the packet's type with the last; see ff_nic_descriptors.v
    input  wire         td_ask,             // the host asks for the bus to write one
    input  wire         td_valid,
    input  wire [1:0]   td_word,
    input  wire [3:0]   td_type,
    input  wire [31:0]  td_data,
    output wire         td_full,
    // interrupt line, and its handler: one cycle each
    output wire         irq,
    input  wire         host_mask, host_enable, host_take,
    // driver's configuration: stands still while packets move
    input  wire [127:0] host_active,        // flows that have credit
    input  wire [CREDIT_W-1:0] host_share,  // words of it
    input  wire [63:0]  host_note_base,     // where notifications are written
    input  wire         host_rx_stop,       // the host takes no words
    input  wire [15:0]  host_rx_pause,      // bus cycles between two bursts
    // faults: select 0 none, 1 word-omitted, 2 word-duplicated, 3 sync-fifo-empty, 4 lane-misaligned, 5
    // payload-bit-flip, 6 header-corrupted, 7 credit-corrupted, 8 credit-lost, 9 wrap-unhandled, 10
    // credit-start-too-large, 11 clock-drift, 12 credit-too-coarse, 13 credit-too-optimistic, 14 interrupt-storm, 15
    // interrupt-lost, 16 short-transfers (the host's: the card does nothing), 17 split-retry-mishandled, 18
    // header-miscounted. What goes with it stands still while fault_arm is high (any clock). 1..7, 15 and 17 strike
    // once after each reset; 8, 9 and 14 stay from fault_arm on, 10..13 and 18 are there from the reset on.
    input  wire         fault_arm,
    input  wire [4:0]   fault_select,
    input  wire         fault_outgoing,     // 1, 2: the outgoing FIFO, else the incoming; 18: words sent, else received
    input  wire [15:0]  fault_count,        // packets (7: credits, 17: resumptions) to let pass first; 18: one in so many
    input  wire [9:0]   fault_min_length,   // 1..6: only packets of that many payload words; 3: fault_word + 12 or more
    input  wire [9:0]   fault_word,         // 1..6: word of the packet, 0 the header; 3, 4: some words later
    input  wire         fault_lane,         // 3, 4
    input  wire [1:0]   fault_bytes,        // 4: bytes the lane loses, 1..3
    input  wire [63:0]  fault_mask,         // 5, 6: bits that flip; 18: words not counted, see ff_nic_miscount.v
    input  wire [5:0]   fault_bit,          // 7: bit of the credit word, 8..39; 17: words too far, 1..7
    input  wire [6:0]   fault_flow,         // 8, 9, 10, 12, 13, 18 where words are received
    input  wire [CREDIT_W-1:0] fault_limit, // 10: start-up credit; 12: words between two credits; 13: added to the free space
    output reg          fault_struck,       // quasi-static, as are the next; 12: high while it shows, 14: each time it does
    output reg  [15:0]  fault_seq,
    output reg  [6:0]   fault_struck_flow,
    output reg  [9:0]   fault_struck_word,
    output wire         fault_waits,        // for 12 at the far end: begins to wait for credit of fault_flow (clk_link)
    // taps
    output wire         tx_enq_valid, tx_deq_valid, rx_enq_valid, rx_deq_valid,
    output wire [3:0]   tx_enq_kind, tx_deq_kind, rx_enq_kind, rx_deq_kind,
    output wire [63:0]  tx_enq_data, tx_deq_data, rx_enq_data, rx_deq_data,
    // events: see the localparams of ff_example_nic.v for the sources
    output wire [10:0]  ev_bus_valid,
    output wire [43:0]  ev_bus_kind,
    output wire [87:0]  ev_bus_code,
    output wire [76:0]  ev_bus_flow,
    output wire [439:0] ev_bus_value,
    output wire [6:0]   ev_link_valid,
    output wire [27:0]  ev_link_kind,
    output wire [55:0]  ev_link_code,
    output wire [48:0]  ev_link_flow,
    output wire [279:0] ev_link_value,
    // causes, counters
    output wire [15:0]  causes_bus, causes_link,
    output wire [31:0]  count_bus, count_link,
    output wire         length_valid,
    output wire [9:0]   length_words,
    // freeze bank
    output wire [7:0]   bank_tx_dma_state, bank_rx_dma_state,
    output wire [15:0]  bank_tx_level, bank_rx_level,
    output wire [63:0]  bank_dma_address,
    output wire [15:0]  bank_dma_remaining, bank_descriptor_length, bank_descriptors_waiting,
    output wire         bank_interrupt_mask,
    output wire [15:0]  bank_completions_waiting, bank_next_seq_out,
    output wire [7:0]   bank_tx_link_state, bank_rx_link_state,
    output wire [15:0]  bank_next_seq_in,
    output wire [31:0]  bank_stalled_flows,
    output wire [15:0]  bank_sync_level,
    output wire [63:0]  bank_underflows, bank_overflows,
    output wire [3:0]   bank_comma_phase,
    input  wire         flow_req,
    input  wire [6:0]   flow_number,
    input  wire [2:0]   flow_field,
    output wire         flow_ack,
    output wire [31:0]  flow_data,
    // what the recorder's registers ask for
    input  wire [31:0]  cfg_stall_limit,
    input  wire         rx_dma_stop,
    input  wire         traffic_enable,
    input  wire [6:0]   traffic_flow,
    input  wire [9:0]   traffic_length,
    input  wire [31:0]  traffic_gap, traffic_seed,
    input  wire         inject_valid, inject_last,
    input  wire [63:0]  inject_data,
    output wire         inject_ready
);
    // Clocks and resets. A reset opens the gates, so that it arrives.
    wire en_bus = !hold || rst;
    wire en_link, en_rx, rst_link, rst_rx;
    wire bus, link, rx;
    ff_cdc_sync #(.W(2)) i_link (.clk(clk_link), .d({rst, en_bus}), .q({rst_link, en_link}));
    ff_cdc_sync #(.W(2)) i_rx (.clk(clk_rx), .d({rst, en_bus}), .q({rst_rx, en_rx}));
    ff_nic_clock_gate i_gate_bus (.clk(clk_bus), .en(en_bus), .gated(bus));
    ff_nic_clock_gate i_gate_link (.clk(clk_link), .en(en_link), .gated(link));
    ff_nic_clock_gate i_gate_rx (.clk(clk_rx), .en(en_rx), .gated(rx));

    // Faults: armed as each domain sees it.
    wire arm_bus, arm_link, arm_rx;
    ff_cdc_sync i_arm_bus (.clk(bus), .d(fault_arm), .q(arm_bus));
    ff_cdc_sync i_arm_link (.clk(link), .d(fault_arm), .q(arm_link));
    ff_cdc_sync i_arm_rx (.clk(rx), .d(fault_arm), .q(arm_rx));
    wire omit = fault_select == 5'd1, repeated = fault_select == 5'd2;

    // -- sending ---------------------------------------------------------------------------------
    wire        pat_valid, pat_taken;
    wire [31:0] pat_number;
    ff_nic_pattern_posts i_pattern_posts (
        .clk(bus), .rst(rst), .cfg_enable(traffic_enable), .cfg_gap(traffic_gap), .m_valid(pat_valid),
        .m_number(pat_number), .m_taken(pat_taken));

    wire        d_valid, d_pattern, d_take, posted, posted_host;
    wire [63:0] d_src;
    wire [31:0] d_dest;
    wire [9:0]  d_length;
    wire [3:0]  d_flags, d_type;
    wire [6:0]  d_flow, posted_flow;
    wire [15:0] d_seq;
    wire        posting;
    wire [39:0] posted_value, posting_value;
    ff_nic_descriptors #(.PLACES_LOG2(DESCRIPTORS_LOG2)) i_descriptors (
        .clk(bus), .rst(rst), .td_ask(td_ask), .td_valid(td_valid), .td_word(td_word), .td_type(td_type), .td_data(td_data),
        .td_full(td_full), .pat_valid(pat_valid), .pat_seed(traffic_seed), .pat_number(pat_number),
        .pat_length(traffic_length > 10'd512 ? 10'd512 : traffic_length), .pat_flow(traffic_flow),
        .pat_taken(pat_taken), .m_valid(d_valid), .m_src(d_src), .m_dest(d_dest), .m_length(d_length),
        .m_flags(d_flags), .m_type(d_type), .m_flow(d_flow), .m_seq(d_seq), .m_pattern(d_pattern), .m_take(d_take),
        .stat_waiting(bank_descriptors_waiting), .ev_posted(posted), .ev_from_host(posted_host),
        .ev_posting(posting), .ev_flow(posted_flow), .ev_value(posted_value), .ev_posting_value(posting_value));

    wire        tx_gnt, tx_read;
    wire [7:0]  tx_read_code;
    wire [39:0] tx_read_value;
    wire [1:0]  unused_gnt;
    wire        tx_req, tx_ack, tx_retry, tx_started, tx_done, retry_tx, disconnect, split_wait;
    wire [63:0] tx_addr;
    wire [9:0]  tx_len;
    wire [TX_FIFO_LOG2:0] tx_room;
    wire        tx_packet_room, e_valid, e_last, e_first, p_valid, p_notify;
    wire [1:0]  e_kind;
    wire [63:0] e_data;
    wire [15:0] p_seq, p_left;
    wire [6:0]  p_flow, tx_dma_flow;
    wire [39:0] tx_dma_value;
    wire        struck_resume;
    wire [15:0] seq_resume;
    wire [6:0]  flow_resume;
    wire [9:0]  word_resume;
    ff_nic_tx_dma #(.DEPTH_LOG2(TX_FIFO_LOG2)) i_tx_dma (
        .clk(bus), .rst(rst), .d_valid(d_valid), .d_pattern(d_pattern), .d_src(d_src), .d_dest(d_dest),
        .d_length(d_length), .d_flags(d_flags), .d_type(d_type), .d_flow(d_flow), .d_seq(d_seq), .d_take(d_take),
        .inject_valid(inject_valid), .inject_last(inject_last), .inject_data(inject_data), .inject_ready(inject_ready),
        .b_req(tx_req), .b_addr(tx_addr), .b_len(tx_len), .b_gnt(tx_gnt), .b_ack(tx_ack), .b_retry(tx_retry), .c_own(hb_cown),
        .c_valid(hb_cvalid), .c_last(hb_clast), .c_data(hb_cdata), .f_room(tx_room), .f_packet_room(tx_packet_room),
        .f_valid(e_valid), .f_last(e_last), .f_kind(e_kind), .f_data(e_data), .f_first(e_first), .p_valid(p_valid),
        .p_notify(p_notify), .p_seq(p_seq), .p_flow(p_flow), .stat_state(bank_tx_dma_state),
        .stat_address(bank_dma_address), .stat_remaining(bank_dma_remaining), .stat_length(bank_descriptor_length),
        .stat_next_seq(bank_next_seq_out), .ev_started(tx_started), .ev_done(tx_done), .ev_flow(tx_dma_flow),
        .ev_value(tx_dma_value), .ev_read(tx_read), .ev_read_code(tx_read_code), .ev_read_value(tx_read_value),
        .count_retry(retry_tx), .count_disconnect(disconnect),
        .count_split_wait(split_wait), .fault_resume(arm_bus && fault_select == 5'd17), .fault_words(fault_bit[2:0]),
        .fault_count(fault_count), .fault_struck(struck_resume), .fault_seq(seq_resume), .fault_struck_flow(flow_resume),
        .fault_struck_word(word_resume));

    wire        hit_enq, struck_enq, hit_deq, struck_deq;
    wire [15:0] seq_enq, seq_deq;
    wire [6:0]  flow_enq, flow_deq;
    ff_nic_fault_match i_match_tx_enq (
        .clk(bus), .rst(rst), .en(arm_bus && omit && fault_outgoing), .s_valid(e_valid), .s_first(e_first),
        .s_data(e_data), .cfg_count(fault_count), .cfg_min_length(fault_min_length), .cfg_word(fault_word),
        .hit(hit_enq), .stat_done(struck_enq), .stat_seq(seq_enq), .stat_flow(flow_enq));

    wire        q_valid, q_last, q_take, q_first, tx_overflow;
    wire [1:0]  q_kind;
    wire [63:0] q_data;
    wire [10:0] q_words;
    ff_nic_tx_fifo #(.DEPTH_LOG2(TX_FIFO_LOG2), .PACKETS_LOG2(9)) i_tx_fifo (
        .s_clk(bus), .s_rst(rst), .s_valid(e_valid), .s_last(e_last), .s_kind(e_kind), .s_data(e_data),
        .s_omit(hit_enq), .s_room(tx_room), .s_packet_room(tx_packet_room), .stat_overflow(tx_overflow),
        .stat_clk(clk_bus), .stat_level(bank_tx_level), .stat_left(p_left), .m_clk(link), .m_rst(rst_link), .m_valid(q_valid),
        .m_last(q_last), .m_kind(q_kind), .m_data(q_data), .m_words(q_words), .m_take(q_take), .m_hold(hit_deq));
    ff_nic_fault_match i_match_tx_deq (
        .clk(link), .rst(rst_link), .en(arm_link && repeated && fault_outgoing), .s_valid(q_valid && q_take),
        .s_first(q_first), .s_data(q_data), .cfg_count(fault_count), .cfg_min_length(fault_min_length),
        .cfg_word(fault_word), .hit(hit_deq), .stat_done(struck_deq), .stat_seq(seq_deq), .stat_flow(flow_deq));

    // -- link ------------------------------------------------------------------------------------
    wire        r_valid, r_first, r_last, r_accept, i_take, i_first, freed;
    wire [1:0]  r_kind, i_kind;
    wire [63:0] r_data, i_data;
    wire [2:0]  r_flags;
    wire [6:0]  freed_flow;
    wire [RX_FIFO_LOG2:0] i_level, stat_rx_level;
    wire [33:0] truth_link;
    ff_nic_link_side #(.FLOWS(FLOWS), .CREDIT_W(CREDIT_W), .CREDIT_UNIT(CREDIT_UNIT)) i_link_side (
        .clk_bus(clk_bus), .bus(bus), .rst(rst), .clk_link(clk_link), .link(link), .rst_link(rst_link),
        .en_link(en_link), .rx(rx), .rst_rx(rst_rx), .lane_out(lane_out), .lane_out_k(lane_out_k), .lane_in(lane_in),
        .lane_in_k(lane_in_k), .cfg_active(host_active), .cfg_share(host_share), .cfg_stall_limit(cfg_stall_limit),
        .arm_link(arm_link), .arm_rx(arm_rx), .fault_select(fault_select), .fault_outgoing(fault_outgoing),
        .fault_count(fault_count), .fault_min_length(fault_min_length), .fault_word(fault_word),
        .fault_lane(fault_lane), .fault_bytes(fault_bytes), .fault_mask(fault_mask), .fault_bit(fault_bit),
        .fault_flow(fault_flow), .fault_limit(fault_limit),
        .fault_room(!i_level[RX_FIFO_LOG2] && !i_level[RX_FIFO_LOG2-1]), .fault_truth(truth_link),
        .fault_waits(fault_waits), .s_valid(q_valid), .s_last(q_last), .s_data(q_data), .s_words(q_words),
        .s_take(q_take), .s_first(q_first), .m_valid(r_valid), .m_first(r_first), .m_last(r_last), .m_kind(r_kind),
        .m_data(r_data), .m_flags(r_flags), .m_accept(r_accept), .read_valid(i_take), .read_first(i_first),
        .read_last(i_kind == 2'd3), .read_flow(i_data[14:8]), .freed_valid(freed), .freed_flow(freed_flow),
        .flow_req(flow_req), .flow_number(flow_number), .flow_field(flow_field), .flow_ack(flow_ack),
        .flow_data(flow_data), .stat_tx_state(bank_tx_link_state), .stat_rx_state(bank_rx_link_state),
        .stat_stalled(bank_stalled_flows), .stat_next_seq(bank_next_seq_in), .stat_sync_level(bank_sync_level),
        .stat_underflows(bank_underflows), .stat_overflows(bank_overflows), .stat_phase(bank_comma_phase),
        .ev_valid(ev_link_valid), .ev_kind(ev_link_kind), .ev_code(ev_link_code), .ev_flow(ev_link_flow),
        .ev_value(ev_link_value), .causes(causes_link), .count(count_link));

    // -- receiving -------------------------------------------------------------------------------
    wire        hit_rx_enq, struck_rx_enq, hit_rx_deq, struck_rx_deq;
    wire [15:0] seq_rx_enq, seq_rx_deq;
    wire [6:0]  flow_rx_enq, flow_rx_deq;
    ff_nic_fault_match i_match_rx_enq (
        .clk(link), .rst(rst_link), .en(arm_link && omit && !fault_outgoing), .s_valid(r_valid), .s_first(r_first),
        .s_data(r_data), .cfg_count(fault_count), .cfg_min_length(fault_min_length), .cfg_word(fault_word),
        .hit(hit_rx_enq), .stat_done(struck_rx_enq), .stat_seq(seq_rx_enq), .stat_flow(flow_rx_enq));

    wire        i_valid, i_start, i_complete, i_done;
    wire [2:0]  i_flags;
    ff_nic_rx_fifo #(.DEPTH_LOG2(RX_FIFO_LOG2)) i_rx_fifo (
        .s_clk(link), .s_rst(rst_link), .s_valid(r_valid), .s_first(r_first), .s_last(r_last), .s_kind(r_kind),
        .s_data(r_data), .s_omit(hit_rx_enq), .s_accept(r_accept), .s_flags(r_flags), .m_clk(bus), .m_rst(rst),
        .m_valid(i_valid), .m_start(i_start), .m_kind(i_kind), .m_data(i_data), .m_flags(i_flags), .m_take(i_take),
        .m_hold(hit_rx_deq), .m_complete(i_complete), .m_done(i_done), .m_level(i_level),
        .stat_clk(clk_bus), .stat_level(stat_rx_level));
    ff_nic_fault_match i_match_rx_deq (
        .clk(bus), .rst(rst), .en(arm_bus && repeated && !fault_outgoing), .s_valid(i_take), .s_first(i_first),
        .s_data(i_data), .cfg_count(fault_count), .cfg_min_length(fault_min_length), .cfg_word(fault_word),
        .hit(hit_rx_deq), .stat_done(struck_rx_deq), .stat_seq(seq_rx_deq), .stat_flow(flow_rx_deq));
    assign bank_rx_level = {{15-RX_FIFO_LOG2{1'b0}}, stat_rx_level};

    wire        rx_req, rx_ack, rx_retry, rx_wvalid, rx_wend, note_valid, note_ready;
    wire [63:0] rx_addr, rx_wdata;
    wire [9:0]  rx_len;
    wire [6:0]  note_flow;
    wire [15:0] note_seq;
    wire        length_valid_bus;
    wire        bc_header, bc_payload, bc_length, nb_header, nb_payload, nb_length, drop, retry_rx;
    ff_nic_rx_dma #(.DEPTH_LOG2(RX_FIFO_LOG2), .BURST(BURST)) i_rx_dma (
        .clk(bus), .rst(rst), .cfg_stop(rx_dma_stop || host_rx_stop), .cfg_pause(host_rx_pause), .f_valid(i_valid),
        .f_start(i_start), .f_complete(i_complete), .f_kind(i_kind), .f_data(i_data), .f_flags(i_flags),
        .f_level(i_level), .f_take(i_take), .f_done(i_done), .f_first(i_first), .f_hold(hit_rx_deq), .b_req(rx_req),
        .b_addr(rx_addr), .b_len(rx_len), .b_ack(rx_ack), .b_retry(rx_retry), .b_wvalid(rx_wvalid), .b_wend(rx_wend),
        .b_wdata(rx_wdata), .freed_valid(freed), .freed_flow(freed_flow), .note_valid(note_valid),
        .note_seq(note_seq), .note_flow(note_flow), .note_ready(note_ready), .length_valid(length_valid_bus),
        .length_words(length_words), .stat_state(bank_rx_dma_state), .cause_header(bc_header),
        .cause_payload(bc_payload), .cause_length(bc_length), .count_header(nb_header), .count_payload(nb_payload),
        .count_length(nb_length), .count_drop(drop), .count_retry(retry_rx));
    assign length_valid = length_valid_bus && en_bus;

    // -- host ------------------------------------------------------------------------------------
    wire        n_req, n_ack, n_retry, n_wvalid, n_wend, note_local, note_remote;
    wire [63:0] n_addr, n_wdata;
    wire [9:0]  n_len;
    wire [6:0]  note_ev_flow;
    wire [39:0] note_value;
    ff_nic_notes #(.PACKETS_LOG2(9)) i_notes (
        .clk(bus), .rst(rst), .cfg_base(host_note_base), .p_valid(p_valid), .p_notify(p_notify), .p_seq(p_seq),
        .p_flow(p_flow), .p_left(p_left), .r_valid(note_valid && i_done), .r_seq(note_seq), .r_flow(note_flow),
        .r_ready(note_ready), .b_req(n_req), .b_addr(n_addr), .b_len(n_len), .b_ack(n_ack), .b_retry(n_retry),
        .b_wvalid(n_wvalid), .b_wend(n_wend), .b_wdata(n_wdata), .ev_local(note_local), .ev_remote(note_remote),
        .ev_flow(note_ev_flow), .ev_value(note_value));

    wire        raised, masked, enabled;
    wire [39:0] irq_value, irq_host_value;
    wire        struck_irq;
    wire [15:0] seq_irq;
    wire [6:0]  flow_irq;
    ff_nic_interrupt i_interrupt (
        .clk(bus), .rst(rst), .complete(note_remote), .host_mask(host_mask), .host_enable(host_enable),
        .host_take(host_take), .irq(irq), .stat_masked(bank_interrupt_mask), .stat_waiting(bank_completions_waiting),
        .ev_raised(raised), .ev_masked(masked), .ev_enabled(enabled), .ev_value(irq_value),
        .ev_host_value(irq_host_value), .complete_seq(note_value[15:0]), .complete_flow(note_ev_flow),
        .fault_unmasked(arm_bus && fault_select == 5'd14), .fault_edge(arm_bus && fault_select == 5'd15),
        .fault_struck(struck_irq), .fault_seq(seq_irq), .fault_struck_flow(flow_irq));

    ff_nic_bus i_bus (
        .clk(bus), .rst(rst), .s_req({tx_req, n_req, rx_req}), .s_addr({tx_addr, n_addr, rx_addr}),
        .s_len({tx_len, n_len, rx_len}), .s_gnt({tx_gnt, unused_gnt}), .s_ack({tx_ack, n_ack, rx_ack}), .s_retry({tx_retry, n_retry, rx_retry}),
        .s_wvalid({n_wvalid, rx_wvalid}), .s_wend({n_wend, rx_wend}), .s_wdata({n_wdata, rx_wdata}),
        .hb_req(hb_req), .hb_we(hb_we), .hb_addr(hb_addr), .hb_len(hb_len), .hb_gnt(hb_gnt), .hb_ack(hb_ack), .hb_retry(hb_retry),
        .hb_wvalid(hb_wvalid), .hb_wend(hb_wend), .hb_wdata(hb_wdata));

    // -- what the recorder sees ------------------------------------------------------------------
    // A word is accepted with the next edge of its clock; while that does not come, there is none.
    assign {tx_enq_valid, tx_enq_kind, tx_enq_data} = {e_valid && en_bus, 2'd0, e_kind, e_data};
    assign {tx_deq_valid, tx_deq_kind, tx_deq_data} = {q_valid && q_take && en_link, 2'd0, q_kind, q_data};
    assign {rx_enq_valid, rx_enq_kind, rx_enq_data} = {r_accept && en_link, 2'd0, r_kind, r_data};
    assign {rx_deq_valid, rx_deq_kind, rx_deq_data} = {i_take && en_bus, 2'd0, i_kind, i_data};

    wire        state_tx_dma, state_rx_dma;
    wire [39:0] state_tx_dma_value, state_rx_dma_value;
    ff_nic_state_event i_state_tx_dma (
        .clk(bus), .rst(rst), .state(bank_tx_dma_state), .ev_valid(state_tx_dma), .ev_value(state_tx_dma_value));
    ff_nic_state_event i_state_rx_dma (
        .clk(bus), .rst(rst), .state(bank_rx_dma_state), .ev_valid(state_rx_dma), .ev_value(state_rx_dma_value));

    localparam [3:0] DESC = 4'd5, NOTE = 4'd6, IRQ = 4'd7, STATE = 4'd8;
    // host: posted, interrupt line, posting; tx_dma: state, started, read, done, note; rx_dma: state, note, interrupt
    assign ev_bus_valid = {11{en_bus}} & {
        raised, note_remote, state_rx_dma, note_local, tx_done, tx_read, tx_started, state_tx_dma, posting,
        masked || enabled, posted};
    assign ev_bus_kind = {IRQ, NOTE, STATE, NOTE, DESC, DESC, DESC, STATE, DESC, IRQ, DESC};
    assign ev_bus_code = {
        8'd1, 8'd2, 8'd1, 8'd1, 8'd3, tx_read_code, 8'd2, 8'd0, 8'd6, masked ? 8'd2 : 8'd3, 8'd1};
    assign ev_bus_flow = {
        7'd0, note_ev_flow, 7'd0, note_ev_flow, tx_dma_flow, tx_dma_flow, tx_dma_flow, 7'd0, 7'd0, 7'd0, posted_flow};
    assign ev_bus_value = {
        irq_value, note_value, state_rx_dma_value, note_value, tx_dma_value, tx_read_value, tx_dma_value,
        state_tx_dma_value, posting_value, irq_host_value, posted_value};

    // Causes and counters: enum cause, and the counters in the order of the map.
    reg tx_overflow_q;
    always @(posedge bus) tx_overflow_q <= tx_overflow && !rst;
    assign causes_bus = {16{en_bus}} & {7'd0, tx_overflow_q, 3'd0, bc_length, bc_payload, bc_header, 2'd0};
    assign count_bus = {32{en_bus}} & {
        2'd0, disconnect, retry_tx || retry_rx, split_wait, hb_wvalid || hb_cvalid, hb_own || hb_cown, raised,
        note_local || note_remote, posted && posted_host, 4'd0, 1'b0, tx_overflow_q, 3'd0, drop, 1'b0, nb_length,
        nb_payload, nb_header, 8'd0};

    // What the fault did, for whoever keeps the truth; it stands still once it has struck.
    always @* case (fault_select)
        5'd1: {fault_struck, fault_seq, fault_struck_flow, fault_struck_word} = fault_outgoing
            ? {struck_enq, seq_enq, flow_enq, fault_word} : {struck_rx_enq, seq_rx_enq, flow_rx_enq, fault_word};
        5'd2: {fault_struck, fault_seq, fault_struck_flow, fault_struck_word} = fault_outgoing
            ? {struck_deq, seq_deq, flow_deq, fault_word} : {struck_rx_deq, seq_rx_deq, flow_rx_deq, fault_word};
        5'd14, 5'd15: {fault_struck, fault_seq, fault_struck_flow, fault_struck_word}
            = {struck_irq, seq_irq, flow_irq, 10'd0};
        5'd17: {fault_struck, fault_seq, fault_struck_flow, fault_struck_word}
            = {struck_resume, seq_resume, flow_resume, word_resume};
        default: {fault_struck, fault_seq, fault_struck_flow, fault_struck_word} = truth_link;
    endcase
    wire unused = &{1'b0, n_retry, unused_gnt};
endmodule
`default_nettype wire
