// SPDX-License-Identifier: Apache-2.0
#include "fault_plan.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace freezeframe {

namespace {

constexpr double kEarliestUs = 5, kLatestUs = 250;

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
        "header-corrupted", "credit-corrupted", "credit-lost", "wrap-unhandled", "credit-start-too-large"};
    return names;
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
    fault.on_b = fault.select >= 3 && fault.select <= 8;
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
    default:
        break;
    }
    return fault;
}

}  // namespace freezeframe
