"""Whatever stands in a memory: nothing raises, and no verdict rests on a packet that is not there whole.

The recordings are the model's, read with any write pointer, any gap, any filter of kinds; or noise.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.checked import BAD, GOOD, UNKNOWN, CheckedStream, Wrong, check_packets
from freezeframe.decoders.tap.kinds import PARTIAL, Packet
from freezeframe.decoders.tap.stream import decode_tap
from tests.decoders.tap.model import TapModel, frame_beats
from tests.decoders.tap.one_tap import one_tap

DEPTH = 64
BITS = [8, 16, 32, 64, 128, 512, 1024]
FORMATS = {
    "ethernet": 'is = "ethernet"\nshortest_B = 20\nlongest_B = 4000',
    "stripped": 'is = "ethernet"\nfcs = "stripped"',
    "user": 'is = "ethernet"\nfcs = "user-bit"\nshortest_B = 20\nlongest_B = 4000',
    "link": 'is = "link"',
    "raw": 'is = "raw"',
    "fields": """\
is = "fields"
length = "size"
length_plus_B = 3
[format.f.field.mark]
at_bit = 0
bits = 8
constant = 0xA5
[format.f.field.size]
at_bit = 8
bits = 16
[format.f.check.sum]
crc = "CRC-32/ISO-HDLC"
at = -4
order = "little"
""",
}


def card_of(bits: int, keep: str, shape: str, more: str = "") -> ElaboratedCard:
    keep = f'keep = "{keep}"' if bits > 8 else ""
    user = "user = { bits = 1, bad_frame = 0 }" if shape == "user" else ""
    return one_tap(FORMATS[shape], f"bits = {bits}\ndepth = {DEPTH}\n{keep}\n{user}\n{more}")


@dataclass(frozen=True)
class Sent:
    """A packet that passed, and whether it is right by its own bytes."""

    data: bytes
    good: bool


@st.composite
def recordings(draw: st.DrawFn) -> tuple[CheckedStream, list[Sent], str]:
    """Return what is decoded of a memory that was read anyhow, the packets that passed, and their format."""
    bits = draw(st.sampled_from(BITS))
    width = bits // 8
    shape = draw(st.sampled_from(["ethernet", "user", "fields"]))
    time = draw(st.sampled_from(["exact", "loose"] if bits < 64 else ["exact"]))
    store = draw(st.sampled_from(["all", "all", "summary", "first"])) if bits >= 64 else "all"
    told = {"summary": 'store = "summary"', "first": "store = { first_bytes = 64 }"}.get(store, "")
    card = card_of(bits, "tail" if bits > 8 else "", shape, f'time = "{time}"\n{told}')
    model = TapModel(width, loose=time == "loose", store=64 if store == "first" else store)
    chance = draw(st.randoms(use_true_random=False))
    sent, cycle = [], 30
    for number in range(draw(st.integers(1, 12))):
        body = bytes((0xA5,)) + chance.randbytes(draw(st.integers(20, 40 + 12 * width)))
        body = body[:1] + len(body).to_bytes(2, "big") + body[3:]
        body += b"" if shape == "user" else zlib.crc32(body).to_bytes(4, "little")
        body = body[:1] + (len(body) - 3).to_bytes(2, "big") + body[3:]
        if shape == "fields":
            body = body[:-4] + zlib.crc32(body[:-4]).to_bytes(4, "little")
        good = shape == "user" or zlib.crc32(body[:-4]) == int.from_bytes(body[-4:], "little")
        bad = shape == "user" and number % 3 == 1
        beats = frame_beats(body, cycle, width, bad=bad, gaps={2: draw(st.integers(0, 20))})
        model.feed(beats)
        cycle = beats[-1].cycle + draw(st.sampled_from([5, 6, 20, 200]))
        sent.append(Sent(body, good and not bad))
    lanes, pointer, wrapped, _ = model.memories(DEPTH, cycle)
    if draw(st.booleans()):  # what a device that is not well may say of itself
        pointer, wrapped = draw(st.integers(0, DEPTH)), draw(st.booleans())
    gap = st.tuples(st.integers(0, DEPTH - 1), st.integers(1, 9))
    gaps = []
    for lane in lanes:
        holes = draw(st.lists(gap, max_size=2))
        gaps.append(tuple(range(a, min(DEPTH, a + n)) for a, n in holes))
        for hole in gaps[-1]:
            lane[hole.start : hole.stop] = 0
    kinds = draw(st.sampled_from([0xFFFF, 0xFFFF, 0xFFFB, 0xA008]))
    tap = RecordedTap(card.taps[0], tuple(lanes), pointer, wrapped, gaps=tuple(gaps), kinds=kinds)
    return check_packets(card.said, decode_tap(tap)), sent, shape


@settings(max_examples=60)
@given(recordings())
def test_every_verdict_is_that_of_a_packet_that_passed(
    made: tuple[CheckedStream, list[Sent], str],
) -> None:
    checked, sent, shape = made
    packets = checked.stream.packets
    for n in range(len(checked)):
        flags = Packet(int(packets.flags[n]))
        if checked.verdict[n] == UNKNOWN:
            continue
        assert not flags & PARTIAL
        if flags & Packet.SUMMARY:
            alike = [s for s in sent if len(s.data) == packets.length[n]]
        else:
            alike = [s for s in sent if s.data == checked.stream.data(n)]
        assert alike, f"{shape}: a verdict on a packet that never passed"
        assert any(checked.verdict[n] == (GOOD if s.good else BAD) for s in alike)


@settings(max_examples=60)
@given(recordings())
def test_no_header_is_read_of_a_packet_whose_beginning_is_gone(
    made: tuple[CheckedStream, list[Sent], str],
) -> None:
    checked, sent, _ = made
    begins = {
        s.data[:size] for s in sent for size in (1, 2, 3)
    }  # of one that is cut there may be less
    for name, column in checked.columns.items():
        for n in np.flatnonzero(column != -1).tolist():
            assert checked.content(n)[:3] in begins, name


def noise(chance: np.random.Generator, lanes: int) -> list[npt.NDArray[np.uint8]]:
    """Return memories of any bytes; kinds are mostly those of words, so that there are packets."""
    made = [chance.integers(0, 256, (DEPTH, 9), dtype=np.uint8) for _ in range(lanes)]
    often = chance.random(DEPTH) < 0.8
    kinds = chance.choice([1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 15], DEPTH).astype(np.uint8)
    made[0][often, 8] = kinds[often] | 0x10
    return made


@pytest.mark.parametrize(
    "store", ['store = "all"', 'store = "summary"', "store = { first_bytes = 64 }"]
)
@pytest.mark.parametrize("shape", FORMATS)
def test_noise_of_every_geometry_raises_nothing_and_judges_whole_packets_alone(
    shape: str, store: str
) -> None:
    for seed, bits in enumerate(BITS if store == 'store = "all"' else [64, 512]):
        keep = ("any", "tail", "none")[seed % 3]
        if shape == "link" and bits != 64:
            continue
        card = card_of(bits, keep, shape, store)
        chance = np.random.default_rng(seed)
        for _ in range(4):
            gaps = tuple(
                tuple(range(a, a + 2) for a in chance.choice(DEPTH - 2, chance.integers(0, 2)))
                for _ in card.taps[0].lanes
            )
            tap = RecordedTap(
                card.taps[0],
                tuple(noise(chance, len(card.taps[0].lanes))),
                int(chance.integers(0, DEPTH + 1)),
                wrapped=bool(chance.integers(0, 2)),
                gaps=gaps,
            )
            checked = check_packets(card.said, decode_tap(tap))
            flags = checked.stream.packets.flags
            assert not (flags[checked.verdict != UNKNOWN] & int(PARTIAL)).any()
            assert all(len(checked.content(n)) == checked.size[n] for n in range(len(checked)))


def words(*kinds: int) -> RecordedTap:
    rows = np.zeros((len(kinds), 9), np.uint8)
    rows[:, 8] = [kind | 0x10 for kind in kinds]
    return RecordedTap(card_of(64, "none", "ethernet").taps[0], (rows,), len(kinds), wrapped=False)


@pytest.mark.parametrize(
    ("kinds", "flags"),
    [
        ((1, 2, 3), [0]),
        ((1, 9, 3), [Packet.VOID]),  # a record that was damaged: what it was is not known
        ((1, 8, 3), [Packet.VOID]),  # SUM in a memory that stores all
        ((1, 3, 2, 3), [0, Packet.CUT_BEGIN]),  # BODY is never the first
        ((1, 3, 9, 3), [0, Packet.CUT_BEGIN]),
        ((1, 2, 13, 15, 2, 3), [Packet.CUT_END, Packet.CUT_BEGIN]),  # nothing is behind MARK
        ((1, 2, 1, 3), [Packet.CUT_END | Packet.LOST_END, 0]),
    ],
)  # fmt: skip
def test_what_a_recorder_never_stores_ends_the_trust_in_a_packet(
    kinds: tuple[int, ...], flags: list[int]
) -> None:
    stream = decode_tap(words(*kinds))
    assert stream.packets.flags.tolist() == flags
    assert stream.broken == any(kinds != (1, 2, 3) for _ in flags)


def test_a_frame_marked_bad_whose_beginning_is_gone_is_no_verdict_but_says_so() -> None:
    card = card_of(64, "tail", "user")
    model = TapModel(8)
    model.feed(frame_beats(bytes(400), 30, 8, bad=True))
    lanes, pointer, _, _ = model.memories(DEPTH, 120)
    tap = RecordedTap(card.taps[0], (lanes[0][20:],), pointer - 20, wrapped=False)
    checked = check_packets(card.said, decode_tap(tap))
    assert checked.verdict.tolist() == [UNKNOWN]
    assert Wrong(int(checked.wrong[0])) == Wrong.USER


def test_a_summary_of_65535_bytes_or_more_has_no_digest_of_its_own() -> None:
    card = card_of(64, "tail", "ethernet", 'store = "summary"')
    word = 0x2144DF1C | 65535 << 32 | 9 << 48
    rows = [(word, 8, 15), (1, 13, 10), (50, 15, 1)]
    lane = b"".join((d | (k | t << 4) << 64).to_bytes(9, "little") for d, k, t in rows)
    tap = RecordedTap(
        card.taps[0], (np.frombuffer(lane, np.uint8).reshape(-1, 9),), 3, wrapped=False
    )
    checked = check_packets(card.said, decode_tap(tap))
    assert Wrong(int(checked.wrong[0])) == Wrong.GIANT
    assert checked.crc.tolist() == [UNKNOWN]
