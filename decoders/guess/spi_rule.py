"""Rule for SPI: clocks in whole words while a chip select holds, or between pauses, and data that moves at
the clock edge that does not sample it.

SPI has no standard; clock polarity and phase are those of the Motorola SPI Block Guide V04.01, 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Evidence, Finding
from freezeframe.decoders.guess.lines import Line, aligned, low_share
from freezeframe.decoders.guess.names import fitting_probes
from freezeframe.decoders.guess.trial import Trial

_MOST_LINES = 12
_USUAL_BITS = 8
_ODD_BITS: Sequence[int] = range(
    9, 33
)  # sizes of a word that are tried where 8 does not divide the clocks
_FRAMED = 0.98  # clock edges inside a chip select
_WHOLE, _SELECTIONS = (
    0.95,
    4,
)  # a clock that others use too: selections of whole words, by chance one in 16
_ALIGNED = 0.9  # data changes while the clock is at one level
# Bits by which a bus without a chip select is rarer; where the data line is not named either, a clock and a data line
# are many things: calipers, keyboards, shift registers.
_NO_SELECT, _NO_NAME = 2.0, 3.0
_PAUSE = 3  # times the usual distance of clock edges
_DATA = ("mosi", "miso")
_SELECTS = ("cs", "cs1", "cs2", "cs3")


@dataclass(frozen=True, slots=True, eq=False)
class Framing:
    """Stretches in which a clock runs: selections of a chip select, or what pauses separate.

    ``cs`` is None for the latter, ``level`` the one that selects, ``edges`` ``(n,)`` those of the clock in
    each stretch, ``begins`` and ``ends`` ``(n,)`` samples.
    """

    cs: Line | None
    level: int
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    edges: npt.NDArray[np.int64]

    def word_bits(self) -> int:
        """Return the size of a word of which most stretches have whole ones; 8 where none fits."""
        for bits in (_USUAL_BITS, *_ODD_BITS):
            if self.whole(bits) > 0.5 * len(self.edges):
                return bits
        return _USUAL_BITS

    def whole(self, bits: int) -> int:
        """Return how many stretches are of whole words."""
        return int(np.count_nonzero(self.edges % (2 * bits) == 0))

    def inside(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return np.searchsorted(self.begins, at, "right") > np.searchsorted(self.ends, at, "left")


def spi(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Lines by their names, then each line as a clock with each other one as its chip select."""
    lines = list(evidence.lines[:_MOST_LINES])
    said = _by_name(evidence, decoder)
    seen = set()
    for probes, framing in [*said, *_by_signal(evidence, decoder, lines)]:
        key = tuple(sorted(probes.items()))
        if key not in seen:
            seen.add(key)
            yield from _tried(evidence, decoder, probes, framing)


def _by_name(
    evidence: Evidence, decoder: Decoder
) -> Iterator[tuple[dict[str, str], Framing | None]]:
    """Yield buses by the names of their lines; of several in one capture each (``rpi_CLK``, ``uc_CLK``)."""
    for group in _groups(evidence.probes):
        probes = fitting_probes(evidence.book, decoder, group) or {}
        clk = evidence.line(probes.get("clk", ""))
        if clk is None or not {"mosi", "miso"} & probes.keys():
            continue
        selects = [evidence.line(probes[name]) for name in _SELECTS if name in probes]
        framings = [_selections(clk, cs) for cs in selects if cs is not None]
        used = [framing for framing in framings if framing is not None]
        # A line that never selects while the clock runs is not the chip select of this bus.
        if selects and not used:
            probes = {c: p for c, p in probes.items() if c not in _SELECTS}
        yield probes, used[0] if used else _bursts(clk)


def _groups(probes: Sequence[str]) -> list[list[str]]:
    """Return all probes, and those with the same word in front, where there are such."""
    groups: dict[str, list[str]] = {}
    for probe in probes:
        head, mark, _ = probe.partition("_")
        if mark and not head.isdigit():
            groups.setdefault(head.lower(), []).append(probe)
    some = [group for group in groups.values() if len(group) >= 3]
    return some if len(some) > 1 else [list(probes)]


def _by_signal(
    evidence: Evidence, decoder: Decoder, lines: Sequence[Line]
) -> Iterator[tuple[dict[str, str], Framing | None]]:
    for clk in lines:
        others = [line for line in lines if line is not clk]
        selected = [f for cs in others if (f := _selections(clk, cs)) and _frames(f)]
        bursts = _bursts(clk)
        if not selected and bursts is not None and _frames(bursts):
            selected = [bursts]
        for framing in selected:
            data = _data(evidence, decoder, clk, framing, others)
            if not data:
                continue
            probes = {"clk": clk.name, **_roles(evidence, decoder, data, framing)}
            if framing.cs is not None:
                probes["cs"] = framing.cs.name
            yield probes, framing


