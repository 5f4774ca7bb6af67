"""The clocks of a bus in samples of 3, 5, 6 or 7 bytes, as they stand in a file.

A bus of 32 lines has a 33rd for its clock. To widen such samples to 8 B costs more than to decode
them, and 8 B more of memory's time than 5. So all bytes are looked at for the clock's bit, 64 at
once, and those of the right place in a sample are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.plane_kernels import LANES, bits_of, differs

__all__ = ["PackedLayout", "packed_layout", "packed_levels"]


class PackedLayout(NamedTuple):
    """Where the clock is: its ``bit`` in a byte, and for each 64 bytes of 64 samples, ``(unit_B,)``,
    which of them hold it (``places``) and how many those are."""

    bit: np.uint64
    places: npt.NDArray[np.uint64]
    counts: npt.NDArray[np.uint64]


def packed_layout(unit_B: int, watch: int) -> PackedLayout | None:
    """Return the layout for a clock that is bit ``watch`` of samples of so many bytes.

    Returns:
        None where a sample is a machine word, or ``watch`` more lines than one.
    """
    if unit_B in (1, 2, 4, 8) or watch.bit_count() != 1:
        return None
    byte, bit = divmod(watch.bit_length() - 1, 8)
    held = [
        [lane for lane in range(LANES) if (LANES * part + lane) % unit_B == byte]
        for part in range(unit_B)
    ]
    places = np.array([sum(1 << lane for lane in lanes) for lanes in held], dtype=np.uint64)
    counts = np.array([len(lanes) for lanes in held], dtype=np.uint64)
    return PackedLayout(np.uint64(1 << bit), places, counts)


@numba.njit(inline="always")
def packed_levels(raw: Any, layout: Any, first_B: Any) -> Any:
    """Return the plane of the clock in 64 samples that begin at byte ``first_B`` of ``raw``."""
    bit, places, counts = layout
    levels = np.uint64(0)
    shift = np.uint64(0)
    for part in range(np.uint64(len(places))):
        levels |= bits_of(differs(raw, first_B, bit, np.uint64(0)), places[part]) << shift
        shift += counts[part]
        first_B += np.uint64(LANES)
    return levels
