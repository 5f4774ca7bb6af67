"""All files that lie: how each is made, the verb that reads it, and what becomes of it."""

from __future__ import annotations

from tests.campaign.hostile_archives import ARCHIVES
from tests.campaign.hostile_captures import CAPTURES
from tests.campaign.hostile_makers import Case
from tests.campaign.hostile_samples import SAMPLES

CASES: tuple[Case, ...] = (*ARCHIVES, *SAMPLES, *CAPTURES)
