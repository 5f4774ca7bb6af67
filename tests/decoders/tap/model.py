"""A card's tap as docs/card-map.md section 5 has it: a stream of beats to records, written from that page alone.

It shares no code with the decoder. A beat is ``Beat``; a model is fed cycle by cycle.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

HEAD, BODY, TAIL, PART, END, PART_USER, END_USER, SUM = 1, 2, 3, 4, 5, 6, 7, 8
BODY_USER, TAIL_USER, MARK, TIME = 10, 11, 13, 15


@dataclass(frozen=True, slots=True)
class Beat:
    """A word of the stream in a cycle: its bytes, which of them are on (bit i: byte i), last and user."""

    cycle: int
    data: bytes
    keep: int
    last: bool = False
    user: bool = False


@dataclass(slots=True)
class TapModel:
    """A recorder of one tap.

    ``latency``: 1 with the plain recorder, 2 with the fast one. ``store``: "all", or with 3 cycles "summary" or so many
    first bytes.
    """

    beat_B: int
    latency: int = 1
    loose: bool = False
    keep_any: bool = False
    store: str | int = "all"
    at_begin: bool = True  # the next word is a packet's first
    records: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)
    held: list[Beat] = field(default_factory=list)
    packet: list[Beat] = field(default_factory=list)

    def _store(
        self, cycle: int, kind: int, lane: int, sides: Sequence[tuple[int, int]] = ()
    ) -> None:
        """Keep a record: its cycle, (data, kind) of lane 0, (data, keep) of the others."""
        self.records.append((cycle, (lane, kind), tuple(x for side in sides for x in side)))

    def _word(self, data: bytes, keep: int, *, last: bool, user: bool) -> tuple[int, int]:
        """Return kind and data of a word of lane 0."""
        begin, self.at_begin = self.at_begin, last
        if keep == 0xFF:
            if not user and begin and not last:
                return HEAD, int.from_bytes(data, "little")
            kinds = {
                (False, False): BODY,
                (True, False): TAIL,
                (False, True): BODY_USER,
                (True, True): TAIL_USER,
            }
            return kinds[last, user], int.from_bytes(data, "little")
        shown = bytearray(8)
        for i in range(7):
            if keep >> i & 1:
                shown[i] = data[i]
        if keep >> 7 & 1:
            shown[next(i for i in range(8) if not keep >> i & 1)] = data[7]
        shown[7] = keep
        kinds = {
            (False, False): PART,
            (True, False): END,
            (False, True): PART_USER,
            (True, True): END_USER,
        }
        return kinds[last, user], int.from_bytes(shown, "little")

    def feed(self, beats: Sequence[Beat]) -> None:
        """Record beats, in order of their cycles."""
        for beat in beats:
            if self.store != "all":
                self._summed(beat)
            elif self.beat_B >= 8:
                self._wide(beat)
            else:
                self._narrow(beat)

    def _summed(self, beat: Beat) -> None:
        self.packet.append(beat)
        before_B = self.beat_B * (len(self.packet) - 1)
        first_B = self.store if isinstance(self.store, int) else 0
        ends_within = beat.last and before_B < first_B
        if before_B < first_B and (ends_within or not beat.last):
            self._wide(beat)
        if not beat.last:
            return
        packet, self.packet = self.packet, []
        if ends_within:
            return
        self.at_begin = True
        full = (1 << self.beat_B) - 1
        on = [[b.keep >> i & 1 for i in range(self.beat_B)] for b in packet]
        shown = bytes(
            x * bit
            for b, bits in zip(packet, on, strict=True)
            for x, bit in zip(b.data, bits, strict=True)
        )
        length = min(65535, sum(map(sum, on)))
        cycles = min(4095, packet[-1].cycle - packet[0].cycle)
        holes = any(b.keep != full for b in packet[:-1]) or packet[-1].keep & packet[-1].keep + 1
        word = zlib.crc32(shown) | length << 32 | cycles << 48 | packet[-1].user << 60
        word |= any(b.user for b in packet) << 61 | bool(holes) << 62
        self._store(packet[-1].cycle + 3, SUM, word)

    def _wide(self, beat: Beat) -> None:
        lanes = [
            (beat.data[8 * i : 8 * i + 8], beat.keep >> 8 * i & 0xFF)
            for i in range(self.beat_B // 8)
        ]
        first, keep = lanes[0]
        kind, data = self._word(first, keep, last=beat.last, user=beat.user)
        sides = []
        for part, on in lanes[1:]:
            shown = bytes(b if on >> i & 1 else 0 for i, b in enumerate(part))
            sides.append((int.from_bytes(shown, "little"), on))
        latency = self.latency if self.store == "all" else 3
        self._store(beat.cycle + latency, kind, data, sides)

    def _narrow(self, beat: Beat) -> None:
        if self.held and not self.loose and beat.cycle > self.held[-1].cycle + 1:
            self._flush(gap=True)
        self.held.append(beat)
        full = len(self.held) * self.beat_B == 8
        if full or beat.last or beat.user or beat.keep != (1 << self.beat_B) - 1:
            self._flush(gap=False)

    def _flush(self, *, gap: bool) -> None:
        data = b"".join(beat.data for beat in self.held).ljust(8, b"\0")
        keep = 0
        for i, beat in enumerate(self.held):
            keep |= beat.keep << i * self.beat_B
        end = self.held[-1]
        kind, word = self._word(data, keep, last=end.last, user=end.user)
        self.held.clear()
        self._store(end.cycle + self.latency + gap, kind, word)

    def memories(
        self, depth: int, closed: int, causes: int = 1, since: int = 0
    ) -> tuple[list[npt.NDArray[np.uint8]], int, bool, int]:
        """Close in a cycle: return the lanes' memories, the write pointer, whether it wrapped, records stored."""
        if self.held and not self.loose and self.held[-1].cycle + self.latency + 1 < closed:
            self._flush(gap=True)
        rows: list[tuple[int, int, int, tuple[int, ...]]] = []  # data, kind, dt, sides
        previous: int | None = None
        for cycle, (data, kind), sides in self.records:
            if cycle >= closed:
                break
            dt = 15
            if previous is not None:
                if cycle - previous > 14:
                    rows.append((previous + 14, TIME, 14, ()))
                dt = min(15, cycle - rows_cycle(previous, cycle))
            rows.append((data, kind, dt, sides))
            previous = cycle
        if previous is None:
            previous = 0
        if closed - previous > 14:
            rows.append((previous + 14, TIME, 14, ()))
            previous += 14
        pending = min(255, len(self.held))
        mark = causes & 0xFFFF | since << 16 | pending << 48 | causes >> 16 << 56
        rows += [(mark, MARK, min(15, closed - previous), ()), (closed + 1, TIME, 1, ())]
        lanes = 1 if self.store == "summary" else max(1, self.beat_B // 8)
        memories = [np.zeros((depth, 9), np.uint8) for _ in range(lanes)]
        for number, (data, kind, dt, sides) in enumerate(rows):
            slot = number % depth
            memories[0][slot] = np.frombuffer(
                (data | (kind | dt << 4) << 64).to_bytes(9, "little"), np.uint8
            )
            for lane in range(lanes - 1):
                if sides:
                    value = sides[2 * lane] | sides[2 * lane + 1] << 64
                    memories[lane + 1][slot] = np.frombuffer(value.to_bytes(9, "little"), np.uint8)
        return memories, len(rows) % depth, len(rows) >= depth, len(rows)


def rows_cycle(previous: int, cycle: int) -> int:
    """Return the cycle of the record before: the one stored, or the TIME that stands 14 cycles behind it."""
    return previous + 14 if cycle - previous > 14 else previous


def frame_beats(
    data: bytes, begin: int, beat_B: int, *, bad: bool = False, gaps: dict[int, int] | None = None
) -> list[Beat]:
    """Return the beats of a packet from a cycle on.

    Args:
        bad: user is up at the end.
        gaps: cycles without a beat before beat i.
    """
    beats = []
    cycle = begin
    for number, at in enumerate(range(0, max(1, len(data)), beat_B)):
        cycle += (gaps or {}).get(number, 0)
        part = data[at : at + beat_B]
        last = at + beat_B >= len(data)
        beats.append(
            Beat(cycle, part.ljust(beat_B, b"\xee"), (1 << len(part)) - 1, last, bad and last)
        )
        cycle += 1
    return beats
