"""How large the program is: lines of code and statements of each room, beside those of another revision.

A line of code holds a token that is no comment and no docstring; blank lines do not count. A statement is
an ``ast.stmt`` that is no docstring. Beneath: what a reader of the product does not meet at the top of a file,
imports inside functions and blocks for types only.

Usage: ``python tools/size.py [--since REVISION] [--until REVISION]``.
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


def late_imports(tree: ast.AST) -> int:
    """Return how many imports stand inside functions, each ``import`` and each ``from`` counted once."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    late = {
        (node.lineno, node.col_offset)
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(late)


def type_only_blocks(tree: ast.AST) -> int:
    """Return how many blocks stand under ``if TYPE_CHECKING``."""
    return sum(
        isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for node in ast.walk(tree)
    )


Size = tuple[int, int, int, int]
"""Lines of code, statements, imports inside functions, blocks for types only."""


def size(source: str) -> Size:
    """Return the size of a module."""
    tree = ast.parse(source)
    prose = list(docstrings(tree))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _QUIET:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in prose:
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    statements = sum(isinstance(node, ast.stmt) for node in ast.walk(tree)) - len(prose)
    return len(lines), statements, late_imports(tree), type_only_blocks(tree)


def sizes(sources: Iterator[tuple[str, str]]) -> dict[str, Size]:
    """Return the size of each room."""
    rooms: dict[str, Size] = dict.fromkeys(ROOMS, (0, 0, 0, 0))
    for path, source in sources:
        room = PurePosixPath(path).parts[0]
        if room in rooms and path.endswith(".py"):
            rooms[room] = tuple(a + b for a, b in zip(rooms[room], size(source), strict=True))  # type: ignore[assignment]  # four and four
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
    for column, name in ((2, "imports inside functions"), (3, "blocks for types only")):
        old, new = (
            sum(each[room][column] for room in totals["product"]) for each in (before, after)
        )
        print(f"{name:24}{old:6,}{new:6,}")


if __name__ == "__main__":
    main()
