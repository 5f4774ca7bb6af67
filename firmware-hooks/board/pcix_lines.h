// SPDX-License-Identifier: Apache-2.0
// The lines of one PCI-X bus at a clock, and what one agent drives of them. Controls are true where they are asserted; AD, C/BE#,
// PAR and PAR64 are levels.
#pragma once

#include <cstdint>

namespace freezeframe {

struct Lines {
    uint64_t ad = 0;
    uint8_t cbe = 0xFF;
    bool par = false, par64 = false;
    bool frame = false, irdy = false, trdy = false, devsel = false, stop = false, req64 = false, ack64 = false;
    bool perr = false, serr = false, inta = false, req = false, gnt = false, idsel = false, rst = false;

    bool idle() const { return !frame && !irdy; }
    uint64_t low_ones() const { return static_cast<uint64_t>(__builtin_popcountll((ad & 0xFFFFFFFF) | uint64_t{cbe & 15u} << 32)); }
    uint64_t high_ones() const { return static_cast<uint64_t>(__builtin_popcountll(ad >> 32 | uint64_t{cbe >> 4 & 15u} << 32)); }
};

// One agent's outputs. What is s/t/s it drives while asserted and for a clock more.
struct Drive {
    uint64_t ad = 0;
    uint8_t cbe = 0xFF;
    bool ad_on = false, ad_high_on = false, cbe_on = false;
    bool frame = false, irdy = false, trdy = false, devsel = false, stop = false, req64 = false, ack64 = false, perr = false;
    bool gnt = false, idsel = false;
    bool wrong_parity = false; // of what this drives on AD
};

}  // namespace freezeframe
