"""Edges of one line in pieces, and where the bits of an event are among them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges


class LineEdges:
    """What is known of a line from the pieces before."""

    def __init__(self) -> None:
        self.first = -1  # level at the first sample, -1 before it
        self.level = -1  # at the end of the last piece

    def changes(
        self, piece: Edges, channel: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return where the line changes in a piece, and its level from there on, ``(n,)`` each."""
        return self.changes_of(piece.sample, piece.value, channel)

    def changes_of(
        self, sample: npt.NDArray[np.int64], value: npt.NDArray[np.uint64], channel: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """As `changes`, of samples and values."""
        level = (value >> np.uint64(channel) & np.uint64(1)).astype(np.int64)
        if not len(level):
            return sample[:0], level
        if self.level < 0:
            self.first = self.level = int(level[0])
        different = np.diff(level, prepend=self.level) != 0
        self.level = int(level[-1])
        return sample[different], level[different]


def by_place(
    first: npt.NDArray[np.int64],
    first_place: npt.NDArray[np.int64],
    second: npt.NDArray[np.int64],
    second_place: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the rows of both in the order of their places; those of the first before equals."""
    order = np.argsort(np.concatenate([first_place, second_place]), kind="stable")
    merged: npt.NDArray[np.int64] = np.concatenate([first, second])[order]
    return merged


def places_after(
    edges: npt.NDArray[np.int64], begin: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Return the ``count`` edges from each of ``begin`` on, ``(n, count)``.

    Raises:
        ValueError: an event does not begin with an edge, or ends after the last: table and edges
            are not of one capture.
    """
    at = np.searchsorted(edges, begin)[:, np.newaxis] + np.arange(count)
    if len(begin) and (int(at[-1, -1]) >= len(edges) or np.any(edges[at[:, 0]] != begin)):
        raise ValueError("an event whose bits are not among the edges of its clock")
    places: npt.NDArray[np.int64] = edges[at]
    return places
