// SPDX-License-Identifier: Apache-2.0
#include "pcix_ports.h"

namespace freezeframe {

namespace {

constexpr uint64_t kResetClocks = 150; // longer than the power-up of the pair
constexpr unsigned kQuietClocks = 3;    // then nothing is on its way to the bus either
enum Pin : unsigned { FRAME, IRDY, TRDY, DEVSEL, STOP, REQ64, ACK64, PERR, PAR, PAR64, SERR, INTA, REQ, GNT, IDSEL, RST };
constexpr unsigned kLowAd = 1, kHighAd = 2, kCbe = 4;

}  // namespace

PcixPorts::PcixPorts(Model& model, unsigned card, const Profile& profile, uint64_t seed)
    : model_(model), card_(card), bridge_(profile, seed, card == 0 ? 'A' : 'B') {
    lines_.rst = true;
    SET(card_, ctl_i, 0x7FFF); // RST# is asserted from the first edge on
    SET(card_, cbe_i, 0xFF);
}

void PcixPorts::record(const std::string& folder, uint64_t limit_clocks) {
    const std::string name = card_ == 0 ? "card_a" : "card_b";
    wave_ = std::make_unique<PcixWave>(folder + "/" + name + ".vcd", name);
    limit_ = limit_clocks;
    recorded_ = 0;
}

void PcixPorts::before() { in_reset_ = OF(card_, nic_rst); }

void PcixPorts::after(uint64_t now_fs, uint64_t period_fs) {
    ++clocks_;
    // The bridge has sampled what stood before the edge, as the card has; what it makes of it stands a clock later.
    Drive computed;
    if (clocks_ > kResetClocks) computed = bridge_.step(lines_, in_reset_ || OF(card_, held));
    const Drive drive = next_;
    next_ = computed;

    const unsigned out = OF(card_, ctl_o), on = OF(card_, ctl_oe), ad_on = OF(card_, ad_oe);
    Lines lines = lines_;
    const auto low = [&](Pin pin, bool asserted) {
        const bool card = (on >> pin & 1) && !(out >> pin & 1);
        collisions_ += card && asserted;
        return card || asserted;
    };
    lines.frame = low(FRAME, drive.frame);
    lines.irdy = low(IRDY, drive.irdy);
    lines.trdy = low(TRDY, drive.trdy);
    lines.devsel = low(DEVSEL, drive.devsel);
    lines.stop = low(STOP, drive.stop);
    lines.req64 = low(REQ64, drive.req64);
    lines.ack64 = low(ACK64, drive.ack64);
    lines.perr = low(PERR, drive.perr);
    lines.serr = low(SERR, false);
    lines.inta = low(INTA, false);
    lines.req = low(REQ, false);
    lines.gnt = drive.gnt;
    lines.idsel = drive.idsel;
    lines.rst = clocks_ <= kResetClocks;
    const auto lanes = [&](bool card, bool bridge, uint64_t from_card, uint64_t from_bridge, uint64_t kept) {
        collisions_ += card && bridge;
        return card ? from_card : bridge ? from_bridge : kept;
    };
    constexpr uint64_t low32 = 0xFFFFFFFF;
    lines.ad = (lanes(ad_on & kLowAd, drive.ad_on, OF(card_, ad_o), drive.ad, lines_.ad) & low32)
        | (lanes(ad_on & kHighAd, drive.ad_high_on, OF(card_, ad_o), drive.ad, lines_.ad) & ~low32);
    lines.cbe = static_cast<uint8_t>(lanes(ad_on & kCbe, drive.cbe_on, OF(card_, cbe_o), drive.cbe, 0xFF));
    lines.par = lanes(on >> PAR & 1, par_on_, out >> PAR & 1, par_, lines_.par);
    lines.par64 = lanes(on >> PAR64 & 1, par64_on_, out >> PAR64 & 1, par64_, lines_.par64);
    par_on_ = drive.ad_on;
    par64_on_ = drive.ad_high_on;
    par_ = (lines.low_ones() & 1) != drive.wrong_parity;
    par64_ = lines.high_ones() & 1;
    lines_ = lines;

    const auto pin = [](Pin place, bool level) { return static_cast<unsigned>(level) << place; };
    SET(card_, ctl_i,
        static_cast<uint16_t>(pin(FRAME, !lines.frame) | pin(IRDY, !lines.irdy) | pin(TRDY, !lines.trdy) | pin(DEVSEL, !lines.devsel)
        | pin(STOP, !lines.stop) | pin(REQ64, !lines.req64) | pin(ACK64, !lines.ack64) | pin(PERR, !lines.perr) | pin(PAR, lines.par)
        | pin(PAR64, lines.par64) | pin(SERR, !lines.serr) | pin(INTA, !lines.inta) | pin(REQ, !lines.req) | pin(GNT, !lines.gnt)
        | pin(IDSEL, lines.idsel) | pin(RST, !lines.rst)));
    SET(card_, ad_i, lines.ad);
    SET(card_, cbe_i, lines.cbe);
    if (!wave_) return;
    wave_->clock(now_fs / 1000, period_fs / 1000, lines_);
    quiet_ = lines_.idle() && bridge_.quiet() ? quiet_ + 1 : 0;
    if (++recorded_ >= limit_ && quiet_ > kQuietClocks) wave_.reset();
}

}  // namespace freezeframe
