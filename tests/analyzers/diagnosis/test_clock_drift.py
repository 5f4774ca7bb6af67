"""clock-drift: both lanes that slip by a word, whatever the receiver then makes of the packet, and what is no drift.

Source: the table of faults, and its last paragraph on look-alikes (docs/diagnosis.md).
"""

from __future__ import annotations

import pytest

from tests.analyzers.bench_pair import BUS_PS, Crossing, Pair
from tests.analyzers.conftest import Explain
from tests.analyzers.damage import lag, slip
from tests.analyzers.diagnosis.test_credit_faults import US
from tests.analyzers.diagnosis.test_word_faults import HDR, LEN, PAY, busy, only, said

RX_LINK = 3
SLIP_PS = 70 * US
EVERY_PS = 5 * US


def drifting(code: str, first: int, *, counts_words: bool = True) -> Pair:
    """Return a pair whose B slips by a word in both lanes every 5 us, once in packet 112 at place ``first``.

    ``counts_words``: B ends a packet after as many words as it should have; else where the line does.
    """
    pair, hit = busy()
    if not counts_words:
        moved(hit, code, first)
    for lane in (0, 1):
        if not counts_words:
            pass
        elif code == "underflow":
            lag(hit, lane, first, 43)
        else:
            slip([hit], lane, first, 4)
        pair.set("B", f"frozen.lane.{code}s", lane, value=3)
        for n in range(3):
            pair.event("B", SLIP_PS + n * EVERY_PS + lane * BUS_PS, "LINK", code, lane, 0, RX_LINK)
    pair.counter("B", "idles_inserted", 0)
    pair.counter("B", "idles_removed", 0)
    pair.causes = PAY if first > 1 else HDR
    return pair


def moved(hit: Crossing, code: str, first: int) -> None:
    """Let word ``first`` be the one before it once more, or be lost; the last word of the line is the tail."""
    for words in hit.from_tap("rx_enq"):
        data = [word for _, word in words]
        if code == "underflow":
            data.insert(first, data[first - 1])
        else:
            del data[first]
        body, tail = words[2][0], words[-1][0]
        heads = [kind for kind, _ in words[:2]]
        words[:] = zip([*heads, *[body] * (len(data) - 3), tail], data, strict=True)


@pytest.mark.parametrize("code", ["underflow", "overflow"])
@pytest.mark.parametrize(("first", "word"), [(12, 10), (1, None)], ids=["payload", "header"])
def test_both_lanes_that_slip_again_and_again_are_a_clock_that_drifts(
    explained: Explain, code: str, first: int, word: int | None
) -> None:
    finding = only(explained(drifting(code, first)).findings)
    assert said(finding) == ("clock-drift", "B", "rx_enq", "A->B", 3, 112, word)
    slips = "3 slips of both lanes at once, 500 cycles apart where they were nearest"
    assert any(slips in evidence.text for evidence in finding.evidence)


def test_from_the_receiver_alone_regular_slips_name_the_drift_without_a_place(
    explained: Explain,
) -> None:
    finding = only(explained(drifting("underflow", 12), "B").findings)
    assert said(finding) == ("clock-drift", "B", "rx_enq", "A->B", None, None, None)


@pytest.mark.parametrize("code", ["underflow", "overflow"])
@pytest.mark.parametrize("first", [1, 2, 12, 41, -1])
def test_a_packet_that_ends_with_the_line_has_the_slipped_word_twice_or_not_at_all(
    explained: Explain, code: str, first: int
) -> None:
    # packet 112: two HEAD words, 40 of payload, the tail, which is no word of the payload
    if first < 0:
        first = 43 if code == "underflow" else 42
    pair = drifting(code, first, counts_words=False)
    pair.causes = LEN if first > 1 else HDR
    finding = only(explained(pair).findings)
    word = first - 2 if 2 <= first < 42 else None
    assert said(finding) == ("clock-drift", "B", "rx_enq", "A->B", 3, 112, word)


@pytest.mark.parametrize("code", ["underflow", "overflow"])
def test_from_the_receiver_alone_lanes_that_slipped_are_no_word_of_a_fifo(
    explained: Explain, code: str
) -> None:
    """Without them the same packet may say that A's outgoing FIFO repeated or lost a word: one end tells no place."""
    pair = drifting(code, 12, counts_words=False)
    pair.causes = LEN
    assert {f.diagnosis for f in explained(pair, "B").findings} == {"clock-drift"}
    pair, hit = busy()
    moved(hit, code, 12)
    pair.causes = LEN
    names = {"underflow": "word-duplicated", "overflow": "word-omitted"}
    found = only(explained(pair, "B").findings)
    assert found.diagnosis == "undetermined" and names[code] in found.candidates


@pytest.mark.parametrize("code", ["underflow", "overflow"])
def test_one_slip_alone_names_nothing_from_the_receiver_but_what_it_may_be(
    explained: Explain, code: str
) -> None:
    pair, hit = busy(causes=LEN)
    moved(hit, code, 12)
    for lane in (0, 1):
        pair.set("B", f"frozen.lane.{code}s", lane, value=1)
    pair.counter("B", "idles_inserted", 0)
    pair.counter("B", "idles_removed", 0)
    found = only(explained(pair, "B").findings)
    assert found.diagnosis == "undetermined"
    assert "clock-drift" in found.candidates
    assert said(only(explained(pair).findings))[0] == "clock-drift"


def test_a_word_that_the_link_lost_without_a_slip_is_not_laid_to_the_clock(
    explained: Explain,
) -> None:
    pair, hit = busy(causes=LEN)
    moved(hit, "overflow", 12)
    for lane in (0, 1):
        pair.set("B", "frozen.lane.overflows", lane, value=0)
    pair.event("B", SLIP_PS, "LINK", "trained", 0, 0, RX_LINK)
    pair.counter("B", "idles_inserted", 0)
    pair.counter("B", "idles_removed", 0)
    assert [f.diagnosis for f in explained(pair).findings] == ["undetermined"]


def test_a_receiver_that_corrects_its_clock_does_not_drift(explained: Explain) -> None:
    pair = drifting("underflow", 12)
    pair.counter("B", "idles_inserted", 7)
    assert [f.diagnosis for f in explained(pair).findings] == ["undetermined"]


@pytest.mark.parametrize("code", ["underflow", "overflow"])
def test_a_slip_of_which_only_the_first_words_were_recorded_may_be_drift(
    explained: Explain, code: str
) -> None:
    pair, hit = busy(causes=PAY)
    for lane in (0, 1):
        if code == "underflow":
            lag(hit, lane, 12, 43)
        else:
            slip([hit], lane, 12, 4)
    pair.crossings = pair.crossings[: pair.crossings.index(hit) + 1]
    for words in hit.from_tap("rx_enq"):
        del words[14:]
    found = only(explained(pair).findings)
    assert found.diagnosis == "clock-drift" or "clock-drift" in found.candidates
