// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <algorithm>
#include <cmath>

#include "model.h"
#include "pair.h"
#ifdef FREEZEFRAME_PCIX
#include "Vff_pcix_pair___024root.h"
#define CELL_OF(path) root.ff_pcix_pair__DOT__i_pair__DOT__##path
#else
#include "Vff_example_pair___024root.h"
#define CELL_OF(path) root.ff_example_pair__DOT__##path
#endif

// A cell of card 0 (A) or 1 (B) of the model.
#define CELL(card, path) ((card) == 0 ? CELL_OF(i_a__DOT__##path) : CELL_OF(i_b__DOT__##path))
#define BANK(card, name) CELL(card, i_recorder__DOT__g_bank__DOT__i_bank__DOT__##name)
#define TAP(card, n) CELL(card, i_recorder__DOT__i_taps__DOT__g_tap__BRA__##n##__KET____DOT__i_memory__DOT__ram)

namespace freezeframe {
namespace {

constexpr double kEarliestUs = 5, kLatestUs = 250, kSettle_us = 150;
constexpr unsigned kHeadWords = 2, kCredit = 4;
constexpr unsigned kHead = 1, kOwn = 13; // kinds of record; from kOwn on the recorder's own
constexpr unsigned kFreezeBank = 64, kFlowWords = 8, kWireSlots = 25;

const std::vector<Cells::Fault> kFaults = {
    {"out-bit", Cells::Where::out, "bit"},
    {"out-words-swapped", Cells::Where::out, "swapped"},
    {"out-bytes-swapped", Cells::Where::out, "bytes"},
    {"out-word-stale", Cells::Where::out, "stale"},
    {"out-header-flow", Cells::Where::out, "flow"},
    {"link-burst", Cells::Where::link, "burst"},
    {"link-word-zero", Cells::Where::link, "zero"},
    {"link-words-swapped", Cells::Where::link, "swapped"},
    {"link-bit-stuck", Cells::Where::link, "stuck"},
    {"lanes-crossed", Cells::Where::link, "crossed"},
    {"lane-idle", Cells::Where::link, "idle"},
    {"lane-inverted", Cells::Where::link, "inverted"},
    {"in-bit", Cells::Where::in, "bit"},
    {"in-words-swapped", Cells::Where::in, "swapped"},
    {"in-bytes-swapped", Cells::Where::in, "bytes"},
    {"in-word-zero", Cells::Where::in, "zero"},
    {"in-word-stale", Cells::Where::in, "stale"},
    {"in-header-flow", Cells::Where::in, "flow"},
    {"trace-bit-upset", Cells::Where::trace, "bit"},
    {"trace-two-bits-upset", Cells::Where::trace, "two"},
    {"trace-column-upset", Cells::Where::trace, "column"},
    {"trace-kind-upset", Cells::Where::trace, "kind"},
    {"trace-time-upset", Cells::Where::trace, "time"},
    {"trace-bit-stuck", Cells::Where::trace, "stuck"},
    {"log-bit-upset", Cells::Where::log, "bit"},
    {"log-time-upset", Cells::Where::log, "time"},
    {"level-one-off", Cells::Where::bank, "one-off"},
    {"level-upset", Cells::Where::bank, "level"},
    {"flow-count-upset", Cells::Where::bank, "count"},
    {"flow-limit-read-upset", Cells::Where::bank, "limit"},
    {"flow-words-upset", Cells::Where::bank, "words"},
    {"sequence-upset", Cells::Where::bank, "sequence"},
    {"freeze-cycle-upset", Cells::Where::bank, "cycle"},
    {"underflows-upset", Cells::Where::bank, "underflows"},
    {"completions-upset", Cells::Where::bank, "completions"},
    {"counter-upset", Cells::Where::bank, "counter"},
};
const char* const kTaps[] = {"tx_enq", "tx_deq", "rx_enq", "rx_deq"};
const char* const kCounters[] = {"tx_enq_words", "tx_enq_packets", "tx_deq_words", "tx_deq_packets",
                                 "rx_enq_words", "rx_enq_packets", "rx_deq_words", "rx_deq_packets"};
const char* const kFlowFields[] = {"sent", "credited", "limit", "received", "freed", "words_sent", "words_received", "reported"};

std::string quoted(const std::string& text) { return "\"" + text + "\""; }
std::string place(const char* key, long value) { return quoted(key) + ": " + std::to_string(value); }

}  // namespace

const std::vector<std::string>& Cells::names() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        for (const Fault& fault : kFaults) names.push_back(fault.name);
        return names;
    }();
    return all;
}

