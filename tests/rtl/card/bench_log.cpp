// A bench of the card logs: events, state machines and packets in three clocks, and the recorder's registers over UDP.
//
// Arguments: a file for what was driven, seed, how many entries of each source after the arm (0: for ever), 1: the event `tick` rises every
// second cycle of its clock. A line of the file: name, cycle of its clock, values. Prints the port, and `driven` when all entries are, or
// with 0 after 20,000 cycles; runs until standard input ends.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <poll.h>

#include "Vtop.h"
#include "Vtop___024root.h"
#include "pins.h"
#include "verilated.h"

#define INSIDE(top, name) (top).rootp->logs_freezeframe__DOT__##name

namespace {

class Bench {
public:
    Bench(std::FILE* file, unsigned seed, unsigned entries, bool fast)
        : file_(file), draw_(seed), entries_(entries), fast_(fast) {
        top_.boot_nonce = 0xC0FFEE00 + seed;
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
        if (bus_at_ <= rx_at_ && bus_at_ <= fast_at_) {
            top_.clk_bus = edge_ = !top_.clk_bus;
            bus_at_ += 5000;
            top_.eval();
            if (top_.clk_bus) drive_bus();
        } else if (rx_at_ <= fast_at_) {
            top_.clk_rx = !top_.clk_rx;
            rx_at_ += 3200;
            top_.eval();
            if (top_.clk_rx) drive_rx();
        } else {
            top_.clk_fast = !top_.clk_fast;
            fast_at_ += 1250;
            top_.eval();
            if (top_.clk_fast) drive_fast();
        }
        top_.time_in = top_.time_out;
        top_.eval();
    }

    bool driven() const {
        if (!armed_) return false;
        if (entries_ == 0) return since_ >= 20000;
        for (Number count : {errors_, powers_, bads_, states_, packets_})
            if (count < entries_) return false;
        return left_ == 0 && beat_ == 0 && (fast_ || ticks_ == entries_);
    }

private:
    using Number = unsigned long long;
    bool chance(unsigned of) { return draw_() % of == 0; }
    bool runs(Number count) const { return armed_ && (entries_ == 0 || count < entries_); }

    void drive_bus() {
        Number cycle = INSIDE(top_, now_bus);
        if (INSIDE(top_, arm_bus)) {
            wait_ = 16;  // until every clock has heard of it
            std::fprintf(file_, "arm %llu\n", cycle);
        }
        if (wait_ != 0 && --wait_ == 0) armed_ = true;
        since_ += armed_;
        top_.dma_address = (Number(draw_()) << 8 ^ draw_()) & 0xFFFFFFFFFF;
        bool up = runs(errors_) && chance(8);
        if (up && !top_.dma_error) {
            ++errors_;
            std::fprintf(file_, "dma_error %llu %llu\n", cycle, Number(top_.dma_address));
        }
        top_.dma_error = up;
        if (runs(powers_) && chance(64)) {
            ++powers_;
            top_.power_up = !top_.power_up;
            std::fprintf(file_, "power %llu %d %d\n", cycle, !top_.power_up, top_.power_up);
        }
    }
    void drive_rx() {
        Number cycle = INSIDE(top_, now_rx);
        top_.rx_length = draw_() & 0x3FFF;
        bool up = runs(bads_) && chance(16);
        if (up && !top_.rx_bad) {
            ++bads_;
            std::fprintf(file_, "rx_bad %llu %u\n", cycle, unsigned(top_.rx_length));
        }
        top_.rx_bad = up;
        unsigned state = draw_() % 8;
        if (runs(states_) && chance(8) && state != top_.rx_state) {
            ++states_;
            std::fprintf(file_, "rx_fsm %llu %u %u\n", cycle, unsigned(top_.rx_state), state);
            top_.rx_state = state;
        }
        if (top_.rx_in_tvalid && top_.rx_in_tready) beat_ = 0;  // it was taken
        top_.rx_in_tready = !chance(4);
        if (left_ == 0 && beat_ == 0 && idle_ == 0 && runs(packets_)) {
            ++packets_;
            left_ = chance(8) ? 9000 + draw_() % 12000 : 1 + draw_() % 200;
            std::fprintf(file_, "packet %llu %u\n", cycle, left_);
            idle_ = chance(2) ? 0 : draw_() % 100;
        }
        if (beat_ == 0 && left_ != 0 && !chance(3)) {
            beat_ = left_ < 8 ? left_ : 8;
            left_ -= beat_;
        } else if (left_ == 0 && beat_ == 0 && idle_ != 0) --idle_;
        top_.rx_in_tvalid = beat_ != 0;
        top_.rx_in_tkeep = (1u << beat_) - 1;
        top_.rx_in_tlast = beat_ != 0 && left_ == 0;
        if (top_.rx_in_tvalid && top_.rx_in_tready) {
            std::fprintf(file_, "beat %llu %d\n", cycle, top_.rx_in_tlast);
        }
    }
    void drive_fast() {
        Number cycle = INSIDE(top_, now_fast);
        bool up = armed_ && (fast_ ? !top_.tick : runs(ticks_) && chance(32));
        if (up && !top_.tick) {
            ++ticks_;
            std::fprintf(file_, "tick %llu\n", cycle);
        }
        top_.tick = up;
    }

    Vtop top_;
    std::FILE* file_;
    std::mt19937 draw_;
    unsigned entries_, wait_ = 0, left_ = 0, beat_ = 0, idle_ = 0;
    Number since_ = 0, errors_ = 0, powers_ = 0, bads_ = 0, states_ = 0, ticks_ = 0, packets_ = 0;
    unsigned long long bus_at_ = 0, rx_at_ = 100, fast_at_ = 300;
    bool fast_, armed_ = false, edge_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    std::FILE* file = std::fopen(argv[1], "w");
    if (file == nullptr) return 2;
    Bench bench(file, std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]) != 0);
    Vtop& top = bench.top();
    freezeframe::AxiLite bus(FREEZEFRAME_AXI_LITE(top, s_axi), {[&] { top.eval(); }, [&] { bench.clock(); }});
    freezeframe::EtherboneServer server("127.0.0.1", 0);
    std::printf("etherbone://127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    pollfd parent{0, POLLIN, 0};
    bool said = false;
    while (!(poll(&parent, 1, 0) > 0)) {
        for (int i = 0; i < 500; ++i) bench.step();
        if (!said && bench.driven()) {
            said = true;
            std::puts("driven");
            std::fflush(stdout);
        }
        server.poll(bus, 64);
    }
    std::fclose(file);
}
