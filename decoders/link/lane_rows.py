"""What the kernels of a lane share: settings, states, and the rows and codes of its events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.decoders.link.code_8b10b import ERROR_LSB, POSITIVE, K

__all__ = [
    "ALIGNED",
    "CUT_SYMBOL",
    "ERROR_LSB",
    "EVENT",
    "EVENT_CODES",
    "FIRST_ERROR",
    "FRACTION",
    "FRESH",
    "GLITCH",
    "MISALIGNED_COMMA",
    "MOST_BITS",
    "NO_BITRATE",
    "NO_COMMA",
    "NO_SIGNAL",
    "POSITIVE",
    "REALIGNED",
    "SETTINGS",
    "SYNCED",
    "SYNC_FOUND",
    "SYNC_LOST",
    "K",
    "new_run_state",
    "new_symbol_state",
]

FRACTION = 20  # bits after the binary point of a bit period in samples
MOST_BITS = 20  # a level that lasts longer is silence: 8b/10b never repeats a bit more than 5 times

# Beyond the bits of the decode table (code_8b10b.py), in the entry of a symbol.
SYNCED = 1 << 12  # the lane was in synchronization when the symbol ended
FRESH = 1 << 13  # the bits before it are not those of the symbol before it

EVENT_CODES = (
    "aligned",
    "realigned",
    "sync_found",
    "sync_lost",
    "glitch",
    "misaligned-comma",
    "no-signal",
    "cut-symbol",
    "no-comma",
    "no-bitrate",
)
ALIGNED, REALIGNED, SYNC_FOUND, SYNC_LOST = 0, 1, 2, 3
GLITCH, MISALIGNED_COMMA, NO_SIGNAL, CUT_SYMBOL, NO_COMMA, NO_BITRATE = 4, 5, 6, 7, 8, 9
FIRST_ERROR = GLITCH  # from here on a code is an error

EVENT = np.dtype([("sample", np.int64), ("code", np.int64), ("value", np.int64)])

SETTINGS = np.dtype(
    [
        (name, np.int64)
        for name in (
            "period",  # of a bit, samples << FRACTION; 0 with a clock
            "data_bit",
            "clock_bit",  # -1 without a clock
            "rising",  # bits are taken at rising edges of the clock
            "falling",
            "invert",
            "sync_commas",
            "realign_always",
        )
    ]
)

_RUN_STATE = np.dtype(
    [
        (
            "last",
            np.int64,
        ),  # without a clock: level of the probe at the latest edge, -1 before the first
        ("level", np.int64),  # of the line, or of its latest bit; -1 before the first
        ("edge", np.int64),  # where the level that lasts began, -1 before the first
        ("start", np.int64),  # where the level before it began, -1 where that run was given
        ("bits", np.int64),  # with a clock: bits of the level that lasts
        ("clock", np.int64),  # level of the clock, -1 before the first sample
        ("silent", np.int64),  # whether the level that lasts was given as silence
    ]
)

_SYMBOL_STATE = np.dtype(
    [
        ("bits", np.uint64),  # the latest bits, the last one as bit 0
        ("held", np.int64),  # how many of them are not in a symbol yet
        ("run_start", np.int64),  # samples of the latest run, and its bits
        ("run_end", np.int64),
        ("run_bits", np.int64),
        ("aligned", np.int64),
        ("start", np.int64),  # sample where the next symbol begins
        ("positive", np.int64),  # running disparity
        ("fresh", np.int64),
        ("synced", np.int64),
        ("commas", np.int64),  # without synchronization: commas since the latest bad group
        ("bad", np.int64),  # in synchronization: bad groups not yet outweighed
        ("good", np.int64),  # good groups in a row since the latest bad one
        ("ever", np.int64),  # whether there ever was a comma
    ]
)


def new_run_state() -> npt.NDArray[np.void]:
    """Return the state of the run kernels at the start of a stream: one record."""
    state = np.zeros(1, dtype=_RUN_STATE)
    for name in ("last", "level", "edge", "start", "clock"):
        state[name] = -1
    return state


def new_symbol_state() -> npt.NDArray[np.void]:
    """Return the state of the symbol kernel at the start of a stream: one record."""
    return np.zeros(1, dtype=_SYMBOL_STATE)
