"""Two taps of one direction compared, packet by packet and word by word."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.tap_diff import SegmentDiff, tap_diffs
from freezeframe.analyzers.view import CaptureView
from tests.analyzers.bench_pair import HEAD, Pair, words_of
from tests.analyzers.conftest import View
from tests.analyzers.damage import alter, duplicate, misalign, omit


def diffs(view: CaptureView) -> dict[tuple[str, str], SegmentDiff]:
    return {(diff.up.source, diff.down.source): diff for diff in tap_diffs(view)}


def one(view: CaptureView, up: str, down: str) -> SegmentDiff:
    return diffs(view)[up, down]


def test_every_stretch_of_both_directions_is_compared(viewed: View) -> None:
    pair = Pair()
    pair.traffic(5)
    pair.traffic(5, "B")
    assert sorted(diffs(viewed(pair))) == [
        ("A.rx_enq", "A.rx_deq"),
        ("A.tx_deq", "B.rx_enq"),
        ("A.tx_enq", "A.tx_deq"),
        ("B.rx_enq", "B.rx_deq"),
        ("B.tx_deq", "A.rx_enq"),
        ("B.tx_enq", "B.tx_deq"),
    ]


def test_equal_streams_differ_in_nothing(viewed: View) -> None:
    pair = Pair()
    sent = pair.traffic(30)
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert (diff.differing, diff.missing, diff.extra, diff.reordered) == ((), (), (), ())
    assert diff.first_divergence is None
    assert diff.words_compared == sum(len(crossing.tx_deq) for crossing in sent)


def test_the_first_divergence_names_packet_and_word(viewed: View) -> None:
    pair = Pair()
    pair.traffic(3)
    omit(pair.send(length=20), "tx_deq", 7)
    omit(pair.send(length=20), "tx_deq", 3)
    found = one(viewed(pair), "A.tx_enq", "A.tx_deq").first_divergence
    assert found is not None
    packet, edit = found
    assert (packet.up.seq, edit.op, packet.payload_index(edit)) == (103, Op.OMITTED, (7, 8))


def test_damage_is_charged_to_the_stretch_in_which_it_happened(viewed: View) -> None:
    pair = Pair()
    pair.traffic(3)
    duplicate(pair.send(length=20), "rx_deq", 11)
    pair.traffic(3)
    found = diffs(viewed(pair))
    assert [key for key, diff in found.items() if diff.differing] == [("B.rx_enq", "B.rx_deq")]


def test_words_still_on_their_way_at_the_freeze_are_no_omission(viewed: View) -> None:
    pair = Pair()
    pair.traffic(10)
    pair.keep["B", "rx_enq"] = slice(0, -25)
    pair.keep["B", "rx_deq"] = slice(0, -90)
    assert all(not diff.differing and not diff.missing for diff in diffs(viewed(pair)).values())


def test_a_memory_that_begins_in_the_middle_of_a_packet_is_no_difference(viewed: View) -> None:
    pair = Pair()
    pair.traffic(10)
    pair.keep["A", "tx_deq"] = slice(37, None)
    assert all(not diff.differing and not diff.missing for diff in diffs(viewed(pair)).values())


@pytest.mark.parametrize("cut", range(1, 24))
def test_an_omission_is_found_wherever_the_upstream_memory_begins(viewed: View, cut: int) -> None:
    pair = Pair()
    omit(pair.send(length=40), "tx_deq", 30)
    pair.traffic(3)
    pair.keep["A", "tx_enq"] = slice(cut, None)
    packet, edit = one(viewed(pair), "A.tx_enq", "A.tx_deq").first_divergence or pytest.fail()
    assert (edit.op, packet.payload_index(edit)) == (Op.OMITTED, (30, 31))


def test_a_packet_that_never_came_is_missing(viewed: View) -> None:
    pair = Pair()
    pair.traffic(3)
    lost = pair.send(length=9)
    pair.traffic(3)
    for words in lost.from_tap("rx_enq"):
        words.clear()
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert [packet.seq for packet in diff.missing] == [lost.seq]
    assert not diff.differing


def test_packets_that_change_places_are_reordered(viewed: View) -> None:
    pair = Pair()
    pair.traffic(3)
    first, second = pair.send(length=5), pair.send(length=6)
    pair.traffic(3)
    for a, b in zip(first.from_tap("rx_enq"), second.from_tap("rx_enq"), strict=True):
        a[:], b[:] = list(b), list(a)
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert len(diff.reordered) == 1
    assert diff.reordered[0][0].seq in (first.seq, second.seq)
    assert not diff.differing


def test_a_packet_is_recognised_with_every_header_bit_wrong_on_one_lane(viewed: View) -> None:
    pair = Pair()
    pair.traffic(2)
    misalign(pair.traffic(6), 0, 0, 1)
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert [packet.up.seq for packet in diff.differing] == list(range(102, 108))
    assert all(packet.in_place for packet in diff.differing)


def test_a_damaged_header_does_not_lose_its_packet(viewed: View) -> None:
    pair = Pair()
    pair.traffic(2)
    hit = pair.send(length=12)
    pair.traffic(2)
    alter(hit, "rx_enq", 0, 0xFFFF << 32)
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert [(p.up.seq, len(p.edits), p.compared) for p in diff.differing] == [(hit.seq, 1, 15)]


def test_equal_packets_in_a_row_are_paired_in_order(viewed: View) -> None:
    pair = Pair()
    same = words_of(0, 7, [0] * 4, 0x1000)
    for _ in range(4):
        crossing = pair.send(length=4)
        for words in crossing.from_tap("tx_enq"):
            words[:] = list(same)
    pair.traffic(2)
    diff = one(viewed(pair), "A.tx_enq", "A.tx_deq")
    assert not diff.differing
    assert len(diff.pairs) == 6


def test_a_gap_of_the_pull_is_no_omission(viewed: View) -> None:
    pair = Pair()
    pair.traffic(20)
    pair.gaps["B", "rx_enq"] = [(100, 64)]
    found = diffs(viewed(pair))
    assert all(not diff.differing for diff in found.values())


def test_notifications_without_payload_are_compared_too(viewed: View) -> None:
    pair = Pair()
    for _ in range(20):
        pair.send(length=0, type=2)
    hit = pair.send(length=0, type=2)
    pair.send(length=0, type=2)
    alter(hit, "rx_enq", 1, 0x80)
    diff = one(viewed(pair), "A.tx_deq", "B.rx_enq")
    assert [p.up.seq for p in diff.differing] == [hit.seq]


def test_a_lone_head_word_is_an_omission_of_the_other(viewed: View) -> None:
    pair = Pair()
    pair.traffic(2)
    hit = pair.send(length=12)
    pair.traffic(2)
    for words in hit.from_tap("tx_deq"):
        assert words[1][0] == HEAD
        del words[1]
    packet, edit = one(viewed(pair), "A.tx_enq", "A.tx_deq").first_divergence or pytest.fail()
    assert (packet.up.seq, edit.op, packet.payload_index(edit)) == (hit.seq, Op.OMITTED, None)


def note_event(events: list[str], _frame: FrameType, event: str, _argument: object) -> None:
    events.append(event)


def test_the_cost_grows_no_faster_than_the_recording(tmp_path: Path) -> None:
    calls = []
    for count in (300, 1200):
        pair = Pair(depth=1 << 16)
        pair.traffic(count)
        omit(pair.send(length=40), "tx_deq", 5)
        view = CaptureView(pair.write(tmp_path / f"{count}.ff"))
        assert view.streams  # decoded before the calls are counted
        counted: list[str] = []
        sys.setprofile(partial(note_event, counted))
        try:
            differing = one(view, "A.tx_enq", "A.tx_deq").differing
        finally:
            sys.setprofile(None)
        assert len(differing) == 1
        calls.append(sum(event in ("call", "c_call") for event in counted))
    assert calls[1] < 5 * calls[0]  # four times the packets; sixteen would be quadratic
