"""How long operations take, by kind and connection: counted in buckets, so that no operation is kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int64 = npt.NDArray[np.int64]

ALL = -1
"""Instead of the number of a connection: all of them together."""

_STEPS = 32  # buckets an octave: a bucket's middle is at most 1.1 % from what is in it
_BUCKETS = 63 * _STEPS + 1
_MOST_KEYS = 1 << 10


@dataclass(frozen=True, slots=True)
class Latency:
    """Operations of one kind, on one connection or all (`ALL`).

    Attributes:
        count: all of them; ``answered`` are whole: their times count, and their ``size_B``.
        least_ps, most_ps: exact; ``median_ps``, ``p99_ps``: within 1.1 %. 0 where none is whole.
    """

    connection: int
    kind: str
    count: int
    answered: int
    size_B: int
    least_ps: int
    median_ps: int
    p99_ps: int
    most_ps: int


class Latencies:
    """Takes tables ``iwarp.operations`` block by block.

    Kept by connection for the first 1,024 pairs of a connection and a kind, by kind always.
    """

    def __init__(self) -> None:
        self._of: dict[tuple[int, str], _Counted] = {}
        self.unlisted = False

    def take(self, operations: pa.Table) -> None:
        """Take the operations that ended with a block."""
        if not len(operations):
            return
        kinds = operations.column("kind").unify_dictionaries().combine_chunks()
        if isinstance(kinds, pa.ChunkedArray):
            kinds = kinds.chunk(0)
        names = kinds.dictionary.to_pylist()
        kind = kinds.indices.to_numpy().astype(np.int64)
        connection = operations.column("connection").to_numpy()
        latency = operations.column("latency_ps").to_numpy()
        size = operations.column("size_B").to_numpy()
        whole = operations.column("whole").to_numpy()
        order = np.lexsort((kind, connection))
        key = connection[order] * len(names) + kind[order]
        begins = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        for begin, end in zip(begins, np.append(begins[1:], len(order)), strict=True):
            mine = order[begin:end]
            name, number = names[int(kind[mine[0]])], int(connection[mine[0]])
            for which in (ALL, number):
                counted = self._counted(which, name)
                if counted is not None:
                    counted.take(latency[mine], size[mine], whole[mine])

    def _counted(self, connection: int, kind: str) -> _Counted | None:
        key = (connection, kind)
        if key not in self._of:
            if connection != ALL and len(self._of) >= _MOST_KEYS:
                self.unlisted = True
                return None
            self._of[key] = _Counted()
        return self._of[key]

    def rows(self) -> list[Latency]:
        """Return what was counted: all connections first, then each."""
        return [counted.latency(*key) for key, counted in sorted(self._of.items())]


class _Counted:
    def __init__(self) -> None:
        self._count = self._answered = self._size_B = 0
        self._least, self._most = np.iinfo(np.int64).max, -1
        self._buckets = np.zeros(_BUCKETS, np.int64)

    def take(self, latency_ps: Int64, size_B: Int64, whole: npt.NDArray[np.bool_]) -> None:
        self._count += len(whole)
        answered = np.maximum(latency_ps[whole], 0)
        if not len(answered):
            return
        self._answered += len(answered)
        self._size_B += int(size_B[whole].sum())
        self._least = min(self._least, int(answered.min()))
        self._most = max(self._most, int(answered.max()))
        place = np.floor(np.log2(np.maximum(answered, 1)) * _STEPS).astype(np.int64)
        self._buckets += np.bincount(place, minlength=_BUCKETS)

    def latency(self, connection: int, kind: str) -> Latency:
        least = self._least if self._answered else 0
        most = max(self._most, 0)
        middle, late = (self._quantile(part, least, most) for part in (0.5, 0.99))
        return Latency(
            connection, kind, self._count, self._answered, self._size_B, least, middle, late, most
        )

    def _quantile(self, part: float, least: int, most: int) -> int:
        """Return the middle of the bucket in which the value of this rank is."""
        if not self._answered:
            return 0
        rank = max(1, int(np.ceil(part * self._answered)))
        bucket = int(np.searchsorted(np.cumsum(self._buckets), rank))
        middle = (
            round(2 ** ((bucket + 0.5) / _STEPS)) if bucket else 0
        )  # what came in one packet took 0
        return min(max(middle, least), most)
