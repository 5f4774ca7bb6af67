// A bench of the card brief: frames of 64 to 1,518 B into a FIFO that loses every 25th, and out of it 8 and 64 bytes a beat.
//
// Argument: seed. Those that are lost are of 1,238 B, and no others. Prints the port, then runs until standard input ends.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include <poll.h>

#include "Vtop.h"
#include "pins.h"
#include "verilated.h"

namespace {

using Frame = std::vector<std::uint8_t>;

Vtop top;
std::mt19937 draw;
unsigned number;

bool lost(unsigned n) { return n % 25 == 0; }

void add_fcs(Frame& frame) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::uint8_t byte : frame) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    for (int i = 0; i < 4; ++i) frame.push_back(~crc >> 8 * i);
}

Frame made(unsigned n) {
    Frame frame(60 + draw() % 1455);
    if (frame.size() == 1234) frame.pop_back();
    if (lost(n)) frame.resize(1234);
    for (auto& byte : frame) byte = draw();
    frame[12] = 0x08, frame[13] = 0x00;
    add_fcs(frame);
    return frame;
}

struct Sender {  // the beats of a frame, one where `may`
    std::size_t width, at = 0;
    Frame frame;
    bool idle() const { return at >= frame.size(); }
    template <class Data, class Keep> void put(bool may, std::uint8_t& valid, std::uint8_t& last, Data& data, Keep& keep) {
        valid = !idle() && may;
        if (!valid) return;
        std::uint8_t bytes[64] = {}, on[8] = {};
        for (std::size_t i = 0; i < width && at + i < frame.size(); ++i) bytes[i] = frame[at + i], on[i / 8] |= 1 << i % 8;
        std::memcpy(&data, bytes, width), std::memcpy(&keep, on, width / 8);
        at += width;
        last = idle();
    }
};

Sender in{8}, out{8}, wide{64};
std::deque<Frame> fifo, wide_fifo;

void tick() {
    top.clk_sys = 0;
    top.eval();
    top.clk_sys = 1;
    top.eval();
    top.drop = 0;
    if (!in.idle() || draw() % 3) {
        const bool was = in.idle();
        in.put(draw() % 16 != 0, top.in_sums_tvalid, top.in_sums_tlast, top.in_sums_tdata, top.in_sums_tkeep);
        if (!was && in.idle()) {
            if (lost(number)) top.drop = 1;
            else fifo.push_back(in.frame), wide_fifo.push_back(in.frame);
        }
    } else {
        in.frame = made(++number), in.at = 0;
        top.in_sums_tvalid = 0;
    }
    top.in_sums_tuser = 0;
    top.in_whole_tvalid = top.in_heads_tvalid = top.in_sums_tvalid;
    top.in_whole_tlast = top.in_heads_tlast = top.in_sums_tlast;
    top.in_whole_tdata = top.in_heads_tdata = top.in_sums_tdata;
    top.in_whole_tkeep = top.in_heads_tkeep = top.in_sums_tkeep;
    for (auto* side : {&out, &wide}) {
        auto& queue = side == &out ? fifo : wide_fifo;
        if (side->idle() && !queue.empty()) side->frame = queue.front(), side->at = 0, queue.pop_front();
    }
    out.put(true, top.out_sums_tvalid, top.out_sums_tlast, top.out_sums_tdata, top.out_sums_tkeep);
    wide.put(true, top.out_wide_tvalid, top.out_wide_tlast, top.out_wide_tdata, top.out_wide_tkeep);
    top.time_in = top.time_out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return 2;
    draw.seed(std::atoi(argv[1]));
    top.boot_nonce = 7;
    top.rst = top.bus_rst = 1;
    for (int i = 0; i < 40; ++i) tick();
    top.rst = top.bus_rst = 0;
    freezeframe::AxiLite bus(FREEZEFRAME_AXI_LITE(top, s_axi), {[] { top.eval(); }, tick});
    freezeframe::EtherboneServer server("127.0.0.1", 0);
    std::printf("etherbone://127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    pollfd parent{0, POLLIN, 0};
    while (!(poll(&parent, 1, 0) > 0)) {
        for (int i = 0; i < 1000; ++i) tick();
        server.poll(bus, 64);
    }
}
