// A bench of the card ethernet-axis-64: frames into a FIFO that drops the bad ones, and the recorder's registers over UDP.
//
// Arguments: seed, number of the frame with a bad FCS (0: none), number of the frame that the FIFO loses (0: none), cycles that the
// clock rx runs (0: for ever). Prints the port, then runs until standard input ends.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <vector>

#include <poll.h>

#include "Vtop.h"
#include "pins.h"
#include "verilated.h"

namespace {

struct Beat {
    std::uint64_t data;
    std::uint8_t keep;
    bool last;
};

std::uint32_t crc32(const std::vector<std::uint8_t>& bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::uint8_t byte : bytes) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320 : 0);
    }
    return ~crc;
}

std::vector<Beat> beats(const std::vector<std::uint8_t>& frame) {
    std::vector<Beat> out;
    for (std::size_t at = 0; at < frame.size(); at += 8) {
        Beat beat{0, 0, at + 8 >= frame.size()};
        for (std::size_t i = at; i < frame.size() && i < at + 8; ++i) {
            beat.data |= std::uint64_t(frame[i]) << 8 * (i - at);
            beat.keep |= 1 << (i - at);
        }
        out.push_back(beat);
    }
    return out;
}

class Bench {
public:
    Bench(unsigned seed, unsigned bad, unsigned lost, unsigned long long rx_cycles)
        : draw_(seed), bad_(bad), lost_(lost), rx_left_(rx_cycles), stops_(rx_cycles != 0) {
        top_.boot_nonce = 0xC0FFEE00 + seed;
        top_.rst = top_.bus_rst = 1;
        for (int i = 0; i < 40; ++i) step();
        top_.rst = top_.bus_rst = 0;
    }
    Vtop& top() { return top_; }
    void clock() {  // to just after the next rising edge of clk_bus
        do step(); while (!edge_);
    }
    void step() {  // to the next edge of either clock
        if (bus_at_ <= rx_at_) {
            top_.clk_bus = !top_.clk_bus;
            edge_ = top_.clk_bus;
            bus_at_ += 5000;
            top_.eval();
        } else {
            if (!stops_ || rx_left_) {
                top_.clk_rx = !top_.clk_rx;
                if (top_.clk_rx && rx_left_) --rx_left_;
                top_.eval();
                if (top_.clk_rx) drive();
            }
            rx_at_ += 3200;
            edge_ = false;
        }
        top_.time_in = top_.time_out;
        top_.eval();
    }

private:
    void drive() {  // what follows an edge of clk_rx
        if (top_.rst) return;
        if (in_.empty() && draw_() % 4 == 0) {
            ++number_;
            std::vector<std::uint8_t> frame(60 + draw_() % 200);
            for (auto& byte : frame) byte = draw_();
            frame[12] = 0x08, frame[13] = 0x00, frame[14] = 0x45;
            frame[18] = number_ >> 8, frame[19] = number_;
            std::uint32_t crc = crc32(frame);
            for (int i = 0; i < 4; ++i) frame.push_back(crc >> 8 * i);
            wrong_ = number_ == bad_;
            if (wrong_) frame[30] ^= 4;
            frame_ = beats(frame);
            in_.assign(frame_.begin(), frame_.end());
        }
        top_.rx_drop = 0;
        top_.rx_in_tvalid = !in_.empty();
        if (!in_.empty()) {
            put(in_.front(), true);
            in_.pop_front();
            if (in_.empty()) {
                if (wrong_ || number_ == lost_) top_.rx_drop = 1;
                else out_.insert(out_.end(), frame_.begin(), frame_.end());
            }
        }
        if (top_.rx_out_tvalid && top_.rx_out_tready && !out_.empty()) out_.pop_front();
        top_.rx_out_tvalid = !out_.empty();
        top_.rx_out_tready = draw_() % 8 != 0;
        if (!out_.empty()) put(out_.front(), false);
    }
    void put(const Beat& beat, bool in) {
        if (in) {
            top_.rx_in_tdata = beat.data, top_.rx_in_tkeep = beat.keep, top_.rx_in_tlast = beat.last;
            top_.rx_in_tuser = beat.last && wrong_;
        } else {
            top_.rx_out_tdata = beat.data, top_.rx_out_tkeep = beat.keep, top_.rx_out_tlast = beat.last;
        }
    }

    Vtop top_;
    std::mt19937 draw_;
    unsigned bad_, lost_, number_ = 0;
    unsigned long long rx_left_, bus_at_ = 0, rx_at_ = 100;
    bool stops_, edge_ = false, wrong_ = false;
    std::vector<Beat> frame_;
    std::deque<Beat> in_, out_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    Bench bench(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), std::atoll(argv[4]));
    Vtop& top = bench.top();
    freezeframe::AxiLite bus(FREEZEFRAME_AXI_LITE(top, s_axi), {[&] { top.eval(); }, [&] { bench.clock(); }});
    freezeframe::EtherboneServer server("127.0.0.1", 0);
    std::printf("etherbone://127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    pollfd parent{0, POLLIN, 0};
    while (!(poll(&parent, 1, 0) > 0)) {
        for (int i = 0; i < 2000; ++i) bench.step();
        server.poll(bus, 64);
    }
}
