"""Numbers of one or several channels, sample by sample, as edges: each through its threshold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.source import ReadSettings, check_samples
from freezeframe.capture.files.threshold import Thresholder


def thresholder(name: str, settings: ReadSettings) -> Thresholder:
    """Return the threshold of a channel, which has one."""
    return Thresholder(settings.thresholds.get(name) or settings.thresholds[""])


def has_threshold(name: str, settings: ReadSettings) -> bool:
    return name in settings.thresholds or "" in settings.thresholds


def no_threshold(name: str, unit: str = "volts") -> str:
    """Return why an analog channel without a threshold cannot be read."""
    return f"it is analog; give --threshold {name}=HIGH/LOW in {unit}"


def edges_of_levels(
    path: object,
    pieces: Iterable[npt.NDArray[np.floating]],
    names: Sequence[str],
    rate_hz: int,
    settings: ReadSettings,
    most: int | None,
) -> Iterator[Edges]:
    """Yield ``(n, channels)`` numbers as edges, in pieces that follow each other.

    Raises:
        InputError: there are more than ``most`` samples.
    """
    levels = [thresholder(name, settings) for name in names]
    done = 0
    held: int | None = None
    for numbers in pieces:
        if not len(numbers):
            continue
        word = np.zeros(len(numbers), dtype=np.uint64)
        for bit, level in enumerate(levels):
            word |= level.feed(numbers[:, bit]) << np.uint64(bit)
        keep = np.ones(len(word), dtype=np.bool_)
        keep[1:] = word[1:] != word[:-1]
        keep[0] = held is None or int(word[0]) != held
        held = int(word[-1])
        begin, done = done, done + len(word)
        check_samples(path, done, most)
        yield Edges(np.flatnonzero(keep) + begin, word[keep], tuple(names), rate_hz, begin, done)
    for name, level in zip(names, levels, strict=True):
        if level.not_numbers:
            settings.say(f"{path}: {name}: {level.not_numbers} voltages are no numbers")
