"""Channels of one capture that were read as two streams, put beside each other again.

A reader gives at most 64 channels; a 64-bit bus with its clock and controls has more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import PLANE_CHANNELS, Edges


def beside(low: Iterator[Edges], high: Iterator[Edges]) -> Iterator[Edges]:
    """Yield pieces with the channels of both streams: those of ``high`` are `Edges.high`.

    A reader may end a stream with the last change of its own channels; they then stay as they are.

    Args:
        low: pieces of exactly 64 channels.
        high: pieces of up to 64 other channels of the same capture, cut anywhere.
    Raises:
        ValueError: ``low`` has another number of channels.
    """
    left, right = planes = _Plane(low), _Plane(high)
    if len(left.piece.channels) != PLANE_CHANNELS:
        raise ValueError(f"{len(left.piece.channels)} low channels, not {PLANE_CHANNELS}")
    begin = 0
    while not (left.over and right.over):
        end = min(plane.piece.end_sample for plane in planes if not plane.over)
        sample = np.union1d(left.changes(end), right.changes(end))
        yield replace(
            left.piece,
            sample=sample,
            value=left.at(sample),
            high=right.at(sample),
            channels=left.piece.channels + right.piece.channels,
            buses=left.piece.buses + right.piece.buses,
            begin_sample=begin,
            end_sample=end,
        )
        begin = end
        for plane in planes:
            if not plane.over and plane.piece.end_sample == end:
                plane.go_on()


class _Plane:
    """One stream: the piece at hand, and the value that holds before it."""

    def __init__(self, pieces: Iterator[Edges]) -> None:
        self._pieces = pieces
        self._held = np.uint64(0)
        self._done = 0
        self.piece = next(pieces)
        self.over = False

    def changes(self, end: int) -> npt.NDArray[np.int64]:
        """Return the samples of the changes before ``end`` that were not given yet."""
        first, self._done = self._done, int(np.searchsorted(self.piece.sample, end))
        return self.piece.sample[first : self._done]

    def at(self, sample: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        """Return the value that holds at each sample."""
        values = np.concatenate(([self._held], self.piece.value))
        return np.asarray(values[np.searchsorted(self.piece.sample, sample, side="right")])

    def go_on(self) -> None:
        """Take the next piece, if there is one."""
        piece = next(self._pieces, None)
        if piece is None:
            self.over = True
            return
        if len(self.piece):
            self._held = self.piece.value[-1]
        self.piece, self._done = piece, 0
