"""What is said of a card that is described by a file: names, their witnesses, and what is not said."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from freezeframe.analyzers.card.differences import differences, joined, split
from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.laws import check_laws
from freezeframe.analyzers.card.pairing import pair_packets
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from tests.campaign.card_model import FAULTS, SHAPES, cannot, frame, run_card
from tests.campaign.cards import LONG, Verdict, judge, judge_random
from tests.decoders.tap.model import TapModel, frame_beats

TWO_TAPS = """\
schema = 1
[card]
name = "two"
[clock.bus]
hz = 100_000_000
registers = true
[format.eth]
is = "{shape}"
[tap.a]
kind = "axi-stream"
clock = "bus"
keep = "tail"
format = "eth"
[tap.b]
kind = "axi-stream"
clock = "bus"
keep = "tail"
format = "{second}"
[path.p]
taps = ["a", "b"]
"""


def recording(
    before: Sequence[bytes],
    after: Sequence[bytes],
    shape: str = "ethernet",
    more: str = "",
    second: str = "eth",
) -> CardRecording:
    """Return a recording of two taps at which these packets passed, none of them cut."""
    card = elaborate(parse_card(TWO_TAPS.format(shape=shape, second=second) + more))
    taps = {}
    later = 220 if list(before) == list(after) else 4_000  # nothing comes out before it went in
    for tap, packets, begin in zip(card.taps, (before, after), (20, later), strict=True):
        model = TapModel(8)
        cycle = begin
        for data in packets:
            beats = frame_beats(data, cycle, 8)
            model.feed(beats)
            cycle = beats[-1].cycle + 200
        lanes, pointer, wrapped, _ = model.memories(2048, 20_000)
        taps[tap.name] = RecordedTap(tap, tuple(lanes), pointer, wrapped)
    clocks = [RecordedClock(clock, clock.said.hz) for clock in card.clocks]
    return CardRecording(card, taps, clocks, Feature.COUNTERS)


def frames(count: int = 9) -> list[bytes]:
    chance = random.Random(7)
    return [frame(chance, n, 80 + n) for n in range(count)]


def said(explanation: CardExplanation) -> list[tuple[str, int | None, int | None]]:
    return [(f.diagnosis, f.packet, f.word) for f in explanation.findings]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_of_the_campaign_has_its_name_and_place(shape: str, fault: str) -> None:
    if cannot(shape, fault):
        pytest.skip(cannot(shape, fault))
    verdict = judge(shape, fault, 1)
    assert (verdict.named, verdict.placed, verdict.wrong) == (True, True, False), verdict


@pytest.mark.parametrize("shape", SHAPES)
def test_clean_runs_have_no_finding(shape: str) -> None:
    for seed in range(6):
        assert judge(shape, "none", seed).said == ()


def test_a_clean_card_says_what_it_could_not_ask() -> None:
    explanation = explain_card(recording(frames(), frames()))
    assert explanation.findings == []
    assert explanation.not_asked == [
        'gap-in-packet: needs a cause with check = "gap" at a tap, which forbids it'
    ]


def test_a_packet_that_is_missing_between_two_that_passed_is_dropped() -> None:
    sent = frames()
    explanation = explain_card(recording(sent, [*sent[:4], *sent[5:]]))
    assert said(explanation) == [("packet-dropped", 4, None)]
    finding = explanation.findings[0]
    assert (finding.tap, finding.direction) == ("b", "a -> b")
    assert finding.evidence[-1].text == "Confidence: not counted yet."


def test_a_last_beat_that_came_out_twice_is_a_packet_of_its_own_and_is_named() -> None:
    sent = frames()
    again = sent[4][-(len(sent[4]) % 8) :]
    explanation = explain_card(recording(sent, [*sent[:5], again, *sent[5:]]))
    assert said(explanation) == [("beat-duplicated", 4, len(sent[4]) // 8)]


def test_packets_at_the_ends_of_a_window_are_not_missed() -> None:
    sent = frames()
    assert said(explain_card(recording(sent, sent[2:]))) == []
    assert said(explain_card(recording(sent[2:], sent))) == []


def test_a_packet_is_missing_where_older_ones_than_the_first_memory_holds_came_out_and_later_ones() -> (
    None
):
    sent = frames()
    came_out = [*sent[1:3], *sent[4:]]
    explanation = explain_card(recording(sent[3:], came_out))
    assert said(explanation) == [("packet-dropped", 0, None)]
    assert "good packets from before that tap's memory came out" in str(explanation.to_json())
    # One alone may have been overtaken; a stretch that reorders, or a bad packet, proves nothing.
    assert said(explain_card(recording(sent[3:], came_out[1:]))) == []
    reorders = "[[path.p.stretch]]\nreorders = true\n"
    assert said(explain_card(recording(sent[3:], came_out, more=reorders))) == []
    bad = bytes([sent[2][0] ^ 1]) + sent[2][1:]
    explanation = explain_card(recording(sent[3:], [sent[1], bad, *sent[4:]]))
    assert "packet-dropped" not in {name for name, _, _ in said(explanation)}


def test_a_packet_is_not_missing_while_only_one_behind_it_has_come_out() -> None:
    sent = frames()
    assert said(explain_card(recording(sent, [*sent[:-2], sent[-1]]))) == []


def test_nothing_is_missed_where_a_part_of_a_memory_was_not_read() -> None:
    sent = frames()
    whole = recording(sent, [*sent[:4], *sent[5:]])
    holed = replace(whole.taps["b"], gaps=((range(30, 32),),))
    explanation = explain_card(replace(whole, taps={**whole.taps, "b": holed}))
    assert said(explanation) == []
    assert (
        "a -> b: packets that are missing: a part of a memory was not read" in explanation.not_asked
    )


def test_equal_packets_place_nothing_and_that_is_said() -> None:
    same = frames(1) * 9
    explanation = explain_card(recording(same, same[1:]))
    assert said(explanation) == []
    assert any("unlike all others" in line for line in explanation.not_asked)


def test_a_change_whose_crc_is_good_again_contradicts_altered_bits() -> None:
    sent = frames()
    body = bytearray(sent[4][:-4])
    body[40] ^= 1
    made_anew = bytes(body) + zlib.crc32(body).to_bytes(4, "little")
    explanation = explain_card(recording(sent, [*sent[:4], made_anew, *sent[5:]]))
    assert [(f.diagnosis, f.candidates) for f in explanation.findings] == [
        ("undetermined", ("bits-altered",))
    ]
    assert "good again at b" in explanation.findings[0].text


def test_where_nearly_no_packet_passes_the_description_does_not_fit_and_nothing_else_is_said() -> (
    None
):
    noise = [random.Random(n).randbytes(90 + n) for n in range(9)]
    explanation = explain_card(recording(noise, [*noise[:4], *noise[5:]]))
    assert [f.diagnosis for f in explanation.findings] == ["description-does-not-fit"]


def test_the_same_packets_on_a_raw_stream_are_compared_and_not_judged() -> None:
    noise = [random.Random(n).randbytes(90 + n) for n in range(9)]
    explanation = explain_card(recording(noise, [*noise[:4], *noise[5:]], shape="raw"))
    assert said(explanation) == [("packet-dropped", 4, None)]
    assert "a: verdicts on packets: needs a format with checks" in explanation.not_asked


def test_a_packet_that_came_in_bad_and_may_be_dropped_for_it_is_one_finding() -> None:
    sent = frames()
    bad = sent[4][:30] + bytes([sent[4][30] ^ 4]) + sent[4][31:]
    more = '[[path.p.stretch]]\ndrops = { counter = "", whole = true }\n'
    explanation = explain_card(
        recording([*sent[:4], bad, *sent[5:]], [*sent[:4], *sent[5:]], more=more)
    )
    assert said(explanation) == [("bad-on-arrival", 4, None)]


def test_a_stretch_that_strips_the_fcs_compares_what_is_left() -> None:
    sent = frames()
    more = (
        '[[path.p.stretch]]\nfcs = "stripped"\n[format.bare]\nis = "ethernet"\nfcs = "stripped"\n'
    )
    bare = [data[:-4] for data in sent]
    explanation = explain_card(recording(sent, [*bare[:4], *bare[5:]], more=more, second="bare"))
    assert said(explanation) == [("packet-dropped", 4, None)]


def test_a_stretch_that_may_reorder_is_not_accused_of_it() -> None:
    sent = frames()
    swapped = [*sent[:4], sent[5], sent[4], *sent[6:]]
    assert [name for name, *_ in said(explain_card(recording(sent, swapped)))] == [
        "packets-reordered"
    ]
    more = "[[path.p.stretch]]\nreorders = true\n"
    assert said(explain_card(recording(sent, swapped, more=more))) == []


COUNTED = """\
[counter.in_packets]
counts = "packets"
tap = "a"
[counter.out_packets]
counts = "packets"
tap = "b"
"""


def test_a_broken_law_without_an_explanation_is_a_finding_and_an_unread_counter_is_not() -> None:
    clean = recording(frames(), frames(), more=COUNTED)
    short = replace(clean, counters={"in_packets": 9, "out_packets": 11})
    finding = explain_card(short).findings[0]
    assert finding.diagnosis == "law-broken" and "= -2; must be at least 0" in finding.text
    unread = explain_card(replace(clean, counters={"in_packets": 9}))
    assert unread.findings == []
    assert "law p.a-b.packets: out_packets was not built or not read" in unread.not_asked


def test_counters_of_two_clocks_break_a_law_only_beyond_what_passed_between_their_closings() -> (
    None
):
    text = TWO_TAPS.format(shape="ethernet", second="eth") + COUNTED
    second = text.index('clock = "bus"', text.index("[tap.b]"))
    text = text[:second] + 'clock = "rx"' + text[second + len('clock = "bus"') :]
    text = text.replace("[format.eth]", "[clock.rx]\nhz = 200_000_000\n[format.eth]")
    card = elaborate(parse_card(text))
    taps = {}
    for tap, closed in zip(card.taps, (20_000, 40_100), strict=True):  # 500 ns apart
        model = TapModel(8)
        model.feed(frame_beats(frames(1)[0], 20, 8))
        lanes, pointer, wrapped, _ = model.memories(2048, closed)
        taps[tap.name] = RecordedTap(tap, tuple(lanes), pointer, wrapped)
    bus, rx = card.clocks
    pair = Toggle(4, 4 * 4096), Toggle(4, 8 * 4096 + 2)
    clocks = [RecordedClock(bus, 100_000_000, pair[0]), RecordedClock(rx, 200_000_000, pair[1])]
    device = CardRecording(card, taps, clocks, Feature.COUNTERS)
    for out_packets, holds in ((9, True), (11, None), (9 + 100, None), (9 + 150, False)):
        (law,) = check_laws(replace(device, counters={"in_packets": 9, "out_packets": out_packets}))
        assert law.holds is holds, law.text
    unrelated = replace(device, clocks=[clocks[0], replace(clocks[1], first=None)])
    (law,) = check_laws(replace(unrelated, counters={"in_packets": 9, "out_packets": 5000}))
    assert law.holds is None and law.text.endswith("between their closings is not known")


def test_a_beat_of_equal_neighbours_is_placed_as_a_range() -> None:
    before = bytes(8) + b"\1" * 24 + b"\2" * 8
    (found,) = differences(before, before[:8] + before[16:], (8,))
    assert (found.name, found.beat) == ("beat-omitted", 1) and "or any up to 3" in found.text


@pytest.mark.parametrize(
    ("after", "names"),
    [
        (bytes(range(64)), []),
        (bytes(range(32)), ["packet-cut"]),
        (bytes(range(16)) + bytes(range(24, 64)), ["beat-omitted"]),
        (bytes(range(24)) + bytes(range(16, 64)), ["beat-duplicated"]),
        (b"\x10" + bytes(range(1, 64)), ["bits-altered"]),
        (b"".join(bytes(range(8 * n, 8 * n + 8))[::-1] for n in range(8)), ["bytes-rotated"]),
        (bytes([1, 0, *range(2, 64)]), ["bytes-rotated", "bits-altered"]),
        (b"\xff" * 64, []),
        (b"\xff" * 40, []),
        (b"", []),
    ],
)  # fmt: skip
def test_differences_have_every_name_that_accounts_for_all_bytes(
    after: bytes, names: list[str]
) -> None:
    assert [found.name for found in differences(bytes(range(64)), after, (8,))] == names


def test_two_packets_that_became_one_and_one_that_became_two() -> None:
    first, second = bytes(range(20)), bytes(range(100, 130))
    assert (made := joined(first, second, after=first + second, widths=(8, 8))) is not None
    assert made.name == "packets-joined"
    assert (made := joined(first, second, after=first[:16] + second, widths=(8, 8))) is not None
    assert (made.name, made.beat) == ("beat-omitted", 2)
    assert (made := split(first + second, (first, second), (8, 8))) is not None
    assert made.name == "packet-cut"
    assert joined(first, second, after=second + first, widths=(8, 8)) is None


def test_lanes_are_those_of_the_tap_that_has_some_and_a_beat_is_one_of_the_first_tap() -> None:
    before = bytes(range(64))
    swapped = b"".join(bytes((b, a, c, d)) for a, b, c, d in zip(*[iter(before)] * 4, strict=True))
    (found,) = differences(before, before[:8] + swapped[8:], (1, 4))
    assert (found.name, found.beat, found.lanes, found.width) == ("bytes-rotated", 8, (1, 0), 4)
    (found,) = differences(before, before[:8] + before[4:], (1, 4))
    assert (found.name, found.beat) == ("beat-duplicated", 4)
    assert found.text == "beat 1 of the packet came out twice (in beats of 4 B)"


def test_a_lost_end_joins_packets_with_the_bytes_that_were_off_between_them() -> None:
    first, second = bytes(range(18)), bytes(range(100, 130))
    made = joined(first, second, after=first + b"\xee\xee" + second, widths=(1, 4))
    assert made is not None and made.name == "packets-joined"
    assert made.text.endswith("as one of 50 B, with 2 B between them that were off")
    for filler in (1, 3):  # no beat of 4 B ends there
        after = first + b"\xee" * filler + second
        assert joined(first, second, after=after, widths=(1, 4)) is None


def test_packets_that_cannot_be_paired_in_bounded_time_are_left_open() -> None:
    first = [(n, 0) for n in range(5000)]
    pairing = pair_packets(first, first[:4999])
    assert pairing.anchors == []


def test_frames_cut_giant_empty_and_endless_are_no_exception() -> None:
    for seed in range(3):
        whole, _ = run_card("ethernet-axis-64", "bits-flipped", seed)
        chance = random.Random(seed)
        taps = {}
        for name, tap in whole.taps.items():
            lanes = tuple(lane.copy() for lane in tap.lanes)
            for _ in range(40):
                lanes[0][chance.randrange(2048), 8] ^= 1 << chance.randrange(4)
            taps[name] = replace(tap, lanes=lanes)
        explain_card(replace(whole, taps=taps))


@pytest.mark.parametrize("fault", ["bad-fcs", "beat-omitted", "swapped", "none"])
def test_frames_longer_than_4_kib_where_the_card_file_allows_them(fault: str) -> None:
    verdict = judge(LONG, fault, 2)
    assert (verdict.named, verdict.placed, verdict.wrong) == (True, True, False)


@pytest.mark.parametrize("fault", [*FAULTS, "none"])
def test_random_cards_have_each_fault_named_and_placed(fault: str) -> None:
    verdicts = [
        made for seed in (1, 2, 11) if isinstance(made := judge_random(fault, seed), Verdict)
    ]
    assert verdicts
    assert all((v.named, v.placed, v.wrong) == (True, True, False) for v in verdicts), verdicts
