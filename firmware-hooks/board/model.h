// SPDX-License-Identifier: Apache-2.0
// Which Verilog the board is: the pair of cards on ports of their own, or, with FREEZEFRAME_PCIX, each behind its PCI-X pins.
#pragma once

#include <cstdint>
#include <vector>

#ifdef FREEZEFRAME_PCIX
#include "Vff_pcix_pair.h"
#else
#include "Vff_example_pair.h"
#endif

namespace freezeframe {

#ifdef FREEZEFRAME_PCIX
using Model = Vff_pcix_pair;
#else
using Model = Vff_example_pair;
#endif

struct Reply {
    bool error;
    uint32_t word;
};

// Words of a trace memory that came with one of them: they answer for the others until time passes.
struct Line {
    uint32_t address = 0; // of the first
    std::vector<uint32_t> words;

    bool holds(uint32_t asked) const { return asked - address < 4 * words.size() && asked % 4 == 0; }
};

}  // namespace freezeframe

// NAME of card 0 (A) or 1 (B) among the model's ports.
#define OF(card, name) ((card) == 0 ? model_.a_##name : model_.b_##name)
#define SET(card, name, value) \
    do { \
        if ((card) == 0) model_.a_##name = (value); \
        else model_.b_##name = (value); \
    } while (false)
