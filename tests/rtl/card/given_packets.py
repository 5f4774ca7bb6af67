"""Packets as they were given to a tap, told from their beats alone: what SUM says must be this."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_B, MOST_CYCLES = 65_535, 4_095
HEAD_B = 512


@dataclass(frozen=True)
class Beat:
    """One beat: its cycle at the stream, the bytes that were on, and whether one was behind a byte that was off."""

    cycle: int
    last: bool
    user: bool
    on: bytes
    hole: bool
    short: bool  # its last byte was off

    def leaves_a_trace(self, packed: bool) -> bool:
        return not packed or bool(self.on) or self.last


@dataclass
class Given:
    """A packet so far; ``first``: no other ended since reset. ``traced``: its first beat that a packed word shows."""

    first: bool
    begin: int = -1
    traced: int = -1
    end: int = -1
    length: int = 0
    crc: int = 0
    user: bool = False
    user_end: bool = False
    irregular: bool = False
    head: bytes = b""
    _short: bool = False

    def add(self, beat: Beat, packed: bool) -> None:
        if self.begin < 0:
            self.begin = beat.cycle
        if self.traced < 0 and beat.leaves_a_trace(packed):
            self.traced = beat.cycle
        if beat.on:
            self.irregular |= beat.hole or self._short
            self._short = beat.short
            self.length += len(beat.on)
            self.crc = zlib.crc32(beat.on, self.crc)
            self.head = (self.head + beat.on)[:HEAD_B]
        self.user |= beat.user
        if beat.last:
            self.end, self.user_end = beat.cycle, beat.user


class GivenPackets:
    """Beats to packets, from reset on and across recordings."""

    def __init__(self, packed: bool) -> None:
        """Begin at reset."""
        self._packed = packed
        self.open = Given(first=True)

    def take(self, beats: Sequence[Beat]) -> Iterator[Given]:
        """Give each packet that ends in these beats."""
        for beat in beats:
            self.open.add(beat, self._packed)
            if beat.last:
                yield self.open
                self.open = Given(first=False)