def _frames(framing: Framing) -> bool:
    """Return whether most stretches are of whole words, more than once where nothing else selects."""
    if framing.cs is None and len(framing.edges) < 3:
        return False
    return framing.whole(framing.word_bits()) > 0.5 * len(framing.edges)


def _data(
    evidence: Evidence, decoder: Decoder, clk: Line, framing: Framing, others: Sequence[Line]
) -> list[Line]:
    """Return up to two lines that move with the clock, those that are named so first."""
    found: list[tuple[bool, float, int, Line]] = []
    for line in others:
        if line is framing.cs:
            continue
        share = low_share(clk, line, line.sample[framing.inside(line.sample)])
        named = any(evidence.fits(decoder, role, line.name) for role in ("mosi", "miso"))
        # What a slow chip sends back may move at any time; then its name has to say it.
        if share is not None and (named or aligned(share) >= _ALIGNED):
            found.append((not named, -aligned(share), len(found), line))
    return [line for *_, line in sorted(found)[:2]]


def _tried(
    evidence: Evidence, decoder: Decoder, probes: dict[str, str], framing: Framing | None
) -> Iterator[Finding]:
    clk = evidence.line(probes["clk"])
    if clk is None:
        return
    data = [line for role in ("mosi", "miso") if (line := evidence.line(probes.get(role, "")))]
    level = clk.idle
    shares = []
    if framing is not None:
        if framing.cs is not None and len(framing.begins):
            level = int(clk.level_at(framing.begins[:1])[0])
        shares = [low_share(clk, d, d.sample[framing.inside(d.sample)]) for d in data]
    known = [share for share in shares if share is not None]
    moves_low = max(known, key=aligned) >= 0.5 if known else level == 0
    # Data that moves while the clock is low is sampled as it rises.
    mode = (3 if level else 0) if moves_low else (2 if level else 1)
    options: dict[str, OptionValue] = {"mode": mode} if mode else {}
    rare = 0.0
    bits = framing.word_bits() if framing is not None else _USUAL_BITS
    if framing is not None and framing.cs is not None and framing.level:
        options["select"] = "active-high"
        rare += 1.0
    if not any(select in probes for select in _SELECTS):
        fits = (evidence.fits(decoder, role, probes[role]) for role in _DATA if role in probes)
        rare += _NO_SELECT + (0.0 if any(fits) else _NO_NAME)
    if bits != _USUAL_BITS:
        options["word_bits"] = bits
        rare += 2.0
    spec, trial = evidence.trial(decoder, probes, options)
    if trial.bad:
        # The other polarity samples at the same edge; which it is the level before a select tells.
        other = {**options, "mode": mode ^ 3}
        other_spec, other_trial = evidence.trial(decoder, probes, other)
        if other_trial.bad < trial.bad:
            mode, spec, trial = mode ^ 3, other_spec, other_trial
    good, bad = trial.count("spi.words", "word"), trial.errors("spi.words")
    if not good and not bad:
        return
    why, against = [f"mode {mode}"], []
    if framing is not None and len(framing.edges):
        whole, of = framing.whole(bits), len(framing.edges)
        name = f"selections of {framing.cs.name}" if framing.cs else "bursts of the clock"
        why.insert(0, f"{whole} of {of} {name} are whole words")
        # Wrong whole words weigh as much as those that a stretch without them has.
        bad += round(good * (1 - whole / of))
    if known and min(map(aligned, known)) < _ALIGNED:
        against.append("data moves at both edges of the clock")
    both = [probes[role] for role in _DATA if role in probes]
    told = any(evidence.fits(decoder, role, name) for role in _DATA for name in both)
    if len(both) == len(_DATA) and not told:
        against.append(f"no name tells which of {' and '.join(both)} is MOSI")
    yield Finding(
        decoder,
        spec,
        probes,
        good,
        bad,
        _explained(trial, [*data, framing.cs] if framing and framing.cs else data),
        trial.counted("spi.words", "word"),
        ("word", "words"),
        rare,
        why,
        against,
    )


