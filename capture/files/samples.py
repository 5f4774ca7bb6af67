"""A piece of a sampled capture as it was recorded: one unit a sample, its channels bits of it.

The other form of a capture is `edges.Edges`. Where signals change with every few samples, finding
the edges costs more than looking at the samples, 64 at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from freezeframe.capture.files.edges import PLANE_CHANNELS, EdgeReducer, Edges

__all__ = ["Samples", "edges_of"]


@dataclass(frozen=True, slots=True)
class Samples:
    """Consecutive samples of a capture.

    ``data`` is ``(n,)`` uint8, uint16, uint32 or uint64, one a sample; ``channels[i]`` is bit
    ``bits[i]`` of each, or stays 0 where ``bits[i]`` is -1 (then its name is ``""``). The first is
    sample ``begin_sample`` of the capture.
    """

    data: npt.NDArray[np.unsignedinteger[Any]]
    channels: tuple[str, ...]
    bits: tuple[int, ...]
    samplerate_hz: int
    begin_sample: int

    def __post_init__(self) -> None:
        if self.data.ndim != 1 or self.data.dtype.kind != "u":
            raise ValueError(f"samples of shape {self.data.shape}, {self.data.dtype}")
        width = 8 * self.data.dtype.itemsize
        if len(self.bits) != len(self.channels) or not all(-1 <= bit < width for bit in self.bits):
            raise ValueError(f"bits {self.bits} of {width} for channels {self.channels}")
        # One form for the kernels, for what came from bytes and what did not.
        data = np.ascontiguousarray(self.data).view()
        data.setflags(write=False)
        object.__setattr__(self, "data", data)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def end_sample(self) -> int:
        """The first sample after the piece."""
        return self.begin_sample + len(self.data)

    def masks(self) -> npt.NDArray[np.uint64]:
        """Return the bit of each channel in a sample, ``(channels,)`` uint64; 0 for one not there."""
        return np.array([1 << bit if bit >= 0 else 0 for bit in self.bits], dtype=np.uint64)

    def select(self, probes: Sequence[str | None]) -> Samples:
        """Return the same samples with these channels; None gives a channel ``""`` that stays 0.

        Raises:
            ValueError: a probe is not among the channels.
        """
        missing = [probe for probe in probes if probe is not None and probe not in self.channels]
        if missing:
            raise ValueError(f"no channel {missing[0]}; there is {', '.join(self.channels)}")
        bits = tuple(
            -1 if probe is None else self.bits[self.channels.index(probe)] for probe in probes
        )
        return replace(self, channels=tuple(probe or "" for probe in probes), bits=bits)

    def cut(self, first: int, stop: int) -> Samples:
        """Return ``data[first:stop]`` as a piece of its own."""
        return replace(
            self, data=self.data[first:stop], begin_sample=self.begin_sample + max(first, 0)
        )

    def after(self) -> Samples:
        """Return the empty piece that follows."""
        return self.cut(len(self), len(self))

    def changes(self) -> int:
        """Return how many samples differ in a channel from the one before, the first being one."""
        from freezeframe.capture.files._edge_kernels import count_changes

        if not len(self):
            return 0
        every = np.uint64(sum(1 << bit for bit in self.bits if bit >= 0))
        return 1 + int(count_changes(self.data, every, np.uint64(self.data[0])))

    def edges(self) -> Edges:
        """Return the piece as edges; the first sample is one, also where nothing changed there."""
        there = [place for place, bit in enumerate(self.bits) if bit >= 0]
        high = None
        if there:
            reducer = EdgeReducer(self.data.dtype.itemsize, [self.bits[place] for place in there])
            sample, value = reducer.reduce(self.data)
            if there != list(range(len(there))):
                value, high = _planes(value, there)
        else:
            sample = np.zeros(min(1, len(self)), dtype=np.int64)
            value = np.zeros(len(sample), dtype=np.uint64)
        return Edges(
            sample + self.begin_sample,
            value,
            self.channels,
            self.samplerate_hz,
            self.begin_sample,
            self.end_sample,
            high=high,
        )


def _planes(
    packed: npt.NDArray[np.uint64], places: Sequence[int]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64] | None]:
    """Put bit i to channel ``places[i]``: the low 64 channels, and the high ones if there are any."""
    planes = np.zeros((2, len(packed)), dtype=np.uint64)
    for bit, place in enumerate(places):
        level = packed >> np.uint64(bit) & np.uint64(1)
        planes[place // PLANE_CHANNELS] |= level << np.uint64(place % PLANE_CHANNELS)
    return planes[0], planes[1] if places[-1] >= PLANE_CHANNELS else None


def edges_of(pieces: Iterable[Samples]) -> Iterator[Edges]:
    """Yield pieces that follow each other as edges: the first sample of a capture, then changes only.

    All channels must be there, the same in each piece.
    """
    reducer: EdgeReducer | None = None
    for piece in pieces:
        if reducer is None:
            reducer = EdgeReducer(piece.data.dtype.itemsize, piece.bits)
            reducer.samples = piece.begin_sample
        yield Edges(
            *reducer.reduce(piece.data),
            piece.channels,
            piece.samplerate_hz,
            piece.begin_sample,
            piece.end_sample,
        )
