"""Rule for a decoder that declares no evidence of its own: its names, or one or two lines, and a trial run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.guess.candidate import Evidence, Finding

_MOST_LINES = {1: 6, 2: 3}  # that are tried without names, by how many a decoder needs
_FEW = 4  # good rows, less than which say nothing where no name does
_ERRORS = 0.2  # likewise, of the rows
_TOLD_BITS = 3.0  # of one name; ``clk`` and ``data`` say nothing
# Bits, by which lines that neither a name nor a rule calls for are a shot in the dark.
_UNTOLD = 1.5


def plain(evidence: Evidence, decoder: Decoder) -> Iterator[Finding]:
    """Yield the lines that are called as the channels; else such on which a run goes well."""
    probes = evidence.named(decoder)
    if probes and evidence.book.judge(decoder, probes).best_bits >= _TOLD_BITS:
        if any(evidence.line(probe) for probe in probes.values()):
            yield from _tried(evidence, decoder, probes, least=1)
        return
    needed = [channel.id for channel in decoder.channels if not channel.optional]
    lines = evidence.lines[: _MOST_LINES.get(len(needed), 0)]
    for chosen in permutations(lines, len(needed)) if lines else ():
        probes = {channel: line.name for channel, line in zip(needed, chosen, strict=True)}
        if evidence.book.judge(decoder, probes).bits_against < 1:
            yield from _tried(evidence, decoder, probes, least=_FEW)


def _tried(
    evidence: Evidence, decoder: Decoder, probes: Mapping[str, str], *, least: int
) -> Iterator[Finding]:
    """Judge by the table that is declared first: of what a decoder makes it is what it is there for."""
    spec, trial = evidence.trial(decoder, probes, {})
    if not trial.tables:
        return
    kind = decoder.produces[0].kind
    bad = trial.errors(kind)
    good = trial.count(kind) - trial.count(kind, "error")
    if good >= least and (least == 1 or bad <= _ERRORS * good):
        timed = "t_end_ps" in trial.table(kind).column_names
        explained = trial.explained_by(kind) if timed else 0.0
        rare = 0.0 if least == 1 else _UNTOLD
        counted = trial.counted(kind)
        yield Finding(decoder, spec, probes, good, bad, explained, counted, rare_bits=rare)
