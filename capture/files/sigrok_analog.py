"""Analog channels of sigrok session files as logic: 32-bit voltages in chunks, through a threshold.

Each channel N of device 1 has chunks ``analog-1-N-1``, ``analog-1-N-2`` and so on of little-endian
single-precision numbers, one a sample, at the rate of the logic.

Source: sigrok wiki, File format:Sigrok/v2; files that sigrok-cli 0.7.2 writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files._zip_members import ZipMembers
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.levels import edges_of_levels
from freezeframe.capture.files.sigrok_sr import SrHeader
from freezeframe.capture.files.source import ReadSettings

_SAMPLE_B = 4
_PIECE_B = 1 << 20


def read_analog(
    path: str | Path,
    header: SrHeader,
    channel: str,
    rate_hz: int,
    settings: ReadSettings,
    max_samples: int,
) -> Iterator[Edges]:
    """Yield one channel as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: it has more than ``max_samples``.
        CaptureFormatError: a chunk is damaged or cut, or there is none; for the values this comes
            when they are reached, so take no result before the last piece.
    """
    there = _Numbers(path, header.analog[channel], channel)
    yield from edges_of_levels(path, there.read(), (channel,), rate_hz, settings, max_samples)
    if not there.count:
        raise CaptureFormatError(f"{path}: {channel}: there is no voltage in it; capture again")


class _Numbers:
    """The voltages of a channel, ``(n, 1)`` a piece; ``count`` of them were read."""

    def __init__(self, path: str | Path, chunks: Sequence[str], channel: str) -> None:
        self._path, self._chunks, self._channel = path, chunks, channel
        self.count = 0

    def read(self) -> Iterator[npt.NDArray[np.float32]]:
        rest = b""
        with ZipMembers(self._path) as members:
            for data in members.stream(self._chunks):
                for at in range(0, len(data), _PIECE_B):
                    raw = rest + data[at : at + _PIECE_B]
                    whole_B = len(raw) // _SAMPLE_B * _SAMPLE_B
                    rest = raw[whole_B:]
                    self.count += whole_B // _SAMPLE_B
                    yield np.frombuffer(raw[:whole_B], "<f4").reshape(-1, 1)
        if rest:
            raise CaptureFormatError(
                f"{self._path}: {self._channel}: the voltages end with {len(rest)} B of {_SAMPLE_B}; the "
                "last chunk is cut"
            )
