"""Rule for UART: pulses that are whole multiples of one bit, on a line that rests at one level.

Source: the asynchronous frame of ITU-T V.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Evidence, Finding
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.trial import Trial
from freezeframe.decoders.guess.weigh import Weighed, points
from freezeframe.decoders.serial.uart_baud import (
    STANDARD_RATES,
    BitTime,
    Int64,
    bit_times,
)

_MOST_EDGES = 1 << 12  # that the bit is measured by
# In the order in which they are preferred where several fit as well, with the bits by which each is rarer.
_FRAMES: tuple[tuple[int, str, float], ...] = (
    (8, "none", 0.0),
    (8, "even", 1.0),
    (8, "odd", 1.0),
    (7, "even", 2.0),
    (7, "odd", 2.0),
    (7, "none", 3.0),
    (9, "none", 3.0),
    (5, "none", 4.0),
    (6, "none", 4.0),
)
_RARE = {(bits, parity): rare for bits, parity, rare in _FRAMES}
_SHORTER_LEVEL = 4.0  # bits by which a line seldom rests at the level that it has less long
_INVERTED, _UNUSUAL, _NO_STANDARD = 1.0, 1.0, 3.0  # bits, as above
_USUAL_RATES = frozenset((*(300 << n for n in range(8)), *(57600 << n for n in range(5))))
_ANY_RATE = 2.0  # where no two lengths of pulses tell the bit: several rates have no errors then
_SURE = 3.0  # bits by which a shorter frame must be likelier than the longer that agrees as well
_SELDOM = 5.0  # bits, as above, of a frame that is not in the list
_OF_TEXT = (7, 8)  # bits of a character
_TEXT = 2.0  # bits by which a line that reads as text is likelier
_BELIEVED = 2  # characters, where no name speaks for the line, or it would rest at the rarer level
_LEAST_TEXT, _PRINTABLE = 8, 0.95
_LEAST_LETTERS = 4  # different ones: 0x55 again and again is a pattern, not text
_LEAST_SAMPLES = 2.0  # a bit, of a rate that is not measured but given
_COARSE = 8.0  # samples a bit, with fewer of which a rate is measured badly
_BARELY = 3.0  # likewise: frames may be read by a neighbouring rate as well
_GLITCH = 0.4  # of a bit
# Of a bit, and of the pulses: a standard rate where too few pulses are to measure one.
_OFF, _FITTING = 0.2, 0.8
_LONGEST = 10.5  # bits of a pulse in a frame
# Of a bit, by which pulses of one length may miss a multiple; of the multiple, where the rate is off.
_LENGTH_OFF, _RATE_OFF = 0.1, 0.02
_LENGTH_BITS = 2.3  # of evidence: a length of no multiple is so near one in a fifth of all cases


def uart(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """One line at a time: find the bit, then the frame with the fewest errors."""
    for line in evidence.lines:
        named = evidence.fits(decoder, "rx", line.name)
        if not line.samplerate_hz or (line.clock_hz and not named):
            continue
        best = _best(evidence, decoder, line, line.idle, named=named)
        if named:  # the level that it has the longer need not be that at which it rests
            other = _best(evidence, decoder, line, 1 - line.idle, named=named)
            if other and other.good >= _BELIEVED:
                best = max(
                    filter(None, (best, other)), key=lambda read: read.between_levels(line.idle)
                )
        if best is None or not best.good or (best.good < _BELIEVED and not named):
            continue
        bit, trial = best.bit, best.trial
        rate = "a standard rate" if bit.standard_baud else "no standard rate"
        if bit.standard_baud not in (0, bit.baud):
            rate += f", {bit.baud:,} Bd measured"
        why = [f"{bit.standard_baud or bit.baud:,} Bd, {rate}", best.frame]
        against = []
        if not bit.standard_baud:
            against.append(why.pop(0))
        if bit.samples < _BARELY:
            against.append(f"{bit.samples:.1f} samples a bit, other rates are near")
        if best.lengths <= 0:
            against.append("its pulses hardly differ in length, other rates fit as well")
        if not best.idle:
            why.append("rests low")
        if best.is_text:
            why.append("reads as text")
        yield Finding(
            decoder,
            best.spec,
            {"rx": line.name},
            best.good,
            best.bad,
            best.explained,
            trial.counted("uart", "frame"),
            ("character", "characters"),
            best.rare,
            why,
            against,
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """How a line was read, and what that is worth.

    ``lengths``: of pulses, that are multiples of the bit, less those that are not; ``rare``: the bits by which its
    options are.
    """

    bit: BitTime
    spec: str
    trial: Trial
    frame: str
    idle: int
    good: int
    bad: int
    explained: float
    is_text: bool
    lengths: int
    rare: float

    def between_rates(self) -> float:
        """What speaks for it beside others of the same level: the lengths of its pulses tell the bit."""
        return self._worth(_LENGTH_BITS * self.lengths)

    def between_levels(self, longer: int) -> float:
        """What speaks for it beside the other level: more than two lengths are the data's."""
        return self._worth(
            _LENGTH_BITS * min(2, self.lengths) - _SHORTER_LEVEL * (self.idle != longer)
        )

    def _worth(self, bits: float) -> float:
        """Return what speaks for it, weighed as between proposals, with so many bits of evidence beside."""
        rare = self.rare - bits
        return points(Weighed(self.good, self.bad, self.explained, 0.0, 0.0, rare))


