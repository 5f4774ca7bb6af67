"""A room imports only from lower floors (docs/architecture.md): read from the imports themselves."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.processes import run_program

ROOT = Path(__file__).parents[2]
MAY_IMPORT = {
    "capture": {"capture"},
    "decoders": {"capture", "decoders"},
    "analyzers": {"capture", "decoders", "analyzers"},
    "emulator": {"capture", "decoders", "emulator"},
    "gui": {"capture", "decoders", "analyzers", "emulator", "gui"},
}
WINDOWING = {"PyQt6", "textual"}
# Verbs that read a card, emulate one or hold it against its evidence are started often, and wait for none of these.
LIGHT = (
    "emulator.serve", "gui.cli.work.pull", "gui.cli.work.recorder", "gui.cli.work.verify", "gui.cli.work.trigger",
)  # fmt: skip
HEAVY = ("numba", "pandas", "pyarrow", *WINDOWING)


@cache
def imported_modules(path: Path) -> list[tuple[int, str]]:
    return list(_imported(path))


def _imported(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, "." * node.level + (node.module or "")


def sources(room: str) -> list[Path]:
    return sorted((ROOT / room).rglob("*.py"))


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_from_its_own_and_lower_floors(room: str) -> None:
    wrong = []
    for path in sources(room):
        for line, module in imported_modules(path):
            parts = module.split(".")
            if module.startswith("."):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: relative import {module}")
            elif parts[0] in MAY_IMPORT:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {module} without 'freezeframe.'")
            elif module == "freezeframe" and room == "gui":  # its version
                continue
            elif parts[0] == "freezeframe" and not MAY_IMPORT[room].intersection(parts[1:2]):
                wrong.append(f"{path.relative_to(ROOT)}:{line}: {room} imports {module}")
    assert sources(room), f"no sources in {room}: is the test looking at the right place?"
    assert wrong == []


@pytest.mark.parametrize("room", ["capture", "decoders", "analyzers", "emulator"])
def test_headless_rooms_know_no_window_system(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for path in sources(room)
        for line, module in imported_modules(path)
        if module.split(".")[0] in WINDOWING
    ]
    assert wrong == []


def test_what_reads_or_emulates_a_card_loads_no_compiler_and_no_tables() -> None:
    modules = ", ".join(f"freezeframe.{module}" for module in LIGHT)
    loaded = f"import sys, {modules}; print([name for name in {HEAVY} if name in sys.modules])"
    assert run_program([sys.executable, "-c", loaded], check=True).stdout == "[]\n"


def test_the_rule_sees_an_arrow_that_runs_up(tmp_path: Path) -> None:
    bad = tmp_path / "x.py"
    bad.write_text("def f():\n    from freezeframe.gui.cli import main\n")
    assert imported_modules(bad) == [(2, "freezeframe.gui.cli")]
