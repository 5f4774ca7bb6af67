"""What happened on one track: row by row while there are few, beyond that how much of it in each stretch of time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Stretches:
    """Equal stretches of time that cover ``[begin_ps, end_ps)``, ``count`` of them."""

    begin_ps: int
    end_ps: int
    count: int

    @property
    def width_ps(self) -> int:
        """Return how long each is: rounded up to three digits, so that all may reach a little further."""
        least = max(1, -(-(self.end_ps - self.begin_ps) // self.count))
        step: int = 10 ** max(0, len(str(least)) - 3)
        return -(-least // step) * step

    def place(self, t_ps: Int64) -> Int64:
        """Return in which stretch each time lies; what lies outside counts to the nearest."""
        return np.clip((t_ps - self.begin_ps) // self.width_ps, 0, self.count - 1)

    def begins_ps(self) -> Int64:
        """Return where each begins."""
        return self.begin_ps + np.arange(self.count, dtype=np.int64) * self.width_ps


@dataclass(frozen=True, slots=True)
class Summed:
    """One stretch with something in it: how many of each kind were under way."""

    t_ps: int
    t_end_ps: int
    kinds: dict[str, int]


class Reduced:
    """Rows of an event table (``t_ps``, ``t_end_ps``, ``kind``...), at most ``most`` of them one by one."""

    def __init__(self, stretches: Stretches, most: int, by: str = "kind") -> None:
        """Take what the rows are told apart by when they are too many."""
        self._stretches, self._most, self._by = stretches, most, by
        self._tables: list[pa.Table] = []
        self._under_way: dict[str, Int64] = {}
        self.count = 0

    @property
    def whole(self) -> bool:
        """Whether every row is there, one by one."""
        return self.count <= self._most

    def take(self, table: pa.Table) -> None:
        """Take further rows."""
        if not len(table):
            return
        before = self.whole
        self.count += len(table)
        if self.whole:
            self._tables.append(table)
            return
        for each in [*self._tables, table] if before else [table]:
            self._sum(each)
        self._tables.clear()

    def rows(self) -> pa.Table | None:
        """Return the rows in order of time; None where there are none, or they are summed."""
        if not self._tables:
            return None
        return pa.concat_tables(self._tables, promote_options="permissive").sort_by("t_ps")

    def summed(self) -> Iterator[Summed]:
        """Yield the stretches that have something in them; none where every row is there."""
        begins, width = self._stretches.begins_ps(), self._stretches.width_ps
        under_way = {kind: np.cumsum(steps) for kind, steps in self._under_way.items()}
        for place in np.flatnonzero(sum(under_way.values(), np.zeros(len(begins) + 1, np.int64))):
            kinds = {kind: int(counts[place]) for kind, counts in under_way.items()}
            begin = int(begins[place])
            yield Summed(begin, begin + width, {k: n for k, n in kinds.items() if n})

    def _sum(self, table: pa.Table) -> None:
        first = self._stretches.place(table.column("t_ps").to_numpy())
        last = self._stretches.place(table.column("t_end_ps").to_numpy())
        kinds = (
            table.column(self._by).combine_chunks().cast(pa.string()).to_numpy(zero_copy_only=False)
        )
        size = self._stretches.count + 1
        for kind in np.unique(kinds):
            mine = kinds == kind
            steps = np.bincount(first[mine], minlength=size) - np.bincount(
                last[mine] + 1, minlength=size
            )
            self._under_way[kind] = self._under_way.get(kind, np.zeros(size, np.int64)) + steps


class Nearest:
    """The rows of one connection that lie closest to a time, at most so many."""

    def __init__(self, connection: int, t_ps: int, most: int) -> None:
        self._connection, self._t_ps, self._most = connection, t_ps, most
        self._kept: pa.Table | None = None

    def take(self, table: pa.Table) -> None:
        """Take further rows of a table that has ``connection``, ``t_ps`` and ``t_end_ps``."""
        mine = table.filter(pc.equal(table.column("connection"), self._connection))
        if not len(mine):
            return
        if self._kept is not None:
            mine = pa.concat_tables([self._kept, mine])
        begin, end = (mine.column(name).to_numpy() for name in ("t_ps", "t_end_ps"))
        away = np.maximum(np.maximum(begin - self._t_ps, self._t_ps - end), 0)
        self._kept = mine.take(np.sort(np.argsort(away, kind="stable")[: self._most]))

    def rows(self) -> pa.Table | None:
        """Return the rows in order of time, None where there are none."""
        return None if self._kept is None else self._kept.sort_by("t_ps")
