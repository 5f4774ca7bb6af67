# SPDX-FileCopyrightText: The Freezeframe authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Symbols of two lanes to columns, and columns to words, without sigrok.

Source: Freezeframe docs/formats.md section 3.1.
"""

from __future__ import annotations

from typing import NamedTuple

_COMMA, _FILL = (0xBC, True), (0xB5, False)
_ROLES = {_FILL: "idle", (0xFD, True): "end", (0x7C, True): "align", (0x1C, True): "skip"}
_NEXTS = {_FILL: "", (0xFB, True): "packet", (0x5C, True): "credit"}
_MOST_SKEW_COLUMNS = 7
_SKIPS = 2


class Column(NamedTuple):
    """Four symbols of a lane. Of a control column ``control`` is role and next, each "?" where it cannot be
    read; ``broken`` says that something in it is wrong."""

    at: int
    end: int
    span: int  # samples of three symbols
    half: int
    bad: int
    control: tuple[str, str] | None
    broken: bool


class Word(NamedTuple):
    """A word, or with ``kind`` in small letters an error."""

    at: int
    end: int
    kind: str
    data: int = 0
    bad: int = 0


_NO_COLUMN = Column(0, 0, 0, 0, 15, None, True)


class Columns:
    """The columns of one lane. ``events`` are (sample, text, value)."""

    def __init__(self) -> None:
        self.group: list[tuple[int, bool]] = []
        self.bad = 0
        self.placed = False
        self.slipped_to = 0
        self.at = 0
        self.events: list[tuple[int, str, int]] = []

    def take(self, at: int, end: int, byte: int, k: bool, error: str, fresh: bool) -> Column | None:
        """Take a symbol; return the column that it completes."""
        is_bad = bool(error)
        if fresh:
            self.placed, self.group = False, []
        place = len(self.group)
        if (byte, k) == _COMMA:
            if place and self.slipped_to != place:
                self.slipped_to, is_bad = place, True
                self.events.append((at, "misplaced-control", place))
            else:
                if place:
                    self.events.append((at, "slip", place))
                self.placed, self.group, self.slipped_to, place = True, [], 0, 0
        if not self.placed:
            return None
        if place == 0:
            self.at, self.bad = at, 0
        self.group.append((byte, k))
        self.bad |= is_bad << place
        if place < 3:
            return None
        group, self.group = self.group, []
        half = sum(value << 8 * i for i, (value, _) in enumerate(group))
        if group[0] != _COMMA:
            bad = self.bad | sum(special << i for i, (_, special) in enumerate(group))
            return Column(self.at, end, at - self.at, half, bad, None, bad != 0)
        role = "?" if self.bad & 2 else _ROLES.get(group[1], "?")
        following = "?" if self.bad & 8 else _NEXTS.get(group[3], "?")
        broken = "?" in (role, following) or self.bad & 4 != 0 or group[2] != _FILL
        if broken:
            self.events.append((self.at, "bad-control", half))
        return Column(self.at, end, at - self.at, half, self.bad, (role, following), broken)


class Bond:
    """Joins columns to words. ``events`` are (sample, text, value)."""

    def __init__(self) -> None:
        self.waiting: tuple[list[Column], list[Column]] = ([], [])
        self.known_to = [0, 0]  # all columns of the lane that begin before it are there
        self.skew: int | None = None
        self.told_skew: int | None = None
        self.align: list[int | None] = [None, None]
        self.events: list[tuple[int, str, int]] = []
        self.words: list[Word] = []
        self.where = ""
        self.held: Word | None = None
        self.length = 0
        self.stray = False
        self.skips: int | None = None

    def join(self) -> None:
        """Join what can be joined; the words are in ``words``."""
        if self.skew is None and not self._find_pair():
            return
        first, second = self.waiting
        while first or second:
            skew = self.skew or 0
            near = (first or second)[0].span * 2 // 3
            time0 = first[0].at if first else self.known_to[0]
            time1 = (second[0].at if second else self.known_to[1]) - skew
            if first and second:
                takes = [
                    abs(time1 - time0) <= near or time0 < time1,
                    abs(time1 - time0) <= near or time1 < time0,
                ]
            elif first:
                if time1 <= time0 + near:
                    return
                takes = [True, False]
            else:
                if time0 <= time1 + near:
                    return
                takes = [False, True]
            pair = [
                side.pop(0) if take else _NO_COLUMN
                for side, take in zip(self.waiting, takes, strict=True)
            ]
            self._take(pair[0], pair[1], takes, time0 if takes[0] else time1)

    def _find_pair(self) -> bool:
        first, second = self.waiting
        for column in first:
            if not _is_align(column):
                continue
            reach = _MOST_SKEW_COLUMNS * column.span * 4 // 3
            if column.at + reach >= self.known_to[1]:
                return False
            near = [
                c.at - column.at for c in second if _is_align(c) and abs(c.at - column.at) <= reach
            ]
            if near:
                self.skew = min(near, key=abs)
                return True
        return False

    def _take(self, a: Column, b: Column, takes: list[bool], at: int) -> None:
        aligned = [_is_align(a), _is_align(b)]
        span = max(a.span, b.span)
        for lane, column in enumerate((a, b)):
            if aligned[lane]:
                self.align[lane] = column.at
        here, there = self.align
        if any(aligned) and here is not None and there is not None:
            self._set_skew(there - here, all(aligned), span, at)
        end = at + max(a.end - a.at, b.end - b.at)
        control = self._decide(a, b, at)
        self._count_skips(control, at)
        if control is None:
            self._take_word(a, b, at, end)
        else:
            self._take_control(control, at)

    def _set_skew(self, skew: int, joined: bool, span: int, at: int) -> None:
        """Take the distance of two align columns, which are joined or have been alone until now."""
        if not joined and abs(skew) > _MOST_SKEW_COLUMNS * span * 4 // 3:
            return
        self.skew, self.align = skew, [None, None]
        if self.told_skew is None or abs(skew - self.told_skew) > span // 30 + 1:
            self.told_skew = skew
            self.events.append((at, "skew", skew))

    def _decide(self, a: Column, b: Column, at: int) -> tuple[str, str] | None:
        """Return what the control column says, None for a word; a damaged lane follows the other."""
        if a.control and b.control:
            if a.broken:
                return b.control
            if b.broken or a.control == b.control:
                return a.control
        elif not a.control and not b.control:
            return None
        else:
            control, other = (a, b) if a.control else (b, a)
            if other.bad:
                return control.control
            if control.bad:
                return None
        self.events.append((at, "lanes-disagree", 0))
        return "idle", ""

    def _count_skips(self, control: tuple[str, str] | None, at: int) -> None:
        role = control[0] if control else ""
        if role == "skip":
            self.skips = _SKIPS + 1 if self.skips is None else self.skips + 1
            return
        if self.skips is not None and self.skips != _SKIPS:
            more = self.skips - _SKIPS
            self.events.append((at, "idle_inserted" if more > 0 else "idle_removed", abs(more)))
        self.skips = 0 if role == "align" else None

    def _take_word(self, a: Column, b: Column, at: int, end: int) -> None:
        data = bad = 0
        for i in range(4):
            data |= (a.half >> 8 * i & 0xFF) << 16 * i | (b.half >> 8 * i & 0xFF) << 16 * i + 8
            bad |= ((15 if a.control else a.bad) >> i & 1) << 2 * i
            bad |= ((15 if b.control else b.bad) >> i & 1) << 2 * i + 1
        if self.where == "packet":
            self._give_held(False)
            self.length += 1
            self.held = Word(at, end, "", data, bad)
        elif self.where == "credit":
            self.where = ""
            self.words.append(Word(at, end, "CREDIT", data, bad))
        else:
            self.stray = True
            self.words.append(Word(at, end, "STRAY", data, bad))

    def _take_control(self, control: tuple[str, str], at: int) -> None:
        role, following = control
        ended = role == "end"
        if self.where == "packet":
            length = self.length
            self._give_held(ended and length > 2)
            if not ended:
                self.words.append(Word(at, at, "no-end"))
            elif length <= 2:
                self.words.append(Word(at, at, "short-packet"))
        elif self.where == "credit":
            self.words.append(Word(at, at, "no-credit"))
        elif ended and not self.stray:
            self.words.append(Word(at, at, "no-start"))
        self.stray = False
        self.where = following if following != "?" else ""
        self.length = 0

    def _give_held(self, is_tail: bool) -> None:
        if self.held:
            kind = "TAIL" if is_tail else "HEAD" if self.length <= 2 else "BODY"
            self.words.append(self.held._replace(kind=kind))
            self.held = None


def _is_align(column: Column) -> bool:
    return column.control is not None and column.control[0] == "align" and not column.broken
