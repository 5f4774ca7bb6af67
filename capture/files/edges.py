"""Sampled signals as edges: the first sample, then one (sample index, new value) for each change.

The cost of everything that follows is that of the edges, not of the samples. A capture comes in
pieces, so that its length does not decide the memory it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files._edge_kernels import changes, count_changes, gather_bits
from freezeframe.capture.files.units import UnitReader

PS_PER_S = 10**12
MAX_SAMPLERATE_HZ = PS_PER_S  # one sample a picosecond, the resolution of t_ps
NO_RATE = 0  # the rate of a capture that has none: its times are numbers of samples
PLANE_CHANNELS = 64  # of a plane of values
_PS_PER_US = 10**6
_MAX_INT64 = 2**63 - 1
_MAX_S = _MAX_INT64 // PS_PER_S


@dataclass(frozen=True, slots=True)
class Bus:
    """Channels that are one number: their names, the least significant first."""

    name: str
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edges:
    """A piece of a sampled capture, as changes.

    ``sample`` is ``(n,)`` int64, rising, counted from the start of the capture; ``value`` is
    ``(n,)`` uint64, bit i = ``channels[i]``. Of the channels from number 64 on, at most 64 more,
    ``high`` is the same: bit i = ``channels[64 + i]``; None where none of them is there. The first
    piece of a capture begins with the value at sample 0; a later piece holds changes only. The
    piece covers the samples ``[begin_sample, end_sample)``, also those after its last change.
    ``samplerate_hz`` is `NO_RATE` where the capture has none.
    ``buses`` says which channels belong together.
    """

    sample: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    channels: tuple[str, ...]
    samplerate_hz: int
    begin_sample: int
    end_sample: int
    buses: tuple[Bus, ...] = ()
    high: npt.NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        if self.sample.shape != self.value.shape or self.sample.ndim != 1:
            raise ValueError(f"sample {self.sample.shape} and value {self.value.shape} differ")
        if not 1 <= len(self.channels) <= 2 * PLANE_CHANNELS:
            raise ValueError(f"{len(self.channels)} channels; 1..{2 * PLANE_CHANNELS} are possible")
        if self.high is None and any(self.channels[PLANE_CHANNELS:]):
            raise ValueError(f"{len(self.channels)} channels, but no values of the last ones")
        if self.high is not None and self.high.shape != self.value.shape:
            raise ValueError(f"value {self.value.shape} and high {self.high.shape} differ")
        _check_samplerate(self.samplerate_hz)

    def __len__(self) -> int:
        return len(self.sample)

    @property
    def total_samples(self) -> int:
        """The samples that the piece covers."""
        return self.end_sample - self.begin_sample

    def after(self) -> Edges:
        """Return the empty piece that follows."""
        return replace(
            self,
            sample=self.sample[:0],
            value=self.value[:0],
            high=None if self.high is None else self.high[:0],
            begin_sample=self.end_sample,
        )

    def t_ps(self) -> npt.NDArray[np.int64]:
        """Return the time of each edge, picoseconds from the start of the capture."""
        return samples_to_ps(self.sample, self.samplerate_hz)

    def select(self, probes: Sequence[str | None]) -> Edges:
        """Return these probes alone, in this order; None gives a channel ``""`` that stays 0.

        An edge that changes none of them is gone, except the first of the piece: it stands as a
        value that repeats the one before, which a decoder must take as no change.

        Raises:
            ValueError: a probe is not among the channels.
        """
        if tuple(probes) == self.channels:
            return self
        missing = [probe for probe in probes if probe is not None and probe not in self.channels]
        if missing:
            raise ValueError(f"no channel {missing[0]}; there is {', '.join(self.channels)}")
        value, high = self._gather(probes[:PLANE_CHANNELS]), None
        keep = np.ones(len(value), dtype=np.bool_)
        np.not_equal(value[1:], value[:-1], out=keep[1:])
        if any(probes[PLANE_CHANNELS:]):
            high = self._gather(probes[PLANE_CHANNELS:])
            keep[1:] |= high[1:] != high[:-1]
            high = high[keep]
        return replace(
            self,
            sample=self.sample[keep],
            value=value[keep],
            high=high,
            channels=tuple(probe or "" for probe in probes),
            buses=tuple(bus for bus in self.buses if set(bus.channels) <= set(probes)),
        )

    def bus(self, name: str) -> npt.NDArray[np.uint64]:
        """Return the number on a bus at each edge, ``(n,)`` uint64.

        Raises:
            ValueError: there is no such bus.
        """
        for bus in self.buses:
            if bus.name == name:
                return self._gather(bus.channels)
        there = ", ".join(bus.name for bus in self.buses)
        raise ValueError(f"no bus {name}; there is {there or 'none'}")

    def _gather(self, probes: Sequence[str | None]) -> npt.NDArray[np.uint64]:
        value = np.zeros_like(self.value)
        for bit, probe in enumerate(probes):
            if probe is not None:
                at = self.channels.index(probe)
                plane = self.value if at < PLANE_CHANNELS or self.high is None else self.high
                place = np.uint64(at % PLANE_CHANNELS)
                value |= (plane >> place & np.uint64(1)) << np.uint64(bit)
        return value


class EdgeReducer:
    """Turns samples, fed in pieces of any size, into edges."""

    def __init__(self, unitsize_B: int, bits: Sequence[int]) -> None:
        """Take samples of ``unitsize_B`` bytes, least significant first; channel i = ``bits[i]``.

        Raises:
            ValueError: the unit size is not 1..8, there is no bit, or a bit is outside the unit.
        """
        self._units = UnitReader(unitsize_B)
        if not bits or not all(0 <= bit < 8 * unitsize_B for bit in bits):
            raise ValueError(f"bits {list(bits)} of a unit of {unitsize_B} B")
        self.samples = 0
        self._bits = np.array(bits, dtype=np.int64)
        self._straight = list(bits) == list(range(len(bits)))
        self._mask = sum({1 << bit for bit in bits})
        self._previous: int | None = None

    @property
    def rest_B(self) -> int:
        """The bytes at the end of what was fed that do not make a whole sample."""
        return self._units.rest_B

    def feed(
        self, data: bytes | memoryview
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return the edges of the samples in ``data``; a cut sample waits for the next call.

        The first call with a whole sample begins with the value at sample 0.
        """
        return self.reduce(self._units.feed(data))

    def reduce(
        self, samples: npt.NDArray[np.unsignedinteger]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return the edges of whole samples, ``(n,)`` of the machine word that holds a unit."""
        if not len(samples):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        if self._previous is None:
            self._previous = self._other_than(samples[0])
        mask, previous = np.uint64(self._mask), np.uint64(self._previous)
        # Counted first: new memory costs more than going through the samples twice.
        count = count_changes(_read_only(samples), mask, previous)
        edges = self._changes(samples, self._previous, self.samples, count)
        self._previous = int(samples[-1])
        self.samples += len(samples)
        return edges

    def few(
        self, samples: npt.NDArray[np.unsignedinteger], limit: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]] | None:
        """Return the edges of a piece that stands alone, counted from its begin, its first sample
        being one; None where there are ``limit`` or more, or no sample."""
        if not len(samples):
            return None
        sample, value = self._changes(samples, self._other_than(samples[0]), 0, limit)
        return None if len(sample) == limit else (sample.copy(), value.copy())

    def _other_than(self, sample: np.unsignedinteger) -> int:
        """Return a value that makes ``sample`` after it an edge."""
        return int(sample) ^ (self._mask & -self._mask)

    def _changes(
        self, samples: npt.NDArray[np.unsignedinteger], previous: int, begin: int, room: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return the first ``room`` edges of samples from index ``begin`` on."""
        sample, value = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64)
        mask, before = np.uint64(self._mask), np.uint64(previous)
        count = changes(_read_only(samples), mask, before, begin, (sample, value))
        sample, value = sample[:count], value[:count]
        return sample, value if self._straight else gather_bits(value, self._bits)


