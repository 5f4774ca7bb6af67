"""A piece of a sampled capture as it was recorded: one unit a sample, its channels bits of it.

The other form of a capture is `edges.Edges`. Where signals change with every few samples, finding
the edges costs more than looking at the samples, 64 at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files._edge_kernels import count_changes
from freezeframe.capture.files.edges import PLANE_CHANNELS, EdgeReducer, Edges
from freezeframe.capture.files.units import widened

_LOOK = 1 << 18  # samples that are looked at for changes at once; in the second cache when widened


@dataclass(frozen=True, slots=True)
class Samples:
    """Consecutive samples of a capture.

    ``units`` is ``(n,)`` uint8, uint16, uint32 or uint64, one a sample, or ``(n, unit_B)`` uint8
    where a sample has 3, 5, 6 or 7 bytes, the least significant first; ``channels[i]`` is bit
    ``bits[i]`` of each, or stays 0 where ``bits[i]`` is -1 (then its name is ``""``). The first is
    sample ``begin_sample`` of the capture.
    """

    units: npt.NDArray[np.unsignedinteger[Any]]
    channels: tuple[str, ...]
    bits: tuple[int, ...]
    samplerate_hz: int
    begin_sample: int
    _wide: list[npt.NDArray[np.unsignedinteger[Any]]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        units = self.units
        packed = units.ndim == 2 and units.dtype == np.uint8 and units.shape[1] in (3, 5, 6, 7)
        if not packed and (units.ndim != 1 or units.dtype.kind != "u"):
            raise ValueError(f"samples of shape {units.shape}, {units.dtype}")
        width = 8 * self.unit_B
        inside = min(self.bits, default=0) >= -1 and max(self.bits, default=0) < width
        if len(self.bits) != len(self.channels) or not inside:
            raise ValueError(f"bits {self.bits} of {width} for channels {self.channels}")
        object.__setattr__(self, "units", _fixed(units))

    @property
    def unit_B(self) -> int:
        """The bytes of a sample."""
        return self.units.itemsize if self.units.ndim == 1 else self.units.shape[1]

    @property
    def data(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """The samples, ``(n,)`` uint8, uint16, uint32 or uint64: widened when first asked for where
        a unit is no machine word, which takes longer than most decoders."""
        if self.units.ndim == 1:
            return self.units
        if not self._wide:
            self._wide.append(_fixed(widened(self.units)))
        return self._wide[0]

    def __len__(self) -> int:
        return len(self.units)

    @property
    def end_sample(self) -> int:
        """The first sample after the piece."""
        return self.begin_sample + len(self.units)

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
        return self._part(self.units[first:stop], self.begin_sample + max(first, 0))

    def ends(self) -> Samples:
        """Return the first and the last sample side by side, as a piece of two."""
        return self._part(self.units[[0, -1]], self.begin_sample)

    def _part(self, units: npt.NDArray[np.unsignedinteger[Any]], begin_sample: int) -> Samples:
        # What is true of the whole is true of a part: not checked again, which takes ten times as long.
        part = object.__new__(Samples)
        for name, value in (
            ("units", units),
            ("channels", self.channels),
            ("bits", self.bits),
            ("samplerate_hz", self.samplerate_hz),
            ("begin_sample", begin_sample),
            ("_wide", []),
        ):
            object.__setattr__(part, name, value)
        return part

    def after(self) -> Samples:
        """Return the empty piece that follows."""
        return self.cut(len(self), len(self))

    def changes(self, most: int | None = None) -> int:
        """Return how many samples differ in a channel from the one before, the first being one.

        With ``most``, no further than to that many: it is the answer where there are more.
        """
        if not len(self):
            return 0
        every = np.uint64(sum(1 << bit for bit in self.bits if bit >= 0))
        count = 1
        for begin in range(0, len(self), _LOOK):
            # Units that change often are not widened for this but for the first look.
            look = slice(begin, begin + _LOOK)
            data = self.data[look] if begin else _fixed(widened(self.units[look]))
            before = np.uint64(self.data[begin - 1] if begin else data[0])
            count += int(count_changes(data, every, before))
            if most is not None and count >= most:
                return most
        return count

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


def _fixed(
    data: npt.NDArray[np.unsignedinteger[Any]],
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return a view that cannot be written: one form for the kernels, wherever it came from."""
    view = np.ascontiguousarray(data).view()
    view.setflags(write=False)
    return view


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
