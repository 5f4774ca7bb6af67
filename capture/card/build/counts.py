"""A card's counters and the wires that are kept at the freeze, as instances of ``firmware-hooks/rtl/card``."""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.capture.card.build.checks import checker
from freezeframe.capture.card.build.ports import joined, keep, packed, shape, stream
from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedClock
from freezeframe.capture.card.tables import Cause, Counter

_OF_PACKETS = ("packets", "words", "bytes")
_OF_A_STREAM = (*_OF_PACKETS, "waits")


def unused_counts(card: ElaboratedCard) -> list[str]:
    """Return the wires of `counts` that nothing reads."""
    used: set[tuple[str, str]] = {(said.tap, said.counts) for _, said in card.counters}
    for said in card.said.histogram.values():
        used |= {(said.tap, what) for what in _OF_PACKETS}
    taps = {tap for tap, what in used if what in _OF_A_STREAM}
    unused = [
        f"{tap}_{what}" for tap in sorted(taps) for what in _OF_A_STREAM if (tap, what) not in used
    ]
    bad = [(name, said) for name, said in card.counters if said.counts == "bad"]
    return unused + [f"bad_{name}_checked" for name, said in bad if _check_of(card, said) == "fcs"]


def counts(card: ElaboratedCard) -> Iterator[str]:
    """Give the counters in their clocks, their bank, the wires kept, and who answers the register port."""
    yield """    wire sel_counts, counts_ack, counts_err;
    wire [13:0] win_addr;
    wire [31:0] counts_rdata, snapshot_seq;
    wire [5:0] snapshot_log2;"""
    histograms = card.said.histogram
    if not card.counters and not card.said.bank and not histograms:
        yield "    assign {counts_ack, counts_err, counts_rdata, snapshot_seq} = 66'd0;"
        return
    counted = {said.tap for _, said in card.counters if said.counts in _OF_A_STREAM}
    for name in sorted(counted | {said.tap for said in histograms.values()}):
        tap = card.tap(name)
        yield f"""    wire {name}_words, {name}_packets, {name}_waits;
    wire [7:0] {name}_bytes;
    ff_stream_counts #({shape(tap)}) i_counts_{name} (
        {stream(tap)}, {keep(tap)},
        .words({name}_words), .packets({name}_packets), .waits({name}_waits), .bytes({name}_bytes)
    );"""
    for name, said in card.counters:
        yield from _counter(card, name, said)
    yield """    wire counters_ack, counters_err, counters_copying, bank_ack, bank_err, histogram_ack, histogram_err;
    wire [31:0] counters_rdata, bank_rdata, histogram_rdata;"""
    yield (
        _counter_bank(card)
        if card.counters
        else (
            "    assign {counters_ack, counters_err, counters_copying, counters_rdata, snapshot_seq} = 67'd0;"
        )
    )
    yield _bank(card) if card.said.bank else "    assign {bank_ack, bank_err, bank_rdata} = 34'd0;"
    if histograms:
        yield from _histograms(card)
    else:
        yield "    assign {histogram_ack, histogram_err, histogram_rdata} = 34'd0;"
    # Offsets from 0x4000: snapshots below 0x800, values at the freeze below 0xC00, the bank from 0x1000 to 0x11FF,
    # histograms from 0x1800 to 0x1BFF.
    yield """    wire at_frozen = win_addr[13:10] == 4'd2, at_bank = win_addr[13:9] == 5'd8;
    wire at_histogram = win_addr[13:10] == 4'd6;
    wire nowhere = sel_counts && win_addr[13:11] != 3'd0 && !at_frozen && !at_bank && !at_histogram;
    assign counts_ack = counters_ack || bank_ack || histogram_ack || nowhere;
    assign counts_err = nowhere || (counters_ack && counters_err) || (bank_ack && bank_err)
        || (histogram_ack && histogram_err);
    assign counts_rdata = counters_ack ? counters_rdata : bank_ack ? bank_rdata : histogram_rdata;
    wire unused_counts = &{1'b0, counters_copying};"""


def _clock(card: ElaboratedCard, tap: str, clock: str) -> ElaboratedClock:
    if tap:
        return card.tap(tap).clock
    return next((known for known in card.clocks if known.name == clock), card.clocks[0])


