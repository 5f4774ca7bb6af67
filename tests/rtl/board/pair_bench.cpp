// SPDX-License-Identifier: Apache-2.0
// Runs the verilated pair and prints what happened as one JSON object, for tests/rtl/test_example_nic.py.
//
// pair_bench FAULT SEED LIMIT_US MESSAGES: until both cards are frozen, LIMIT_US are over, or all messages were
// delivered and MESSAGES is not 0. Then it obeys lines on standard input, each answered with one line.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "pair.h"

using freezeframe::Pair;

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: pair_bench FAULT SEED LIMIT_US MESSAGES\n");
        return 2;
    }
    freezeframe::PairOptions options;
    options.fault = argv[1];
    options.seed = std::strtoull(argv[2], nullptr, 10);
    const double limit_us = std::strtod(argv[3], nullptr);
    const uint64_t messages = std::strtoull(argv[4], nullptr, 10);
    if (messages != 0) options.limit_messages = messages;
    Pair pair(options);
    const auto began = std::chrono::steady_clock::now();
    const uint64_t first = pair.bus_cycles();
    double quiet_us = 0;
    while (pair.now_us() < limit_us && !pair.frozen()) {
        pair.run_us(1);
        const auto& a = pair.host(0).counts();
        const auto& b = pair.host(1).counts();
        if (messages != 0 && a.posted == messages && b.posted == messages) quiet_us += 1;
        if (quiet_us > 100) break; // the last ones have had time to arrive
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const auto struck = pair.struck();
    std::printf("{\"us\": %.3f, \"seconds\": %.3f, \"struck_us\": %.3f", pair.now_us(), took.count(), struck.at_us);
    const auto number = [](const char* name, uint64_t value) { std::printf(", \"%s\": %" PRIu64, name, value); };
    number("cycles", pair.bus_cycles() - first);
    number("frozen", pair.frozen());
    number("held", pair.held());
    number("struck", struck.done);
    number("seq", struck.seq);
    number("flow", struck.flow);
    number("word", struck.word);
    number("outgoing", pair.fault().outgoing);
    number("lane", pair.fault().lane);
    for (unsigned card = 0; card < 2; ++card) {
        const auto& counts = pair.host(card).counts();
        std::printf(", \"%c\": {\"card\": %u", "AB"[card], card);
        number("posted", counts.posted);
        number("posted_words", counts.posted_words);
        number("payload_words", counts.payload_words);
        number("bad_words", counts.bad_words);
        number("notes_local", counts.notes_local);
        number("notes_remote", counts.notes_remote);
        number("interrupts", counts.interrupts);
        number("reads", counts.reads);
        number("retries", counts.retries);
        number("disconnects", counts.disconnects);
        std::printf("}");
    }
    std::printf("}\n");
    std::fflush(stdout);
    // R ADDRESS WORDS reads, W ADDRESS WORD writes, T US lets time pass; addresses and words hexadecimal.
    char verb = 0;
    unsigned first_number = 0, second_number = 0;
    while (std::scanf(" %c %x", &verb, &first_number) == 2) {
        if (verb == 'T') {
            pair.run_us(first_number);
        } else if (std::scanf("%x", &second_number) == 1 && verb == 'W') {
            pair.access(true, first_number, second_number);
        } else {
            for (unsigned i = 0; i < second_number; ++i) {
                const auto reply = pair.read(first_number + 4 * i);
                std::printf(reply.error ? "error " : "%08x ", reply.word);
            }
        }
        std::printf("\n");
        std::fflush(stdout);
    }
    return 0;
}
