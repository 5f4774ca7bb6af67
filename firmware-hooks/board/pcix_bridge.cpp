// SPDX-License-Identifier: Apache-2.0
#include "pcix_bridge.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace freezeframe {

namespace {

constexpr unsigned kBoundary_B = 128;
constexpr unsigned kBridgeId = 0x0000, kCardBus = 1, kCardDevice = 4;
constexpr unsigned kMemoryReadDword = 6, kMemoryWriteBlock = 15, kMemoryReadBlock = 14, kAliasRead = 8, kCompletion = 12;
constexpr unsigned kConfigRead = 10, kConfigWrite = 11;
// Above every address that a message uses; the registers of rtl/example_nic/ff_nic_pcix_driver.v.
constexpr uint64_t kBase0 = uint64_t{1} << 40, kBase1 = kBase0 + (uint64_t{1} << 24);
constexpr unsigned kMemories = 0x40000; // where the trace memories begin: nothing happens where one is read
constexpr unsigned kInterrupt = 0x100, kControl = 0x104, kPause = 0x108, kShare = 0x10C, kNotesLow = 0x110, kStatus = 0x118,
                   kActive = 0x120;
constexpr unsigned kGrantClocks = 4; // from what is said to the first clock in which the card has not begun by it
constexpr uint64_t kFullWait = 200, kResumeWait = 300, kRetryWait = 6;
constexpr uint32_t kBridgeMasterAbort = 1u << 28; // Split Completion Message: class 1, index 0

}  // namespace

BridgeOptions BridgeOptions::parse(const std::string& text) {
    BridgeOptions options;
    const std::map<std::string, double*> shares = {
        {"retries", &options.retries}, {"disconnects", &options.disconnects}, {"singles", &options.singles},
        {"at-once", &options.at_once}, {"pieces", &options.pieces}, {"narrow", &options.narrow},
        {"aborts", &options.aborts}, {"parity", &options.parity}};
    const std::map<std::string, unsigned> decodes = {{"any", 0}, {"A", 2}, {"B", 3}, {"C", 4}, {"subtractive", 6}};
    for (size_t at = 0; at < text.size();) {
        const size_t stop = std::min(text.find(',', at), text.size());
        const std::string part = text.substr(at, stop - at);
        at = stop + 1;
        const size_t equals = part.find('=');
        const std::string name = part.substr(0, equals), value = equals == std::string::npos ? "" : part.substr(equals + 1);
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        const bool whole = !value.empty() && !*end;
        if (const auto share = shares.find(name); share != shares.end()) {
            if (!whole || !(number >= 0 && number <= 0.95)) throw std::invalid_argument("bridge: " + name + "=" + value + ": a share from 0 to 0.95");
            *share->second = number;
        } else if (name == "waits") {
            if (!whole || !(number >= 0 && number <= 8)) throw std::invalid_argument("bridge: waits=" + value + ": clocks from 0 to 8");
            options.waits = static_cast<unsigned>(number);
        } else if (name == "decode") {
            const auto decode = decodes.find(value);
            if (decode == decodes.end()) throw std::invalid_argument("bridge: decode=" + value + ": any, A, B, C or subtractive");
            options.decode = decode->second;
        } else {
            throw std::invalid_argument("bridge: '" + part + "': there is retries, disconnects, singles, at-once, pieces, narrow, "
                                        "aborts, parity (shares), waits (clocks), decode");
        }
    }
    return options;
}

Bridge::Bridge(const Profile& profile, uint64_t seed, char side)
    : Driver(profile, seed, side), bus_(std::to_string(seed) + "/" + side + "/bridge") {}

void Bridge::begin(const Plan& plan, unsigned run) {
    begin_traffic(plan, run);
    if (flows_.empty()) flows_ = plan_.flows;
    plan_.flows = flows_; // what the card was told with the power; a driver does not change it
    ++generation_;
    run_cycle_ = 0;
    post_ = Post::idle;
    handler_ = Handler::idle;
    stopped_ = false;
    // What this run has not begun on the bus is not done any more.
    for (size_t i = ops_.size(); i-- > 1;)
        if (ops_[i].generation) ops_.erase(ops_.begin() + static_cast<long>(i));
    if (set_up_) {
        window_write(kBase1 + kControl, {1, plan_.pause_cycles}, nullptr, true);
    } else {
        set_up_ = true;
        set_up();
    }
}

void Bridge::config(bool write, unsigned at, uint32_t word, Done done, unsigned enables) {
    Op op{};
    op.request.command = write ? kConfigWrite : kConfigRead;
    op.request.address = 1u << (16 + kCardDevice) | kCardDevice << 11 | at;
    op.request.enables = enables;
    op.request.attributes = kBridgeId << 8 | kCardBus;
    if (write) op.request.words = {word};
    op.done = std::move(done);
    ops_.push_back(std::move(op));
}

