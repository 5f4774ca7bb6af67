"""Counts as people read them."""

from __future__ import annotations


def plural(count: int, one: str, many: str | None = None, *, thousands: str = ",") -> str:
    """Return ``1 word`` or ``2,000 words``.

    Args:
        many: the noun's plural, where it is not formed with s.
        thousands: what parts the thousands; empty in sentences that quote registers, which have none.
    """
    digits = f"{count:,}".replace(",", thousands)
    return f"{digits} {one if count == 1 else many or one + 's'}"
