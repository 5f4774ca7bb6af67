"""Confidence from frequency: how often a name was right with a pattern of witnesses, counted and kept as data.

Certain is only what was right every time, so many times; all else is printed with its count, below that.
A pattern also counts by those that are weaker: the same but for witnesses that were silent where here they are for the
name. What was right every time without a witness is right with it; so a pattern does not have to be met sixty times
for each accident of what a memory still held.
``python -m tests.campaign.count`` counts anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from freezeframe.analyzers.contract import UNDETERMINED, Finding

COUNTS = Path(__file__).with_name("counts.json")
CERTAIN_FROM = 60
"""Occurrences, all of them right, from which on an answer is certain."""

_BELOW = 0.89  # the most that is printed of what is not certain


@dataclass(frozen=True, slots=True)
class Count:
    """How often a name was right with a pattern, of how often it was given."""

    right: int
    of: int

    @property
    def certain(self) -> bool:
        """It was right every time, often enough."""
        return self.right == self.of >= CERTAIN_FROM

    @property
    def confidence(self) -> float:
        """(n + 1) / (n + 2) where it is certain, and less than 0.9 else."""
        share = (self.right + 1) / (self.of + 2)
        return share if self.certain else min(share, _BELOW)


@cache
def counts() -> dict[str, Count]:
    """Return the counts by ``NAME: PATTERN``."""
    if not COUNTS.exists():
        return {}
    said = json.loads(COUNTS.read_text("utf-8"))
    return {key: Count(*pair) for key, pair in said["counts"].items()}


def counted_for(finding: Finding) -> Finding:
    """Return a finding with the confidence of its name and pattern; 0 and no count where they were never counted."""
    if finding.diagnosis == UNDETERMINED:
        return finding
    count = count_of(finding.diagnosis, finding.pattern)
    if count is None or not count.of:
        return replace(finding, confidence=0.0, counted="")
    return replace(finding, confidence=count.confidence, counted=f"{count.right:,} of {count.of:,}")


def count_of(name: str, pattern: str) -> Count | None:
    """Return how often a name was right with a pattern, and with weaker ones that were right every time.

    None where it was never counted itself: what was never met is nothing that anything was counted of.
    """
    own = counts().get(f"{name}: {pattern}")
    if own is None or own.right < own.of:
        return own
    of = own.of
    for key, count in counts().items():
        other_name, _, other = key.partition(": ")
        if other_name == name and count.right == count.of and _weaker(other, pattern):
            of += count.of
    return Count(of, of)


def _weaker(pattern: str, than: str) -> bool:
    """Tell whether a pattern is another one but for witnesses that are silent in it and for the name there."""
    mine, theirs = pattern.split(" "), than.split(" ")
    if pattern == than or len(mine) != len(theirs):
        return False
    return all(
        one == other or (one[-1] == "?" and other[-1] == "+" and one[:-1] == other[:-1])
        for one, other in zip(mine, theirs, strict=True)
    )
