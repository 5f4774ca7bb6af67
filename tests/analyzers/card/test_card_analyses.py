"""The analyses of a card that is described by a file: figures known from how the recording was made."""

from __future__ import annotations

import random
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card import conservation, crc, latency, pressure, taps, throughput
from freezeframe.analyzers.card.frames import packets_frame, words_frame
from freezeframe.analyzers.card.view import CardView
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from freezeframe.capture.errors import InputError
from tests.campaign.card_model import frame
from tests.decoders.tap.model import Beat, TapModel, frame_beats

CARD = """\
schema = 1
[card]
name = "two"
[clock.bus]
hz = 100_000_000
registers = true
[clock.rx]
hz = 125_000_000
[format.eth]
is = "ethernet"
[tap.a]
kind = "axi-stream"
clock = "bus"
{a}
[tap.b]
kind = "axi-stream"
clock = "{clock}"
ready = true
{b}
[path.p]
taps = ["a", "b"]
"""
_TAP = 'bits = {bits}\nkeep = "{keep}"\nformat = "eth"\n'


def recording(
    beats_a: Sequence[Beat],
    beats_b: Sequence[Beat],
    *,
    bits: int = 64,
    clock: str = "bus",
    more: str = "",
    a: str = "",
    counters: Mapping[str, int] | None = None,
    toggles: tuple[Toggle, Toggle] | None = None,
) -> CardRecording:
    """Return what taps a (on the bus clock) and b hold of these beats."""
    tap = _TAP.format(bits=bits, keep="none" if bits == 8 else "tail")
    card = elaborate(parse_card(CARD.format(a=a or tap, b=tap, clock=clock) + more))
    recorded = {}
    for said, beats in zip(card.taps, (beats_a, beats_b), strict=True):
        model = TapModel(said.stream_bytes)
        model.feed(beats)
        lanes, pointer, wrapped, _ = model.memories(said.said.depth, 30_000)
        recorded[said.name] = RecordedTap(said, tuple(lanes), pointer, wrapped)
    clocks = [
        RecordedClock(c, c.said.hz, *(toggles if toggles and c.name == "rx" else (None, None)))
        for c in card.clocks
    ]
    return CardRecording(card, recorded, clocks, Feature.COUNTERS, counters=counters or {})


def frames(count: int, length: int = 64) -> list[bytes]:
    chance = random.Random(11)
    return [frame(chance, n, length) for n in range(count)]


def every(cycles: int, packets: Sequence[bytes], begin: int, width: int) -> list[Beat]:
    """Return the beats of packets that begin every so many cycles."""
    return [
        b for n, data in enumerate(packets) for b in frame_beats(data, begin + cycles * n, width)
    ]


def values(result: AnalysisResult) -> dict[str, int | float | None]:
    return {figure.name: figure.value for figure in result.figures}


def test_frames_of_64_bytes_every_20_cycles_of_100_mhz_are_2560_mbit_a_second() -> None:
    beats = every(20, frames(31), 100, 8)
    result = throughput.run(CardView.of(recording(beats, beats)))
    mean = result.figure("A.a.throughput.mean")
    with pytest.raises(
        InputError, match=r"no figure 'A.a.througput.mean'; did you mean A.a.throughput.mean\?"
    ):
        result.figure("A.a.througput.mean")
    assert mean.value == pytest.approx(64 * 8 * 100 / 20)
    assert mean.unit == "Mbit/s"
    assert mean.uncertainty == pytest.approx(2560 * 100e-6)  # the clock's 100 ppm
    assert mean.note == (
        "1,920 B in 600 cycles of bus: 30 packets, from the beginning of the first to that of the last"
    )
    found = values(result)
    assert found["A.a.throughput.share"] == pytest.approx(40.0)
    assert found["A.a.packets.rate"] == pytest.approx(5e6)
    assert found["A.a.throughput.max"] == pytest.approx(64 * 8 * 100 / 16)  # a frame in 16 cycles
    # Its last beat is in cycle 100 + 30 * 20 + 7; the memory closed at 30,000 in the tap's register.
    assert result.figure("A.a.silent").note == "29,292 cycles of bus"
    assert found["A.a.silent"] == 292_920_000


