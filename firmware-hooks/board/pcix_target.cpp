// SPDX-License-Identifier: Apache-2.0
#include "pcix_target.h"

#include <algorithm>

namespace freezeframe {

namespace {

constexpr unsigned kBoundary_B = 128, kDual = 13, kNever = ~0u;

}  // namespace

// How many data phases there will be, and from which on STOP# stands.
void PcixTarget::begin_data() {
    const unsigned width_B = answer_.wide ? 8 : 4;
    const unsigned low = header_.address % width_B;
    phases_ = header_.burst() ? (low + header_.count + width_B - 1) / width_B : 1;
    stop_from_ = kNever;
    if (answer_.single) phases_ = 1;
    if (!answer_.disconnect) return;
    unsigned bound = (kBoundary_B - header_.address % kBoundary_B + low) / width_B;
    if (bound < 4) bound += kBoundary_B / width_B;
    if (bound >= phases_) return;
    phases_ = bound;
    stop_from_ = bound - std::min(bound, std::max(4u, answer_.announced));
    // STOP# before another boundary would mean that one, unless it is too near for it.
    const unsigned before = bound > kBoundary_B / width_B ? bound - kBoundary_B / width_B : 0;
    stop_from_ = std::max(stop_from_, before);
}

void PcixTarget::step(const Lines& lines, bool mine, Owner& owner, Drive& drive) {
    const bool begins = lines.frame && !before_ && !mine;
    before_ = lines.frame;
    took_ = false;
    if (lines.rst) {
        state_ = State::idle;
        return;
    }
    ++clock_;
    switch (state_) {
    case State::idle:
        if (!begins) return;
        header_ = PcixHeader{};
        header_.address = lines.ad & 0xFFFFFFFF;
        header_.command = lines.cbe & 15;
        header_.wide = lines.req64;
        devsel_at_ = given_ = moved_ = 0;
        done_ = false;
        words_.clear();
        answer_ = PcixAnswer{};
        if (header_.command == kDual) {
            state_ = State::second;
            return;
        }
        break;
    case State::second:
        header_.address |= lines.ad << 32;
        header_.command = lines.cbe & 15;
        break;
    case State::address:
        header_.attributes = static_cast<uint32_t>(lines.ad);
        header_.enables = lines.cbe & 15;
        header_.count = header_.burst() ? (header_.enables << 8 | (lines.ad & 0xFF)) : 4;
        if (header_.burst() && header_.count == 0) header_.count = 4096;
        if (devsel_at_ == 0) {
            state_ = State::over;
            return;
        }
        {
            const bool wide = answer_.wide;
            answer_ = owner.answer(header_);
            answer_.wide = wide;
        }
        begin_data();
        state_ = State::active;
        break;
    case State::active:
        // While this answers, what stands on TRDY# is its own.
        if (header_.writes() && lines.trdy && lines.irdy && (lines.devsel || lines.stop)) {
            took_ = true;
            if (!answer_.wide || !(words_.empty() && header_.address & 4)) words_.push_back(static_cast<uint32_t>(lines.ad));
            if (answer_.wide) words_.push_back(static_cast<uint32_t>(lines.ad >> 32));
        }
        if (lines.trdy && lines.irdy && (lines.devsel || lines.stop)) {
            const unsigned width_B = answer_.wide ? 8 : 4;
            moved_ += std::min<unsigned>(width_B - (header_.address + moved_) % width_B, header_.count - moved_);
        }
        if (lines.idle()) {
            state_ = State::idle;
            owner.ended(header_, answer_, words_, moved_);
            return;
        }
        break;
    case State::over:
        if (lines.idle()) state_ = State::idle;
        return;
    }
    if (state_ == State::idle || state_ == State::second) {
        state_ = State::address;
        clock_ = 0;
        devsel_at_ = owner.devsel_clock(header_, answer_.wide);
        answer_.wide = answer_.wide && header_.wide && header_.burst();
    }
    const unsigned drives = static_cast<unsigned>(clock_) + 2; // for this clock
    if (devsel_at_ == 0 || drives < devsel_at_ || done_) return;
    const unsigned answers_at = devsel_at_ + 1 + answer_.waits;
    if (state_ == State::address || drives < answers_at) {
        drive.devsel = true;
        drive.ack64 = answer_.wide;
        return;
    }
    const bool first = given_ == 0;
    switch (answer_.kind) {
    case PcixAnswer::Kind::retry:
        drive.devsel = drive.stop = true;
        done_ = true;
        break;
    case PcixAnswer::Kind::split:
        drive.trdy = true;
        drive.ad_on = !header_.writes();
        drive.ad = 0xFFFFFFFF;
        done_ = true;
        break;
    case PcixAnswer::Kind::abort:
        drive.stop = true;
        done_ = true;
        break;
    case PcixAnswer::Kind::data:
        if (given_ == phases_ || (!first && !lines.frame)) {
            done_ = true;
            break;
        }
        drive.trdy = true;
        drive.devsel = !answer_.single;
        drive.stop = answer_.single || given_ >= stop_from_;
        drive.ack64 = answer_.wide && drive.devsel;
        if (!header_.writes()) {
            const auto word = [this](unsigned place) { return place < answer_.words.size() ? uint64_t{answer_.words[place]} : 0; };
            const unsigned odd = header_.address >> 2 & 1;
            drive.ad_on = true;
            drive.ad_high_on = answer_.wide;
            if (!answer_.wide) drive.ad = word(given_);
            else if (!odd) drive.ad = word(2 * given_) | word(2 * given_ + 1) << 32;
            else drive.ad = (given_ ? word(2 * given_ - 1) : word(0)) | word(2 * given_) << 32;
        }
        ++given_;
        break;
    }
}

}  // namespace freezeframe
