"""Bytes to samples: units of 1 to 8 bytes, least significant first, in pieces of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class UnitReader:
    """Puts bytes together to whole samples."""

    def __init__(self, unitsize_B: int) -> None:
        """Take samples of so many bytes.

        Raises:
            ValueError: the unit size is not 1..8.
        """
        if not 1 <= unitsize_B <= 8:
            raise ValueError(f"unit size {unitsize_B} B; 1..8 are possible")
        self.unitsize_B = unitsize_B
        self._rest = b""

    @property
    def rest_B(self) -> int:
        """The bytes at the end of what was fed that do not make a whole sample."""
        return len(self._rest)

    def feed(self, data: bytes | memoryview) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the samples in ``data``, ``(n,)``; a cut sample waits for the next call."""
        return widened(self.units(data))

    def units(self, data: bytes | memoryview) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Return the samples in ``data`` as they stand there, without a copy where none was cut.

        ``(n,)`` where a unit is a machine word, else ``(n, unitsize_B)`` uint8; a cut sample waits
        for the next call.
        """
        if self._rest:
            data = self._rest + bytes(data)
        whole_B = len(data) // self.unitsize_B * self.unitsize_B
        self._rest = bytes(data[whole_B:])
        raw = np.frombuffer(data, dtype=np.uint8, count=whole_B)
        if self.unitsize_B in (1, 2, 4, 8):
            return raw.view(np.dtype(f"<u{self.unitsize_B}"))
        return raw.reshape(-1, self.unitsize_B)


def widened(
    units: npt.NDArray[np.unsignedinteger[Any]],
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return units as `UnitReader.units` gives them, each in the next machine word, ``(n,)``."""
    if units.ndim == 1:
        return units
    count, unit_B = units.shape
    width_B = next(width for width in (1, 2, 4, 8) if width >= unit_B)
    wide = np.zeros((count, width_B), dtype=np.uint8)
    wide[:, :unit_B] = units
    return wide.reshape(-1).view(np.dtype(f"<u{width_B}"))
