"""Measure the bit time of a UART line from its pulses.

Inside a character the line stays at a level for whole bits: all pulses at the level of the start bit
are whole multiples of one bit, and so are those at the level of rest that no pause lengthens. A slow
edge makes the ones longer by what the others lack, so the bit is measured between edges of one
direction.

Source: the asynchronous frame of ITU-T V.4; the rates are those of ITU-T V.5, V.6 and of PC UARTs, 31,250 of MIDI,
250,000 of DMX512, and 74,880 of an ESP8266 while it boots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges

LEAST_PULSES = 8
MIN_SAMPLES_A_BIT = 3  # to measure it: with fewer, pulses miss a multiple by up to half a bit
WANTED_PULSES = 4096

STANDARD_RATES = (
    *(110, 300, 600, 1200, 2400, 4800, 9600, 14400, 19200, 28800, 31250, 38400, 57600, 74880),
    *(76800, 115200, 125000, 128000, 230400, 250000, 256000, 460800, 500000, 921600, 1000000),
    *(1500000, 2000000, 3000000, 4000000),
)
_STANDARD = (
    0.03  # off a standard rate; a receiver that samples in the middle stands 5 % over ten bits
)
_SNAP = (
    0.01  # off a standard rate that is taken for it; a quartz is far nearer, an RC oscillator not
)
_MOST_BITS = 11  # of a pulse inside a frame; longer is a break or a pause
_OFF = 0.2  # of a bit, by which a pulse may miss a multiple
_REACH = (
    4,
    4,
    6,
    8,
    10,
    10,
)  # bits between edges: the better the bit is known the further they may be
_MOST_EDGE = 0.2  # of a bit, by which slow edges may lengthen pulses of one level
_NEAR = 1.7  # ratio of two bit times one of which must be wrong
_LEAST_SINGLE = 0.12  # share of the pulses of characters that are one bit
_MOST_OFF = (
    0.15  # bits, the mean of the distances from multiples; without a common measure it is 0.22
)
_RANDOM_OFF, _RANDOM_SPREAD = 0.225, 0.13  # of a number anywhere, the tenth that is worst left out
_SIGMAS = (8.0, 4.0)  # below what chance would give: with less than 4 samples a bit, and more
_FEW = 4.0  # samples a bit
_GLITCH = 0.6  # of a bit: what is shorter is none
_MOST_GLITCHES = 0.25  # share of the pulses, with what they cut off others
_LEAST_SHARE = 0.03  # of the pulses that are of one length, to try it for a bit
_TRIES = 8
_MOST_ERROR = 0.02  # of the rate, by the noise of the pulses (two sigmas) and as a whole number

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BitTime:
    """A bit time that fits a line.

    ``samples`` are those of a bit, ``fitting`` the share of the pulses at the level of the start bit
    that are whole multiples of it, ``baud`` the rate as measured: a standard one where that is as near
    as can be told. ``standard_baud`` is the standard rate that may be meant, 0 where none is near.
    """

    samples: float
    fitting: float
    baud: int
    standard_baud: int


def bit_times(widths: Int64, start_first: bool, samplerate_hz: int) -> list[BitTime]:
    """Return the bit times that fit the pulses of a line, the longest first; none where none does.

    More than one fits where glitches are a part of a bit long, or few characters differ: then the
    frames have to decide.

    Args:
        widths: ``(n,)`` samples, whole pulses, one after the other.
        start_first: the first is at the level of the start bit.
    """
    if len(widths) < LEAST_PULSES:
        return []
    pulses = _Pulses(widths.astype(np.float64), start_first)
    found: dict[float, BitTime] = {}  # by how far the pulses are off multiples of it
    for guess in _guesses(pulses):
        fitted = _fit(guess, pulses, samplerate_hz)
        if fitted is not None:
            found[fitted[0]] = fitted[1]
    kept: list[BitTime] = []
    for _, bit in sorted(found.items(), key=lambda each: each[0]):
        # Of two that are near each other one is a mistake.
        if all(not 1 / _NEAR < bit.samples / other.samples < _NEAR for other in kept):
            kept.append(bit)
    return sorted(kept, key=lambda bit: -bit.samples)


def standard_rate(baud: float) -> int:
    """Return the standard rate that is nearest, 0 where none is within 3 %."""
    nearest = min(STANDARD_RATES, key=lambda rate: abs(rate - baud))
    return nearest if abs(nearest - baud) <= _STANDARD * nearest else 0


class PulseMeter:
    """The pulses of a line that comes in pieces of any size, until there are enough to measure."""

    def __init__(self, invert: bool) -> None:
        """Take pulses at level 0 for those of start bits, at level 1 with ``invert``."""
        self._start_level = int(invert)
        self._level = -1  # before the first sample
        self._changes: list[Int64] = []
        self._first_level = -1  # after the first change
        self.changes = 0

    @property
    def enough(self) -> bool:
        return self.changes > WANTED_PULSES

    @property
    def first_change(self) -> int:
        """The sample of the first change; -1 where there is none."""
        return int(self._changes[0][0]) if self.changes else -1

    @property
    def last_change(self) -> int:
        """The sample of the last change that was taken; -1 where there is none."""
        return int(self._changes[-1][-1]) if self.changes else -1

    def feed(self, edges: Edges) -> None:
        """Take the changes of the line, bit 0 of a piece; of a last one only as many as are wanted."""
        if not len(edges) or self.enough:
            return
        level = (edges.value & np.uint64(1)).astype(np.int64)
        before = np.concatenate(([level[0] if self._level < 0 else self._level], level[:-1]))
        at = np.flatnonzero(level != before)[: WANTED_PULSES + 1 - self.changes]
        if len(at):
            if not self.changes:
                self._first_level = int(level[at[0]])
            self._changes.append(edges.sample[at])
            self.changes += len(at)
        self._level = int(level[-1])

    def looked_at(self, edges: Edges) -> Edges:
        """Return edges up to the last change that was taken: what comes after depends on where pieces end."""
        count = int(np.searchsorted(edges.sample, self.last_change, side="right"))
        sample, value = edges.sample[:count], edges.value[:count]
        return replace(edges, sample=sample, value=value, end_sample=self.last_change + 1)

    def bit_times(self, samplerate_hz: int) -> list[BitTime]:
        """Return what `bit_times` does, of the pulses so far."""
        if self.changes < 2:
            return []
        places = np.concatenate(self._changes)
        widths = places[1:] - places[:-1]
        # The first pulse has the level after the first change.
        return bit_times(widths, self._first_level == self._start_level, samplerate_hz)


def _guesses(pulses: _Pulses) -> list[float]:
    """Return what may be a bit: lengths that are frequent, and halves of those from fall to fall.

    Where slow edges make a single bit of one level much longer, the latter are not touched.
    """
    pairs = pulses.widths[:-1] + pulses.widths[1:]
    return [*_frequent(np.sort(pulses.widths)), *(two / 2 for two in _frequent(np.sort(pairs)))]


def _frequent(pooled: Float64) -> list[float]:
    """Return lengths that many pulses have, give or take a sample, the most frequent first."""
    lengths = np.unique(pooled)
    slack = np.maximum(1.0, 0.08 * lengths)
    begin = np.searchsorted(pooled, lengths - slack, side="left")
    end = np.searchsorted(pooled, lengths + slack, side="right")
    support = end - begin
    least = max(2, round(_LEAST_SHARE * len(pooled)))
    found: list[float] = []
    while len(found) < _TRIES:
        best = int(np.argmax(support))
        if support[best] < least:
            break
        found.append(float(pooled[begin[best] : end[best]].mean()))
        support[np.abs(lengths - lengths[best]) <= 2 * slack[best]] = 0
    return found


class _Pulses:
    """Pulses by level, and how far edges of one direction are apart, which slow edges do not change."""

    def __init__(self, widths: Float64, start_first: bool) -> None:
        at = int(not start_first)
        self.widths = widths
        self.starts, self.rests = widths[at::2], widths[1 - at :: 2]
        periods = widths[:-1] + widths[1:]
        self.periods = np.concatenate((periods, periods[:-2] + periods[2:]))


def _fit(guess: float, pulses: _Pulses, samplerate_hz: int) -> tuple[float, BitTime] | None:
    """Return the bit time near ``guess`` and how far pulses are off, in bits; None where it does not fit."""
    samples, error = guess, -1.0
    for most in _REACH:
        counts = np.rint(pulses.periods / samples)
        off = pulses.periods - counts * samples
        near = (counts >= 2) & (counts <= most) & (np.abs(off) <= _OFF * samples)
        if near.sum() < 3:
            continue
        weight = (counts[near] ** 2).sum()
        samples += float((counts[near] * off[near]).sum() / weight)
        error = float(np.sqrt((off[near] ** 2).mean() / weight))
    if error < 0:
        return None
    baud = samplerate_hz / samples
    standard = standard_rate(baud)
    snapped = abs(standard - baud) <= max(_SNAP, 3 * error / samples) * standard
    whole = standard if snapped else round(baud)
    if samplerate_hz < MIN_SAMPLES_A_BIT * whole:
        return None
    if not snapped and (
        abs(whole - baud) > _MOST_ERROR * baud or 2 * error > _MOST_ERROR * samples
    ):
        return None
    quality = _quality(pulses, samples)
    if quality is None:
        return None
    return quality[0], BitTime(samples, quality[1], whole, standard)


def _quality(pulses: _Pulses, samples: float) -> tuple[float, float] | None:
    """Return how far the pulses of start level are off multiples, in bits, and the share that is not.

    None where that is no less than chance would have it, or another bit time would fit as well.
    """
    least = _GLITCH * samples
    glitches = int((pulses.widths < least).sum())
    if glitches > _MOST_GLITCHES * len(pulses.widths):
        return None
    bits = pulses.starts[pulses.starts >= least] / samples
    bits = bits[bits < _MOST_BITS + 0.5]
    # A line that mostly is at the level of the start bit for longer than a frame rests there.
    if len(bits) < max(4, 0.5 * len(pulses.starts)):
        return None
    # Slow edges make all pulses of a level longer, or shorter, by the same.
    edge = float(np.clip(np.median(bits - np.rint(bits)), -_MOST_EDGE, _MOST_EDGE))
    bits = bits - edge
    off = np.sort(np.abs(bits - np.rint(bits)))
    mean = float(off[: -(len(off) // 10) or None].mean())  # without those that glitches cut
    chance = _RANDOM_OFF - _SIGMAS[samples >= _FEW] * _RANDOM_SPREAD / len(bits) ** 0.5
    rests = pulses.rests[pulses.rests >= least] / samples + edge
    rests = rests[(rests < _MOST_BITS + 0.5) & (np.abs(rests - np.rint(rests)) <= _OFF)]
    if mean > min(_MOST_OFF, chance) or not _tells(np.rint(bits), np.rint(rests)):
        return None
    return mean, float((off <= max(_OFF, 1 / samples)).mean())


def _tells(low: Float64, high: Float64) -> bool:
    """Return whether these multiples have no other measure than one bit, as far as can be told.

    Single bits are common in any data. Pulses of one length and level alone may be any number of
    bits: a line of nothing but FFh with pauses is one of nothing but 00h at nine times the rate.
    """
    both = np.concatenate((low, high))
    if (both == 1).mean() < _LEAST_SINGLE:
        return False
    return len(np.unique(both)) > 1 or bool((low == 1).any() and (high == 1).any())
