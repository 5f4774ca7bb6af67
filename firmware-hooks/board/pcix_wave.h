// SPDX-License-Identifier: Apache-2.0
// The lines of one bus as a VCD file: a clock's levels change in the very moment of the rising edge behind which they stand.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "pcix_lines.h"

namespace freezeframe {

struct BadWave : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class PcixWave {
public:
    // Throws BadWave: the file cannot be written.
    PcixWave(const std::string& path, const std::string& scope);
    // A clock: when its edge rose, how long it lasts, the lines that stand behind the edge.
    // Throws BadWave: the file could not be written on.
    void clock(uint64_t at_ps, uint64_t period_ps, const Lines& lines);

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void bit(char id, bool level);
    void bits(char id, uint64_t value, unsigned width);
    std::string path_;
    std::unique_ptr<std::FILE, Close> file_;
    bool begun_ = false;
    Lines last_;
};

}  // namespace freezeframe
