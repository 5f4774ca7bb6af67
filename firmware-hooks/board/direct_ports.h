// SPDX-License-Identifier: Apache-2.0
// A card's own host port, descriptors and register port, with the host behind them.
#pragma once

#include "host_model.h"
#include "model.h"

namespace freezeframe {

class DirectPorts {
public:
    DirectPorts(Model& model, unsigned card, const Profile& profile, uint64_t seed)
        : model_(model), card_(card), host_(profile, seed, card == 0 ? 'A' : 'B') {}

    Driver& host() { return host_; }
    const Driver& host() const { return host_; }
    void begin(const Plan& plan, unsigned run) { host_.begin(plan, run); }
    bool posts_update() const { return host_.posts_update(); }

    void before(); // what the card shows
    void after(uint64_t now_fs, uint64_t period_fs); // what the host drives, as registers would
    bool in_reset() const { return seen_.nic_rst; }

    // An access to the card's registers: it stands until answered() is true, behind a before().
    void ask(bool write, uint32_t address, uint32_t word);
    bool answered() const { return answered_; }
    void lower() { SET(card_, s_req, 0); } // after the edge that answered
    const Reply& reply() const { return reply_; }
    const Line& line() const { return line_; }
    static constexpr bool kAlone = true; // a card that stands still answers with its bus clock alone

private:
    void take_answer();

    Model& model_;
    unsigned card_;
    Host host_;
    FromCard seen_{};
    bool asking_ = false, answered_ = false;
    uint32_t asked_ = 0;
    Reply reply_{};
    Line line_{};
};

}  // namespace freezeframe
