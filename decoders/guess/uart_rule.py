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
_INVERTED, _UNUSUAL, _NO_STANDARD = 1.0, 1.0, 3.0  # bits, as above
_USUAL_RATES = frozenset((*(300 << n for n in range(8)), *(57600 << n for n in range(5))))
_TEXT = 2.0  # bits by which a line that reads as text is likelier
_LEAST_TEXT, _PRINTABLE = 8, 0.95
_LEAST_LETTERS = 4  # different ones: 0x55 again and again is a pattern, not text
_LEAST_SAMPLES = 2.0  # a bit, of a rate that is not measured but given
_COARSE = 8.0  # samples a bit, with fewer of which a rate is measured badly
_GLITCH = 0.4  # of a bit
_MANY = 0.1  # errors for each good row
# Of a bit, and of the pulses: a standard rate where too few pulses are to measure one.
_OFF, _FITTING = 0.2, 0.8
_LONGEST = 10.5  # bits of a pulse in a frame


def uart(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """One line at a time: find the bit, then the frame with the fewest errors."""
    for line in evidence.lines:
        named = evidence.fits(decoder, "rx", line.name)
        if not line.samplerate_hz or (line.clock_hz and not named):
            continue
        best = _best(evidence, decoder, line, line.idle, named=named)
        if named and (best is None or best.errors > _MANY):
            # Few changes do not tell at which level it rests.
            other = _best(evidence, decoder, line, 1 - line.idle, named=named)
            if best is None or (other is not None and 2 * other.errors < best.errors):
                best = other
        if best is None:
            continue
        bit, spec, trial, options, rare = best.bit, best.spec, best.trial, best.options, best.rare
        frames, bad = trial.count("uart", "frame"), trial.errors("uart")
        # Of a frame with an error there are two rows.
        good = max(0, frames - bad)
        if not good or (good < 2 and not named):
            continue
        rate = "a standard rate" if bit.standard_baud else "no standard rate"
        parity = str(options.get("parity", "none"))[0].upper()
        why = [
            f"{bit.standard_baud or bit.baud:,} Bd, {rate}",
            f"{options.get('bits', 8)}{parity}1",
        ]
        against = []
        if not bit.standard_baud:
            against.append(why.pop(0))
        if options.get("invert"):
            rare += _INVERTED
            why.append("rests low")
        if _is_text(trial):
            rare -= _TEXT
            why.append("reads as text")
        yield Finding(
            decoder,
            spec,
            {"rx": line.name},
            good,
            bad,
            trial.explained_by("uart", "frame"),
            trial.counted("uart", "frame"),
            ("character", "characters"),
            rare,
            why,
            against,
        )


@dataclass(frozen=True, slots=True)
class _Read:
    """How a line was read, the errors for each good row, and the bits by which that is rare."""

    errors: float
    bit: BitTime
    spec: str
    trial: Trial
    options: dict[str, OptionValue]
    rare: float


def _best(
    evidence: Evidence, decoder: Decoder, line: Line, idle: int, *, named: bool
) -> _Read | None:
    """Return how a line that rests at a level is read with the fewest errors; None where no bit fits."""
    # The first pulse has the level after the first change; start bits are what is not idle.
    widths = line.widths[:_MOST_EDGES]
    bits = bit_times(widths, line.first == idle, line.samplerate_hz)
    if not any(bit.standard_baud for bit in bits) and (
        named or any(bit.samples < _COARSE for bit in bits)
    ):
        bits += _standard(line)
    tried = [_framed(evidence, decoder, line, idle, bit) for bit in bits]
    return min(tried, key=lambda read: (read.errors, read.rare), default=None)


def _standard(line: Line) -> list[BitTime]:
    """Return standard rates of which the pulses of a line are multiples, where those are too few to measure a
    bit, or the samples of one."""
    found = []
    for rate in STANDARD_RATES:
        samples = line.samplerate_hz / rate
        widths = _without_glitches(line.widths[:_MOST_EDGES], samples)
        bits = widths[widths < _LONGEST * samples] / samples
        counts = np.rint(bits).astype(np.int64)
        # Of any rate that is much too high all pulses are multiples.
        if samples < _LEAST_SAMPLES or not len(bits) or np.gcd.reduce(counts) != 1:
            continue
        near = (counts > 0) & (np.abs(bits - counts) <= max(_OFF, 1 / samples))
        fitting = float(near.mean())
        if fitting >= _FITTING and (counts <= 2).any():
            found.append(BitTime(samples, fitting, rate, rate))
    return sorted(found, key=lambda bit: (-bit.fitting, bit.baud))[:3]


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


def _framed(evidence: Evidence, decoder: Decoder, line: Line, idle: int, bit: BitTime) -> _Read:
    """Return the frame with the fewest errors at one rate, the usual one where several have none."""
    tried: list[_Read] = []
    for bits, parity, rare in _FRAMES:
        options: dict[str, OptionValue] = {"baud": bit.standard_baud or bit.baud}
        options |= {"bits": bits} if bits != 8 else {}
        options |= {"parity": parity} if parity != "none" else {}
        options |= {"invert": True} if not idle else {}
        spec, trial = evidence.trial(decoder, {"rx": line.name}, options)
        usual = rare + _rarity(bit)
        tried.append(_Read(trial.bad / max(1, trial.good), bit, spec, trial, options, usual))
        # Nothing later in the list can be better, only equal.
        if trial.good >= 2 and not trial.bad:
            break
    return min(tried, key=lambda read: read.errors)


def _rarity(bit: BitTime) -> float:
    """Return the bits by which a rate is rarer than 9,600 or 115,200 and their multiples."""
    if not bit.standard_baud:
        return _NO_STANDARD
    return 0.0 if bit.standard_baud in _USUAL_RATES else _UNUSUAL


def _is_text(trial: Trial) -> bool:
    rows = trial.rows("uart")
    data = [int(char) & 0x7F for char in rows.loc[rows["kind"] == "frame", "data"]]
    plain = sum(0x20 <= char < 0x7F or char in (0x0A, 0x0D) for char in data)
    enough = len(data) >= _LEAST_TEXT and len(set(data)) >= _LEAST_LETTERS
    return enough and plain >= _PRINTABLE * len(data)
