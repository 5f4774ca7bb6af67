"""How things look. A colour never says anything alone: there is a word or a mark beside it.

The terminal's own colours, so that light and dark terminals both work and few bytes travel; blue-green against
yellow and brightness against reverse video are told apart with every kind of colour vision.
"""

from __future__ import annotations

from rich.style import Style

PLAIN = Style()
FAINT = Style(dim=True)
HEAD = Style(bold=True, underline=True)
SPARK = Style(color="cyan")
CALM = Style(color="cyan")
WARN = Style(color="yellow", bold=True)
ALARM = Style(color="yellow", bold=True, reverse=True)
BANNER = Style(bold=True, reverse=True)
SELECTED = Style(bold=True)
