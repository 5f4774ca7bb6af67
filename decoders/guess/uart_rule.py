"""Rule for UART: pulses that are whole multiples of one bit, on a line that rests at one level.

Source: the asynchronous frame of ITU-T V.4.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Candidate, Evidence, sentence
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.trial import Trial
from freezeframe.decoders.serial.uart_baud import BitTime, bit_times

_MOST_EDGES = 1 << 12  # that the bit is measured by
# In the order in which they are preferred where several fit as well.
_FRAMES: tuple[tuple[int, str], ...] = ((8, "none"), (8, "even"), (8, "odd"), (7, "even"))
_FRAMES += ((7, "odd"), (7, "none"), (9, "none"), (5, "none"), (6, "none"))


def uart(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """One line at a time: find the bit, then the frame with the fewest errors."""
    for line in evidence.lines:
        # The first pulse has the level after the first change; start bits are what is not idle.
        start_first = line.first == line.idle
        bits = bit_times(line.widths[:_MOST_EDGES], start_first, line.samplerate_hz)
        if not bits or line.clock_hz or not line.samplerate_hz:
            continue
        probes = {"rx": line.name}
        tried = [_best_frame(evidence, decoder, probes, line, bit) for bit in bits]
        bit, (_, spec, trial, options) = min(zip(bits, tried, strict=True), key=lambda t: t[1][0])
        frames, errors = trial.count("uart", "frame"), trial.count("uart", "error")
        if frames < 2:
            continue
        parity = str(options.get("parity", "none"))[0].upper()
        kind = "a standard rate" if bit.standard_baud else "no standard rate"
        reasons = [
            f"{bit.fitting:.0%} of the pulses of {line.name} are whole multiples of "
            f"{1e6 * bit.samples / line.samplerate_hz:.4g} us: {bit.standard_baud or bit.baud:,} Bd, {kind}",
            f"it rests {'low (inverted)' if options.get('invert') else 'high'}, and "
            f"{options.get('bits', 8)}{parity}1 gives the fewest errors",
            sentence(frames, "characters", errors),
        ]
        signal = bit.fitting * max(0, frames - errors) / (frames + 1)
        signal *= 1.0 if bit.standard_baud else 0.6
        yield evidence.candidate(decoder, spec, probes, signal, reasons)


def _best_frame(
    evidence: Evidence, decoder: Decoder, probes: dict[str, str], line: Line, bit: BitTime
) -> tuple[float, str, Trial, dict[str, OptionValue]]:
    """Return the errors for each good row, and how the line was read for them."""
    tried: list[tuple[float, int, str, Trial, dict[str, OptionValue]]] = []
    for place, (bits, parity) in enumerate(_FRAMES):
        options: dict[str, OptionValue] = {"baud": bit.standard_baud or bit.baud}
        options |= {"bits": bits} if bits != 8 else {}
        options |= {"parity": parity} if parity != "none" else {}
        options |= {"invert": True} if not line.idle else {}
        spec, trial = evidence.trial(decoder, probes, options)
        errors = trial.bad / max(1, trial.good)
        tried.append((errors, place, spec, trial, options))
        # Nothing later in the list can be better, only equal.
        if trial.good >= 2 and not trial.bad:
            break
    share, _, spec, trial, options = min(tried, key=lambda each: each[:2])
    return share, spec, trial, options
