"""What verbs print: JSON, aligned tables, text made safe for a terminal, and the progress bar."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import Any

from freezeframe.gui.text import printable

EXIT_PIPE = 128 + 13
"""Exit code when the reader of our output has gone, as of a program that SIGPIPE ended."""

STANDARD_OUTPUT = "standard output"
"""What an error to write it has as its file, so that it is not taken for one of a file of results."""

_TEXT_WIDTH = 100
_LEAST_WIDTH = 60
_LEAST_COLUMN = 16  # of a last column that goes on below itself


def emit_json(document: Any) -> None:
    """Print one JSON document on standard output, keys in the order given."""
    print(json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False))


def hex_word(value: int, bits: int = 64) -> str:
    """Return ``0x`` and all hex digits; negative bit patterns (int64) are unsigned again."""
    return f"0x{value & ((1 << bits) - 1):0{bits // 4}x}"


def count_text(value: int) -> str:
    """Return a count with thousands separated, ``12,345``."""
    return f"{value:,}"


def table(
    headers: Sequence[str], rows: Sequence[Sequence[object]], *, right: Sequence[int] = ()
) -> str:
    """Return rows as aligned columns under their headers; ``right`` are the right-aligned ones.

    The last column is never padded, so lines have no trailing blanks. Where a line is longer than the terminal, the
    last column goes on below itself, at blanks; what is piped stays a line a row.
    """
    cells = [[printable(str(cell)) for cell in row] for row in [headers, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headers))]
    last = len(headers) - 1
    indent = sum(widths[:last]) + 2 * last
    room = shutil.get_terminal_size().columns - indent if sys.stdout.isatty() else None
    wraps = room is not None and _LEAST_COLUMN <= room < widths[last] and last not in right
    lines = []
    for row in cells:
        parts = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        more: list[str] = []
        if wraps and room is not None:
            parts[last], *more = wrap(
                row[last], room, break_long_words=False, break_on_hyphens=False
            ) or [""]
        lines.append("  ".join(parts).rstrip())
        lines += [" " * indent + each for each in more]
    return "\n".join(lines)


def text_width() -> int:
    """Return the columns for running text: 100, or those of a terminal that is narrower (60 at least)."""
    if not sys.stdout.isatty():
        return _TEXT_WIDTH
    return max(_LEAST_WIDTH, min(_TEXT_WIDTH, shutil.get_terminal_size().columns))


class _Output(io.FileIO):
    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = STANDARD_OUTPUT
            raise


def name_stdout() -> None:
    """Let each error to write standard output say that it is of that."""
    plain = sys.stdout
    if isinstance(plain, io.TextIOWrapper):
        plain.flush()
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Output(plain.fileno(), "w", closefd=False)),
            encoding=plain.encoding,
            errors=plain.errors,
            line_buffering=plain.line_buffering,
            write_through=plain.write_through,
        )


def forget_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_anything() -> None:
    """Let no character end the program: what the terminal's encoding lacks is shown as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def progress_bar(label: str, unit: str) -> Iterator[Callable[[int, int, str], None]]:
    """Yield ``update(done, total, note)``: a bar on standard error, where that is a terminal.

    A total of 0 means that the end is not known yet.
    """
    if not sys.stderr.isatty():
        yield lambda done, total, note: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} " + unit),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=1, note="")

        def update(done: int, total: int, note: str) -> None:
            progress.update(task, completed=done, total=max(total, done, 1), note=printable(note))

        yield update
