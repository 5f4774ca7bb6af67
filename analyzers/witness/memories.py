"""A memory that contradicts itself: what no recorder stores and no card makes, and the one bit that would mend it.

A recorder dates its records, and keeps to the rules of docs/formats.md section 2, whatever the card does: so a memory
that breaks them holds something else than was stored. Bits are those of a record: data 0-63, kind 64-67, distance in
time 68-71. An event of a form that no other one has, and a count of the sampler that goes back, are as odd.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import DeviceCapture, MemoryImage
from freezeframe.capture.registers.layouts import (
    EVENT_CODE_LSB,
    EVENT_FLOW_LSB,
    EVENT_SOURCE_LSB,
    Kind,
)
from freezeframe.decoders.trace.memory import ProblemCode, Reading, check, read_memory

KIND, DT = 64, 68
"""The lowest bit of a record's kind, and of its distance in time."""

_RECORD_BITS = 72
_CYCLE_BITS = 48
_SATURATED, _IDLE = (
    15,
    14,
)  # the largest step; that of a TIME, which is stored when nothing else was for so long
_BREAKS = (
    ProblemCode.TIME_DISAGREES,
    ProblemCode.BAD_TIME,
    ProblemCode.BROKEN_WALK,
    ProblemCode.ZERO_DT,
    ProblemCode.RESERVED_KIND,
    ProblemCode.MISPLACED_KIND,
)
_MOST_TRIED = 200
_FEW_PAIRS = 8
_NEVER_ALIKE = (
    Kind.HEAD,
    Kind.TIME,
)  # of which no two are alike so close to each other: numbers and cycles go on


@dataclass(frozen=True, slots=True)
class Upset:
    """Bit ``bit`` of one of the records in ``slots`` is not as it was stored."""

    bit: int
    slots: tuple[int, ...]

    @property
    def text(self) -> str:
        """The bit and the slot, in words."""
        part = "data" if self.bit < KIND else "kind" if self.bit < DT else "distance in time"
        where = f"slot {self.slots[0]}"
        if len(self.slots) > 1:
            where = f"one of the {len(self.slots)} slots {self.slots[0]} to {self.slots[-1]}"
        return f"bit {self.bit} of the record in {where} ({part})"


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What no recorder stores, in one memory; ``upsets``: the bits of which each alone would mend it."""

    device: str
    memory: str
    slot: int
    why: str
    upsets: tuple[Upset, ...] = ()


def contradictions(view: CaptureView) -> Iterator[Contradiction]:
    """Yield each memory that contradicts itself, once."""
    for device in view.devices:
        for image in device.memories.values():
            if image.gaps or not len(image.slots_in_order()):
                continue  # what was not read is no contradiction
            found = _one_line_for_two(view, device, image) or _broken(view, device, image)
            if found is not None:
                yield found


def _one_line_for_two(
    view: CaptureView, device: DeviceCapture, image: MemoryImage
) -> Contradiction | None:
    """Return that two slots are one throughout, as with a stuck address line; None where they are not."""
    for line in range((len(image.records) - 1).bit_length()):
        low = _pairs(image, line)
        if not len(low):
            continue
        first = image.records[low]
        unlike = np.isin(first[:, 8] & 15, _NEVER_ALIKE).any()
        if unlike or _no_other_has_pairs(view, image, line):
            why = f"slots that differ in address bit {line} alone hold the same records, {len(low)} pairs"
            return Contradiction(device.name, image.name, int(low[0]), why)
    return None


def _pairs(image: MemoryImage, line: int) -> npt.NDArray[np.int64]:
    """Return the lower slots of all pairs that differ in one address bit, where each of them holds one record twice."""
    held, bit = image.slots_in_order(), 1 << line
    is_held = np.zeros(len(image.records) + bit, np.bool_)
    is_held[held] = True
    low: npt.NDArray[np.int64] = held[held >> line & 1 == 0]
    # The first few tell it of a sound memory.
    for some in (low[:_FEW_PAIRS], low):
        both = some[is_held[some + bit]]
        if not np.array_equal(image.records[both], image.records[both + bit]):
            return low[:0]
    return both if len(both) >= _FEW_PAIRS else low[:0]


def _no_other_has_pairs(view: CaptureView, image: MemoryImage, line: int) -> bool:
    """Tell whether it is no matter of what was sent: other taps that hold as much of it have no such pairs."""
    others = [
        other
        for device in view.devices
        for other in device.memories.values()
        if other is not image and len(other.slots_in_order()) >= len(image.slots_in_order())
    ]
    return bool(others) and not any(len(_pairs(other, line)) for other in others)


def _broken(view: CaptureView, device: DeviceCapture, image: MemoryImage) -> Contradiction | None:
    source = f"{device.name}.{image.name}"
    told = any(p.code in _BREAKS and p.source == source for p in view.trace.problems)
    if not (told or _odd_steps(image.records[image.slots_in_order(), 8]).any()):
        return None
    reading = read_memory(device, image)
    breaks = _breaks(reading)
    if not breaks:
        return None
    upsets = tuple(_mending(device, image, reading, breaks))
    why = "; ".join(f"slot {int(reading.slot[each.row])}: {each.text}" for each in breaks[:2])
    return Contradiction(device.name, image.name, int(reading.slot[breaks[0].row]), why, upsets)


@dataclass(frozen=True, slots=True)
class _Break:
    """What is against the rules, at a row; ``value``: as `Mark.value`. ``code`` is None for the step of a TIME."""

    code: ProblemCode | None
    row: int
    value: int
    text: str


def _breaks(reading: Reading) -> list[_Break]:
    problems, marks = check(reading)
    texts = {problem.code: problem.text for problem in problems}
    found = [_Break(m.code, m.record, m.value, texts[m.code]) for m in marks if m.code in _BREAKS]
    for row in np.flatnonzero(_odd_steps(reading.records[:, 8])).tolist():
        step = int(reading.columns.dt[row])
        text = f"TIME {step} cycles after the record before; it is stored after {_IDLE} without one"
        found.append(_Break(None, row, step, text))
    return sorted(found, key=lambda each: each.row)


def _odd_steps(kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Tell of each record whether it is a TIME, not the closing one, with another step than all have."""
    odd: npt.NDArray[np.bool_] = ((kinds & 15) == Kind.TIME) & (kinds >> 4 != _IDLE)
    odd[-1:] = False
    return odd


