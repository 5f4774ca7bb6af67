// SPDX-License-Identifier: Apache-2.0
// ff_nic_pcix: the PCI-X front end of the example card: its host bus port (ff_nic_bus.v), its descriptors and its
// registers on the one side, the pins of a PCI-X 1.0b device of 64 bits on the other.
//
// Pins come in threes, in, out and enable; what is s/t/s is driven high for a clock before it floats. Everything is
// sampled into and driven from registers. As requester it has one read and one write at a time, tag 0; as completer one
// split read. Posted writes go before all else, so nothing passes them. Data with wrong parity is told by PERR# and in the
// status, and goes on its way; as a requester's it is told by SERR# too, unless recovery is enabled.
//
// Latency, throughput, back-pressure: those of its parts. Clock domain: clk, the clock of the bus. rst is power-up,
// rst_n RST#; card_hold and card_rst say that the card stands still, or is in reset.
`default_nettype none
module ff_nic_pcix #(
    parameter DEPTH_LOG2 = 8, // log2 of the words of posted writes, see ff_nic_pcix_writes.v
    parameter [15:0] VENDOR = 16'hFF0F,
    parameter [15:0] DEVICE = 16'h0001
) (
    input  wire         clk, rst,
    // pins
    input  wire         rst_n, idsel, gnt_n,
    output wire         req_n,
    input  wire [63:0]  ad_i,
    output wire [63:0]  ad_o,
    output wire         ad_oe, ad_high_oe,
    input  wire [7:0]   cbe_i,
    output wire [7:0]   cbe_o,
    output wire         cbe_oe,
    input  wire         par_i, par64_i,
    output reg          par_o, par64_o, par_oe, par64_oe,
    input  wire         frame_n_i, irdy_n_i, req64_n_i,
    output wire         frame_n_o, frame_oe, irdy_n_o, irdy_oe, req64_n_o,  // REQ64# has FRAME#'s enable
    input  wire         devsel_n_i, trdy_n_i, stop_n_i, ack64_n_i,
    output wire         devsel_n_o, trdy_n_o, stop_n_o, ack64_n_o, target_oe,
    input  wire         perr_n_i,
    output wire         perr_n_o,
    output reg          perr_oe,
    output reg          serr_oe,        // open drain
    output wire         inta_oe,        // open drain
    // the card
    input  wire         card_hold, card_rst,
    output wire         card_run,       // 0 until the driver lets it run
    input  wire         hb_req, hb_we,
    input  wire [63:0]  hb_addr,
    input  wire [9:0]   hb_len,
    output wire         hb_own, hb_gnt, hb_ack, hb_retry,
    input  wire         hb_wvalid, hb_wend,
    input  wire [63:0]  hb_wdata,
    output wire         hb_cown, hb_cvalid, hb_clast,
    output wire [63:0]  hb_cdata,
    output wire         td_ask, td_valid,
    output wire [1:0]   td_word,
    output wire [3:0]   td_type,
    output wire [31:0]  td_data,
    input  wire         td_full, irq,
    output wire         host_mask, host_enable, host_take, host_rx_stop,
    output wire [127:0] host_active,
    output wire [15:0]  host_share, host_rx_pause,
    output wire [63:0]  host_note_base,
    // its register port; the upper bits of the address are the device's
    output wire         s_req, s_we,
    output wire [23:0]  s_addr,
    output wire [31:0]  s_wdata,
    input  wire         s_ack,
    input  wire [31:0]  s_rdata
);
    // -- what the bus shows, at the last edge -----------------------------------------------------
    reg  [63:0] i_ad;
    reg  [7:0]  i_cbe;
    reg         i_par, i_par64, i_frame, i_irdy, i_req64, i_devsel, i_trdy, i_stop, i_ack64, i_perr, i_gnt, i_idsel, quiet_q;
    always @(posedge clk) begin
        {i_ad, i_cbe, i_par, i_par64, i_idsel} <= {ad_i, cbe_i, par_i, par64_i, idsel};
        {i_frame, i_irdy, i_req64, i_devsel, i_trdy, i_stop, i_ack64, i_perr, i_gnt}
            <= ~{frame_n_i, irdy_n_i, req64_n_i, devsel_n_i, trdy_n_i, stop_n_i, ack64_n_i, perr_n_i, gnt_n};
        quiet_q <= rst || !rst_n;
    end
    wire quiet = quiet_q;
    wire still = card_hold || card_rst || rst;

    // Parity of the clock before: what it should have been stands beside what it was.
    reg  sum_q, sum64_q;
    always @(posedge clk) {sum_q, sum64_q} <= {^{i_ad[31:0], i_cbe[3:0]}, ^{i_ad[63:32], i_cbe[7:4]}};
    wire bad = sum_q != i_par;
    wire bad64 = sum64_q != i_par64;

    // -- initiator: who has it --------------------------------------------------------------------
    localparam [1:0] WRITES = 2'd0, COMPLETER = 2'd1, READS = 2'd2;
    wire        w_request, c_request, c_wide, r_request, start, e_valid, busy, writes_empty;
    wire [63:0] w_addr, r_addr, w_data, c_data;
    wire [31:0] c_addr;
    wire [12:0] w_count, c_count, c_piece, r_count, e_moved;
    wire [23:0] c_attr;
    wire [2:0]  e_code;
    wire [9:0]  d_word;
    wire        m_valid, m_wide, m_high, m_ends, m_done;
    reg  [1:0]  who_q;
    wire [1:0]  next = w_request ? WRITES : c_request ? COMPLETER : READS;
    wire [1:0]  who = busy ? who_q : next;
    always @(posedge clk) if (start) who_q <= next;
    wire en_memory, en_master, en_parity, en_serr, en_recover;
    wire [63:0] base0, base1;
    wire [15:0] id;
    wire [7:0]  latency;
    wire [12:0] most;
    wire wants = (w_request && en_master) || c_request || r_request;
    wire o_frame, o_irdy, o_req64, init_oe;
    wire [63:0] init_ad;
    ff_nic_pcix_initiator i_initiator (
        .clk(clk), .rst(quiet), .i_frame(i_frame), .i_irdy(i_irdy), .i_trdy(i_trdy), .i_devsel(i_devsel), .i_stop(i_stop),
        .i_ack64(i_ack64), .i_gnt(i_gnt), .cfg_latency(latency), .r_valid(wants), .r_write(next != READS),
        .r_wide(next != COMPLETER || c_wide), .r_cmd(next == WRITES ? 4'd15 : next == COMPLETER ? 4'd12 : 4'd14),
        .r_addr(next == WRITES ? w_addr : next == COMPLETER ? {32'd0, c_addr} : r_addr),
        .r_count(next == WRITES ? w_count : next == COMPLETER ? c_count : r_count),
        .r_piece(next == WRITES ? w_count : next == COMPLETER ? c_piece : r_count),
        .r_attr(next == COMPLETER ? c_attr : {8'd0, id}), .r_start(start), .d_word(d_word),
        .d_data(who == COMPLETER ? c_data : w_data), .m_valid(m_valid), .m_wide(m_wide), .m_high(m_high), .m_ends(m_ends),
        .m_done(m_done), .e_valid(e_valid), .e_code(e_code), .e_moved(e_moved), .busy(busy), .o_frame(o_frame),
        .o_frame_oe(frame_oe), .o_irdy(o_irdy), .o_irdy_oe(irdy_oe), .o_req64(o_req64), .o_ad_oe(init_oe),
        .o_cbe_oe(cbe_oe), .o_ad(init_ad), .o_cbe(cbe_o));

    // -- target -----------------------------------------------------------------------------------
    wire        k_begin, k_message, k_error, k_valid, k_wide, k_high, t_data, t_wide, t_aborted, t_header;
    wire [4:0]  k_tag;
    wire        s_free, w_free, t_read, t_write, t_window, t_dword, w_valid, w_wide, w_enabled, w_end;
    wire [23:0] t_addr;
    wire [12:0] t_count;
    wire [31:8] t_attr;
    wire [6:0]  w_at;
    wire [5:0]  config_addr;
    wire [3:0]  config_enables;
    wire        config_write;
    wire [7:0]  config_bus;
    wire [4:0]  config_device;
    wire [31:0] config_data, target_ad;
    wire        o_devsel, o_trdy, o_stop, o_ack64, target_ad_oe;
    ff_nic_pcix_target i_target (
        .clk(clk), .rst(quiet), .i_frame(i_frame), .i_irdy(i_irdy), .i_trdy(i_trdy), .i_idsel(i_idsel), .i_req64(i_req64),
        .i_ad(i_ad[31:0]), .i_cbe(i_cbe), .bad(bad && en_parity), .mine(busy), .id(id), .en_memory(en_memory),
        .cfg_base0(base0), .cfg_base1(base1), .c_addr(config_addr), .c_write(config_write), .c_enables(config_enables),
        .c_bus(config_bus), .c_device(config_device), .c_rdata(config_data), .s_free(s_free), .w_free(w_free),
        .s_valid(t_read), .w_begin(t_write), .s_addr(t_addr), .s_window(t_window), .s_dword(t_dword), .s_count(t_count),
        .s_attr(t_attr), .w_valid(w_valid), .w_wide(w_wide), .w_enabled(w_enabled), .w_at(w_at), .w_end(w_end),
        .k_begin(k_begin), .k_message(k_message), .k_error(k_error), .k_tag(k_tag), .k_valid(k_valid), .k_wide(k_wide),
        .k_high(k_high), .stat_aborted(t_aborted), .stat_header(t_header), .data(t_data), .data_wide(t_wide),
        .o_devsel(o_devsel), .o_trdy(o_trdy), .o_stop(o_stop), .o_ack64(o_ack64), .o_oe(target_oe), .o_ad(target_ad),
        .o_ad_oe(target_ad_oe));

    // -- what the card does on the bus ------------------------------------------------------------
    wire w_ack, r_ack, resume, writes_halted, reads_halted, waits, got_message, discarded;
    wire taken_w = start && next == WRITES, taken_c = start && next == COMPLETER, taken_r = start && next == READS;
    ff_nic_pcix_writes #(.DEPTH_LOG2(DEPTH_LOG2)) i_writes (
        .clk(clk), .rst(quiet), .card_rst(still), .cfg_flush(card_rst), .cfg_resume(resume), .hb_req(hb_req && hb_we && !still),
        .hb_addr(hb_addr), .hb_len(hb_len), .hb_ack(w_ack), .hb_wvalid(hb_wvalid), .hb_wend(hb_wend), .hb_wdata(hb_wdata),
        .empty(writes_empty), .r_valid(w_request), .r_addr(w_addr), .r_count(w_count), .r_taken(taken_w),
        .e_valid(e_valid && who_q == WRITES), .e_code(e_code), .e_moved(e_moved), .d_word(d_word), .d_data(w_data),
        .stat_halted(writes_halted));
    reg  expected_q;
    wire expected = k_tag == 5'd0 && waits;
    always @(posedge clk) if (k_begin) expected_q <= expected;
    ff_nic_pcix_reads i_reads (
        .clk(clk), .rst(quiet), .card_rst(still), .cfg_resume(resume), .cfg_most(most), .en(writes_empty && en_master),
        .hb_req(hb_req && !hb_we), .hb_addr(hb_addr), .hb_len(hb_len), .hb_gnt(hb_gnt), .hb_ack(r_ack), .hb_retry(hb_retry),
        .hb_cown(hb_cown), .hb_cvalid(hb_cvalid), .hb_clast(hb_clast), .hb_cdata(hb_cdata), .r_valid(r_request),
        .r_addr(r_addr), .r_count(r_count), .r_taken(taken_r), .m_valid(m_valid && who_q == READS), .m_wide(m_wide),
        .m_high(m_high), .m_ends(m_ends), .m_done(m_done), .e_valid(e_valid && who_q == READS), .e_code(e_code),
        .k_begin(k_begin && expected), .k_message(k_message), .k_error(k_error), .k_valid(k_valid && expected_q),
        .k_wide(k_wide), .k_high(k_high), .waits(waits), .i_ad(i_ad), .i_idle(!i_frame && !i_irdy),
        .stat_message(got_message), .stat_halted(reads_halted));
    assign hb_ack = w_ack || r_ack;

    // -- what is done to the card -----------------------------------------------------------------
    wire        v_write;
    wire [11:0] v_addr;
    wire [31:0] v_wdata, v_rdata;
    ff_nic_pcix_completer i_completer (
        .clk(clk), .rst(quiet), .id(id), .s_free(s_free), .w_free(w_free), .s_valid(t_read), .w_begin(t_write),
        .s_window(t_window), .s_dword(t_dword), .s_addr(t_addr), .s_count(t_count), .s_attr(t_attr), .w_valid(w_valid),
        .w_wide(w_wide), .w_enabled(w_enabled), .w_end(w_end), .w_at(w_at), .i_ad(i_ad), .i_cbe(i_cbe),
        .r_valid(c_request), .r_wide(c_wide), .r_addr(c_addr), .r_count(c_count), .r_piece(c_piece), .r_attr(c_attr),
        .r_taken(taken_c), .e_valid(e_valid && who_q == COMPLETER), .e_code(e_code), .e_moved(e_moved), .d_word(d_word),
        .d_data(c_data), .stat_discarded(discarded), .p_alive(card_run), .p_req(s_req), .p_we(s_we), .p_addr(s_addr),
        .p_wdata(s_wdata), .p_ack(s_ack), .p_rdata(s_rdata), .v_write(v_write), .v_addr(v_addr), .v_wdata(v_wdata),
        .v_rdata(v_rdata));
    wire posting = t_write && t_window && t_addr[11:8] == 4'd0;
    reg  posting_q;
    always @(posedge clk) posting_q <= (posting || posting_q) && !w_end && !quiet;
    ff_nic_pcix_driver i_driver (
        .clk(clk), .rst(rst), .v_write(v_write), .v_addr(v_addr), .v_wdata(v_wdata), .v_rdata(v_rdata), .posting(posting),
        .td_ask(td_ask), .td_valid(td_valid), .td_word(td_word), .td_type(td_type), .td_data(td_data), .td_full(td_full),
        .irq(irq), .host_mask(host_mask), .host_enable(host_enable), .host_take(host_take), .host_active(host_active),
        .host_share(host_share), .host_note_base(host_note_base), .host_rx_stop(host_rx_stop),
        .host_rx_pause(host_rx_pause), .run(card_run), .stat_write_halted(writes_halted), .stat_read_halted(reads_halted),
        .resume(resume));
    assign hb_own = (busy && who_q != COMPLETER) || posting_q;

    // -- errors -----------------------------------------------------------------------------------
    // Data with its parity: a clock later. What this card has written is told wrong three clocks behind it.
    reg        check_q, check_wide_q, requester_q;
    reg  [2:0] wrote_q;
    reg        perr_q;
    wire       wrong = check_q && (bad || (bad64 && check_wide_q));
    wire       answered = wrote_q[2] && i_perr;
    wire       master_parity = en_parity && ((wrong && requester_q) || answered);
    wire       serr = en_serr && ((en_parity && t_header) || (master_parity && !en_recover));
    always @(posedge clk) begin
        check_q <= t_data || (m_valid && who_q == READS);
        check_wide_q <= t_data ? t_wide : m_wide;
        requester_q <= t_data ? k_valid && expected_q : 1'b1;
        wrote_q <= {wrote_q[1:0], m_valid && who_q != READS};
        perr_q <= wrong && en_parity;
        perr_oe <= (wrong && en_parity) || perr_q;
        serr_oe <= serr;
        if (quiet) {check_q, wrote_q, perr_q, perr_oe, serr_oe} <= 7'd0;
    end
    ff_nic_pcix_config #(.VENDOR(VENDOR), .DEVICE(DEVICE)) i_config (
        .clk(clk), .rst(quiet), .c_addr(config_addr), .c_write(config_write), .c_enables(config_enables),
        .c_wdata(i_ad[31:0]), .c_bus(config_bus), .c_device(config_device), .c_rdata(config_data),
        .set_master_parity(master_parity), .set_signaled_abort(t_aborted),
        .set_received_abort(e_valid && e_code == 3'd3), .set_master_abort(e_valid && e_code == 3'd4), .set_serr(serr),
        .set_parity(wrong || t_header), .set_discarded(discarded), .set_unexpected(k_begin && !expected),
        .set_message(got_message), .en_memory(en_memory), .en_master(en_master), .en_parity(en_parity), .en_serr(en_serr),
        .en_recover(en_recover), .base0(base0), .base1(base1), .id(id), .latency(latency), .most(most));

    // -- pins -------------------------------------------------------------------------------------
    assign req_n = !(wants && !busy);
    assign ad_o = init_oe ? init_ad : {32'd0, target_ad};
    assign ad_oe = init_oe || target_ad_oe;
    assign ad_high_oe = init_oe;
    // Whoever drives AD drives PAR a clock later; of a read the other's C/BE# stand as they did.
    wire [7:0] cbe = cbe_oe ? cbe_o : i_cbe;
    always @(posedge clk) begin
        {par_o, par64_o} <= {^{ad_o[31:0], cbe[3:0]}, ^{ad_o[63:32], cbe[7:4]}};
        {par_oe, par64_oe} <= {ad_oe, ad_high_oe};
        if (quiet) {par_oe, par64_oe} <= 2'd0;
    end
    assign {frame_n_o, irdy_n_o, req64_n_o} = ~{o_frame, o_irdy, o_req64};
    assign {devsel_n_o, trdy_n_o, stop_n_o, ack64_n_o} = ~{o_devsel, o_trdy, o_stop, o_ack64};
    assign perr_n_o = !perr_q;
    assign inta_oe = irq;

endmodule
`default_nettype wire