Cells::Cells(Pair& pair, const std::string& name, uint64_t seed)
    : pair_(pair), fault_{"", Where::none, ""}, draw_(std::to_string(seed) + "/cells/" + name) {
    for (const Fault& fault : kFaults)
        if (name == fault.name) fault_ = fault;
    arm_us_ = pair.now_us() + kEarliestUs * std::pow(kLatestUs / kEarliestUs, draw_.unit());
    patience_us_ = draw_.uniform(40, 160);
    const std::string how = fault_.how;
    card_ = fault_.where == Where::in ? 1 : fault_.where == Where::out ? 0 : static_cast<unsigned>(draw_.below(2));
    bit_ = static_cast<unsigned>(draw_.below(64));
    value_ = static_cast<unsigned>(draw_.below(2));
    count_ = how == "swapped" ? 2 : how == "burst" ? static_cast<unsigned>(draw_.between(3, 8)) : 1;
    goes_on_ = how == "stuck" || how == "crossed" || how == "idle" || how == "inverted";
    const size_t slots = fault_.where == Where::out ? 1024 : fault_.where == Where::in ? 2048 : 256;
    before_.resize(slots);
    now_.resize(slots);
}

// The cell of a slot in the memory whose words are followed.
Cells::Word* Cells::cell(unsigned slot) {
    auto& root = *pair_.model().rootp;
    EData* data;
    if (fault_.where == Where::out) data = CELL(0, i_core__DOT__i_tx_fifo__DOT__ram)[slot].m_storage;
    else if (fault_.where == Where::in) data = CELL(1, i_core__DOT__i_rx_fifo__DOT__ram)[slot].m_storage;
    else data = CELL_OF(i_wire_ab__DOT__line)[slot].m_storage;
    return reinterpret_cast<Word*>(data);
}

// The cable holds the lanes' halves: even bytes of a word in the first, odd ones in the second.
uint64_t Cells::data_of(const Word& word) const {
    if (fault_.where != Where::link) return uint64_t{word[1]} << 32 | word[0];
    uint64_t data = 0;
    for (unsigned b = 0; b < 4; ++b)
        data |= uint64_t{word[0] >> 8 * b & 0xFF} << 16 * b | uint64_t{word[1] >> 8 * b & 0xFF} << (16 * b + 8);
    return data;
}

void Cells::set_data(Word& word, uint64_t data) const {
    if (fault_.where != Where::link) {
        word[0] = static_cast<uint32_t>(data);
        word[1] = static_cast<uint32_t>(data >> 32);
        return;
    }
    word[0] = word[1] = 0;
    for (unsigned b = 0; b < 4; ++b) {
        word[0] |= static_cast<uint32_t>(data >> 16 * b & 0xFF) << 8 * b;
        word[1] |= static_cast<uint32_t>(data >> (16 * b + 8) & 0xFF) << 8 * b;
    }
}

bool Cells::evident() const { return struck_us_ >= 0 && pair_.now_us() >= struck_us_ + patience_us_; }

bool Cells::settling() const {
    const bool later = fault_.where == Where::trace || fault_.where == Where::log || fault_.where == Where::bank;
    return later && injection_.empty() && pair_.frozen();
}

