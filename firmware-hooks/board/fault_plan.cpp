// SPDX-License-Identifier: Apache-2.0
#include "fault_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

namespace freezeframe {

namespace {

constexpr double kEarliestUs = 5, kLatestUs = 250;
constexpr unsigned kFrameWords = 3;         // of a packet beside its payload
constexpr unsigned kMostExcessWords = 1500; // above what overflows the FIFO
constexpr double kLeastPpm = 40, kMostPpm = 100; // of each link clock, in opposite directions: what a good crystal may do

// A saturates one of its flows with mostly large messages and B never stops; when slow, B takes words at a fraction
// of the link's rate. Returns the flow.
unsigned keep_busy(Random& draw, Plan& a, Plan& b, bool slow) {
    static const std::vector<std::vector<double>> mixes = {{0.1, 0.2, 0.7}, {0.2, 0.4, 0.4}, {0.05, 0.05, 0.9}};
    const size_t place = draw.below(a.flows.size());
    a.gap_cycles = 0;
    a.mix = mixes[draw.below(mixes.size())];
    for (size_t i = 0; i < a.weights.size(); ++i) a.weights[i] = i == place ? draw.uniform(0.85, 0.95) : 0.08;
    b.stops.clear();
    if (slow) b.pause_cycles = static_cast<unsigned>(draw.between(400, 700));
    b.gap_cycles = 2500; // the other direction only has to be there: it shares the buses and would slow A down
    return a.flows[place];
}

// A sends mostly short messages that notify B, several at a time, and B's bus has little else to do.
void notify_often(Random& draw, Plan& a, Plan& b) {
    static const std::vector<std::vector<double>> mixes = {{0.8, 0.15, 0.05}, {0.6, 0.35, 0.05}, {0.9, 0.1, 0.0}};
    a.remote = std::max(a.remote, draw.uniform(0.7, 1.0));
    a.mix = mixes[draw.below(mixes.size())];
    a.burst = static_cast<unsigned>(draw.between(4, 10));
    b.stops.clear();
    b.gap_cycles = 2500;
}

// Packets of which a plan sends enough: payload words a packet must have to be hit.
unsigned common_length(Random& draw, const Plan& plan, unsigned at_least) {
    std::vector<unsigned> lengths;
    if (at_least <= 1 && plan.mix[0] >= 0.05) lengths.push_back(1);
    if (at_least <= 48 && plan.mix[1] >= 0.05) lengths.push_back(48);
    lengths.push_back(512);
    return lengths[draw.below(lengths.size())];
}

uint64_t bits(Random& draw, unsigned count) {
    uint64_t mask = 0;
    while (count > 0) {
        const uint64_t bit = uint64_t{1} << draw.below(64);
        if (mask & bit) continue;
        mask |= bit;
        --count;
    }
    return mask;
}

}  // namespace

const std::vector<std::string>& fault_names() {
    static const std::vector<std::string> names = {
        "none", "word-omitted", "word-duplicated", "sync-fifo-empty", "lane-misaligned", "payload-bit-flip",
        "header-corrupted", "credit-corrupted", "credit-lost", "wrap-unhandled", "credit-start-too-large", "clock-drift",
        "credit-too-coarse", "credit-too-optimistic", "interrupt-storm", "interrupt-lost", "short-transfers",
        "split-retry-mishandled", "header-miscounted"};
    return names;
}

std::array<double, 2> link_deviations(const std::string& name, uint64_t seed) {
    if (name != "clock-drift") return {0, 0};
    Random draw(std::to_string(seed) + "/" + name + "/clocks");
    const double first = draw.uniform(kLeastPpm, kMostPpm), second = -draw.uniform(kLeastPpm, kMostPpm);
    if (draw.below(2)) return {first, second};
    return {second, first};
}

FaultPlan make_fault(const std::string& name, uint64_t seed, unsigned run, const Profile& profile, Plan& a, Plan& b) {
    const auto& names = fault_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw std::invalid_argument("fault '" + name + "' does not exist");
    Random draw(std::to_string(seed) + "/" + std::to_string(run) + "/" + name);
    FaultPlan fault;
    fault.name = name;
    fault.select = static_cast<unsigned>(found - names.begin());
    // Spread evenly over the orders of magnitude: memories that have wrapped and memories that have not.
    fault.arm_us = kEarliestUs * std::pow(kLatestUs / kEarliestUs, draw.unit());
    fault.on_b = (fault.select >= 3 && fault.select <= 8) || fault.select == 11 || fault.select == 12
        || fault.select == 14 || fault.select == 15;
    switch (fault.select) {
    case 1:
    case 2: // one payload word
        fault.outgoing = draw.below(2);
        fault.on_b = !fault.outgoing;
        fault.min_length = common_length(draw, a, 1);
        fault.word = 2 + static_cast<unsigned>(draw.below(fault.min_length));
        break;
    case 3: // the FIFO is empty some words after the pointer stops
        fault.lane = draw.below(2);
        fault.min_length = common_length(draw, a, 48);
        fault.word = static_cast<unsigned>(draw.below(fault.min_length - 14));
        break;
    case 4: // a good packet comes first
        fault.lane = draw.below(2);
        fault.bytes = static_cast<unsigned>(draw.between(1, 3));
        fault.count = 1;
        fault.min_length = common_length(draw, a, 1);
        fault.word = static_cast<unsigned>(draw.below(fault.min_length + 1));
        break;
    case 5:
        fault.min_length = common_length(draw, a, 1);
        fault.word = 2 + static_cast<unsigned>(draw.below(fault.min_length));
        fault.mask = bits(draw, static_cast<unsigned>(draw.between(1, 2)));
        break;
    case 6: // a good packet comes first, here as well
        fault.count = 1;
        fault.word = static_cast<unsigned>(draw.below(2));
        // Three bits or fewer never pass the CRC-16 of so short a header.
        fault.mask = bits(draw, static_cast<unsigned>(draw.between(1, 3)));
        break;
    case 7: // flow, parity, freed: what the parity bit is there for
        fault.bit = static_cast<unsigned>(draw.between(8, 39));
        fault.count = static_cast<unsigned>(draw.below(4));
        break;
    case 8:
        fault.flow = keep_busy(draw, a, b, false);
        break;
    case 9:
        fault.flow = keep_busy(draw, a, b, true);
        break;
    case 10: {
        fault.flow = keep_busy(draw, a, b, true);
        // Above the FIFO by what may be freed and not yet told, and below what the counters can tell apart.
        const unsigned lowest = profile.rx_fifo_words + 2 * profile.credit_unit_words + profile.message_words;
        const unsigned highest = (1u << profile.credit_w()) - 1 - profile.message_words - 3;
        fault.limit = static_cast<unsigned>(draw.uniform(lowest, highest));
        break;
    }
    case 14: // interrupts on top of one that was not masked
        notify_often(draw, a, b);
        fault.silent = true;
        fault.shows = static_cast<unsigned>(draw.between(6, 14));
        fault.patience_us = draw.uniform(1, 20);
        break;
    case 15: // between the handler's last look and its enabling of the line there is time for a completion
        notify_often(draw, a, b);
        b.enabling_cycles = static_cast<unsigned>(draw.between(40, 150));
        fault.silent = true;
        fault.patience_us = draw.uniform(2, 60);
        break;
    case 16:
        a.updates = draw.uniform(0.7, 0.92);
        for (uint64_t n = draw.between(1, 2); n > 0; --n)
            a.update_addresses.push_back(static_cast<uint32_t>(draw.word()) & ~7u);
        b.stops.clear();
        fault.silent = fault.by_host = true;
        fault.shows = static_cast<unsigned>(draw.between(100, 160));
        fault.patience_us = draw.uniform(1, 20);
        break;
    case 17: // words left out
        fault.bit = static_cast<unsigned>(draw.between(1, 4));
        fault.count = static_cast<unsigned>(draw.below(2));
        break;
    case 11: // strikes when a FIFO has run empty or full in a packet: A sends as much as it can
        keep_busy(draw, a, b, false);
        break;
    case 12: { // messages so short that what is kept back cannot stop the flow for ever
        fault.flow = keep_busy(draw, a, b, false);
        fault.limit = static_cast<unsigned>(profile.share_words() * draw.uniform(0.5, 0.7));
        a.message_words = std::min(a.message_words, profile.share_words() - fault.limit - kFrameWords);
        fault.silent = true;
        fault.shows = static_cast<unsigned>(draw.between(4, 8));
        fault.patience_us = draw.uniform(1, 20);
        break;
    }
    case 13: {
        fault.flow = keep_busy(draw, a, b, true);
        // As above, less what A has anyway.
        const unsigned whole = profile.message_words + kFrameWords, share = profile.share_words();
        const unsigned lowest = profile.rx_fifo_words - share + 2 * profile.credit_unit_words + whole;
        const unsigned highest = (1u << profile.credit_w()) - 1 - share - whole;
        fault.limit = static_cast<unsigned>(draw.between(lowest, std::min(lowest + kMostExcessWords, highest)));
        break;
    }
    case 18: {
        struct Skip {
            unsigned words, every; // bits of header, address and CRC word; one packet in so many
        };
        static const Skip skips[] = {{3, 2}, {1, 1}, {4, 1}, {3, 3}, {4, 2}};
        constexpr unsigned kAtReceiver = 3; // of them: half a FIFO has to slip away there, which takes long enough
        fault.outgoing = draw.below(2);
        fault.on_b = !fault.outgoing;
        const Skip& skip = skips[draw.below(fault.outgoing ? std::size(skips) : kAtReceiver)];
        fault.mask = skip.words;
        fault.count = skip.every;
        fault.flow = keep_busy(draw, a, b, false);
        b.gap_cycles *= 4;
        if (fault.outgoing) { // every flow is miscounted, and B is too slow for what A believes to have room for
            a.mix = {0.4, 0.6, 0};
            for (double& weight : a.weights) weight = 1;
            b.pause_cycles = static_cast<unsigned>(draw.between(900, 1100));
        } else {
            a.mix = {0.75, 0.2, 0.05};
        }
        break;
    }
    default:
        break;
    }
    return fault;
}

}  // namespace freezeframe
