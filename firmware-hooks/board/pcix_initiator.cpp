// SPDX-License-Identifier: Apache-2.0
#include "pcix_initiator.h"

#include <algorithm>

namespace freezeframe {

namespace {

constexpr int kConfigEarly = 4; // clocks that the address of a configuration stands before FRAME#, for IDSEL
constexpr unsigned kBoundary_B = 128, kDual = 13;

}  // namespace

void PcixInitiator::start(const PcixRequest& request) {
    request_ = request;
    busy_ = true;
    begun_ = selected_ = wide_ = started_ = over_ = cut_ = frame_ = irdy_ = false;
    asks64_ = request.wide && request.burst();
    moved_ = show_ = 0;
    left_ = request.burst() ? request.piece : 4;
    end_ = PcixEnd::moved;
    read_.clear();
}

// The phase on AD: with 64 bits two words, else one; both halves of an odd first word carry it.
uint64_t PcixInitiator::shown(bool wide) const {
    const unsigned odd = request_.address >> 2 & 1;
    const auto word = [this](unsigned place) { return place < request_.words.size() ? uint64_t{request_.words[place]} : 0; };
    if (!wide) return word(show_) | word(show_) << 32;
    if (!odd) return word(2 * show_) | word(2 * show_ + 1) << 32;
    if (show_ == 0) return word(0) | word(0) << 32;
    return word(2 * show_ - 1) | word(2 * show_) << 32;
}

void PcixInitiator::sample(const Lines& lines, int clock) {
    if (over_) return;
    if (!selected_) {
        if (lines.devsel) {
            selected_ = true;
            wide_ = asks64_ && lines.ack64;
        } else if (clock == 6) {
            over_ = true;
            end_ = PcixEnd::master_abort;
        }
        return;
    }
    if (!lines.irdy || (!lines.trdy && !lines.stop)) return; // it waits
    if (!(lines.trdy && (lines.devsel || lines.stop))) {
        over_ = true;
        end_ = lines.trdy ? PcixEnd::split : lines.devsel ? PcixEnd::retry : PcixEnd::target_abort;
        return;
    }
    started_ = true;
    const unsigned width_B = wide_ ? 8 : 4;
    const unsigned at = static_cast<unsigned>(request_.address & (kBoundary_B - 1)) + moved_;
    const unsigned took = request_.burst() ? std::min(width_B - at % width_B, left_) : 4;
    if (!request_.writes()) {
        if (!(wide_ && at & 4)) read_.push_back(static_cast<uint32_t>(lines.ad));
        if (wide_) read_.push_back(static_cast<uint32_t>(lines.ad >> 32));
    }
    moved_ += took;
    left_ -= took;
    if (!lines.devsel) over_ = true; // a single data phase
    if (lines.stop && lines.devsel && !cut_) {
        cut_ = true;
        unsigned bound = kBoundary_B - (at + took) % kBoundary_B;
        if (bound < 3 * width_B) bound += kBoundary_B;
        left_ = std::min(left_, bound);
    }
    over_ = over_ || left_ == 0;
}

bool PcixInitiator::step(const Lines& lines, bool may_begin, Drive& drive) {
    if (!busy_) return false;
    if (!begun_) {
        if (!may_begin) return false;
        begun_ = true;
        clock_ = request_.config() ? -kConfigEarly : 0;
    }
    const bool dual = request_.address >> 32 && request_.command != 12;
    const int clock = clock_++ - dual; // from the last address phase
    if (clock >= 4) {
        sample(lines, clock - 2);
        // The next word behind one that was taken; while the target waits, to and fro.
        if (started_) ++show_;
        else if (selected_) show_ ^= 1;
    }
    const unsigned width_B = wide_ ? 8 : 4;
    const bool frame_before = frame_;
    if (clock == -static_cast<int>(dual)) frame_ = true;
    else if (!request_.burst()) frame_ = frame_ && clock < 3;
    else if (clock >= 3 && (over_ || (started_ && left_ <= 3 * width_B))) frame_ = false;
    if (clock == 3) irdy_ = true;
    else if (irdy_ && !frame_before && (over_ || (started_ && left_ <= width_B))) irdy_ = false;
    drive.frame = frame_;
    drive.req64 = frame_ && asks64_;
    drive.irdy = irdy_;
    drive.idsel = request_.config() && clock <= 0;
    if (clock >= 3 && !irdy_) {
        // Over, but for a last word that is still to be sampled.
        if (lines.idle()) {
            busy_ = false;
            return true;
        }
        return false;
    }
    drive.cbe_on = true;
    drive.ad_on = drive.ad_high_on = clock < 2 || request_.writes();
    if (clock < 1) {
        const bool first = clock < 0 || !dual;
        drive.ad = first ? request_.address : request_.address >> 32;
        if (dual && !first) drive.ad |= request_.address >> 32 << 32;
        drive.cbe = static_cast<uint8_t>(0xF0 | (dual && clock < 0 ? kDual : request_.command));
    } else if (clock == 1) {
        drive.ad = request_.attributes | (request_.burst() ? request_.count & 0xFF : 0);
        drive.cbe = static_cast<uint8_t>(0xF0 | (request_.burst() ? request_.count >> 8 & 15 : request_.enables));
    } else {
        drive.ad = shown(wide_ || (asks64_ && show_ == 0)); // who answers with 32 bits takes the lower half
        drive.cbe = request_.command == 7 ? 0x00 : 0xFF;
    }
    return false;
}

}  // namespace freezeframe
