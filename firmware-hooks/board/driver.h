// SPDX-License-Identifier: Apache-2.0
// The driver of one example network card, whatever the bus: profile, traffic, memory, and what has to arrive.
//
// It does what emulator/host.py and emulator/traffic.py do: the same profile, its own random numbers, all from one seed.
// What is read of memory is a function of the address, so a word that arrives at the other end can be checked without keeping
// anything.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace freezeframe {

// A stream of random numbers, the same on every machine.
class Random {
public:
    explicit Random(const std::string& name); // the name is the seed
    uint64_t word();
    uint64_t below(uint64_t end); // 0..end-1
    uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
    double unit(); // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * unit(); }
    double exponential(); // mean 1
    size_t pick(const std::vector<double>& weights);

private:
    uint64_t state_;
};

// The figures of emulator/profiles/forth.toml.
struct Profile {
    unsigned overhead_cycles = 8, split_min_cycles = 45, split_max_cycles = 60, completion_cycles = 4;
    unsigned post_cycles = 40, retries_ppm = 20000, disconnects_ppm = 20000;
    unsigned flows = 8, active = 2, credit_unit_words = 64;
    unsigned tx_fifo_words = 1024, rx_fifo_words = 2048, message_words = 512;
    unsigned stall_limit_cycles = 20000; // link cycles
    unsigned interrupt_latency_ns = 2000, completion_ns = 150;
    uint64_t bus_hz = 100000000, link_hz = 78125000;
    unsigned credit_w() const;    // bits of a credit counter
    unsigned share_words() const { return rx_fifo_words / active; }
};

// What one host does in one run; emulator/traffic.py says why.
struct Plan {
    double gap_cycles = 600;            // mean between two postings, 0 saturating
    std::vector<double> mix = {1, 1, 1}; // short, middle, whole messages
    unsigned message_words = 512;       // of a whole message
    std::vector<unsigned> flows;
    std::vector<double> weights;
    double local = 0.2, remote = 0.3, special = 0.02; // shares of messages
    uint64_t start_cycles = 100;
    std::vector<std::pair<uint64_t, uint64_t>> stops; // bus cycles from the start: begin, length
    unsigned pause_cycles = 0;          // between two receive bursts
    unsigned burst = 1;                 // messages posted together; the gaps between are as much longer
    double updates = 0;                 // share of messages that are a queue pointer: a word or two, always to the
    std::vector<uint32_t> update_addresses; // same addresses
    unsigned enabling_cycles = 0;       // from the handler's last look for completions to its enabling of the line
    uint64_t limit_messages = UINT64_MAX; // after these the host posts no more
};

Plan make_plan(const Profile& profile, uint64_t seed, unsigned run, char side, bool clean);

struct Message {
    unsigned type, flags, flow, length;
    uint64_t source;
    uint32_t dest;
};

class Driver {
public:
    // A driver of side 'A' or 'B'; `memory` is the seed of what stands in its memory.
    Driver(const Profile& profile, uint64_t seed, char side);

    // Where this host's writes are checked: the host that sends to it.
    void set_sender(Driver* sender) { sender_ = sender; }
    uint64_t memory(uint64_t address) const; // the word at an address

    struct Counts {
        uint64_t posted = 0, posted_words = 0, payload_words = 0, bad_words = 0;
        uint64_t notes_local = 0, notes_remote = 0, interrupts = 0, reads = 0, retries = 0, disconnects = 0;
        uint64_t updates = 0;           // queue pointers among the posted
        uint64_t nested = 0;            // interrupts that came while the handler ran
    };
    const Counts& counts() const { return counts_; }

protected:
    static constexpr uint64_t kNoteBase = 0x7F00000000; // above every address a message uses
    void begin_traffic(const Plan& plan, unsigned run);
    void written(uint64_t address, uint64_t word);
    // The writes of a transaction have ended: the handler may see the completions among them.
    void ended();
    Message next_message();
    void post(const Message& message);  // it is on its way to the card
    void wait_for_next(uint64_t cycle); // before the next is posted

    Profile profile_;
    uint64_t seed_;
    char side_;
    Plan plan_;
    Random random_;
    Driver* sender_ = nullptr;
    Counts counts_;
    std::deque<Message> sent_;  // of this host, not yet received whole
    unsigned received_ = 0;     // payload words of sender_->sent_.front()
    uint64_t post_at_ = 0;
    Message message_{};
    bool updates_ = false;      // it is a queue pointer
    unsigned completions_ = 0;  // the handler's: written whole
    unsigned arriving_ = 0;     // written in a transaction that has not ended
};

} // namespace freezeframe
