"""Sampled signals as edges: the first sample, then one (sample index, new value) for each change.

The cost of everything that follows is that of the edges, not of the samples. A capture comes in
pieces, so that its length does not decide the memory it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

__all__ = [
    "MAX_SAMPLERATE_HZ",
    "PS_PER_S",
    "Bus",
    "EdgeReducer",
    "Edges",
    "join",
    "samples_to_ps",
]

PS_PER_S = 10**12
MAX_SAMPLERATE_HZ = PS_PER_S  # one sample a picosecond, the resolution of t_ps
_PS_PER_US = 10**6
_REDUCE_AT_ONCE = 1 << 20  # samples; 16 MiB of edges at the worst


@dataclass(frozen=True, slots=True)
class Bus:
    """Channels that are one number: their names, the least significant first."""

    name: str
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Edges:
    """A piece of a sampled capture, as changes.

    ``sample`` is ``(n,)`` int64, rising, counted from the start of the capture; ``value`` is
    ``(n,)`` uint64, bit i = ``channels[i]``, at most 64. The first piece of a capture begins with
    the value at sample 0; a later piece holds changes only. The piece covers the samples
    ``[begin_sample, end_sample)``, also those after its last change. ``buses`` says which channels
    belong together.
    """

    sample: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    channels: tuple[str, ...]
    samplerate_hz: int
    begin_sample: int
    end_sample: int
    buses: tuple[Bus, ...] = ()

    def __post_init__(self) -> None:
        if self.sample.shape != self.value.shape or self.sample.ndim != 1:
            raise ValueError(f"sample {self.sample.shape} and value {self.value.shape} differ")
        if not 1 <= len(self.channels) <= 64:
            raise ValueError(f"{len(self.channels)} channels; 1..64 are possible")
        _check_samplerate(self.samplerate_hz)

    def __len__(self) -> int:
        return len(self.sample)

    @property
    def total_samples(self) -> int:
        """The samples that the piece covers."""
        return self.end_sample - self.begin_sample

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
        value = self._gather(probes)
        keep = np.ones(len(value), dtype=np.bool_)
        np.not_equal(value[1:], value[:-1], out=keep[1:])
        return replace(
            self,
            sample=self.sample[keep],
            value=value[keep],
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
                at = np.uint64(self.channels.index(probe))
                value |= (self.value >> at & np.uint64(1)) << np.uint64(bit)
        return value


class EdgeReducer:
    """Turns samples, fed in pieces of any size, into edges."""

    def __init__(self, unitsize_B: int, bits: Sequence[int]) -> None:
        """Take samples of ``unitsize_B`` bytes, least significant first; channel i = ``bits[i]``.

        Raises:
            ValueError: the unit size is not 1..8, there is no bit, or a bit is outside the unit.
        """
        if not 1 <= unitsize_B <= 8:
            raise ValueError(f"unit size {unitsize_B} B; 1..8 are possible")
        if not bits or not all(0 <= bit < 8 * unitsize_B for bit in bits):
            raise ValueError(f"bits {list(bits)} of a unit of {unitsize_B} B")
        self.unitsize_B = unitsize_B
        self.samples = 0
        self._bits = np.array(bits, dtype=np.int64)
        self._straight = list(bits) == list(range(len(bits)))
        self._mask = sum({1 << bit for bit in bits})
        # 3, 5, 6, 7 B are widened to the next size that is a machine word.
        self._width_B = next(width for width in (1, 2, 4, 8) if width >= unitsize_B)
        self._previous: int | None = None
        self._rest = b""
        self._sample = np.empty(_REDUCE_AT_ONCE + 1, dtype=np.int64)
        self._value = np.empty(_REDUCE_AT_ONCE + 1, dtype=np.uint64)

    @property
    def rest_B(self) -> int:
        """The bytes at the end of what was fed that do not make a whole sample."""
        return len(self._rest)

    def feed(
        self, data: bytes | memoryview
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        """Return the edges of the samples in ``data``; a cut sample waits for the next call.

        The first call with a whole sample begins with the value at sample 0.
        """
        if self._rest:
            data = self._rest + bytes(data)
        whole_B = len(data) // self.unitsize_B * self.unitsize_B
        self._rest = bytes(data[whole_B:])
        samples = self._words(np.frombuffer(data, dtype=np.uint8, count=whole_B))
        pieces = [
            self._reduce(samples[at : at + _REDUCE_AT_ONCE])
            for at in range(0, len(samples), _REDUCE_AT_ONCE)
        ]
        if len(pieces) == 1:
            return pieces[0]
        if not pieces:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
        return (
            np.concatenate([sample for sample, _ in pieces]),
            np.concatenate([value for _, value in pieces]),
        )

    def _words(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.unsignedinteger]:
        kind = np.dtype(f"<u{self._width_B}")
        if self._width_B == self.unitsize_B:
            return raw.view(kind)
        wide = np.zeros((len(raw) // self.unitsize_B, self._width_B), dtype=np.uint8)
        wide[:, : self.unitsize_B] = raw.reshape(-1, self.unitsize_B)
        return wide.reshape(-1).view(kind)

    def _reduce(
        self, samples: npt.NDArray[np.unsignedinteger]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        from freezeframe.capture.files._edge_kernels import changes, gather_bits

        if self._previous is None:
            # A value that differs makes the first sample an edge.
            self._previous = int(samples[0]) ^ (self._mask & -self._mask)
        lanes = 8 // self._width_B
        whole = len(samples) // lanes * lanes
        # Samples that do not fill a word, and the last of them again and again: that is no change.
        rest = np.full(lanes, samples[-1])
        rest[: len(samples) - whole] = samples[whole:]
        count = 0
        for begin, part in ((0, samples[:whole]), (whole, rest)):
            # One signature of the kernel for what came from bytes and what did not.
            part.setflags(write=False)
            count += changes(
                part.view("<u8"),
                (8 * self._width_B, np.uint64(self._mask), np.uint64(self._previous)),
                self.samples + begin,
                self._sample[count:],
                self._value[count:],
            )
            if len(part):
                self._previous = int(part[-1])
        self.samples += len(samples)
        sample = self._sample[:count].copy()
        value = self._value[:count].copy()
        return sample, value if self._straight else gather_bits(value, self._bits)


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
    return replace(
        pieces[0],
        sample=np.concatenate([piece.sample for piece in pieces]),
        value=np.concatenate([piece.value for piece in pieces]),
        end_sample=pieces[-1].end_sample,
    )


def samples_to_ps(sample: npt.NDArray[np.int64], samplerate_hz: int) -> npt.NDArray[np.int64]:
    """Return the time of each sample in whole picoseconds, rounded down.

    Args:
        sample: ``(n,)`` int64, not negative.
    Raises:
        ValueError: the sample rate is not 1 Hz..1 THz, or a time is beyond int64 (106 days).
    """
    _check_samplerate(samplerate_hz)
    seconds, rest = np.divmod(sample, samplerate_hz)
    if len(sample) and int(seconds.max()) >= np.iinfo(np.int64).max // PS_PER_S:
        raise ValueError(
            f"sample {int(sample.max())} at {samplerate_hz} Hz is later than "
            f"{np.iinfo(np.int64).max // PS_PER_S} s, the last time that fits t_ps"
        )
    # In two steps of 10**6, because rest * 10**12 does not fit 64 bits; exact all the same.
    us, rest = np.divmod(rest * _PS_PER_US, samplerate_hz)
    ps = rest * _PS_PER_US // samplerate_hz
    return np.asarray(seconds * PS_PER_S + us * _PS_PER_US + ps, dtype=np.int64)


def _check_samplerate(samplerate_hz: int) -> None:
    if not 1 <= samplerate_hz <= MAX_SAMPLERATE_HZ:
        raise ValueError(f"sample rate {samplerate_hz} Hz; 1..{MAX_SAMPLERATE_HZ} are possible")
