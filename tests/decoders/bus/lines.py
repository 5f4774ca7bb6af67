"""The lines of a PCI or PCI-X bus, clock by clock, and the capture that an analyzer makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from freezeframe.capture.files.edges import Edges

RATE_HZ = 500_000_000
# The lines of the upper half, without which a bus is of 32 bits.
EXTENSION = ["req64", "ack64", "par64"]
EXTENSION += [f"cbe{bit}" for bit in range(4, 8)] + [f"ad{bit}" for bit in range(32, 64)]


@dataclass(frozen=True, slots=True)
class Lines:
    """What is on the bus at one rising edge of the clock; True is asserted, whatever the level."""

    frame: bool = False
    irdy: bool = False
    trdy: bool = False
    devsel: bool = False
    stop: bool = False
    ad: int = 0
    cbe: int = 0xFF  # levels, as on the wires
    par: int = 0
    par64: int = 0
    perr: bool = False
    serr: bool = False
    lock: bool = False
    req64: bool = False
    ack64: bool = False
    gnt: bool = True
    rst: bool = False
    idsel: int = 0


_LOW = (
    "frame",
    "irdy",
    "trdy",
    "devsel",
    "stop",
    "perr",
    "serr",
    "lock",
    "req64",
    "ack64",
    "gnt",
    "rst",
)


def even_parity(ad: int, cbe: int) -> int:
    """Return the bit that makes the number of ones even (PCI 3.0, 3.7.1)."""
    return (ad.bit_count() + cbe.bit_count()) & 1


def parities(clocks: Sequence[Lines]) -> list[Lines]:
    """Return the clocks with PAR and PAR64 one clock after what they protect."""
    before = [Lines(), *clocks]
    return [
        replace(
            now,
            par=even_parity(was.ad & 0xFFFF_FFFF, was.cbe & 0xF),
            par64=even_parity(was.ad >> 32, was.cbe >> 4),
        )
        for was, now in zip(before, clocks, strict=False)
    ]


def _words(clocks: Sequence[Lines], places: Mapping[str, int]) -> list[int]:
    """Return what all lines but the clock are at each clock, each at its place."""
    vectors = ("ad", "cbe")
    # Of a vector the bits that stand in the order of their places are taken at once.
    runs: list[tuple[str, int, int, int]] = []  # name, first bit, place, bits
    for name, place in places.items():
        vector = next((prefix for prefix in vectors if name.startswith(prefix)), None)
        if vector is None:
            runs.append((name, 0, place, 1))
            continue
        bit = int(name.removeprefix(vector))
        before = runs[-1] if runs else ("", 0, 0, 0)
        if before == (vector, bit - before[3], place - before[3], before[3]):
            runs[-1] = (vector, before[1], before[2], before[3] + 1)
        else:
            runs.append((vector, bit, place, 1))
    words = []
    for lines in clocks:
        word = 0
        for name, bit, place, bits in runs:
            value = int(getattr(lines, name))
            if name in _LOW:
                value = 1 - value
            word |= (value >> bit & (1 << bits) - 1) << place
        words.append(word)
    return words


class Capture:
    """Samples of a bus: the clock low and then high, the lines changing after its rising edge."""

    def __init__(self, clocks: Sequence[Lines], half: int = 4, delay: int = 2) -> None:
        """Draw ``2 * half`` samples a clock; lines change ``delay`` samples after the edge."""
        self.clocks = list(clocks)
        self.half = half
        self.delay = delay
        self.samples = 2 * half * (len(clocks) + 1)

    def edge(self, clock: int) -> int:
        """Return the sample of the rising edge of a clock; of one more than there are, the end."""
        if clock >= len(self.clocks):
            return self.samples
        return self.half + 2 * self.half * clock

    def edges(self, channels: Sequence[str], missing: Sequence[str] = ()) -> Edges:
        """Return the capture with these channels, of which some were not connected."""
        there = [name for name in channels if name not in missing]
        places = {name: channels.index(name) for name in there}
        clk = 1 << places.pop("clk")
        mask = sum(1 << place for place in places.values())
        words = _words(self.clocks, places)
        changes = [(0, mask, words[0]), (0, clk, 0)]
        for number, word in enumerate(words):
            at = self.edge(number)
            changes += [(at, clk, clk), (at + self.half, clk, 0)]
            if number:
                changes.append((self.edge(number - 1) + self.delay, mask, word))
        level = 0
        found: dict[int, int] = {}
        for at, bits, value in sorted(changes):
            level = level & ~bits | value
            found[at] = level
        kept = [0, *(now for was, now in pairwise(found) if found[now] != found[was])]
        low = np.array([found[at] & (1 << 64) - 1 for at in kept], dtype=np.uint64)
        high = np.array([found[at] >> 64 for at in kept], dtype=np.uint64)
        names = tuple(name.upper() if name in there else "" for name in channels)
        return Edges(
            np.array(kept, dtype=np.int64),
            low,
            names,
            RATE_HZ,
            0,
            self.samples,
            high=high if any(names[64:]) else None,
        )
