"""The style guide's rule for invariants: ``python -O`` must not change what the emulator does."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

_EMULATOR = Path(__file__).parents[2] / "emulator"


@pytest.mark.parametrize(
    "path", sorted(_EMULATOR.rglob("*.py")), ids=lambda p: str(p.relative_to(_EMULATOR))
)
def test_nothing_rests_on_an_assert(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert)] == []
