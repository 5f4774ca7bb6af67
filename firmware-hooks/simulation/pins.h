// SPDX-License-Identifier: Apache-2.0
// The register bus of a simulated design, driven at its pins: with EtherboneServer every verb of the host works on it.
//
// A bench has a function that runs the simulation to just after the next rising edge of the bus clock. An access calls it:
//
//     freezeframe::AxiLite bus(FREEZEFRAME_AXI_LITE(top, s_axi), {[&] { top.eval(); }, [&] { tick(); }});
//     freezeframe::EtherboneServer server("127.0.0.1", 1234);
//     for (;;) { for (int i = 0; i < 1000; ++i) tick(); server.poll(bus, 64); }
//
// An error answer is all ones, as the transport has it (docs/formats.md, section 1). So is an access that is not answered,
// and a line on standard error says so.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <utility>

#include "etherbone.h"

namespace freezeframe {

constexpr std::uint32_t kErrorAnswer = 0xFFFFFFFF;

// A pin or bus of up to 32 bits, of Verilator's CData, SData, IData or any other unsigned integer.
class Pin {
public:
    template <class T> Pin(T& pin)
        : get_([&pin] { return static_cast<std::uint32_t>(pin); }), set_([&pin](std::uint32_t v) { pin = static_cast<T>(v); }) {}
    operator std::uint32_t() const { return get_(); }
    void operator=(std::uint32_t value) { set_(value); }

private:
    std::function<std::uint32_t()> get_;
    std::function<void(std::uint32_t)> set_;
};

// The running simulation.
struct Clocked {
    std::function<void()> settle;      // outputs follow inputs: top.eval()
    std::function<void()> clock;       // to just after the next rising edge of the bus clock
    unsigned most_clocks = 20000;      // that one answer may take

