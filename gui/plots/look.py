"""The colours of drawings in light, dark and on paper, as variables of a page or put into a style sheet.

Source: Okabe and Ito, "Color Universal Design" (2008): hues that the usual kinds of colour blindness keep apart;
darkened or lightened here until lines have 3:1 against the page (WCAG 2.1, 1.4.11) and texts 4.5:1 (1.4.3).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

Theme = Literal["light", "dark"]

LIGHT = {
    "page": "#ffffff", "panel": "#f5f6f8", "text": "#1b1f24", "quiet": "#57606a", "rule": "#d0d7de",
    "hatch": "#868e98", "packet": "#8fb4dc", "packet-text": "#0b2545", "other": "#b9c7b4", "cut": "#cfd6dd",
    "bad": "#c62828", "bad-text": "#ffffff", "bad-soft": "#fdecea", "good": "#1a7f37",
    "wait": "#e0a63b", "wait-edge": "#94650a", "packet-edge": "#3f73ab", "edge": "#6e7781",
    "cause": "#7b3fb5", "link": "#0a58ca", "sample-in": "#b35900",
    "s0": "#0a58ca", "s1": "#b35900", "s2": "#1a7f37", "s3": "#a8327e",
    "s4": "#3a6ea5", "s5": "#8a6d00", "s6": "#00756b", "s7": "#57606a",
    "k0": "#8fb4dc", "k1": "#e9b872", "k2": "#9ccbb3", "k3": "#d9a3c4",
    "k4": "#c9cf73", "k5": "#b7b3e0", "k6": "#e39b8b", "k7": "#c3c8ce",
}  # fmt: skip
DARK = {
    "page": "#14171b", "panel": "#1d2127", "text": "#e6e9ed", "quiet": "#a3adb8", "rule": "#3a424c",
    "hatch": "#6f7884", "packet": "#3f6ea3", "packet-text": "#f2f7fd", "other": "#5c7355", "cut": "#48515b",
    "bad": "#ff7b72", "bad-text": "#1b0606", "bad-soft": "#3a1d1b", "good": "#56d364",
    "wait": "#d29922", "wait-edge": "#d29922", "packet-edge": "#79a8dc", "edge": "#8b949e",
    "cause": "#c297ff", "link": "#79b8ff", "sample-in": "#f0a35e",
    "s0": "#79b8ff", "s1": "#f0a35e", "s2": "#56d364", "s3": "#f28cc8",
    "s4": "#9db8d9", "s5": "#d9c04f", "s6": "#4fd1c5", "s7": "#a3adb8",
    "k0": "#3f6ea3", "k1": "#8a5a17", "k2": "#2f6b4f", "k3": "#7d4267",
    "k4": "#666b1c", "k5": "#565199", "k6": "#8c4436", "k7": "#555d66",
}  # fmt: skip
PAPER = LIGHT | {
    "panel": "#ffffff", "text": "#000000", "quiet": "#444444", "rule": "#bbbbbb", "bad": "#b71c1c",
    "good": "#14602a", "wait": "#c98a1b", "cause": "#5b2a91", "sample-in": "#8a4500",
}  # fmt: skip

_SHEET = Path(__file__).with_name("drawing.css")
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")


def variables(colours: dict[str, str]) -> str:
    """Return colours as declarations of CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def drawing_style(theme: Theme | None = None) -> str:
    """Return the style sheet of drawings, with the colours of a theme put in; None leaves the variables."""
    sheet = _SHEET.read_text(encoding="utf-8")
    if theme is None:
        return sheet
    colours = DARK if theme == "dark" else LIGHT
    return _VARIABLE.sub(lambda found: colours[found[1]], sheet)
