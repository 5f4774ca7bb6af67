"""The recorder itself goes wrong: trace memories, time stamps, event log, samples. The card is sound.

Upsets of a memory's cells are made when the recorder freezes, in what it holds then: when a cell flipped makes no
difference to what is read. Records that are dropped or doubled go wrong as they are written.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from freezeframe.capture.registers.layouts import Kind, Memory
from freezeframe.emulator.bank import Bank
from freezeframe.emulator.faults.base import A, B
from freezeframe.emulator.memory import Kinds, Words
from freezeframe.emulator.memory import Memory as TraceMemory
from freezeframe.emulator.open_world.base import Unlisted

Image = npt.NDArray[np.uint8]
Upsetting = Callable[["Upset", Image, int], dict[str, object]]

_WORDS_TAPS = tuple(Memory)[:4]
_CLOSING = (Kind.TIME, Kind.MARK, Kind.LOSS)
_BITS = 64  # of a record's data; four of its kind and four of its time follow
_RECORD_BITS = 72


class AtFreeze(Unlisted):
    """Something that is wrong in what a card shows once it is frozen, and only there; the host freezes."""

    no_begin = "it is wrong in what a card shows, whenever it freezes"

    def prepare(self) -> None:
        self.card = self.draw.choice((A, B))

    def started(self) -> None:
        self.evident_ps = self.not_before_ps

    def latches(self, bank: Bank) -> None:
        if not self.done:
            self.falsify(bank)

    def falsify(self, bank: Bank) -> None:
        """Make what the card shows wrong, and tell it by `shown`; one that cannot waits for the next freeze."""

    def shown(self, tap: str | None = None, **detail: object) -> None:
        """Strike at the moment that was drawn."""
        self.strike(tap, t_ps=self.not_before_ps, **detail)


class Upset(AtFreeze):
    """A trace memory, or the event log, holds something else than was written."""

    def __init__(self, name: str, how: Upsetting, log: bool = False) -> None:
        super().__init__(name)
        self._how = how
        self._log = log

    def prepare(self) -> None:
        super().prepare()
        self._memory = Memory.EVENT_LOG if self._log else self.draw.choice(_WORDS_TAPS)

    def falsify(self, bank: Bank) -> None:
        image = bank.images[self._memory]
        recorder = self.nic.recording.memories[self._memory]
        if image is None or recorder is None or not recorder.memory.stored:
            return
        detail = self._how(self, image, min(recorder.memory.stored, len(image)))
        self.shown(Memory(self._memory).name.lower(), **detail)


def _slot(fault: Upset, image: Image, held: int, kinds: tuple[int, ...] = ()) -> int:
    """Return a slot that was written, of a record of one of some kinds if there is one."""
    fitting = np.flatnonzero(np.isin(image[:held, 8] & 15, kinds)) if kinds else np.empty(0)
    return int(fault.draw.choice(fitting.tolist())) if len(fitting) else fault.draw.randrange(held)


def _flip(image: Image, slot: int, bit: int) -> dict[str, object]:
    image[slot, bit // 8] ^= 1 << bit % 8
    return {"slot": slot, "bit": bit}


def data_bit(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One bit of one word."""
    kinds = (Kind.HEAD, Kind.BODY, Kind.TAIL)
    slot, bit = _slot(fault, image, held, kinds), fault.draw.randrange(_BITS)
    return _flip(image, slot, bit)


