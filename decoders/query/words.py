"""What is known of find and filter before an expression is given: their error, and the opaque columns."""

from __future__ import annotations

from freezeframe.capture.errors import InputError

OPAQUE = frozenset(("data", "dest"))
"""Columns of 64-bit words, stored as int64 bit patterns (docs/formats.md section 8)."""


class ExpressionError(InputError):
    """An expression that cannot be used: ``[at, end)`` is the part of the text that is wrong."""

    def __init__(self, message: str, at: int, end: int) -> None:
        super().__init__(f"character {at + 1}: {message}")
        self.at = at
        self.end = max(end, at)
