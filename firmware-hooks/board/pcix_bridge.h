// SPDX-License-Identifier: Apache-2.0
// The bridge of one example card's PCI-X bus, with the host and its driver behind it: arbiter, configuration, target of the card's
// reads and writes, initiator of what the host does.
//
// It is the peer of the pins of rtl/example_nic/ff_nic_pcix.v and does on them what host_model.h does on the card's own ports.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include "driver.h"
#include "pcix_initiator.h"
#include "pcix_target.h"

namespace freezeframe {

// How the bridge behaves. Shares are of 1; --bridge NAME=VALUE,... sets them.
struct BridgeOptions {
    double retries = 0.02;      // of what the card asks, answered by Retry
    double disconnects = 0.02;  // of bursts that cross a boundary
    double singles = 0.01;      // of bursts, ended behind one data phase
    double at_once = 0.05;      // of reads, answered without a split
    double pieces = 0.3;        // of Split Completions that cross a boundary, cut there
    double narrow = 0;          // of bursts, answered with 32 bits
    double aborts = 0;          // of what the card asks: a third each Target-Abort, nobody, error message
    double parity = 0;          // of clocks in which this drives AD: PAR is wrong
    unsigned waits = 4;         // most clocks before the first data
    unsigned decode = 0;        // clock of DEVSEL#: 2, 3, 4, 6; 0 any

    // Throws std::invalid_argument: the text is not of the form, or a value out of range.
    static BridgeOptions parse(const std::string& text);
};

class Bridge : public Driver, private PcixTarget::Owner {
public:
    Bridge(const Profile& profile, uint64_t seed, char side);

    void set_options(const BridgeOptions& options) { options_ = options; }
    void begin(const Plan& plan, unsigned run);
    // One clock of the bus. `rests`: the card stands still or is in reset, so that its driver has nothing to do.
    Drive step(const Lines& lines, bool rests);
    // A queue pointer's descriptor went to the card with this clock.
    bool posts_update() const { return posted_update_; }

    // One access to the card's registers, over the bus.
    void ask(bool write, uint32_t offset, uint32_t word);
    bool answered() const { return answered_; }
    // What was read: the word, and of a trace memory those behind it up to the next 128 bytes.
    const std::vector<uint32_t>& answer_words() const { return answer_words_; }
    // Nothing of either side is on the bus or waits for a Split Completion.
    bool quiet() const { return reads_.empty() && !initiator_.begun_and_busy() && (ops_.empty() || !ops_[0].waits); }
    uint64_t broken() const { return broken_; } // answers of the card that it may not give

private:
    using Done = std::function<void(const std::vector<uint32_t>& words)>;
    struct Op {
        PcixRequest request;
        Done done;
        unsigned generation; // of the run it belongs to, 0 for what outlives one
        bool waits = false;  // for Split Completions
        std::vector<uint32_t> words;
    };
    struct Read { // of the card, split
        uint32_t attributes;
        uint64_t address, due;
        unsigned left;
        bool fails;
    };
    void set_up();
    void drive_card();
    void handle(bool line);
    void config(bool write, unsigned at, uint32_t word, Done done = nullptr, unsigned enables = 0);
    void window_read(uint64_t address, Done done, unsigned words = 1);
    void window_write(uint64_t address, std::vector<uint32_t> words, Done done, bool of_run);
    void begin_next();
    void finish();
    void finish_completion(unsigned moved);
    std::vector<uint32_t> memory_words(uint64_t address, unsigned count) const;
    bool happens(double share) { return share > 0 && bus_.unit() < share; }

    unsigned devsel_clock(const PcixHeader& header, bool& wide) override;
    PcixAnswer answer(const PcixHeader& header) override;
    void ended(const PcixHeader& header, const PcixAnswer& answer, const std::vector<uint32_t>& words, unsigned moved) override;

    BridgeOptions options_;
    Random bus_;                // what the bridge does; the driver draws from its own
    PcixInitiator initiator_;
    PcixTarget target_;
    std::deque<Op> ops_;        // the first is at work
    std::deque<Read> reads_;
    bool completing_ = false;   // the initiator has a Split Completion
    bool turn_ = false;         // the card is next
    unsigned kept_ = 0;         // clocks for which GNT# has been refused
    bool set_up_ = false, nobody_ = false, posted_update_ = false;
    unsigned generation_ = 0, tag_ = 0;
    uint64_t cycle_ = 0, run_cycle_ = 0, retry_at_ = 0, resume_at_ = 0, broken_ = 0;
    std::vector<unsigned> flows_;
    // the driver
    enum class Post { idle, looking, posting } post_ = Post::idle;
    enum class Handler { idle, called, masking, busy, enabling } handler_ = Handler::idle;
    uint64_t handler_at_ = 0;
    bool stopped_ = false;
    bool answered_ = false;
    std::vector<uint32_t> answer_words_;
    uint32_t half_ = 0; // half: the lower one of a word that was written in two
    bool received_ = false, parity_ = false, parity64_ = false; // what was sampled last, to be compared with PAR
    bool received_wide_ = false;
};

}  // namespace freezeframe
