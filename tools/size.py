"""How large the program is: lines of code and statements of each room, beside those of another revision.

A line of code holds a token that is no comment and no docstring; blank lines do not count. A statement is
an ``ast.stmt`` that is no docstring. Usage: ``python tools/size.py [--since REVISION] [--until REVISION]``.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tokenize
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ROOMS = ("src", "capture", "decoders", "analyzers", "emulator", "gui", "firmware-hooks", "tests")
_QUIET = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER
}  # fmt: skip


def docstrings(tree: ast.Module) -> Iterator[ast.Expr]:
    """Return the docstrings of a module, its classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                yield first


def size(source: str) -> tuple[int, int]:
    """Return the lines of code and the statements of a module."""
    tree = ast.parse(source)
    prose = list(docstrings(tree))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _QUIET:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in prose:
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - len(prose)
    return len(lines), statements


def sizes(sources: Iterator[tuple[str, str]]) -> dict[str, tuple[int, int]]:
    """Return lines and statements by room."""
    rooms = dict.fromkeys(ROOMS, (0, 0))
    for path, source in sources:
        room = PurePosixPath(path).parts[0]
        if room in rooms and path.endswith(".py"):
            rooms[room] = tuple(a + b for a, b in zip(rooms[room], size(source), strict=True))  # type: ignore[assignment]  # two and two
    return rooms


def of_revision(revision: str) -> Iterator[tuple[str, str]]:
    """Return path and text of each Python file of a commit."""
    archive = subprocess.run(
        ["git", "archive", "--format=tar", revision], capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            stream = files.extractfile(member) if member.name.endswith(".py") else None
            if stream is not None:
                yield member.name, stream.read().decode()


def of_checkout() -> Iterator[tuple[str, str]]:
    """Return path and text of each Python file that git tracks or would track, as it is now."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"]
    for path in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split():
        try:
            yield path, Path(path).read_text("utf-8")
        except FileNotFoundError:
            continue  # deleted, and the deletion not yet committed


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    since = "compare with this commit (%(default)s)"
    parser.add_argument("--since", metavar="REVISION", default="eb2c5a0", help=since)
    until = "what is compared: a commit; the checkout without"
    parser.add_argument("--until", metavar="REVISION", help=until)
    args = parser.parse_args()
    before = sizes(of_revision(args.since))
    after = sizes(of_revision(args.until) if args.until else of_checkout())
    print(f"{'':16}{'lines of code':>26}{'statements':>30}")
    totals = {"product": [room for room in ROOMS if room != "tests"], "tests": ["tests"]}
    for name, rooms in [*((room, [room]) for room in ROOMS if room != "tests"), *totals.items()]:
        row = [f"{name:16}"]
        for column in (0, 1):
            old = sum(before[room][column] for room in rooms)
            new = sum(after[room][column] for room in rooms)
            share = f"{(new - old) / old:+.1%}" if old else ""
            row.append(f"{old:10,}{new:10,}{new - old:+8,} {share:>7}")
        print(" ".join(row))


if __name__ == "__main__":
    main()
