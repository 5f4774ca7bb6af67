"""The panel that proves the chosen finding: in a window it shows the drawing's marks where the drawing has them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PyQt6.QtCore import QPointF
from PyQt6.QtGui import QImage
from pytestqt.qtbot import QtBot

from freezeframe.gui.desktop.proofs import Proof
from freezeframe.gui.desktop.window import MainWindow
from freezeframe.gui.palette import DARK, LIGHT
from freezeframe.gui.plots.picture import picture_png, picture_svg
from freezeframe.gui.plots.svg import Shape
from tests.gui.desktop.captures import emulated
from tests.gui.desktop.conftest import WAIT_MS, Show, settle, wait_loaded


def pixels(image: QImage) -> npt.NDArray[np.int64]:
    """Return an image as (height, width, 3): red, green, blue."""
    held = image.convertToFormat(QImage.Format.Format_RGB32)
    bits = held.constBits()
    assert bits is not None
    raw = np.frombuffer(bits.asstring(held.sizeInBytes()), np.uint8)
    return raw.reshape(held.height(), -1, 4)[:, : held.width(), 2::-1].astype(np.int64)


def rgb(colour: str) -> npt.NDArray[np.int64]:
    return np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)])


def proved(qtbot: QtBot, window: MainWindow) -> Proof:
    window.show_panel("Proof")
    qtbot.waitUntil(lambda: window.proof.pages.proof is not None, timeout=WAIT_MS)
    proof = window.proof.pages.proof
    assert proof is not None
    return proof


@pytest.fixture
def proof(qtbot: QtBot, opened: MainWindow) -> Proof:
    return proved(qtbot, opened)


def is_near(shown: npt.NDArray[np.int64], x: float, y: float, colour: str) -> bool:
    """Return whether a pixel of a colour stands at most one beside; a line between two pixels is half in each."""
    near = shown[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2] - rgb(DARK.css()["background"])
    whole = rgb(colour) - rgb(DARK.css()["background"])
    share = near @ whole / (whole @ whole)
    aside = np.abs(near - share[..., None] * whole).max(axis=2)
    return bool(((share > 0.4) & (share < 1.1) & (aside < 24)).any())


def in_danger(shape: Shape) -> bool:
    """Return whether a mark is one whose stroke has the danger colour, without gaps."""
    classes = set(shape.css.split())
    return shape.kind in ("rect", "line") and bool(
        {"broken"} < classes or classes == {"mark", "finding"}
    )


@pytest.mark.parametrize("fault", ["word-omitted", "payload-bit-flip", "credit-lost"])
def test_the_danger_colour_stands_where_the_drawing_says_that_something_is_broken(
    qtbot: QtBot, window: MainWindow, tmp_path: Path, fault: str
) -> None:
    wait_loaded(qtbot, window, emulated(tmp_path / "x.ff", fault))
    proof = proved(qtbot, window)
    assert len(proof.drawings) >= 2
    pages = window.proof.pages
    shown = pixels(pages.grab().toImage())
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) > 16
    ratio = shown.shape[1] / proof.size[0]
    marks = [shape for shape in proof.shapes if in_danger(shape)]
    assert {"mark finding"} < {shape.css for shape in marks}
    for shape in marks:
        (x1, y1), (x2, y2) = shape.points
        # Of a rectangle the middle of its upper edge, of a line its own.
        x, y = (x1 + x2) / 2, (y1 if shape.kind == "rect" else (y1 + y2) / 2)
        assert is_near(shown, x * ratio, y * ratio, DARK.css()["error"]), shape
    whole = [shape for shape in proof.shapes if shape.css == "box"]
    assert whole
    for shape in whole:
        (x1, y1), (x2, _) = shape.points
        assert not is_near(shown, (x1 + x2) / 2 * ratio, y1 * ratio, DARK.css()["error"]), shape


def test_qt_paints_what_the_svg_of_the_same_drawings_shows(
    window: MainWindow, proof: Proof
) -> None:
    window.set_theme("light")
    mine = pixels(window.proof.pages.image(1))
    image = QImage()
    assert image.loadFromData(picture_png(picture_svg(proof.drawings, "", theme="light")))
    other = pixels(image)
    height = min(len(mine), len(other))
    assert abs(len(mine) - len(other)) <= 1
    differ = np.abs(mine[:height] - other[:height]).max(axis=2) > 96
    ink = (other[:height] != rgb(LIGHT.css()["background"])).any(axis=2)
    assert differ.sum() < 0.1 * ink.sum()
    red = [
        (np.abs(one - rgb(LIGHT.css()["error"])).max(axis=2) < 24).sum() for one in (mine, other)
    ]
    assert red[0] == pytest.approx(red[1], rel=0.1)


def test_no_picture_is_made_before_the_panel_is_looked_at(
    qtbot: QtBot, window: MainWindow, fault_capture: Path
) -> None:
    titles: list[str] = []
    window.workspace.jobs.began.connect(lambda job: titles.append(job.title))
    wait_loaded(qtbot, window, fault_capture)
    settle(qtbot, window)
    assert window.findings.list.currentRow() == 0
    assert not any(title.startswith("pictures of") for title in titles)
    proved(qtbot, window)
    assert titles.count("pictures of word-omitted") == 1


def test_the_pictures_follow_the_chosen_finding_the_theme_and_the_room(
    qtbot: QtBot, window: MainWindow, fault_capture: Path, other_capture: Path
) -> None:
    wait_loaded(qtbot, window, fault_capture)
    other = wait_loaded(qtbot, window, other_capture)
    assert proved(qtbot, window).title.endswith("fault.ff: word-omitted")
    window.findings.select(other, 0, tell=True)
    assert window.proof.pages.proof is None
    assert "being made" in window.proof.said.text()
    assert proved(qtbot, window).title.endswith("other.ff: payload-bit-flip")
    for theme, colours in (("light", LIGHT), ("dark", DARK)):
        window.set_theme("light" if theme == "light" else "dark")
        assert (
            pixels(window.proof.pages.grab().toImage())[2, 2] == rgb(colours.css()["background"])
        ).all()
    before = window.proof.pages.width()
    window.resize(window.width() + 300, window.height())
    qtbot.waitUntil(lambda: window.proof.pages.width() > before, timeout=WAIT_MS)
    window.workspace.close_source(other)
    qtbot.waitUntil(lambda: window.proof.pages.proof is None, timeout=WAIT_MS)


def test_what_the_first_picture_says_is_broken_is_seen_without_scrolling(
    qtbot: QtBot, show: Show
) -> None:
    window = show(size=(1600, 900))
    proof = proved(qtbot, window)
    drawn = proof.drawings[0].sheet
    assert drawn is not None
    said = [shape.text for shape in drawn.shapes if "broken" in shape.css.split() and shape.text]
    assert "1 word fewer out than in" in said
    lowest = max(s.points[0][1] for s in proof.shapes if s.text in said)
    view, scale = window.proof.area.viewport(), window.proof.pages.scale
    assert view is not None and lowest * scale < view.height() and scale >= 0.75


def test_a_mark_says_what_it_is_where_the_mouse_rests(window: MainWindow, proof: Proof) -> None:
    (mark,) = [one for one in proof.shapes if one.css == "mark finding"]
    (x, y1), (_, y2) = mark.points
    assert window.proof.pages.tip_at(QPointF(x, (y1 + y2) / 2)).startswith("word-omitted: 229.95")
    assert window.proof.pages.tip_at(QPointF(1, 1)) == ""


def test_the_pictures_are_saved_as_png_and_as_svg(
    window: MainWindow, proof: Proof, tmp_path: Path
) -> None:
    window.commands.write_proof("png", tmp_path / "p.png")
    window.commands.write_proof("svg", tmp_path / "p.svg")
    assert not window.trouble.text()
    image = QImage(str(tmp_path / "p.png"))
    assert (image.width(), image.height()) == tuple(round(2 * one) for one in proof.size)
    root = ET.fromstring((tmp_path / "p.svg").read_text())
    texts = {one.text for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {drawing.title for drawing in proof.drawings} < texts
    window.commands.write_proof("png", tmp_path / "none" / "p.png")
    assert "none" in window.trouble.text()


def test_without_a_finding_the_panel_says_what_to_do(window: MainWindow) -> None:
    window.show_panel("Proof")
    assert window.proof.said.text().startswith("Choose a finding")
    assert window.proof.said.isVisible()
    window.commands.write_proof("svg", Path("nowhere.svg"))
    assert "choose a finding" in window.trouble.text()
