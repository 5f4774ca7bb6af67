// A bench of ff_card_trigger_sequence: what each cycle gets and shows, as lines of numbers on standard input and output.
//
// First line: enable last when[3] mode[3] count[3] timer pin_enable pin_falling. Then a line a cycle: arm triggered outside pin
// (1: high, 2: its enable is not set yet), and for each of four taps valid epoch terms cycle. Printed: in_ready fire pin_fire fired, and each step's word and cycle.
#include <cinttypes>
#include <cstdint>
#include <cstdio>

#include "Vtop.h"
#include "verilated.h"

namespace {

std::uint64_t number() {
    std::uint64_t value = 0;
    if (std::scanf("%" SCNu64, &value) != 1) return ~0ull;
    return value;
}

void edge(Vtop& top) {
    top.clk = 1;
    top.eval();
    top.clk = 0;
    top.eval();
}

}  // namespace

int main() {
    Vtop top;
    top.rst = 1;
    top.enable = number();
    top.cfg_last = number();
    std::uint64_t when = 0, mode = 0;
    for (int i = 0; i < 3; ++i) when |= number() << 16 * i;
    for (int i = 0; i < 3; ++i) mode |= number() << 2 * i;
    top.cfg_when = when;
    top.cfg_mode = mode;
    for (int i = 0; i < 3; ++i) top.cfg_count[i] = number();
    top.cfg_timer = number();
    const std::uint64_t pin_enable = number();
    top.pin_enable = 0;
    top.pin_falling = number();
    for (int i = 0; i < 4; ++i) edge(top);
    top.rst = 0;
    for (std::uint32_t now = 0;; ++now) {
        std::uint64_t arm = number();
        if (arm == ~0ull) return 0;
        top.now = now;
        top.arm = arm;
        top.triggered = number();
        top.outside = number();
        const std::uint64_t pin = number();
        top.pin_in = pin & 1;
        top.pin_enable = pin_enable && !(pin & 2);
        top.in_valid = top.in_epoch = top.in_terms = top.in_lost = 0;
        for (int tap = 0; tap < 4; ++tap) {
            top.in_valid |= number() << tap;
            top.in_epoch |= number() << tap;
            top.in_terms |= number() << 4 * tap;
            top.in_cycle[tap] = number();
        }
        top.eval();
        std::printf("%u %u %u %u", top.in_ready, top.fire, top.pin_fire, top.stat_fired);
        for (int i = 0; i < 3; ++i) std::printf(" %u %u", top.stat_word[i], top.stat_cycle[i]);
        std::printf("\n");
        edge(top);
    }
}
