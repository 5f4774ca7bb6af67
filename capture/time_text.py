"""Picoseconds as people read them."""

from __future__ import annotations

__all__ = ["format_ps"]

# Unit, picoseconds, and the digits behind the point.
_UNITS = (("s", 10**12, 12), ("ms", 10**9, 9), ("µs", 10**6, 6), ("ns", 10**3, 3), ("ps", 1, 0))


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