def _explained(trial: Trial, lines: Sequence[Line]) -> float:
    """Return the share of the changes of these lines, all but the clock, that stand in transfers.

    The clock may be one that others use too. Where no line but the clock moves, its changes count.
    """
    transfers = trial.table("spi.transfers")
    rows = transfers if len(transfers) else trial.table("spi.words")
    if not lines or trial.edges is None:
        return trial.explained_by("spi.words")
    begin, end = (rows.column(name).to_numpy() for name in ("t_ps", "t_end_ps"))
    words = trial.table("spi.words")
    begun, ended = (words.column(name).to_numpy() for name in ("t_ps", "t_end_ps"))
    after = begun >= (end.max() if len(end) else 0)
    if not trial.whole and after.any():
        # The transfer that is under way where the run ends.
        begin, end = np.append(begin, begun[after].min()), np.append(end, ended[after].max())
    at = np.sort(np.concatenate([line.sample for line in lines]))
    return trial.explained(begin, end, at[at < trial.edges.end_sample])


def _selections(clk: Line, cs: Line) -> Framing | None:
    """Return how ``cs`` frames ``clk``; None where it does not."""
    if len(cs) >= len(clk) or len(clk) < 2:
        return None
    high = float(cs.level_at(clk.sample).mean())
    if max(high, 1 - high) >= _FRAMED:
        return _selected(clk, cs, 1 if high >= 0.5 else 0)
    # The clock of a bus rests between transfers, whoever they are for; one that runs on is another kind of clock.
    if clk.clock_hz:
        return None
    for level in (0, 1):
        framing = _selected(clk, cs, level)
        count = 0 if framing is None else len(framing.edges)
        if framing and count >= _SELECTIONS and framing.whole(_USUAL_BITS) >= _WHOLE * count:
            return framing
    return None


def _selected(clk: Line, cs: Line, level: int) -> Framing | None:
    """Return the stretches in which ``cs`` is at a level, but those that an end of the capture cuts."""
    into, out = (cs.rises(), cs.falls()) if level else (cs.falls(), cs.rises())
    whole = out[1:] if cs.first == level else out
    framing = _framing(clk, cs, level, into[: len(whole)], whole) if len(whole) else None
    if framing is not None:
        return framing
    begins = into if cs.first != level else np.concatenate(([cs.begin], into))
    ends = out if len(out) == len(begins) else np.concatenate((out, [cs.end]))
    return _framing(clk, cs, level, begins, ends)


def _bursts(clk: Line) -> Framing | None:
    """Return the stretches of a clock between pauses; None where it never pauses."""
    widths = clk.widths
    if len(widths) < 2:
        return None
    pauses = np.flatnonzero(widths > _PAUSE * np.median(widths))
    begins = clk.sample[np.concatenate(([0], pauses + 1))]
    ends = clk.sample[np.concatenate((pauses, [len(clk) - 1]))]
    # What the capture cuts is no sign against whole words.
    pause = _PAUSE * np.median(widths)
    first = int(clk.sample[0] - clk.begin < pause and len(begins) > 1)
    last = len(begins) - int(clk.end - clk.sample[-1] < pause and len(begins) > first + 1)
    return _framing(clk, None, 0, begins[first:last], ends[first:last])


def _framing(
    clk: Line,
    cs: Line | None,
    level: int,
    begins: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
) -> Framing | None:
    # The last change of a burst is its end; one at the end of a selection is outside.
    last = ends + 1 if cs is None else ends
    edges = np.searchsorted(clk.sample, last) - np.searchsorted(clk.sample, begins)
    used = edges > 0
    if not used.any():
        return None
    return Framing(cs, level, begins[used], ends[used], edges[used])


def _roles(
    evidence: Evidence, decoder: Decoder, lines: Sequence[Line], framing: Framing
) -> dict[str, str]:
    """Return which line is MOSI and which MISO, by name, else by which moves first after a select."""
    roles: dict[str, str] = {}
    for role in ("mosi", "miso"):
        named = [line.name for line in lines if evidence.fits(decoder, role, line.name)]
        if len(named) == 1 and named[0] not in roles.values():
            roles[role] = named[0]
    left = [line for line in lines if line.name not in roles.values()]
    if not left:
        return roles
    if roles:
        roles["miso" if "mosi" in roles else "mosi"] = left[0].name
        return roles

    def delay(line: Line) -> float:
        at = np.searchsorted(line.sample, framing.begins)
        there = at < len(line)
        return (
            float(np.median(line.sample[at[there]] - framing.begins[there])) if there.any() else 0.0
        )

    ordered = sorted(left, key=delay)
    return dict(zip(("mosi", "miso"), (line.name for line in ordered), strict=False))
