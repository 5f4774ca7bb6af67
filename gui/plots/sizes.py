"""How large the messages of a sender are: a column for each range of payload words."""

from __future__ import annotations

from collections import Counter

from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.plots.axis import GUTTER, MARGIN, WIDTH, value_ticks
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.frame import draw_values
from freezeframe.gui.plots.svg import Svg, text_width

_HEIGHT, _TOP = 130.0, 24.0


def sizes_drawing(view: CaptureView, sender: str, name: str) -> Drawing | None:
    """Return the sizes of the packets that a sender's first tap holds; None where it holds none."""
    stream = view.first_sent(sender)
    lengths = [p.length for p in stream.packets if p.length is not None] if stream else []
    if stream is None or not lengths:
        return None
    columns = counted(lengths)
    title = f"Payload words of the packets at {stream.source}"
    short = sum(count for _, last, count in columns if last <= 2)
    caption = f"{title}: {short:,} of {len(lengths):,} have one or two."
    svg = Svg(name, WIDTH, _TOP + _HEIGHT + 40, title=title, desc=caption)
    ticks = value_ticks(0, max(count for _, _, count in columns), 5)
    bottom = _TOP + _HEIGHT

    def y(value: float) -> float:
        return bottom - _HEIGHT * value / ticks[-1]

    draw_values(svg, ticks, y, (GUTTER, WIDTH - MARGIN), "packets")
    wide = (WIDTH - MARGIN - GUTTER) / len(columns)
    for number, (first, last, count) in enumerate(columns):
        left, high = GUTTER + wide * number, _HEIGHT * count / ticks[-1]
        label = f"{first}" if first == last else f"{first} to {last}"
        svg.rect(
            left + wide * 0.1,
            bottom - high,
            wide * 0.8,
            high,
            "column",
            tip=f"{count:,} packets of {label} words",
        )
        svg.text(left + wide / 2, bottom + 16, label, "label", anchor="middle")
        if count and text_width(f"{count:,}", 12) < wide:
            svg.text(left + wide / 2, bottom - high - 4, f"{count:,}", "key", anchor="middle")
    svg.line(GUTTER, bottom, WIDTH - MARGIN, bottom, "axis")
    svg.text(WIDTH - MARGIN, bottom + 34, "payload words of a packet", "label", anchor="end")
    return Drawing(name, title, caption, svg.render(), sheet=svg, still=True)


def counted(lengths: list[int]) -> list[tuple[int, int, int]]:
    """Return (first, last, how many) of the lengths in ranges that double: 0, 1, 2, 3 to 4, 5 to 8, ..."""
    ranks = Counter((length - 1).bit_length() + 1 if length else 0 for length in lengths)
    made = []
    for rank in range(max(ranks) + 1):
        last = 1 << (rank - 1) if rank else 0
        first = (last >> 1) + 1 if rank > 1 else last
        made.append((first, last, ranks[rank]))
    return made if ranks[0] else made[1:]
