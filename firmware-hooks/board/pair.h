// SPDX-License-Identifier: Apache-2.0
// The verilated pair of example cards with a host at each, four clocks, and their register ports.
//
// Time is femtoseconds from power-up. Everything random follows from the seed. The model must be verilated from
// rtl/example_nic/ff_example_pair.v as Vff_example_pair, or from ff_pcix_pair.v as Vff_pcix_pair (model.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fault_plan.h"
#include "ports.h"

namespace freezeframe {

struct PairOptions {
    std::string fault = "none";
    uint64_t seed = 0;
    uint32_t nonce = 1;
    unsigned deviation_ppm = 100;           // each clock is off by up to this
    uint64_t limit_messages = UINT64_MAX;   // of each host
    bool long_stops = true;                 // without a fault a host may stop for longer than the stall limit
    bool set_up = true;                     // arm and configure as the emulated pair's driver does
#ifdef FREEZEFRAME_PCIX
    BridgeOptions bridge;
    std::string pcix_folder;                // where the waveforms of both buses go; empty: nowhere
    uint64_t pcix_clocks = 0;               // and how many clocks of each
#endif
};

class Pair {
public:
    explicit Pair(const PairOptions& options);
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    void step();                        // to the next rising edge of a clock
    void run_us(double us);
    double now_us() const { return static_cast<double>(now_fs_) / 1e9; }
    uint64_t bus_cycles() const { return bus_cycles_; } // of A
    unsigned runs() const { return runs_; }

    // One access to a device's register port; runs the simulation until it is answered. The address counts from the
    // start of the target; one that falls into no device is A's. A word of a trace memory comes with its whole record, over
    // PCI-X with those up to the next 128 bytes, which answer for the others until time passes or anything else is accessed.
    Reply access(bool write, uint32_t address, uint32_t word = 0);
    Reply read(uint32_t address) { return access(false, address); }

    bool held() const;                  // both cards
    bool frozen() const;                // both recorders
    const Ports& ports(unsigned card) const { return ports_[card]; }
    const Driver& host(unsigned card) const { return ports_[card].host(); }
    const FaultPlan& fault() const { return fault_; }

    // What the fault did in this run.
    struct Struck {
        bool done;
        double at_us;
        unsigned seq, flow, word;
    };
    Struck struck() const;
    // A fault that no check of the hardware finds has had time to show itself; a host may freeze.
    bool evident() const { return evident_fs_ != 0 && now_fs_ >= evident_fs_; }
    Model& model() { return *model_; }
    std::function<void()> after_edge;   // called after each step, if it is set

private:
    struct Clock {
        uint64_t period_fs, next_fs;
        bool high;
    };
    void begin_run();
    void bus_edge(unsigned card, bool before);
    void drive_fault();
    void look_for_strike();
    void load();
    void set_clock(unsigned which, bool level);
    bool access_alone(unsigned card);

    PairOptions options_;
    Profile profile_;
    std::unique_ptr<Model> model_;
    std::array<Ports, 2> ports_;
    std::array<Plan, 2> plans_;
    std::array<Clock, 4> clocks_{}; // bus A, link A, bus B, link B
    std::array<bool, 2> in_reset_{};
    uint64_t now_fs_ = 0, began_fs_ = 0, bus_cycles_ = 0, struck_fs_ = 0;
    uint64_t evident_fs_ = 0;           // when a silent fault may be frozen; 0: not known
    unsigned shows_ = 0;                // how often the fault has shown itself in this run
    bool shown_ = false;                // and does now
    unsigned runs_ = 0;
    FaultPlan fault_;
    Line line_{};
};

}  // namespace freezeframe
