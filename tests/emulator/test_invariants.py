"""What holds for the emulator's source: ``python -O`` changes nothing, and its modules form no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_MODULES = {
    "freezeframe." + ".".join(path.relative_to(_ROOT).with_suffix("").parts): path
    for path in sorted((_ROOT / "emulator").rglob("*.py"))
}


def _tree(name: str) -> ast.Module:
    return ast.parse(_MODULES[name].read_text(encoding="utf-8"))


def _imported(name: str) -> Iterator[str]:
    """Yield the modules of the room that a module imports: at its top, later, or for types only."""
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("name", _MODULES)
def test_nothing_rests_on_an_assert(name: str) -> None:
    assert [node.lineno for node in ast.walk(_tree(name)) if isinstance(node, ast.Assert)] == []


def test_modules_form_no_circle_even_with_late_imports_and_types() -> None:
    graph = {name: _MODULES.keys() & set(_imported(name)) for name in _MODULES}
    assert len(graph["freezeframe.emulator.nic"]) > 10, "the imports are not found"
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


_STAGES = ("dma", "dma_receive", "host", "lanes", "link", "link_receive", "provoke")


@pytest.mark.parametrize("stage", _STAGES)
def test_a_stage_imports_no_other_stage(stage: str) -> None:
    others = {f"freezeframe.emulator.{other}" for other in (*_STAGES, "nic", "machine")}
    assert others & set(_imported(f"freezeframe.emulator.{stage}")) == set()
