"""word-duplicated: the read pointer of a FIFO is held for one cycle, so that a word comes out twice.

It has happened when the second copy leaves.
"""

from __future__ import annotations

from freezeframe.emulator.faults.one_word import OneWord


class WordDuplicated(OneWord):
    """The read pointer is held for one cycle."""

    name = "word-duplicated"
    what = "repeated"
    missing = -1
    second = 1
