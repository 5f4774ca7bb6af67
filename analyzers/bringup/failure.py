"""How a stage of the bring-up ends when it does not pass."""

from __future__ import annotations

from collections.abc import Sequence


class Failure(Exception):
    """A stage does not hold: what was seen, where, against what was expected.

    ``standing``: what of it stands in the cards, where nothing else keeps it (`Evidence`).
    """

    standing: Sequence[str] = ()


class NotPossible(Exception):
    """A card cannot do what the stage needs; nothing is concluded of whether it would hold."""
