"""The pictures that prove a finding of an open source, laid out below each other for the window."""

from __future__ import annotations

import re
from dataclasses import dataclass

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.declarations import THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.moments import card_freeze, freezes
from freezeframe.gui.palette import ThemeName
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.picture import picture_shapes, picture_svg
from freezeframe.gui.plots.proof import card_finding_drawings, finding_drawings
from freezeframe.gui.plots.svg import Shape
from freezeframe.gui.text import printable

_BELOW_PX = 6.0  # a baseline
_OUTLINED = re.compile(r'(<text [^>]*class=")([^"]*\b(?:marklabel|why|limit)\b.*?</text>)')


@dataclass(frozen=True, slots=True)
class Proof:
    """The pictures of a finding; ``shapes`` are all marks of them on ``size`` (width, height) pixels.

    ``first_px``: where that ends which the first of them shows as broken.
    """

    title: str
    drawings: list[Drawing]
    shapes: list[Shape]
    size: tuple[float, float]
    first_px: float

    def svg(self, theme: ThemeName) -> str:
        """Return them as one SVG, as ``plot --what finding`` writes it."""
        return picture_svg(self.drawings, printable(self.title), theme=theme)

    def for_qt(self, theme: ThemeName) -> bytes:
        """Return it without a title for Qt, which knows no outline below letters: such a text is there twice."""
        svg = _OUTLINED.sub(r"\1\2\1over \2", picture_svg(self.drawings, "", theme=theme))
        return svg.replace("</style>", ".drawing text.over { stroke: none; }</style>").encode()


def proof_of(opened: Opened, finding: Finding) -> Proof:
    """Return the pictures of a finding; none where the source is no recording of a card. Takes 10 to 1000 ms."""
    drawings: list[Drawing] = []
    if opened.folder is not None and opened.trace is not None:
        view = CaptureView(opened.folder, opened.trace.devices, opened.trace)
        rates = opened.analyses.get(THROUGHPUT.id)
        frozen = freezes(opened.folder, opened.trace)
        drawings = finding_drawings(view, finding, frozen, throughput=rates)
    elif opened.cards is not None:
        mine = (card for card in opened.cards.cards if card.device == finding.device)
        card = next(mine, opened.cards.cards[0])
        freeze = card_freeze(card)
        drawings = card_finding_drawings(card, finding, [] if freeze is None else [freeze])
    first, (_, end_px) = picture_shapes(drawings[:1])
    broken_px = [y for shape in first if "broken" in shape.css.split() for _, y in shape.points]
    shown_px = max(broken_px) + _BELOW_PX if broken_px else end_px
    return Proof(
        f"{opened.name}: {finding.diagnosis}", drawings, *picture_shapes(drawings), shown_px
    )
