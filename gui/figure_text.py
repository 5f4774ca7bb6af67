"""A figure of an analysis as text: value, uncertainty, unit."""

from __future__ import annotations

import math

from freezeframe.analyzers.analysis import Figure
from freezeframe.capture.time_text import format_doubt

_DIGITS = 4  # of a value without an uncertainty


def figure_text(figure: Figure) -> tuple[str, str]:
    """Return value with uncertainty, and unit; picoseconds as people read them."""
    value, unc = figure.value, figure.uncertainty
    if value is None:
        return "-", ""  # the note says why
    if figure.unit == "ps":
        return format_doubt(round(value), None if unc is None else round(unc)), ""
    if isinstance(value, float):
        decimals = _decimals(value, unc)
        text = f"{value:,.{decimals}f}"
        return (text if not unc else f"{text} ± {unc:,.{decimals}f}"), figure.unit
    text = f"{value:,}"
    return (text if not unc else f"{text} ± {unc:,.4g}"), figure.unit


def _decimals(value: float, unc: float | None) -> int:
    """Return decimals: two digits of the uncertainty, four of a value without one."""
    if unc:
        return max(0, min(9, 1 - math.floor(math.log10(abs(unc)))))
    if not value or not math.isfinite(value):
        return 0
    return max(0, min(9, _DIGITS - 1 - math.floor(math.log10(abs(value)))))
