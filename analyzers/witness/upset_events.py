"""Events and samples of which no card makes such, and the one bit with which they would be as all others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness.memories import Contradiction, Upset
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.folder import DeviceCapture, MemoryImage
from freezeframe.capture.registers.layouts import (
    EVENT_CODE_LSB,
    EVENT_FLOW_LSB,
    EVENT_SOURCE_LSB,
    Kind,
)

_WITHOUT_FLOW = (Kind.IRQ, Kind.STATE, Kind.LINK)
_MADE = (Kind.CREDIT, Kind.DESC, Kind.NOTE, Kind.IRQ, Kind.STATE, Kind.PRESSURE, Kind.LINK)
_FORM = EVENT_FLOW_LSB  # what is below is the value, of which each event has its own
_ABOVE_FLOW = EVENT_SOURCE_LSB - 1
_KIND = np.uint64(64 - EVENT_FLOW_LSB)  # above what is left of an event without its value
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
        kinds[made].astype(np.uint64) << _KIND | data >> np.uint64(_FORM),
        return_index=True,
        return_counts=True,
    )
    words = [int(word) for word in data[first]]
    forms = [_form(int(key >> _KIND), word) for key, word in zip(alike, words, strict=True)]
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
