"""What notebooks show of our things: they ask the thing, and it asks the face, which stands above this room."""

from __future__ import annotations

from freezeframe.capture.code import code

_html = code("freezeframe.gui.notebook:html")


class ShownInNotebooks:
    """A class whose objects show themselves in notebooks with the drawings and tables of the report."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return the thing as HTML, without scripts."""
        html: str = _html(self)
        return html