void Bridge::window_read(uint64_t address, Done done, unsigned words) {
    Op op{};
    op.request.command = words == 1 ? kMemoryReadDword : kMemoryReadBlock;
    op.request.address = address;
    op.request.count = op.request.piece = 4 * words;
    op.request.wide = words > 1;
    op.request.attributes = kBridgeId << 8 | (tag_ = (tag_ + 1) % 32) << 24;
    op.done = std::move(done);
    ops_.push_back(std::move(op));
}

void Bridge::window_write(uint64_t address, std::vector<uint32_t> words, Done done, bool of_run) {
    Op op{};
    op.request.command = kMemoryWriteBlock;
    op.request.address = address;
    op.request.count = op.request.piece = static_cast<unsigned>(4 * words.size());
    op.request.attributes = kBridgeId << 8 | (tag_ = (tag_ + 1) % 32) << 24;
    op.request.wide = words.size() > 1;
    op.request.words = std::move(words);
    op.done = std::move(done);
    op.generation = of_run ? generation_ : 0;
    ops_.push_back(std::move(op));
}

// What firmware and driver do at power-up: find the card, size and set its bases, enable it, tell it its flows, let it run.
void Bridge::set_up() {
    for (const unsigned at : {0x00u, 0x08u, 0x40u, 0x44u}) config(false, at, 0);
    for (const unsigned at : {0x10u, 0x14u, 0x18u, 0x1Cu}) {
        config(true, at, 0xFFFFFFFF);
        config(false, at, 0);
    }
    config(true, 0x10, static_cast<uint32_t>(kBase0));
    config(true, 0x14, static_cast<uint32_t>(kBase0 >> 32));
    config(true, 0x18, static_cast<uint32_t>(kBase1));
    config(true, 0x1C, static_cast<uint32_t>(kBase1 >> 32));
    config(true, 0x40, 0x000C << 16, nullptr, 0x3); // reads of up to 4,096 bytes
    config(true, 0x04, 0x0146, nullptr, 0xC);       // memory, initiator, parity, SERR#
    config(false, 0x04, 0);
    std::vector<uint32_t> active(4, 0);
    for (const unsigned flow : plan_.flows) active[flow / 32] |= 1u << flow % 32;
    window_write(kBase1 + kActive, active, nullptr, false);
    window_write(kBase1 + kPause, {plan_.pause_cycles, profile_.share_words(), static_cast<uint32_t>(kNoteBase), static_cast<uint32_t>(kNoteBase >> 32)}, nullptr, false);
    window_write(kBase1 + kControl, {1}, nullptr, false);
}

void Bridge::ask(bool write, uint32_t offset, uint32_t word) {
    answered_ = false;
    const auto done = [this](const std::vector<uint32_t>& words) {
        answer_words_ = words.empty() ? std::vector<uint32_t>{0xFFFFFFFF} : words;
        answered_ = true;
    };
    if (write) window_write(kBase0 + offset, {word}, done, false);
    else window_read(kBase0 + offset, done, offset >= kMemories ? (kBoundary_B - offset % kBoundary_B) / 4 : 1);
}

std::vector<uint32_t> Bridge::memory_words(uint64_t address, unsigned count) const {
    std::vector<uint32_t> words;
    for (uint64_t at = address & ~uint64_t{3}; at < address + count; at += 4)
        words.push_back(static_cast<uint32_t>(memory(at & ~uint64_t{7}) >> (at & 4 ? 32 : 0)));
    return words;
}

// -- the driver ---------------------------------------------------------------------------------

void Bridge::drive_card() {
    const unsigned generation = generation_;
    if (post_ == Post::idle && run_cycle_ >= post_at_ && counts_.posted < plan_.limit_messages) {
        post_ = Post::looking;
        window_read(kBase1 + kStatus, [this, generation](const std::vector<uint32_t>& words) {
            if (generation != generation_) return;
            if (words.empty() || words[0] & 1) { // no descriptor fits
                post_ = Post::idle;
                post_at_ = run_cycle_ + kFullWait;
                return;
            }
            message_ = next_message();
            post_ = Post::posting;
            window_write(kBase1 + message_.type * 16,
                         {static_cast<uint32_t>(message_.source), static_cast<uint32_t>(message_.source >> 32), message_.dest,
                          message_.length | message_.flags << 12 | message_.flow << 16},
                         [this, generation](const std::vector<uint32_t>&) {
                             if (generation != generation_) return;
                             post(message_);
                             posted_update_ = updates_;
                             post_ = Post::idle;
                             wait_for_next(run_cycle_);
                         },
                         true);
        });
    }
    bool stop = false;
    for (const auto& [begin, length] : plan_.stops) stop = stop || (run_cycle_ >= begin && run_cycle_ < begin + length);
    if (stop != stopped_) {
        stopped_ = stop;
        window_write(kBase1 + kControl, {1u | stop << 1}, nullptr, true);
    }
    if (resume_at_ && cycle_ >= resume_at_) {
        resume_at_ = 0;
        window_write(kBase1 + kStatus, {1u << 4}, nullptr, false);
    }
}

