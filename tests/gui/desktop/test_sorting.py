"""Rows in the order of a column: literal tables in, orders out; and a real table with its headings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.sorting import order_of
from freezeframe.gui.desktop.window import MainWindow
from tests.gui.desktop.conftest import settle

_FRAME = pd.DataFrame(
    {
        "flow": [3, -1, 1, 3],
        "data": np.array([-1, 5, 0, 2], np.int64),  # -1 is ffff...: the largest word
        "kind": pd.Categorical(["b", "a", None, "b"], ["b", "a"]),
        "text": ["Zeta", "alpha", "Beta", "alpha"],
        "size": pd.array([10, None, 9, 100], "Int64"),
        "rate": [2.0, float("nan"), -1.0, 2.0],
        "good": pd.array([True, None, False, True], "boolean"),
    }
)


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        ("flow", [2, 0, 3, 1], [0, 3, 2, 1]),
        ("data", [2, 3, 1, 0], [0, 1, 3, 2]),
        ("kind", [1, 0, 3, 2], [0, 3, 1, 2]),
        ("text", [1, 3, 2, 0], [0, 2, 1, 3]),
        ("size", [2, 0, 3, 1], [3, 0, 2, 1]),
        ("rate", [2, 0, 3, 1], [0, 3, 2, 1]),
        ("good", [2, 0, 3, 1], [0, 3, 2, 1]),
    ],
)
def test_equal_values_stay_in_order_and_unknown_ones_come_last(
    column: str, up: list[int], down: list[int]
) -> None:
    assert order_of(_FRAME, column).tolist() == up
    assert order_of(_FRAME, column, descending=True).tolist() == down


def test_an_empty_table_has_an_empty_order() -> None:
    assert order_of(_FRAME.head(0), "text").tolist() == []


def test_a_click_on_a_heading_sorts_and_the_chosen_row_stays_chosen(
    opened: MainWindow, qtbot: QtBot
) -> None:
    key = "1"
    table = opened.table
    chosen = table.current_row()
    frame = opened.workspace.sources[key].tables["words"].frame
    column = table.model.column_names().index("data")
    header = table.view.horizontalHeader()
    assert header is not None and table.shown is not None and table.shown[1].key == "words"
    values = frame["data"].to_numpy().view(np.uint64)
    for expected in (np.sort(values), np.sort(values)[::-1], values):
        header.sectionClicked.emit(column)
        settle(qtbot, opened)
        rows = [table.model.row_at(line) for line in range(len(frame))]
        assert np.array_equal(values[rows], expected)
        assert table.current_row() == chosen


def test_hits_and_filters_come_in_the_order_that_is_shown(opened: MainWindow, qtbot: QtBot) -> None:
    table = opened.table
    table.columns.sort(table.model.column_names().index("data"))
    settle(qtbot, opened)
    table.filter_edit.setText("kind == TAIL and source == A.tx_deq")
    table.apply_filter()
    settle(qtbot, opened)
    assert 1 < table.model.shown < table.model.total
    assert table.shown is not None
    data = table.shown[1].frame["data"].to_numpy().view(np.uint64)
    rows = [table.model.row_at(line) for line in range(table.model.shown)]
    assert data[rows].tolist() == sorted(data[rows].tolist())
    table.view.selectRow(0)
    for line in range(1, 4):
        table.step(1)
        assert table.current_row() == rows[line]


def test_a_hidden_column_stays_hidden_and_one_always_stays(opened: MainWindow) -> None:
    table = opened.table
    names = table.model.column_names()
    table.columns.hide(names.index("slot"))
    table.which.setCurrentIndex(0)
    table.which.setCurrentIndex([k for _, k in table._offered].index("words"))
    assert table.view.isColumnHidden(names.index("slot"))
    for column in range(len(names)):
        table.columns.hide(column)
    assert sum(not table.view.isColumnHidden(n) for n in range(len(names))) == 1
    table.columns.show_all()
    assert not any(table.view.isColumnHidden(n) for n in range(len(names)))
