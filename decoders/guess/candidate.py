"""A decoder that may fit a capture, with what speaks for it and against it; and what the rules look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import floor

from freezeframe.capture.count_text import plural
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.counted import Counted
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.names import Claim, NameBook, Named, fitting_probes
from freezeframe.decoders.guess.trial import Trial, spec_text, try_spec
from freezeframe.decoders.guess.weigh import MOST, MOST_AGAINST, Weighed, frequency, points
from freezeframe.decoders.registry import Registry

_FEW = 4  # good rows, with fewer of which the number is said to be small
_MOST_SAID = 3
_RIVAL = 2.0  # bits, by which names must speak more for another decoder


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found on some lines: what to decode there, and how the trial run went.

    ``good`` and ``bad`` are rows, ``explained`` the share of the changes of the lines that stand inside good
    ones. ``rare_bits`` say how unusual the options are: one more bit, half as often met. ``why`` and
    ``against`` put into words what else was seen. ``counted`` is what a run gives as `decode` gives it, and alone
    is stated, in rows called ``what`` (one, and many); None for a run over fewer samples than the capture has,
    whose counts are its own.
    """

    decoder: Decoder
    spec: str
    probes: Mapping[str, str]
    good: int
    bad: int
    explained: float
    counted: Counted | None
    what: tuple[str, str] = ("row", "rows")
    rare_bits: float = 0.0
    why: Sequence[str] = ()
    against: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A spec with a score, the probes it explains, and why.

    ``score`` is a frequency: of proposals with such evidence so many were right, in captures whose protocol is
    known (docs/campaign-guess.md); `stated` is what of it is said. ``counted`` is what a run gave, and over what.
    """

    spec: str
    score: float
    probes: tuple[str, ...]
    why: tuple[str, ...]
    against: tuple[str, ...] = ()
    points: float | None = field(default=None, compare=False)
    counted: Counted | None = None

    @property
    def stated(self) -> float:
        """The score as it is told, in whole percents: no more than was ever measured."""
        return min(MOST_AGAINST if self.against else MOST, floor(100 * self.score) / 100)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What speaks for it, then what speaks against it."""
        return (*self.why, *(f"against it: {reason}" for reason in self.against))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules look at: the edges, the lines that move, and the decoders to try."""

    edges: Edges
    lines: Sequence[Line]
    probes: tuple[str, ...]
    registry: Registry
    book: NameBook
    claims: Sequence[Claim] = ()
    whole: bool = True

    def named(self, decoder: Decoder) -> dict[str, str]:
        """Return probes that are called as channels of a decoder; nothing where a needed one is not."""
        return fitting_probes(self.book, decoder, self.edges.channels) or {}

    def fits(self, decoder: Decoder, channel: str, probe: str) -> bool:
        """Return whether a probe is called as a channel is."""
        return self.book.fit(decoder, channel, probe) > 0

    def line(self, probe: str) -> Line | None:
        """Return a line that moves; None for another probe."""
        return next((line for line in self.lines if line.name == probe), None)

    def trial(
        self, decoder: Decoder, probes: Mapping[str, str], options: Mapping[str, OptionValue]
    ) -> tuple[str, Trial]:
        """Return the spec and what came of it."""
        spec = spec_text(decoder, probes, options, self.probes)
        return spec, try_spec(spec, self.edges, self.registry, whole=self.whole)


def weigh(evidence: Evidence, finding: Finding) -> Candidate:
    """Return what a rule found as a candidate, weighed together with the names of its probes."""
    book = evidence.book
    named = book.judge(finding.decoder, finding.probes, alone=len(evidence.lines) == 1)
    probes = tuple(dict.fromkeys(finding.probes.values()))
    # Where names call for another decoder on more of the lines, they speak against this one.
    rival = max(
        (
            claim
            for claim in evidence.claims
            if claim.protocol != book.protocol(finding.decoder) and claim.probes & set(probes)
        ),
        key=lambda claim: claim.bits,
        default=None,
    )
    if rival is not None and rival.bits >= named.bits_for + _RIVAL:
        named = replace(
            named,
            bits_against=named.bits_against + (rival.bits - named.bits_for) / 2,
            rival=rival.protocol,
        )
    total = points(
        Weighed(
            good=finding.good,
            bad=finding.bad,
            explained=finding.explained,
            bits_for=named.bits_for,
            bits_against=named.bits_against,
            rare_bits=finding.rare_bits,
            lines=len(probes),
        )
    )
    why, against = _words(finding, named)
    return Candidate(finding.spec, frequency(total), probes, why, against, total, finding.counted)


def _words(finding: Finding, named: Named) -> tuple[tuple[str, ...], tuple[str, ...]]:
    why, against = [], []
    if named.fitting:
        why.append(f"named {_some(named.fitting)}")
    why += finding.why
    counted = finding.counted
    if counted is None:
        why.append(f"{finding.what[1]} on its first edges, at fewer samples")
        if finding.bad:
            against.append(f"errors or warnings among the {finding.what[1]}")
    else:
        (against if counted.many_errors else why).append(counted.text(*finding.what))
    if finding.explained >= 0.5:
        why.append(f"{floor(100 * finding.explained)}% of the edges explained")
    else:
        against.append(f"only {floor(100 * finding.explained)}% of the edges explained")
    if named.foreign:
        against.append(f"names of other roles: {_some(named.foreign)}")
    if named.rival:
        against.append(f"the names are those of {named.rival}")
    if counted is not None and counted.rows < _FEW:
        against.append(f"only {plural(counted.rows, *finding.what)}")
    return tuple(why), (*against, *finding.against)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SAID} more" if len(names) > _MOST_SAID else ""
    return ", ".join(names[:_MOST_SAID]) + more
