"""Rule for sigrok's decoders of which we have none of our own: on what no decoder of ours explains.

Nothing in such a decoder says when it has understood a signal, and half of those that read one line make something
of any. So names call for it, and a trial run confirms it: how many of its annotations are errors or warnings, by
the names of their classes, and which edges stand inside the others. All trial runs are in one worker, which starts
with the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import EDGES, Decoder, OptionValue
from freezeframe.decoders.guess.candidate import Evidence, Finding
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.names import NameBook
from freezeframe.decoders.guess.trial import first_edges, spec_text
from freezeframe.decoders.registry import SIGROK
from freezeframe.decoders.srd.adapter import SrdDecode
from freezeframe.decoders.srd.trials import SrdTrial, SrdTrials, TrialRows

# What sigrok calls decoders that make something of any signal: such a one proves nothing by it.
_ANY_SIGNAL = frozenset({"Util", "Encoding", "Clock/timing"})
# Bits of one name, from which a decoder is tried for it: everybody has a clk and a data; two may share the latter.
_TOLD_BITS, _OWN_BITS = 3.0, 4.5
_MOST_EDGES = 2000
_MOST_SAMPLES = 1 << 18
_PULSE = 16  # samples of the short pulses, to which a stretch is thinned
_LEAD = 1024  # samples before the first change
_BAD, _WARNING = re.compile(r"err|invalid|bad|fail|glitch"), re.compile(r"warn|unknown")
_WARNS = 0.25  # of an error
_CANNOT_FAIL = 3.0  # bits, by which the run of a decoder without a class for errors tells less


@dataclass(frozen=True, slots=True)
class _Plan:
    """A decoder on its lines, with what differs from its default options."""

    decoder: Decoder
    decode: SrdDecode
    probes: Mapping[str, str]
    options: Mapping[str, OptionValue]

    def trial(self) -> SrdTrial:
        names = dict(
            zip((c.id for c in self.decoder.channels), _sigrok_channels(self.decode), strict=True)
        )
        step = self.decode.step(self.decoder.option_values(self.options))
        channels = {names[channel]: probe for channel, probe in self.probes.items()}
        return SrdTrial(step.id, step.options, channels)


class SigrokRule:
    """Tries sigrok's decoders, for one capture after the other."""

    def __init__(self, decoders: Sequence[Decoder], book: NameBook) -> None:
        """Take those of the registry that are sigrok's, read edges, and have no twin of ours."""
        self._book = book
        ours = {decoder.id for decoder in decoders if not decoder.id.startswith(SIGROK)}
        self._decoders = [
            (decoder, decoder.decode)
            for decoder in decoders
            if isinstance(decoder.decode, SrdDecode)
            and decoder.consumes == EDGES
            and book.protocol(decoder) not in ours
        ]
        self._trials: SrdTrials | None = None

    def close(self) -> None:
        """End the worker; nothing happens where there is none."""
        if self._trials is not None:
            self._trials.close()
            self._trials = None

    def findings(self, evidence: Evidence, free: Sequence[Line]) -> Iterator[Finding]:
        """Yield what decoders make of the lines that nothing else explains."""
        names = {line.name for line in free}
        plans = [plan for plan in self._by_name(evidence) if names & set(plan.probes.values())]
        for probes in {tuple(sorted(set(plan.probes.values()))) for plan in plans}:
            some = [p for p in plans if tuple(sorted(set(p.probes.values()))) == probes]
            edges = _thinned(evidence.edges.select(probes))
            try:
                found = self._worker(some[0].decode).run(edges, [plan.trial() for plan in some])
            except FreezeframeError:
                continue  # the worker is gone; others of this capture are tried in a new one
            for plan, rows in zip(some, found, strict=True):
                if len(rows.begin):
                    yield _finding(evidence, plan, rows, edges)

    def _worker(self, decode: SrdDecode) -> SrdTrials:
        if self._trials is None:
            self._trials = SrdTrials(decode.location)
        return self._trials

    def _by_name(self, evidence: Evidence) -> Iterator[_Plan]:
        for decoder, decode in self._decoders:
            probes = evidence.named(decoder)
            if not probes:
                continue
            general = _ANY_SIGNAL.issuperset(decode.description.tags)
            # Without a class for errors its run confirms nothing: then one name must be its own.
            least = _TOLD_BITS if _can_fail(decode) else _OWN_BITS
            for fit in _each_fit(evidence, decoder, probes):
                told = self._book.judge(decoder, fit).best_bits >= least
                if told and (not general or self._book.own(decoder, fit)):
                    for options in _polarities(decoder):
                        yield _Plan(decoder, decode, fit, options)


