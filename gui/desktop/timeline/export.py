"""What is seen, as an image or as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRect, QSize
from PyQt6.QtGui import QColor, QImage, QPainter
from PyQt6.QtSvg import QSvgGenerator

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.timeline.gutter import draw_gutter
from freezeframe.gui.desktop.timeline.overlay import RULER_PX, draw_overlay, draw_ruler
from freezeframe.gui.desktop.timeline.raster import Raster
from freezeframe.gui.desktop.timeline.scene import Overlay, Scene
from freezeframe.gui.desktop.timeline.vector import Vector

_SVG = "http://www.w3.org/2000/svg"
_USUAL = {
    ("fill-opacity", "1"), ("stroke-opacity", "1"), ("stroke-width", "1"), ("stroke-linecap", "square"),
    ("stroke-linejoin", "bevel"), ("vector-effect", "none"), ("fill-rule", "evenodd"), ("font-style", "normal"),
    ("font-weight", "400"), ("transform", "matrix(1,0,0,1,0,0)"),
}  # fmt: skip
"""What holds without being said: of SVG, or of the group around all that Qt writes."""


def image(scene: Scene, overlay: Overlay, size: tuple[int, int]) -> QImage:
    """Return a scene with its labels and axis as an image of ``size`` pixels."""
    made = QImage(*size, QImage.Format.Format_RGB32)
    made.fill(QColor(scene.theme.gutter))
    painter = QPainter(made)
    painter.drawImage(QPointF(scene.gutter, RULER_PX), Raster().paint(scene))
    _draw_around(painter, scene, overlay)
    painter.end()
    return made


def svg(scene: Scene, overlay: Overlay, size: tuple[int, int]) -> bytes:
    """Return a scene with its labels and axis as an SVG document with a title and a description."""
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(*size))
    generator.setViewBox(QRect(0, 0, *size))
    generator.setTitle("Time line")
    span = f"{format_ps(scene.window.t0_ps)} to {format_ps(scene.window.t1_ps)}"
    generator.setDescription(f"{len(scene.rows)} tracks, {span}")
    painter = QPainter(generator)
    painter.fillRect(0, 0, *size, QColor(scene.theme.gutter))
    painter.translate(scene.gutter, RULER_PX)
    Vector(painter, scene)
    painter.translate(-scene.gutter, -RULER_PX)
    _draw_around(painter, scene, overlay)
    painter.end()
    return _lean(held.data())


def _lean(svg: bytes) -> bytes:
    """Return Qt's picture without the half of it that is said again at every mark; each text has its own font."""
    ElementTree.register_namespace("", _SVG)
    root = ElementTree.fromstring(svg)
    (whole,) = root.findall(f"{{{_SVG}}}g")
    for group in list(whole):
        if not len(group):
            whole.remove(group)
        for mark in group.iter():
            of_font = mark is group and len(group)
            for name, value in list(mark.items()):
                if (name, value) in _USUAL or (of_font and name.startswith("font-")):
                    del mark.attrib[name]
                elif value == "Sans Serif":  # Qt's name for it is the name of no font in a browser
                    mark.set(name, "sans-serif")
    made: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return made


def _draw_around(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    painter.translate(scene.gutter, 0)
    draw_ruler(painter, scene, overlay)
    painter.translate(0, RULER_PX)
    draw_overlay(painter, scene, overlay)
    painter.translate(-scene.gutter, -RULER_PX)
    draw_gutter(painter, scene, overlay, focused=False)