    // Runs clocks until `done` is true right before an edge; false: it never was.
    template <class Done> bool until(const char* bus, std::uint32_t address, const Done& done) const {
        for (unsigned i = 0; i < most_clocks; ++i) {
            settle();
            const bool answered = done();
            clock();
            if (answered) return true;
        }
        std::fprintf(stderr, "%s: no answer at 0x%08x in %u clocks; is the bus in reset?\n", bus, unsigned(address), most_clocks);
        return false;
    }
};

// Pins of an AXI4-Lite subordinate of 32 bits (AMBA IHI 0022, chapter B1).
struct AxiLitePins {
    Pin awvalid, awready, awaddr, wvalid, wready, wdata, wstrb, bvalid, bready, bresp;
    Pin arvalid, arready, araddr, rvalid, rready, rdata, rresp;
};
#define FREEZEFRAME_AXI_LITE(top, p)                                                                            \
    freezeframe::AxiLitePins {                                                                                  \
        (top).p##_awvalid, (top).p##_awready, (top).p##_awaddr, (top).p##_wvalid, (top).p##_wready,             \
            (top).p##_wdata, (top).p##_wstrb, (top).p##_bvalid, (top).p##_bready, (top).p##_bresp,              \
            (top).p##_arvalid, (top).p##_arready, (top).p##_araddr, (top).p##_rvalid, (top).p##_rready,         \
            (top).p##_rdata, (top).p##_rresp                                                                    \
    }

class AxiLite : public Bus {
public:
    AxiLite(AxiLitePins pins, Clocked run) : p_(std::move(pins)), run_(std::move(run)) { idle(); }
    std::uint32_t read(std::uint32_t address) override {
        p_.araddr = address;
        p_.arvalid = 1;
        p_.rready = 1;
        std::uint32_t word = kErrorAnswer;
        bool asked = false;
        run_.until("AXI4-Lite", address, [&] {
            if (asked) p_.arvalid = 0, run_.settle();
            asked = asked || p_.arready;
            if (p_.rvalid && p_.rresp == 0) word = p_.rdata;
            return p_.rvalid != 0;
        });
        idle();
        return word;
    }
    void write(std::uint32_t address, std::uint32_t word) override {
        p_.awaddr = address;
        p_.wdata = word;
        p_.wstrb = 0xF;
        p_.awvalid = 1;
        p_.wvalid = 1;
        p_.bready = 1;
        bool placed = false, given = false;
        run_.until("AXI4-Lite", address, [&] {
            if (placed) p_.awvalid = 0;
            if (given) p_.wvalid = 0;
            run_.settle();
            placed = placed || p_.awready;
            given = given || p_.wready;
            return p_.bvalid != 0;
        });
        idle();
    }

private:
    void idle() {
        for (Pin* pin : {&p_.awvalid, &p_.wvalid, &p_.bready, &p_.arvalid, &p_.rready}) *pin = 0;
    }
    AxiLitePins p_;
    Clocked run_;
};

// Pins of a Wishbone B4 subordinate of 32 bits, classic cycles. `adr` counts words (LiteX, and the device's own port) or bytes.
struct WishbonePins {
    Pin cyc, stb, we, adr, dat_w, sel, ack, err, dat_r;
};
#define FREEZEFRAME_WISHBONE(top, p)                                                                            \
    freezeframe::WishbonePins {                                                                                 \
        (top).p##_cyc, (top).p##_stb, (top).p##_we, (top).p##_adr, (top).p##_dat_w, (top).p##_sel,              \
            (top).p##_ack, (top).p##_err, (top).p##_dat_r                                                       \
    }

class Wishbone : public Bus {
public:
    Wishbone(WishbonePins pins, Clocked run, bool words = true) : p_(std::move(pins)), run_(std::move(run)), shift_(words ? 2 : 0) {
        p_.cyc = 0;
        p_.stb = 0;
    }
    std::uint32_t read(std::uint32_t address) override { return access(address, false, 0); }
    void write(std::uint32_t address, std::uint32_t word) override { access(address, true, word); }

private:
    std::uint32_t access(std::uint32_t address, bool writes, std::uint32_t word) {
        p_.adr = address >> shift_;
        p_.we = writes;
        p_.dat_w = word;
        p_.sel = 0xF;
        p_.cyc = 1;
        p_.stb = 1;
        std::uint32_t answer = kErrorAnswer;
        run_.until("Wishbone", address, [&] {
            if (p_.ack) answer = p_.dat_r;
            return p_.ack || p_.err;
        });
        p_.cyc = 0;
        p_.stb = 0;
        run_.clock();
        return answer;
    }
    WishbonePins p_;
    Clocked run_;
    unsigned shift_;
};

// The two pins of a UARTBone, 8N1 (docs/formats.md, section 9).
struct UartbonePins {
    Pin rx, tx;  // of the design: rx is what it receives
    unsigned bit_clocks;
};

class Uartbone : public Bus {
public:
    Uartbone(UartbonePins pins, Clocked run) : p_(std::move(pins)), run_(std::move(run)) {
        run_.most_clocks += 100 * p_.bit_clocks;
        p_.rx = 1;
    }
    std::uint32_t read(std::uint32_t address) override {
        begin(2, address);
        std::uint32_t word = 0;
        const bool answered = run_.until("UARTBone", address, [&] {
            listen();
            return in_.size() >= 4;
        });
        if (!answered) return kErrorAnswer;
        for (int i = 0; i < 4; ++i) word = word << 8 | in_[i];
        return word;
    }
    void write(std::uint32_t address, std::uint32_t word) override {
        begin(1, address);
        for (int i = 3; i >= 0; --i) send(static_cast<std::uint8_t>(word >> 8 * i));
    }

private:
    void begin(std::uint8_t command, std::uint32_t address) {
        in_.clear();
        left_ = 0;
        send(command);
        send(1);
        for (int i = 3; i >= 0; --i) send(static_cast<std::uint8_t>(address >> 2 >> 8 * i));
    }
    void send(std::uint8_t byte) {
        for (unsigned line = 0x600u | byte << 1, i = 0; i < 11; ++i, line >>= 1) {  // start, data, stop twice
            p_.rx = line & 1;
            for (unsigned n = 0; n < p_.bit_clocks; ++n) run_.clock();
        }
    }
    void listen() {  // once a clock; each bit is looked at in its middle
        if (left_ == 0) {
            if (p_.tx) return;
            left_ = 9 * p_.bit_clocks + p_.bit_clocks / 2 + 1;
            bits_ = 0;
        }
        if (--left_ % p_.bit_clocks) return;
        bits_ = bits_ >> 1 | (p_.tx ? 0x200u : 0);
        if (left_ == 0) in_.push_back(static_cast<std::uint8_t>(bits_ >> 1));
    }
    UartbonePins p_;
    Clocked run_;
    std::deque<std::uint8_t> in_;
    unsigned left_ = 0, bits_ = 0;
};

}  // namespace freezeframe
