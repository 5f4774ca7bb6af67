"""The style sheet of drawings: ``drawing.css`` and the look of each role, colours as variables or put in."""

from __future__ import annotations

import re
from pathlib import Path

from freezeframe.gui.palette import CLASSES, ROLES, Theme

_SHEET = Path(__file__).with_name("drawing.css")
_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")
_DASHES = ("none", "6 3", "2 2", "9 3 2 3")  # of lines, so that they differ without colour, too


def variables(theme: Theme) -> str:
    """Return the colours of a theme as declarations of CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in theme.css().items())


def drawing_style(theme: Theme | None = None) -> str:
    """Return the style sheet of drawings, with the colours of a theme put in; None leaves the variables."""
    sheet = _of_roles() + _SHEET.read_text(encoding="utf-8")
    if theme is None:
        return sheet
    colours = theme.css()
    return _VARIABLE.sub(lambda found: colours[found[1]], sheet)


def _of_roles() -> str:
    """Return the rules of bars, of what is written in them, and of lines and their points."""
    rules = [
        f".drawing .{role} {{ fill: var(--{role}); }}\n"
        f".drawing rect.{role} {{ stroke: var(--background); stroke-width: .5; }}\n"
        f".drawing line.tick.{role}, .drawing path.tick.{role} {{ stroke: var(--{role}); fill: none; }}\n"
        f".drawing text.inside.{role} {{ fill: var(--on-{role}); }}\n"
        for role in ROLES
    ]
    for number, role in enumerate(CLASSES):
        wide = 1.6 if number < len(_DASHES) else 2.4
        rules.append(
            f".drawing .s{number} {{ fill: none; stroke: var(--{role}); stroke-width: {wide};"
            f" stroke-dasharray: {_DASHES[number % len(_DASHES)]}; }}\n"
            f".drawing .d{number} {{ fill: var(--{role}); }}\n"
        )
    return "".join(rules)
