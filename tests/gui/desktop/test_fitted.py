"""Trees that their panel's width is enough for: how texts are broken, and the inspector at any width."""

from __future__ import annotations

from pathlib import Path

import pytest
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import QDockWidget
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.panels.fitted import fold
from tests.gui.desktop.conftest import Show


@pytest.mark.parametrize(
    ("text", "letters", "lines"),
    [
        ("credit sent, never taken", 12, ["credit sent,", "never taken"]),
        ("frozen_flow.credited[0]", 23, ["frozen_flow.credited[0]"]),
        ("frozen_flow.credited[0]", 16, ["frozen_flow.", "credited[0]"]),
        ("tx_dma.descriptor_count", 11, ["tx_dma.", "descriptor_", "count"]),
        ("A.tx_enq has it", 8, ["A.tx_enq", "has it"]),  # a name that a line holds stays whole
        ("0x0123456789abcdef", 8, ["0x012345", "6789abcd", "ef"]),
        ("one\ntwo", 5, ["one", "two"]),
        ("payload 44, +588.846 ns", 20, ["payload 44,", "+588.846 ns"]),
        ("", 5, [""]),
    ],
)
def test_a_text_is_broken_at_blanks_and_a_long_name_after_its_points(
    text: str, letters: int, lines: list[str]
) -> None:
    assert fold(text, letters).split("\n") == lines


@pytest.mark.parametrize("size", [(1280, 720), (1600, 900), (2600, 1080)])
def test_the_inspector_shows_what_is_expected_at_any_width_without_scrolling_sideways(
    show: Show, size: tuple[int, int]
) -> None:
    window = show(size=size)
    tree = window.inspector.tree
    header, bar, view = tree.header(), tree.horizontalScrollBar(), tree.viewport()
    assert header is not None and bar is not None and view is not None
    assert bar.maximum() == 0 and header.length() <= view.width()
    words = tree.topLevelItem(1)
    assert words is not None and words.text(0) == "8 words"
    rows = [words.child(number) for number in range(8)]
    texts = [row.text(0).replace("\n", " ") for row in rows if row is not None]
    assert texts[:2] == ["header", "address, +12.8 ns"] and texts[7] == "tail, +89.6 ns"
    tail = rows[7]
    assert tail is not None
    shown = "\n".join(tail.text(n) for n in (1, 2) if not tree.isColumnHidden(n))
    assert shown == "0x000000005d64c90c ≠\n0x0000000043d27d64"
    for row in rows:
        assert row is not None
        for column in range(3):
            wide = max(map(tree.fontMetrics().horizontalAdvance, row.text(column).split("\n")))
            inset = 2 * tree.indentation() if column == 0 else 0
            assert tree.isColumnHidden(column) or wide + inset < tree.columnWidth(column)


def test_the_chosen_word_of_a_long_packet_is_in_sight_and_its_name_in_one_line(
    show: Show, other_capture: Path
) -> None:
    window = show(other_capture, size=(1280, 720))
    tree = window.inspector.tree
    row, view = tree.currentItem(), tree.viewport()
    assert row is not None and view is not None and row.text(0).startswith("payload ")
    assert "\n" not in row.text(0)
    assert view.rect().contains(tree.visualItemRect(row).center())


def test_the_64_bits_of_a_word_stand_in_two_lines_where_one_has_no_room(
    show: Show, qtbot: QtBot
) -> None:
    window = show(size=(1280, 720))
    assert window.inspector.bits.text().split("\n") == [
        "bit   63       55       47       39",
        "is    00010100 11000001 11010011 11000100",
        "bit   31       23       15       7",
        "is    01001000 01001011 11111011 01011010",
    ]
    window.resize(2600, 1080)
    dock = next(
        one for one in window.findChildren(QDockWidget) if one.isAncestorOf(window.inspector)
    )
    window.resizeDocks([dock], [800], Qt.Orientation.Horizontal)
    qtbot.waitUntil(lambda: window.inspector.bits.text().count("\n") == 1)
    assert window.inspector.bits.text().endswith("11111011 01011010")
