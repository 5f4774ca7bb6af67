// SPDX-License-Identifier: Apache-2.0
// The simulated board: the pair of example cards runs freely, and this thread answers Etherbone between slices of time.
//
// Prints "ready etherbone://HOST:PORT ..." on standard output when it listens. Exit codes as the command line has them: 2 for
// bad input, 3 when the address cannot be had.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>

#include "cells.h"
#include "etherbone.h"
#include "pair.h"
#include "truth.h"
#include "verilated.h"

// Verilog's $time in messages; the model itself keeps no time.
double sc_time_stamp() { return 0; }

namespace {

using freezeframe::Pair;

constexpr double kSlice_us = 20;       // simulated between two looks at the socket: some milliseconds
constexpr double kSettle_us = 2000;    // after a freeze: until the CRC table is ready and the last signals have crossed
constexpr int kAtOnce = 256;           // requests answered before time goes on
constexpr int kIdle_ms = 200, kNap_ms = 2;
constexpr std::uint32_t kGeneration = 0x100, kFreeze = 0x10C, kFreezeKey = 0x465A; // docs/formats.md section 1.1
constexpr double kLag_us = 100;        // further behind its speed than this, time is given up instead of caught up with

std::atomic<bool> stopped{false};

struct Options {
    std::string host = "127.0.0.1", fault = "none", truth;
    int port = 1234;
    uint64_t seed = 0;
    double speed = 0; // simulated seconds a second; 0: as fast as it goes
    bool until_stdin_ends = false, freeze_when_evident = false;
    std::string pcix, bridge;
    uint64_t pcix_us = 1000;
};

struct BadInput : std::runtime_error {
    using std::runtime_error::runtime_error;
};

Options parse(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        const std::string name = words[i];
        if (name == "--until-stdin-ends") {
            options.until_stdin_ends = true;
            continue;
        }
        if (name == "--freeze-when-evident") {
            options.freeze_when_evident = true;
            continue;
        }
        if (i + 1 == count) throw BadInput(name + ": unknown, or its value is missing");
        const std::string value = words[++i];
        if (name == "--listen") {
            const size_t colon = value.rfind(':');
            char* end = nullptr;
            const long port = colon == std::string::npos ? -1 : std::strtol(value.c_str() + colon + 1, &end, 10);
            if (colon == std::string::npos || colon == 0 || *end || value.size() == colon + 1 || port < 0 || port > 65535)
                throw BadInput("listen address '" + value + "': write HOST:PORT, port 0..65535 (0: any free one)");
            options.port = static_cast<int>(port);
            options.host = value.substr(0, colon);
            if (options.host.size() > 2 && options.host.front() == '[' && options.host.back() == ']')
                options.host = options.host.substr(1, options.host.size() - 2);
        } else if (name == "--seed") {
            char* end = nullptr;
            options.seed = std::strtoull(value.c_str(), &end, 10);
            if (value.empty() || *end || value[0] == '-') throw BadInput("seed '" + value + "' is not a whole number from 0 on");
        } else if (name == "--speed") {
            char* end = nullptr;
            options.speed = std::strtod(value.c_str(), &end);
            if (value.empty() || *end || !(options.speed >= 0 && options.speed <= 1)) throw BadInput("speed '" + value + "' is not a ratio from 0 to 1");
        } else if (name == "--fault") {
            options.fault = value;
        } else if (name == "--truth") {
            options.truth = value;
#ifdef FREEZEFRAME_PCIX
        } else if (name == "--pcix") {
            options.pcix = value;
        } else if (name == "--bridge") {
            options.bridge = value;
        } else if (name == "--pcix-us") {
            char* end = nullptr;
            options.pcix_us = std::strtoull(value.c_str(), &end, 10);
            if (value.empty() || *end || value[0] == '-' || !options.pcix_us) throw BadInput("pcix-us '" + value + "' is not a whole number above 0");
#endif
        } else {
            throw BadInput(name + ": unknown");
        }
    }
    bool known = false;
    std::string names;
    for (const auto* list : {&freezeframe::fault_names(), &freezeframe::Cells::names()}) {
        for (const std::string& fault : *list) {
            known |= fault == options.fault;
            names += (names.empty() ? "" : ", ") + fault;
        }
    }
    if (!known) throw BadInput("fault '" + options.fault + "' does not exist; there is " + names);
    return options;
}

// The board's registers as the server sees them: what no device answers, and addresses that no bus carries, read all ones.
class PairBus final : public freezeframe::Bus {
public:
    explicit PairBus(Pair& pair) : pair_(pair) {}
    std::uint32_t read(std::uint32_t address) override {
        if (address & 3) return 0xFFFFFFFFu;
        const freezeframe::Reply reply = pair_.read(address);
        return reply.error ? 0xFFFFFFFFu : reply.word;
    }
    void write(std::uint32_t address, std::uint32_t word) override {
        if (!(address & 3)) pair_.access(true, address, word);
    }

private:
    Pair& pair_;
};

