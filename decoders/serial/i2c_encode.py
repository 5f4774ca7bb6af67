"""The encoder beside the I2C decoder: transfers to edges, for round trips and simulated buses.

Source: NXP UM10204 rev. 7.0, 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.sent_levels import edges_of_levels

_SCL, _SDA = 1, 2  # bits of a value


@dataclass(frozen=True, slots=True)
class I2cTransfer:
    """A START, an address and data. ``naks`` are numbers of bytes, the address first, that are not
    acknowledged; without ``stop`` the next transfer begins with a repeated START."""

    address: int
    read: bool
    data: bytes
    ten_bit: bool = False
    naks: tuple[int, ...] = ()
    stop: bool = True

    def bytes_on_wire(self) -> bytes:
        """Return the bytes in the order of sending, the address first.

        A read with a 10-bit address has the upper part only (UM10204 3.1.11).

        Raises:
            ValueError: the address does not fit its bits.
        """
        bits = 10 if self.ten_bit else 7
        if not 0 <= self.address < 1 << bits:
            raise ValueError(
                f"address {self.address:#x} does not fit {bits} bits (0..{(1 << bits) - 1:#x})"
            )
        if not self.ten_bit:
            return bytes([self.address << 1 | self.read]) + self.data
        first = 0xF0 | self.address >> 7 & 6 | self.read
        low = b"" if self.read else bytes([self.address & 0xFF])
        return bytes([first]) + low + self.data


def encode_transfers(
    transfers: Sequence[I2cTransfer],
    *,
    samplerate_hz: int,
    quarter_samples: int = 2,
    idle_quarters: int = 4,
) -> Edges:
    """Return the edges of a bus that carries the transfers, with channels SCL and SDA.

    Args:
        quarter_samples: samples in a quarter of a clock period; SDA changes in the middle of the
            low half.
        idle_quarters: quarters in which both lines are high, before and after transfers.
    Raises:
        ValueError: a length is below 1, or an address does not fit.
    """
    if quarter_samples < 1 or idle_quarters < 1:
        raise ValueError(f"{quarter_samples} samples a quarter, {idle_quarters} idle quarters")
    idle = [_SCL | _SDA] * idle_quarters
    levels = np.array(idle)
    pieces = [levels]
    for transfer in transfers:
        wire = transfer.bytes_on_wire()
        values = np.frombuffer(wire, dtype=np.uint8)
        bits = np.zeros((len(wire), 9), dtype=np.int64)
        bits[:, :8] = np.unpackbits(values).reshape(-1, 8)
        bits[list(transfer.naks), 8] = 1
        data = bits.reshape(-1) * _SDA
        # A bit: SCL low with the old SDA, low with the new, then high for two quarters. The old
        # SDA of the first bit is 0, from the START.
        before = np.concatenate(([0], data[:-1]))
        quarters = np.stack([before, data, data | _SCL, data | _SCL], axis=1).reshape(-1)
        # SDA falls while SCL is high.
        begin = [_SCL | _SDA, _SCL | _SDA, _SCL, _SCL]
        end = [int(data[-1]), 0, _SCL, _SCL | _SDA, *idle]
        if not transfer.stop:
            end = [int(data[-1]), _SDA]
        pieces += [np.array(begin), quarters, np.array(end)]
    levels = np.concatenate(pieces).astype(np.uint64)
    return edges_of_levels(levels, quarter_samples, ("SCL", "SDA"), samplerate_hz)
