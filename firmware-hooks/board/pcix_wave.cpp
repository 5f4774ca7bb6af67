// SPDX-License-Identifier: Apache-2.0
#include "pcix_wave.h"

#include <cerrno>
#include <cstring>

namespace freezeframe {

namespace {

struct Signal {
    char id;
    const char* name;
    bool Lines::* level;
    bool low; // asserted is 0
};

const Signal kSignals[] = {
    {'f', "FRAME#", &Lines::frame, true},   {'i', "IRDY#", &Lines::irdy, true}, {'t', "TRDY#", &Lines::trdy, true},
    {'d', "DEVSEL#", &Lines::devsel, true}, {'s', "STOP#", &Lines::stop, true}, {'6', "REQ64#", &Lines::req64, true},
    {'4', "ACK64#", &Lines::ack64, true},   {'e', "PERR#", &Lines::perr, true}, {'E', "SERR#", &Lines::serr, true},
    {'r', "RST#", &Lines::rst, true},       {'g', "GNT#", &Lines::gnt, true},   {'q', "REQ#", &Lines::req, true},
    {'I', "INTA#", &Lines::inta, true},     {'D', "IDSEL", &Lines::idsel, false}, {'p', "PAR", &Lines::par, false},
    {'P', "PAR64", &Lines::par64, false}};

}  // namespace

PcixWave::PcixWave(const std::string& path, const std::string& scope) : path_(path), file_(std::fopen(path.c_str(), "w")) {
    if (!file_) throw BadWave(path + ": " + std::strerror(errno));
    std::fprintf(file_.get(), "$timescale 1 ps $end\n$scope module %s $end\n$var wire 1 c CLK $end\n", scope.c_str());
    for (const Signal& signal : kSignals) std::fprintf(file_.get(), "$var wire 1 %c %s $end\n", signal.id, signal.name);
    std::fprintf(file_.get(), "$var wire 8 b CBE [7:0] $end\n$var wire 64 a AD [63:0] $end\n$upscope $end\n$enddefinitions $end\n");
}

void PcixWave::bit(char id, bool level) { std::fprintf(file_.get(), "%c%c\n", level ? '1' : '0', id); }

void PcixWave::bits(char id, uint64_t value, unsigned width) {
    char text[72];
    for (unsigned i = 0; i < width; ++i) text[i] = value >> (width - 1 - i) & 1 ? '1' : '0';
    text[width] = 0;
    std::fprintf(file_.get(), "b%s %c\n", text, id);
}

void PcixWave::clock(uint64_t at_ps, uint64_t period_ps, const Lines& lines) {
    std::fprintf(file_.get(), "#%llu\n1c\n", static_cast<unsigned long long>(at_ps));
    for (const Signal& signal : kSignals) {
        const bool level = lines.*signal.level;
        if (!begun_ || level != last_.*signal.level) bit(signal.id, level != signal.low);
    }
    if (!begun_ || lines.cbe != last_.cbe) bits('b', lines.cbe, 8);
    if (!begun_ || lines.ad != last_.ad) bits('a', lines.ad, 64);
    std::fprintf(file_.get(), "#%llu\n0c\n", static_cast<unsigned long long>(at_ps + period_ps / 2));
    begun_ = true;
    last_ = lines;
    if (std::ferror(file_.get())) throw BadWave(path_ + ": " + std::strerror(errno));
}

}  // namespace freezeframe
