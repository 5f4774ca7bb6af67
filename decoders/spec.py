"""What the user asks for: ``NAME[:option=value,channel=PROBE...][+NAME...]``, parsed and fitted.

``+`` stacks: the table of one decoder is the input of the next. A probe may have any name: in a value
``:`` and ``=`` mean themselves, and so does a ``+`` that no decoder's name follows (``dp=D+``). A
backslash takes the meaning from the character after it (``\\+ \\, \\\\``) where it would have one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.source import listed
from freezeframe.decoders.channel_names import called
from freezeframe.decoders.contract import Decoder, OptionValue, OptionValues
from freezeframe.decoders.registry import Registry

# A decoder may follow: its name, and then its settings, the next one or the end.
_STACKING = re.compile(r"\+(?=\s*[0-9]*[a-z][a-z0-9_-]*\s*(?:[:+]|$))")


@dataclass(frozen=True, slots=True)
class Step:
    """A decoder with its settings. ``probes`` is what the user said: channel id -> probe name."""

    decoder: Decoder
    options: OptionValues
    probes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stack:
    """Decoders that fit on each other, the first on the capture; ``spec`` is the user's text."""

    spec: str
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """The decoders' names as the user stacks them: ``mdio+phylink``."""
        return "+".join(step.decoder.id for step in self.steps)

    @property
    def consumes(self) -> str:
        return self.steps[0].decoder.consumes


def parse_spec(spec: str, registry: Registry) -> Stack:
    """Return the stack that ``spec`` describes.

    Raises:
        InputError: the text is malformed, a decoder, option or channel is unknown, a value is not
            allowed, or a decoder does not take what the one before it makes. The message names
            the part.
    """
    steps = tuple(_parse_step(part, spec, registry) for part in _steps(spec))
    for below, above in pairwise(steps):
        kinds = below.decoder.stackable
        if above.decoder.consumes not in kinds:
            raise InputError(
                f"decoder spec {spec!r}: {above.decoder.id} takes {above.decoder.consumes}, but "
                f"{below.decoder.id} makes {', '.join(kinds)}"
            )
    return Stack(spec, steps)


def layers_of(spec: str) -> list[str]:
    """Return the specs of a stack's layers, the lowest first, itself last: ``spi``, ``spi+enc28j60``."""
    parts = _steps(spec)
    return ["+".join(parts[: number + 1]) for number in range(len(parts))]


def with_probe(spec: str, channel: str, probe: str, registry: Registry) -> str:
    """Return a spec with its first decoder's channel on this probe, everything else as it is written.

    Raises:
        InputError: as `parse_spec`.
    """
    decoder = parse_spec(spec, registry).steps[0].decoder
    first = _steps(spec)[0]
    name, colon, rest = _halves(first, ":")
    called_so = next({each.id, *each.aliases} for each in decoder.channels if each.id == channel)
    kept = [
        setting
        for setting in (_split(rest, ",") if colon else ())
        if _plain(_halves(setting, "=")[0]).strip() not in called_so
    ]
    settings = ",".join([f"{channel}={spec_value(probe)}", *kept])
    return f"{name}:{settings}{spec[len(first) :]}"


def match_channels(
    decoder: Decoder, given: Mapping[str, str], probes: Sequence[str]
) -> tuple[str | None, ...]:
    """Return the probe for each channel, in order; None for an optional one that is not there.

    A channel that the user did not name takes the probe that is called so (`channel_names`); an
    optional one none that the user gave to another channel, and none where the user gave ``""``. A
    probe may stand for several channels where the user gave it to each (half duplex, three-wire SPI).

    Raises:
        InputError: a probe is not in the capture, a channel that is needed has none, two probes
            could be meant, or a probe that no name was given for stands for two channels.
    """
    named = {probe for name in given.values() for probe in _called(name, probes)}
    chosen: list[str | None] = []
    for channel in decoder.channels:
        what = f"decoder {decoder.id}: channel {channel.id}"
        wanted = given.get(channel.id)
        if wanted == "" and channel.optional:
            chosen.append(None)
            continue
        if wanted is None:
            same = called(decoder, channel, probes)
            if channel.optional:
                same = [probe for probe in same if probe not in named]
        else:
            same = _called(wanted, probes)
        if len(same) > 1:
            raise InputError(
                f"{what}: {' and '.join(same)} could both be meant; "
                f"say {channel.id}={spec_value(same[0])} or {channel.id}={spec_value(same[1])}"
            )
        if not same and wanted is not None:
            raise InputError(f"{what}: there is no probe {wanted!r}; {_there(probes)}")
        if not same and not channel.optional:
            raise InputError(
                f"{what} ({channel.doc}) has no probe; say {channel.id}=PROBE; {_there(probes)}"
            )
        chosen.append(same[0] if same else None)
    _refuse_shared(decoder, given, chosen)
    return tuple(chosen)


