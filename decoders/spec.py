"""What the user asks for: ``NAME[:option=value,channel=PROBE...][+NAME...]``, parsed and fitted.

``+`` stacks: the table of one decoder is the input of the next. A backslash takes the meaning
from the character after it (``\\+ \\: \\, \\= \\\\``), so that a probe may be named ``D+``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.source import listed
from freezeframe.decoders.contract import Decoder, OptionValues
from freezeframe.decoders.registry import Registry


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
    steps = tuple(_parse_step(part, spec, registry) for part in _split(spec, "+"))
    for below, above in pairwise(steps):
        kinds = below.decoder.stackable
        if above.decoder.consumes not in kinds:
            raise InputError(
                f"decoder spec {spec!r}: {above.decoder.id} takes {above.decoder.consumes}, but "
                f"{below.decoder.id} makes {', '.join(kinds)}"
            )
    return Stack(spec, steps)


def match_channels(
    decoder: Decoder, given: Mapping[str, str], probes: Sequence[str]
) -> tuple[str | None, ...]:
    """Return the probe for each channel, in order; None for an optional one that is not there.

    A channel that the user did not name takes the probe of the same name, else of an alias, small
    and capital letters being equal; an optional one none that the user gave to another channel.

    Raises:
        InputError: a probe is not in the capture, a channel that is needed has none, two probes
            could be meant, or one probe stands for two channels.
    """
    named = {probe for name in given.values() for probe in _called(name, probes)}
    chosen: list[str | None] = []
    for channel in decoder.channels:
        what = f"decoder {decoder.id}: channel {channel.id}"
        wanted = given.get(channel.id, channel.id)
        same = _called(wanted, probes)
        if not same and channel.id not in given:
            names = {alias.lower() for alias in channel.aliases}
            same = [probe for probe in probes if probe.lower() in names]
        if channel.optional and channel.id not in given:
            same = [probe for probe in same if probe not in named]
        if len(same) > 1:
            raise InputError(
                f"{what}: {' and '.join(same)} could both be meant; "
                f"say {channel.id}={same[0]} or {channel.id}={same[1]}"
            )
        if not same and channel.id in given:
            raise InputError(f"{what}: there is no probe {wanted!r}; {_there(probes)}")
        if not same and not channel.optional:
            raise InputError(
                f"{what} ({channel.doc}) has no probe; say {channel.id}=PROBE; {_there(probes)}"
            )
        chosen.append(same[0] if same else None)
    for number, probe in enumerate(chosen):
        if probe is not None and probe in chosen[:number]:
            other = decoder.channels[chosen.index(probe)].id
            this = decoder.channels[number].id
            raise InputError(
                f"decoder {decoder.id}: channels {other} and {this} both stand on probe {probe}"
            )
    return tuple(chosen)


def _there(probes: Sequence[str]) -> str:
    return f"probes of the capture: {listed(probes) or 'none'}"


def _called(name: str, probes: Sequence[str]) -> list[str]:
    """Return the probes of this name; only where there is none, those in other letters."""
    exact = [probe for probe in probes if probe == name]
    return exact or [probe for probe in probes if probe.lower() == name.lower()]


def _parse_step(part: str, spec: str, registry: Registry) -> Step:
    where = f"decoder spec {spec!r}"
    name, *rest = _split(part, ":")
    name = _plain(name).strip()
    if not name:
        raise InputError(
            f"{where}: a decoder's name is missing; the form is NAME[:option=value,...][+NAME...]"
        )
    if len(rest) > 1:
        raise InputError(
            f"{where}: more than one ':' after {name}; write \\: for one inside a value"
        )
    decoder = registry.find(name)
    channel_ids = {channel.id for channel in decoder.channels}
    option_ids = {option.id for option in decoder.options}
    options: dict[str, str] = {}
    probes: dict[str, str] = {}
    for setting in _split(rest[0], ",") if rest else ():
        key, *values = _split(setting, "=")
        key = _plain(key).strip()
        if len(values) != 1 or not key:
            raise InputError(f"{where}: {setting!r} is not option=value or channel=PROBE")
        if key in options or key in probes:
            raise InputError(f"{where}: {key} is given twice")
        if key in channel_ids:
            probes[key] = _plain(values[0])
        elif key in option_ids:
            options[key] = _plain(values[0])
        else:
            raise InputError(
                f"{where}: {decoder.id} has no option or channel {key}; options: "
                f"{', '.join(sorted(option_ids)) or 'none'}; channels: "
                f"{', '.join(channel.id for channel in decoder.channels) or 'none'}"
            )
    return Step(decoder, decoder.option_values(options), probes)


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
