"""Where the keys of a TOML text stand: the line of each table and key, for messages about them.

tomllib says what a text means, and not where; a text that it takes is scanned here for its keys.

Source: TOML 1.0.0, "Keys", "Table", "Array of Tables", "String".
"""

from __future__ import annotations

import re

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(#.*)?$")
_KEY = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_TOKEN = re.compile(r'''"""|\'\'\'|"(?:\\.|[^"\\])*"|'[^']*'|#.*|[\[\]{}]''')


def key_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the line (from 1) at which each table and key of a valid TOML text begins.

    A path is of names, and of numbers for the tables of an array, as in ``("path", "rx", "stretch", 0)``.
    What stands inside an inline table or an array has the line of its key.
    """
    lines: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    depth = 0
    quote = ""
    for number, line in enumerate(text.splitlines(), 1):
        begin = 0
        if not depth and not quote:
            header = _HEADER.match(line)
            if header is not None:
                table = _place(tuple(_parts(header[2])), counts)
                if header[1] == "[[":
                    counts[table] = counts.get(table, -1) + 1
                    table = (*table, counts[table])
                for length in range(1, len(table) + 1):
                    lines.setdefault(table[:length], number)
                continue
            key = _KEY.match(line)
            if key is None:
                continue
            path = (*table, *_parts(key[1]))
            for length in range(len(table) + 1, len(path) + 1):
                lines.setdefault(path[:length], number)
            begin = key.end()
        for token in _TOKEN.findall(line, begin):
            if quote:
                quote = "" if token == quote else quote
            elif token in ('"""', "'''"):
                quote = token
            elif token in ("[", "{"):
                depth += 1
            elif token in ("]", "}"):
                depth -= 1
    return lines


def _parts(text: str) -> list[str]:
    return [part.strip("\"'") for part in _PART.findall(text)]


def _place(
    path: tuple[str, ...], counts: dict[tuple[str | int, ...], int]
) -> tuple[str | int, ...]:
    """Put the number of the last table of each array on the way into a header's path."""
    place: tuple[str | int, ...] = ()
    for index, part in enumerate(path):
        place = (*place, part)
        if place in counts and index < len(path) - 1:
            place = (*place, counts[place])
    return place
