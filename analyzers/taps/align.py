"""Align the words of one packet at two taps: which were omitted, repeated, put in, or altered.

Common beginning and end are cut off first, so the cost is linear in the words and only what differs
between them is searched, by `edit_script`. For word lists that are not packets see `word_diff`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.taps.edit_script import edit_script

__all__ = ["Alignment", "Edit", "Op", "align", "align_cut"]

Ids = npt.NDArray[np.int64]


class Op(StrEnum):
    """What happened to words between two taps.

    ``reordered``: they stand elsewhere downstream. ``replaced``: a stretch of another length stands in
    their place, and which of its words were altered cannot be told. `align` gives neither of these two.
    """

    OMITTED = "omitted"
    DUPLICATED = "duplicated"
    INSERTED = "inserted"
    ALTERED = "altered"
    REORDERED = "reordered"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference. ``up``, ``down`` are positions in the two word lists.

    For an omitted word ``down`` is where it should stand; for a word too many ``up`` is where the
    list goes on. Between equal neighbours the exact place is not known: it is one of
    ``[first, first + places)``, counted in ``up`` for an omitted word and in ``down`` for one too
    many; of a repeated word every place after the first copy.
    """

    op: Op
    up: int
    down: int
    first: int
    places: int = 1

    @property
    def certain(self) -> bool:
        return self.places == 1


@dataclass(frozen=True, slots=True)
class Alignment:
    """The differences in order; ``compared`` words stood on both sides."""

    edits: tuple[Edit, ...]
    compared: int


def align(up: Ids, down: Ids) -> Alignment:
    """Align two complete word lists.

    Args:
        up, down: ``(n,)``, ``(m,)`` int64; equal numbers are equal words (data and kind).
    """
    n, m = len(up), len(down)
    front = _common(up, down)
    if front == n == m:
        return Alignment((), n)
    if n == m:
        return Alignment(_altered(np.flatnonzero(up != down), 0, 0), n)
    back = _common(up[::-1], down[::-1])
    if front + back >= min(n, m) and abs(n - m) == 1:
        return Alignment((_one(up, down, front, back),), min(n, m))
    back = min(back, min(n, m) - front)
    script = edit_script(up[front : n - back], down[front : m - back])
    return Alignment(_group(script, up, down, front), min(n, m))


def align_cut(up: Ids, down: Ids, *, at_start: bool) -> Alignment:
    """Align two word lists of which one or both lack words at the start (or else at the end).

    What one side lacks there is no difference. Of the hypotheses "altered in place", "one omitted"
    and "one too many" that one is taken under which most of the following words agree.
    """
    if at_start:
        found = align_cut(up[::-1], down[::-1], at_start=False)
        return Alignment(
            tuple(_mirrored(e, len(up), len(down)) for e in reversed(found.edits)), found.compared
        )
    common = min(len(up), len(down))
    front = _common(up, down)
    if front == common:
        return Alignment((), common)
    same = _agree(up[front + 1 :], down[front + 1 :])
    omitted = _agree(up[front + 1 :], down[front:])
    too_many = _agree(up[front:], down[front + 1 :])
    if max(omitted, too_many) <= same or max(omitted, too_many) < 2:
        return Alignment(_altered(np.flatnonzero(up[:common] != down[:common]), 0, 0), common)
    if omitted >= too_many:
        first = front - _run(up[: front + 1][::-1]) + 1
        edit = Edit(Op.OMITTED, front, front, first, front - first + 1)
        rest_up, rest_down = front + 1, front
    else:
        edit = _too_many(down, front, front)
        rest_up, rest_down = front, front + 1
    length = min(len(up) - rest_up, len(down) - rest_down)
    wrong = np.flatnonzero(up[rest_up : rest_up + length] != down[rest_down : rest_down + length])
    return Alignment((edit, *_altered(wrong, rest_up, rest_down)), front + length)


def _one(up: Ids, down: Ids, front: int, back: int) -> Edit:
    """Return the one word more on one side; ``front`` and ``back`` words agree from either end."""
    first = max(len(up), len(down)) - 1 - back
    if len(up) > len(down):
        return Edit(Op.OMITTED, front, front, first, front - first + 1)
    return _too_many(down, front, front)


def _too_many(down: Ids, up_at: int, at: int) -> Edit:
    """Return the edit of a word too many at ``down[at]``, the last of its run of equal words."""
    run = _run(down[: at + 1][::-1])
    if run > 1:
        return Edit(Op.DUPLICATED, up_at, at, at - run + 2, run - 1)
    return Edit(Op.INSERTED, up_at, at, at)


def _altered(positions: Ids, up_at: int, down_at: int) -> tuple[Edit, ...]:
    return tuple(Edit(Op.ALTERED, up_at + i, down_at + i, up_at + i) for i in positions.tolist())


def _mirrored(edit: Edit, n: int, m: int) -> Edit:
    up, down = n - 1 - edit.up, m - 1 - edit.down
    if edit.op is Op.OMITTED:
        return Edit(edit.op, up, down + 1, n - edit.first - edit.places, edit.places)
    if edit.op is Op.ALTERED:
        return Edit(edit.op, up, down, up)
    # Seen from the end, the run's first copy was the one "after" the others.
    first = m - edit.first - edit.places
    return Edit(edit.op, up + 1, down, first + (edit.op is Op.DUPLICATED), edit.places)


def _common(a: Ids, b: Ids) -> int:
    length = min(len(a), len(b))
    differ = a[:length] != b[:length]
    return int(differ.argmax()) if differ.any() else length


def _agree(a: Ids, b: Ids) -> int:
    length = min(len(a), len(b))
    return int((a[:length] == b[:length]).sum())


def _run(a: Ids) -> int:
    """Return how many words at the beginning are equal to the first."""
    return _common(a, np.full(len(a), a[0]))


def _group(script: Ids, up: Ids, down: Ids, base: int) -> tuple[Edit, ...]:
    """Make edits of a script; words omitted and put in at one place were altered, pair by pair."""
    edits: list[Edit] = []
    i = j = base
    for omitted, inserted, equal in script.tolist():
        pairs = min(omitted, inserted)
        edits += _altered(np.arange(pairs), i, j)
        edits += [Edit(Op.OMITTED, i + k, j + pairs, i + k) for k in range(pairs, omitted)]
        for k in range(pairs, inserted):
            again = j + k > 0 and down[j + k] == down[j + k - 1]
            edits.append(Edit(Op.DUPLICATED if again else Op.INSERTED, i + pairs, j + k, j + k))
        i += omitted + equal
        j += inserted + equal
    return tuple(edits)
