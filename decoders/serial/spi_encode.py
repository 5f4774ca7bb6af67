"""The encoder beside the SPI decoder: transfers to edges, for round trips and simulated buses.

Source: Motorola SPI Block Guide V04.01, 4.3 (clock phase and polarity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.sent_levels import edges_of_levels

_CLK, _MISO, _MOSI, _CS = 1, 2, 4, 8  # bits of a value


@dataclass(frozen=True, slots=True)
class SpiTransfer:
    """Words that are sent and received while the chip is selected; as many of each."""

    mosi: Sequence[int]
    miso: Sequence[int]

    def __post_init__(self) -> None:
        if len(self.mosi) != len(self.miso):
            raise ValueError(f"{len(self.mosi)} words to the chip, {len(self.miso)} from it")


def encode_transfers(
    transfers: Sequence[SpiTransfer],
    *,
    samplerate_hz: int,
    mode: int = 0,
    word_bits: int = 8,
    lsb_first: bool = False,
    half_period_samples: int = 2,
    idle_halves: int = 2,
    active_low: bool = True,
) -> Edges:
    """Return the edges of a bus that carries the transfers: channels CLK, MISO, MOSI, CS.

    Data changes half a period before the edge that samples it.

    Args:
        idle_halves: half periods for which the bus stands still, before, between and after
            transfers, and between select and clock.
    Raises:
        ValueError: a word does not fit ``word_bits``, or a length is below 1.
    """
    if half_period_samples < 1 or idle_halves < 1:
        raise ValueError(f"{half_period_samples} samples a half period, {idle_halves} idle halves")
    idle = _CLK if mode >= 2 else 0
    off = _CS if active_low else 0
    pieces = [np.full(idle_halves, idle | off)]
    for transfer in transfers:
        data = _bits(transfer.miso, word_bits, lsb_first) * _MISO
        data |= _bits(transfer.mosi, word_bits, lsb_first) * _MOSI
        still = np.full(idle_halves, idle | _CS ^ off)
        # Of each bit the half before its sampling edge, and the half after.
        before, after = (idle, idle ^ _CLK) if mode in (0, 2) else (idle ^ _CLK, idle)
        halves = np.stack([data | before, data | after], axis=1).reshape(-1) | _CS ^ off
        pieces += [still, halves, still, np.full(idle_halves, idle | off)]
    levels = np.concatenate(pieces).astype(np.uint64)
    return edges_of_levels(
        levels, half_period_samples, ("CLK", "MISO", "MOSI", "CS"), samplerate_hz
    )


def _bits(words: Sequence[int], word_bits: int, lsb_first: bool) -> npt.NDArray[np.int64]:
    """Return the bits in the order of sending."""
    # numpy takes bytes for a text.
    values = np.asarray(list(words) if isinstance(words, bytes) else words, dtype=np.int64)
    if len(values) and not 0 <= values.min() <= values.max() < 1 << word_bits:
        raise ValueError(
            f"words {values.min()}..{values.max()} do not fit {word_bits} bits "
            f"(0..{(1 << word_bits) - 1})"
        )
    places = np.arange(word_bits)
    if not lsb_first:
        places = places[::-1]
    return (values[:, None] >> places & 1).reshape(-1)