def _best(
    evidence: Evidence, decoder: Decoder, line: Line, idle: int, *, named: bool
) -> _Read | None:
    """Return a line that rests at a level read by the bit time that fits best, None where none does."""
    # The first pulse has the level after the first change; start bits are what is not idle.
    widths = line.widths[:_MOST_EDGES]
    bits = bit_times(widths, line.first == idle, line.samplerate_hz)
    if not any(bit.standard_baud for bit in bits) and (
        named or any(bit.samples < _COARSE for bit in bits)
    ):
        bits += _standard(line, idle)
    starts = widths[int(line.first != idle) :: 2]
    reads = [
        _framed(evidence, decoder, line, idle, bit, _lengths(starts, bit.samples)) for bit in bits
    ]
    return max(reads, key=_Read.between_rates, default=None)


def _standard(line: Line, idle: int) -> list[BitTime]:
    """Return standard rates of which the pulses of a line, or those at the level of the start bit, which no pause
    lengthens, are multiples, where those are too few to measure a bit, or the samples of one."""
    found = []
    for rate in STANDARD_RATES:
        samples = line.samplerate_hz / rate
        widths = _without_glitches(line.widths[:_MOST_EDGES], samples)
        starts = widths[int(line.first != idle) :: 2]
        fitting = max(_fitting(widths, samples), _fitting(starts, samples))
        if samples >= _LEAST_SAMPLES and fitting >= _FITTING:
            found.append((-_lengths(starts, samples), BitTime(samples, fitting, rate, rate)))
    found.sort(key=lambda each: (each[0], -each[1].fitting, each[1].baud))
    return [bit for _, bit in found[:3]]


def _fitting(widths: Int64, samples: float) -> float:
    """Return the share of pulses that are multiples of a bit, 0 where they have another measure, or hardly any is of
    a character: of any rate that is much too high all pulses are multiples, or too long.
    """
    bits = widths[widths < _LONGEST * samples] / samples
    counts = np.rint(bits).astype(np.int64)
    if 2 * len(bits) <= len(widths) or np.gcd.reduce(counts) != 1 or not (counts <= 2).any():
        return 0.0
    return float(((counts > 0) & (np.abs(bits - counts) <= max(_OFF, 1 / samples))).mean())


def _lengths(starts: Int64, samples: float) -> int:
    """Return how many lengths of these pulses are whole multiples of a bit, less those that are none.

    Many pulses of one length tell as little of the bit as two do. Slow edges make all longer, or shorter, by the same.
    """
    bits = starts[starts < _LONGEST * samples] / samples
    bits -= np.clip(np.median(bits - np.rint(bits)), -_OFF, _OFF) if len(bits) else 0.0
    counts, of, members = np.unique(np.rint(bits), return_inverse=True, return_counts=True)
    means = np.bincount(of, weights=bits) / members
    sampled = 1 / (samples * np.sqrt(members))  # by how far they are off for being sampled
    near = np.abs(means - counts) <= np.maximum(
        _LENGTH_OFF, np.maximum(_RATE_OFF * counts, sampled)
    )
    good = near & (counts > 0)
    return int(np.where(good, 1, -1)[members > 1].sum())


