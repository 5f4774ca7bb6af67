// SPDX-License-Identifier: Apache-2.0
// A card's PCI-X pins, the bus on them, and the bridge at its other end.
//
// The bus is what both drive: one at a time, for whoever drives a line that the other drives is counted as a collision. A line
// that nobody drives keeps its level (AD, C/BE#, PAR) or is high.
#pragma once

#include <memory>
#include <string>

#include "model.h"
#include "pcix_bridge.h"
#include "pcix_wave.h"

namespace freezeframe {

class PcixPorts {
public:
    PcixPorts(Model& model, unsigned card, const Profile& profile, uint64_t seed);

    Driver& host() { return bridge_; }
    const Driver& host() const { return bridge_; }
    void begin(const Plan& plan, unsigned run) { bridge_.begin(plan, run); }
    bool posts_update() const { return bridge_.posts_update(); }

    void before(); // what is sampled at the edge
    void after(uint64_t now_fs, uint64_t period_fs); // what stands behind it, from then on for so long
    bool in_reset() const { return in_reset_; }

    void ask(bool write, uint32_t address, uint32_t word) {
        asked_ = address;
        bridge_.ask(write, address & 0xFFFFFF, word);
    }
    bool answered() const { return bridge_.answered(); }
    void lower() {}
    Reply reply() const { return {false, bridge_.answer_words()[0]}; }
    Line line() const { return {asked_, bridge_.answer_words().size() > 1 ? bridge_.answer_words() : std::vector<uint32_t>{}}; }
    static constexpr bool kAlone = false; // an access is a transaction of the bus

    void set_options(const BridgeOptions& options) { bridge_.set_options(options); }
    // Each clock from now on goes into card_a.vcd or card_b.vcd of a folder, so many, and on until nothing is under way: a file
    // that ends inside a transaction would break a rule. Throws BadWave.
    void record(const std::string& folder, uint64_t limit_clocks);
    uint64_t recorded() const { return recorded_; }
    bool recording() const { return wave_ != nullptr; }
    uint64_t collisions() const { return collisions_; }
    uint64_t broken() const { return bridge_.broken(); }

private:
    Model& model_;
    unsigned card_;
    Bridge bridge_;
    Lines lines_;               // as they stand
    Drive next_;                // of the bridge, a clock later
    bool par_on_ = false, par_ = false, par64_on_ = false, par64_ = false;
    bool in_reset_ = false;
    uint32_t asked_ = 0;
    unsigned quiet_ = 0;        // clocks for which nothing has been under way
    uint64_t clocks_ = 0, limit_ = 0, recorded_ = 0, collisions_ = 0;
    std::unique_ptr<PcixWave> wave_;
};

}  // namespace freezeframe
