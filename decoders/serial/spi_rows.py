"""Rows, settings and state of the SPI kernels, as numpy records."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

CHANNELS = ("clk", "miso", "mosi", "cs", "cs1", "cs2", "cs3")  # bits of a value, in this order

ERRORS = ("", "cut-word", "wrong-idle", "several-selected", "cut-transfer")
CUT_WORD, WRONG_IDLE, SEVERAL, CUT_TRANSFER = 1, 2, 3, 4

SETTINGS = np.dtype(
    [
        ("falling", np.uint64),  # 1: the falling edge of the clock samples (modes 1 and 2)
        ("idle", np.uint64),  # level of the clock between transfers (CPOL)
        ("word_bits", np.int64),
        ("lsb_first", np.int64),
        ("selects", np.uint64),  # bits of a value that are chip selects of this capture
        ("active_low", np.uint64),  # those of them that select with 0
        ("gap_samples", np.int64),  # without a chip select, a pause that ends a transfer; 0 none
    ]
)


class WordColumns(NamedTuple):
    """The columns of words: where the first bit was sampled and one bit after the last, the values, the
    number of the transfer, and of the chip select; ``(n,)`` each."""

    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    mosi: npt.NDArray[Any]  # int64; bytes as objects where a word is too long for that
    miso: npt.NDArray[Any]
    transfer: npt.NDArray[np.int64]
    select: npt.NDArray[np.int8]

    def cut(self, first: int, stop: int | None) -> WordColumns:
        """Return the words ``[first, stop)``, a view."""
        return WordColumns._make(column[first:stop] for column in self)


def word_columns(size: int) -> WordColumns:
    """Return room for so many words."""
    # One block of memory: to be given new pages for five columns takes as long as to fill them.
    begin, end, mosi, miso, transfer = np.empty((5, size), np.int64)
    return WordColumns(begin, end, mosi, miso, transfer, np.empty(size, np.int8))


TRANSFER_ROW = np.dtype(
    [
        (name, np.int64)
        for name in ("sample", "end_sample", "select", "first_word", "words", "whole", "error")
    ]
)

# mosi and miso are the bits so far of a word that was cut, -1 else.
ERROR_ROW = np.dtype(
    [
        (name, np.int64)
        for name in (
            "error",  # index of ERRORS
            "sample",
            "end_sample",
            "select",
            "transfer",
            "mosi",
            "miso",
            "bits",
            "before",  # number of the word that would be next: the error stands before it
        )
    ]
)

_STATE = np.dtype(
    [
        ("started", np.int64),
        ("select", np.int64),  # chip select that is active, -1 for none, 0 when there is none
        ("several_at", np.int64),  # since when more than one is, -1
        ("open", np.int64),  # 1 in a transfer
        ("whole", np.int64),
        ("transfer_at", np.int64),
        ("transfer", np.int64),  # its number
        ("first_word", np.int64),  # number of its first word
        ("words", np.int64),  # so far in the capture
        ("bits", np.int64),  # of the word so far
        ("miso", np.uint64),  # those bits, the newest lowest
        ("mosi", np.uint64),
        ("word_at", np.int64),
        ("bit_at", np.int64),
        ("bit_before", np.int64),
    ]
)


def new_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: an array of one record."""
    state = np.zeros(1, dtype=_STATE)
    state["select"] = state["several_at"] = -1
    state["bit_at"] = state["bit_before"] = -1
    return state
