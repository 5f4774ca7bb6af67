"""Target URLs taken apart: ``scheme:rest?option=value&...``, every mistake named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from freezeframe.capture.errors import InputError


@dataclass(frozen=True, slots=True)
class Option:
    """A number that may follow the ``?`` of a URL. ``lowest`` and ``highest`` are allowed."""

    default: float | None
    lowest: float
    highest: float
    doc: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class TargetUrl:
    """What stands between scheme and ``?``, and the options with their defaults filled in."""

    text: str
    rest: str
    numbers: dict[str, float | None]
    texts: dict[str, str]

    def whole(self, name: str) -> int | None:
        """Return a whole-number option, None where it has no value and no default."""
        value = self.numbers[name]
        return None if value is None else int(value)

    def count(self, name: str) -> int:
        """Return a whole-number option that has a default."""
        return int(self.seconds(name))

    def seconds(self, name: str) -> float:
        """Return an option that has a default."""
        value = self.numbers[name]
        if value is None:
            raise ValueError(f"option {name} has neither a value nor a default")
        return value


def parse_url(
    url: str, options: Mapping[str, Option], texts: Mapping[str, str] | None = None
) -> TargetUrl:
    """Take a URL apart.

    Args:
        options: the numbers it may carry; a whole number may be written in decimal or as 0x...
        texts: the texts it may carry, name to what it means.
    Raises:
        InputError: an unknown or repeated option, or a value that is no number or out of range.
    """
    texts = texts or {}
    _, _, rest = url.partition(":")
    rest, _, query = rest.partition("?")
    numbers = {name: option.default for name, option in options.items()}
    given: dict[str, str] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in options and name not in texts:
            known = [f"{n}= ({o.doc})" for n, o in options.items()]
            known += [f"{n}= ({doc})" for n, doc in texts.items()]
            raise InputError(f"{url}: no option {name!r}; there are " + ", ".join(known))
        if name in given:
            raise InputError(f"{url}: option {name} is given twice")
        given[name] = text
        if name in options:
            numbers[name] = _number(url, name, text, options[name])
    return TargetUrl(url, rest, numbers, {n: t for n, t in given.items() if n in texts})


def host_and_port(target: TargetUrl, default_port: int) -> tuple[str, int]:
    """Return host and port of ``//host[:port]``; an IPv6 address stands in brackets.

    Raises:
        InputError: no host, or a port that is no number from 1 to 65535.
    """
    form = f"{target.text.partition(':')[0]}://host[:port]"
    if not target.rest.startswith("//"):
        raise InputError(f"{target.text}: write {form}")
    authority, slash, path = target.rest[2:].partition("/")
    if slash and path:
        raise InputError(f"{target.text}: nothing may follow the port; write {form}")
    if authority.startswith("["):
        host, bracket, port_text = authority[1:].partition("]")
        if not bracket or (port_text and not port_text.startswith(":")):
            raise InputError(f"{target.text}: write an IPv6 address as [::1]:port")
        port_text = port_text[1:]
    else:
        host, _, port_text = authority.partition(":")
    if not host:
        raise InputError(f"{target.text}: the host is missing; write {form}")
    if not port_text:
        return host, default_port
    if not (port_text.isascii() and port_text.isdigit() and 1 <= int(port_text) <= 65535):
        raise InputError(f"{target.text}: port {port_text!r} is not a number from 1 to 65535")
    return host, int(port_text)


def _number(url: str, name: str, text: str, option: Option) -> float:
    try:
        value: float = int(text, 0) if option.whole else float(text)
    except ValueError:
        kind = "whole number" if option.whole else "number"
        raise InputError(f"{url}: option {name}={text}: not a {kind}") from None
    if not option.lowest <= value <= option.highest:
        raise InputError(
            f"{url}: option {name}={text}: out of range ({option.lowest:g}..{option.highest:g})"
        )
    return value
