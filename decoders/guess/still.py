"""Why a decoder may have found nothing: a channel that it was given never changes."""

from __future__ import annotations

from collections.abc import Sequence

from freezeframe.capture.files.choice import OpenSource
from freezeframe.decoders.guess.lines import lines_of, sampled
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.run import step_probes
from freezeframe.decoders.spec import match_channels, parse_spec

_MOST_CHANNELS = 64
_MOST_NAMED = 3


def still_channels(source: OpenSource, specs: Sequence[str], registry: Registry) -> str:
    """Return ``rx never changes; tx has 1,978 edges``, or "" where every channel in use changes.

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
    moving = ", ".join(f"{line.name} has {len(line):,} edges" for line in others[:_MOST_NAMED])
    part = "" if whole else f" in the first {len(edges):,} edges"
    verb = "never changes" if len(still) == 1 else "never change"
    return f"{', '.join(still)} {verb}{part}" + (f"; {moving}" if moving else "")
