"""Cut a stretch of time out of a capture."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import PS_PER_S, Edges

__all__ = ["cut", "parse_span", "parse_time", "ps_to_sample", "time_text"]

_UNITS_PS = {"s": PS_PER_S, "ms": 10**9, "us": 10**6, "µs": 10**6, "ns": 10**3, "ps": 1}


def ps_to_sample(t_ps: int, samplerate_hz: int) -> int:
    """Return the first sample at or after a time."""
    return -(-t_ps * samplerate_hz // PS_PER_S)


def cut(pieces: Iterable[Edges], t0_ps: int, t1_ps: int | None = None) -> Iterator[Edges]:
    """Yield the samples at ``[t0_ps, t1_ps)``, counted from the first of them, as a capture.

    It begins with the value at its first sample, as every capture does. ``t1_ps`` None is the end.

    Raises:
        InputError: no sample lies there; the message says where the capture ends.
    """
    if t0_ps < 0 or (t1_ps is not None and t1_ps <= t0_ps):
        raise InputError(f"{_said(t0_ps, t1_ps)}: it must begin at 0 or later, and end later")
    held = np.uint64(0)
    begun = False
    piece: Edges | None = None
    for piece in pieces:
        first = ps_to_sample(t0_ps, piece.samplerate_hz)
        last = None if t1_ps is None else ps_to_sample(t1_ps, piece.samplerate_hz)
        if last is not None and piece.begin_sample >= last:
            break
        low = int(np.searchsorted(piece.sample, first, side="left"))
        if piece.end_sample <= first:
            held = piece.value[-1] if len(piece) else held
            continue
        # Never beyond the piece: a time that is typed may be more samples than int64 holds.
        until = piece.end_sample if last is None else min(last, piece.end_sample)
        high = int(np.searchsorted(piece.sample, until))
        sample, value = piece.sample[low:high] - first, piece.value[low:high]
        if not begun and not (len(sample) and sample[0] == 0):
            before = piece.value[low - 1] if low else held
            sample = np.concatenate((np.zeros(1, dtype=np.int64), sample))
            value = np.concatenate((np.array([before], dtype=np.uint64), value))
        begin = max(piece.begin_sample, first)
        if until <= begin:
            continue
        begun = True
        yield replace(
            piece, sample=sample, value=value, begin_sample=begin - first, end_sample=until - first
        )
    if not begun:
        end = 0 if piece is None else piece.end_sample * PS_PER_S // piece.samplerate_hz
        raise InputError(f"{_said(t0_ps, t1_ps)}: the capture ends at {time_text(end)}")


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
    """Return a time in picoseconds from ``1.5ms`` or ``0``; ``where`` is how a message begins.

    Raises:
        InputError: it is no time with a unit, or no whole number of picoseconds.
    """
    if re.fullmatch(r"\s*0+(?:\.0+)?\s*", text):
        return 0
    match = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*(s|ms|us|µs|ns|ps)\s*", text)
    if not match:
        raise InputError(f"{where}: {text!r} is not a time with s, ms, us, ns or ps")
    time_ps = Fraction(match[1]) * _UNITS_PS[match[2]]
    if time_ps.denominator != 1:
        raise InputError(f"{where}: {text!r} is not a whole number of picoseconds")
    return int(time_ps)


def time_text(t_ps: int) -> str:
    """Return a time with the largest unit of which it is one or more, exact: ``1.5 ms``."""
    unit = next((unit for unit, ps in _UNITS_PS.items() if abs(t_ps) >= ps and unit != "µs"), "ps")
    number = Decimal(t_ps) / _UNITS_PS[unit]
    return f"{number:f} {unit}"


def _said(t0_ps: int, t1_ps: int | None) -> str:
    return f"--cut {time_text(t0_ps)}..{'' if t1_ps is None else time_text(t1_ps)}"
