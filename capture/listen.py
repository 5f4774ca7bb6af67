"""The address that something listens at, as a user writes it."""

from __future__ import annotations

from freezeframe.capture.errors import InputError


def listen_address(
    text: str, *, name: str = "listen address", hint: str = "port 0..65535 (0: any free one)"
) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``; an IPv6 address may stand in brackets.

    Args:
        name: how a message calls the address.
        hint: what a message says after the form.
    Raises:
        InputError: it is not of that form, or the port is no number up to 65535.
    """
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise InputError(f"{name} {text!r}: write HOST:PORT, {hint}")
    return host, int(port)
