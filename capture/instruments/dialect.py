"""Dialects: the commands by which instruments of one family hand over a waveform, as data in a TOML file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import InputError

FIELDS = (
    *("format", "type", "points", "count", "x_increment_s", "x_origin_s", "x_reference"),
    *("y_increment_V", "y_origin_V", "y_reference"),
)
"""What a preamble may hold; a dialect says in which order."""

_NEEDED = ("points", "x_increment_s", "x_origin_s", "x_reference")
_SCALINGS = ("reference", "origin")


@dataclass(frozen=True, slots=True)
class Group:
    """Channels of one kind: their names, and what ``{source}`` is called in commands.

    ``bits_per_byte`` is 0 where a byte is a voltage; else so many channels are in one, the first of
    them bit 0, and ``{number}`` counts such bytes.
    """

    channels: tuple[str, ...]
    source: str
    bits_per_byte: int

    def source_of(self, channel: str) -> str:
        place = self.channels.index(channel)
        return self.source.format(number=place // max(1, self.bits_per_byte) + 1)

    def members(self, channel: str) -> tuple[str, ...]:
        """Return the channels that come in the same byte, the lowest bit first."""
        size = max(1, self.bits_per_byte)
        first = self.channels.index(channel) // size * size
        return self.channels[first : first + size]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One family: commands with ``{source}`` and ``{sources}``, and the order of its preamble."""

    name: str
    about: str
    identity: str
    hold: tuple[str, ...]
    single: tuple[str, ...]
    done: str
    groups: tuple[Group, ...]
    setup: tuple[str, ...]
    preamble: str
    fields: tuple[str, ...]
    byte_format: int
    volts: str
    data: str
    error_query: str
    error_none: int

    def fits(self, idn: str) -> bool:
        """Return whether the second field of an answer to ``*IDN?`` is of this family."""
        parts = [part.strip() for part in idn.split(",")]
        return len(parts) > 1 and re.fullmatch(self.identity, parts[1]) is not None

    def group_of(self, channel: str) -> Group:
        """Return the group that has this channel.

        Raises:
            InputError: none has.
        """
        for group in self.groups:
            if channel in group.channels:
                return group
        there = ", ".join(name for group in self.groups for name in group.channels)
        raise InputError(f"dialect {self.name}: there is no channel {channel}; there is {there}")


def shipped_dialects() -> dict[str, Dialect]:
    """Return the dialects that come with this program, by name."""
    folder = resources.files("freezeframe.capture.instruments") / "dialects"
    texts = {str(file.name): file.read_text() for file in folder.iterdir() if file.is_file()}
    found = [_parsed(name, text) for name, text in sorted(texts.items()) if name.endswith(".toml")]
    return {dialect.name: dialect for dialect in found}


def load_dialect(name: str) -> Dialect:
    """Return a shipped dialect by its name, or one out of a file ``NAME.toml``.

    Raises:
        InputError: there is none, or the file does not declare one.
    """
    if not name.endswith(".toml"):
        known = shipped_dialects()
        if name not in known:
            raise InputError(
                f"there is no dialect {name!r}; there is {', '.join(known)}, or give a FILE.toml"
            )
        return known[name]
    try:
        return _parsed(name, Path(name).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: cannot be read: {error}") from None


def dialect_for(idn: str, known: Sequence[Dialect]) -> Dialect:
    """Return the dialect of an instrument by what it says it is.

    Raises:
        InputError: none fits.
    """
    for dialect in known:
        if dialect.fits(idn):
            return dialect
    raise InputError(
        f"the instrument says it is {idn[:100]!r}, which no dialect is for ("
        f"{', '.join(f'{d.name}: {d.about}' for d in known)}); write one for it, see "
        "docs/instruments.md, and give it with --dialect FILE.toml"
    )


def _parsed(where: str, text: str) -> Dialect:
    try:
        said = tomllib.loads(text)
        acquire, waveform, errors = said["acquire"], said["waveform"], said["errors"]
        groups = tuple(_group(said[kind]) for kind in ("analog", "digital") if kind in said)
        dialect = Dialect(
            name=_text(said["name"]),
            about=_text(said["about"]),
            identity=_text(said["identity"]),
            hold=_texts(acquire["hold"]),
            single=_texts(acquire["single"]),
            done=_text(acquire["done"]),
            groups=groups,
            setup=_texts(waveform["setup"]),
            preamble=_text(waveform["preamble"]),
            fields=_texts(waveform["fields"]),
            byte_format=int(waveform["byte_format"]),
            volts=_text(waveform["volts"]),
            data=_text(waveform["data"]),
            error_query=_text(errors["query"]),
            error_none=int(errors["none"]),
        )
        re.compile(dialect.identity)
        for command in (*dialect.hold, *dialect.single, *dialect.setup):
            command.format(source="", sources="")
    except KeyError as error:
        raise InputError(f"{where}: no dialect: {error} is missing") from None
    except (TypeError, ArithmeticError, ValueError, RecursionError, IndexError, re.error) as error:
        raise InputError(f"{where}: no dialect: {error}") from None
    unknown = [name for name in dialect.fields if name not in FIELDS]
    missing = [name for name in _NEEDED if name not in dialect.fields]
    if unknown or missing or dialect.volts not in _SCALINGS or not groups:
        raise InputError(
            f"{where}: no dialect: fields {', '.join(unknown) or 'none'} are not known, "
            f"{', '.join(missing) or 'none'} are missing; volts is {' or '.join(_SCALINGS)}; "
            "[analog] or [digital] is needed"
        )
    return dialect


def _group(said: Any) -> Group:
    group = Group(_texts(said["channels"]), _text(said["source"]), int(said["bits_per_byte"]))
    if not 0 <= group.bits_per_byte <= 8 or not group.channels:
        raise ValueError(f"{group.bits_per_byte} bits a byte of {len(group.channels)} channels")
    group.source.format(number=1)
    return group


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError(f"{said!r} is not a text")
    return said


def _texts(said: Any) -> tuple[str, ...]:
    if not isinstance(said, list):
        raise TypeError(f"{said!r} is not a list of texts")
    return tuple(_text(each) for each in said)