void Cells::after_edge() {
    if (fault_.where == Where::none || pair_.runs() != 1) return;
    switch (fault_.where) {
    case Where::out:
    case Where::link:
    case Where::in:
        follow();
        break;
    default:
        if (struck_us_ < 0 && pair_.now_us() >= arm_us_) {
            struck_us_ = arm_us_;
            patience_us_ = 0;
        }
        if (!pair_.frozen() || !injection_.empty()) return;
        if (frozen_us_ < 0) frozen_us_ = pair_.now_us();
        // A memory before its CRCs are made, a register when the last copy stands.
        if (fault_.where != Where::bank) change_record();
        else if (pair_.now_us() > frozen_us_ + kSettle_us) change_register();
    }
}

// Looks at the pointer of the memory: where it has moved on, a word was written to the slot before.
void Cells::follow() {
    auto& root = *pair_.model().rootp;
    const unsigned slots = static_cast<unsigned>(now_.size());
    unsigned pointer = CELL_OF(i_wire_ab__DOT__place_q);
    if (fault_.where == Where::out) pointer = CELL(0, i_core__DOT__i_tx_fifo__DOT__write_q) & (slots - 1);
    if (fault_.where == Where::in) pointer = CELL(1, i_core__DOT__i_rx_fifo__DOT__stored_q) & (slots - 1);
    if (known_ && pointer != pointer_) {
        const unsigned slot = pointer_;
        Word& word = *cell(slot);
        before_[slot] = now_[slot];
        now_[slot] = word;
        bool first;
        if (fault_.where == Where::link) {
            const bool data = (word[2] & 0xFF) == 0;
            first = data && !inside_;
            inside_ = data;
            if (!data) {
                known_ = true;
                pointer_ = pointer;
                return;
            }
        } else {
            const bool head = (word[2] & 3) == kHead;
            first = head && !inside_; // the first of the two head words
            inside_ = head && first;
        }
        frame(word, first);
        if (chosen_) change_word(slot);
    }
    known_ = true;
    pointer_ = pointer;
}

// Counts the words of a packet, and chooses the first one after the fault was armed that is long enough.
void Cells::frame(const Word& word, bool first) {
    index_ = first ? 0 : index_ + 1;
    if (!first) return;
    const uint64_t data = data_of(word);
    if (chosen_ && !goes_on_ && left_ > 0) left_ = 0; // the packet was cut
    if (chosen_ || pair_.now_us() < arm_us_ || (data & 0xF) == kCredit) return;
    header_ = {static_cast<unsigned>(data >> 32 & 0xFFFF), static_cast<unsigned>(data >> 8 & 0x7F),
               static_cast<unsigned>(data >> 16 & 0x3FF)};
    if (header_.length < count_ + 1) return;
    chosen_ = true;
    left_ = count_;
    target_ = kHeadWords + static_cast<unsigned>(draw_.below(header_.length - count_ + 1));
    if (goes_on_ || std::string(fault_.how) == "flow") target_ = 0;
}

void Cells::change_word(unsigned slot) {
    Word& word = *cell(slot);
    const std::string how = fault_.how;
    if (goes_on_) {
        const Word was = word;
        change_lanes(word);
        if (injection_.empty() && was != word)
            strike("B", "rx_enq", -1, place("bit", bit_));
        return;
    }
    if (index_ < target_ || left_ == 0) return;
    const uint64_t data = data_of(word);
    uint64_t other = data;
    if (how == "bit") other ^= uint64_t{1} << bit_;
    if (how == "zero") other = 0;
    if (how == "bytes") other = __builtin_bswap64(data);
    if (how == "stale") other = data_of(before_[slot]);
    if (how == "flow") other ^= uint64_t{1} << (8 + bit_ % 3);
    if (how == "burst") other ^= draw_.word() | 1;
    if (how == "swapped" && left_ == 1) {
        const unsigned slots = fault_.where == Where::link ? kWireSlots : static_cast<unsigned>(now_.size());
        Word& earlier = *cell((slot + slots - 1) % slots);
        other = data_of(earlier);
        set_data(earlier, data);
    }
    set_data(word, other);
    --left_;
    const bool outgoing = fault_.where == Where::out;
    if (left_ > 0 || (other == data && how != "burst")) return;
    const long payload = static_cast<long>(target_) - kHeadWords;
    strike(outgoing ? "A" : "B", outgoing ? "tx_deq" : fault_.where == Where::in ? "rx_deq" : "rx_enq",
           how == "flow" ? -1 : payload, how == "bit" ? place("bit", bit_) : "");
}

