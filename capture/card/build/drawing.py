"""A drawing of a card's taps on their paths (SVG): boxes for taps, arrows for what may happen between them.

All letters are of one width, 1233/2048 of their size as in DejaVu Sans Mono, so that every label's size is known here;
the other fonts that are named are as wide or narrower. Colours are of a light page and, where the reader has one, of a
dark page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from unicodedata import east_asian_width

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedStretch, ElaboratedTap

ADVANCE = 1233 / 2048
SIZE, LINE, PAD, GAP = 12, 16, 10, 26
LABEL_LETTERS = 26  # an arrow's label is broken behind so many
ACROSS = 5  # boxes in a row; a longer path goes on below
# Hues that stay apart for colour-blind readers (Okabe, Ito 2008); each box and the legend say the clock's name too.
_BUS = "#7f7f7f"
_CLOCKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#b8a800")
_STYLE = """
text { font: 12px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24; white-space: pre; }
.page { fill: #ffffff; } .box { fill: #f6f8fa; stroke: #57606a; }
.far { fill: none; stroke: #57606a; stroke-dasharray: 5 3; }
.name { font-weight: bold; } .cause { fill: #a40e26; } .count { fill: #0550ae; } .dim { fill: #57606a; }
.arrow { stroke: #57606a; stroke-width: 1.5; fill: none; } .head { fill: #57606a; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .page { fill: #0d1117; } .box { fill: #161b22; stroke: #8b949e; } .far { stroke: #8b949e; }
.cause { fill: #ff7b72; } .count { fill: #79c0ff; } .dim { fill: #9ea7b3; }
.arrow { stroke: #8b949e; } .head { fill: #8b949e; }
}
"""
Line = tuple[str, str]  # class, text


@dataclass
class _Box:
    """Lines in a frame, with the colour of its clock."""

    lines: list[Line]
    colour: str = ""
    frame: str = "box"

    @property
    def width(self) -> float:
        return max(letters(text) for _, text in self.lines) * ADVANCE * SIZE + 2 * PAD + 4

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + PAD

    def draw(self, x: float, y: float) -> Iterable[str]:
        at = f'x="{x:.1f}" y="{y:.1f}" height="{self.height:g}"'
        yield f'<rect class="{self.frame}" {at} width="{self.width:.1f}" rx="3"/>'
        if self.colour:
            yield f'<rect {at} width="6" fill="{self.colour}"/>'
        yield from _text(self.lines, x + PAD + 4, y)


def letters(text: str) -> int:
    """Return how many letters wide a text is; those of East Asia are two."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def shown(text: str) -> str:
    """Return a text of the card file as it may stand in XML."""
    return escape(
        "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
    )


def drawing(card: ElaboratedCard) -> str:
    """Return the SVG's text: a row for each path, then the taps on no path, the card's own wires, and the clocks."""
    title: list[Line] = [("name", f"{card.name} {card.said.card.version}")]
    title += [("dim", line) for line in wrap(card.said.card.doc, 90)]
    parts, width = [*_text(title, PAD, 0)], _width(title)
    y: float = len(title) * LINE + PAD
    for name, path in card.said.path.items():
        stretches = [s for s in card.stretches if s.path == name]
        heading: list[Line] = [
            ("name", f"path {name}"),
            *(("dim", line) for line in wrap(path.doc, 90)),
        ]
        parts += _text(heading, PAD, y)
        width, y = max(width, _width(heading)), y + len(heading) * LINE + PAD
        row, y, right = _path(card, name, stretches, y)
        parts, width = parts + row, max(width, right)
    on_paths = {tap for path in card.said.path.values() for tap in path.taps}
    alone = [_tap_box(card, tap, "") for tap in card.taps if tap.name not in on_paths]
    groups = [
        ("taps on no path", alone),
        ("wires of the card", _wires(card)),
        ("clocks", _legend(card)),
    ]
    for heading_text, boxes in groups:
        if boxes:
            parts += _text([("name", heading_text)], PAD, y)
            row, y, right = _grid(boxes, y + LINE + PAD)
            parts, width = parts + row, max(width, right)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + PAD:.0f} {y:.0f}" '
        f'width="{width + PAD:.0f}" height="{y:.0f}" role="img" aria-label="taps of card {escape(card.name)}">\n'
        f'<style>{_STYLE}</style>\n<rect class="page" width="100%" height="100%"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _path(
    card: ElaboratedCard, name: str, stretches: Sequence[ElaboratedStretch], y: float
) -> tuple[list[str], float, float]:
    """Draw a path from left to right, a row for each `ACROSS` taps; return it, where it ends below and on the right."""
    path = card.said.path[name]
    boxes = [_tap_box(card, card.tap(tap), name) for tap in path.taps]
    labels = [_label(stretch) for stretch in stretches]
    if path.far_end:
        boxes.append(
            _Box(
                [("dim", "goes on at"), *(("", line) for line in _broken(path.far_end))],
                frame="far",
            )
        )
        labels.append([])
    parts: list[str] = []
    right = 0.0
    for first in range(0, len(boxes), ACROSS):
        row = boxes[first : first + ACROSS]
        above = labels[first - 1] if first else []
        ends = labels[first : first + len(row)]
        label_height = max([len(label) for label in (above, *ends)], default=0) * LINE
        height = max([box.height for box in row] + [2 * label_height + PAD])
        middle, x = y + height / 2, float(PAD)
        if first:
            x = _arrow(parts, above, x, middle)
        for box, label in zip(row, [*ends, []], strict=False):
            parts += box.draw(x, middle - box.height / 2)
            x += box.width
            right = max(right, x)
            if box is not row[-1]:
                x = _arrow(parts, label, x, middle)
        if first + len(row) < len(boxes):
            parts.append(f'<path class="arrow" d="M{x:.1f} {middle:g}h12" stroke-dasharray="3 2"/>')
            right = max(right, x + 12)
        y += height + GAP
    return parts, y, right


def _arrow(parts: list[str], label: Sequence[Line], x: float, y: float) -> float:
    """Draw an arrow with its label above it; return where it ends."""
    length = max(_width(label) + PAD, 40)
    parts += _text(label, x + PAD, y - len(label) * LINE - 6)
    end = x + length
    parts.append(f'<path class="arrow" d="M{x:.1f} {y:g}H{end - 6:.1f}"/>')
    parts.append(f'<path class="head" d="M{end:.1f} {y:g}l-8 -4v8z"/>')
    return end


def _grid(boxes: Sequence[_Box], y: float) -> tuple[list[str], float, float]:
    parts: list[str] = []
    right = 0.0
    for first in range(0, len(boxes), ACROSS):
        row = boxes[first : first + ACROSS]
        x = float(PAD)
        for box in row:
            parts += box.draw(x, y)
            x += box.width + GAP
        right = max(right, x - GAP)
        y += max(box.height for box in row) + GAP
    return parts, y, right


def _tap_box(card: ElaboratedCard, tap: ElaboratedTap, path: str) -> _Box:
    said = tap.said
    also = [
        name for name, other in card.said.path.items() if name != path and tap.name in other.taps
    ]
    words = [
        said.kind,
        f"keep {said.keep}" if said.keep != "none" else "",
        "ready" if said.ready else "",
    ]
    lines: list[Line] = [
        ("name", tap.name),
        ("", f"{said.bits} bits, {said.format or 'raw'}"),
        ("dim", ", ".join(word for word in words if word)),
        ("dim", f"{said.depth:,} records, clock {tap.clock.name}"),
        *([("dim", f"stores {tap.stores}")] if said.store != "all" else []),
        *(
            ("dim", line)
            for line in (wrap(f"also on {', '.join(also)}", LABEL_LETTERS) if also and path else [])
        ),
    ]
    lines += [
        ("cause", f"freezes: {cause.name}")
        for cause in card.causes
        if cause.said is not None and cause.said.check and cause.said.tap == tap.name
    ]
    lines += [
        ("count", f"counts {said.counts}: {name}")
        for name, said in card.counters
        if said.tap == tap.name
    ]
    lines += [
        ("count", f"histogram of {histogram.of}: {name}")
        for name, histogram in card.said.histogram.items()
        if histogram.tap == tap.name
    ]
    return _Box(lines, _colour(tap.clock.number))


def _label(stretch: ElaboratedStretch) -> list[Line]:
    """Return what may happen to a packet between two taps, broken into lines."""
    said = stretch.said
    parts = [stretch.text]
    if said.forwarding != "cut-through":
        parts.append(said.forwarding)
    if said.capacity_words:
        parts.append(f"holds {said.capacity_words:,} words")
    return [("", line) for part in parts for line in _broken(part)]


def _wires(card: ElaboratedCard) -> list[_Box]:
    """Return a box for each clock with wires of the card's own."""
    said, bus = card.said, card.clocks[0].name
    named: list[tuple[str, Line]] = []
    named += [
        (c.clock, ("cause", f"freezes: {n} ({c.wire})")) for n, c in said.cause.items() if c.wire
    ]
    named += [(c.clock, ("count", f"counts: {n} ({c.wire})")) for n, c in card.counters if c.wire]
    named += [(b.clock, ("", f"kept: {n} ({b.wire}, {b.bits} bits)")) for n, b in said.bank.items()]
    named += [(e.clock, ("", f"logged: {n} ({e.wire})")) for n, e in said.event.items()]
    named += [(s.clock, ("", f"states: {n} ({s.wire})")) for n, s in said.states.items()]
    boxes = []
    for clock in card.clocks:
        lines = [line for at, line in named if (at or bus) == clock.name]
        if lines:
            boxes.append(_Box([("dim", f"clock {clock.name}"), *lines], _colour(clock.number)))
    return boxes


def _legend(card: ElaboratedCard) -> list[_Box]:
    return [
        _Box([("name", clock.name), ("dim", f"{clock.said.hz:,} Hz"), ("dim", _role(card, clock.number))],
             _colour(clock.number))
        for clock in card.clocks
    ]  # fmt: skip


def _role(card: ElaboratedCard, number: int) -> str:
    taps = sum(tap.clock.number == number for tap in card.taps)
    return f"{'registers, ' if number == 0 else ''}{taps} {'tap' if taps == 1 else 'taps'}"


def _colour(number: int) -> str:
    return _CLOCKS[(number - 1) % len(_CLOCKS)] if number else _BUS


def _broken(text: str) -> list[str]:
    return wrap(text, LABEL_LETTERS, break_on_hyphens=False) or [text]


def _width(lines: Sequence[Line]) -> float:
    """Return where lines that begin at the page's margin end."""
    return PAD + max((letters(text) for _, text in lines), default=0) * ADVANCE * SIZE


def _text(lines: Sequence[Line], x: float, y: float) -> list[str]:
    """Return lines of text below each other; the first one's line begins at y."""
    return [
        f'<text class="{kind or "plain"}" x="{x:.1f}" y="{y + n * LINE + SIZE + 4:.1f}">{shown(text)}</text>'
        for n, (kind, text) in enumerate(lines)
    ]
