"""Confidence from frequency: how often a name was right with a pattern of witnesses, counted and kept as data.

Certain is only what was right every time, so many times; all else is printed with its count, below that.
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
    count = counts().get(f"{finding.diagnosis}: {finding.pattern}")
    if count is None or not count.of:
        return replace(finding, confidence=0.0, counted="")
    return replace(finding, confidence=count.confidence, counted=f"{count.right:,} of {count.of:,}")
