// SPDX-License-Identifier: Apache-2.0
// A PCI-X initiator for a bench: one transaction at a time, two clocks from what it samples to what that changes.
//
// Source: PCI-X Addendum 1.0b, chapter 2.
#pragma once

#include <vector>

#include "pcix_lines.h"

namespace freezeframe {

struct PcixRequest {
    unsigned command = 0;
    uint64_t address = 0;          // as driven; of a Split Completion its fields
    unsigned count = 4, piece = 4; // bytes of the sequence that are left; of them now
    unsigned enables = 0;          // C/BE# of the attribute phase of a DWORD transaction, 0 is enabled
    uint32_t attributes = 0;       // without the byte count
    bool wide = false;             // asks for 64 bits
    std::vector<uint32_t> words;   // to be written: from the 32-bit word of the address on

    bool burst() const { return 0xD380u >> command & 1; }
    bool writes() const { return 0x9A88u >> command & 1; }
    bool config() const { return command == 10 || command == 11; }
};

enum class PcixEnd { moved, retry, split, target_abort, master_abort };

class PcixInitiator {
public:
    void start(const PcixRequest& request);
    bool busy() const { return busy_; }
    bool begun() const { return begun_; } // its address, or what stands before it, is on the way
    bool begun_and_busy() const { return begun_ && busy_; }
    // One clock: what was sampled, whether it may begin, what it drives two clocks later. True when it has ended.
    bool step(const Lines& lines, bool may_begin, Drive& drive);

    PcixEnd end() const { return end_; }
    unsigned moved() const { return moved_; }
    const std::vector<uint32_t>& read() const { return read_; } // words that came, the first is that of the address

private:
    void sample(const Lines& lines, int clock);
    uint64_t shown(bool wide) const;

    PcixRequest request_;
    bool busy_ = false, begun_ = false, selected_ = false, wide_ = false, started_ = false, over_ = false, cut_ = false;
    bool frame_ = false, irdy_ = false, asks64_ = false;
    int clock_ = 0; // for which it drives, from the first address
    unsigned moved_ = 0, left_ = 0, show_ = 0;
    PcixEnd end_ = PcixEnd::moved;
    std::vector<uint32_t> read_;
};

}  // namespace freezeframe
