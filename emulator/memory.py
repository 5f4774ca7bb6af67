"""A trace memory: a ring of 9-byte records, filled by runs and read when it is at rest.

Source: docs/formats.md section 2, rule 7.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Kind

Words = npt.NDArray[np.uint64]
Kinds = npt.NDArray[np.uint8]

HEAD, TAIL, TIME = int(Kind.HEAD), int(Kind.TAIL), int(Kind.TIME)
"""Kinds that are asked for with each word or record: a member of an enumeration takes several times as long."""

_WORD = (1 << 64) - 1
_LIST_RECORDS = 256


class Memory:
    """The records themselves: a ring of ``depth`` slots of 9 bytes. An arm clears its pointer, not its contents."""

    sound = True
    """Whether it stores what it is given, so that many records at once are the same as one after the other."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.stored = 0
        self._bytes = np.zeros((depth, 9), dtype=np.uint8)
        self._kept: deque[_Kept] = deque()
        self._kept_records = 0

    @property
    def write_ptr(self) -> int:
        """Slot the next record would take."""
        return self.stored % self.depth

    @property
    def wrapped(self) -> bool:
        """Every slot has been written since arm."""
        return self.stored >= self.depth

    def clear(self) -> None:
        """Start at slot 0; what the slots hold stays."""
        self.image()
        self.stored = 0

    def put_run(self, dt: int, kinds: Kinds, data: Words) -> None:
        """Store records of consecutive cycles; ``dt`` is that of the first, the others have 1."""
        self._kept.append(_Run(dt, kinds, data))
        self._count(len(data))

    def put(self, records: list[tuple[int, int, int]]) -> None:
        """Store records given as ``(dt, kind, data)``."""
        if self._kept and isinstance(last := self._kept[-1], list) and len(last) < _LIST_RECORDS:
            last.extend(records)
        else:
            self._kept.append(records.copy())
        self._count(len(records))

    def put_last(self, meta: Kinds, data: Words, records: int) -> None:
        """Store so many records, of which only the last can still be seen: ``meta`` has their kinds and dt as bytes."""
        self._kept.append(_Block(meta, data))
        self._count(len(data))
        self.stored += records - len(data)

    def _count(self, records: int) -> None:
        self.stored += records
        self._kept_records += records
        # Only what can still be seen is kept, and written into slots when someone looks.
        while self._kept_records - _length(self._kept[0]) >= self.depth:
            self._kept_records -= _length(self._kept.popleft())

    def image(self) -> npt.NDArray[np.uint8]:
        """Return the ``(depth, 9)`` bytes in slot order, a view; slots never written are zero."""
        if self._kept_records:
            data = np.concatenate([_data(kept) for kept in self._kept])[-self.depth :]
            meta = np.concatenate([_meta(kept) for kept in self._kept])[-self.depth :]
            slots = np.arange(self.stored - len(data), self.stored) % self.depth
            self._bytes[slots, :8] = data.astype("<u8").view(np.uint8).reshape(-1, 8)
            self._bytes[slots, 8] = meta
        self._kept.clear()
        self._kept_records = 0
        return self._bytes


class _Run(NamedTuple):
    dt: int  # of the first record
    kinds: Kinds
    data: Words


class _Block(NamedTuple):
    meta: Kinds
    data: Words


_Kept = _Run | _Block | list[tuple[int, int, int]]


def _length(kept: _Kept) -> int:
    return len(kept) if isinstance(kept, list) else len(kept.data)


def _data(kept: _Kept) -> Words:
    if not isinstance(kept, list):
        return kept.data
    return np.array([data & _WORD for _, _, data in kept], dtype=np.uint64)


def _meta(kept: _Kept) -> Kinds:
    if isinstance(kept, _Block):
        return kept.meta
    if isinstance(kept, _Run):
        meta = kept.kinds | np.uint8(1 << 4)
        meta[0] = int(kept.kinds[0]) | kept.dt << 4
        return meta
    return np.array([kind | dt << 4 for dt, kind, _ in kept], dtype=np.uint8)
