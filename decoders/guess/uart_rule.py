"""Rule for UART: pulses that are whole multiples of one bit, on a line that rests at one level.

Source: the asynchronous frame of ITU-T V.4; the rates are those of ITU-T V.5, V.6 and of PC UARTs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Candidate, Evidence, sentence
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.trial import Trial

__all__ = ["BitTime", "bit_time", "uart"]

_RATES = (
    *(110, 300, 600, 1200, 2400, 4800, 9600, 14400, 19200, 28800, 31250, 38400, 57600, 76800),
    *(115200, 125000, 128000, 230400, 250000, 256000, 460800, 500000, 921600, 1000000),
    *(1500000, 2000000, 3000000, 4000000),
)
_SNAP = 0.03  # a receiver that samples in the middle stands 5 % over ten bits
_MOST_BITS = 11  # of a pulse inside a frame
_OFF = 0.2  # of a bit, by which a pulse may miss a multiple
_MIN_EDGES = 8
# In the order in which they are preferred where several fit as well.
_FRAMES: tuple[tuple[int, str], ...] = ((8, "none"), (8, "even"), (8, "odd"), (7, "even"))
_FRAMES += ((7, "odd"), (7, "none"), (9, "none"), (5, "none"), (6, "none"))


@dataclass(frozen=True, slots=True)
class BitTime:
    """The bit of a line in samples, the share of pulses that fit it, and the rate it stands for."""

    samples: float
    fitting: float
    baud: int
    standard: bool


def bit_time(line: Line) -> BitTime | None:
    """Return the bit time of a line; None where its pulses have no common measure."""
    widths = line.widths
    if len(widths) < _MIN_EDGES:
        return None
    short = widths[widths <= _MOST_BITS * np.percentile(widths, 5)].astype(np.float64)
    # The shortest pulses are one bit, or a glitch: a clear group of them counts.
    samples = float(np.median(short[short <= 1.4 * np.percentile(short, 5)]))
    if samples < 3:
        return None
    for _ in range(3):
        count = np.rint(short / samples)
        near = (np.abs(short / samples - count) <= _OFF) & (count >= 1)
        if not near.any():
            return None
        samples = float((short[near] * count[near]).sum() / (count[near] ** 2).sum())
    fitting = _fitting(short, samples)
    baud = line.samplerate_hz / samples
    nearest = min(_RATES, key=lambda rate: abs(rate - baud))
    standard = abs(nearest - baud) <= _SNAP * nearest
    return BitTime(samples, fitting, nearest if standard else round(baud), standard)


def uart(evidence: Evidence) -> Iterator[Candidate]:
    """One line at a time: find the bit, then the frame with the fewest errors."""
    decoder = evidence.decoder("uart")
    if decoder is None:
        return
    for line in evidence.lines:
        bit = bit_time(line)
        if bit is None or bit.fitting < 0.8 or line.clock_hz:
            continue
        probes = {"rx": line.name}
        spec, trial, options = _best_frame(evidence, decoder, probes, line, bit)
        if not trial.tables:
            continue
        rows = trial.rows("uart")
        frames = int((rows["kind"] == "frame").sum())
        errors = int((rows["kind"] == "error").sum())
        if frames < 2:
            continue
        parity = str(options.get("parity", "none"))[0].upper()
        kind = "a standard rate" if bit.standard else "no standard rate"
        reasons = [
            f"{bit.fitting:.0%} of the pulses of {line.name} are whole multiples of "
            f"{1e6 * bit.samples / line.samplerate_hz:.4g} us: {bit.baud:,} Bd, {kind}",
            f"it rests {'low (inverted)' if options.get('invert') else 'high'}, and "
            f"{options.get('bits', 8)}{parity}1 gives the fewest errors",
            sentence(frames, "characters", errors),
        ]
        signal = bit.fitting * max(0, frames - errors) / (frames + 1)
        signal *= 1.0 if bit.standard else 0.6
        yield evidence.candidate(decoder, spec, probes, signal, reasons)


def _fitting(widths: npt.NDArray[np.float64], samples: float) -> float:
    # A width is read a sample too long or too short.
    tolerance = np.maximum(_OFF * samples, 1.0)
    return float((np.abs(widths - np.rint(widths / samples) * samples) <= tolerance).mean())


def _best_frame(
    evidence: Evidence, decoder: Decoder, probes: dict[str, str], line: Line, bit: BitTime
) -> tuple[str, Trial, dict[str, OptionValue]]:
    found: list[tuple[float, int, str, Trial, dict[str, OptionValue]]] = []
    for place, (bits, parity) in enumerate(_FRAMES):
        options: dict[str, OptionValue] = {"baud": bit.baud}
        options |= {"bits": bits} if bits != 8 else {}
        options |= {"parity": parity} if parity != "none" else {}
        options |= {"invert": True} if not line.idle else {}
        spec, trial = evidence.trial(decoder, probes, options)
        errors = trial.bad / max(1, trial.good)
        found.append((errors, place, spec, trial, options))
        # Nothing later in the list can be better, only equal.
        if trial.good >= 2 and not trial.bad:
            break
    _, _, spec, trial, options = min(found, key=lambda each: each[:2])
    return spec, trial, options
