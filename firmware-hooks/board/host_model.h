// SPDX-License-Identifier: Apache-2.0
// The host of one example network card on its own port: bus, driver and interrupt handler, one call a bus cycle.
//
// It is the peer of the hb_*, td_*, irq and host_* ports (rtl/example_nic/ff_nic_bus.v, ff_nic_descriptors.v).
#pragma once

#include "driver.h"

namespace freezeframe {

// What the host sees of its card before a rising edge of the bus clock.
struct FromCard {
    bool req, we, wvalid, wend, td_full, irq, nic_rst;
    uint16_t len;
    uint64_t addr, wdata;
};

// What it drives after that edge.
struct ToCard {
    bool own = false, gnt = false, ack = false, retry = false, cown = false, cvalid = false, clast = false;
    bool td_ask = false, td_valid = false, mask = false, enable = false, take = false, rx_stop = false;
    uint8_t td_word = 0, td_type = 0;
    uint16_t rx_pause = 0, share = 0;
    uint32_t active = 0, td_data = 0; // active: flows 0-31
    uint64_t cdata = 0, note_base = 0;
};

class Host : public Driver {
public:
    Host(const Profile& profile, uint64_t seed, char side) : Driver(profile, seed, side) {}

    // Begin a run: after power-up and whenever the pair is brought up anew.
    void begin(const Plan& plan, unsigned run);
    ToCard step(const FromCard& card);
    // What it drives while the card is in reset: configuration and nothing else.
    const ToCard& idle() const { return out_; }
    // In this cycle the last word of a queue pointer's descriptor goes to the card.
    bool posts_update() const { return out_.td_valid && out_.td_word == 3 && updates_; }

private:
    enum class Use { free, request, write, post, announce, complete };
    void handle(const FromCard& card);

    uint64_t cycle_ = 0;
    ToCard out_;
    Use use_ = Use::free;
    unsigned left_ = 0;         // cycles or words of the present use
    bool answered_ = false;     // in the last cycle
    bool asked_ = false;        // a request stands; since when
    uint64_t asked_at_ = 0, write_at_ = 0;
    bool split_ = false;        // a read waits for its completion
    uint64_t split_at_ = 0, read_at_ = 0;
    unsigned read_words_ = 0, give_words_ = 0;
    bool posting_ = false;      // a message waits to be posted
    enum class Handler { idle, called, busy, enabling } handler_ = Handler::idle;
    uint64_t handler_at_ = 0;   // when it does its next step
    uint64_t lowers_at_ = 0;    // when its write that lowers the line is on the card's port; the line is looked at after
};

} // namespace freezeframe
