"""A widget that is lines of styled text, of which only those that changed are drawn again.

Textual's line API: a line costs what it holds, not a widget with its own layout, and over a slow line only
what changed is sent. Text is never read as markup.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import wrap

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from freezeframe.gui.text import printable

_LEAST_ROOM = 20  # columns of a wrapped text, however narrow the terminal is

Line = tuple[tuple[str, Style], ...]
"""Pieces of text with their styles. Only what is printable is printed."""


class LineView(ScrollView):
    """Lines that can be scrolled; only those in sight are ever made."""

    def __init__(self, *, id: str, name: str) -> None:
        super().__init__(id=id, name=name)
        self._count = 0
        self._line_at: Callable[[int], Line] = lambda at: ()
        self._made: dict[int, Line] = {}  # what is on the screen

    @property
    def texts(self) -> list[str]:
        """All lines, without their styles."""
        return [
            "".join(text for text, _ in self._line_at(at)).rstrip() for at in range(self._count)
        ]

    def show(self, lines: Sequence[Line], *, follow: bool = False) -> None:
        """Show these lines; ``follow`` keeps the last in sight."""
        self.show_made(len(lines), lines.__getitem__, follow=follow)

    def show_made(
        self, count: int, line_at: Callable[[int], Line], *, follow: bool = False
    ) -> None:
        """Show ``count`` lines that ``line_at`` makes; draws those in sight that have changed."""
        self._line_at = line_at
        before, self._made = self._made, {}
        if count != self._count:
            self._count = count
            self.virtual_size = Size(self.scrollable_content_region.width, count)
            self.refresh()
            if follow:
                self.scroll_end(animate=False)
            return
        top = self.scroll_offset.y
        end = min(count, top + self.size.height)
        first: int | None = (
            None  # of a run of changed lines: one region of many lines costs less than many of one
        )
        for at in range(top, end):
            self._made[at] = line_at(at)
            if before.get(at) == self._made[at]:
                if first is not None:
                    self.refresh_lines(first, at - first)
                first = None
            elif first is None:
                first = at
        if first is not None:
            self.refresh_lines(first, end - first)

    def render_line(self, y: int) -> Strip:
        """Return a line of the window."""
        at = y + self.scroll_offset.y
        width = self.size.width
        if at >= self._count:
            return Strip.blank(width)
        line = self._made.get(at)
        if line is None:
            line = self._made[at] = self._line_at(at)
        segments = [
            Segment(text if text.isprintable() else printable(text), style) for text, style in line
        ]
        strip = Strip(segments)
        if strip.cell_length <= width:
            return strip.adjust_cell_length(width)
        cut = strip.crop(0, width - 1)  # what does not fit is not hidden without a sign
        return Strip([*cut, Segment("…", segments[-1].style)]).adjust_cell_length(width)


def hanging(
    head: tuple[str, Style],
    text: str,
    style: Style,
    width: int,
    tail: tuple[str, Style] | None = None,
) -> list[Line]:
    """Return text after ``head``, wrapped: further lines begin below its beginning. ``tail`` ends the last."""
    indent = " " * len(head[0])
    room = max(_LEAST_ROOM, width - len(indent))
    parts = wrap(printable(text), room, break_on_hyphens=False) or [""]
    lines: list[Line] = [(head, (parts[0], style))]
    lines += [((indent, style), (part, style)) for part in parts[1:]]
    if tail is not None and len(parts[-1]) + len(tail[0]) <= room:
        lines[-1] = (*lines[-1], tail)
    elif tail is not None:
        lines.append(((indent, tail[1]), (tail[0].strip(), tail[1])))
    return lines
