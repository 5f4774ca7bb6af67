"""Templates with @name@ where generated text goes, so that Verilog and C stay readable."""

from __future__ import annotations

import re
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent / "templates"
PLACE = re.compile(r"@([a-z]+)@")


def fill(name: str, parts: dict[str, str]) -> str:
    """Return the template with every place filled.

    Raises:
        ValueError: a place has no part or a part no place; the message names them.
    """
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    places = set(PLACE.findall(text))
    if places != set(parts):
        raise ValueError(f"{name}: places and parts differ in {sorted(places ^ set(parts))}")
    return PLACE.sub(lambda place: parts[place[1]], text)
