"""Places on a time line: what is selected, cursors by name and the time between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Selection:
    """One item of one track. ``row`` is the row of the table that the track was made from."""

    key: str
    item: int
    row: int
    t_ps: int
    t_end_ps: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """A time with a name."""

    name: str
    t_ps: int


class Cursors:
    """Cursors by name, in the order they were set. The active one is that which was set or moved last.

    ``changed`` is called when any of them is another.
    """

    def __init__(self, changed: Callable[[], object] = lambda: None) -> None:
        self._times: dict[str, int] = {}
        self._active = ""
        self._changed = changed

    def __len__(self) -> int:
        return len(self._times)

    def all(self) -> tuple[Cursor, ...]:
        """Return the cursors in the order they were set."""
        return tuple(Cursor(name, t_ps) for name, t_ps in self._times.items())

    def add(self, t_ps: int, name: str | None = None) -> Cursor:
        """Set a cursor; without a name it takes the first free letter, then ``A1``, ``B1``, ...

        Raises:
            ValueError: the name is empty or taken.
        """
        if name is None:
            name = next(free for free in _names() if free not in self._times)
        self._check_free(name)
        self._times[name] = t_ps
        self.move(name, t_ps)
        return Cursor(name, t_ps)

    @property
    def active(self) -> Cursor | None:
        """The cursor that was set or moved last; where it was taken away, the last of the others."""
        return next((cursor for cursor in self.all() if cursor.name == self._active), None)

    def move(self, name: str, t_ps: int) -> None:
        """Move a cursor. Raises: KeyError."""
        if name not in self._times:
            raise KeyError(name)
        self._times[name] = t_ps
        self._active = name
        self._changed()

    def rename(self, old: str, new: str) -> None:
        """Give a cursor another name. Raises: KeyError, ValueError."""
        if old not in self._times:
            raise KeyError(old)
        if new == old:
            return
        self._check_free(new)
        self._times = {new if name == old else name: t for name, t in self._times.items()}
        self._active = new if self._active == old else self._active
        self._changed()

    def remove(self, name: str) -> None:
        """Take a cursor away. Raises: KeyError."""
        del self._times[name]
        if self._active == name:
            self._active = next(reversed(self._times), "")
        self._changed()

    def remove_active(self) -> None:
        """Take away the cursor that was set or moved last."""
        if self.active is not None:
            self.remove(self.active.name)

    def replace(self, cursors: Iterable[Cursor]) -> None:
        """Set all cursors at once. Raises: ValueError: names empty or not unique; nothing was changed."""
        fresh = Cursors()
        for cursor in cursors:
            fresh.add(cursor.t_ps, cursor.name)
        self._times, self._active = fresh._times, fresh._active
        self._changed()

    def by_time(self) -> list[Cursor]:
        """Return the cursors in order of time."""
        return sorted(self.all(), key=lambda cursor: cursor.t_ps)

    def deltas(self) -> list[tuple[str, str, int]]:
        """Return the time from each cursor to the next one in time."""
        return [(a.name, b.name, b.t_ps - a.t_ps) for a, b in pairwise(self.by_time())]

    def nearest(self, t_ps: int, within_ps: int) -> Cursor | None:
        """Return the cursor closest to a time, none when it is further than ``within_ps``."""
        best = min(self.all(), key=lambda c: abs(c.t_ps - t_ps), default=None)
        return best if best is not None and abs(best.t_ps - t_ps) <= within_ps else None

    def _check_free(self, name: str) -> None:
        if not name.strip():
            raise ValueError("a cursor needs a name")
        if name in self._times:
            raise ValueError(f"there is a cursor {name!r} already")


def _names() -> Iterable[str]:
    letters = [chr(ord("A") + i) for i in range(26)]
    yield from letters
    number = 1
    while True:
        yield from (f"{letter}{number}" for letter in letters)
        number += 1
