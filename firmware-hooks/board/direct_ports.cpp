// SPDX-License-Identifier: Apache-2.0
#include "direct_ports.h"

namespace freezeframe {

void DirectPorts::ask(bool write, uint32_t address, uint32_t word) {
    asked_ = address;
    SET(card_, s_req, 1);
    SET(card_, s_we, write);
    SET(card_, s_addr, address);
    SET(card_, s_wdata, word);
    asking_ = true;
    answered_ = false;
}

void DirectPorts::take_answer() {
    if (!asking_ || !OF(card_, s_ack)) return;
    reply_ = {OF(card_, s_err) != 0, OF(card_, s_rdata)};
    answered_ = true;
    asking_ = false;
    line_.words.clear();
    if (!OF(card_, s_record_valid)) return;
    const auto& record = OF(card_, s_record);
    line_ = {asked_ & ~15u, {record.at(0), record.at(1), record.at(2) & 0xFF, 0}};
}

void DirectPorts::before() {
    seen_.req = OF(card_, hb_req);
    seen_.we = OF(card_, hb_we);
    seen_.wvalid = OF(card_, hb_wvalid);
    seen_.wend = OF(card_, hb_wend);
    seen_.td_full = OF(card_, td_full);
    seen_.irq = OF(card_, irq);
    seen_.nic_rst = OF(card_, nic_rst);
    seen_.len = OF(card_, hb_len);
    seen_.addr = OF(card_, hb_addr);
    seen_.wdata = OF(card_, hb_wdata);
    take_answer();
}

void DirectPorts::after(uint64_t, uint64_t) {
    if (OF(card_, held) && !seen_.nic_rst) return; // the card's clocks stand still
    const ToCard to = seen_.nic_rst ? host_.idle() : host_.step(seen_);
    SET(card_, hb_own, to.own);
    SET(card_, hb_gnt, to.gnt);
    SET(card_, hb_ack, to.ack);
    SET(card_, hb_retry, to.retry);
    SET(card_, hb_cown, to.cown);
    SET(card_, hb_cvalid, to.cvalid);
    SET(card_, hb_clast, to.clast);
    SET(card_, hb_cdata, to.cdata);
    SET(card_, td_ask, to.td_ask);
    SET(card_, td_valid, to.td_valid);
    SET(card_, td_word, to.td_word);
    SET(card_, td_type, to.td_type);
    SET(card_, td_data, to.td_data);
    SET(card_, host_mask, to.mask);
    SET(card_, host_enable, to.enable);
    SET(card_, host_take, to.take);
    SET(card_, host_rx_stop, to.rx_stop);
    SET(card_, host_rx_pause, to.rx_pause);
    SET(card_, host_share, to.share);
    SET(card_, host_note_base, to.note_base);
    OF(card_, host_active)[0] = to.active;
}

}  // namespace freezeframe
