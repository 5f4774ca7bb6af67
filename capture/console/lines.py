"""One line of the console as `ff_console` prints it: "ff:" TEXT " *" CRC.

Anything else on the console is not ours and passes by; a line of ours whose CRC is wrong is reported as damaged.

Source: firmware-hooks/c/ff_console.h; CRC-16/IBM-3740 of the catalogue of parametrised CRC algorithms.
"""

from __future__ import annotations

import binascii
from dataclasses import dataclass

MARK = b"ff:"
_DIGITS = frozenset("0123456789abcdefABCDEF")
_LONGEST_B = 128  # the longest line of ours, of a port, has 119 bytes
_ARGUMENTS = {"begin": 1, "reg": 2, "rec": 2, "end": 2, "flow": 3, "xpt": 5, "port": 9, "fwd": 6}


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is whole: what it is, and its numbers; of a record the second stands as ``data``."""

    what: str
    numbers: tuple[int, ...]
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A line of ours that did not arrive as it was sent, and why that is said."""

    text: bytes
    why: str


def parse(line: bytes) -> Line | Damaged | None:
    """Return what a console line says; None where it is not ours. ``line`` without its end."""
    at = line.find(MARK)  # characters of another program may stand before it
    if at < 0:
        return None
    text, star, crc = line[at + len(MARK) :].rpartition(b" *")
    if not star or len(crc) != 4:
        return Damaged(line, "its end is missing")
    if crc != b"%04x" % binascii.crc_hqx(text, 0xFFFF):
        return Damaged(line, "its CRC does not fit")
    what, *words = text.decode("ascii", "replace").split(" ")
    if _ARGUMENTS.get(what) != len(words):
        return Damaged(line, "it is of a kind that this program does not know")
    try:
        if what == "rec":
            return Line(what, (_number(words[0]),), bytes.fromhex(words[1]))
        return Line(what, tuple(map(_number, words)))
    except ValueError:
        return Damaged(line, "a number in it is none")


def _number(word: str) -> int:
    """Return a number of hexadecimal digits alone: no sign, no ``0x``, no ``_``.

    Raises:
        ValueError: it is none.
    """
    if not set(word) <= _DIGITS:
        raise ValueError(word)
    return int(word, 16)


class LineSplitter:
    """Cuts a stream of bytes into lines, of bounded length whatever comes."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are whole now, without their ends."""
        *lines, rest = (self._held + data).replace(b"\r", b"\n").split(b"\n")
        # What is longer than any line of ours can be cut anywhere but within a mark.
        self._held = rest if len(rest) <= _LONGEST_B else rest[-_LONGEST_B:]
        return [line for line in lines if line]