def _check_of(card: ElaboratedCard, said: Counter) -> str:
    form = card.said.format.get(card.tap(said.tap).said.format)
    return (
        "fcs" if form is not None and form.is_ == "ethernet" and form.fcs == "present" else "user"
    )


def _counter(card: ElaboratedCard, name: str, said: Counter) -> Iterator[str]:
    c = _clock(card, said.tap, said.clock).name
    add = said.wire or f"{said.tap}_{said.counts}"
    if said.counts == "bad":
        add = f"bad_{name}"
        yield f"    wire {add};"
        yield checker(card, _check_of(card, said), card.tap(said.tap), Cause(), add)
    yield f"""    wire [31:0] live_{name}, held_{name};
    ff_count #(.ADD_W({8 if said.counts == "bytes" else 1})) i_count_{name} (
        .clk(clk_{c}), .rst(rst_{c}), .add({add}), .closed(ended_{c}), .live(live_{name}), .held(held_{name})
    );"""


def _counter_bank(card: ElaboratedCard) -> str:
    numbers = [_clock(card, said.tap, said.clock).number for _, said in card.counters]
    bus = card.clocks[0].name
    return f"""    ff_count_bank #(.COUNT({len(numbers)}), .DOMAINS(CLOCKS), .DOMAIN({packed(numbers, 8)})) i_counters (
        .clk(clk_{bus}), .rst(rst), .clks(clks), .rsts(rsts), .cycle(now_{bus}[39:0]),
        .live({joined(f"live_{name}" for name, _ in card.counters)}),
        .held({joined(f"held_{name}" for name, _ in card.counters)}),
        .cfg_snapshot_log2(snapshot_log2), .stat_snapshot_seq(snapshot_seq), .frozen(frozen),
        .stat_copying(counters_copying), .sel_snapshot(sel_counts && win_addr[13:11] == 3'd0),
        .sel_frozen(sel_counts && at_frozen), .win_word(win_addr[10:2]), .win_ack(counters_ack),
        .win_err(counters_err), .win_rdata(counters_rdata)
    );"""


def _bank(card: ElaboratedCard) -> str:
    said = list(card.said.bank.values())
    numbers = [_clock(card, "", bank.clock).number for bank in said]
    wires = [
        bank.wire if bank.bits == 32 else f"{{{32 - bank.bits}'d0, {bank.wire}}}" for bank in said
    ]
    return f"""    ff_card_bank #(.WIRES({len(said)}), .CLOCKS(CLOCKS), .DOMAIN({packed(numbers, 8)})) i_bank (
        .clk(clk_{card.clocks[0].name}), .rst(rst), .clks(clks), .rsts(rsts), .closed(ended), .wires({joined(wires)}),
        .sel(sel_counts && at_bank), .win_word(win_addr[8:2]), .win_ack(bank_ack), .win_err(bank_err),
        .win_rdata(bank_rdata)
    );"""


def _histograms(card: ElaboratedCard) -> Iterator[str]:
    said = card.said.histogram
    numbers = [card.tap(histogram.tap).clock.number for histogram in said.values()]
    for name, histogram in said.items():
        tap, c = histogram.tap, card.tap(histogram.tap).clock.name
        yield f"""    wire [31:0] bin_{name};
    ff_card_histogram #(.GAPS({int(histogram.of == "gaps")})) i_histogram_{name} (
        .clk(clk_{c}), .rst(rst_{c}), .arm(arm_{c}), .closed(ended_{c}), .words({tap}_words), .packets({tap}_packets),
        .bytes({tap}_bytes), .win_bin(win_addr[5:2]), .win_count(bin_{name})
    );"""
    yield f"""    ff_card_words #(.WORDS({len(said)}), .CLOCKS(CLOCKS), .DOMAIN({packed(numbers, 8)})) i_histograms (
        .clk(clk_{card.clocks[0].name}), .rst(rst), .clks(clks), .rsts(rsts),
        .words({joined(f"bin_{name}" for name in said)}), .sel(sel_counts && at_histogram),
        .win_word({{3'd0, win_addr[9:6]}}), .win_ack(histogram_ack), .win_err(histogram_err),
        .win_rdata(histogram_rdata)
    );"""