def _mending(
    device: DeviceCapture, image: MemoryImage, reading: Reading, breaks: list[_Break]
) -> Iterator[Upset]:
    """Yield the upsets of one bit with which the memory would keep to the rules."""
    tried: set[tuple[int, int]] = set()
    for bit, rows in _candidates(reading, breaks):
        slot = int(reading.slot[rows[0]])
        if (slot, bit) in tried or len(tried) == _MOST_TRIED:
            continue
        tried.add((slot, bit))
        # Rows that are alike in all that dates them mend alike: the first speaks for them.
        if _mended(device, image, slot, bit):
            yield Upset(bit, tuple(int(slot) for slot in reading.slot[rows]))


def _mended(device: DeviceCapture, image: MemoryImage, slot: int, bit: int) -> bool:
    records = image.records.copy()
    records[slot, bit // 8] ^= 1 << bit % 8
    return not _breaks(read_memory(device, replace(image, records=records)))


def _candidates(
    reading: Reading, breaks: list[_Break]
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield a bit and the rows that it may be upset in, of what is broken first."""
    kind, dt = reading.columns.kind, reading.columns.dt
    for each in breaks:
        if each.code in (ProblemCode.RESERVED_KIND, ProblemCode.MISPLACED_KIND):
            yield from _kinds(reading, each.row)
            return
    for each in breaks[:2]:
        yield from ((bit, _row(each.row)) for bit in range(DT, _RECORD_BITS))
        if each.code is None:
            yield from _kinds(reading, each.row)
        elif each.code is ProblemCode.BROKEN_WALK and each.row:
            yield from _kinds(reading, each.row - 1)
        elif each.code is ProblemCode.BAD_TIME:
            yield from ((bit, _row(each.row)) for bit in range(_CYCLE_BITS, KIND))
        elif each.code is ProblemCode.TIME_DISAGREES:
            yield from ((bit, _row(each.row)) for bit in range(KIND))
    first = next((b for b in breaks if b.code is ProblemCode.TIME_DISAGREES), None)
    if first is None:
        return
    newer = np.flatnonzero(kind[first.row + 1 :] == Kind.TIME)
    end = first.row + 1 + int(newer[0]) if len(newer) else len(kind) - 1
    yield from ((bit, _row(end)) for bit in range(KIND))
    if int(dt[first.row + 1]) != _SATURATED:  # it may have been, and said nothing of how far it was
        for bit in range(DT, _RECORD_BITS):
            if int(dt[first.row + 1]) ^ 1 << bit - DT == _SATURATED:
                yield bit, _row(first.row + 1)
    off = first.value - int(reading.columns.data[first.row])  # so much too new is the walk
    between = np.arange(first.row + 1, end + 1)
    for bit in range(DT, _RECORD_BITS):
        step = 1 << bit - DT
        more = np.where(dt[between].astype(np.int64) >> (bit - DT) & 1, -step, step)
        rows = between[more == off]
        if len(rows):
            yield bit, rows


def _kinds(reading: Reading, row: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    for bit in range(KIND, DT):
        if _fits(reading, row, int(reading.columns.kind[row]) ^ 1 << bit - KIND):
            yield bit, _row(row)


def _row(row: int) -> npt.NDArray[np.int64]:
    return np.array([row], np.int64)


def _fits(reading: Reading, row: int, number: int) -> bool:
    """Tell whether a record of another kind would stand in its place: a word between those of its packet."""
    if reading.is_log:
        return number in tuple(Kind) and number > Kind.TAIL
    kind = reading.columns.kind
    before = int(kind[row - 1]) if row else Kind.TIME
    after = int(kind[row + 1]) if row + 1 < len(kind) else 0
    inside = before in (Kind.HEAD, Kind.BODY)
    if number == Kind.HEAD:
        return before in (Kind.TAIL, Kind.TIME) or (before == Kind.HEAD and after != Kind.HEAD)
    if number == Kind.BODY:
        return inside and after in (Kind.BODY, Kind.TAIL, Kind.TIME, Kind.MARK)
    if number == Kind.TAIL:
        return inside and after in (Kind.HEAD, Kind.TIME, Kind.MARK)
    if number == Kind.MARK:
        return row == len(kind) - 2
    return number == Kind.TIME and bool(reading.columns.data[row] < 1 << _CYCLE_BITS)


_WITHOUT_FLOW = (Kind.IRQ, Kind.STATE, Kind.LINK)
_MADE = (Kind.CREDIT, Kind.DESC, Kind.NOTE, Kind.IRQ, Kind.STATE, Kind.PRESSURE, Kind.LINK)
_FORM = EVENT_FLOW_LSB  # what is below is the value, of which each event has its own
_ABOVE_FLOW = EVENT_SOURCE_LSB - 1
_KIND_LSB = np.uint64(64 - EVENT_FLOW_LSB)  # above what is left of an event without its value
_SEVERAL = 3
_SLACK = 16  # link cycles between two samples beside the period
_WORD = (1 << 32) - 1


def odd_events(view: CaptureView) -> Iterator[Contradiction]:
    """Yield each log that holds an event of a form that no other event of it has, and one bit away from a usual one."""
    for device in view.devices:
        image = device.memories.get(EVENT_LOG)
        if image is not None and not image.gaps:
            yield from _odd_events(device, image)


def _odd_events(device: DeviceCapture, image: MemoryImage) -> Iterator[Contradiction]:
    slots = image.slots_in_order()
    records = image.records[slots]
    kinds = records[:, 8] & 15
    made = np.flatnonzero(np.isin(kinds, _MADE))
    data = np.ascontiguousarray(records[made, :8]).view("<u8").ravel()
    # Events that differ in their value alone are of one form.
    alike, first, count = np.unique(
        kinds[made].astype(np.uint64) << _KIND_LSB | data >> np.uint64(_FORM),
        return_index=True,
        return_counts=True,
    )
    words = [int(word) for word in data[first]]
    forms = [_form(int(key >> _KIND_LSB), word) for key, word in zip(alike, words, strict=True)]
    often: Counter[tuple[int, int, int, int]] = Counter()
    for form, times in zip(forms, count.tolist(), strict=True):
        often[form] += times
    for place in np.argsort(first).tolist():
        form, word = forms[place], words[place]
        if often[form] > 1:
            continue
        bits = [
            bit
            for bit in range(_FORM, 64)
            if often[_form(form[0], word ^ 1 << bit)] >= _SEVERAL
            and _none_makes(form, _form(form[0], word ^ 1 << bit))
        ]
        if bits:
            slot = int(slots[made[first[place]]])
            kind = Kind(form[0]).name
            why = f"slot {slot}: a {kind} event of code {form[1]} and source {form[2]}, as no other is"
            upsets = tuple(Upset(bit, (slot,)) for bit in bits)
            yield Contradiction(device.name, image.name, slot, why, upsets)
            return


def _form(kind: int, word: int) -> tuple[int, int, int, int]:
    """Return kind, code, source and what stands where the flow is of an event that has none, or above it."""
    flow = word >> (_FORM if kind in _WITHOUT_FLOW else _ABOVE_FLOW) & 0xFF
    low = flow & ((1 << EVENT_SOURCE_LSB - _FORM) - 1) if kind in _WITHOUT_FLOW else flow & 1
    return kind, word >> EVENT_CODE_LSB, word >> EVENT_SOURCE_LSB & 0xFF, low


def _none_makes(form: tuple[int, int, int, int], usual: tuple[int, int, int, int]) -> bool:
    """Tell whether a form is none at all: its code's, from another source or with a flow, or of no code.

    A code that a card has may be rare.
    """
    known = {
        Kind.STATE: range(32),
        Kind.LINK: range(1, 8),
        Kind.DESC: range(1, 8),
        Kind.CREDIT: range(1, 5),
    }
    known |= {Kind.NOTE: range(1, 3), Kind.IRQ: range(1, 4), Kind.PRESSURE: range(1, 3)}
    return form[1] == usual[1] or form[1] not in known[Kind(form[0])]


def odd_samples(view: CaptureView) -> Iterator[Contradiction]:
    """Yield each sampler of which one count goes back, or on by more than a word a cycle, and one bit would mend it."""
    for device in view.devices:
        samples, period = device.samples, view.value(device.name, "ctl.sample_period")
        pointer = view.value(device.name, "sampler.write_ptr")
        status = view.value(device.name, "sampler.status")
        if samples is None or device.sample_gaps or None in (period, pointer, status):
            continue
        slots = np.arange(pointer or 0)
        if (status or 0) & 1:
            slots = np.roll(np.arange(len(samples)), -(pointer or 0))
        most = (period or 0) * device.identity.clk_link // max(1, device.identity.clk_bus) + _SLACK
        for column, what in enumerate(("words out", "words in")):
            counts = samples[slots, column].astype(np.int64)
            steps = np.flatnonzero((np.diff(counts) & _WORD) > most)
            if not len(steps) or len(steps) > _SEVERAL:
                continue
            found = [
                Upset(bit, (int(slots[place]),))
                for place in range(max(0, int(steps[0])), min(len(counts), int(steps[-1]) + 2))
                for bit in range(32)
                if _goes_on(counts, place, bit, most)
            ]
            if found:
                why = f"slot {found[0].slots[0]}: {what} do not go on by 0 to {most}"
                yield Contradiction(device.name, "sampler", found[0].slots[0], why, tuple(found))


def _goes_on(counts: npt.NDArray[np.int64], place: int, bit: int, most: int) -> bool:
    other = counts.copy()
    other[place] ^= 1 << bit
    return bool(((np.diff(other) & _WORD) <= most).all())
