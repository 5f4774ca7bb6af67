"""word-omitted: the write enable of one word is lost, so the word passes the tap before the FIFO and not the one after.

It has happened when the word arrived.
"""

from __future__ import annotations

from freezeframe.emulator.faults.one_word import OneWord


class WordOmitted(OneWord):
    """One word's write enable is lost."""

    name = "word-omitted"
    what = "omitted"
    missing = 1
