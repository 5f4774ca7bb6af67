"""Cut a stretch of time out of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import NO_RATE, PS_PER_S, Edges
from freezeframe.capture.time_text import plain_time


def ps_to_sample(t_ps: int, samplerate_hz: int) -> int:
    """Return the first sample at or after a time.

    Raises:
        InputError: there is no sample rate.
    """
    if samplerate_hz == NO_RATE:
        raise InputError("a time in a capture without sample rate; give it with --samplerate")
    return -(-t_ps * samplerate_hz // PS_PER_S)


def cut(pieces: Iterable[Edges], t0_ps: int, t1_ps: int | None = None) -> Iterator[Edges]:
    """Yield the samples at ``[t0_ps, t1_ps)``, counted from the first of them, as a capture.

    It begins with the value at its first sample, as every capture does. ``t1_ps`` None is the end.

    Raises:
        InputError: no sample lies there; the message says where the capture ends.
    """
    if t0_ps < 0 or (t1_ps is not None and t1_ps <= t0_ps):
        raise InputError(f"{_asked(t0_ps, t1_ps)}: it must begin at 0 or later, and end later")
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
        raise InputError(f"{_asked(t0_ps, t1_ps)}: the capture ends at {plain_time(end)}")


def _asked(t0_ps: int, t1_ps: int | None) -> str:
    return f"--cut {plain_time(t0_ps)}..{'' if t1_ps is None else plain_time(t1_ps)}"
