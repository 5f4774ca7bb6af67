"""An MDIO bus drawn sample by sample for the tests, by its own reading of IEEE 802.3.

It shares nothing with the decoder or its encoder: frames are texts of bits, samples are bytes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

MDC, MDIO = 1, 2  # bits of a sample


def frame_bits(clause: int, op: str, phy: int, reg: int, data: int, *, ta: str = "10") -> str:
    """Return the 32 bits of a frame, in the order of 802.3 22.2.4.5 and 45.3."""
    start = "01" if clause == 22 else "00"
    return f"{start}{op}{phy:05b}{reg:05b}{ta}{data:016b}"


@dataclass
class Bus:
    """Samples of MDC and MDIO. Each bit is put on MDIO while MDC is low, and stands while it
    rises."""

    rng: random.Random
    low: tuple[int, int] = (3, 5)  # samples of MDC low, from .. to
    high: tuple[int, int] = (3, 5)
    glitches: float = 0.0  # share of bits in which MDIO changes for one sample where nobody looks
    samples: bytearray = field(default_factory=bytearray)

    def idle(self, count: int) -> None:
        """Let both lines stand still, the clock low, MDIO pulled up."""
        self.samples += bytes([MDIO]) * count

    def clock(self, bits: str) -> None:
        """Clock bits out."""
        for bit in bits:
            level = MDIO if bit == "1" else 0
            low = [level] * self.rng.randint(*self.low)
            high = [level | MDC] * self.rng.randint(*self.high)
            if self.rng.random() < self.glitches:
                # Not the last low sample, nor the first high one: those make the bit.
                low[0] ^= MDIO
                high[-1] ^= MDIO if len(high) > 1 else 0
            self.samples += bytes(low + high)

    def extra_edge(self) -> None:
        """Let the clock ring once: one rising edge too many."""
        self.samples += bytes([MDC | MDIO, MDIO])


def random_capture(seed: int) -> bytes:
    """Return the samples of a bus with traffic of one of five kinds.

    ``seed % 5``: 0 clean; 1 any timing, glitches on MDIO; 2 short preambles, wrong turnarounds and
    operations; 3 ends inside a frame; 4 a clock edge too many now and then.
    """
    rng = random.Random(seed)
    kind = seed % 5
    bus = Bus(rng)
    if kind == 1:
        bus.low = bus.high = (2, rng.choice((3, 9, 40)))
        bus.glitches = 0.3
    bus.idle(rng.randint(1, 50))
    clauses = rng.choice(((22,), (45,), (22, 45)))
    phys = rng.sample(range(32), rng.choice((1, 3)))
    regs = rng.sample(range(32), rng.choice((1, 4)))
    for _ in range(rng.randint(5, 40)):
        clause = rng.choice(clauses)
        op = rng.choice(("01", "10") if clause == 22 else ("00", "01", "10", "11"))
        ta = "10"
        ones = rng.choice((32, 32, 33, 40, 100))
        if kind == 2:
            ones = rng.choice((17, 18, 25, 31, 32, 40))
            ta = rng.choice(("00", "01", "10", "10", "11"))
            op = rng.choice(("00", "01", "10", "11"))
        data = rng.choice((0, 0xFFFF, rng.getrandbits(16)))
        bits = frame_bits(clause, op, rng.choice(phys), rng.choice(regs), data, ta=ta)
        bus.clock("1" * ones)
        if kind == 4 and rng.random() < 0.2:
            at = rng.randrange(32)
            bus.clock(bits[:at])
            bus.extra_edge()
            bus.clock(bits[at:])
        else:
            bus.clock(bits)
        # One more clock lets the last bit end; without it the decoders must estimate.
        if rng.random() < 0.5:
            bus.clock("1")
        bus.idle(rng.choice((0, 1, 30, 400)))
    if kind == 3:
        bus.clock("1" * 32)
        bus.clock(frame_bits(22, "10", 1, 2, rng.getrandbits(16))[: rng.randint(1, 31)])
    return bytes(bus.samples)
