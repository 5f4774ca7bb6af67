"""The texts beside the tracks: numbers as they stand elsewhere, names of which nothing is cut that has room."""

from __future__ import annotations

import pytest
from PyQt6.QtGui import QFont, QFontMetrics
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.timeline.gutter import name_lines, short_number


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (0.05, "0.05"), (312.0, "312"), (1024.0, "1,024"), (-1024.0, "-1,024"), (596.0464, "596.046"),
     (999_999.0, "999,999"), (1_000_000.0, "1 M"), (1.25e9, "1.25 G"), (-2e12, "-2 T"), (999_999.7, "1 M")],
)  # fmt: skip
def test_a_number_beside_a_series_is_written_as_in_texts_and_from_a_million_on_with_a_prefix(
    value: float, text: str
) -> None:
    assert short_number(value) == text


def test_a_name_takes_a_second_line_before_it_is_cut(qtbot: QtBot) -> None:
    metrics = QFontMetrics(QFont())
    name = "A->B flow 0, words outstanding"
    whole = metrics.horizontalAdvance(name)
    assert name_lines(metrics, name, whole, 20, 64) == [name]
    first, second = name_lines(metrics, name, 0.7 * whole, 20, 64)
    assert f"{first} {second}" == name and metrics.horizontalAdvance(first) <= 0.7 * whole
    assert name_lines(metrics, name, 0.7 * whole, 20, 28) == [name], "a low row has one line"
    assert name_lines(metrics, "x" * 300, 100, 20, 64) == ["x" * 300], "no blank to break it at"
