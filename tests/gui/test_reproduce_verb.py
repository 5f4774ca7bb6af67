"""reproduce: a paper's numbers beside ours, measured from captures that were pulled over UDP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.cli.work import reproduction_iwarp
from freezeframe.gui.cli.work.reproduction import Measured, Quantity, counted, judge
from freezeframe.gui.cli.work.reproduction_forth import EXPERIMENTS, QUANTITIES
from tests.gui.cli import Outcome, refusal, run_inside

# What the paper gives and the emulated card reproduces by its mechanisms; the rest may or may not come out.
COMES_OUT = {
    "dma-peak", "link-peak", "read-cycles", "read-efficiency", "read-arbitration", "read-first-word",
    "split-4KiB", "split-8B", "write", "post", "post-combining", "post-two-combining",
    "finer-credits-waits", "finer-credits", "pending-flags",
}  # fmt: skip


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Outcome, Path]]:
    """Run the whole verb once, as a user would, with its captures kept."""
    folder = tmp_path_factory.mktemp("forth")
    yield run_inside("reproduce", "forth", "--json", "-o", str(folder / "captures")), folder


def quantities(done: Outcome) -> dict[str, dict[str, Any]]:
    return {q["quantity"]: q for q in json.loads(done.out)["quantities"]}


@pytest.mark.slow
def test_every_experiment_is_kept_as_a_capture_that_opens(
    reproduced: tuple[Outcome, Path],
) -> None:
    done, folder = reproduced
    assert (done.code, done.err) == (0, "")
    kept = sorted(path.name for path in (folder / "captures").iterdir())
    assert kept == sorted(f"{e.name}.ff" for e in EXPERIMENTS)
    for name in kept:
        capture = CaptureFolder.open(folder / "captures" / name)
        assert [device.name for device in capture.devices] == ["A", "B"]
        assert capture.manifest["source"].startswith("etherbone://127.0.0.1:")


@pytest.mark.slow
def test_what_the_mechanisms_of_the_card_give_comes_out(reproduced: tuple[Outcome, Path]) -> None:
    found = quantities(reproduced[0])
    assert {key for key in COMES_OUT if not found[key]["comes_out"]} == set()


@pytest.mark.slow
def test_every_number_says_how_it_was_measured_or_why_it_was_not(
    reproduced: tuple[Outcome, Path],
) -> None:
    for quantity in quantities(reproduced[0]).values():
        assert quantity["how"]
        assert quantity["captures"]
        assert (quantity["ours"] is not None) or quantity["remark"]


@pytest.mark.slow
def test_a_number_is_that_of_the_capture_and_not_of_the_paper(
    reproduced: tuple[Outcome, Path],
) -> None:
    """An oracle of its own: posting to posted, straight from the DESC records of the capture."""
    from freezeframe.decoders.trace.decode import decode_capture

    done, folder = reproduced
    found = quantities(done)
    trace = decode_capture(CaptureFolder.open(folder / "captures" / "single-8B.ff"))
    desc = trace.events[(trace.events["kind"] == "DESC") & (trace.events["device"] == "A")]
    codes, cycles = desc["code"].tolist(), desc["cycle"].to_numpy().tolist()
    numbers = (desc["value"].to_numpy() >> 20 & 0xFFFF).tolist()
    rows = list(zip(codes, numbers, cycles, strict=True))
    begun = {number: cycle for code, number, cycle in rows if code == "posting"}
    costs = [
        cycle - begun[number]
        for code, number, cycle in rows
        if code == "posted" and number in begun
    ]
    assert len(costs) > 20
    assert found["post"]["ours"] == pytest.approx(10 * sum(costs) / len(costs), rel=1e-3)


def quantity(paper: tuple[float, float], unit: str, value: float, tolerance: float) -> Quantity:
    def measure(runs: object) -> Measured:
        return Measured(value)

    return Quantity("q", "a number", paper, unit, "somehow", (), measure, tolerance)


@pytest.mark.parametrize(
    ("paper", "unit", "ours", "difference", "comes_out"),
    [
        ((400, 400), "ns", 404.0, 1.0, True),
        ((400, 400), "ns", 412.0, 3.0, False),
        ((45, 60), "cycles", 57.0, 0.0, True),
        ((45, 60), "cycles", 40.5, -10.0, False),
        ((40, 40), "%", 41.5, 1.5, True),
        ((-12.5, -12.5), "%", -9.5, 3.0, False),
    ],
)
def test_a_difference_is_in_per_cent_and_that_of_a_percentage_in_points(
    paper: tuple[float, float], unit: str, ours: float, difference: float, comes_out: bool
) -> None:
    found = judge(quantity(paper, unit, ours, 2.0), {}, {})
    assert found.difference == pytest.approx(difference)
    assert found.comes_out == comes_out


def test_a_contradiction_of_the_paper_is_counted_apart_and_no_difference_of_ours() -> None:
    made = [
        judge(replace(quantity((40, 40), "%", ours, 2.0), kind=kind), {}, {})
        for kind, ours in (
            ("emerges", 41.0), ("emerges", 50.0), ("fit", 40.0), ("read back", 40.0), ("contradiction", 26.0),
        )
    ]  # fmt: skip
    assert [one.verdict for one in made] == ["yes", "no", "yes", "yes", "contradiction"]
    assert counted(made) == (
        "2 of 3 numbers that emerge or are fitted agree; 1 of them are a fit with one free parameter; 1 of 1 that are "
        "read back; 1 contradictions of the paper with itself."
    )


def test_a_number_without_its_capture_does_not_come_out_and_says_why() -> None:
    peak = next(q for q in QUANTITIES if q.key == "dma-peak")
    found = judge(peak, {}, {"stream-4KiB": "the card's process died"})
    assert (found.measured, found.comes_out, found.verdict) == (None, False, "no")
    assert found.why == "stream-4KiB: the card's process died"


def test_every_quantity_needs_experiments_that_there_are() -> None:
    names = {experiment.name for experiment in EXPERIMENTS}
    assert len(names) == len(EXPERIMENTS)
    assert len({q.key for q in QUANTITIES}) == len(QUANTITIES)
    for q in QUANTITIES:
        assert q.experiments
        assert set(q.experiments) <= names


def test_another_paper_is_refused() -> None:
    assert refusal("reproduce", "rocket") == (
        "freezeframe: there is no paper 'rocket' to reproduce; there are forth, sci, end, acenic, iwarp, "
        "and all\n"
    )
    assert "no captures to keep" in run_inside("reproduce", "end", "-o", "x").err
    assert "--markdown: for sci, end, acenic" in run_inside("reproduce", "forth", "--markdown").err


def test_captures_of_an_earlier_run_are_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "single-8B.ff").mkdir()
    said = refusal("reproduce", "forth", "-o", str(tmp_path))
    assert "single-8B.ff: stands there from an earlier run; --force replaces it" in said
    said = refusal("reproduce", "forth", "-o", str(tmp_path), "--force")
    assert "is no capture, so it is not replaced" in said


def test_a_file_in_the_place_of_the_captures_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    said = refusal("reproduce", "forth", "-o", str(tmp_path / "out"))
    assert "is a file; -o names the directory for the captures" in said


def test_the_iwarp_papers_ratios_stand_beside_ours_and_rows_of_hardware_say_that_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reproduction_iwarp, "_ROUNDS", 2)
    monkeypatch.setattr(reproduction_iwarp, "_STREAM_B", 1 << 18)
    monkeypatch.setattr(reproduction_iwarp, "_MOST_MESSAGES", 50)
    done = run_inside("reproduce", "iwarp", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    ratios = {row["quantity"]: row for row in document["ratios"]}
    assert ratios["latency-64k-on"]["paper"] == 1401.9 / 624.5
    hardware = [row for row in ratios.values() if row["remark"] == "no hardware peer here"]
    assert len(hardware) == 9 and all(row["ours"] is None for row in hardware)
    measured = [row for row in ratios.values() if not row["remark"]]
    assert all(row["ours"] > 0 for row in measured)
    times = document["median_ns"]["ping-4"]
    assert set(times) == {"CRC off", "CRC on", "TCP sendall"} and min(times.values()) > 0
    refused = run_inside("reproduce", "iwarp", "-o", "captures")
    assert refused.code == 2 and "no captures to keep" in refused.err
