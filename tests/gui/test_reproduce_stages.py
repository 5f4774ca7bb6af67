"""reproduce sci, end, acenic: rows that move with the parameters, the same every time, and the page made of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from freezeframe.gui.cli.work import reproduction_acenic as acenic
from freezeframe.gui.cli.work import reproduction_end as end
from freezeframe.gui.cli.work import reproduction_sci as sci
from freezeframe.gui.cli.work.reproduction_forth import QUANTITIES
from freezeframe.gui.cli.work.reproduction_ranges import Free, free_parameters, ranges_text
from freezeframe.gui.cli.work.reproduction_stages import (
    Bench,
    Judged,
    Row,
    judge_row,
    rows_markdown,
)
from tests.gui.cli import run_inside

PAPERS = {"end": end.ROWS, "acenic": acenic.ROWS, "sci": sci.ROWS}
PAGE = Path(__file__).parents[2] / "docs" / "reproduce-stages.md"
# Rows that hold the paper against itself have nothing of ours that could move.
OF_THE_PAPER_ALONE = {"same-column", "dearer", "overflow", "straddles"}
CHANGES: dict[str, dict[str, Any]] = {
    "end": {"M_o_us": 100, "F_o_us": 2000, "D_b_small_us": 0.9, "stack_us": 5, "offered_per_s": 1000},
    "acenic": {"frame_us": 30, "descriptor_us": 6, "gather": 2},
    "sci": {"cycle_ns": 15, "master_cycles": 20, "epu_cycles": 9, "bridge": 1, "two_fpgas": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def judged() -> dict[str, list[Judged]]:
    """Judge the rows of every paper by the profiles as they are."""
    bench = Bench()
    return {paper: [judge_row(row, bench) for row in rows] for paper, rows in PAPERS.items()}


@pytest.fixture(scope="module")
def printed() -> Callable[[str], tuple[int, dict[str, Any]]]:
    """Return the verb's exit code and document of a paper, for which it runs once."""

    @cache
    def run(paper: str) -> tuple[int, dict[str, Any]]:
        done = run_inside("reproduce", paper, "--json", "--fail-on-difference")
        return done.code, json.loads(done.out)

    return run


@pytest.mark.parametrize("paper", PAPERS)
def test_every_row_moves_with_the_parameters_of_its_profile(
    paper: str, judged: dict[str, list[Judged]]
) -> None:
    """No number is typed in: of every row at least one change of a parameter moves it."""
    plain = {one.row.key: one.ours for one in judged[paper]}
    benches = [Bench({key: value}) for key, value in CHANGES[paper].items()]
    still = [
        row.key
        for row in PAPERS[paper]
        if all(row.measure(bench) == pytest.approx(plain[row.key], rel=1e-6) for bench in benches)
    ]
    assert set(still) <= OF_THE_PAPER_ALONE


@pytest.mark.parametrize(
    ("paper", "out_of"), [("end", {"dual-large-fit"}), ("acenic", set()), ("sci", set())]
)
def test_what_agrees_agrees_and_what_does_not_says_so(
    paper: str, out_of: set[str], printed: Callable[[str], tuple[int, dict[str, Any]]]
) -> None:
    code, document = printed(paper)
    assert code == (1 if out_of else 0)
    assert {q["quantity"] for q in document["quantities"] if q["agrees"] is False} == out_of
    for q in document["quantities"]:
        assert q["mechanism"]
        assert (q["kind"] == "contradiction") == (q["agrees"] is None)
        assert bool(q["fitted"]) == (q["kind"] == "fit")


def test_a_fit_has_fewer_free_parameters_than_rows_and_few_rows_are_read_back() -> None:
    read_back = sum(q.kind == "read back" for q in QUANTITIES)
    for rows in PAPERS.values():
        assert len({row.key for row in rows}) == len(rows)
        read_back += sum(row.kind == "read back" for row in rows)
        for fitted in {row.fitted for row in rows if row.fitted}:
            assert len(fitted) < sum(row.fitted == fitted for row in rows)
    assert read_back <= 15


