// Random beats through one ff_card_tap (tap_top.v), recording after recording: what was given and what the memory holds.
//
// Arguments: bits, keep (0 none, 1 tail, 2 any), user (0, 1), seed, beats in all, memories, beats of the longest packets. Writes to
// standard output, little-endian, for each recording: depth, lanes, write_ptr, wrapped, offered, arm cycle, cause cycle, beats (8 bytes
// each); the memories, 9 bytes a record, lane after lane; then the beats from the arm on: cycle (8), last, user (1 each), data and keep (bits/8 each, a byte of keep 0 or 1).
// Behind them none is accepted until the next arm.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "verilated.h"

namespace {

Vtop top;
std::mt19937 draw;
int bytes, keep_mode, with_user, longest;

template <typename Port> void set_byte(Port& port, int at, unsigned value) {
    auto* octets = reinterpret_cast<std::uint8_t*>(&port);  // this machine is little-endian
    octets[at] = value;
}
template <typename Port> void set_bit(Port& port, int at, bool value) {
    auto* octets = reinterpret_cast<std::uint8_t*>(&port);
    octets[at / 8] = value ? octets[at / 8] | 1 << at % 8 : octets[at / 8] & ~(1 << at % 8);
}

struct Beat {
    std::uint64_t cycle;
    std::uint8_t last, user;
    std::vector<std::uint8_t> data, keep;
};
std::vector<Beat> given;

void tick() {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

struct Traffic {  // one phase: how often a beat comes, how long packets are
    int of = 1, every = 1, left = 0, phase = 0, length = 0;
    bool pending = false;
    Beat beat;
    void renew() {
        switch (draw() % 5) {
            case 0: of = 1, every = 1; break;
            case 1: of = 2, every = 3; break;
            case 2: of = 1, every = 25; break;
            case 3: of = 1, every = 10; break;
            default: of = 9, every = 10;
        }
        const int lengths[] = {1, 1, 3, 20, 300, longest};
        length = lengths[draw() % 6];
        phase = 200 + draw() % 2000;
    }
    void give() {
        if (!phase--) renew();
        if (!pending && int(draw() % every) < of) {
            if (left <= 0) left = 1 + draw() % length;
            beat.last = --left == 0;
            beat.user = with_user && draw() % 100 < (beat.last ? 30u : 3u);
            beat.data.resize(bytes), beat.keep.assign(bytes, 1);
            for (auto& byte : beat.data) byte = draw();
            if (keep_mode == 1 && beat.last)
                for (int i = draw() % 2 ? bytes : draw() % (bytes + 1); i < bytes; ++i) beat.keep[i] = 0;
            if (keep_mode == 2 && draw() % 5 == 0) {
                bool null = draw() % 20 == 0;
                for (auto& on : beat.keep) on = !null && draw() % 2;
            }
            pending = true;
        }
        top.tvalid = pending;
        top.tready = draw() % 16 != 0;
        if (pending) {
            top.tlast = beat.last, top.tuser = beat.user;
            for (int i = 0; i < bytes; ++i) {
                set_byte(top.tdata, i, beat.data[i]);
                set_bit(top.tkeep, i, beat.keep[i]);
            }
        }
        if (top.tvalid && top.tready) {
            beat.cycle = top.now;
            given.push_back(beat);
            pending = false;
        }
    }
};

void number(std::uint64_t value) { std::fwrite(&value, 8, 1, stdout); }

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) return 2;
    bytes = std::atoi(argv[1]) / 8, keep_mode = std::atoi(argv[2]), with_user = std::atoi(argv[3]);
    draw.seed(std::atoi(argv[4]));
    const long wanted = std::atol(argv[5]);
    const int lanes = std::atoi(argv[6]), depth = 4096;
    longest = std::atoi(argv[7]);
    Traffic traffic;
    traffic.renew();
    top.rst = 1;
    for (int i = 0; i < 10; ++i) tick();
    top.rst = 0;
    for (long all = 0; all < wanted;) {
        top.cfg_post = draw() % 3 ? draw() % 400 : draw() % 4;
        long run = draw() % 4 ? 3 + draw() % 398 : 2000 + draw() % 20000;
        given.clear();
        top.arm_next = 1, traffic.give(), tick();
        std::uint64_t armed = top.now;
        top.arm_next = 0;
        while (run--) traffic.give(), tick();
        top.cause = 1, traffic.give(), tick();
        std::uint64_t cause = top.now;
        top.cause = 0;
        for (long i = 0; !top.closed; ++i) {
            if (i > 1000000) return std::fprintf(stderr, "a recording did not close\n"), 3;
            traffic.give(), tick();
        }
        for (std::uint64_t value : {std::uint64_t(depth), std::uint64_t(lanes), std::uint64_t(top.write_ptr), std::uint64_t(top.wrapped),
                                    std::uint64_t(top.offered), armed, cause, std::uint64_t(given.size())}) number(value);
        std::vector<std::uint8_t> memory(std::size_t(lanes) * depth * 9);
        top.tvalid = 0, top.rd_en = 1;
        for (int slot = 0; slot < depth; ++slot) {
            top.rd_slot = slot;
            traffic.pending = false, tick();
            const auto* record = reinterpret_cast<const std::uint8_t*>(&top.rd_record);
            for (int lane = 0; lane < lanes; ++lane)
                for (int i = 0; i < 9; ++i) memory[(std::size_t(lane) * depth + slot) * 9 + i] = record[9 * lane + i];
        }
        top.rd_en = 0;
        std::fwrite(memory.data(), 1, memory.size(), stdout);
        for (const Beat& beat : given) {
            number(beat.cycle);
            std::fputc(beat.last, stdout), std::fputc(beat.user, stdout);
            std::fwrite(beat.data.data(), 1, bytes, stdout), std::fwrite(beat.keep.data(), 1, bytes, stdout);
        }
        all += given.size();
    }
}