def _refuse_shared(
    decoder: Decoder, given: Mapping[str, str], chosen: Sequence[str | None]
) -> None:
    """Refuse a probe for two channels that the user did not give to each of them.

    Raises:
        InputError: there is one.
    """
    for number, probe in enumerate(chosen):
        if probe is None or probe not in chosen[:number]:
            continue
        pair = (decoder.channels[chosen.index(probe)].id, decoder.channels[number].id)
        if not all(channel in given for channel in pair):
            both = ",".join(f"{channel}={spec_value(probe)}" for channel in pair)
            raise InputError(
                f"decoder {decoder.id}: channels {pair[0]} and {pair[1]} both stand on probe {probe}; "
                f"say {both} if that is meant"
            )


def spec_value(value: OptionValue) -> str:
    """Return a value as it stands in a spec, with a backslash where it needs one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = str(value).replace("\\", "\\\\").replace(",", "\\,")
    return _STACKING.sub(r"\\+", text)


def _there(probes: Sequence[str]) -> str:
    return f"probes of the capture: {listed(probes) or 'none'}"


def _called(name: str, probes: Sequence[str]) -> list[str]:
    """Return the probes of this name; only where there is none, those in other letters."""
    exact = [probe for probe in probes if probe == name]
    return exact or [probe for probe in probes if probe.lower() == name.lower()]


def _parse_step(part: str, spec: str, registry: Registry) -> Step:
    where = f"decoder spec {spec!r}"
    name, colon, rest = _halves(part, ":")
    name = _plain(name).strip()
    if not name:
        raise InputError(
            f"{where}: a decoder's name is missing; the form is NAME[:option=value,...][+NAME...]"
        )
    decoder = _find(name, part, spec, registry)
    meant = {alias: channel.id for channel in decoder.channels for alias in channel.aliases}
    meant |= {channel.id: channel.id for channel in decoder.channels}
    given: dict[str, str] = {}
    for setting in _split(rest, ",") if colon else ():
        key, equals, value = _halves(setting, "=")
        key = _plain(key).strip()
        if not equals or not key:
            raise InputError(
                f"{where}: {setting!r} is not option=value or channel=PROBE; a comma inside a name "
                "is written \\,"
            )
        # What sigrok calls an option may be what we call a channel, never the other way round.
        name = key if any(key == option.id for option in decoder.options) else meant.get(key, key)
        if name in given:
            raise InputError(
                f"{where}: {name} is given twice"
                + (f"; {key} is another name of it" if key != name else "")
            )
        given[name] = _plain(value)
    probes = {key: given.pop(key) for key in list(given) if key in meant}
    known = {name for option in decoder.options for name in option.names}
    for key in given:
        if key not in known:
            raise InputError(
                f"{where}: {decoder.id} has no option or channel {key}; options: "
                f"{', '.join(sorted(option.id for option in decoder.options)) or 'none'}; channels: "
                f"{', '.join(channel.id for channel in decoder.channels) or 'none'}"
            )
    return Step(decoder, decoder.option_values(given), probes)


def _find(name: str, part: str, spec: str, registry: Registry) -> Decoder:
    """Return a decoder; where there is none, its name may be the end of a probe's.

    Raises:
        InputError: there is none.
    """
    try:
        return registry.find(name)
    except InputError as error:
        if "=" not in spec.removesuffix(part):
            raise
        raise InputError(f"{error}; if +{name} is the end of a name, write \\+{name}") from None


def _steps(spec: str) -> list[str]:
    """Split at each ``+``, but in a value only where what follows may be a decoder."""
    parts = [""]
    in_value = escaped = False
    for at, char in enumerate(spec):
        if char == "+" and not escaped and (not in_value or _STACKING.match(spec, at)):
            parts.append("")
            in_value = False
            continue
        parts[-1] += char
        if not escaped and char in "=,":
            in_value = char == "="
        escaped = char == "\\" and not escaped
    return parts


def _halves(text: str, at: str) -> tuple[str, str, str]:
    """Return what is before the first such character that no backslash precedes, it, and the rest."""
    first, *others = _split(text, at)
    return first, at if others else "", at.join(others)


def _split(text: str, at: str) -> list[str]:
    """Split at a character that no backslash precedes; escapes stay as they are."""
    parts = [""]
    escaped = False
    for char in text:
        if char == at and not escaped:
            parts.append("")
        else:
            parts[-1] += char
        escaped = char == "\\" and not escaped
    return parts


def _plain(text: str) -> str:
    plain = ""
    escaped = False
    for char in text:
        if char == "\\" and not escaped:
            escaped = True
        else:
            plain += char
            escaped = False
    return plain
