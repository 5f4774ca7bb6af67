"""What verbs say in their lines: numbers with their nouns, each thing once, nothing where there is nothing."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.contract import Row
from freezeframe.analyzers.registry import load_analyses
from freezeframe.capture.journal import Hole
from freezeframe.gui.cli.work import counters, what_if
from freezeframe.gui.cli.work.plot import _why_not
from freezeframe.gui.report.comparison import compare
from tests.gui.cli import refusal, run_inside


def row(source: str, value: int, expected: int | None = None) -> Row:
    return Row("words", source, "payload word 4", value, expected)


def test_a_difference_that_several_taps_show_is_said_once() -> None:
    sent = 0x1234
    made = compare(
        [row("A.tx_deq", sent), *(row(tap, sent ^ 1 << 28) for tap in ("B.rx_enq", "B.rx_deq"))]
    )
    assert made is not None
    (line,) = made.lines
    assert made.note(line) == "bit 28 differs"
    other = compare([row("A.tx_deq", sent), row("B.rx_enq", sent ^ 1), row("B.rx_deq", sent ^ 2)])
    assert other is not None
    assert other.note(other.lines[0]) == "bit 0 differs; bit 1 differs"


@pytest.mark.parametrize(
    ("frames", "said"), [(1, "1 frame is missing"), (2, "2 frames are missing")]
)
def test_a_gap_of_a_journal_counts_its_frames(frames: int, said: str) -> None:
    assert said in Hole("0001.seg", 16, 4, frames).text


def test_counters_that_are_all_0_are_told_and_no_empty_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Info:
        unit, doc = "words", "Words"

    infos: Any = {"tx_words": Info, "rx_words": Info}
    last = {"A": {"seq": 1, "values": {"tx_words": 0, "rx_words": 0}}}
    counters._print_table(last, None, infos, False)
    assert capsys.readouterr().out == "All 2 counters are 0 on device A (--all shows them).\n"
    last["A"]["values"] = {"tx_words": 7, "rx_words": 0}
    counters._print_table(last, None, infos, False)
    assert capsys.readouterr().out.endswith(
        "\n\n1 more counter is 0 on device A (--all shows them).\n"
    )


def test_a_gain_that_rounds_to_nothing_has_no_minus(capsys: pytest.CaptureFixture[str]) -> None:
    flow = SimpleNamespace(adapter=SimpleNamespace(flow={}))
    outcome: Any = SimpleNamespace(compiled=SimpleNamespace(described=flow))
    worths: Any = [SimpleNamespace(part="bus", throughput=-0.0001, latency=-0.25)]
    what_if._print_worths(outcome, worths)
    out = capsys.readouterr().out
    assert "-0.250 %" in out
    assert "-0.000" not in out


def test_a_file_from_which_nothing_comes_is_told_as_that() -> None:
    said = refusal("decode", "/dev/null")
    assert said.startswith(
        "freezeframe: /dev/null: no format is recognised (nothing can be read from it), of samples or of packets"
    )


def test_reasons_why_nothing_is_drawn_are_parted() -> None:
    analysis = load_analyses().find("latency")
    empty = AnalysisResult(analysis.id, notes=("A logs no times.", "B has gaps"))
    assert _why_not(analysis, empty) == "A logs no times; B has gaps"


def test_no_example_of_a_help_has_blanks_within_a_command() -> None:
    out = run_inside("trigger", "--help").out
    examples = out.split("Examples:\n")[1].split("\n\n")[0]
    assert not re.search(r"\S {2,}\S", examples)
    assert "--term kind=TAIL \\\n" in examples