def _without_glitches(widths: Int64, samples: float) -> Int64:
    """Return the pulses with those much shorter than a bit joined to what is around them."""
    short = np.flatnonzero(widths[1:-1] < _GLITCH * samples) + 1
    if not len(short) or len(short) > len(widths) // 4:
        return widths
    joined = widths.copy()
    for at in short.tolist():
        joined[at + 1] += joined[at] + joined[at - 1]
        joined[at] = joined[at - 1] = 0
    return joined[joined > 0]


def _framed(
    evidence: Evidence, decoder: Decoder, line: Line, idle: int, bit: BitTime, lengths: int
) -> _Read:
    """Return the frame with the fewest errors at one rate, the usual one where several have none."""
    tried: list[tuple[float, str, Trial, int, str, float]] = []
    for bits, parity, rare in _FRAMES:
        spec, trial = evidence.trial(decoder, {"rx": line.name}, _options(bit, bits, parity, idle))
        tried.append((trial.bad / max(1, trial.good), spec, trial, bits, parity, rare))
        # Nothing later in the list can be better, only equal.
        if trial.good >= 2 and not trial.bad:
            break
    _, spec, trial, bits, parity, rare = min(tried, key=lambda each: each[0])
    characters, agreed = _characters(trial), ""
    shorter = _shorter(characters, bits) if parity == "none" else None
    if shorter:
        (bits, parity), rare = shorter, 0.0  # what its characters have in common outweighs that
        agreed = f", which {len(set(characters))} different characters agree with"
        spec, trial = evidence.trial(decoder, {"rx": line.name}, _options(bit, bits, parity, idle))
    bad = trial.errors("uart")
    is_text = bits in _OF_TEXT and _is_text(_characters(trial))
    rare += _rarity(bit) + _INVERTED * (not idle) - _TEXT * is_text + _ANY_RATE * (lengths <= 0)
    good = max(0, trial.count("uart", "frame") - bad)  # of a frame with an error there are two rows
    explained = trial.explained_by("uart", "frame")
    frame = f"{bits}{parity[0].upper()}1{agreed}"
    return _Read(bit, spec, trial, frame, idle, good, bad, explained, is_text, lengths, rare)


def _options(bit: BitTime, bits: int, parity: str, idle: int) -> dict[str, OptionValue]:
    options: dict[str, OptionValue] = {"baud": bit.standard_baud or bit.baud}
    options |= {"bits": bits} if bits != 8 else {}
    options |= {"parity": parity} if parity != "none" else {}
    return options | ({"invert": True} if not idle else {})


def _rarity(bit: BitTime) -> float:
    """Return the bits by which a rate is rarer than 9,600 or 115,200 and their multiples."""
    if not bit.standard_baud:
        return _NO_STANDARD
    return 0.0 if bit.standard_baud in _USUAL_RATES else _UNUSUAL


def _characters(trial: Trial) -> list[int]:
    rows = trial.rows("uart")
    return [int(char) for char in rows.loc[rows["kind"] == "frame", "data"]]


def _is_text(data: list[int]) -> bool:
    plain = sum(0x20 <= char < 0x7F or char in (0x0A, 0x0D) for char in data)
    enough = len(data) >= _LEAST_TEXT and len(set(data)) >= _LEAST_LETTERS
    return enough and plain >= _PRINTABLE * len(data)


def _shorter(data: list[int], bits: int) -> tuple[int, str] | None:
    """Return the shorter frame of which characters without parity are made, None where they do not tell.

    Bits from the highest down are always 1, for a stop bit or the pause after it was read as data; the next may be the
    parity of those below it, if it is now 0 and now 1. By chance a bit is so in half of all different characters.
    """
    different = set(data)
    best, most = None, _SURE
    for size in range(bits, 4, -1):  # without those that are always 1
        if any(char >> size != (1 << (bits - size)) - 1 for char in different):
            break
        odd = {(char & ((1 << size) - 1)).bit_count() & 1 for char in different}
        varies = len({char >> (size - 1) & 1 for char in different}) == 2
        frames = [(size, "none")] if size < bits else []
        if size > 5 and varies and len(odd) == 1:
            frames.append((size - 1, "odd" if 1 in odd else "even"))
        for frame in frames:
            rare = _RARE.get(frame, _SELDOM)
            if (bits - frame[0]) * len(different) - rare > most:
                best, most = frame, (bits - frame[0]) * len(different) - rare
    return best