def _can_fail(decode: SrdDecode) -> bool:
    return any(_BAD.search(n) or _WARNING.search(n) for n in decode.description.classes)


def _each_fit(
    evidence: Evidence, decoder: Decoder, probes: dict[str, str]
) -> Iterator[dict[str, str]]:
    """Yield the probes that fit; of a decoder that reads one line each line that its name may mean."""
    if len(probes) > 1:
        yield probes
        return
    (channel,) = probes
    for line in evidence.lines:
        if evidence.fits(decoder, channel, line.name):
            yield {channel: line.name}


def _polarities(decoder: Decoder) -> Iterator[dict[str, OptionValue]]:
    """Yield the options to try: the default, and the other polarity where there is one to choose."""
    yield {}
    for option in decoder.options:
        if option.id == "polarity":
            yield from (
                {option.id: choice} for choice in option.choices if choice != option.default
            )


def _sigrok_channels(decode: SrdDecode) -> list[str]:
    return [channel.id for channel in decode.description.channels]


def _thinned(edges: Edges) -> Edges:
    """Return the first edges with fewer samples: a worker goes through all of them.

    Short pulses keep sixteen samples, and what was long before the first change is left out.
    """
    edges = first_edges(edges, _MOST_EDGES)
    widths = np.diff(edges.sample[1:])
    short = int(np.percentile(widths, 5)) if len(widths) else 1
    step = max(1, short // _PULSE)
    first = int(edges.sample[1]) if len(edges) > 1 else 0
    begin = max(0, first // step - _LEAD)
    at = np.maximum(0, edges.sample // step - begin)
    # Of changes that fall together the last is the level that follows.
    last = np.append(at[1:] != at[:-1], True)
    at, value = at[last], edges.value[last]
    end = min(int(edges.end_sample // step) - begin + 1, _MOST_SAMPLES)
    inside = at < end
    return replace(
        edges,
        sample=at[inside],
        value=value[inside],
        samplerate_hz=max(1, round(edges.samplerate_hz / step)),
        begin_sample=0,
        end_sample=end,
    )


def _finding(evidence: Evidence, plan: _Plan, rows: TrialRows, edges: Edges) -> Finding:
    said = plan.decode.description
    badness = np.array(
        [1.0 if _BAD.search(n) else _WARNS if _WARNING.search(n) else 0.0 for n in said.classes]
    )
    bad_rows = badness[rows.ann_class]
    is_bad = bad_rows > 0
    row_of = np.full(len(badness), -1)
    for number, (_, classes) in enumerate(said.rows):
        row_of[list(classes)] = number
    # Errors are of whole messages, most annotations of single bits: the row with the fewest is what they count beside.
    levels = np.unique(row_of[rows.ann_class[~is_bad]], return_counts=True)[1]
    good = int((~is_bad).sum())
    errors = float(bad_rows.sum()) + (1 if rows.error else 0)
    bad = round(errors * good / int(levels.min())) if good else round(errors)
    spec = spec_text(plan.decoder, plan.probes, plan.options, evidence.probes)
    return Finding(
        plan.decoder,
        spec,
        plan.probes,
        good,
        bad,
        _explained(edges, rows.begin[~is_bad], rows.end[~is_bad]),
        None,
        ("annotation", "annotations"),
        0.0 if badness.any() else _CANNOT_FAIL,
        against=[f"the decoder fails: {rows.error}"] if rows.error else [],
    )


def _explained(edges: Edges, begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64]) -> float:
    """Return the share of the changes inside annotations, but those of more than half the stretch."""
    short = 2 * (end - begin) < edges.end_sample
    begin, end = begin[short], end[short]
    at = edges.sample[1:]
    if not len(begin) or not len(at):
        return 0.0
    order = np.argsort(begin, kind="stable")
    begin, end = begin[order], np.maximum.accumulate(end[order])
    last = np.searchsorted(begin, at, side="right") - 1
    return float(((last >= 0) & (end[last] >= at)).mean())
