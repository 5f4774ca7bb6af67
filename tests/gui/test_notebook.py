"""Notebooks: the one of the docs runs as it stands, and our things show themselves without running anything."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Series
from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from tests.gui.made_capture import made_capture, made_explanation

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"
HOSTILE = '<script>alert("x")</script> & \'"><img src=x onerror=alert(1)>'


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str | None) -> Tags:
    assert text is not None
    tags = Tags()
    tags.feed(text)
    return tags


def test_the_notebook_of_the_docs_runs_and_shows_what_it_says(tmp_path: Path) -> None:
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        out["data"]
        for cell in notebook.cells
        if cell.cell_type == "code"
        for out in cell.outputs
        if out.output_type == "execute_result"
    ]
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(shown) == len(codes)
    pages = [data["text/html"] for data in shown]
    assert "word-omitted: a 64-bit word was lost in A's outgoing FIFO" in read(pages[1]).text
    assert sum(page.count('role="img"') for page in pages) >= 6
    ids = [name for page in pages for name in read(page).ids if "-title" in name]
    assert len(ids) == len(set(ids))
    missing = shown[4]["text/plain"]  # the packet at every tap
    assert re.search(r"A\.tx_enq.* True", missing)
    assert re.search(r"A\.tx_deq.* False", missing)


def test_the_notebook_is_kept_without_outputs() -> None:
    """They would change with every run; whoever opens it runs it."""
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") for cell in notebook.cells)


def test_nothing_shown_runs_or_loads_and_names_stay_text(tmp_path: Path) -> None:
    capture = made_capture(tmp_path / "made.ff", source=HOSTILE)
    trace = made_explanation(capture).trace
    row = Row("words", HOSTILE, HOSTILE, 1, 2, slot=3)
    finding = Finding(HOSTILE, HOSTILE, HOSTILE, t_ps=5, evidence=(Evidence(HOSTILE, rows=(row,)),))
    series = Series("A.x", HOSTILE, HOSTILE, np.array([0, 9]), np.array([1.0, 2.0]))
    result = AnalysisResult(
        HOSTILE,
        (Figure("a", HOSTILE, 1, HOSTILE, None, HOSTILE),),
        (series,),
        findings=(finding,),
        notes=(HOSTILE,),
        tables={HOSTILE: trace.packets},
    )
    explanation = Explanation([finding, finding], [HOSTILE], trace)
    for thing in (capture, trace, finding, explanation, result, Explanation([], [], trace)):
        page = thing._repr_html_()
        shown = read(page)
        assert not {"script", "img", "link", "iframe"} & set(shown.tags)
        assert "url(" not in str(page).replace("url(#", "")
    assert HOSTILE in read(result._repr_html_()).text


@pytest.mark.parametrize("columns", [0, 3])
def test_a_result_with_nothing_in_it_shows_its_name_and_notes(columns: int) -> None:
    text = read(AnalysisResult("host", notes=("no trace of a host",) * columns)._repr_html_()).text
    assert "host" in text
    assert text.count("no trace of a host") == columns
