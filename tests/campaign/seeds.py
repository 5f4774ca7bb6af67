"""How many seeds a test of generated captures takes: few in every run of the suite, as many as asked in a campaign."""

from __future__ import annotations

import os

SEEDS = "FREEZEFRAME_SEEDS"
"""Environment variable that a campaign sets for its tests."""


def seeds(few: int) -> range:
    """Return the seeds of a test: ``few``, or those of the campaign that runs it."""
    return range(int(os.environ.get(SEEDS, few)))
