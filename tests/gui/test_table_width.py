"""Tables on a terminal: what is longer than a line goes on below its column; a pipe gets a line a row."""

from __future__ import annotations

import pytest

from freezeframe.gui.cli.output import table

HEADERS = ("name", "count", "meaning")
ROWS = [
    ("A.words", "12", "words that left for the link, with headers and tails, since power-up"),
    ("A.bad", "0", "short"),
    ("A.none", "1", ""),
]


def made(monkeypatch: pytest.MonkeyPatch, columns: int, *, terminal: bool) -> list[str]:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    return table(HEADERS, ROWS, right=(1,)).split("\n")


def test_the_last_column_goes_on_below_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(monkeypatch, 48, terminal=True) == [
        "name     count  meaning",
        "A.words     12  words that left for the link,",
        "                with headers and tails, since",
        "                power-up",
        "A.bad        0  short",
        "A.none       1",
    ]


@pytest.mark.parametrize(("columns", "terminal"), [(48, False), (200, True), (20, True)])
def test_a_pipe_a_wide_terminal_and_one_too_narrow_get_a_line_a_row(
    monkeypatch: pytest.MonkeyPatch, columns: int, *, terminal: bool
) -> None:
    lines = made(monkeypatch, columns, terminal=terminal)
    assert len(lines) == 1 + len(ROWS)
    assert lines[1] == f"A.words     12  {ROWS[0][2]}"
