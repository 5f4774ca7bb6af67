"""``freezeframe check``: text, JSON and exit codes, so that a build can rest on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyzers.emulated import pulled
from tests.gui.cli import run_inside


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Paths of a clean capture, and of one in which a word vanished in A's outgoing FIFO."""
    path = tmp_path_factory.mktemp("captures")
    good = pulled(path, 3000, limit_us=30)
    bad = pulled(path, 1002, fault="word-omitted", limit_us=20_000)
    return str(good.folder.path), str(bad.folder.path)


def test_a_capture_whose_numbers_add_up_exits_0(captures: tuple[str, str]) -> None:
    done = run_inside("check", captures[0])
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("none-3000-forth.ff: 0 laws broken, ")


def test_a_broken_law_exits_1_and_is_told_with_its_terms(captures: tuple[str, str]) -> None:
    done = run_inside("check", captures[1])
    assert done.code == 1
    assert "A: outgoing FIFO, words: broken" in done.out
    assert "  What went into the outgoing FIFO came out or is still in it." in done.out
    assert "= 1; must lie in" in done.out or "= 1; must be 0" in done.out


def test_json_holds_every_law_with_its_terms(captures: tuple[str, str]) -> None:
    done = run_inside("check", captures[1], "--json")
    document = json.loads(done.out)
    assert done.code == 1
    assert document["counts"]["broken"] == sum(one["state"] == "broken" for one in document["laws"])
    (law,) = [
        one
        for one in document["laws"]
        if (one["law"], one["subject"]) == ("outgoing FIFO, words", "A")
    ]
    assert law["balance"] == sum(t["sign"] * t["value"] for t in law["terms"]) == 1


def test_all_lists_the_laws_that_hold_too(captures: tuple[str, str]) -> None:
    lines = run_inside("check", captures[0], "--all").out.splitlines()
    (line,) = [line for line in lines if line.startswith("bus cycles ") and " A " in line]
    assert "holds" in line
    assert "counter.bus_cycles" in line


def test_what_is_no_capture_is_refused_in_one_line(tmp_path: Path) -> None:
    done = run_inside("check", str(tmp_path / "nothing.ff"))
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
