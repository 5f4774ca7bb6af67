"""Tap comparison over columns in memory, on one core, against numpy's comparison of the same two columns."""

from __future__ import annotations

import time

import numpy as np

from freezeframe.analyzers.taps.align import Op
from freezeframe.analyzers.taps.word_diff import diff_words
from tests.bench.common import BenchResult, main, median_s

_WORDS = 100_000_000
_LIMIT_S = 5.0  # asked of a pair of this length


def run() -> list[BenchResult]:
    """Measure; the runs found are those that were made."""
    rng = np.random.default_rng(1)
    up = rng.integers(0, 1 << 63, _WORDS, np.uint64)
    gone = np.sort(rng.choice(_WORDS, 500, replace=False))
    gone = np.append(
        gone, np.arange(60_000_000, 60_200_000)
    )  # a memory that was too small for a while
    few = np.delete(up, gone)
    flips = rng.choice(len(few), 1_000, replace=False)
    few[flips] ^= np.uint64(1) << rng.integers(0, 64, 1_000).astype(np.uint64)
    found = diff_words(up, few).counts
    assert found[Op.OMITTED] == len(np.unique(gone)), found
    assert found[Op.ALTERED] == len(np.unique(flips)), found

    results = []
    copied = up.copy()
    copied[-1] ^= np.uint64(1)
    compare = median_s(lambda: np.array_equal(up, copied), 3, time.process_time)
    for name, down in (
        ("1,500 places and a loss of 200,000 words", few),
        ("one word altered", copied),
    ):
        seconds = median_s(lambda d=down: diff_words(up, d), 3, time.process_time)  # type: ignore[misc]
        results.append(
            BenchResult(
                f"tap comparison of 100 M words, {name}", _WORDS / seconds / 1e6, "Mword/s",
                _LIMIT_S / seconds, f"{_LIMIT_S:.0f} s", 1.0,
            )
        )  # fmt: skip
        results.append(
            BenchResult(
                f"  the same, {name}",
                _WORDS / seconds / 1e6,
                "Mword/s",
                compare / seconds,
                "numpy array_equal",
            )
        )
    many = up[:10_000_000].copy()
    many[::50] ^= np.uint64(4)
    seconds = median_s(lambda: diff_words(up[:10_000_000], many), 3, time.process_time)
    assert diff_words(up[:10_000_000], many).counts[Op.ALTERED] == 200_000
    results.append(
        BenchResult(
            "tap comparison of 10 M words, every 50th altered", 10 / seconds, "Mword/s",
            _LIMIT_S / seconds / 10, "5 s for 100 M words", 1.0,
        )
    )  # fmt: skip
    return results


if __name__ == "__main__":
    main(run)
