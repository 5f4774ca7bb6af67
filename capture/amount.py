"""Amounts in words: a number with its noun in the right form."""

from __future__ import annotations


def amount(count: int, noun: str) -> str:
    """Return ``1 word`` or ``2 words`` for a noun that forms its plural with s."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
