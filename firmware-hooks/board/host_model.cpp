// SPDX-License-Identifier: Apache-2.0
#include "host_model.h"

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

constexpr uint64_t kNoteBase = 0x7F00000000; // above every address a message uses
constexpr unsigned kRdmaWrite = 1, kNotification = 2, kInterrupt = 3;
constexpr unsigned kWriteCycles = 10; // one 32-bit target write
constexpr unsigned kLineCycles = 4;   // from the port of the mask to the line as the host sees it
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

Host::Host(const Profile& profile, uint64_t seed, char side)
    : profile_(profile), seed_(mix(seed ^ static_cast<unsigned char>(side))), side_(side), random_("") {}

void Host::begin(const Plan& plan, unsigned run) {
    plan_ = plan;
    random_ = Random(std::to_string(seed_) + "/" + std::to_string(run) + "/host");
    sent_.clear();
    received_ = 0;
    cycle_ = 0;
    out_ = ToCard{};
    out_.note_base = kNoteBase;
    out_.share = static_cast<uint16_t>(profile_.share_words());
    for (unsigned flow : plan_.flows) out_.active |= flow < 32 ? 1u << flow : 0;
    out_.rx_pause = static_cast<uint16_t>(plan_.pause_cycles);
    use_ = Use::free;
    asked_ = answered_ = split_ = posting_ = false;
    post_at_ = plan_.start_cycles;
    handler_ = Handler::idle;
    handler_at_ = lowers_at_ = 0;
    completions_ = arriving_ = 0;
}

uint64_t Host::memory(uint64_t address) const { return mix(seed_ ^ address); }