def two_bits(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """Two bits of one word beside each other."""
    slot, bit = _slot(fault, image, held, (Kind.BODY,)), fault.draw.randrange(_BITS - 1)
    _flip(image, slot, bit + 1)
    return _flip(image, slot, bit)


def column_bits(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """The same bit of eight records one after the other."""
    slot, bit = fault.draw.randrange(max(1, held - 8)), fault.draw.randrange(_BITS)
    for place in range(slot, min(slot + 8, held)):
        _flip(image, place, bit)
    return {"slot": slot, "bit": bit, "records": 8}


def kind_bit(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One bit of one record's kind."""
    slot, bit = _slot(fault, image, held), _BITS + fault.draw.randrange(4)
    return _flip(image, slot, bit)


def time_bit(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One bit of one record's distance in time to the one before."""
    slot, bit = _slot(fault, image, held), _RECORD_BITS - 4 + fault.draw.randrange(4)
    return _flip(image, slot, bit)


def time_word(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One bit of the cycle in a record that states the time."""
    slot, bit = _slot(fault, image, held, (Kind.TIME,)), fault.draw.randrange(20)
    return _flip(image, slot, bit)


def data_stuck(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One bit of the data is the same in every record."""
    bit, value = fault.draw.randrange(_BITS), fault.draw.randrange(2)
    mask = np.uint8(1 << bit % 8)
    column = image[:held, bit // 8]
    image[:held, bit // 8] = column | mask if value else column & ~mask
    return {"bit": bit, "value": value}


def address_stuck(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One address line is stuck: two slots are one, and hold what was written last."""
    line = 1 << fault.draw.randrange(2, 6)
    low = np.flatnonzero((np.arange(len(image)) & line) == 0)
    stored = fault.nic.recording.memories[fault._memory].memory.stored  # type: ignore[union-attr]
    age = (stored - 1 - np.arange(len(image))) % len(image)  # 0: the newest
    newer = np.where(age[low] < age[low + line], low, low + line)
    if held < len(image):
        newer = np.where(low + line < held, low + line, low)
    image[low] = image[low + line] = image[newer]
    return {"line": line}


def slot_stale(fault: Upset, image: Image, held: int) -> dict[str, object]:
    """One record was not written: its slot holds what stood there a lap ago."""
    slot = _slot(fault, image, held, (Kind.BODY,))
    image[slot] = image[(slot + held // 2) % held] if held == len(image) else 0
    return {"slot": slot}


class Written(Unlisted):
    """One record is dropped, or written twice, by the recorder of one tap or the event log."""

    slow = (1, 4)

    def __init__(self, name: str, doubled: bool, log: bool = False) -> None:
        super().__init__(name)
        self.doubled = doubled
        self._log = log

    def prepare(self) -> None:
        self.card = self.draw.choice((A, B))
        self._memory = Memory.EVENT_LOG if self._log else self.draw.choice(_WORDS_TAPS)

    def started(self) -> None:
        recorder = self.nic.recording.memories[self._memory]
        if recorder is None:
            return
        faulty = _Faulty(recorder.memory.depth, self)
        recorder.memory = faulty

    def struck(self, record: int) -> None:
        """Note which of all records that were ever stored it was."""
        self.strike(Memory(self._memory).name.lower(), record=record)


class _Faulty(TraceMemory):
    """A memory whose write goes wrong once."""

    sound = False

    def __init__(self, depth: int, fault: Written) -> None:
        super().__init__(depth)
        self._fault = fault

    def put_run(self, dt: int, kinds: Kinds, data: Words) -> None:
        fault, count = self._fault, len(data)
        if count < 4 or not fault.ready():
            super().put_run(dt, kinds, data)
            return
        at = fault.draw.randrange(1, count - 1)
        fault.struck(self.stored + at)
        super().put_run(dt, kinds[:at], data[:at])
        behind = at if fault.doubled else at + 1
        if fault.doubled:
            super().put_run(1, kinds[at : at + 1], data[at : at + 1])
        super().put_run(1, kinds[behind:], data[behind:])

    def put(self, records: list[tuple[int, int, int]]) -> None:
        fault = self._fault
        place = next((n for n, r in enumerate(records) if r[1] not in _CLOSING), None)
        if place is None or not fault.ready():
            super().put(records)
            return
        fault.struck(self.stored + place)
        super().put(records[: place + fault.doubled] + records[place + (not fault.doubled) :])


class SampleUpset(AtFreeze):
    """One bit of one sample of the throughput sampler."""

    def falsify(self, bank: Bank) -> None:
        held = min(self.nic.sampler.stored, len(bank.samples))
        if not held:
            return
        slot, column, bit = (self.draw.randrange(most) for most in (held, 2, 20))
        bank.samples[slot, column] ^= np.uint32(1 << bit)
        self.shown(register="sampler", slot=slot, bit=bit)
