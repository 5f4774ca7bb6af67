"""What is said of packets of which a tap keeps a SUM alone, from literal SUM records."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.capture.card.elaborated import ElaboratedTap, elaborate
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedClock, RecordedTap
from tests.decoders.tap.model import TapModel

CARD = """\
schema = 1
[card]
name = "two"
[clock.bus]
hz = 100_000_000
registers = true
[format.f]
is = "{shape}"
[tap.a]
kind = "axi-stream"
clock = "bus"
keep = "any"
format = "f"
store = "summary"
[tap.b]
kind = "axi-stream"
clock = "bus"
bits = {bits}
keep = "any"
format = "f"
store = "summary"
[path.p]
taps = ["a", "b"]
"""
SUM, IRREGULAR = 8, 1 << 62


def recorded(
    tap: ElaboratedTap, packets: Sequence[bytes], begin: int, irregular: int = -1
) -> RecordedTap:
    """Return a memory of SUMs, each packet's three cycles after its last beat; one with a byte off inside."""
    model, width, cycle = TapModel(8), tap.stream_bytes, begin
    for number, data in enumerate(packets):
        lasted = -(-len(data) // width) - 1
        digest = zlib.crc32(data + bytes(-len(data) % width))
        word = digest | len(data) << 32 | lasted << 48 | (IRREGULAR if number == irregular else 0)
        model.records.append((cycle + lasted + 3, (word, SUM), ()))
        cycle += lasted + 400
    lanes, pointer, wrapped, _ = model.memories(2048, 20_000)
    return RecordedTap(tap, tuple(lanes), pointer, wrapped)


def explained(
    before: Sequence[bytes], after: Sequence[bytes], *, bits: int = 64, shape: str = "raw", irregular: int = -1
) -> CardExplanation:  # fmt: skip
    card = elaborate(parse_card(CARD.format(bits=bits, shape=shape)))
    first, second = card.taps
    taps = {
        "a": recorded(first, before, 20, irregular),
        "b": recorded(second, after, 2_000, irregular),
    }
    clocks = [RecordedClock(clock, clock.said.hz) for clock in card.clocks]
    return explain_card(CardRecording(card, taps, clocks, Feature.COUNTERS))


def packets(count: int = 9) -> list[bytes]:
    chance = random.Random(3)
    return [chance.randbytes(100) for _ in range(count)]


def said(explanation: CardExplanation) -> list[tuple[str, int | None]]:
    return [(f.diagnosis, f.packet) for f in explanation.findings]


def test_one_of_equal_length_that_is_missing_is_named_by_digests_of_taps_of_any_width() -> None:
    sent = packets()
    for bits in (16, 64, 512):
        assert said(explained(sent, [*sent[:4], *sent[5:]], bits=bits)) == [("packet-dropped", 4)]
        assert said(explained(sent, sent, bits=bits)) == []


def test_nothing_is_missed_where_a_packet_with_bytes_off_inside_has_no_digest_to_compare() -> None:
    sent = packets()
    hidden = explained(sent, [*sent[:6], *sent[7:]], irregular=4, bits=512)
    assert said(hidden) == []
    reason = "a -> b: packets that are missing: some at a have no digest to compare"
    assert reason in hidden.not_asked


def test_a_changed_packet_is_told_without_a_name_and_no_bytes_are_invented() -> None:
    sent = packets()
    after = [*sent[:4], sent[4][:-1] + b"!", *sent[5:]]
    (finding,) = explained(sent, after).findings
    assert (finding.diagnosis, finding.packet) == ("none-of-the-known", 4)
    assert "only digests of them are there" in finding.text
    joined = [*sent[:4], sent[4] + sent[5], *sent[6:]]
    assert {name for name, _ in said(explained(sent, joined))} == {"none-of-the-known"}


def test_which_of_equal_packets_in_a_row_is_missing_is_left_open() -> None:
    sent = packets()
    sent[4] = sent[3]
    (finding,) = explained(sent, [*sent[:4], *sent[5:]]).findings
    assert finding.text.startswith(
        "One of the packets 3, 4 of a, 100 B each and alike, never came out"
    )


def test_a_frame_of_1522_bytes_may_have_a_tag_where_its_header_is_not_there() -> None:
    body = [bytes(1518), *packets(8)]
    sent = [data + zlib.crc32(data).to_bytes(4, "little") for data in body]
    assert said(explained(sent, sent, shape="ethernet")) == []
