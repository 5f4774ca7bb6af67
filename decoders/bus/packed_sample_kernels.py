"""The clocks of a bus in samples of 3, 5, 6 or 7 bytes, as they stand in a file.

A bus of 32 lines has a 33rd for its clock. To widen such samples to 8 B costs more than to decode
them, and 8 B more of memory's time than 5. So all bytes are looked at for the clock's bit, 64 at
once, and those of the right place in a sample are kept.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import has_bit


class PackedLayout(NamedTuple):
    """Where the clock is: its ``bit`` in a byte, the ``byte`` of a sample, and the bytes of one."""

    bit: np.uint64
    byte: np.uint64
    unit_B: np.uint64


def packed_layout(unit_B: int, watch: int) -> PackedLayout | None:
    """Return the layout for a clock that is bit ``watch`` of samples of so many bytes.

    Returns:
        None where a sample is a machine word, or ``watch`` more lines than one.
    """
    if unit_B in (1, 2, 4, 8) or watch.bit_count() != 1:
        return None
    byte, bit = divmod(watch.bit_length() - 1, 8)
    return PackedLayout(np.uint64(1 << bit), np.uint64(byte), np.uint64(unit_B))


@njit(inline="always")
def packed_levels(raw: Any, layout: Any, first_B: Any) -> Any:
    """Return the plane of the clock in 64 samples that begin at byte ``first_B`` of ``raw``."""
    bit, byte, unit_B = layout
    return has_bit(raw, first_B + byte, unit_B, bit)
