// SPDX-License-Identifier: Apache-2.0
#include "truth.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "pair.h"

namespace freezeframe {
namespace {

constexpr unsigned kHeadWords = 2;
constexpr unsigned kNoPacket = 1023;    // in place of the word: what it struck is no packet
constexpr uint32_t kGeneration = 0x100, kStride = 1u << 24;

// Where a fault shows first: device, tap ("" where no tap does), and what of the place a finding can name.
struct Place {
    const char* device;
    const char* tap;
    bool packet, word, second;
    bool flow = true;
};

Place place_of(const FaultPlan& fault) {
    const bool outgoing = fault.outgoing;
    switch (fault.select) {
    case 1: return {outgoing ? "A" : "B", outgoing ? "tx_deq" : "rx_deq", true, true, false};
    case 2: return {outgoing ? "A" : "B", outgoing ? "tx_deq" : "rx_deq", true, true, true}; // the second copy is the wrong one
    case 3:
    case 4:
    case 5: return {"B", "rx_enq", true, true, false};
    case 6: return {"B", "rx_enq", true, false, false};
    case 7:
    case 8:
    case 12: return {"B", "", false, false, false};
    case 11: return {"B", "rx_enq", true, true, false};
    case 14: return {"B", "", false, false, false, false};
    case 15: return {"B", "", true, false, false};
    case 16: return {"A", "", false, false, false, false};
    case 17: return {"A", "tx_enq", true, true, false};
    case 18: return {outgoing ? "A" : "B", "", false, false, false, !outgoing};
    default: return {"A", "", false, false, false};
    }
}

std::string number(bool known, long value) { return known ? std::to_string(value) : "null"; }

}  // namespace

Truth::Truth(std::string path, std::string fault, uint64_t seed)
    : path_(std::move(path)), fault_(std::move(fault)), seed_(seed) {
    write();
}

void Truth::look(Pair& pair, const std::string& other) {
    if (!other.empty() && injections_.empty()) {
        injections_.push_back(other);
        write();
    }
    const bool evident = pair.evident();
    if (evident != evident_) {
        evident_ = evident;
        if (pair.runs() == run_) write();
    }
    if (pair.runs() == run_) return;
    const Pair::Struck struck = pair.struck();
    if (!struck.done) return;
    run_ = pair.runs();
    const FaultPlan& fault = pair.fault();
    const Place place = place_of(fault);
    const long word = static_cast<long>(struck.word) - kHeadWords + (place.second ? 1 : 0);
    const uint32_t generation = pair.read((place.device[0] == 'B' ? kStride : 0) + kGeneration).word;
    std::string text = "{\"generation\": " + std::to_string(generation) + ", \"device\": \"" + place.device + "\", \"tap\": ";
    text += *place.tap ? "\"" + std::string(place.tap) + "\"" : "null";
    text += ", \"direction\": \"A->B\", \"flow\": " + number(place.flow, struck.flow);
    text += ", \"packet\": " + number(place.packet && struck.word != kNoPacket, struck.seq) + ", \"word\": " + number(place.word && word >= 0 && struck.word != kNoPacket, word);
    text += ", \"t_ps\": " + std::to_string(static_cast<long long>(struck.at_us * 1e6)) + ", \"detail\": {}}";
    injections_.push_back(text);
    write();
}

void Truth::write() const {
    if (path_.empty()) return;
    const std::string part = path_ + ".part";
    std::FILE* file = std::fopen(part.c_str(), "w");
    bool good = file != nullptr;
    if (good) {
        std::fprintf(file, "{\"fault\": \"%s\", \"seed\": %llu, \"profile\": \"example\", \"evident\": %s, \"injections\": [",
                     fault_.c_str(), static_cast<unsigned long long>(seed_), evident_ ? "true" : "false");
        for (size_t i = 0; i < injections_.size(); ++i) std::fprintf(file, "%s%s", i ? ", " : "", injections_[i].c_str());
        std::fprintf(file, "]}\n");
        good = std::fclose(file) == 0 && std::rename(part.c_str(), path_.c_str()) == 0;
    }
    if (!good) {
        throw BadTruth("truth file " + path_ + " cannot be written: " + std::strerror(errno) + "; choose another place");
    }
}

}  // namespace freezeframe
