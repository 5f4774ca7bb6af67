"""Picoseconds as people read and write them."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from freezeframe.capture.errors import InputError

# Unit, picoseconds, and the digits after the point.
_UNITS = (("s", 10**12, 12), ("ms", 10**9, 9), ("µs", 10**6, 6), ("ns", 10**3, 3), ("ps", 1, 0))

UNITS_PS = {
    "h": 3600 * 10**12,
    "min": 60 * 10**12,
    "us": 10**6,
    **{unit: ps for unit, ps, _ in _UNITS},
}
"""Picoseconds of each unit that people write."""


def format_ps(t_ps: int, like_ps: int = 0) -> str:
    """Return a time with its unit, exact: ``12.345678 µs``.

    Args:
        t_ps: picoseconds.
        like_ps: a time whose unit is to be used when it is the larger one, so that the labels of an
            axis share their unit.
    """
    size = max(abs(t_ps), abs(like_ps))
    unit, scale, digits = next((u for u in _UNITS if size >= u[1]), _UNITS[-1])
    whole, rest = divmod(abs(t_ps), scale)
    decimals = "." + f"{rest:0{digits}d}".rstrip("0") if rest else ""
    return f"{'-' if t_ps < 0 else ''}{whole:,}{decimals} {unit}"


def doubt_text(unc_ps: int | None) -> str:
    """Return by how much a time may be off, ``± 5.19 ns``; nothing where it counts the clock of the time base itself.

    Args:
        unc_ps: None: not asked; negative: the clock's relation to the time base is not known.
    """
    if not unc_ps:
        return ""
    return f"± {format_ps(unc_ps)}" if unc_ps > 0 else "± unknown"


def format_doubt(t_ps: int, unc_ps: int | None) -> str:
    """Return a time, and by how much it may be off: ``14.164813 µs ± 5.19 ns``."""
    return f"{format_ps(t_ps)} {doubt_text(unc_ps)}".rstrip()


def format_lasted(t_ps: int, unc_ps: int) -> str:
    """Return a long time to the digit that is known, ``1 h 00 min 07.3 s ± 0.4 s``; hours where there are any.

    Args:
        t_ps: picoseconds from 0 on. unc_ps: by how much it may be off; it is rounded up to its first digit.
    """
    digits = max(0, 13 - len(str(max(1, unc_ps))))  # of a second
    step_ps = 10 ** (12 - digits)
    seconds, rest = divmod((t_ps + step_ps // 2) // step_ps, 10**digits)
    decimals = f".{rest:0{digits}d}" if digits else ""
    hours, minutes = divmod(seconds // 60, 60)
    shown = f"{minutes:02d} min {seconds % 60:02d}{decimals} s"
    shown = f"{hours:,} h {shown}" if hours else shown.removeprefix("0")
    off = -(-max(1, unc_ps) // step_ps)
    return f"{shown} ± {off // 10**digits}{f'.{off % 10**digits:0{digits}d}' if digits else ''} s"


def times_like(like_ps: int) -> Callable[[int], str]:
    """Return what `format_ps` does with this ``like_ps``, for many times: in a third of the time."""
    unit, scale, digits = next((u for u in _UNITS if abs(like_ps) >= u[1]), _UNITS[-1])
    if scale == 1:
        return lambda t_ps: format_ps(t_ps, like_ps)

    def text(t_ps: int) -> str:
        if not 0 <= t_ps <= like_ps:
            return format_ps(t_ps, like_ps)
        whole, rest = divmod(t_ps, scale)
        return f"{whole:,}.{rest:0{digits}d}".rstrip("0") + ending if rest else f"{whole:,} {unit}"

    ending = f" {unit}"
    return text


def plain_time(t_ps: int) -> str:
    """Return a time as options take it, without the commas and the µ of `format_ps`: ``1.5 us``."""
    return format_ps(t_ps).replace(",", "").replace("µ", "u")


def parse_span(text: str) -> tuple[int, int | None]:
    """Return begin and end in picoseconds from ``1.5ms..2ms``; either may be left out.

    Raises:
        InputError: it is not of that form, or a time is no whole number of picoseconds.
    """
    begin, dots, end = text.partition("..")
    if not dots:
        raise InputError(f"--cut {text!r}: not BEGIN..END, for instance 1.5ms..2ms")
    where = f"--cut {text!r}"
    return (
        parse_time(where, begin) if begin.strip() else 0,
        parse_time(where, end) if end.strip() else None,
    )


def parse_time(where: str, text: str) -> int:
    """Return a time in picoseconds from ``1.5ms``, ``2h`` or ``0``; ``where`` is how a message begins.

    Raises:
        InputError: it is no time with a unit, or no whole number of picoseconds.
    """
    if re.fullmatch(r"\s*0+(?:\.0+)?\s*", text):
        return 0
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*(h|min|s|ms|us|µs|ns|ps)\s*", text)
    if not match:
        raise InputError(f"{where}: {text!r} is not a time with h, min, s, ms, us, ns or ps")
    time_ps = Fraction(match[1]) * UNITS_PS[match[2]]
    if time_ps.denominator != 1:
        raise InputError(f"{where}: {text!r} is not a whole number of picoseconds")
    return int(time_ps)
