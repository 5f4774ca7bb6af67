"""Rules for buses with a clock: what I2C, SPI, MDIO, JTAG and a parallel bus do to their lines.

Source: UM10204 3.1.1 to 3.1.6 (START, STOP, nine clocks a byte); IEEE 802.3 22.2.4.5 (32 ones before
a frame); IEEE 1149.1 figure 6-1 (states of the TAP). SPI has no standard: chip select frames whole
words, and data changes on the clock edge that does not sample it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Candidate, Evidence, sentence
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.names import fitting_probes, is_named

_MOST_LINES = 12  # of which all pairs are looked at
_WORD_BITS = 8
_FRAMED = 0.98  # clock edges inside a chip select
_NO_CLOCK = 0.2  # what a parallel bus without a clock is worth
_ALIGNED = 0.9  # data changes while the clock is at one level


def i2c(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """Two lines that idle high; data moves while the clock is low, but for START and STOP."""
    for scl, sda in _pairs(evidence.lines):
        high = (scl.level_at(sda.sample) == 1) & (scl.level_at(sda.sample - 1) == 1)
        conditions = int(high.sum())
        if len(scl) < 18 or not 1 <= conditions <= max(2, len(scl) // 8):
            continue
        probes = {"scl": scl.name, "sda": sda.name}
        spec, trial = evidence.trial(decoder, probes, {})
        data = trial.count("i2c.bytes", "address", "data")
        errors = trial.count("i2c.bytes", "error")
        starts = trial.count("i2c.bytes", "start", "repeated-start")
        stops = trial.count("i2c.bytes", "stop")
        reasons = [
            f"{starts} START and {stops} STOP: {sda.name} moves while {scl.name} is high "
            f"{conditions} times, and {len(sda) - conditions} times while it is low",
            sentence(data, "bytes of nine clocks", errors),
        ]
        if starts and data:
            yield evidence.candidate(decoder, spec, probes, data / (data + 4 * errors + 1), reasons)


def mdio(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """Frames after at least 17 ones; nothing else has those."""
    for mdc, data in _pairs(evidence.lines):
        if len(mdc) < 128 or len(data) > len(mdc):
            continue
        probes = {"mdc": mdc.name, "mdio": data.name}
        spec, trial = evidence.trial(decoder, probes, {})
        frames, errors = trial.count("mdio", "frame"), trial.count("mdio", "error")
        if not frames:
            continue
        rows = trial.rows("mdio")
        # A PHY that does not answer is no sign against MDIO.
        against = errors - int((rows["error"] == "bad-turnaround").sum())
        full = int(((rows["kind"] == "frame") & (rows["preamble"] >= 32)).sum())
        clocks = (len(mdc) + 1) // 2
        explained = min(1.0, 64 * frames / clocks)
        reasons = [
            f"{full} of {frames} frames come after 32 ones or more",
            sentence(frames, "frames", errors),
        ]
        signal = frames / (frames + 4 * against + 1) * (0.5 + 0.5 * explained)
        yield evidence.candidate(decoder, spec, probes, signal, reasons)


def spi(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """Clocks in whole words while a chip select holds, data that moves at one of their edges."""
    for clk, cs in _pairs(evidence.lines):
        framing = _framing(clk, cs)
        if framing is None:
            continue
        data = []
        for line in evidence.lines:
            share = _low_share(clk, line, framing.selected(line.sample))
            if line in (clk, cs) or share is None:
                continue
            # What a slow chip sends back may move at any time; then its name has to say it.
            named = any(is_named("spi", role, line.name) for role in ("mosi", "miso"))
            if named or _aligned(share) >= _ALIGNED:
                data.append((line, share, named))
        data = sorted(data, key=lambda item: (not item[2], -_aligned(item[1])))[:2]
        if not data:
            continue
        roles, how = _data_roles([line for line, _, _ in data], framing)
        moves_low = max((share for _, share, _ in data), key=_aligned) >= 0.5
        idle = int(clk.level_at(framing.begins[:1])[0])
        # Clock polarity and phase: data that moves while the clock is low is sampled as it rises.
        mode = (3 if idle else 0) if moves_low else (2 if idle else 1)
        probes = {"clk": clk.name, **roles, "cs": cs.name}
        options: dict[str, OptionValue] = {"mode": mode} if mode else {}
        if framing.level:
            options["select"] = "active-high"
        spec, trial = evidence.trial(decoder, probes, options)
        if not trial.tables:
            continue
        good, bad = trial.count("spi.words", "word"), trial.count("spi.words", "error")
        reasons = [
            f"{cs.name} frames {clk.name}: in {framing.whole} of {framing.frames} selections the "
            f"clocks are a multiple of {_WORD_BITS}",
            f"{clk.name} rests {'high' if idle else 'low'}, and data moves while it is "
            f"{'low' if moves_low else 'high'}: mode {mode}",
            *how,
            sentence(good, "words", bad),
        ]
        signal = good / (good + 4 * bad + 1) * framing.whole / framing.frames
        yield evidence.candidate(decoder, spec, probes, signal, reasons)


def jtag(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """A mode line that steers a TAP: long stays in few states, scans between them."""
    for tck, tms in _pairs(evidence.lines):
        share = _low_share(tck, tms, np.ones(len(tms), dtype=np.bool_))
        if len(tck) < 32 or len(tms) >= len(tck) or share is None or _aligned(share) < 0.95:
            continue
        rest = [line for line in evidence.lines if line not in (tck, tms)]
        probes = {"tck": tck.name, "tms": tms.name}
        for role in ("tdi", "tdo"):
            named = [line.name for line in rest if is_named("jtag", role, line.name)]
            probes.update({role: named[0]} if named else {})
        spec, trial = evidence.trial(decoder, probes, {})
        bad = trial.count("jtag.scans", "error")
        good = trial.count("jtag.scans") - bad
        if not good:
            continue
        states = trial.rows("jtag.states")
        clocks = max(1, int(states["clocks"].sum()))
        stay = states["kind"].isin(["shift-dr", "shift-ir", "run-test/idle", "test-logic-reset"])
        useful = int(states.loc[stay, "clocks"].sum()) / clocks
        reasons = [
            f"{useful:.0%} of the clocks of {tck.name} are spent shifting, idle or in reset; a line "
            f"that is not TMS would walk through all states",
            sentence(good, "scans", bad),
        ]
        # A walk without a plan spends about half its clocks there.
        signal = max(0.0, 2 * useful - 1) * good / (good + 4 * bad + 0.2)
        yield evidence.candidate(decoder, spec, probes, signal, reasons)


def parallel(evidence: Evidence, decoder: Decoder) -> Iterator[Candidate]:
    """Data lines by name that move at one edge of a clock; any lines could be such a bus."""
    probes = fitting_probes(decoder, evidence.edges.channels)
    if probes is None:
        return
    data = [probe for channel, probe in probes.items() if channel not in ("clk", "enable")]
    moving = {line.name: line for line in evidence.lines}
    if len(data) < 2 or not any(probe in moving for probe in data):
        return
    clk = moving.get(probes.get("clk", ""))
    if clk is None:
        # Analyzers name any lines so.
        signal, why = _NO_CLOCK, "there is no clock, so every change would be a value"
    else:
        shares = [
            _low_share(clk, moving[probe], np.ones(len(moving[probe]), dtype=np.bool_))
            for probe in data
            if probe in moving
        ]
        known = [share for share in shares if share is not None]
        signal = min(map(_aligned, known), default=0.0) ** 2
        low = sum(known) >= len(known) / 2
        why = f"data moves while {clk.name} is {'low' if low else 'high'}"
    spec, trial = evidence.trial(decoder, probes, {})
    if trial.good:
        reasons = [why, sentence(trial.good, "values", trial.bad)]
        yield evidence.candidate(decoder, spec, probes, signal * trial.quality, reasons)


def _pairs(lines: Sequence[Line]) -> Iterator[tuple[Line, Line]]:
    return permutations(lines[:_MOST_LINES], 2)


@dataclass(frozen=True, slots=True, eq=False)
class _Framing:
    """Selections of a chip select in which a clock runs, and how many hold whole words only."""

    cs: Line
    level: int
    begins: npt.NDArray[np.int64]
    frames: int
    whole: int

    def selected(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return np.asarray(self.cs.level_at(at) == self.level)


def _framing(clk: Line, cs: Line) -> _Framing | None:
    """Return how ``cs`` frames ``clk``; None where it does not."""
    if len(clk) < 2 * _WORD_BITS or len(cs) >= len(clk):
        return None
    high = float(cs.level_at(clk.sample).mean())
    level = 1 if high >= 0.5 else 0
    if max(high, 1 - high) < _FRAMED:
        return None
    into, out = (cs.rises(), cs.falls()) if level else (cs.falls(), cs.rises())
    begins = into if cs.first != level else np.concatenate(([cs.begin], into))
    ends = out if len(out) == len(begins) else np.concatenate((out, [cs.end]))
    edges = np.searchsorted(clk.sample, ends) - np.searchsorted(clk.sample, begins)
    used = edges > 0
    whole = int((edges[used] % (2 * _WORD_BITS) == 0).sum())
    if not used.any() or whole < 0.5 * used.sum():
        return None
    return _Framing(cs, level, begins[used], int(used.sum()), whole)


def _low_share(clk: Line, line: Line, inside: npt.NDArray[np.bool_]) -> float | None:
    """Return how many of the changes inside come while the clock is low; None for too few."""
    at = line.sample[inside]
    return float((clk.level_at(at) == 0).mean()) if len(at) >= 4 else None


def _aligned(low_share: float) -> float:
    return max(low_share, 1 - low_share)


def _data_roles(lines: Sequence[Line], framing: _Framing) -> tuple[dict[str, str], list[str]]:
    """Return which line is MOSI and which MISO, by name, else by which moves first."""
    roles: dict[str, str] = {}
    for role in ("mosi", "miso"):
        named = [line.name for line in lines if is_named("spi", role, line.name)]
        if len(named) == 1 and named[0] not in roles.values():
            roles[role] = named[0]
    left = [line for line in lines if line.name not in roles.values()]
    if not left:
        return roles, []
    if roles:
        roles["miso" if "mosi" in roles else "mosi"] = left[0].name
        return roles, []

    def delay(line: Line) -> float:
        at = np.searchsorted(line.sample, framing.begins)
        there = at < len(line)
        return float(np.median(line.sample[at[there]] - framing.begins[there]))

    left = sorted(left, key=delay)
    roles = dict(zip(("mosi", "miso"), (line.name for line in left), strict=False))
    return roles, [
        f"{left[0].name} is the first to move after a select, so it is taken for MOSI; "
        "the signal cannot tell for certain"
    ]
