"""Records of taps of every width to packets: the golden bytes of docs/card-map.md, a model, and damage."""

from __future__ import annotations

import random
import zlib
from itertools import pairwise

import numpy as np
import pytest

from freezeframe.capture.card.elaborated import ElaboratedTap
from freezeframe.capture.card.recording import RecordedTap
from freezeframe.decoders.tap.kinds import Packet
from freezeframe.decoders.tap.stream import TapStream, Workspace, decode_tap
from tests.decoders.tap.model import Beat, TapModel, frame_beats
from tests.decoders.tap.one_tap import formless_tap as tap


def lane(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.frombuffer(bytes.fromhex(text), np.uint8).reshape(-1, 9).copy()


def decoded(which: ElaboratedTap, *lanes: str) -> TapStream:
    memories = tuple(lane(text) for text in lanes)
    return decode_tap(RecordedTap(which, memories, len(memories[0]), wrapped=False))


def flags(stream: TapStream) -> list[Packet]:
    return [Packet(value) for value in stream.packets.flags.tolist()]


GOLDEN_64 = """
10 11 12 13 14 15 16 17 f1  18 19 1a 00 00 00 00 07 15  23 00 00 00 20 21 22 f0 14
24 25 26 27 28 29 2a 2b 1b  02 00 01 00 00 00 00 00 dd  26 00 00 00 00 00 00 00 1f"""


def test_the_golden_bytes_of_64_bits_are_two_packets_with_a_hole_and_a_user_bit() -> None:
    stream = decoded(tap(64, 'keep = "any"'), GOLDEN_64)
    assert [stream.data(p).hex() for p in range(2)] == [
        "101112131415161718191a",
        "202122232425262728292a2b",
    ]
    assert flags(stream) == [
        Packet(0),
        Packet.IRREGULAR | Packet.USER_END | Packet.USER_ANY,
    ]
    packets = stream.packets
    # In the stream a cycle before the tap register, where the golden bytes count.
    assert (packets.begin.tolist(), packets.end.tolist()) == ([20, 22], [21, 23])
    assert stream.mark is not None and stream.mark[:3] == (2, 1, 0)
    assert stream.span == (20, 37) and stream.problems == ()


def test_byte_seven_that_moved_down_on_a_tail_only_tap_says_that_the_card_file_is_wrong() -> None:
    assert flags(decoded(tap(64, 'keep = "tail"'), GOLDEN_64))[1] & Packet.BYTE_7


def test_the_golden_bytes_of_8_bits_are_dated_beat_by_beat_across_a_gap() -> None:
    stream = decoded(
        tap(8),
        """30 31 32 33 34 35 36 37 f1  38 00 00 00 00 00 00 01 17
        40 41 00 00 00 00 00 03 44  42 00 00 00 00 00 00 01 15
        02 00 01 00 00 00 00 00 3d  26 00 00 00 00 00 00 00 1f""",
    )
    packets = stream.packets
    assert [stream.data(p).hex() for p in range(2)] == ["303132333435363738", "404142"]
    assert (packets.begin.tolist(), packets.end.tolist()) == ([20, 30], [28, 33])
    assert (packets.beats.tolist(), packets.gap.tolist()) == ([9, 3], [0, 1])
    assert flags(stream) == [Packet.USER_END | Packet.USER_ANY, Packet(0)]


def test_the_golden_bytes_of_512_bits_are_one_packet_of_74_bytes() -> None:
    rows = [(bytes(range(8 * i, 8 * i + 8)) + b"\xff", bytes(9 if i > 1 else 0)) for i in range(8)]
    lanes = [
        "00 01 02 03 04 05 06 07 f1 40 41 42 43 44 45 46 47 13"
        "24 00 00 00 00 00 00 00 ef 02 00 01 00 00 00 00 00 1d 26 00 00 00 00 00 00 00 1f"
    ]
    ghosts = "de ad be ef de ad be ef ff" * 3  # beside TIME and MARK stands anything
    lanes.append(rows[1][0].hex() + "48 49 00 00 00 00 00 00 03" + ghosts)
    lanes += [rows[i][0].hex() + "00" * 9 + ghosts for i in range(2, 8)]
    stream = decoded(tap(512, 'keep = "tail"'), *lanes)
    assert stream.data(0) == bytes(range(74))
    assert flags(stream) == [Packet(0)]
    assert (stream.packets.begin.tolist(), stream.packets.end.tolist()) == ([20], [21])


@pytest.mark.parametrize("bits", [8, 16, 32, 64, 128, 512, 1024])
@pytest.mark.parametrize("keep", ["none", "tail", "any"])
def test_random_beats_come_back_with_their_bytes_ends_and_cycles(bits: int, keep: str) -> None:
    if bits == 8 and keep != "none":
        pytest.skip("a stream of 8 bits has no byte to switch off")
    which = tap(bits, f'keep = "{keep}"\nrecorder = "fast"')
    for seed in range(6):
        beats = _beats(random.Random(f"{bits} {keep} {seed}"), bits // 8, keep)
        model = TapModel(bits // 8, latency=2)
        model.feed(beats)
        closed = beats[-1].cycle + 20
        lanes, pointer, wrapped, _ = model.memories(4096, closed)
        stream = decode_tap(RecordedTap(which, tuple(lanes), pointer, wrapped))
        packets: list[list[Beat]] = [[]]
        for beat in beats:
            packets[-1].append(beat)
            if beat.last:
                packets.append([])
        packets = [part for part in packets if part]
        assert [stream.data(i) for i in range(len(stream))] == [_on(part) for part in packets]
        assert stream.packets.begin.tolist() == [part[0].cycle for part in packets]
        assert stream.packets.end.tolist() == [part[-1].cycle for part in packets]
        assert stream.packets.beats.tolist() == [len(part) for part in packets]
        assert stream.packets.gap.tolist() == [_longest_gap(part) for part in packets]
        assert stream.problems == ()


def _longest_gap(beats: list[Beat]) -> int:
    return max((b.cycle - a.cycle - 1 for a, b in pairwise(beats)), default=0)


def _on(beats: list[Beat]) -> bytes:
    return bytes(b for beat in beats for i, b in enumerate(beat.data) if beat.keep >> i & 1)


def _beats(chance: random.Random, width: int, keep: str) -> list[Beat]:
    """Return packets with gaps; null beats on wide streams alone, where each is a record."""
    beats, cycle = [], 20
    for _ in range(12):
        count = chance.choice([1, 2, 3, 9, 40])
        for number in range(count):
            cycle += chance.choice([1, 1, 1, 1, 2, 5, 14, 15, 16, 60])
            last = number == count - 1
            mask = (1 << width) - 1
            if keep == "any" and chance.random() < 0.3:
                mask = chance.randrange(0 if width >= 8 else 1, mask + 1)
            elif keep != "none" and last:
                mask = (1 << chance.randrange(1, width + 1)) - 1
            user = last and chance.random() < 0.3
            beats.append(Beat(cycle, chance.randbytes(width), mask, last, user))
    return beats


def test_a_loose_stream_keeps_its_bytes_and_bounds_their_times() -> None:
    chance = random.Random(3)
    beats = _beats(chance, 1, "none")
    model = TapModel(1, loose=True)
    model.feed(beats)
    lanes, pointer, wrapped, _ = model.memories(1024, beats[-1].cycle + 20)
    stream = decode_tap(RecordedTap(tap(8, 'time = "loose"'), tuple(lanes), pointer, wrapped))
    begins = [beat.cycle for n, beat in enumerate(beats) if n == 0 or beats[n - 1].last]
    packets = stream.packets
    assert packets.end.tolist() == [beat.cycle for beat in beats if beat.last]
    for begin, at, slack in zip(begins, packets.begin, packets.begin_slack, strict=True):
        assert slack == -1 or at - slack <= begin <= at
    assert b"".join(stream.data(i) for i in range(len(stream))) == _on(beats)


def test_a_wrapped_memory_begins_with_a_packet_whose_beginning_is_gone() -> None:
    which, model = tap(64, 'keep = "tail"'), TapModel(8)
    frames = [bytes([n]) * 100 for n in range(4)]
    for number, data in enumerate(frames):
        model.feed(frame_beats(data, 30 + 20 * number, 8))
    lanes, pointer, _, stored = model.memories(32, 120)
    assert stored > 32
    stream = decode_tap(RecordedTap(which, tuple(lanes), pointer, wrapped=True))
    assert flags(stream)[0] == Packet.CUT_BEGIN and not any(flags(stream)[1:])
    assert [stream.data(i) for i in range(1, len(stream))] == frames[-len(stream) + 1 :]
    again = decode_tap(RecordedTap(which, tuple(lanes), pointer, wrapped=True), Workspace())
    assert all(np.array_equal(a, b) for a, b in zip(stream.packets, again.packets, strict=True))


def test_a_packet_that_is_open_when_the_memory_closes_is_cut_at_its_end() -> None:
    model = TapModel(8)
    model.feed(frame_beats(bytes(100), 30, 8)[:5])
    lanes, pointer, wrapped, _ = model.memories(32, 60)
    stream = decode_tap(RecordedTap(tap(64), tuple(lanes), pointer, wrapped))
    assert flags(stream) == [Packet.CUT_END] and stream.packets.length.tolist() == [40]


def test_slots_that_were_not_read_cut_the_packet_and_leave_the_next_beginning_unknown() -> None:
    which, model = tap(64), TapModel(8)
    for number in range(3):
        model.feed(frame_beats(bytes([number]) * 64, 30 + 12 * number, 8))
    lanes, pointer, wrapped, _ = model.memories(64, 90)
    lanes[0][4:11] = 0
    holed = RecordedTap(which, tuple(lanes), pointer, wrapped, gaps=((range(4, 11),),))
    stream = decode_tap(holed)
    assert flags(stream) == [Packet.CUT_END, Packet.CUT_BEGIN, Packet(0)]
    assert stream.data(2) == b"\2" * 64
    assert [problem.code for problem in stream.problems] == ["not-read", "undated"]


def test_a_side_lane_that_was_not_read_voids_the_packet_and_nothing_else() -> None:
    which, model = tap(128), TapModel(16)
    for number in range(2):
        model.feed(frame_beats(bytes([number]) * 64, 30 + 12 * number, 16))
    lanes, pointer, wrapped, _ = model.memories(64, 90)
    gaps = ((), (range(1, 2),))
    stream = decode_tap(RecordedTap(which, tuple(lanes), pointer, wrapped, gaps=gaps))
    assert flags(stream) == [Packet.VOID, Packet(0)] and stream.whole.tolist() == [False, True]


def test_a_last_word_that_never_comes_is_one_open_packet() -> None:
    model = TapModel(8)
    model.feed([Beat(30 + n, bytes(8), 0xFF) for n in range(5000)])
    lanes, pointer, _, _ = model.memories(1024, 5040)
    stream = decode_tap(RecordedTap(tap(64), tuple(lanes), pointer, wrapped=True))
    assert flags(stream) == [Packet.CUT_BEGIN | Packet.CUT_END]


@pytest.mark.parametrize("bits", [8, 64, 512])
def test_noise_in_the_memory_raises_nothing(bits: int) -> None:
    chance = np.random.default_rng(bits)
    which = tap(bits, 'keep = "any"' if bits > 8 else "")
    for _ in range(20):
        lanes = tuple(chance.integers(0, 256, (256, 9), dtype=np.uint8) for _ in which.lanes)
        stream = decode_tap(RecordedTap(which, lanes, 17, wrapped=True))
        assert stream.problems
        assert sum(len(stream.data(i)) for i in range(len(stream))) <= 256 * which.stream_bytes * 8


def test_an_empty_memory_has_no_packets() -> None:
    stream = decode_tap(RecordedTap(tap(64), (np.zeros((16, 9), np.uint8),), 0, wrapped=False))
    assert (len(stream), stream.span, stream.mark) == (0, None, None)


def test_a_summary_record_gives_length_times_and_the_true_crc_of_a_packet() -> None:
    # 13 bytes 00..0c on 8 bytes a beat: the digest is taken over 16, the last three 0.
    data = bytes(range(13))
    digest = zlib.crc32(data.ljust(16, b"\0"))
    word = digest | 13 << 32 | 1 << 48 | 1 << 60 | 1 << 61
    rows = [(word, 8, 15), (1, 13, 10), (50, 15, 1)]
    text = "".join((d | (k | t << 4) << 64).to_bytes(9, "little").hex() for d, k, t in rows)
    stream = decoded(tap(64, 'keep = "tail"\nstore = "summary"'), text)
    assert stream.digests.tolist() == [zlib.crc32(data)]
    assert stream.packets.length.tolist() == [13]
    assert (stream.packets.begin.tolist(), stream.packets.end.tolist()) == ([35], [36])
    assert flags(stream) == [Packet.SUMMARY | Packet.USER_END | Packet.USER_ANY]
    assert stream.problems == ()


def test_a_packet_whose_first_words_were_overwritten_is_told_by_its_summary_alone() -> None:
    # 24 bytes in three beats, the last in cycle 42; of the first two words the memory still holds the second.
    data = bytes(range(24))
    word = zlib.crc32(data) | 24 << 32 | 2 << 48
    rows = [(int.from_bytes(data[8:16], "little"), 2, 1), (word, 8, 1), (1, 13, 5), (51, 15, 1)]
    text = "".join((d | (k | t << 4) << 64).to_bytes(9, "little").hex() for d, k, t in rows)
    stream = decoded(tap(64, "store = { first_bytes = 16 }"), text)
    assert (stream.packets.begin.tolist(), stream.packets.end.tolist()) == ([40], [42])
    assert (stream.data(0), stream.packets.length.tolist()) == (b"", [24])
    assert flags(stream) == [Packet.SUMMARY]
    assert stream.digests.tolist() == [zlib.crc32(data)]


def test_a_length_that_reached_its_limit_has_no_digest_of_its_own() -> None:
    rows = [(0x1234 | 0xFFFF << 32, 8, 15), (1, 13, 10), (50, 15, 1)]
    text = "".join((d | (k | t << 4) << 64).to_bytes(9, "little").hex() for d, k, t in rows)
    assert decoded(tap(64, 'store = "summary"'), text).digests.tolist() == [-1]
