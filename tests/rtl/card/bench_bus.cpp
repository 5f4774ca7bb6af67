// A bench of the card of test_own_simulation.py: packets at its tap, and its registers by the pins of BUS over UDP.
#include <cstdio>

#include <poll.h>

#include "Vtop.h"
#include "pins.h"
#include "verilated.h"

namespace {

Vtop top;

void tick() {
    top.clk_sys = 0;
    top.eval();
    top.clk_sys = 1;
    top.eval();
    static unsigned word = 0;
    top.rx_tvalid = ++word % 3 != 0;
    top.rx_tdata = word * 0x01010101u;
    top.rx_tlast = word % 16 == 1;
    top.time_in = top.time_out;
}

}  // namespace

int main() {
    top.boot_nonce = 7;
    top.rst = top.bus_rst = 1;
    for (int i = 0; i < 40; ++i) tick();
    top.rst = top.bus_rst = 0;
    freezeframe::Clocked run{[] { top.eval(); }, tick};
#if defined(WISHBONE)
    freezeframe::Wishbone bus(FREEZEFRAME_WISHBONE(top, wb), run);
#elif defined(UARTBONE)
    freezeframe::Uartbone bus({top.rx, top.tx, 8}, run);
#else
    freezeframe::AxiLite bus(FREEZEFRAME_AXI_LITE(top, s_axi), run);
#endif
    freezeframe::EtherboneServer server("127.0.0.1", 0);
    std::printf("etherbone://127.0.0.1:%d\n", server.port());
    std::fflush(stdout);
    pollfd parent{0, POLLIN, 0};
    while (!(poll(&parent, 1, 0) > 0)) {
        for (int i = 0; i < 200; ++i) tick();
        server.poll(bus, 64);
    }
}
