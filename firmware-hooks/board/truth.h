// SPDX-License-Identifier: Apache-2.0
// What was injected, in the words of a finding, in a file of its own that no capture ever contains.
//
// The form is that of emulator/truth.py, so that the same judge reads both.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace freezeframe {

class Pair;

// The truth file cannot be written: bad input, as any other file that cannot.
struct BadTruth : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Truth {
public:
    // An empty path writes nothing. Throws BadTruth: the file cannot be written.
    Truth(std::string path, std::string fault, uint64_t seed);
    // Notes an injection that has struck since the last look, and when one that only a host freezes has had time to show.
    // `other`: an injection, as JSON, that the pair itself knows nothing of; empty while there is none.
    void look(Pair& pair, const std::string& other);

private:
    void write() const;

    std::string path_, fault_;
    uint64_t seed_;
    std::vector<std::string> injections_; // JSON objects
    unsigned run_ = 0;                    // of the pair, whose injection stands in the list
    bool evident_ = false;
};

}  // namespace freezeframe
