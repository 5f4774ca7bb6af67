// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <algorithm>
#include <cmath>

namespace freezeframe {

namespace {

uint64_t mix(uint64_t x) { // SplitMix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

constexpr unsigned kRdmaWrite = 1, kNotification = 2, kInterrupt = 3;
constexpr unsigned kNotifyLocal = 1, kNotifyRemote = 2;

} // namespace

Random::Random(const std::string& name) : state_(0) {
    for (unsigned char c : name) state_ = mix(state_ ^ c);
}

uint64_t Random::word() { return mix(state_ += 0x9E3779B97F4A7C15u); }
uint64_t Random::below(uint64_t end) { return static_cast<uint64_t>(unit() * static_cast<double>(end)); }
double Random::unit() { return static_cast<double>(word() >> 11) / 9007199254740992.0; }
double Random::exponential() { return -std::log(1.0 - unit()); }

size_t Random::pick(const std::vector<double>& weights) {
    double sum = 0;
    for (double weight : weights) sum += weight;
    double at = unit() * sum;
    for (size_t i = 0; i + 1 < weights.size(); ++i) {
        if (at < weights[i]) return i;
        at -= weights[i];
    }
    return weights.size() - 1;
}

unsigned Profile::credit_w() const {
    unsigned bits = 0;
    while ((1u << bits) < rx_fifo_words) ++bits;
    return bits + 2;
}

Plan make_plan(const Profile& profile, uint64_t seed, unsigned run, char side, bool clean) {
    static const std::vector<std::vector<double>> mixes = {
        {0.34, 0.33, 0.33}, {0.6, 0.3, 0.1}, {0.2, 0.6, 0.2}, {0.1, 0.3, 0.6}, {0.9, 0.05, 0.05}, {0.05, 0.05, 0.9}};
    Random draw(std::to_string(seed) + "/" + std::to_string(run) + "/" + side + "/traffic");
    const double us = static_cast<double>(profile.bus_hz) / 1e6; // bus cycles
    Plan plan;
    plan.message_words = profile.message_words;
    const double gaps_us[] = {25, 6, 0};
    plan.gap_cycles = gaps_us[draw.pick({0.25, 0.35, 0.4})] * us;
    plan.mix = mixes[draw.below(mixes.size())];
    std::vector<unsigned> others;
    for (unsigned flow = 1; flow < profile.flows; ++flow) others.push_back(flow);
    plan.flows = {0};
    while (plan.flows.size() < profile.active) {
        const size_t at = draw.below(others.size());
        plan.flows.push_back(others[at]);
        others.erase(others.begin() + static_cast<long>(at));
    }
    for (size_t i = 0; i < plan.flows.size(); ++i) plan.weights.push_back(draw.uniform(0.2, 1.0));
    const double locals[] = {0.0, 0.2, 0.5}, remotes[] = {0.05, 0.3, 1.0};
    plan.local = locals[draw.below(3)];
    plan.remote = remotes[draw.below(3)];
    plan.start_cycles = static_cast<uint64_t>(draw.uniform(1, 8) * us);
    if (draw.unit() < 0.4) {
        for (uint64_t n = draw.between(1, 3); n > 0; --n) {
            const auto begin = static_cast<uint64_t>(draw.uniform(10, 300) * us);
            plan.stops.emplace_back(begin, static_cast<uint64_t>(draw.uniform(2, 60) * us));
        }
    }
    // Only in a clean run does a host stop for longer than the stall limit: elsewhere the fault is to freeze the cards.
    if (draw.unit() < 0.25 && clean) {
        const double limit = static_cast<double>(profile.stall_limit_cycles) * static_cast<double>(profile.bus_hz)
            / static_cast<double>(profile.link_hz);
        const auto begin = static_cast<uint64_t>(draw.uniform(10, 80) * us);
        plan.stops.emplace_back(begin, static_cast<uint64_t>(limit * draw.uniform(1.1, 3.0)));
    }
    std::sort(plan.stops.begin(), plan.stops.end());
    return plan;
}

Driver::Driver(const Profile& profile, uint64_t seed, char side)
    : profile_(profile), seed_(mix(seed ^ static_cast<unsigned char>(side))), side_(side), random_("") {}

void Driver::begin_traffic(const Plan& plan, unsigned run) {
    plan_ = plan;
    random_ = Random(std::to_string(seed_) + "/" + std::to_string(run) + "/host");
    sent_.clear();
    received_ = 0;
    post_at_ = plan_.start_cycles;
    completions_ = arriving_ = 0;
}

uint64_t Driver::memory(uint64_t address) const { return mix(seed_ ^ address); }

Message Driver::next_message() {
    Message m{};
    m.type = kRdmaWrite;
    m.flow = plan_.flows[random_.pick(plan_.weights)];
    m.flags = (random_.unit() < plan_.local ? kNotifyLocal : 0) | (random_.unit() < plan_.remote ? kNotifyRemote : 0);
    switch (random_.pick(plan_.mix)) {
    case 0: m.length = static_cast<unsigned>(random_.between(1, 8)); break;
    case 1: m.length = static_cast<unsigned>(random_.between(48, 80)); break;
    default: m.length = plan_.message_words;
    }
    m.length = std::min(m.length, plan_.message_words);
    if (random_.unit() < plan_.special) {
        m.type = random_.below(2) ? kNotification : kInterrupt;
        m.length = random_.below(3) == 2;
    }
    m.source = random_.below(uint64_t{1} << 38) & ~uint64_t{7};
    m.dest = static_cast<uint32_t>(random_.word()) & ~7u;
    updates_ = plan_.updates > 0 && random_.unit() < plan_.updates;
    if (updates_) {
        m.type = kRdmaWrite;
        m.length = 1 + (random_.below(4) == 3);
        m.dest = plan_.update_addresses[random_.below(plan_.update_addresses.size())];
    }
    return m;
}

void Driver::written(uint64_t address, uint64_t word) {
    if (address >= kNoteBase) {
        const bool remote = word >> 56 == 2;
        remote ? ++counts_.notes_remote : ++counts_.notes_local;
        arriving_ += remote;
        return;
    }
    ++counts_.payload_words;
    if (sender_ == nullptr) return;
    auto& sent = sender_->sent_;
    while (!sent.empty() && received_ == sent.front().length) { // whole, or without a payload
        sent.pop_front();
        received_ = 0;
    }
    if (sent.empty() || address != sent.front().dest + uint64_t{8} * received_
        || word != sender_->memory(sent.front().source + uint64_t{8} * received_))
        ++counts_.bad_words;
    ++received_;
}

void Driver::ended() {
    completions_ += arriving_;
    arriving_ = 0;
}

void Driver::post(const Message& message) {
    sent_.push_back(message);
    ++counts_.posted;
    counts_.updates += updates_;
    counts_.posted_words += message.length;
}

void Driver::wait_for_next(uint64_t cycle) {
    post_at_ = cycle + 2;
    if (counts_.posted % plan_.burst == 0)
        post_at_ += static_cast<uint64_t>(random_.exponential() * plan_.gap_cycles * plan_.burst);
}

} // namespace freezeframe
