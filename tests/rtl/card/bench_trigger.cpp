// A bench of the card steps: packets of three beats from rx_in to rx_out, and the recorder's registers over UDP.
//
// A beat is the packet's number, eight bits up, and the beat's own. Each 64th packet does not come out: 100 bus cycles behind its
// tail the event mark tells its number, 200 cycles behind it the pin is up for 16. At tx a byte comes every 20 cycles, the
// last of a packet every 80. Prints the URL, then runs until standard input ends.
#include <cstdint>
#include <cstdio>
#include <deque>

#include <poll.h>

#include "Vtop.h"
#include "pins.h"
#include "verilated.h"

namespace {

class Bench {
public:
    Bench() {
        top_.boot_nonce = 0xC0FFEE;
        top_.rst = top_.bus_rst = 1;
        for (int i = 0; i < 200; ++i) step();
        top_.rst = top_.bus_rst = 0;
    }
    Vtop& top() { return top_; }
    void clock() {  // to just after the next rising edge of clk_bus
        do step(); while (!edge_);
    }
    void step() {  // to the next edge of one of the clocks
        edge_ = false;
        if (bus_at_ <= rx_at_ && bus_at_ <= tx_at_) {
            top_.clk_bus = edge_ = !top_.clk_bus;
            bus_at_ += 5000;
            top_.eval();
            if (edge_) drive_bus();
        } else if (rx_at_ <= tx_at_) {
            top_.clk_rx = !top_.clk_rx;
            rx_at_ += 3200;
            top_.eval();
            if (top_.clk_rx) drive_rx();
        } else {
            top_.clk_tx = !top_.clk_tx;
            tx_at_ += 12500;
            top_.eval();
            if (top_.clk_tx) drive_tx();
        }
        top_.time_in = top_.time_out;
        top_.eval();
    }

private:
    void drive_rx() {
        unsigned beat = rx_++ % 64, number = rx_ / 64;
        top_.rx_in_tvalid = beat < 3;
        top_.rx_in_tdata = std::uint64_t(number) << 8 | beat;
        top_.rx_in_tkeep = 0xFF;
        top_.rx_in_tlast = beat == 2;
        if (beat != 2) return;
        if (number % 64 == 0) since_lost_ = 0, lost_ = number;
        else for (unsigned i = 0; i < 3; ++i) out_.push_back(std::uint64_t(number) << 8 | i);
    }
    void drive_bus() {
        ++since_lost_;
        top_.mark = since_lost_ == 100;
        top_.mark_value = lost_ / 64;
        top_.trigger_pin = since_lost_ >= 200 && since_lost_ < 216;
        top_.rx_out_tvalid = !out_.empty();
        if (out_.empty()) return;
        top_.rx_out_tdata = out_.front();
        top_.rx_out_tkeep = 0xFF;
        top_.rx_out_tlast = (out_.front() & 3) == 2;
        out_.pop_front();
    }
    void drive_tx() {
        top_.tx_tvalid = ++tx_ % 20 == 0;
        top_.tx_tlast = tx_ % 80 == 0;
        top_.tx_tdata = tx_ / 20;
    }

    Vtop top_;
    unsigned rx_ = 0, tx_ = 0, lost_ = 0, since_lost_ = 1000;
    unsigned long long bus_at_ = 0, rx_at_ = 100, tx_at_ = 200;
    bool edge_ = false;
    std::deque<std::uint64_t> out_;
};

}  // namespace

int main() {
    Bench bench;
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
