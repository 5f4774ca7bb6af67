"""analyze: lists, runs and writes analyses of a capture, and refuses what it cannot use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals, Series
from freezeframe.analyzers.contract import Analysis, Evidence, Finding
from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.gui.cli.analysis_text import analysis_text, sparkline
from freezeframe.gui.figure_text import figure_text
from tests.analyzers.emulated import pulled
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import made_capture


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pulled(tmp_path_factory.mktemp("analyze"), 4).folder.path


def test_without_a_name_the_analyses_are_listed_with_what_they_tell(capture: Path) -> None:
    for arguments in ((), (str(capture),)):
        done = run_inside("analyze", *arguments)
        assert (done.code, done.err) == (0, "")
        assert "  How fast words went in each direction" in done.out
        assert {"throughput", "pressure", "credits"} <= {
            line.split(" ")[0] for line in done.out.split("\n")
        }
    assert done.out.splitlines()[-1] == f"Run all of them:  freezeframe analyze {capture} all"


def test_the_list_is_the_same_for_a_machine() -> None:
    said = json.loads(run_inside("analyze", "--json").out)
    assert {"throughput", "pressure", "credits"} <= {a["name"] for a in said["analyses"]}
    assert all(a["summary"].endswith(".") for a in said["analyses"])


def test_figures_are_printed_with_unit_uncertainty_and_what_they_rest_on(capture: Path) -> None:
    done = run_inside("analyze", str(capture), "throughput")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Throughput (throughput)\n")
    assert "A out, mean" in done.out
    assert "limit 596.0 MiB/s: a word each cycle of 78,125,000 Hz" in done.out
    assert "Tables, for --tables and --json: samples (" in done.out


def test_several_analyses_run_in_the_order_asked_each_once(capture: Path) -> None:
    done = run_inside("analyze", str(capture), "pressure", "throughput", "pressure", "--json")
    said = json.loads(done.out)
    assert [a["analysis"] for a in said["analyses"]] == ["pressure", "throughput"]
    assert said["capture"] == str(capture)
    for analysis in said["analyses"]:
        for figure in analysis["figures"]:
            assert set(figure) == {"name", "label", "value", "unit", "uncertainty", "note"}


def test_all_runs_every_analysis_there_is(capture: Path) -> None:
    names = {a["name"] for a in json.loads(run_inside("analyze", "--json").out)["analyses"]}
    said = json.loads(run_inside("analyze", str(capture), "all", "--json").out)
    assert {a["analysis"] for a in said["analyses"]} == names


def test_one_device_alone_is_analysed_alone(capture: Path) -> None:
    said = json.loads(
        run_inside("analyze", str(capture), "throughput", "--device", "B", "--json").out
    )
    assert {f["name"].split(".")[0] for f in said["analyses"][0]["figures"]} == {"B"}


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_are_written_whole_and_not_replaced_unasked(
    capture: Path, tmp_path: Path, form: str
) -> None:
    arguments = (
        "analyze",
        str(capture),
        "throughput",
        "--tables",
        str(tmp_path / "out"),
        "--tables-format",
        form,
    )
    done = run_inside(*arguments)
    assert (done.code, done.err) == (0, "")
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == [f"throughput.flows.{form}", f"throughput.samples.{form}"]
    path = tmp_path / "out" / f"throughput.samples.{form}"
    frame = pd.read_csv(path) if form == "csv" else pd.read_parquet(path)
    assert list(frame.columns) == ["device", "t_ps", "t_end_ps", "words_out", "words_in"]
    said = json.loads(run_inside("analyze", str(capture), "throughput", "--json").out)
    assert frame["words_out"].tolist() == [
        row["words_out"] for row in said["analyses"][0]["tables"]["samples"]
    ]
    assert "exists already" in refusal(*arguments)
    assert run_inside(*arguments, "--force").code == 0


def test_tables_are_not_written_into_the_capture(capture: Path) -> None:
    said = refusal("analyze", str(capture), "throughput", "--tables", str(capture / "tables"))
    assert "where only evidence is kept" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("throughputs",), "there is no analysis 'throughputs'; did you mean throughput?"),
        (("throughput", "--device", "C"), "no device 'C'; the capture holds A, B"),
        (("throughput", "--tables-format", "xlsx"), "xlsx"),
    ],
)
def test_what_does_not_exist_is_bad_input(
    capture: Path, arguments: tuple[str, ...], said: str
) -> None:
    assert said in refusal("analyze", str(capture), *arguments)


def test_a_capture_that_does_not_exist_is_bad_input_also_where_nothing_is_run(
    tmp_path: Path,
) -> None:
    for names in ((), ("throughput",)):
        assert "does not exist" in refusal("analyze", str(tmp_path / "none.ff"), *names)


def test_findings_are_a_failure_only_where_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = made_capture(tmp_path / "made.ff").path
    finding = Finding("word-omitted", "A word\x1b[31m is gone.", evidence=(Evidence("Seen."),))

    def found(material: Any) -> AnalysisResult:
        return AnalysisResult("own", findings=(finding,))

    registry = AnalysisRegistry(
        {"own": Analysis("own", "Own", "It finds.", found)}, {"bad": "no module x"}
    )
    monkeypatch.setattr("freezeframe.gui.cli.work.analyze.load_analyses", lambda: registry)
    done = run_inside("analyze", str(path), "own")
    assert done.code == 0
    assert "- word-omitted: A word\\x1b[31m is gone." in done.out
    assert run_inside("analyze", str(path), "own", "--fail-on-findings").code == 1
    listed = run_inside("analyze").out
    assert "bad does not load: no module x" in listed
    assert "analysis bad does not load: no module x" in refusal("analyze", str(path), "bad")


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure("x", "x", None, "ps"), ("-", "")),
        (Figure("x", "x", 12_500, "ps", 40), ("12.5 ns ± 40 ps", "")),
        (Figure("x", "x", 1234567), ("1,234,567", "")),
        (Figure("x", "x", 12.34567, "%", 0.0123), ("12.346 ± 0.012", "%")),
        (Figure("x", "x", 0.0, "%"), ("0", "%")),
        (Figure("x", "x", 593.98765, "MB/s"), ("594.0", "MB/s")),
    ],
)
def test_a_figure_shows_as_many_digits_as_are_known(figure: Figure, text: tuple[str, str]) -> None:
    assert figure_text(figure) == text


def test_a_sparkline_shows_the_largest_of_each_part_and_leaves_blank_what_is_not_known() -> None:
    assert sparkline([0, 4, 8]) == "▁▅█"
    assert sparkline([1.0, float("nan"), 1.0]) == "█ █"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([]) == ""
    assert len(sparkline(list(range(1000)), 20)) == 20
    assert sparkline([0] * 50 + [9] + [0] * 49, 10).count("█") == 1


def test_intervals_are_summed_up_by_kind_and_those_that_are_cut_counted() -> None:
    track = Intervals(
        "t", "waits", np.array([0, 50, 90]), np.array([10, 70, 95]), ("a", "b", "a"), ("", "", ""),
        np.zeros(3, np.int64), np.array([True, False, False]), np.zeros(3, np.bool_),
    )  # fmt: skip
    series = Series(
        "s", "rate", "MB/s", np.array([0, 1]), np.array([1.0, 2.0]), limit=4, limit_label="line"
    )
    text = analysis_text("Title", AnalysisResult("own", series=(series,), intervals=(track,)))
    lines = [line.split() for line in text.split("\n")]
    assert ["waits", "a", "2", "(1", "cut)", "15", "ps", "10", "ps", "0", "ps"] in lines
    assert ["waits", "b", "1", "20", "ps", "20", "ps", "50", "ps"] in lines
    assert any(line[-3:] == ["MB/s", "line", "4"] for line in lines)


def test_the_shape_of_a_series_fits_into_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Series(
        "s", "A out, flow not known, in the trace", "MB/s", np.arange(100),
        np.arange(100.0), limit=596, limit_label="link: a word each cycle",
    )  # fmt: skip
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = analysis_text("Title", AnalysisResult("own", series=(one,))).split("\n")
    shape = next(i for i, line in enumerate(lines) if "flow not known" in line)
    assert len(lines[shape]) == 80
    assert lines[shape].endswith("█")
    assert lines[shape + 1] == "      most 99 MB/s,  link: a word each cycle 596"


def test_nothing_to_tell_is_said() -> None:
    assert "Nothing to tell" in analysis_text("Title", AnalysisResult("own"))
