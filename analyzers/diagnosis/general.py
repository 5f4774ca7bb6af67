"""The general names, which hold for any card, and the diagnoses of the example card that are cases of them.

Source: docs/diagnosis.md, "General names".
"""

from __future__ import annotations

from freezeframe.analyzers.card.claims import BAD_ON_ARRIVAL, STALLED
from freezeframe.analyzers.card.differences import (
    BEAT_DUPLICATED,
    BEAT_OMITTED,
    BITS_ALTERED,
    BYTES_ROTATED,
)

GENERAL: dict[str, str] = {
    "word-omitted": BEAT_OMITTED,
    "word-duplicated": BEAT_DUPLICATED,
    "sync-fifo-empty": BEAT_DUPLICATED,  # half a word
    "lane-misaligned": BYTES_ROTATED,
    "payload-bit-flip": BITS_ALTERED,
    "header-corrupted": BITS_ALTERED,
    "credit-lost": STALLED,
    "split-retry-mishandled": BAD_ON_ARRIVAL,
}
"""By the diagnosis; one that is not here has no general name."""
