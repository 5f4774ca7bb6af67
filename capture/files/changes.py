"""Changes of single signals, in the order of time, as edges of all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files._change_kernels import CHANGE_STATE, apply_changes
from freezeframe.capture.files.edges import Bus, Edges

_NEVER = int(np.iinfo(np.int64).max)


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


class BlockChanges(ABC):
    """The changes of one source of signals, read in blocks.

    Attributes:
        sample: of the changes that are here, rising; ``value`` what the signals are there, in the
            bits of ``mask``.
        newest: the sample up to which all changes have been here.
    """

    def __init__(self, mask: int) -> None:
        self.mask = np.uint64(mask)
        self.sample = np.empty(0, dtype=np.int64)
        self.value = np.empty(0, dtype=np.uint64)
        self.newest = -1

    @property
    @abstractmethod
    def unread(self) -> bool:
        """Whether there is more to read."""

    @abstractmethod
    def read_block(self) -> None:
        """Read the next block into ``sample``, ``value`` and ``newest``; it may hold no change."""

    @property
    def left(self) -> bool:
        """Whether there is a change that was not taken yet."""
        return self.unread or bool(len(self.sample))

    @property
    def horizon(self) -> int:
        """The sample up to which all changes are here."""
        return self.newest if self.unread else _NEVER

    def fill(self) -> None:
        """Read blocks until there is a change here."""
        while not len(self.sample) and self.unread:
            self.read_block()

    def take(
        self, horizon: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return and forget the changes up to ``horizon``: sample, mask, value."""
        count = int(np.searchsorted(self.sample, horizon, side="right"))
        sample, self.sample = self.sample[:count], self.sample[count:]
        value, self.value = self.value[:count], self.value[count:]
        return sample, np.full(count, self.mask), value


def merge_blocks(
    sources: Sequence[BlockChanges],
    merger: ChangeMerger,
    end: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Edges]:
    """Yield the changes of several sources as edges, in the memory of a block of each; ``end`` is the
    end of the capture."""
    while any(source.left for source in sources):
        for source in sources:
            source.fill()
        # Up to here nothing can come any more that is not yet here.
        horizon = min(source.horizon for source in sources)
        parts = [source.take(horizon) for source in sources]
        sample, mask, value = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(sample, kind="stable")
        yield from merger.feed(sample[order], mask[order], value[order])
        if progress is not None:
            progress(min(horizon, end), end)
    yield from merger.finish(end)