def test_85_per_cent_of_the_rows_that_emerge_or_are_fitted_agree(
    judged: dict[str, list[Judged]],
) -> None:
    rows = [one for each in judged.values() for one in each]
    tried = [one for one in rows if one.row.kind in ("emerges", "fit")]
    assert sum(bool(one.agrees) for one in tried) >= 0.85 * len(tried)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_page_holds_the_table_that_the_program_makes(
    paper: str,
    judged: dict[str, list[Judged]],
    printed: Callable[[str], tuple[int, dict[str, Any]]],
) -> None:
    free = [Free(**one) for one in printed(paper)[1]["free"]]
    made = f"{rows_markdown(judged[paper])}\n\n{ranges_text(free)}\n"
    assert made in PAGE.read_text(), f"freezeframe reproduce {paper} --markdown, into {PAGE.name}"


def _line(value: float, slope: float) -> list[Judged]:
    """Return a fit whose number is ``slope`` times split, which the paper has as it is at ``value``."""

    def measure(bench: Bench) -> float:
        return slope * float(bench.settings.get("split", value))

    row = Row("q", "", (slope * value,) * 2, "", "fit", measure, "why", fitted=("split",))
    return [judge_row(row, Bench())]


def test_the_range_of_a_parameter_ends_where_a_number_fitted_by_it_no_longer_agrees() -> None:
    (one,) = free_parameters(_line(0.5, 3.0), {"split": 0.5})  # agrees within 5 %
    assert one.low is not None and one.high is not None
    assert one.low == pytest.approx(0.475, rel=0.006)
    assert one.high == pytest.approx(0.525, rel=0.006)
    assert 0.475 <= one.low <= one.high <= 0.525
    (whole,) = free_parameters(_line(40, 1.0), {"split": 40})
    assert (whole.low, whole.high) == (38, 42)
    (none,) = free_parameters(_line(0.5, 0.0), {"split": 0.5})
    assert (none.low, none.high, none.text()) == (None, None, "split 0.5 (- to -)")


def test_a_parameter_is_moved_where_it_has_the_value_of_the_fit_alone() -> None:
    """The faster interface is a fit of 923 us; that of the adapter it is held against is the paper's 1,280."""
    plain, moved = Bench(), Bench({"M_o_us": 500}, only={"M_o_us": 923})
    periods = [
        bench.run(name, depth=1).throughput_MBps for name in ("cim250", "cim250-fast") for bench in (plain, moved)
    ]  # fmt: skip
    assert periods[0] == periods[1] and periods[2] < periods[3]


@pytest.mark.parametrize(
    ("paper", "about", "ours", "difference", "agrees"),
    [
        ((100, 100), False, 104.9, 4.9, True),
        ((100, 100), False, 94.9, -5.1, False),
        ((100, 100), True, 109, 9.0, True),
        ((12, 15), False, 15.1, 0.1 / 15 * 100, False),
        ((12, 15), False, 13, 0.0, True),
    ],
)
def test_a_number_agrees_within_5_per_cent_of_about_10_and_of_a_range_inside_it(
    paper: tuple[float, float], about: bool, ours: float, difference: float, agrees: bool
) -> None:
    found = judge_row(Row("q", "", paper, "", "emerges", lambda bench: ours, "why", about), Bench())
    assert found.difference == pytest.approx(difference)
    assert found.agrees == agrees


def test_a_row_says_within_how_much_it_agrees() -> None:
    def row(paper: tuple[float, float] | None, *, about: bool = False) -> Row:
        return Row("q", "", paper, "us", "emerges", lambda bench: 108.5, "why", about=about)

    rows = row((100, 100), about=True), row((100, 100)), row((100, 120)), row(None)
    made = [judge_row(each, Bench()) for each in rows]
    assert [(one.within, one.verdict) for one in made] == [
        ("10 %", "yes"), ("5 %", "no"), ("the range", "yes"), ("-", "contradiction"),
    ]  # fmt: skip
    assert [one.to_json()["tolerance_percent"] for one in made] == [10, 5, 0, None]
    assert "| about 100 us | 108.5 us | +8.5 % | 10 % | emerges | yes | why |" in rows_markdown(
        made
    )