Message Host::next_message() {
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

void Host::written(uint64_t address, uint64_t word) {
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

ToCard Host::step(const FromCard& card) {
    ++cycle_;
    const bool ended = use_ == Use::write && card.wend;
    if (card.wvalid) {
        written(write_at_, card.wdata);
        write_at_ += 8;
    }
    // A completion is the handler's when its write has ended: before, the card itself does not count it.
    if (ended) {
        completions_ += arriving_;
        arriving_ = 0;
    }
    out_.gnt = out_.ack = out_.retry = out_.cvalid = out_.clast = out_.td_ask = out_.td_valid = false;
    out_.mask = out_.enable = out_.take = false;

    // The driver: a message to post, when the ring has room.
    if (!posting_ && cycle_ >= post_at_ && counts_.posted < plan_.limit_messages && !card.td_full
        && use_ != Use::post) {
        message_ = next_message();
        posting_ = out_.td_ask = true;
        post_at_ = cycle_;
    }
    // A request that was answered is seen for one cycle more.
    if (card.req && !asked_ && !answered_) {
        asked_ = true;
        asked_at_ = cycle_;
    }

    answered_ = false;

    // The bus: one use after the other, the oldest wish first.
    switch (use_) {
    case Use::request:
        if (--left_ > 0) break;
        out_.own = card.we;
        use_ = Use::free;
        if (!card.we && random_.below(1000000) < profile_.retries_ppm) {
            out_.own = false;
            out_.retry = true;
            ++counts_.retries;
        } else {
            out_.ack = true;
            if (card.we) {
                use_ = Use::write;
                write_at_ = card.addr;
            } else {
                split_ = true;
                split_at_ = cycle_ + random_.between(profile_.split_min_cycles, profile_.split_max_cycles);
                read_at_ = card.addr;
                read_words_ = card.len;
                ++counts_.reads;
            }
        }
        asked_ = false;
        answered_ = true;
        break;
    case Use::write:
        if (ended) {
            use_ = Use::free;
            out_.own = false;
        }
        break;
    case Use::post: {
        --left_;
        const unsigned step = profile_.post_cycles / 4;
        if (left_ % step == 0) {
            const unsigned word = 3 - left_ / step;
            const uint32_t words[4] = {
                static_cast<uint32_t>(message_.source), static_cast<uint32_t>(message_.source >> 32), message_.dest,
                message_.length | message_.flags << 12 | message_.flow << 16};
            out_.td_valid = true;
            out_.td_word = static_cast<uint8_t>(word);
            out_.td_type = static_cast<uint8_t>(message_.type);
            out_.td_data = words[word];
            if (word == 3) {
                sent_.push_back(message_);
                ++counts_.posted;
                counts_.updates += updates_;
                counts_.posted_words += message_.length;
                use_ = Use::free;
                out_.own = false;
                posting_ = false;
                post_at_ = cycle_ + 2;
                if (counts_.posted % plan_.burst == 0)
                    post_at_ += static_cast<uint64_t>(random_.exponential() * plan_.gap_cycles * plan_.burst);
            }
        }
        break;
    }
    case Use::announce:
        if (--left_ > 0) break;
        use_ = Use::complete;
        [[fallthrough]];
    case Use::complete:
        if (give_words_ == 0) {
            use_ = Use::free;
            out_.cown = false;
            break;
        }
        out_.cvalid = true;
        out_.cdata = memory(read_at_);
        read_at_ += 8;
        --give_words_;
        out_.clast = give_words_ == 0;
        break;
    case Use::free: {
        const uint64_t never = UINT64_MAX;
        const uint64_t completes = split_ && cycle_ >= split_at_ ? split_at_ : never;
        const uint64_t asks = asked_ && card.req ? asked_at_ : never;
        const uint64_t posts = posting_ ? post_at_ : never;
        if (completes != never && completes <= asks && completes <= posts) {
            use_ = Use::announce;
            left_ = profile_.completion_cycles;
            out_.cown = true;
            split_ = false;
            give_words_ = read_words_;
            if (read_words_ > 1 && random_.below(1000000) < profile_.disconnects_ppm) {
                give_words_ = static_cast<unsigned>(random_.between(1, read_words_ - 1));
                ++counts_.disconnects;
            }
        } else if (asks != never && asks <= posts) {
            use_ = Use::request;
            left_ = profile_.overhead_cycles;
            out_.own = out_.gnt = true;
        } else if (posts != never) {
            use_ = Use::post;
            left_ = profile_.post_cycles;
            out_.own = true;
        }
        break;
    }
    }

    handle(card);
    out_.rx_stop = false;
    for (const auto& [begin, length] : plan_.stops)
        out_.rx_stop = out_.rx_stop || (cycle_ >= begin && cycle_ < begin + length);
    return out_;
}

// The interrupt handler: mask, take every completion, enable. A line that rises while it runs interrupts it once more:
// it writes the mask again, which lowers the line, and loses what an interrupt costs.
void Host::handle(const FromCard& card) {
    const uint64_t per_us = profile_.bus_hz / 1000000;
    const uint64_t latency = profile_.interrupt_latency_ns * per_us / 1000;
    const bool again = card.irq && cycle_ > lowers_at_ + kLineCycles
        && (handler_ == Handler::busy || handler_ == Handler::enabling);
    if (again) {
        lowers_at_ = cycle_ + kWriteCycles;
        handler_at_ = std::max(handler_at_, cycle_) + latency;
        ++counts_.interrupts;
        ++counts_.nested;
    }
    if (cycle_ == lowers_at_) out_.mask = true;
    if (handler_ == Handler::idle) {
        if (!card.irq) return;
        handler_ = Handler::called;
        handler_at_ = cycle_ + latency;
        ++counts_.interrupts;
        return;
    }
    if (cycle_ < handler_at_) return;
    switch (handler_) {
    case Handler::idle:
        break;
    case Handler::called:
        out_.mask = true;
        lowers_at_ = cycle_;
        handler_ = Handler::busy;
        handler_at_ = cycle_ + profile_.completion_ns * per_us / 1000;
        break;
    case Handler::busy:
        handler_at_ = cycle_ + profile_.completion_ns * per_us / 1000;
        if (completions_ > 0) {
            --completions_;
            out_.take = true;
            break;
        }
        handler_ = Handler::enabling;
        handler_at_ = cycle_ + plan_.enabling_cycles;
        if (plan_.enabling_cycles > 0) break;
        [[fallthrough]];
    case Handler::enabling:
        out_.enable = true;
        handler_ = Handler::idle;
        handler_at_ = cycle_;
        break;
    }
}

} // namespace freezeframe
