"""The encoder beside the JTAG decoder: scans to edges, for round trips and simulated chains.

Source: IEEE 1149.1-2013, figure 6-1 (TAP controller).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.sent_levels import edges_of_levels

_TCK, _TMS, _TDI, _TDO = 1, 2, 4, 8  # bits of a value


@dataclass(frozen=True, slots=True)
class JtagScan:
    """A scan of ``bits`` bits; the lowest bit of ``tdi`` and ``tdo`` goes first."""

    ir: bool
    bits: int
    tdi: int
    tdo: int

    def __post_init__(self) -> None:
        if self.bits < 1:
            raise ValueError(f"a scan of {self.bits} bits")
        for name, value in (("tdi", self.tdi), ("tdo", self.tdo)):
            if not 0 <= value < 1 << self.bits:
                raise ValueError(f"{name} {value:#x} does not fit {self.bits} bits")


def encode_scans(
    scans: Sequence[JtagScan], *, samplerate_hz: int, half_period_samples: int = 2
) -> Edges:
    """Return the edges of a chain that begins and ends idle: channels TCK, TMS, TDI, TDO.

    All lines change with the falling edge of TCK.

    Raises:
        ValueError: ``half_period_samples`` is below 1.
    """
    if half_period_samples < 1:
        raise ValueError(f"{half_period_samples} samples a half period")
    pieces = [np.zeros(1, dtype=np.int64)]
    for scan in scans:
        # Run-Test/Idle, Select-DR, (Select-IR,) Capture, Shift ...
        head = [_TMS, _TMS, 0, 0] if scan.ir else [_TMS, 0, 0]
        data = _bits(scan.tdi, scan.bits) * _TDI | _bits(scan.tdo, scan.bits) * _TDO
        data[-1] |= _TMS
        # ... Exit1, Update, Run-Test/Idle.
        pieces += [np.array(head), data, np.array([_TMS, 0])]
    cycles = np.concatenate(pieces)
    levels = np.append(np.stack([cycles, cycles | _TCK], axis=1).reshape(-1), 0).astype(np.uint64)
    return edges_of_levels(levels, half_period_samples, ("TCK", "TMS", "TDI", "TDO"), samplerate_hz)


def _bits(value: int, count: int) -> npt.NDArray[np.int64]:
    data = np.frombuffer(value.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(data, bitorder="little")[:count].astype(np.int64)
