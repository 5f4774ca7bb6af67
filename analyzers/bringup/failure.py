"""How a stage of the bring-up ends when it does not pass."""

from __future__ import annotations


class Failure(Exception):
    """A stage does not hold: what was seen, where, against what was expected."""


class NotPossible(Exception):
    """A card cannot do what the stage needs; nothing is concluded of whether it would hold."""
