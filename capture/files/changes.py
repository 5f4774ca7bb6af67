"""Changes of single signals, in the order of time, as edges of all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files._change_kernels import CHANGE_STATE, apply_changes
from freezeframe.capture.files.edges import Bus, Edges

__all__ = ["ChangeMerger"]


class ChangeMerger:
    """Makes pieces of edges; several changes at one time are one edge.

    The first edge stands at sample 0 and holds what is given at the first time, whenever that is;
    a signal that is first given later is 0 until then.
    """

    def __init__(
        self, channels: Sequence[str], samplerate_hz: int, buses: Sequence[Bus] = ()
    ) -> None:
        self._channels = tuple(channels)
        self._rate_hz = samplerate_hz
        self._buses = tuple(bus for bus in buses if set(bus.channels) <= set(channels))
        self._state = np.zeros(1, dtype=CHANGE_STATE)
        self._begin = 0

    def feed(
        self,
        sample: npt.NDArray[np.int64],
        mask: npt.NDArray[np.uint64],
        value: npt.NDArray[np.uint64],
    ) -> Iterator[Edges]:
        """Yield at most one piece: what is certain after these changes.

        Raises:
            ValueError: a change is earlier than the one before; ``args[1]`` is its place.
        """
        if not len(sample):
            return
        edge = np.empty(len(sample), dtype=np.int64)
        word = np.empty(len(sample), dtype=np.uint64)
        count = apply_changes((sample, mask, value), self._state, edge, word)
        if count < 0:
            raise ValueError("time goes back", -1 - count)
        # More may come at the last time, so the piece ends before it.
        end = int(self._state["time"][0])
        if end > self._begin:
            yield self._piece(edge[:count].copy(), word[:count].copy(), end)

    def finish(self, end_sample: int) -> Iterator[Edges]:
        """Yield the last piece; the capture ends at ``end_sample`` or after the last change."""
        state = self._state[0]
        written = state["stage"] == 2
        changed = not written or state["word"] != state["written"]
        at = int(state["time"]) if written else 0
        edge = np.array([at] if changed else [], dtype=np.int64)
        word = np.array([state["word"]] if changed else [], dtype=np.uint64)
        last = int(state["time"]) + 1 if changed else 0
        end = max(end_sample, last, self._begin)
        if end > self._begin:
            yield self._piece(edge, word, end)

    def _piece(
        self, sample: npt.NDArray[np.int64], value: npt.NDArray[np.uint64], end: int
    ) -> Edges:
        begin, self._begin = self._begin, end
        return Edges(sample, value, self._channels, self._rate_hz, begin, end, self._buses)
