"""What a column of a table is called by people: above its cells, in the inspector, in menus."""

from __future__ import annotations

from freezeframe.gui.text import printable

_HEADINGS = {
    "t_ps": "time", "t_end_ps": "end", "t_unc_ps": "± time", "seq": "packet", "body_words": "words seen",
    "header_ok": "header good", "payload_ok": "payload good", "length_ok": "length good", "per_s": "a second",
}  # fmt: skip


def heading(name: str) -> str:
    """Return a column's name as it stands above it: cells have their units, so that names need none."""
    known = _HEADINGS.get(name)
    return known or printable(name.removesuffix("_ps").replace("_", " "))