@pytest.mark.parametrize(("bits", "cycles"), [(8, 100), (512, 5)])
def test_narrow_and_wide_streams_have_the_rate_of_their_frames(bits: int, cycles: int) -> None:
    beats = every(cycles, frames(12), 100, bits // 8)
    found = values(throughput.run(CardView.of(recording(beats, beats, bits=bits))))
    assert found["A.b.throughput.mean"] == pytest.approx(64 * 8 * 100 / cycles)
    assert found["A.b.throughput.share"] == pytest.approx(100 * 64 * 8 / cycles / bits)


def test_the_series_of_a_rate_is_not_known_where_records_were_not_read() -> None:
    beats = every(20, frames(30), 100, 8)
    whole = recording(beats, beats)
    holed = replace(whole.taps["a"], gaps=((range(90, 100),),))
    result = throughput.run(CardView.of(replace(whole, taps={**whole.taps, "a": holed})))
    series = {one.name: one for one in result.series}
    unknown = series["A.a.throughput"].value != series["A.a.throughput"].value
    assert 1 <= unknown.sum() <= 4
    assert not (series["A.b.throughput"].value != series["A.b.throughput"].value).any()
    assert "A.a: parts of its memory were not read, so its rates are too low" in result.notes


@pytest.mark.parametrize("bits", [8, 64, 512])
def test_a_fifo_of_37_cycles_is_a_latency_of_37_cycles(bits: int) -> None:
    width = bits // 8
    packets = frames(9, length=max(64, 2 * width))
    there = recording(
        every(90 + width, packets, 100, width), every(90 + width, packets, 137, width), bits=bits
    )
    result = latency.run(CardView.of(there))
    for which in ("begin", "end"):
        for key in ("min", "median", "max"):
            figure = result.figure(f"A.a->b.latency.{which}.{key}")
            assert (figure.value, figure.unit) == (370_000, "ps")
    assert result.figure("A.a->b.packets").value == 9
    assert result.figure("A.a->b.latency.begin.median").note == (
        "9 packets; 37 cycles of bus, which both taps count"
    )
    assert result.tables["packets"]["cycles"].tolist() == [37] * 9


def test_a_latency_between_two_clocks_has_the_uncertainty_of_their_time_pairs() -> None:
    packets = frames(9)
    # 1,000 ns after the first tap: cycle 100 of 10 ns, and 250 of 8 ns.
    first, second = every(80, packets, 100, 8), every(100, packets, 250, 8)
    toggles = Toggle(1, 4096 * 125 // 100 + 2), Toggle(7, 7 * 4096 * 125 // 100 + 3)
    result = latency.run(CardView.of(recording(first, second, clock="rx", toggles=toggles)))
    figure = result.figure("A.a->b.latency.begin.median")
    assert figure.value is not None and figure.uncertainty is not None
    assert abs(figure.value - 1_000_000) <= figure.uncertainty
    assert 4_000 <= figure.uncertainty <= 9_000  # half a cycle of 8 ns at the pairs, and a little
    without = latency.run(CardView.of(recording(first, second, clock="rx")))
    figure = without.figure("A.a->b.latency.begin.median")
    assert (figure.value, figure.note) == (None, "the clocks bus and rx have no known relation")


def test_a_path_of_three_taps_has_the_latency_of_its_whole() -> None:
    packets = frames(9)
    third = '[tap.c]\nkind = "axi-stream"\nclock = "bus"\nkeep = "tail"\nformat = "eth"\n'
    two = recording(every(90, packets, 100, 8), every(90, packets, 110, 8))
    text = CARD.format(
        a=_TAP.format(bits=64, keep="tail"), b=_TAP.format(bits=64, keep="tail"), clock="bus"
    )
    card = elaborate(
        parse_card(text.replace('taps = ["a", "b"]', 'taps = ["a", "b", "c"]') + third)
    )
    model = TapModel(8)
    model.feed(every(90, packets, 125, 8))
    lanes, pointer, wrapped, _ = model.memories(2048, 30_000)
    taps_there = {name: replace(tap, tap=card.tap(name)) for name, tap in two.taps.items()}
    taps_there["c"] = RecordedTap(card.tap("c"), tuple(lanes), pointer, wrapped)
    found = values(latency.run(CardView.of(replace(two, card=card, taps=taps_there))))
    medians = [found[f"A.{way}.latency.begin.median"] for way in ("a->b", "b->c", "a->c")]
    assert medians == [100_000, 150_000, 250_000]


@pytest.mark.parametrize("bits", [8, 64, 512])
def test_waits_inside_packets_are_counted_and_stand_where_they_were(bits: int) -> None:
    packets, width = frames(6, length=640), bits // 8
    cycle, beats = 100, []
    for data in packets:
        beats += frame_beats(data, cycle, width, gaps={2: 3, 5: 1})
        cycle += 900
    result = pressure.run(CardView.of(recording(every(900, packets, 50, width), beats, bits=bits)))
    assert values(result)["A.b.waits"] == 6 * 4
    assert (
        result.figure("A.b.waits").note == "in 6 packets; source or receiver: ready is not recorded"
    )
    assert result.figure("A.a.waits").note == "in 6 packets; its source's: the stream has no ready"
    (track,) = result.intervals
    assert (track.t_end_ps - track.t_ps).tolist() == [30_000, 10_000] * 6
    # Beats 0 and 1 in cycles 100 and 101; then three cycles without.
    assert track.t_ps[:2].tolist() == [1_020_000, 1_080_000]
    assert track.text[:2] == ("packet 0: 3 cycles", "packet 0: 1 cycles")


def test_a_counter_of_waits_tells_what_the_receiver_held_back() -> None:
    more = "".join(
        f'[counter.b_{what}]\ncounts = "{what}"\ntap = "b"\n' for what in ("waits", "words")
    )
    beats = every(20, frames(5), 100, 8)
    there = recording(beats, beats, more=more, counters={"b_waits": 25, "b_words": 75})
    result = pressure.run(CardView.of(there))
    found = values(result)
    assert (found["A.b.held_back"], found["A.b.held_back.share"]) == (25, 25.0)
    assert (
        result.figure("A.b.held_back").note
        == "counter b_waits: valid without ready, since power-up"
    )
    bare = pressure.run(CardView.of(recording(beats, beats)))
    assert bare.notes == (
        'A.b: who held it back could not be asked: needs a counter with counts = "waits" at it',
    )


def test_what_became_of_each_packet_between_two_taps_is_counted_and_listed() -> None:
    sent = frames(9)
    came = [*sent[:3], bytes([sent[3][0] ^ 1]) + sent[3][1:], *sent[4:6], *sent[7:]]
    there = recording(every(20, sent, 100, 8), every(20, came, 140, 8))
    result = taps.run(CardView.of(there))
    assert values(result) == {
        "A.a->b.same": 7,
        "A.a->b.bits-altered": 1,
        "A.a->b.packet-dropped": 1,
    }
    table = result.tables["differences"]
    assert table[["kind", "packet", "t_ps", "t_end_ps"]].to_numpy().tolist() == [
        ["bits-altered", 3, 1_600_000, 1_680_000],
        ["packet-dropped", 6, 2_200_000, 2_280_000],
    ]
    assert [finding.diagnosis for finding in result.findings] == ["bits-altered", "packet-dropped"]


def test_packets_that_fail_the_checks_of_their_format_are_listed_with_why() -> None:
    sent = frames(8)
    sent[5] = sent[5][:-1] + bytes([sent[5][-1] ^ 1])
    beats = every(20, sent, 100, 8)
    result = crc.run(CardView.of(recording(beats, beats)))
    found = values(result)
    assert (found["A.a.good"], found["A.a.bad"], found["A.b.bad"]) == (7, 1, 1)
    assert result.figure("A.a.good").note == (
        "FCS, CRC-32/ISO-HDLC over the frame; shortest and longest length"
    )
    assert result.tables["bad"][["source", "packet", "text"]].to_numpy().tolist() == [
        ["A.a", 5, "its CRC is wrong"],
        ["A.b", 5, "its CRC is wrong"],
    ]
    assert [finding.diagnosis for finding in result.findings] == ["bad-on-arrival"]


def test_a_raw_tap_has_rates_and_no_verdicts() -> None:
    beats = every(20, frames(8), 100, 8)
    view = CardView.of(recording(beats, beats, a='keep = "tail"\n'))
    assert values(throughput.run(view))["A.a.throughput.mean"] == pytest.approx(2560)
    assert "A.a: could not be asked: needs a format with checks" in crc.run(view).notes


def test_a_tap_of_summaries_has_rate_waits_and_latency() -> None:
    # Of several lengths: the CRC over a frame with its FCS is the same for all of them.
    chance = random.Random(5)
    packets = [frame(chance, n, 64 + 8 * n) for n in range(9)]
    summary = _TAP.format(bits=64, keep="tail") + 'store = "summary"\n'
    there = recording([], every(30, packets, 150, 8), a=summary)
    model = TapModel(8)
    for n, data in enumerate(packets):
        beats, begin = len(data) // 8, 100 + 30 * n
        lasted = beats - 1 + 2  # two cycles without a beat
        # docs/card-map.md, SUM: 3 cycles after the last beat.
        sum_ = zlib.crc32(data) | len(data) << 32 | lasted << 48
        model._store(begin + lasted + 3, 8, sum_)
    lanes, pointer, wrapped, _ = model.memories(2048, 30_000)
    recorded = RecordedTap(there.card.tap("a"), tuple(lanes), pointer, wrapped)
    view = CardView.of(replace(there, taps={**there.taps, "a": recorded}))
    sent_B = sum(len(data) for data in packets[:-1])
    rate = values(throughput.run(view))["A.a.throughput.mean"]
    assert rate == pytest.approx(sent_B * 8 * 100 / (8 * 30))
    assert values(pressure.run(view))["A.a.waits"] == 9 * 2
    assert values(latency.run(view))["A.a->b.latency.begin.median"] == 500_000
    assert values(crc.run(view))["A.a.good"] == 9


def test_a_tap_that_saw_nothing_is_named() -> None:
    view = CardView.of(recording([], every(20, frames(8), 100, 8)))
    assert (
        "A.a: nothing in its memory has a time, so no rate is known" in throughput.run(view).notes
    )
    assert (
        latency.run(view).figure("A.a->b.latency.begin.median").note
        == "no packet stands at both taps"
    )
    assert "A.a->b.same" in values(taps.run(view))


def test_laws_are_figures_with_their_sums() -> None:
    more = "".join(f'[counter.{t}_packets]\ncounts = "packets"\ntap = "{t}"\n' for t in "ab")
    beats = every(20, frames(5), 100, 8)
    held = recording(beats, beats, more=more, counters={"a_packets": 9, "b_packets": 7})
    result = conservation.run(CardView.of(held))
    assert values(result) == {"A.p.a-b.packets": 2}
    assert result.findings == ()
    broken = replace(held, counters={"a_packets": 7, "b_packets": 9})
    (finding,) = conservation.run(CardView.of(broken)).findings
    assert finding.diagnosis == "law-broken"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bits", [8, 64, 512])
def test_damaged_memories_give_results_and_never_raise(seed: int, bits: int) -> None:
    beats = every(100, frames(8), 100, bits // 8)
    whole = recording(beats, beats, bits=bits)
    noise = np.random.default_rng(seed)
    damaged = {}
    for name, tap in whole.taps.items():
        lanes = tuple(lane.copy() for lane in tap.lanes)
        for lane in lanes:
            if seed % 2:  # all of it, else some bytes
                lane[:] = noise.integers(0, 256, lane.shape, dtype=np.uint8)
            else:
                lane[noise.integers(0, 200, 30), noise.integers(0, 9, 30)] ^= 0x5A
        damaged[name] = replace(tap, lanes=lanes, wrapped=bool(seed % 2))
    view = CardView.of(replace(whole, taps=damaged))
    for analysis in (throughput, latency, pressure, taps, crc, conservation):
        assert analysis.run(view).to_json()["analysis"] == analysis.__name__.rpartition(".")[2]
    assert len(words_frame(view)) == sum(len(end.stream.slots) for end in view.streams.values())
    assert len(packets_frame(view)) == sum(map(len, view.streams.values()))


def test_packets_without_time_between_them_have_no_rate() -> None:
    """Two packets whose records say the same cycle: a dt of 0, which no tap stores."""
    beats = [Beat(cycle, bytes(8), 0xFF, last=True) for cycle in (100, 101)]
    there = recording(beats, beats)
    lanes = there.taps["a"].lanes[0].copy()
    rows = [n for n in range(12) if lanes[n, 8] & 0xF == 3]  # both are a TAIL
    lanes[rows[1], 8] &= 0x0F
    tap = replace(there.taps["a"], lanes=(lanes,))
    result = throughput.run(CardView.of(replace(there, taps={**there.taps, "a": tap})))
    figure = result.figure("A.a.throughput.mean")
    assert (figure.value, figure.note) == (
        None,
        "the records of its packets have no time between them",
    )
