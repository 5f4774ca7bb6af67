"""What a user fills in to decode: a decoder, a probe for each channel, a value for each option, as a spec."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from freezeframe.capture.errors import FreezeframeError, InputError
from freezeframe.decoders.channel_names import called
from freezeframe.decoders.contract import EDGES, Decoder, OptionValue
from freezeframe.decoders.registry import Registry
from freezeframe.decoders.spec import match_channels, parse_spec, spec_value


def offered(registry: Registry, specs: Sequence[str]) -> list[Decoder]:
    """Return the decoders that a capture of samples can use: ours first, then those of sigrok.

    One that takes the table of another is offered where such a table can be made; ``specs`` are in use.
    """
    made = {kind for decoder in registry.decoders.values() for kind in decoder.stackable}
    fitting = [
        decoder
        for decoder in registry.decoders.values()
        if decoder.consumes == EDGES or decoder.consumes in made
    ]
    return sorted(fitting, key=lambda d: (d.id.startswith("srd-"), d.consumes != EDGES, d.id))


def bases_for(decoder: Decoder, registry: Registry, specs: Sequence[str]) -> list[str]:
    """Return what a decoder can be stacked on: specs that are in use first, then decoders by name."""
    if decoder.consumes == EDGES:
        return []
    used = []
    for spec in specs:
        try:
            top = parse_spec(spec, registry).steps[-1].decoder
        except FreezeframeError:
            continue  # of a decoder that is no longer installed
        if decoder.consumes in top.stackable:
            used.append(spec)
    named = [
        other.id
        for other in registry.decoders.values()
        if decoder.consumes in other.stackable and other.consumes == EDGES
    ]
    return [*used, *(name for name in sorted(named) if name not in used)]


def proposed_probes(decoder: Decoder, probes: Sequence[str]) -> dict[str, str]:
    """Return the probe for each channel that a name gives away; others are left out."""
    found = {}
    for channel in decoder.channels:
        same = called(decoder, channel, probes)
        if same:
            found[channel.id] = same[0]
    return found


def written_spec(
    decoder: Decoder,
    probes: Mapping[str, str],
    options: Mapping[str, OptionValue],
    base: str = "",
) -> str:
    """Return the spec of a choice; options at their defaults are left out."""
    said = [f"{channel}={spec_value(probe)}" for channel, probe in probes.items() if probe]
    defaults = {option.id: option.default for option in decoder.options}
    said += [
        f"{name}={spec_value(value)}" for name, value in options.items() if value != defaults[name]
    ]
    own = f"{decoder.id}:{','.join(said)}" if said else decoder.id
    return f"{base}+{own}" if base else own


def checked_spec(spec: str, registry: Registry, probes: Sequence[str]) -> str:
    """Return the spec where it can be used on a capture with these probes.

    Raises:
        InputError: it cannot; the message says what to choose.
    """
    stack = parse_spec(spec, registry)
    first = stack.steps[0]
    if first.decoder.consumes != EDGES:
        raise InputError(
            f"{first.decoder.id} takes the table of another decoder; choose one below it"
        )
    match_channels(first.decoder, first.probes, probes)
    return spec
