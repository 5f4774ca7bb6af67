"""What is seen, as an image or as SVG."""

from __future__ import annotations

from PyQt6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRect, QSize
from PyQt6.QtGui import QColor, QImage, QPainter
from PyQt6.QtSvg import QSvgGenerator

from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.timeline.gutter import draw_gutter
from freezeframe.gui.desktop.timeline.overlay import RULER_PX, draw_overlay, draw_ruler
from freezeframe.gui.desktop.timeline.raster import Raster
from freezeframe.gui.desktop.timeline.scene import Overlay, Scene
from freezeframe.gui.desktop.timeline.vector import Vector


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
    return held.data()


def _draw_around(painter: QPainter, scene: Scene, overlay: Overlay) -> None:
    painter.translate(scene.gutter, 0)
    draw_ruler(painter, scene, overlay)
    painter.translate(0, RULER_PX)
    draw_overlay(painter, scene, overlay)
    painter.translate(-scene.gutter, -RULER_PX)
    draw_gutter(painter, scene, overlay, focused=False)
