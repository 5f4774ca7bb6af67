// Streams of a design as the bench sees them at its pins, and the places between two blocks where a stream is spoilt.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

using Bytes = std::vector<std::uint8_t>;

inline std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count) {
    static std::uint32_t table[256];
    if (!table[1])
        for (std::uint32_t n = 0; n < 256; ++n) {
            table[n] = n;
            for (int bit = 0; bit < 8; ++bit) table[n] = table[n] >> 1 ^ (table[n] & 1 ? 0xEDB88320 : 0);
        }
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::size_t n = 0; n < count; ++n) crc = crc >> 8 ^ table[(crc ^ bytes[n]) & 0xFF];
    return ~crc;
}

struct Beat {
    std::uint8_t data[64] = {};
    std::uint64_t on = 0;  // a bit for each byte
    std::uint8_t bad = 0;
    bool last = false;
};

// Pins of a stream. `mark` is keep, or LiteX's last_be: one bit, the last byte's, and without a meaning elsewhere.
struct Stream {
    std::uint8_t *valid, *ready, *last;
    void *data, *mark, *bad;
    unsigned bytes;
    bool one_hot;

    std::uint64_t all() const { return bytes == 64 ? ~0ull : (1ull << bytes) - 1; }
    bool moves() const { return *valid && *ready; }
    Beat load() const {
        Beat beat;
        std::memcpy(beat.data, data, bytes);
        std::memcpy(&beat.on, mark, (bytes + 7) / 8);
        std::memcpy(&beat.bad, bad, 1);
        beat.last = *last;
        if (one_hot) beat.on = beat.last && beat.on ? (beat.on << 1) - 1 : all();
        return beat;
    }
    void show(const Beat& beat) {
        const std::uint64_t on = !one_hot ? beat.on : beat.last ? beat.on & ~(beat.on >> 1) : 0;
        std::memcpy(data, beat.data, bytes);
        std::memcpy(mark, &on, (bytes + 7) / 8);
        std::memcpy(bad, &beat.bad, 1);
        *last = beat.last;
        *valid = 1;
    }
};

// site:what:packet:beat:a:b, counted from 0 at that place. Site 0 is where the frames come from.
struct Fault {
    long long site = 0, packet = 0, beat = 0, a = 0, b = 0;
    std::string what;
    explicit Fault(const std::string& word) {
        std::vector<std::string> part(1);
        for (char c : word) {
            if (c == ':') part.emplace_back();
            else part.back() += c;
        }
        part.resize(6, "0");
        site = std::stoll(part[0]), what = part[1], packet = std::stoll(part[2]), beat = std::stoll(part[3]);
        a = std::stoll(part[4]), b = std::stoll(part[5]);
    }
};

// A place between two blocks: beats wait in a queue until the next block takes them; faults happen on the way.
class Site {
public:
    Site(int number, Stream from, Stream to, bool waits, const std::vector<Fault>& faults) : from_(from), to_(to), waits_(waits) {
        for (const Fault& fault : faults) if (fault.site == number) faults_.push_back(fault);
        *from_.ready = 1;
    }
    const Stream& to() const { return to_; }
    void before_edge() {
        if (from_.moves()) take(from_.load());
        if (!to_.moves()) return;
        const bool ended = queue_.front().last;
        queue_.pop_front(), shown_ = false;
        beat_out_ = ended ? 0 : beat_out_ + 1;
        packet_out_ += ended;
    }
    void after_edge() {
        *from_.ready = !waits_ || queue_.size() < 4;
        if (shown_) return;  // it stays, as AXI has it
        *to_.valid = 0;
        bool waits = queue_.empty();
        for (Fault& fault : faults_)
            if (!waits && fault.packet == packet_out_ && fault.beat == beat_out_)
                waits = fault.what == "stop" || (fault.what == "gap" && fault.a-- > 0);
        if (waits) return;
        to_.show(queue_.front());
        shown_ = true;
    }

private:
    void take(Beat beat) {
        const bool ended = beat.last;
        bool kept = true, twice = false;
        for (const Fault& fault : faults_) {
            const bool here = fault.packet == packet_, now = here && fault.beat == beat_;
            const std::string& what = fault.what;
            if (what == "flip" && now) beat.data[fault.a] ^= 1u << fault.b;
            if (what == "omit" && now) kept = false;
            if (what == "twice" && now) twice = true;
            if (what == "drop" && here) kept = false;
            if (what == "nolast" && here) beat.last = false;
            if ((what == "cross" && here) || (what == "crossed" && packet_ >= fault.packet)) std::swap(beat.data[fault.a], beat.data[fault.b]);
            if (what == "cut" && here) kept = cut(fault, beat);
            if (what == "swap" && here) held_.push_back(beat), kept = false;
        }
        if (from_.one_hot && !beat.last) beat.on = from_.all();
        for (int copies = kept + (kept && twice); copies > 0; --copies) queue_.push_back(beat);
        if (kept && ended && !held_.empty()) queue_.insert(queue_.end(), held_.begin(), held_.end()), held_.clear();
        beat_ = ended ? 0 : beat_ + 1;
        packet_ += ended;
    }
    // The packet ends behind `beat`; with b, on a stream of one byte, in an FCS that is right (behind a preamble of a bytes).
    bool cut(const Fault& fault, Beat& beat) {
        if (beat_ >= fault.a && beat_ <= fault.beat - 4) so_far_.push_back(beat.data[0]);
        if (fault.b && beat_ > fault.beat - 4) beat.data[0] = crc32(so_far_.data(), so_far_.size()) >> 8 * (beat_ - fault.beat + 3);
        if (beat_ == fault.beat) beat.last = true, beat.on = from_.all();
        return beat_ <= fault.beat;
    }

    Stream from_, to_;
    bool waits_, shown_ = false;
    std::vector<Fault> faults_;
    std::deque<Beat> queue_;
    std::vector<Beat> held_;
    Bytes so_far_;
    long long packet_ = 0, beat_ = 0, packet_out_ = 0, beat_out_ = 0;
};
