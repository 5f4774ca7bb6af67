"""What this room offers but higher floors do: found by the entry-point group ``freezeframe.api``.

A room imports nothing from above it (docs/architecture.md), so what must cross is looked up by its name.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from freezeframe.capture.errors import InputError

__all__ = ["GROUP", "find", "html_of"]

GROUP = "freezeframe.api"


@cache
def find(name: str) -> Callable[..., Any]:
    """Return the function that an installed package offers under this name.

    Raises:
        InputError: none does.
    """
    for point in entry_points(group=GROUP, name=name):
        found: Callable[..., Any] = point.load()
        return found
    raise InputError(
        f"{name}: no installed package offers it (entry points {GROUP}); install freezeframe again"
    )


def html_of(thing: object) -> str | None:
    """Return how a notebook shows a thing; None where no face is installed, and then its repr is shown."""
    try:
        show = find("html")
    except InputError:
        return None
    text: str | None = show(thing)
    return text
