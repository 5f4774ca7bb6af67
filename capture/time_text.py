"""Picoseconds as people read them."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["format_ps", "times_like"]

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
