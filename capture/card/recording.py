"""The recording of one card as any analysis takes it: plain values by the names of its card file.

Whoever reads a capture folder, a device or a generator makes it; nothing here knows how it was read.

Source: docs/card-map.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.elaborated import ElaboratedCard, ElaboratedClock, ElaboratedTap
from freezeframe.capture.card.trigger_steps import FiredState, StepTrigger

RECORD_B = 9

Records = npt.NDArray[np.uint8]


class Feature(IntFlag):
    """What a build has: bits of ``id.features``. A register of a part that was not built is never evidence."""

    ARM_KEY = 1 << 0
    CRC_TABLE = 1 << 1
    ROM = 1 << 2
    TRIGGER = 1 << 3
    COUNTERS = 1 << 4
    BANK = 1 << 5
    EVENT_LOG = 1 << 6
    HISTOGRAMS = 1 << 7
    HOLD = 1 << 8
    TIME_PAIRS = 1 << 9
    TRIGGER_STEPS = 1 << 10


def built_features(card: ElaboratedCard) -> Feature:
    """Return what a device has that is built from a card."""
    said = card.said
    return (
        Feature.ARM_KEY
        | Feature.CRC_TABLE
        | Feature.TRIGGER
        | Feature.HOLD
        | Feature.TIME_PAIRS
        | (Feature.ROM if said.card.rom else Feature(0))
        | (Feature.COUNTERS if said.counter else Feature(0))
        | (Feature.BANK if said.bank else Feature(0))
        | (Feature.EVENT_LOG if card.log else Feature(0))
        | (Feature.HISTOGRAMS if said.histogram else Feature(0))
        | (Feature.TRIGGER_STEPS if said.trigger.steps else Feature(0))
    )


class Toggle(NamedTuple):
    """A toggle of the time line as a clock domain saw it: its number, and the domain's own cycle."""

    number: int
    cycle: int


@dataclass(frozen=True, slots=True)
class RecordedClock:
    """What a capture tells of a clock domain.

    Attributes:
        hz: nominal, as the device states it.
        first, last: the first toggle after the arm and the last before the memories closed, where there was one.
        alive: it ran; a clock that stood still has memories that nobody waited for.
    """

    clock: ElaboratedClock
    hz: int
    first: Toggle | None = None
    last: Toggle | None = None
    alive: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class RecordedTap:
    """The memories of one tap as they were read.

    Attributes:
        lanes: ``(depth, 9)`` uint8 each, in slot order; a slot that was not read is nine zero bytes.
        write_ptr: slot the next record would have taken.
        wrapped: every slot has been written since the arm.
        closed: it stands still; one that is not ends anywhere.
        stored, offered: records in all since the arm, and beats that were let through; None: not read.
        gaps: for each lane the slots that were not read, ascending.
        kinds: which kinds of record were let through; where one of a word's is missing, no packet is whole.
    """

    tap: ElaboratedTap
    lanes: tuple[Records, ...]
    write_ptr: int
    wrapped: bool
    closed: bool = True
    stored: int | None = None
    offered: int | None = None
    gaps: tuple[tuple[range, ...], ...] = ()
    kinds: int = 0xFFFF

    def __post_init__(self) -> None:
        """Check the shape.

        Raises:
            ValueError: lanes of other number or size than the tap has, or a pointer or gap outside them.
        """
        name = self.tap.name
        if len(self.lanes) != len(self.tap.lanes):
            raise ValueError(
                f"{name}: {len(self.lanes)} memories; the card has {len(self.tap.lanes)}"
            )
        shape = (len(self.lanes[0]), RECORD_B)
        for records in self.lanes:
            if records.shape != shape or records.dtype != np.uint8:
                raise ValueError(
                    f"{name}: a memory of shape {records.shape} of {records.dtype} beside one of {shape}"
                )
        if not 0 <= self.write_ptr <= shape[0]:
            raise ValueError(f"{name}: write_ptr {self.write_ptr} is outside 0..{shape[0]}")
        if self.gaps and len(self.gaps) != len(self.lanes):
            raise ValueError(f"{name}: gaps of {len(self.gaps)} memories; it has {len(self.lanes)}")
        for gap in (gap for lane in self.gaps for gap in lane):
            if not 0 <= gap.start < gap.stop <= shape[0]:
                raise ValueError(
                    f"{name}: a gap of slots {gap.start}..{gap.stop - 1} is outside it"
                )

    def slots_in_order(self) -> npt.NDArray[np.int64]:
        """Return the valid slots, oldest first, by ``write_ptr`` and ``wrapped`` alone."""
        slots = np.arange(len(self.lanes[0]), dtype=np.int64)
        newest = slots[: self.write_ptr]
        return np.concatenate([slots[self.write_ptr :], newest]) if self.wrapped else newest

    def unread(self, lane: int) -> npt.NDArray[np.bool_]:
        """Return ``(depth,)`` bool: which slots of a lane were not read."""
        mask = np.zeros(len(self.lanes[0]), np.bool_)
        for gap in self.gaps[lane] if self.gaps else ():
            mask[gap.start : gap.stop] = True
        return mask


@dataclass(frozen=True, slots=True, eq=False)
class CardRecording:
    """One card's recording.

    Attributes:
        taps: by name; without those that were not read.
        clocks: in the order of the card.
        features: what the build has.
        device: its name in the capture, "A" for the first.
        causes, cause_cycle: mask and bus cycle of the bus domain's first cause; None: not read.
        sync_period: bus cycles between two toggles of the time line.
        counters: at the freeze, by name; without those that were not read.
        bank: registers of the bank at the freeze, by name; as counters.
        histograms: by name, 16 bins each.
        log: the event log, whose records are not those of a tap; None: the card has none, or it was not read.
        trigger: as it stood in the device at the freeze; of a build without steps one term; None: not read.
        fired: how far it had come, of a build with steps; None: it keeps nothing of that, or it was not read.
        not_read: a line for each thing that the device has and the capture has not, or that nothing vouches for.
    """

    card: ElaboratedCard
    taps: Mapping[str, RecordedTap]
    clocks: Sequence[RecordedClock]
    features: Feature
    device: str = "A"
    causes: int | None = None
    cause_cycle: int | None = None
    sync_period: int = 4096
    counters: Mapping[str, int] = field(default_factory=dict)
    bank: Mapping[str, int] = field(default_factory=dict)
    histograms: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    not_read: tuple[str, ...] = ()
    log: RecordedTap | None = None
    trigger: StepTrigger | None = None
    fired: FiredState | None = None

    @property
    def recorders(self) -> Mapping[str, RecordedTap]:
        """Return the memories by name of their tap, the event log's behind those of the taps."""
        return self.taps if self.log is None else {**self.taps, self.log.tap.name: self.log}

    @property
    def cause_names(self) -> tuple[str, ...]:
        """Return the names of the causes that froze the card."""
        mask = self.causes or 0
        return tuple(cause.name for cause in self.card.causes if mask >> cause.bit & 1)
