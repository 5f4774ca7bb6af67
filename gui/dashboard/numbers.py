"""Numbers and spark lines in a given width."""

from __future__ import annotations

import math
from collections.abc import Sequence

_BLOCKS = " ▁▂▃▄▅▆▇█"
_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z")


def fit(text: str, width: int) -> str:
    """Return text in exactly that width; what does not fit ends in ``…``."""
    if len(text) <= width:
        return text.ljust(width)
    return text[: max(0, width - 1)] + "…" if width > 0 else ""


def count_cell(value: int, width: int) -> str:
    """Return a value right-aligned: all digits with commas where they fit, without, or a rounded one."""
    for text in (f"{value:,}", str(value), f"{value:.{max(0, width - 8)}e}"):
        if len(text) <= width:
            return text.rjust(width)
    return "#" * width


def rate_cell(rate: float | None) -> str:
    """Return a rate in at most seven places, ``12.3k``; ``-`` where it is not known."""
    if rate is None:
        return "-"
    if rate == 0:
        return "0"
    step = min(max(0, int(math.log10(abs(rate)) // 3)), len(_PREFIXES) - 1)
    scaled = rate / 1000**step
    if abs(scaled) >= 999.5 and step + 1 < len(_PREFIXES):
        step, scaled = step + 1, scaled / 1000
    digits = (
        0
        if abs(scaled) >= 99.95 or (step == 0 and scaled == int(scaled))
        else 1
        if abs(scaled) >= 9.995
        else 2
    )
    return f"{scaled:.{digits}f}{_PREFIXES[step]}"


def spark(bins: Sequence[float], width: int) -> str:
    """Return the last ``width`` bins as blocks, from 0 to the highest of them; anything above 0 is visible."""
    last = list(bins)[-width:] if width > 0 else []
    top = max(last, default=0.0)
    if top <= 0:
        return ("▁" * len(last)).rjust(width)
    steps = len(_BLOCKS) - 1
    return "".join(
        _BLOCKS[max(1, min(steps, math.ceil(step / top * steps)))] if step > 0 else "▁"
        for step in last
    ).rjust(width)


def age_text(age_ns: int) -> str:
    """Return an age for people: ``4.2 s``, ``3 min 10 s``, ``2 h 5 min``."""
    seconds = max(0, age_ns) // 1_000_000_000
    if seconds < 60:
        return f"{max(0, age_ns) / 1e9:.1f} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"
