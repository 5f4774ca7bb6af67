"""The name that was most likely meant by one that does not exist: one wording for every message."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def meant(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return ``did you mean rx_in?``, the end of a message; where no name is near, what there is.

    Args:
        otherwise: says what there is, in place of ``there is rx_in, rx_out``.
    """
    names = list(known)
    by_lower = {each.lower(): each for each in names}
    near = get_close_matches(name.lower(), by_lower, n=1)
    if near:
        return f"did you mean {by_lower[near[0]]}?"
    return f"there is {', '.join(names) or 'none'}" if otherwise is None else otherwise


def no_such(kind: str, name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Return ``there is no tap 'rx_inn'; did you mean rx_in?``; of an empty name that it is missing."""
    if not name:
        return f"{kind} is missing; there is {', '.join(known) or 'none'}"
    return f"there is no {kind} {name!r}; {meant(name, known, otherwise)}"
