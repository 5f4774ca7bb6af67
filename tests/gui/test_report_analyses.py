"""The analyses in the report: what each tells, why one tells nothing, and names that stay text."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from freezeframe.analyzers import registry
from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals, Series
from freezeframe.analyzers.contract import Analysis, Evidence, Finding
from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.report.analysis_sections import Ran, analyses_section, run_all
from freezeframe.gui.report.frames import cell_text, frame_table
from tests.gui.made_capture import made_capture, made_explanation

HOSTILE = '</script><script>alert("x")</script> & \'"><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    return tags


def failing(material: CaptureView) -> AnalysisResult:
    raise ZeroDivisionError("by <b>nothing</b>")


FAILING = Analysis("failing", "A plug-in that fails", "It fails.", failing)


def test_every_installed_analysis_is_run_and_stands_in_the_order_a_reader_asks(
    tmp_path: Path,
) -> None:
    capture = made_capture(tmp_path / "made.ff")
    ran = run_all(CaptureView(capture, trace=made_explanation(capture).trace))
    names = [one.result.name for one in ran]
    assert names[:3] == ["throughput", "pressure", "credits"]
    assert set(registry.load_analyses().analyses) == set(names)
    text = read(analyses_section(ran)).text
    for one in ran:
        assert one.title in text
    assert "the capture holds no trace of a host" in text


def test_an_analysis_that_fails_or_does_not_load_says_so_and_the_others_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = [
        EntryPoint("failing", f"{__name__}:FAILING", registry.GROUP),
        EntryPoint("missing", "no.such.module:X", registry.GROUP),
        *entry_points(group=registry.GROUP, name="throughput"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda **which: own)
    capture = made_capture(tmp_path / "made.ff")
    section = analyses_section(run_all(CaptureView(capture, trace=made_explanation(capture).trace)))
    text = read(section).text
    assert "The analysis failed: ZeroDivisionError: by <b>nothing</b>" in text
    assert "It does not load: no.such.module:X: ModuleNotFoundError" in text
    assert "A out, mean" in text
    assert "b" not in read(section).tags


def test_names_out_of_a_result_stay_text_everywhere() -> None:
    times = np.array([0, 1_000])
    no = np.zeros(2, np.bool_)
    result = AnalysisResult(
        HOSTILE,
        (Figure(HOSTILE, HOSTILE, None, HOSTILE, None, HOSTILE),),
        (Series(HOSTILE, HOSTILE, HOSTILE, times, np.array([1.0, 2.0]), True, 1.5, HOSTILE),),
        (
            Intervals(
                HOSTILE, HOSTILE, times, times + 5, (HOSTILE,) * 2, (HOSTILE,) * 2, times, no, no
            ),
        ),
        (Finding(HOSTILE, HOSTILE, evidence=(Evidence(HOSTILE),)),),
        {HOSTILE: pd.DataFrame({HOSTILE: [HOSTILE]})},
        (HOSTILE,),
    )
    section = analyses_section([Ran(HOSTILE, HOSTILE, result)])
    assert section.count("data-all=") == 2
    tags = read(str(section))
    assert not {"script", "img"} & set(tags.tags)
    assert tags.text.count(HOSTILE) >= 10


def test_a_drawing_with_too_much_for_a_script_stays_still_and_says_so() -> None:
    times = np.arange(50_000)
    many = Series("A.x", "x", "", times, times % 7)
    late = Series("A.x", "x", "", times[:9] + (1 << 53), times[:9])
    for series in (many, late):  # a script counts in doubles, which are exact up to 2^53
        section = analyses_section([Ran("Big", "", AnalysisResult("big", series=(series,)))])
        assert "data-all=" not in section
        assert "Too much for zooming on a page: freezeframe open" in section
        assert 'class="s0"' in section


def test_without_analyses_there_is_no_such_part() -> None:
    assert analyses_section([]) == ""


def test_a_long_table_is_cut_and_says_how_long_it_is_and_where_the_rest_is() -> None:
    result = AnalysisResult("big", tables={"rows": pd.DataFrame({"t_ps": range(1_000)})})
    section = analyses_section([Ran("Big", "", result)])
    assert "the first 200 of 1,000 rows" in section
    assert "freezeframe analyze CAPTURE.ff big --tables DIR" in section
    assert section.count("<tr>") == 201


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("t_ps", np.int64(1_500), "1.5 ns"),
        ("data", np.int64(-1), "0xffffffffffffffff"),
        ("up_data", 16, "0x0000000000000010"),
        ("words", 12_345, "12,345"),
        ("share", 0.123456789, "0.123457"),
        ("good", np.bool_(True), "yes"),
        ("good", False, "no"),
        ("kind", "<b>", "<b>"),
    ],
)
def test_a_cell_reads_as_people_write_it(column: str, value: object, text: str) -> None:
    assert cell_text(column, value) == text


def test_what_is_missing_is_an_empty_cell_and_not_a_number() -> None:
    frame = pd.DataFrame(
        {
            "a": pd.array([1, None], dtype="Int64"),
            "b": [1.5, float("nan")],
            "c": pd.array([True, None], dtype="boolean"),
        }
    )
    assert '<tr><td class="n"></td><td class="n"></td><td></td></tr>' in frame_table(frame, "", 5)
