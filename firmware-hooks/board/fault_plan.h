// SPDX-License-Identifier: Apache-2.0
// Which fault strikes a pair of example cards in a run, when and where; drawn from a seed.
//
// The names and what they mean are those of docs/faults.md; the fields are the fault_* ports of
// ff_example_pair.v.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver.h"

namespace freezeframe {

struct FaultPlan {
    std::string name = "none";
    unsigned select = 0;
    bool on_b = false, outgoing = false, lane = false;
    double arm_us = 0;          // from the start of the run to the first chance of an injection
    unsigned count = 0, min_length = 0, word = 0, bytes = 0, bit = 0, flow = 0, limit = 0;
    uint64_t mask = 0;
    // No check of the hardware finds it, so that a host has to freeze: once it has shown itself so often, and a while after.
    bool silent = false;
    unsigned shows = 1;
    double patience_us = 0;
    bool by_host = false;       // A's host does it, and not a card: it shows with each queue pointer that is posted
};

// Deviation in ppm of the link clocks of A and B that a fault asks for, from power-up on; zero: the seed's, as without one.
std::array<double, 2> link_deviations(const std::string& name, uint64_t seed);

// "none" first.
const std::vector<std::string>& fault_names();

// Draws a fault for run `run` and arranges in `a` and `b`, what the hosts do, that its symptom comes.
// Throws std::invalid_argument: there is none of that name.
FaultPlan make_fault(const std::string& name, uint64_t seed, unsigned run, const Profile& profile, Plan& a, Plan& b);

}  // namespace freezeframe
