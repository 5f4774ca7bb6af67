"""Text that came from outside, made safe to print and safe to paste into a shell.

File names, URLs, devices and captures are not trusted: a control character in one must not reach a
terminal, and a blank in one must not cut a command in two.
"""

from __future__ import annotations

import math
import shlex
from pathlib import Path

_GENERIC = frozenset(("capture", "fault", "now", "recording", "trace", "x"))


def printable(text: object) -> str:
    r"""Return text in one line, control characters and stray bytes as ``\x1b``."""
    line = str(text)
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in line)


def confidence_digits(confidence: float) -> str:
    """Return a confidence with two digits, rounded down: no picture of it says more than another."""
    return f"{math.floor(100 * confidence) / 100:.2f}"


def shell_word(text: str) -> str:
    r"""Return text as one word for a POSIX shell; with control characters as ``$'\x1b'`` of bash."""
    if text.isprintable():
        return shlex.quote(text)
    pieces = []
    for char in text:
        if char in "'\\":
            pieces.append("\\" + char)
        elif char.isprintable():
            pieces.append(char)
        else:
            # surrogateescape: a byte of a file name that is no text comes back as that byte
            raw = char.encode("utf-8", "surrogateescape")
            pieces += [f"\\x{byte:02x}" for byte in raw]
    return f"$'{''.join(pieces)}'"


def shell_path(name: str) -> str:
    """Return a file name as one word for a shell that no command takes for an option."""
    return shell_word(f"./{name}" if name.startswith("-") else name)


def folder_name(path: Path) -> str:
    """Return the name of a folder as it is called, also where the path is ``.``."""
    return path.name if path.name not in ("", "..") else path.resolve().name


def folder_title(path: Path) -> str:
    """Return the name for a title: with its parent where the name alone says nothing."""
    whole = path.resolve()
    if whole.stem.lower() in _GENERIC and whole.parent.name:
        return f"{whole.parent.name}/{whole.name}"
    return whole.name
