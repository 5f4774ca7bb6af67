"""Propose decoders for a capture, the best first, each with what speaks for it and against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from freezeframe.capture.files.choice import OpenSource
from freezeframe.decoders.contract import EDGES
from freezeframe.decoders.guess.candidate import Candidate, Evidence, weigh
from freezeframe.decoders.guess.lines import Line, lines_of, sampled
from freezeframe.decoders.guess.names import NameBook, fitting_probes
from freezeframe.decoders.guess.plain_rule import plain
from freezeframe.decoders.guess.sigrok_rule import SigrokRule
from freezeframe.decoders.guess.stacks import stacks
from freezeframe.decoders.registry import Registry

_MOST_CHANNELS = 64
_WIDE = 24  # lines that a bus needs
LEAST = 0.6  # below, a proposal is about as often wrong as right
_WORTH_A_WORD = 0.2  # where nothing is proposed


@dataclass(frozen=True, slots=True)
class Guess:
    """Proposals, the best first, and the lines they rest on.

    ``edges``: of all these lines; ``whole``: none was left out. ``nothing`` says why where there is no proposal,
    else "". ``seen`` are all candidates, also those that are not proposed.
    """

    proposals: tuple[Candidate, ...]
    lines: tuple[Line, ...]
    edges: int
    whole: bool
    nothing: str = ""
    seen: tuple[Candidate, ...] = ()


class Guesser:
    """Looks at captures, one after the other, with the same decoders."""

    def __init__(self, registry: Registry) -> None:
        """Read the names of all decoders."""
        self._native = Registry(registry.native)
        self._decoders = list(registry.decoders.values())
        self._book = NameBook(self._decoders)
        self._sigrok = SigrokRule(self._decoders, self._book)

    def guess(self, source: OpenSource) -> Guess:
        """Look at the first edges of a capture and say which decoders fit it.

        Raises:
            InputError: the capture cannot be read, or has no channel.
        """
        probes = source.header.channels
        named = self._named_first(probes)[:_MOST_CHANNELS]
        edges, whole = sampled(source.read(named))
        lines = lines_of(edges, named)
        moving = sorted((line for line in lines if len(line)), key=lambda line: -len(line))
        claims = self._book.claims(self._decoders, named)
        evidence = Evidence(edges, moving, tuple(probes), self._native, self._book, claims, whole)
        seen = list(self._candidates(evidence))
        ours = apart(seen)
        explained = {probe for each in ours for probe in each.probes}
        free = [line for line in moving if line.name not in explained]
        if free:
            findings = self._sigrok.findings(evidence, free)
            seen += [weigh(evidence, finding) for finding in findings]
        found = [
            each
            for base in apart(seen)
            for each in (base, *(stacks(base, evidence) if base in ours else ()))
        ]
        nothing = "" if found else self._wide_bus(probes) or _reason(lines, seen)
        counted = sum(len(line) for line in lines)  # two lines that change at once are two edges
        return Guess(tuple(found), tuple(lines), counted, whole, nothing, tuple(seen))

    def __enter__(self) -> Guesser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker of sigrok's decoders; nothing happens where there is none."""
        self._sigrok.close()

    def _candidates(self, evidence: Evidence) -> Iterator[Candidate]:
        for decoder in self._native.decoders.values():
            if decoder.consumes == EDGES:
                rule = decoder.evidence or plain
                for finding in rule(evidence, decoder):
                    yield weigh(evidence, finding)

    def _wide_bus(self, probes: Sequence[str]) -> str:
        """Return that the probes are called as the lines of a bus of many, in words; such a one is not tried."""
        wide = [
            decoder.id
            for decoder in self._native.decoders.values()
            if sum(not channel.optional for channel in decoder.channels) >= _WIDE
            and fitting_probes(self._book, decoder, probes)
        ]
        told = " or ".join(f"-d {name}" for name in wide)
        return (
            f"the names are those of {' and '.join(wide)}, which is not tried: say {told}"
            if wide
            else ""
        )

    def _named_first(self, probes: Sequence[str]) -> list[str]:
        """Return the probes, those first whose names tell the most."""
        return sorted(probes, key=lambda probe: not self._book.known(probe))


def guess(source: OpenSource, registry: Registry) -> Guess:
    """Look at one capture; see `Guesser.guess`.

    Raises:
        InputError: the capture cannot be read, or has no channel.
    """
    with Guesser(registry) as guesser:
        return guesser.guess(source)


def apart(seen: Sequence[Candidate]) -> list[Candidate]:
    """Return the best that share no line, best first: what a better one explains needs no other."""
    chosen: list[Candidate] = []
    explained: set[str] = set()
    # Of equals the one that explains more lines.
    for candidate in sorted(seen, key=lambda c: (-c.score, -len(c.probes))):
        if candidate.score >= LEAST and not explained & set(candidate.probes):
            chosen.append(candidate)
            explained |= set(candidate.probes)
    return chosen


def _reason(lines: Sequence[Line], seen: Sequence[Candidate]) -> str:
    """Return why nothing is proposed."""
    moving = [line for line in lines if len(line)]
    if not moving:
        return "no channel changes"
    if all(line.clock_hz for line in moving):
        return "there are only clocks"
    best = max(seen, key=lambda candidate: candidate.score, default=None)
    if best is not None and best.against:
        return f"the nearest is {best.spec}, but {'; '.join(best.against)}"
    if best is not None and best.score >= _WORTH_A_WORD:
        return (
            f"the nearest is {best.spec} with {best.stated:.0%}, and {LEAST:.0%} are the least that is proposed "
            f"({'; '.join(best.why)})"
        )
    return "no trial run of a decoder went well"