// The interrupt handler: mask, take every completion, enable.
void Bridge::handle(bool line) {
    const uint64_t per_us = profile_.bus_hz / 1000000;
    const unsigned generation = generation_;
    const auto write = [&](uint32_t bits, Handler next, uint64_t pause) {
        handler_ = Handler::masking;
        window_write(kBase1 + kInterrupt, {bits}, [this, generation, next, pause](const std::vector<uint32_t>&) {
            if (generation != generation_) return;
            handler_ = next;
            handler_at_ = run_cycle_ + pause;
        }, true);
    };
    const uint64_t each = profile_.completion_ns * per_us / 1000;
    if (handler_ == Handler::idle && line && run_cycle_ >= handler_at_) {
        handler_ = Handler::called;
        handler_at_ = run_cycle_ + profile_.interrupt_latency_ns * per_us / 1000;
        ++counts_.interrupts;
        return;
    }
    if (run_cycle_ < handler_at_) return;
    if (handler_ == Handler::called) {
        write(1, Handler::busy, each);
    } else if (handler_ == Handler::busy && completions_ > 0) {
        --completions_;
        write(4, Handler::busy, each);
    } else if (handler_ == Handler::busy) {
        handler_ = Handler::enabling;
        handler_at_ = run_cycle_ + plan_.enabling_cycles;
    } else if (handler_ == Handler::enabling) {
        // The line as the host sees it is a few clocks old.
        write(2, Handler::idle, kRetryWait);
    }
}

// -- what the card asks -------------------------------------------------------------------------

unsigned Bridge::devsel_clock(const PcixHeader& header, bool& wide) {
    static const unsigned clocks[] = {2, 3, 4, 6};
    wide = !happens(options_.narrow);
    const bool memory = header.command == kMemoryReadBlock || header.command == kAliasRead || header.command == kMemoryWriteBlock;
    const bool ours = header.command == kCompletion && (header.address >> 8 & 0xFFFF) == kBridgeId;
    if (!memory && !ours) return 0;
    nobody_ = memory && happens(options_.aborts / 3);
    if (nobody_) {
        resume_at_ = cycle_ + kResumeWait;
        return 0;
    }
    return options_.decode ? options_.decode : clocks[bus_.below(4)];
}

PcixAnswer Bridge::answer(const PcixHeader& header) {
    using Kind = PcixAnswer::Kind;
    PcixAnswer answer;
    answer.waits = static_cast<unsigned>(bus_.below(options_.waits + 1));
    if (header.writes()) answer.waits &= ~1u;
    if (header.command == kCompletion) return answer;
    if (happens(options_.aborts / 3)) {
        answer.kind = Kind::abort;
        resume_at_ = cycle_ + kResumeWait;
    } else if (happens(options_.retries)) {
        answer.kind = Kind::retry;
        ++counts_.retries;
    } else if (!header.writes() && !happens(options_.at_once)) {
        answer.kind = Kind::split;
        ++counts_.reads;
        const uint64_t due = cycle_ + bus_.between(profile_.split_min_cycles, profile_.split_max_cycles);
        reads_.push_back({header.attributes, header.address, due, header.count, happens(options_.aborts / 3)});
    } else {
        answer.single = happens(options_.singles);
        answer.disconnect = !answer.single && happens(options_.disconnects);
        answer.announced = 4 + static_cast<unsigned>(bus_.below(8));
        if (!header.writes()) answer.words = memory_words(header.address, header.count);
    }
    return answer;
}

void Bridge::ended(const PcixHeader& header, const PcixAnswer& answer, const std::vector<uint32_t>& words, unsigned moved) {
    if (answer.kind != PcixAnswer::Kind::data) return;
    if (moved < header.count && header.command != kCompletion) ++counts_.disconnects;
    if (header.command == kMemoryWriteBlock) {
        uint64_t at = header.address;
        for (const uint32_t word : words) { // the card writes whole words of 64 bits, if in two halves
            if (at & 4) written(at - 4, uint64_t{word} << 32 | half_);
            half_ = word;
            at += 4;
        }
        Driver::ended();
    } else if (header.command == kCompletion) {
        if (ops_.empty() || !ops_[0].waits || (header.address >> 24 & 31) != (ops_[0].request.attributes >> 24 & 31)) {
            ++broken_;
            return;
        }
        Op& op = ops_[0];
        const bool message = header.attributes >> 29 & 1;
        if (!message) op.words.insert(op.words.end(), words.begin(), words.end());
        if (!message && moved < header.count) return; // the rest comes
        const Op done = std::move(op);
        ops_.pop_front();
        if (done.done) done.done(message ? std::vector<uint32_t>{} : done.words);
    }
}

