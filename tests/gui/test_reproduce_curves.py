"""reproduce --curves: points that move with the model, verdicts that follow the numbers, pictures and refusals."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from freezeframe.gui.cli.work import reproduction_curves as curves
from freezeframe.gui.cli.work.reproduction import Experiment, figure, run_experiment
from freezeframe.gui.cli.work.reproduction_curves import Point
from freezeframe.gui.cli.work.reproduction_forth_curves import payload_MBps
from freezeframe.gui.cli.work.reproduction_stages import Bench
from tests.gui.cli import refusal, run_inside


def oracle_5(size_B: int) -> float:
    """END's equation (5) from the paper's table 1, written anew."""
    dma = math.ceil(size_B / 256) * 1.76 + 0.42 * min(size_B, 4096) + 0.31 * max(0, size_B - 4096)
    return max(dma, 450) + 1350 + 79.75 * math.ceil(size_B / 2048) - 450


@pytest.mark.parametrize(
    ("point", "verdict"),
    [
        (Point(1, 104.9, 100), "yes"),
        (Point(1, 105.1, 100), "no"),
        (Point(1, 50, 100, 80), "contradiction"),  # the paper's is above what can be
        (Point(1, 50, 100, contradicts=True), "contradiction"),
        (Point(1, 50), ""),
    ],
)
def test_a_point_is_judged_by_five_per_cent_and_by_what_can_be(point: Point, verdict: str) -> None:
    assert point.verdict == verdict


@pytest.fixture(scope="module")
def end() -> list[curves.Figure]:
    return curves.end_figures(Bench())


def test_end_has_its_equations_beside_ours_and_says_where_they_contradict_each_other(
    end: list[curves.Figure],
) -> None:
    eight, nine = end
    by_name = {line.label: line.points for line in eight.lines}
    assert all(p.verdict == "yes" for p in by_name["depth 1"])
    assert {p.x: p.paper for p in by_name["depth 2"]} == {
        size: pytest.approx(size / oracle_5(size)) for size in (64 << n for n in range(11))
    }
    assert [p.x for p in by_name["depth 2"] if p.verdict == "contradiction"] == [512, 1024]
    assert [p.x for p in by_name["depth 2"] if p.verdict == "no"] == [256, 2048]
    banks = next(line for line in nine.lines if line.label == "depth 2, two banks")
    assert [p.x for p in banks.points if p.verdict == "contradiction"] == [512, 1024, 2048, 4096]
    for drawn in (eight, nine):
        for line in drawn.lines:
            for p in line.points:
                assert p.bound is None or p.ours <= p.bound * 1.001


def test_a_changed_parameter_moves_the_curves(end: list[curves.Figure]) -> None:
    was, now = end[0], curves.end_figures(Bench({"D_b_large_us": 0.62}))[0]
    assert now.lines[0].points[-1].ours < 0.7 * was.lines[0].points[-1].ours
    assert now.lines[0].points[0].ours == was.lines[0].points[0].ours


def test_sci_is_printed_as_tables_drawn_and_given_as_json(tmp_path: Path) -> None:
    done = run_inside("reproduce", "sci", "--curves", "-o", str(tmp_path / "f"))
    assert done.code == 0
    assert "phases             4                     21     21      +0.0 %  yes" in done.out
    assert "127 MB/s      +5.8 %  the range  emerges  no" in done.out
    for key in ("sci-7", "sci-8"):
        assert (tmp_path / "f" / f"{key}.svg").read_text().startswith("<svg")
    again = run_inside("reproduce", "sci", "--curves", "-o", str(tmp_path / "f"))
    assert again.code == 2 and "--force replaces it" in again.err
    done = run_inside("reproduce", "sci", "--curves", "--json", "--fail-on-difference")
    assert done.code == 1
    seven, eight = json.loads(done.out)["figures"]
    assert [p["ours"] for p in seven["curves"][0]["points"]] == [5, 20, 8, 21, 3, 4, 9, 7, 8, 4]
    assert {p["x"]: p["paper"] for p in eight["curves"][0]["points"]}[8192] == 116


@pytest.mark.parametrize("paper", ["acenic", "iwarp", "nobody"])
def test_a_paper_without_figures_is_refused(paper: str) -> None:
    assert refusal("reproduce", paper, "--curves") == (
        f"freezeframe: --curves: there are figures of forth, sci, end, and all; not of '{paper}'\n"
    )


def test_one_way_and_ping_pong_of_segments_are_measured_from_captures(tmp_path: Path) -> None:
    """Two of FORTH's points: 16 KiB go in four segments, all of them back to back or each message answered."""
    rates = {}
    for pattern in ("one-way", "ping-pong"):
        workload = f"{pattern}-16KiB"
        experiment = Experiment(
            workload,
            workload,
            ("--profile", "forth-uncombined", "--workload", workload),
            "tx_deq_packets",
            60,
        )
        run = run_experiment(experiment, tmp_path / f"{pattern}.ff")
        rates[pattern] = payload_MBps(run, 16_384)
    assert 0.9 * 596 < rates["one-way"] < 596
    assert 2 * rates["ping-pong"] < rates["one-way"]


@pytest.mark.parametrize("workload", ["one-way-12B", "ping-pong-2048KiB"])
def test_a_size_that_no_message_has_is_refused(workload: str, tmp_path: Path) -> None:
    done = run_inside("pull", f"emu:?workload={workload}", "-o", str(tmp_path / "x.ff"))
    assert done.code == 2 and "a message is a multiple of 8 B up to 1,048,576 B" in done.err


def test_the_first_card_has_the_peak_of_a_bus_at_66_mhz(tmp_path: Path) -> None:
    experiment = Experiment(
        "pci66", "", ("--profile", "forth-pci66", "--workload", "stream-4KiB"), "tx_deq_packets", 60
    )
    run = run_experiment(experiment, tmp_path / "p.ff")
    peak = figure(run, "dma", "A.tx_enq.peak")
    assert peak.value == pytest.approx(503.5, rel=1e-3)
