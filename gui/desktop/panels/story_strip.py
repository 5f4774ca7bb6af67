"""The story of the chosen finding in one line above the time line: numbered steps that move the view."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent
from PyQt6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.widgets import named, plain_label
from freezeframe.gui.palette import THEMES, ThemeName, hexadecimal
from freezeframe.gui.text import printable
from freezeframe.gui.tracks.story import MOST_STEPS, Step


class StoryStrip(QWidget):
    """A button for each step, and in words the one that is shown. Signal: ``asked`` a `Step`."""

    asked = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.at = -1
        """Number of the step that is shown; -1 for none yet."""
        self._buttons = [self._button(number) for number in range(MOST_STEPS)]
        self._said = plain_label("step of the story")
        self._said.setWordWrap(False)
        self._said.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        line = QHBoxLayout(self)
        line.setContentsMargins(8, 2, 8, 2)
        line.setSpacing(2)
        for made in self._buttons:
            line.addWidget(made)
        line.addWidget(self._said, 1)
        self.hide()

    def set_theme(self, name: ThemeName) -> None:
        """Fill the button of the step that is shown with the colour of what is selected: 3:1 against the others."""
        theme = THEMES[name]
        fill, ink = hexadecimal(theme.selection), hexadecimal(theme.on(theme.selection))
        self.setStyleSheet(
            f"QToolButton:checked {{ background: {fill}; color: {ink}; border: 1px solid {fill}; "
            "border-radius: 2px; }"
        )

    def set_steps(self, steps: Sequence[Step]) -> None:
        """Show the steps of another finding, none of them gone to; nothing where there are none."""
        if list(steps) == self.steps:
            return
        self.steps, self.at = list(steps), -1
        for number, made in enumerate(self._buttons):
            made.setVisible(number < len(steps))
            if number < len(steps):
                made.setToolTip(f"<span>{escape(self.text_of(number))}</span>")
                made.setAccessibleDescription(self.text_of(number))
        self.setVisible(bool(steps))
        self._show()

    def text_of(self, number: int) -> str:
        """Return a step in words, with its time."""
        step = self.steps[number]
        when = "" if step.span_ps is None else f" ({format_ps(step.span_ps[0])})"
        return printable(f"{step.text}{when}")

    def go(self, number: int) -> None:
        """Go to a step; one that there is not is left."""
        if 0 <= number < len(self.steps):
            self.at = number
            self._show()
            self.asked.emit(self.steps[number])

    def step(self, by: int) -> None:
        """Go on to the next step (1) or back (-1); from none to the first."""
        self.go(max(self.at, 0) + by if self.at >= 0 else 0)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Write as much of the step as has room; the tip has all."""
        self._show()

    def _show(self) -> None:
        for number, made in enumerate(self._buttons):
            made.setChecked(number == self.at)
        if not self.steps:
            return
        text = (
            self.text_of(self.at)
            if self.at >= 0
            else f"{plural(len(self.steps), 'step')} to the finding: Ctrl+J shows the next"
        )
        metrics = self._said.fontMetrics()
        self._said.setText(
            metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(self._said.width(), 60))
        )
        self._said.setToolTip(f"<span>{escape(text)}</span>")
        self._said.setAccessibleDescription(text)

    def _button(self, number: int) -> QToolButton:
        made = named(QToolButton(), f"step {number + 1} of the story")
        made.setText(str(number + 1))
        made.setCheckable(True)
        made.setVisible(False)
        made.clicked.connect(lambda _checked=False: self.go(number))
        return made
