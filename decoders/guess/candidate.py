"""A decoder that may fit a capture, with the reasons; and what the rules look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.guess.lines import Line
from freezeframe.decoders.guess.names import is_named
from freezeframe.decoders.guess.trial import Trial, spec_text, try_spec
from freezeframe.decoders.registry import Registry

_NAME_WEIGHT = 0.3  # the signal decides; a name may be wrong


@dataclass(frozen=True, slots=True)
class Candidate:
    """A spec with a score from 0 to 1, the probes it explains, and why."""

    spec: str
    score: float
    probes: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the rules look at: the edges, the lines that move, and the decoders to try."""

    edges: Edges
    lines: Sequence[Line]
    probes: tuple[str, ...]
    registry: Registry

    def trial(
        self, decoder: Decoder, probes: Mapping[str, str], options: Mapping[str, OptionValue]
    ) -> tuple[str, Trial]:
        """Return the spec and what came of it."""
        spec = spec_text(decoder, probes, options, self.probes)
        return spec, try_spec(spec, self.edges, self.registry)

    def candidate(
        self,
        decoder: Decoder,
        spec: str,
        probes: Mapping[str, str],
        signal: float,
        reasons: Sequence[str],
    ) -> Candidate:
        """Weigh the signal with the names of the channels."""
        share, why = named_share(decoder, probes)
        score = (1 - _NAME_WEIGHT) * signal + _NAME_WEIGHT * share
        return Candidate(spec, score, tuple(probes.values()), (*why, *reasons))


def named_share(decoder: Decoder, probes: Mapping[str, str]) -> tuple[float, tuple[str, ...]]:
    """Return which share of the channels is named as it should be, and that in words."""
    named = {c: p for c, p in probes.items() if is_named(decoder.id, c, p)}
    if not named:
        return 0.0, ()
    return len(named) / len(probes), (
        "named as such: " + ", ".join(f"{probe} ({channel})" for channel, probe in named.items()),
    )


def sentence(good: int, what: str, bad: int) -> str:
    """Return ``1,234 words, 2 errors``."""
    return f"decoded: {good:,} {what}, {bad:,} {'error' if bad == 1 else 'errors'}"