// A's host freezes its card, and with it B, as any host may: what no check finds has had time to show itself.
void freeze(Pair& pair) {
    const std::uint32_t generation = pair.read(kGeneration).word;
    pair.access(true, kFreeze, kFreezeKey << 16 | (generation & 0xFFFF));
}

bool stdin_ended() {
    pollfd waiting{0, POLLIN, 0};
    if (::poll(&waiting, 1, 0) <= 0) return false;
    char ignored[256];
    return ::read(0, ignored, sizeof ignored) <= 0;
}

#ifdef FREEZEFRAME_PCIX
// Once, when the waveforms are there. A collision is a defect of the card or the bridge, and no waveform to be trusted.
void tell_waves(const Pair& pair, const freezeframe::PairOptions& wanted) {
    static bool told = false;
    if (told || wanted.pcix_folder.empty() || pair.ports(0).recording() || pair.ports(1).recording()) return;
    told = true;
    const auto count = [](uint64_t number) { return static_cast<unsigned long long>(number); };
    std::fprintf(stderr, "%s: card_a.vcd has %llu clocks, card_b.vcd %llu; lines driven by two: %llu, answers that may not be: %llu\n",
                 wanted.pcix_folder.c_str(), count(pair.ports(0).recorded()), count(pair.ports(1).recorded()),
                 count(pair.ports(0).collisions() + pair.ports(1).collisions()), count(pair.ports(0).broken() + pair.ports(1).broken()));
}
#endif

int serve(const Options& options) {
    freezeframe::PairOptions wanted;
    const auto& cell_faults = freezeframe::Cells::names();
    const bool in_cells = std::find(cell_faults.begin(), cell_faults.end(), options.fault) != cell_faults.end();
    wanted.fault = in_cells ? "none" : options.fault;
    wanted.long_stops = !in_cells;
    wanted.seed = options.seed;
    wanted.nonce = std::random_device{}();
#ifdef FREEZEFRAME_PCIX
    try {
        wanted.bridge = freezeframe::BridgeOptions::parse(options.bridge);
    } catch (const std::invalid_argument& error) {
        throw BadInput(error.what());
    }
    wanted.pcix_folder = options.pcix;
    wanted.pcix_clocks = options.pcix_us * (freezeframe::Profile{}.bus_hz / 1000000);
#endif
    freezeframe::EtherboneServer server(options.host, options.port); // first: a busy port is told at once
    Pair pair(wanted);
    freezeframe::Cells cells(pair, options.fault, options.seed);
    if (in_cells) pair.after_edge = [&cells] { cells.after_edge(); };
    PairBus bus(pair);
    freezeframe::Truth truth(options.truth, options.fault, options.seed);
    const bool six = options.host.find(':') != std::string::npos;
    std::printf("ready etherbone://%s%s%s:%d profile example fault %s seed %llu\n", six ? "[" : "", options.host.c_str(),
                six ? "]" : "", server.port(), options.fault.c_str(), static_cast<unsigned long long>(options.seed));
    std::fflush(stdout);
    double still_since_us = -1;
    const auto began = std::chrono::steady_clock::now();
    double given_up_us = pair.now_us(); // time before the start, and time that was not caught up with
    while (!stopped && !(options.until_stdin_ends && stdin_ended())) {
        const int answered = cells.settling() ? 0 : server.poll(bus, kAtOnce);
        truth.look(pair, cells.injection());
#ifdef FREEZEFRAME_PCIX
        tell_waves(pair, wanted);
#endif
        if (pair.held() && pair.frozen()) {
            if (still_since_us < 0) still_since_us = pair.now_us();
            if (pair.now_us() > still_since_us + kSettle_us) {
                if (!answered) server.wait(kIdle_ms);
                continue; // nothing but requests lets time pass now
            }
        } else {
            still_since_us = -1;
        }
        if (options.speed > 0) {
            const double wall_us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
            const double due_us = given_up_us + wall_us * options.speed - pair.now_us();
            if (due_us < 0) {
                server.wait(kNap_ms);
                continue;
            }
            if (due_us > kLag_us) given_up_us -= due_us - kLag_us;
        }
        pair.run_us(kSlice_us);
        if (options.freeze_when_evident && (pair.evident() || cells.evident()) && !pair.frozen()) freeze(pair);
    }
    return 0;
}

}  // namespace

int main(int count, char** words) {
    for (const int number : {SIGINT, SIGTERM}) std::signal(number, [](int) { stopped = true; });
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return serve(parse(count, words));
    } catch (const BadInput& error) {
        std::fprintf(stderr, "freezeframe: %s\n", error.what());
        return 2;
#ifdef FREEZEFRAME_PCIX
    } catch (const freezeframe::BadWave& error) {
        std::fprintf(stderr, "freezeframe: %s\n", error.what());
        return 2;
#endif
    } catch (const freezeframe::BadTruth& error) {
        std::fprintf(stderr, "freezeframe: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "freezeframe: %s\n", error.what());
        return 3;
    }
}
