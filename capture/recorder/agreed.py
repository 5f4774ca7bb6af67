"""Words that no CRC protects: each is believed when two readings of it, running, agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import BusError, RecorderStateError, TargetError
from freezeframe.capture.recorder.patience import RecordingLost
from freezeframe.capture.targets.base import Words

__all__ = ["Agreed", "read_agreed"]

_READINGS = 24
_REFUSALS = 4  # error answers to one address alone, before it counts as not readable


@dataclass(frozen=True, slots=True, eq=False)
class Agreed:
    """Words in the order asked, which of them can be believed, and how many were read again."""

    words: Words
    good: npt.NDArray[np.bool_]
    again: int


def read_agreed(read: Callable[[Words], Words], addresses: Words) -> Agreed:
    """Read words that stand still until each has read the same twice running.

    Args:
        read: ``Device.read_words`` of any device of the target.
        addresses: ``(n,)`` uint32.
    Raises:
        RecordingLost, RecorderStateError: as ``read`` does.
    """
    words = np.zeros(len(addresses), np.uint32)
    good = np.zeros(len(addresses), np.bool_)
    seen = np.zeros(len(addresses), np.bool_)
    refused = np.zeros(len(addresses), np.int64)
    again = 0
    for reading in range(_READINGS):
        open_ = np.flatnonzero(~good & (refused < _REFUSALS))
        if not open_.size:
            break
        if reading >= 2:
            again += len(open_)
        for part in _parts(open_, reading):
            try:
                now = read(addresses[part])
            except (RecordingLost, RecorderStateError):
                raise
            except BusError:
                # One bad address makes a transport refuse the whole list: next in smaller parts.
                refused[part] += len(part) == 1
                seen[part] = False
                continue
            except TargetError:
                seen[part] = False  # all ones that could be neither believed nor refused
                continue
            good[part] = seen[part] & (now == words[part])
            words[part] = now
            seen[part] = True
    return Agreed(words, good, again)


def _parts(indices: npt.NDArray[np.int64], reading: int) -> list[npt.NDArray[np.int64]]:
    """Return all in one list at first, then in ever smaller lists, from the tenth on one by one."""
    if reading < 3:
        return [indices]
    if reading >= 10:
        return [indices[i : i + 1] for i in range(len(indices))]
    size = max(1, len(indices) >> 2 * (reading - 2))
    return [indices[i : i + size] for i in range(0, len(indices), size)]