// A fault of the cable that stays, on one slot of it.
void Cells::change_lanes(Word& word) const {
    const std::string how = fault_.how;
    if (how == "stuck") {
        const uint64_t mask = uint64_t{1} << bit_, data = data_of(word);
        set_data(word, value_ ? data | mask : data & ~mask);
    } else if (how == "crossed") {
        std::swap(word[0], word[1]);
    } else if (how == "inverted") {
        word[1] = ~word[1];
    } else { // idles, with their control marks
        word[1] = 0xBCBCBCBC;
        word[2] |= 0xF0;
    }
}

void Cells::change_record() {
    auto& root = *pair_.model().rootp;
    const unsigned tap = fault_.where == Where::log ? 4 : static_cast<unsigned>(draw_.below(4));
    VlUnpacked<VlWide<3>, 2048>* memories[] = {
        &TAP(card_, 0), &TAP(card_, 1), &TAP(card_, 2), &TAP(card_, 3),
        &CELL(card_, i_recorder__DOT__g_log__DOT__i_events__DOT__i_memory__DOT__ram)};
    auto& memory = *memories[tap];
    std::vector<unsigned> held, words;
    for (unsigned slot = 0; slot < 2048; ++slot) {
        const unsigned kind = memory[slot].m_storage[2] & 15;
        if (kind == 0) continue;
        held.push_back(slot);
        if (kind < kOwn) words.push_back(slot);
    }
    const std::string how = fault_.how;
    const auto flip = [&](unsigned slot, unsigned bit) { memory[slot].m_storage[bit / 32] ^= 1u << bit % 32; };
    const char* const device = card_ == 0 ? "A" : "B";
    const std::string name = tap == 4 ? "event_log" : kTaps[tap];
    if (words.empty()) { // nothing was recorded there: nothing can be wrong
        strike(device, name, -1, place("slot", -1));
        return;
    }
    const unsigned slot = words[draw_.below(words.size())];
    unsigned bit = bit_;
    if (how == "kind") bit = 64 + bit_ % 4;
    if (how == "time") bit = 68 + bit_ % 4;
    if (how == "two") bit = bit_ % 63;
    if (how == "stuck") {
        for (const unsigned each : held)
            if ((memory[each].m_storage[bit / 32] >> bit % 32 & 1) != value_) flip(each, bit);
        strike(device, name, -1, place("bit", bit) + ", " + place("value", value_));
        return;
    }
    const unsigned records = how == "column" ? 8 : 1;
    for (unsigned each = slot; each < std::min(slot + records, 2048u); ++each) flip(each, bit);
    if (how == "two") flip(slot, bit + 1);
    strike(device, name, -1, place("slot", slot) + ", " + place("bit", bit));
}

// Turns one bit between `low` and `high` over; returns the truth's detail.
std::string Cells::flip(const std::string& name, uint64_t value, unsigned low, unsigned high, uint64_t& changed) {
    const unsigned bit = low + static_cast<unsigned>(draw_.below(high - low + 1));
    changed = value ^ uint64_t{1} << bit;
    return quoted("register") + ": " + quoted(name) + ", " + place("bit", bit);
}