def _read_only(
    samples: npt.NDArray[np.unsignedinteger],
) -> npt.NDArray[np.unsignedinteger]:
    """Return a view of one form for the kernels, wherever the samples came from."""
    view = samples.view()
    view.setflags(write=False)
    return view


def join(pieces: Sequence[Edges]) -> Edges:
    """Return consecutive pieces as one.

    Raises:
        ValueError: there is none, or they do not follow each other.
    """
    if not pieces:
        raise ValueError("no piece to join")
    for before, after in pairwise(pieces):
        if (before.end_sample, before.channels) != (after.begin_sample, after.channels):
            raise ValueError(
                f"a piece that ends at sample {before.end_sample} is followed by one that begins "
                f"at {after.begin_sample}"
            )
    highs = [piece.high for piece in pieces if piece.high is not None]
    return replace(
        pieces[0],
        sample=np.concatenate([piece.sample for piece in pieces]),
        value=np.concatenate([piece.value for piece in pieces]),
        high=None if not highs else np.concatenate(highs),
        end_sample=pieces[-1].end_sample,
    )


def samples_to_ps(
    sample: npt.NDArray[np.int64], samplerate_hz: int, *, latest: int | None = None
) -> npt.NDArray[np.int64]:
    """Return the time of each sample in whole picoseconds, rounded down; with `NO_RATE` its number.

    Args:
        sample: ``(n,)`` int64, not negative.
        latest: none of them is later, where the caller knows it: then they need not be looked at.
    Raises:
        ValueError: the sample rate is not 1 Hz..1 THz, or a time is beyond int64 (106 days).
    """
    _check_samplerate(samplerate_hz)
    if samplerate_hz == NO_RATE:
        return sample.astype(np.int64)
    common = gcd(PS_PER_S, samplerate_hz)
    span_ps, samples = PS_PER_S // common, samplerate_hz // common
    # The usual case, in one product and one division by a constant.
    if latest is None:
        latest = int(sample.max(initial=0))
    if latest <= min(_MAX_S * samplerate_hz - 1, _MAX_INT64 // span_ps):
        product = sample * np.int64(span_ps)
        return product if samples == 1 else product // np.int64(samples)
    seconds, rest = np.divmod(sample, samplerate_hz)
    if int(seconds.max()) >= _MAX_S:
        raise ValueError(
            f"sample {int(sample.max())} at {samplerate_hz} Hz is later than {_MAX_S} s, the last "
            "time that fits t_ps"
        )
    # In two steps of 10**6, because rest * 10**12 does not fit 64 bits; exact all the same.
    us, rest = np.divmod(rest * _PS_PER_US, samplerate_hz)
    ps = rest * _PS_PER_US // samplerate_hz
    return np.asarray(seconds * PS_PER_S + us * _PS_PER_US + ps, dtype=np.int64)


def sample_to_ps(sample: int, samplerate_hz: int) -> int:
    """Return the time of one sample as `samples_to_ps` does, of any size and without a check."""
    return sample if samplerate_hz == NO_RATE else sample * PS_PER_S // samplerate_hz


def sample_span_ps(samplerate_hz: int, latest: int) -> int:
    """Return how many picoseconds a sample is, where times are whole products up to sample ``latest``.

    Returns:
        0 where it is no whole number, or a time is beyond int64: then `samples_to_ps` is to be asked.
    """
    if samplerate_hz == NO_RATE:
        return 1
    span_ps, rest = divmod(PS_PER_S, samplerate_hz)
    return span_ps if not rest and latest <= _MAX_INT64 // span_ps else 0


def _check_samplerate(samplerate_hz: int) -> None:
    if samplerate_hz != NO_RATE and not 1 <= samplerate_hz <= MAX_SAMPLERATE_HZ:
        raise ValueError(f"sample rate {samplerate_hz} Hz; 1..{MAX_SAMPLERATE_HZ} are possible")
