// SPDX-License-Identifier: Apache-2.0
#include "host_model.h"

#include <algorithm>

namespace freezeframe {

namespace {

constexpr unsigned kWriteCycles = 10; // one 32-bit target write
constexpr unsigned kLineCycles = 4;   // from the port of the mask to the line as the host sees it

} // namespace

void Host::begin(const Plan& plan, unsigned run) {
    begin_traffic(plan, run);
    cycle_ = 0;
    out_ = ToCard{};
    out_.note_base = kNoteBase;
    out_.share = static_cast<uint16_t>(profile_.share_words());
    for (unsigned flow : plan_.flows) out_.active |= flow < 32 ? 1u << flow : 0;
    out_.rx_pause = static_cast<uint16_t>(plan_.pause_cycles);
    use_ = Use::free;
    asked_ = answered_ = split_ = posting_ = false;
    handler_ = Handler::idle;
    handler_at_ = lowers_at_ = 0;
}

ToCard Host::step(const FromCard& card) {
    ++cycle_;
    const bool write_ended = use_ == Use::write && card.wend;
    if (card.wvalid) {
        written(write_at_, card.wdata);
        write_at_ += 8;
    }
    // A completion is the handler's when its write has ended: before, the card itself does not count it.
    if (write_ended) ended();
    out_.gnt = out_.ack = out_.retry = out_.cvalid = out_.clast = out_.td_ask = out_.td_valid = false;
    out_.mask = out_.enable = out_.take = false;

    // The driver: a message to post, when the ring has room.
    if (!posting_ && cycle_ >= post_at_ && counts_.posted < plan_.limit_messages && !card.td_full
        && use_ != Use::post) {
        message_ = next_message();
        posting_ = out_.td_ask = true;
        post_at_ = cycle_;
    }
    // A request that was answered is seen for one cycle more.
    if (card.req && !asked_ && !answered_) {
        asked_ = true;
        asked_at_ = cycle_;
    }

    answered_ = false;

    // The bus: one use after the other, the oldest wish first.
    switch (use_) {
    case Use::request:
        if (--left_ > 0) break;
        out_.own = card.we;
        use_ = Use::free;
        if (!card.we && random_.below(1000000) < profile_.retries_ppm) {
            out_.own = false;
            out_.retry = true;
            ++counts_.retries;
        } else {
            out_.ack = true;
            if (card.we) {
                use_ = Use::write;
                write_at_ = card.addr;
            } else {
                split_ = true;
                split_at_ = cycle_ + random_.between(profile_.split_min_cycles, profile_.split_max_cycles);
                read_at_ = card.addr;
                read_words_ = card.len;
                ++counts_.reads;
            }
        }
        asked_ = false;
        answered_ = true;
        break;
    case Use::write:
        if (write_ended) {
            use_ = Use::free;
            out_.own = false;
        }
        break;
    case Use::post: {
        --left_;
        const unsigned step = profile_.post_cycles / 4;
        if (left_ % step == 0) {
            const unsigned word = 3 - left_ / step;
            const uint32_t words[4] = {
                static_cast<uint32_t>(message_.source), static_cast<uint32_t>(message_.source >> 32), message_.dest,
                message_.length | message_.flags << 12 | message_.flow << 16};
            out_.td_valid = true;
            out_.td_word = static_cast<uint8_t>(word);
            out_.td_type = static_cast<uint8_t>(message_.type);
            out_.td_data = words[word];
            if (word == 3) {
                post(message_);
                use_ = Use::free;
                out_.own = false;
                posting_ = false;
                wait_for_next(cycle_);
            }
        }
        break;
    }
    case Use::announce:
        if (--left_ > 0) break;
        use_ = Use::complete;
        [[fallthrough]];
    case Use::complete:
        if (give_words_ == 0) {
            use_ = Use::free;
            out_.cown = false;
            break;
        }
        out_.cvalid = true;
        out_.cdata = memory(read_at_);
        read_at_ += 8;
        --give_words_;
        out_.clast = give_words_ == 0;
        break;
    case Use::free: {
        const uint64_t never = UINT64_MAX;
        const uint64_t completes = split_ && cycle_ >= split_at_ ? split_at_ : never;
        const uint64_t asks = asked_ && card.req ? asked_at_ : never;
        const uint64_t posts = posting_ ? post_at_ : never;
        if (completes != never && completes <= asks && completes <= posts) {
            use_ = Use::announce;
            left_ = profile_.completion_cycles;
            out_.cown = true;
            split_ = false;
            give_words_ = read_words_;
            if (read_words_ > 1 && random_.below(1000000) < profile_.disconnects_ppm) {
                give_words_ = static_cast<unsigned>(random_.between(1, read_words_ - 1));
                ++counts_.disconnects;
            }
        } else if (asks != never && asks <= posts) {
            use_ = Use::request;
            left_ = profile_.overhead_cycles;
            out_.own = out_.gnt = true;
        } else if (posts != never) {
            use_ = Use::post;
            left_ = profile_.post_cycles;
            out_.own = true;
        }
        break;
    }
    }

    handle(card);
    out_.rx_stop = false;
    for (const auto& [begin, length] : plan_.stops)
        out_.rx_stop = out_.rx_stop || (cycle_ >= begin && cycle_ < begin + length);
    return out_;
}

// The interrupt handler: mask, take every completion, enable. A line that rises while it runs interrupts it once more:
// it writes the mask again, which lowers the line, and loses what an interrupt costs.
void Host::handle(const FromCard& card) {
    const uint64_t per_us = profile_.bus_hz / 1000000;
    const uint64_t latency = profile_.interrupt_latency_ns * per_us / 1000;
    const bool again = card.irq && cycle_ > lowers_at_ + kLineCycles
        && (handler_ == Handler::busy || handler_ == Handler::enabling);
    if (again) {
        lowers_at_ = cycle_ + kWriteCycles;
        handler_at_ = std::max(handler_at_, cycle_) + latency;
        ++counts_.interrupts;
        ++counts_.nested;
    }
    if (cycle_ == lowers_at_) out_.mask = true;
    if (handler_ == Handler::idle) {
        if (!card.irq) return;
        handler_ = Handler::called;
        handler_at_ = cycle_ + latency;
        ++counts_.interrupts;
        return;
    }
    if (cycle_ < handler_at_) return;
    switch (handler_) {
    case Handler::idle:
        break;
    case Handler::called:
        out_.mask = true;
        lowers_at_ = cycle_;
        handler_ = Handler::busy;
        handler_at_ = cycle_ + profile_.completion_ns * per_us / 1000;
        break;
    case Handler::busy:
        handler_at_ = cycle_ + profile_.completion_ns * per_us / 1000;
        if (completions_ > 0) {
            --completions_;
            out_.take = true;
            break;
        }
        handler_ = Handler::enabling;
        handler_at_ = cycle_ + plan_.enabling_cycles;
        if (plan_.enabling_cycles > 0) break;
        [[fallthrough]];
    case Handler::enabling:
        out_.enable = true;
        handler_ = Handler::idle;
        handler_at_ = cycle_;
        break;
    }
}

} // namespace freezeframe
