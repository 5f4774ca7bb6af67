"""Times as a user types them: a number with a unit."""

from __future__ import annotations

import re
from fractions import Fraction

from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import UNITS_PS

_TIME = re.compile(r"([+-]?[0-9][0-9,_]*(?:\.[0-9]+)?)\s*(ps|ns|us|µs|ms|s|min|h)")
_FAR_PS = 1 << 62


def parse_time_ps(text: str) -> int:
    """Return picoseconds, rounded to the nearest: ``12.5us``, ``1,234 ns``, ``-3 ps``, ``1h``.

    Raises:
        InputError: it is no number with a unit, or beyond what a time line has.
    """
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r}: is no time; write a number with a unit, 12.5us or 340 ns")
    number, unit = match.groups()
    t_ps = round(Fraction(re.sub("[,_]", "", number)) * UNITS_PS[unit])
    if abs(t_ps) >= _FAR_PS:
        raise InputError(
            f"{text!r}: is too far away; times up to {_FAR_PS // 10**12:,} s are possible"
        )
    return t_ps
