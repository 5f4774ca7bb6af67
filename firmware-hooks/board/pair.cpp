// SPDX-License-Identifier: Apache-2.0
#include "pair.h"

#include <stdexcept>

#include "verilated.h"

namespace freezeframe {

namespace {

constexpr uint64_t kFsPerUs = 1000000000;
constexpr uint32_t kStride = 1u << 24;
constexpr uint32_t kArmKey = 0x4152;
constexpr uint64_t kReset_fs = 1 * kFsPerUs;

// Offsets of docs/formats.md section 1 that the driver writes.
constexpr uint32_t kArm = 0x108, kCauseMask = 0x11C, kStallLimit = 0x120, kSnapshotLog2 = 0x150;

uint64_t period(uint64_t hz, double ppm) {
    return static_cast<uint64_t>(1e15 / (static_cast<double>(hz) * (1 + ppm * 1e-6)));
}

uint64_t period(uint64_t hz, unsigned most_ppm, Random& draw) { return period(hz, draw.uniform(-1, 1) * most_ppm); }

}  // namespace

Pair::Pair(const PairOptions& options)
    : options_(options), model_(std::make_unique<Model>()),
      ports_{Ports(*model_, 0, profile_, options.seed), Ports(*model_, 1, profile_, options.seed)} {
    ports_[0].host().set_sender(&ports_[1].host());
    ports_[1].host().set_sender(&ports_[0].host());
#ifdef FREEZEFRAME_PCIX
    for (Ports& ports : ports_) {
        ports.set_options(options.bridge);
        if (!options.pcix_folder.empty()) ports.record(options.pcix_folder, options.pcix_clocks);
    }
#endif
    Random draw(std::to_string(options.seed) + "/clocks");
    const uint64_t rates[] = {profile_.bus_hz, profile_.link_hz, profile_.bus_hz, profile_.link_hz};
    const auto asked = link_deviations(options.fault, options.seed);
    for (unsigned i = 0; i < 4; ++i) {
        const double ppm = i & 1 ? asked[i >> 1] : 0;
        clocks_[i].period_fs = ppm != 0 ? period(rates[i], ppm) : period(rates[i], options.deviation_ppm, draw);
        clocks_[i].next_fs = draw.below(clocks_[i].period_fs) + 1;
    }
    model_->boot_nonce_a = options.nonce;
    model_->boot_nonce_b = options.nonce + 1;
    model_->phase_ab = static_cast<uint8_t>(draw.below(16));
    model_->phase_ba = static_cast<uint8_t>(draw.below(16));
    begin_run();
    model_->rst = 1;
    while (now_fs_ < kReset_fs) step();
    model_->rst = 0;
    run_us(0.5);
    if (!options.set_up) return;
    for (uint32_t base : {0u, kStride}) {
        access(true, base + kStallLimit, profile_.stall_limit_cycles);
        access(true, base + kCauseMask, 0xFFF & ~(1u << 9)); // an underflow is to be found by what it does to the words
        access(true, base + kSnapshotLog2, 14);
        access(true, base + kArm, kArmKey << 16 | 1);
    }
}

Pair::~Pair() { model_->final(); }

void Pair::begin_run() {
    const bool clean = options_.fault == "none" && options_.long_stops;
    Plan& a = plans_[0] = make_plan(profile_, options_.seed, runs_, 'A', clean);
    Plan& b = plans_[1] = make_plan(profile_, options_.seed, runs_, 'B', clean);
    a.limit_messages = b.limit_messages = options_.limit_messages;
    fault_ = make_fault(options_.fault, options_.seed, runs_, profile_, a, b);
    ports_[0].begin(a, runs_);
    ports_[1].begin(b, runs_);
    began_fs_ = now_fs_;
    struck_fs_ = evident_fs_ = 0;
    shows_ = 0;
    shown_ = false;
    ++runs_;
    drive_fault();
}

void Pair::drive_fault() {
    model_->fault_on_b = fault_.on_b;
    model_->fault_select = static_cast<uint8_t>(fault_.select);
    model_->fault_outgoing = fault_.outgoing;
    model_->fault_count = static_cast<uint16_t>(fault_.count);
    model_->fault_min_length = static_cast<uint16_t>(fault_.min_length);
    model_->fault_word = static_cast<uint16_t>(fault_.word);
    model_->fault_lane = fault_.lane;
    model_->fault_bytes = static_cast<uint8_t>(fault_.bytes);
    model_->fault_mask = fault_.mask;
    model_->fault_bit = static_cast<uint8_t>(fault_.bit);
    model_->fault_flow = static_cast<uint8_t>(fault_.flow);
    model_->fault_limit = static_cast<uint16_t>(fault_.limit);
    model_->fault_arm = 0;
    load();
}

// The inputs that stand still for a run are taken now.
void Pair::load() {
    for (const bool level : {false, true}) {
        model_->load = level;
        model_->eval();
    }
}

void Pair::bus_edge(unsigned card, bool before) {
    Ports& ports = ports_[card];
    if (before) {
        ports.before();
        return;
    }
    if (ports.answered()) ports.lower();
    if (card == 0) ++bus_cycles_;
    if (ports.in_reset()) {
        // The hosts start anew with the first cycle of their card's reset, A's first, and wait until it is over.
        if (!in_reset_[card]) {
            in_reset_[card] = true;
            if (card == 0 && now_fs_ > kReset_fs) begin_run();
            if (card == 1) ports_[1].begin(plans_[1], runs_ - 1);
        }
    } else {
        in_reset_[card] = false;
    }
    ports.after(now_fs_, clocks_[2 * card].period_fs);
    if (card == 0 && !model_->fault_arm && static_cast<double>(now_fs_ - began_fs_) >= fault_.arm_us * 1e9) {
        model_->fault_arm = 1;
        load();
    }
}

void Pair::set_clock(unsigned which, bool level) {
    switch (which) {
    case 0: model_->clk_bus_a = level; break;
    case 1: model_->clk_link_a = level; break;
    case 2: model_->clk_bus_b = level; break;
    default: model_->clk_link_b = level; break;
    }
    clocks_[which].high = level;
}

// Falling edges cost an evaluation only where no other clock rose since half a period ago.
void Pair::step() {
    line_.words.clear();
    unsigned next = 0;
    for (unsigned i = 1; i < 4; ++i)
        if (clocks_[i].next_fs < clocks_[next].next_fs) next = i;
    now_fs_ = clocks_[next].next_fs;
    clocks_[next].next_fs += clocks_[next].period_fs;
    for (unsigned i = 0; i < 4; ++i)
        if (clocks_[i].high && clocks_[i].next_fs - now_fs_ <= clocks_[i].period_fs / 2) set_clock(i, false);
    if (clocks_[next].high) {
        set_clock(next, false);
        model_->eval();
    }
    const bool bus = (next & 1) == 0;
    if (bus) bus_edge(next >> 1, true);
    set_clock(next, true);
    model_->eval();
    if (bus) bus_edge(next >> 1, false);
    look_for_strike();
    if (after_edge) after_edge();
}

// Most faults strike once; a silent one shows itself again and again.
void Pair::look_for_strike() {
    const bool strikes = fault_.by_host ? ports_[0].posts_update() : model_->fault_struck != 0;
    const bool shows = strikes && !model_->a_nic_rst && !model_->b_nic_rst;
    if (shows && !shown_) {
        ++shows_;
        if (struck_fs_ == 0) struck_fs_ = now_fs_;
        if (fault_.silent && shows_ == fault_.shows)
            evident_fs_ = now_fs_ + static_cast<uint64_t>(fault_.patience_us * 1e9);
    }
    shown_ = shows;
}

// Once both cards are frozen and held only the register port moves: its clock alone is enough for most answers. The
// other clocks are put off by as much, so no phase between two clocks changes.
bool Pair::access_alone(unsigned card) {
    constexpr unsigned kPatience = 16; // cycles; what crosses from the link domain needs that domain's clock
    Clock& clock = clocks_[2 * card];
    uint64_t passed_fs = 0;
    for (unsigned i = 0; i < kPatience && !ports_[card].answered(); ++i) {
        set_clock(2 * card, false);
        model_->eval();
        ports_[card].before();
        set_clock(2 * card, true);
        model_->eval();
        if (ports_[card].answered()) ports_[card].lower();
        if (card == 0) ++bus_cycles_;
        passed_fs += clock.period_fs;
    }
    now_fs_ += passed_fs;
    for (Clock& each : clocks_) each.next_fs += passed_fs;
    return ports_[card].answered();
}

void Pair::run_us(double us) {
    const uint64_t end = now_fs_ + static_cast<uint64_t>(us * 1e9);
    while (now_fs_ < end) step();
}

Reply Pair::access(bool write, uint32_t address, uint32_t word) {
    if (!write && line_.holds(address)) return {false, line_.words[(address - line_.address) / 4]};
    line_.words.clear();
    const unsigned card = address >> 24 == 1;
    Ports& ports = ports_[card];
    ports.ask(write, address, word);
    if (!(Ports::kAlone && frozen() && held() && access_alone(card))) {
        const uint64_t limit = bus_cycles_ + 100000;
        while (!ports.answered()) {
            step();
            if (bus_cycles_ > limit) throw std::runtime_error("a register access was not answered in 100,000 cycles");
        }
    }
    line_ = ports.line();
    return ports.reply();
}

bool Pair::held() const { return model_->a_held && model_->b_held; }
bool Pair::frozen() const { return model_->a_frozen && model_->b_frozen; }

Pair::Struck Pair::struck() const {
    return {struck_fs_ != 0, static_cast<double>(struck_fs_) / 1e9, model_->fault_seq,
            model_->fault_struck_flow, model_->fault_struck_word};
}

}  // namespace freezeframe
