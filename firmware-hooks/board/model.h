// SPDX-License-Identifier: Apache-2.0
// Which Verilog the board is: the pair of cards on ports of their own, or, with FREEZEFRAME_PCIX, each behind its PCI-X pins.
#pragma once

#include <array>
#include <cstdint>

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

// A record of a trace memory that came with one of its words: it answers for the others until time passes.
struct Line {
    bool stands;
    uint32_t address; // of its first word
    std::array<uint32_t, 4> words;
};

}  // namespace freezeframe

// NAME of card 0 (A) or 1 (B) among the model's ports.
#define OF(card, name) ((card) == 0 ? model_.a_##name : model_.b_##name)
#define SET(card, name, value) \
    do { \
        if ((card) == 0) model_.a_##name = (value); \
        else model_.b_##name = (value); \
    } while (false)