void Cells::change_register() {
    auto& root = *pair_.model().rootp;
    const std::string how = fault_.how;
    const bool second = draw_.below(2);
    uint64_t changed = 0;
    std::string detail;
    if (how == "one-off") {
        auto& level = second ? BANK(card_, rx_level_q) : BANK(card_, tx_level_q);
        const int step = level && draw_.below(2) ? -1 : 1;
        level = static_cast<uint16_t>(level + step);
        detail = quoted("register") + ": " + quoted(second ? "frozen.rx_level" : "frozen.tx_level") + ", " + place("step", step);
    } else if (how == "level") {
        auto& level = second ? BANK(card_, rx_level_q) : BANK(card_, tx_level_q);
        detail = flip(second ? "frozen.rx_level" : "frozen.tx_level", level, 1, 9, changed);
        level = static_cast<uint16_t>(changed);
    } else if (how == "sequence") {
        auto& next = second ? BANK(card_, seq_in_q) : BANK(card_, seq_out_q);
        detail = flip(second ? "frozen.next_seq_in" : "frozen.next_seq_out", next, 0, 15, changed);
        next = static_cast<uint16_t>(changed);
    } else if (how == "completions") {
        auto& waiting = BANK(card_, completions_q);
        detail = flip("frozen.completions_waiting", waiting, 0, 5, changed);
        waiting = static_cast<uint16_t>(changed);
    } else if (how == "cycle") {
        auto& cycle = BANK(card_, cycle_q);
        detail = flip("frozen.freeze_cycle_lo", cycle, 8, 19, changed);
        cycle = changed;
    } else if (how == "underflows") {
        auto& lanes = BANK(card_, underflows_q);
        const unsigned low = second ? 32 : 0;
        detail = flip("frozen.lane.underflows", lanes, low, low + 7, changed);
        lanes = changed;
    } else if (how == "counter") {
        const unsigned number = static_cast<unsigned>(draw_.below(8));
        auto& counter = CELL(card_, i_recorder__DOT__i_counts__DOT__g_counters__DOT__i_counters__DOT__bank)[kFreezeBank + number];
        detail = flip(kCounters[number], counter, 0, 11, changed);
        counter = changed;
    } else { // a word of a flow in use
        static const unsigned counts[] = {0, 1, 3, 4, 7};
        const unsigned field = how == "limit" ? 2 : how == "words" ? (second ? 5 : 6) : counts[draw_.below(5)];
        auto& flows = BANK(card_, ram);
        std::vector<unsigned> used;
        for (unsigned flow = 0; flow < 8; ++flow)
            if (flows[flow * kFlowWords + 5] || flows[flow * kFlowWords + 6]) used.push_back(flow);
        const unsigned flow = used.empty() ? 0 : used[draw_.below(used.size())];
        auto& word = flows[flow * kFlowWords + field];
        detail = flip(std::string("frozen_flow.") + kFlowFields[field] + "[" + std::to_string(flow) + "]", word, 0,
                      how == "words" ? 15 : 11, changed);
        word = static_cast<uint32_t>(changed);
    }
    strike(card_ == 0 ? "A" : "B", "", -1, detail);
}

void Cells::strike(const std::string& device, const std::string& tap, long word, const std::string& detail) {
    const bool packet = fault_.where == Where::out || fault_.where == Where::link || fault_.where == Where::in;
    if (packet) struck_us_ = pair_.now_us();
    const auto known = [](bool is, long value) { return is ? std::to_string(value) : std::string("null"); };
    injection_ = "{\"generation\": 1, \"device\": " + quoted(device) + ", \"tap\": " + (tap.empty() ? "null" : quoted(tap));
    injection_ += ", \"direction\": " + std::string(packet ? "\"A->B\"" : "null");
    injection_ += ", \"flow\": " + known(packet, header_.flow) + ", \"packet\": " + known(packet, header_.seq);
    injection_ += ", \"word\": " + known(word >= 0, word);
    injection_ += ", \"t_ps\": " + std::to_string(static_cast<long long>(struck_us_ * 1e6)) + ", \"detail\": {" + detail + "}}";
}

}  // namespace freezeframe
