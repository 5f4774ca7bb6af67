"""No circle of imports, late ones and those for types included; late imports and type-only blocks stay few."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tools.size import late_imports, type_only_blocks

ROOT = Path(__file__).parents[2]
ROOMS = ("capture", "decoders", "analyzers", "emulator", "gui")
MOST_LATE_IMPORTS = 100
MOST_TYPE_ONLY_BLOCKS = 40


@cache
def modules() -> dict[str, ast.Module]:
    """Return the parsed modules of all rooms and of the front door, by their import name."""
    paths = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    named = {
        "freezeframe." + ".".join(path.relative_to(ROOT).with_suffix("").parts): path
        for path in paths
    }
    named["freezeframe"] = ROOT / "src" / "freezeframe" / "__init__.py"
    return {
        name.removesuffix(".__init__"): ast.parse(path.read_text("utf-8"), str(path))
        for name, path in named.items()
    }


def imports(tree: ast.AST, known: Iterable[str]) -> set[str]:
    """Return which of the known modules a module imports, wherever in it the import stands."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                part = f"{node.module}.{alias.name}"
                names.add(part if part in known else node.module)
    return names.intersection(known)


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return the modules of a circle, in order; empty when there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_on_a_way_round() -> None:
    trees = modules()
    # The front door names everything; that it is a package of all rooms is no import of it.
    graph = {name: imports(tree, trees) - {name, "freezeframe"} for name, tree in trees.items()}
    assert len(graph) > 500
    assert " <- ".join(circle(graph)) == ""


@pytest.mark.parametrize(
    ("count", "most"),
    [(late_imports, MOST_LATE_IMPORTS), (type_only_blocks, MOST_TYPE_ONLY_BLOCKS)],
    ids=["imports inside functions", "blocks for types only"],
)
def test_a_reader_meets_imports_at_the_top_of_a_file(count, most) -> None:  # type: ignore[no-untyped-def]  # two functions
    counts = {name: count(tree) for name, tree in modules().items()}
    largest = sorted(counts.items(), key=lambda item: -item[1])[:10]
    assert sum(counts.values()) <= most, largest


def test_a_circle_is_seen_through_late_imports_and_types() -> None:
    a = ast.parse("def f():\n    from p import b\n")
    b = ast.parse("if TYPE_CHECKING:\n    from p.a import A\n")
    known = {"p.a": a, "p.b": b}
    graph = {name: imports(tree, known) for name, tree in known.items()}
    assert set(circle(graph)) == {"p.a", "p.b"}
    assert (late_imports(a), type_only_blocks(a)) == (1, 0)
    assert (late_imports(b), type_only_blocks(b)) == (0, 1)
