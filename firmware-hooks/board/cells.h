// SPDX-License-Identifier: Apache-2.0
// Faults that the card has no port for: memory cells, and registers of the freeze bank, that change in the running model.
//
// The names are those of docs/open-world-faults.md. A word of a FIFO or of the cable is changed where it lies, after it was
// written and before it is read; what a trace memory or a register holds, when it is frozen and before a host can look.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "driver.h"

namespace freezeframe {

class Pair;

class Cells {
public:
    static const std::vector<std::string>& names();

    // A name that is not one of `names` changes nothing.
    Cells(Pair& pair, const std::string& name, uint64_t seed);
    void after_edge(); // of any clock: follows the words, and strikes
    bool evident() const; // the host may freeze: the symptom had its time
    bool settling() const; // the cards froze a moment ago, and what they hold is still to be changed
    const std::string& injection() const { return injection_; } // a JSON object, empty until it struck

    enum class Where { none, out, link, in, trace, log, bank };
    struct Fault {
        const char* name;
        Where where;
        const char* how;
    };

private:
    struct Header {
        unsigned seq = 0, flow = 0, length = 0;
    };
    using Word = std::array<uint32_t, 3>; // data, then what stands beside it in the cell
    Word* cell(unsigned slot);
    void follow();
    void frame(const Word& word, bool first);
    void change_word(unsigned slot);
    void change_lanes(Word& word) const;
    void change_record();
    void change_register();
    void strike(const std::string& device, const std::string& tap, long word, const std::string& detail);
    uint64_t data_of(const Word& word) const;
    void set_data(Word& word, uint64_t data) const;
    std::string flip(const std::string& name, uint64_t value, unsigned low, unsigned high,
                     uint64_t& changed);

    Pair& pair_;
    Fault fault_;
    Random draw_;
    double arm_us_ = 0, patience_us_ = 0, struck_us_ = -1, frozen_us_ = -1;
    unsigned pointer_ = 0, card_ = 0, bit_ = 0, value_ = 0;
    bool known_ = false;        // the pointer was read once
    bool inside_ = false, chosen_ = false, goes_on_ = false;
    unsigned index_ = 0, target_ = 0, count_ = 1, left_ = 0;
    Header header_;
    std::vector<Word> before_;  // what each slot held before it was written last
    std::vector<Word> now_;
    std::string injection_;
};

}  // namespace freezeframe
