"""Why a decoder may have found nothing: a channel that it was given never changes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from freezeframe.capture.files.choice import OpenSource
from freezeframe.decoders.contract import Channel, Decoder
from freezeframe.decoders.guess.lines import Line, lines_of, sampled
from freezeframe.decoders.guess.propose import Guess, guess
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import step_probes
from freezeframe.decoders.spec import match_channels, parse_spec, with_probe

_MOST_CHANNELS = 64
_MOST_NAMED = 3


def still_channels(source: OpenSource, specs: Sequence[str], registry: Registry) -> str:
    """Return ``rx never changes; tx has 1,978 edges; say -d uart:rx=tx``, or "" where every channel in use changes.

    What to say is told of a decoder of one line that never changes, where one other line changes, or where the best
    proposal for such a decoder stands on one of them.

    Raises:
        InputError: the capture cannot be read.
    """
    there = source.header.channels
    used: set[str | None] = set()
    for spec in specs:
        step = parse_spec(spec, registry).steps[0]
        used |= set(match_channels(step.decoder, step_probes(step, source.header), there))
    names = sorted(there, key=lambda name: name not in used)[:_MOST_CHANNELS]
    edges, whole = sampled(source.read(names))
    lines = lines_of(edges, names)
    still = [line.name for line in lines if line.name in used and not len(line)]
    if not still:
        return ""
    others = sorted(
        (line for line in lines if line.name not in used and len(line)), key=lambda line: -len(line)
    )
    moving = ", ".join(
        f"{line.name} has {len(line):,} edge{'s' if len(line) > 1 else ''}"
        for line in others[:_MOST_NAMED]
    )
    part = "" if whole else f" in the first {len(edges):,} edges"
    verb = "never changes" if len(still) == 1 else "never change"
    said = [f"{', '.join(still)} {verb}{part}"]
    said += [moving] if moving else []
    said += [f"say {advice}"] if (advice := _advice(source, specs, registry, still, others)) else []
    return "; ".join(said)


def _advice(
    source: OpenSource,
    specs: Sequence[str],
    registry: Registry,
    still: Sequence[str],
    others: Sequence[Line],
) -> str:
    """Return the options ``-d`` with the still line of each decoder of one line exchanged; "" where there is none."""
    options = []
    proposed: Guess | None = None
    for spec in specs:
        step = parse_spec(spec, registry).steps[0]
        probes = step_probes(step, source.header)
        needed = [channel for channel in step.decoder.channels if not channel.optional]
        chosen = match_channels(step.decoder, probes, source.header.channels)
        if len(needed) != 1 or chosen[step.decoder.channels.index(needed[0])] not in still:
            continue
        other = others[0].name if len(others) == 1 else ""
        if len(others) > 1:
            proposed = proposed or guess(source, registry)
            other = _proposed(proposed, step.decoder, needed[0], registry)
        if other:
            options.append(f"-d {shlex.quote(with_probe(spec, needed[0].id, other, registry))}")
    return " ".join(options)


def _proposed(found: Guess, decoder: Decoder, channel: Channel, registry: Registry) -> str:
    """Return the probe on which the best proposal for a decoder has its one line; "" where there is none."""
    for candidate in found.proposals:
        step = parse_spec(candidate.spec, registry).steps[0]
        if step.decoder.id == decoder.id:
            return step.probes.get(channel.id) or (
                candidate.probes[0] if len(candidate.probes) == 1 else ""
            )
    return ""
