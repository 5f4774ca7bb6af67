"""What a capture holds of a device that is described by a card file, and the recording that analyses take."""

from __future__ import annotations

from dataclasses import dataclass, field

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.card.identity import CardIdentity
from freezeframe.capture.card.recording import (
    CardRecording,
    Feature,
    RecordedClock,
    RecordedTap,
    Toggle,
)
from freezeframe.capture.card.registers import HISTOGRAM_BINS, CardMemory, memories_of_card
from freezeframe.capture.card.trigger_steps import (
    StepTrigger,
    fired_of,
    one_term_of,
    trigger_of,
)
from freezeframe.capture.folder.content import MemoryImage, RegisterImage
from freezeframe.capture.registers.names import device_name


@dataclass(frozen=True, slots=True, eq=False)
class CardCapture:
    """One device of map 2.

    Attributes:
        index: place in the capture, from 0.
        base: byte address of the device from the start of its target.
        found: its card, with the text that has the hash of the device.
        registers: as they stood at the freeze, by the names of the card's map.
        memories: by name (``rx_in``, ``wide.3``), in the order of the card.
        not_read: names of registers that never read the same twice.
    """

    index: int
    base: int
    identity: CardIdentity
    found: FoundCard
    registers: RegisterImage
    memories: dict[str, MemoryImage]
    not_read: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the device: "A" for the first."""
        return device_name(self.index)

    @property
    def card(self) -> ElaboratedCard:
        """The card of the device."""
        return self.found.card

    def recording(self) -> CardRecording:
        """Return the recording by the names of the card file."""
        registers, card = self.registers, self.card
        of_tap: dict[str, list[CardMemory]] = {}
        for memory in memories_of_card(card):
            of_tap.setdefault(memory.tap.name, []).append(memory)
        taps = {}
        for tap in card.recorders:
            images = [self.memories.get(memory.name) for memory in of_tap[tap.name]]
            lanes = [image for image in images if image is not None]
            if len(lanes) < len(images):
                continue
            taps[tap.name] = RecordedTap(
                tap,
                tuple(image.records for image in lanes),
                lanes[0].write_ptr,
                lanes[0].wrapped,
                closed=bool(registers.field("tap.status", "closed", tap.number)),
                stored=registers.value("tap.stored", tap.number),
                offered=registers.value("tap.offered", tap.number),
                gaps=tuple(
                    tuple(range(gap.first_slot, gap.first_slot + gap.slots) for gap in image.gaps)
                    for image in lanes
                ),
                kinds=_or_all(registers.value("tap.kinds", tap.number)),
            )
        log = None if card.log is None else taps.pop(card.log.name, None)
        bank = {name: registers.known(f"bank.{name}") for name in card.said.bank}
        return CardRecording(
            card,
            taps,
            [recorded_clock(self, number) for number in range(len(card.clocks))],
            self.identity.built,
            device=self.name,
            causes=registers.value("ctl.causes"),
            cause_cycle=registers.value64("ctl.cause_cycle_"),
            sync_period=self.identity.sync_period,
            counters=registers.counters(),
            bank={name: value for name, value in bank.items() if value is not None},
            histograms=self._histograms(),
            not_read=(*self.missing(), *self.unchecked()),
            log=log,
            trigger=self._trigger(),
            fired=fired_of(registers.known, card) if registers.map.has("trigger.fired") else None,
        )

    def unchecked(self) -> list[str]:
        """Return one line for each thing that was read and that nothing of the device vouches for."""
        if Feature.CRC_TABLE in self.identity.built:
            return []
        return [
            f"{self.name}: was built without a CRC table: two readings of each memory agreed, and whether the "
            "device reads them as it recorded them is not known"
        ]

    def missing(self) -> list[str]:
        """Return one line for each thing that the device has and the capture has not."""
        lines = []
        for name, memory in self.memories.items():
            for gap in memory.gaps:
                last = gap.first_slot + gap.slots - 1
                lines.append(
                    f"{self.name}.{name}: slots {gap.first_slot}..{last} ({gap.slots}) could not be "
                    f"read: {gap.reason}"
                )
        if self.not_read:
            shown = ", ".join(self.not_read[:8]) + (", ..." if len(self.not_read) > 8 else "")
            lines.append(f"{self.name}: {len(self.not_read)} registers could not be read: {shown}")
        alive = self.registers.value("ctl.clocks_alive")
        for clock in self.card.clocks:
            if alive is not None and not alive >> clock.number & 1:
                lines.append(
                    f"{self.name}: clock {clock.name} stood still, so its taps recorded nothing after it did"
                )
        return lines

    def _trigger(self) -> StepTrigger | None:
        if Feature.TRIGGER not in self.identity.built:
            return None
        steps = self.registers.map.has("trigger.shape")
        return (trigger_of if steps else one_term_of)(self.registers.known, self.card)

    def _histograms(self) -> dict[str, tuple[int, ...]]:
        found = {}
        for number, name in enumerate(self.card.said.histogram):
            bins = [self.registers.known("histogram", number, n) for n in range(HISTOGRAM_BINS)]
            whole = tuple(value for value in bins if value is not None)
            if len(whole) == HISTOGRAM_BINS:
                found[name] = whole
        return found


def _or_all(kinds: int | None) -> int:
    return 0xFFFF if kinds is None else kinds & 0xFFFF


def recorded_clock(device: CardCapture, number: int) -> RecordedClock:
    """Return what a capture tells of one clock."""
    registers, clock = device.registers, device.card.clocks[number]
    alive = registers.value("ctl.clocks_alive")
    toggles: list[Toggle | None] = []
    for bit, which in enumerate(("first", "last")):
        status = registers.known("pair.status", number)
        tick = registers.known(f"pair.{which}_number", number)
        low = registers.known(f"pair.{which}_lo", number)
        high = registers.known(f"pair.{which}_hi", number)
        stands = None not in (status, tick, low, high) and bool((status or 0) >> bit & 1)
        toggles.append(Toggle(tick or 0, (high or 0) << 32 | (low or 0)) if stands else None)
    return RecordedClock(
        clock,
        registers.value("id.clk_hz", number) or clock.said.hz,
        toggles[0],
        toggles[1],
        alive=alive is None or bool(alive >> number & 1),
    )
