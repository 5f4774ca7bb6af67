"""The style sheet and the script of the report, as text to put into the page."""

from __future__ import annotations

from pathlib import Path

from freezeframe.gui.palette import DARK, LIGHT, PAPER
from freezeframe.gui.plots.style import drawing_style, variables


def style_text() -> str:
    """Return colours by what the reader's system prefers, the look of drawings, and ``report.css``."""
    colours = (
        f":root {{ color-scheme: light dark; {variables(LIGHT)} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} }} }}\n"
        f"@media print {{ :root {{ {variables(PAPER)} }} }}\n"
    )
    return colours + drawing_style() + Path(__file__).with_name("report.css").read_text("utf-8")


def script_text() -> str:
    """Return ``report.js``, the file beside this module."""
    return Path(__file__).with_name("report.js").read_text("utf-8")
