"""The encoder beside the MDIO decoder: frames to edges, for round trips and simulated buses.

Source: IEEE 802.3-2018, 22.2.4.5 (management frame structure), 45.3 (the same for clause 45).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.sent_levels import edges_of_levels

_OP_BITS = {
    22: {"write": 0b01, "read": 0b10},
    45: {"address": 0b00, "write": 0b01, "post-read-increment": 0b10, "read": 0b11},
}
_MDC, _MDIO = 1, 2  # bits of a value


@dataclass(frozen=True, slots=True)
class MdioFrame:
    """One frame as it stands on the wire. ``reg`` is the device address in clause 45."""

    clause: int
    op: str
    phy: int
    reg: int
    data: int
    ta: int = 0b10
    preamble: int = 32

    def __post_init__(self) -> None:
        if self.op not in _OP_BITS.get(self.clause, {}):
            raise ValueError(f"clause {self.clause} has no operation {self.op!r}")
        for name, bits in (("phy", 5), ("reg", 5), ("data", 16), ("ta", 2)):
            value = getattr(self, name)
            if not 0 <= value < 1 << bits:
                raise ValueError(f"{name} {value} does not fit {bits} bits (0..{(1 << bits) - 1})")
        if self.preamble < 0:
            raise ValueError(f"preamble of {self.preamble} bits")


def frame_bits(frame: MdioFrame) -> list[int]:
    """Return the bits of a frame in the order of sending, the preamble first."""
    fields = (
        (1 if frame.clause == 22 else 0, 2),
        (_OP_BITS[frame.clause][frame.op], 2),
        (frame.phy, 5),
        (frame.reg, 5),
        (frame.ta, 2),
        (frame.data, 16),
    )
    bits = [1] * frame.preamble
    for value, width in fields:
        bits += [value >> bit & 1 for bit in reversed(range(width))]
    return bits


def encode_frames(
    frames: Iterable[MdioFrame],
    *,
    samplerate_hz: int,
    half_period_samples: int = 5,
    idle_bits: int = 1,
) -> Edges:
    """Return the edges of a bus that carries the frames, with channels MDC and MDIO.

    MDIO changes with the falling edge of MDC, half a period before the rising edge that samples it.

    Args:
        half_period_samples: samples that MDC stays low, and then high, in each bit.
        idle_bits: ones clocked after each frame.
    Raises:
        ValueError: ``half_period_samples`` is below 1, or ``idle_bits`` below 0.
    """
    if half_period_samples < 1 or idle_bits < 0:
        raise ValueError(f"{half_period_samples} samples a half period, {idle_bits} idle bits")
    bits = [bit for frame in frames for bit in (*frame_bits(frame), *repeat(1, idle_bits))]
    # Before the first bit and after the last, one half period of a still bus.
    levels = np.array([_MDIO, *(bit * _MDIO | mdc for bit in bits for mdc in (0, _MDC)), _MDIO])
    return edges_of_levels(
        levels.astype(np.uint64), half_period_samples, ("MDC", "MDIO"), samplerate_hz
    )
