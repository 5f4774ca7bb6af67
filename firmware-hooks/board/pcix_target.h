// SPDX-License-Identifier: Apache-2.0
// A PCI-X target for a bench: it answers as its owner says, two clocks from what it samples to what that changes.
//
// Source: PCI-X Addendum 1.0b, chapter 2.
#pragma once

#include <vector>

#include "pcix_lines.h"

namespace freezeframe {

struct PcixHeader {
    unsigned command = 0;
    uint64_t address = 0;
    uint32_t attributes = 0;
    unsigned count = 0;    // of a burst; of a DWORD transaction 4
    unsigned enables = 0;  // C/BE# of the attribute phase
    bool wide = false;     // REQ64#

    bool burst() const { return 0xD380u >> command & 1; }
    bool writes() const { return 0x9A88u >> command & 1; }
    unsigned requester() const { return attributes >> 8 & 0xFFFF; }
    unsigned tag() const { return attributes >> 24 & 31; }
};

struct PcixAnswer {
    enum class Kind { data, retry, split, abort } kind = Kind::data;
    unsigned waits = 0;        // clocks between DEVSEL# and the answer, even for what brings data
    bool wide = false;         // ACK64#, as it was said at the address
    bool single = false;       // one data phase and no more
    bool disconnect = false;   // at the next boundary that is four phases away
    unsigned announced = 0;    // STOP# so many phases before that boundary, 4 or more
    std::vector<uint32_t> words; // of a read: from the 32-bit word of the address on
};

class PcixTarget {
public:
    // Who owns it says at the address how soon it answers (clock of DEVSEL#: 2, 3, 4, 6; 0 for not at all) and whether with
    // ACK64#, and at the attributes how.
    class Owner {
    public:
        virtual ~Owner() = default;
        virtual unsigned devsel_clock(const PcixHeader& header, bool& wide) = 0;
        virtual PcixAnswer answer(const PcixHeader& header) = 0;
        // The bus is idle again: what was written, and how many bytes went over.
        virtual void ended(const PcixHeader& header, const PcixAnswer& answer, const std::vector<uint32_t>& words, unsigned moved) = 0;
    };

    // One clock: what was sampled, whether this agent is the initiator itself, what it drives two clocks later.
    void step(const Lines& lines, bool mine, Owner& owner, Drive& drive);
    bool took_data() const { return took_; } // at the clock sampled last

private:
    void begin_data();

    enum class State { idle, second, address, active, over } state_ = State::idle;
    PcixHeader header_;
    PcixAnswer answer_;
    int clock_ = 0; // sampled last, from the last address phase
    unsigned devsel_at_ = 0, phases_ = 0, given_ = 0, stop_from_ = 0, moved_ = 0;
    bool done_ = false, before_ = false, took_ = false;
    std::vector<uint32_t> words_;
};

}  // namespace freezeframe
