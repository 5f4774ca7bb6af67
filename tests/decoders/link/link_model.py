"""The bonded link in plain Python, from docs/formats.md section 3.1: a sender and a reader of whole captures.

It shares no code with the decoders: lanes are strings of bits, columns are lists of group names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.capture.files.edges import Edges
from tests.decoders.link.line_model import Reader, draw, line_bits

Symbols = list[tuple[int, bool]]

K28_5, D21_5 = (0xBC, True), (0xB5, False)
ROLES = {"idle": D21_5, "end": (0xFD, True), "align": (0x7C, True), "skip": (0x1C, True)}
NEXTS = {"": D21_5, "packet": (0xFB, True), "credit": (0x5C, True)}
COLUMN_BITS = 40


def control(role: str = "idle", following: str = "") -> tuple[Symbols, Symbols]:
    """Return a control column: the symbols of each lane."""
    symbols = [K28_5, ROLES[role], D21_5, NEXTS[following]]
    return symbols, symbols


def data(word: int) -> tuple[Symbols, Symbols]:
    """Return the column of a word: lane 0 carries bytes 0, 2, 4, 6."""
    octets = [(word >> 8 * i & 0xFF, False) for i in range(8)]
    return octets[0::2], octets[1::2]


def send(
    units: Sequence[Sequence[int]], skips: Sequence[int] = (), idles: int = 12
) -> list[tuple[Symbols, Symbols]]:
    """Return the columns of a link that sends packets and credits (units of one word).

    Before unit i stands an align column with ``skips[i]`` skip columns, when there is such a number and it is
    not negative.
    """
    columns = [*([control()] * 4), control("align"), control("skip"), control("skip")]
    columns += [control()] * idles
    ended = False
    for i, unit in enumerate(units):
        if i < len(skips) and skips[i] >= 0:
            columns += [control("end" if ended else "idle"), control("align")]
            columns += [control("skip")] * skips[i]
            columns += [control()] * 16
            ended = False
        following = "credit" if len(unit) == 1 else "packet"
        columns.append(control("end" if ended else "idle", following))
        columns += [data(word) for word in unit]
        ended = len(unit) > 1
    return [*columns, control("end" if ended else "idle"), *([control()] * idles)]


def lanes(columns: Sequence[tuple[Symbols, Symbols]]) -> tuple[str, str]:
    """Return the bits of both lanes."""
    first, second = (
        line_bits([symbol for column in columns for symbol in column[lane]]) for lane in (0, 1)
    )
    return first, second


def side_by_side(first: str, second: str, skew: int = 0) -> tuple[str, str]:
    """Return the lanes as a capture has them: lane 1 ``skew`` bits late (or early), both equally long."""
    filler = "01" * 200
    first = filler[: max(0, -skew)] + first
    second = filler[: max(0, skew)] + second
    count = max(len(first), len(second))
    return first + filler[: count - len(first)], second + filler[: count - len(second)]


def draw_lanes(first: str, second: str, samples_a_bit: float = 4, *, drift: float = 0.0) -> Edges:
    """Return a capture of both lanes, which are equally long."""
    drawn = [draw(bits, samples_a_bit, drift=drift) for bits in (first, second)]
    end = drawn[0].end_sample
    levels = [
        np.repeat(lane.value, np.diff(np.append(lane.sample, end)).astype(np.int64))
        for lane in drawn
    ]
    value = levels[0] | levels[1] << np.uint64(1)
    keep = np.concatenate(([True], value[1:] != value[:-1]))
    return Edges(
        np.flatnonzero(keep), value[keep], ("L0", "L1", ""), drawn[0].samplerate_hz, 0, end
    )


@dataclass
class Column:
    """Four groups of a lane: where the first begins (bit), their names, values and damage."""

    at: int
    names: list[str]
    values: list[int]
    bad: list[bool]

    @property
    def is_control(self) -> bool:
        return self.names[0] == "K28.5"

    @property
    def meaning(self) -> tuple[str, str] | None:
        """Role and what comes next, None where a group cannot stand there."""
        if any(self.bad[1:]) or self.names[2] != "D21.5":
            return None
        return _ROLE_NAMES.get(self.names[1]), _NEXT_NAMES.get(self.names[3])  # type: ignore[return-value]

    @property
    def whole(self) -> bool:
        if not self.is_control:
            return not any(self.bad) and not any(name[:1] == "K" for name in self.names)
        return self.meaning is not None and None not in self.meaning


_ROLE_NAMES = {"D21.5": "idle", "K29.7": "end", "K28.3": "align", "K28.0": "skip"}
_NEXT_NAMES = {"D21.5": "", "K27.7": "packet", "K28.2": "credit"}


def columns_of(rows: list[tuple[int, str, str, int, bool]]) -> tuple[list[Column], list[str]]:
    """Return the columns of a lane and its events, rule 5: a comma twice at the same wrong place moves them."""
    found: list[Column] = []
    events = []
    current: Column | None = None
    wrong_place = None
    expected = -1
    for at, name, error, _, _ in rows:
        if at != expected:
            current = None
            aligned = False
        expected = at + 10
        bad = bool(error)
        if name == "K28.5":
            place = len(current.names) if aligned and current else 0
            if place and wrong_place != place:
                wrong_place = place
                events.append("misplaced-control")
                bad = True
            else:
                if place:
                    events.append("slip")
                current, wrong_place, aligned = None, None, True
        if not aligned:
            continue
        if current is None:
            current = Column(at, [], [], [])
        number = name[1:].split(".") if name else ["0", "0"]
        current.names.append(name)
        current.values.append(int(number[0]) | int(number[1]) << 5)
        current.bad.append(bad)
        if len(current.names) == 4:
            found.append(current)
            if current.is_control and not current.whole:
                events.append("bad-control")
            current = None
    return found, events


class LinkReader:
    """What two lanes of bits say: ``words`` as (kind or error, data, bad) and ``events``, in no order."""

    def __init__(self, first: str, second: str) -> None:
        self.words: list[tuple[str, int, int]] = []
        self.events: list[str] = []
        self.skews: list[int] = []
        sides = []
        for bits in (first, second):
            reader = Reader().read(bits)
            columns, events = columns_of(reader.rows)
            sides.append(columns)
            self.events += [code for _, code, _ in reader.events] + events
        self._where, self._packet = "", list[tuple[int, int]]()
        self._skips: int | None = None
        self._stray = False
        self._join(*sides)
        if self._where:
            self._flush(False)
            self.words.append(("cut-packet", 0, 0))

    def _join(self, first: list[Column], second: list[Column]) -> None:
        aligns = [
            [c for c in side if c.is_control and c.whole and c.meaning == ("align", "")]
            for side in (first, second)
        ]
        near = []
        for a in aligns[0]:
            there = [b for b in aligns[1] if abs(b.at - a.at) <= 7 * COLUMN_BITS]
            near.append(sorted(there, key=_distance(a))[0] if there else None)
        pairs = [(a, b) for a, b in zip(aligns[0], near, strict=True) if b is not None]
        if not pairs:
            self.events += ["not-bonded"] if first or second else []
            return
        skew = pairs[0][1].at - pairs[0][0].at
        alone: dict[int, int] = {}
        while first or second:
            apart = second[0].at - skew - first[0].at if first and second else None
            if apart is not None and abs(apart) <= COLUMN_BITS // 2:
                pair = [first.pop(0), second.pop(0)]
                aligned = [c in aligns[lane] for lane, c in enumerate(pair)]
            elif second and (not first or (apart is not None and apart < 0)):
                pair, aligned = [_missing(), second.pop(0)], [False, False]
                aligned[1] = pair[1] in aligns[1]
            else:
                pair, aligned = [first.pop(0), _missing()], [False, False]
                aligned[0] = pair[0] in aligns[0]
            alone |= {lane: pair[lane].at for lane in (0, 1) if aligned[lane]}
            reach = 10**9 if all(aligned) else 7 * COLUMN_BITS
            if any(aligned) and len(alone) == 2 and abs(alone[1] - alone[0]) <= reach:
                skew = alone[1] - alone[0]
                if not self.skews or abs(skew - self.skews[-1]) > 1:
                    self.skews.append(skew)
                alone = {}
            self._take(pair[0], pair[1])

    def _take(self, a: Column, b: Column) -> None:
        what = self._decide(a, b)
        self._count_skips(what)
        if what is None:
            word = sum(a.values[i] << 16 * i | b.values[i] << 16 * i + 8 for i in range(4))
            bad = 0
            for i in range(4):
                bad |= (a.is_control or a.bad[i] or a.names[i][:1] == "K") << 2 * i
                bad |= (b.is_control or b.bad[i] or b.names[i][:1] == "K") << 2 * i + 1
            if self._where == "packet":
                self._packet.append((word, bad))
            elif self._where == "credit":
                self.words.append(("CREDIT", word, bad))
                self._where = ""
            else:
                self.words.append(("STRAY", word, bad))
                self._stray = True
            return
        role, following = what
        if self._where == "packet":
            length = len(self._packet)
            self._flush(role == "end")
            if role != "end":
                self.words.append(("no-end", 0, 0))
            elif length < 3:
                self.words.append(("short-packet", 0, 0))
        elif self._where == "credit":
            self.words.append(("no-credit", 0, 0))
        elif role == "end" and not self._stray:
            self.words.append(("no-start", 0, 0))
        self._stray = False
        self._where = following or ""

    def _decide(self, a: Column, b: Column) -> tuple[str | None, str | None] | None:
        """Return what the control column says, None for a word. The damaged lane follows the other."""
        if a.is_control and b.is_control:
            if not a.whole:
                return _known(b)
            if not b.whole or a.meaning == b.meaning:
                return _known(a)
            self.events.append("lanes-disagree")
            return "idle", ""
        if not a.is_control and not b.is_control:
            return None
        control, other = (a, b) if a.is_control else (b, a)
        if not other.whole:
            return _known(control)
        if any(control.bad):
            return None
        self.events.append("lanes-disagree")
        return "idle", ""

    def _count_skips(self, what: tuple[str | None, str | None] | None) -> None:
        if what is not None and what[0] == "skip":
            self._skips = 3 if self._skips is None else self._skips + 1
            return
        if self._skips is not None and self._skips != 2:
            self.events.append("idle_inserted" if self._skips > 2 else "idle_removed")
        self._skips = 0 if what is not None and what[0] == "align" else None

    def _flush(self, has_tail: bool) -> None:
        for i, (word, bad) in enumerate(self._packet):
            is_tail = has_tail and i == len(self._packet) - 1 and i >= 2
            self.words.append(("TAIL" if is_tail else "HEAD" if i < 2 else "BODY", word, bad))
        self._packet = []


def _distance(a: Column) -> Callable[[Column], int]:
    return lambda b: abs(b.at - a.at)


def _missing() -> Column:
    return Column(-1, [""] * 4, [0] * 4, [True] * 4)


def _known(column: Column) -> tuple[str | None, str | None]:
    """Return role and next of a control column, each as far as its own group can be read."""
    role = None if column.bad[1] else _ROLE_NAMES.get(column.names[1])
    following = None if column.bad[3] else _NEXT_NAMES.get(column.names[3])
    return role, following