// -- the bus ------------------------------------------------------------------------------------

void Bridge::begin_next() {
    completing_ = !reads_.empty() && reads_[0].due <= cycle_;
    if (!completing_) {
        initiator_.start(ops_[0].request);
        return;
    }
    const Read& read = reads_[0];
    PcixRequest request;
    request.command = kCompletion;
    request.address = (read.attributes & 0x1F000000) | (read.attributes >> 8 & 0xFFFF) << 8;
    request.attributes = kBridgeId << 8;
    if (read.fails) {
        request.attributes |= 3u << 29;
        request.words = {kBridgeMasterAbort | static_cast<uint32_t>(read.address & 0x7F) << 12 | (read.left & 0xFFF)};
    } else {
        const unsigned lower = read.address & (kBoundary_B - 1);
        request.address |= lower;
        request.count = request.piece = read.left;
        request.wide = true;
        request.words = memory_words(read.address, read.left);
        // A boundary fewer than four phases of 64 bits away cannot be the end.
        unsigned bound = kBoundary_B - lower;
        if (bound < 32) bound += kBoundary_B;
        if (read.left > bound && happens(options_.pieces)) {
            const auto more = static_cast<unsigned>(bus_.below((read.left - bound - 1) / kBoundary_B + 1));
            request.piece = bound + more * kBoundary_B;
        }
    }
    initiator_.start(request);
}

void Bridge::finish_completion(unsigned moved) {
    Read& read = reads_[0];
    if (initiator_.end() == PcixEnd::retry) return;
    if (initiator_.end() != PcixEnd::moved) ++broken_;
    if (read.fails) {
        resume_at_ = cycle_ + kResumeWait;
        reads_.pop_front();
        return;
    }
    read.address += moved;
    read.left -= std::min(read.left, moved);
    read.due = cycle_ + bus_.below(20);
    if (read.left == 0 || initiator_.end() != PcixEnd::moved) reads_.pop_front();
}

void Bridge::finish() {
    if (completing_) {
        if (!reads_.empty()) finish_completion(initiator_.moved());
        return;
    }
    Op& op = ops_[0];
    switch (initiator_.end()) {
    case PcixEnd::retry:
        retry_at_ = cycle_ + kRetryWait;
        return;
    case PcixEnd::split:
        op.waits = true;
        return;
    case PcixEnd::moved: {
        const unsigned moved = initiator_.moved();
        op.words.insert(op.words.end(), initiator_.read().begin(), initiator_.read().end());
        if (op.request.burst() && moved < op.request.count) {
            const long whole = static_cast<long>((op.request.address + moved) / 4 - op.request.address / 4);
            op.request.words.erase(op.request.words.begin(), op.request.words.begin() + whole);
            op.request.address += moved;
            op.request.count = op.request.piece = op.request.count - moved;
            return;
        }
        break;
    }
    default:
        break; // nobody, or an abort: it reads nothing
    }
    const Op done = std::move(op);
    ops_.pop_front();
    if (done.done) done.done(done.words);
}

Drive Bridge::step(const Lines& lines, bool rests) {
    Drive drive;
    ++cycle_;
    posted_update_ = false;
    if (!rests) {
        ++run_cycle_;
        drive_card();
        handle(lines.inta);
    }
    target_.step(lines, initiator_.begun_and_busy(), *this, drive);
    if (!initiator_.busy()) {
        const bool due = !reads_.empty() && reads_[0].due <= cycle_;
        if (due || (!ops_.empty() && !ops_[0].waits && cycle_ >= retry_at_)) begin_next();
    }
    // The card has its turn behind each transaction of the bridge. The bus is the bridge's when no GNT# of the last four clocks can
    // have let the card begin.
    if (lines.frame || !lines.req) turn_ = false;
    const bool wants = initiator_.busy() && !turn_;
    drive.gnt = !wants;
    kept_ = wants ? kept_ + 1 : 0;
    if (initiator_.busy()) {
        const bool mine = initiator_.begun() || (kept_ > kGrantClocks && lines.idle());
        if (initiator_.step(lines, mine, drive)) {
            turn_ = lines.req;
            finish();
        }
    }
    // PERR# for what came with wrong parity, three clocks behind it.
    drive.perr = received_ && (lines.par != parity_ || (received_wide_ && lines.par64 != parity64_));
    received_ = target_.took_data();
    received_wide_ = lines.ack64;
    parity_ = lines.low_ones() & 1;
    parity64_ = lines.high_ones() & 1;
    drive.wrong_parity = happens(options_.parity);
    return drive;
}

}  // namespace freezeframe
