"""A software device of map 2: the registers of any elaborated card over recorded memories.

It is armed and frozen as a device is and shows its recording again at every freeze; nothing in it runs, but that a
trigger of steps looks at the recorded words at once when it is armed, and freezes it again where it fires. So that
connecting, pulling and verifying can be tried on a card that is not built yet.

Source: docs/card-map.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from freezeframe.capture.card.elaborated import ElaboratedCard
from freezeframe.capture.card.image import rom_image, trace_images
from freezeframe.capture.card.recording import CardRecording, Feature, RecordedClock, RecordedTap
from freezeframe.capture.card.registers import (
    CRC_WORDS,
    HISTOGRAM_BINS,
    card_map,
    memories_of_card,
    stride_log2,
)
from freezeframe.capture.code import code
from freezeframe.capture.errors import BusError, TargetError
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.registers.register_map import elements
from freezeframe.capture.targets._checks import checked_addresses, checked_write, closed_error
from freezeframe.capture.targets.base import Words

# A trigger of steps alone looks at recorded words, by compiled code.
_play_recording = code("freezeframe.emulator.card_trigger_words:play_recording")

SERVED = (
    Feature.ARM_KEY | Feature.CRC_TABLE | Feature.ROM | Feature.TRIGGER | Feature.COUNTERS
    | Feature.BANK | Feature.TIME_PAIRS | Feature.EVENT_LOG | Feature.HISTOGRAMS | Feature.TRIGGER_STEPS
)  # fmt: skip
"""What an image has unless it is asked for less."""

_CHUNK = 256
_POST = 64  # records after the cause, as after reset
_ARMED, _FROZEN = 1, 3
_TRIGGER = 1 << 1  # bit of the cause


def empty_recording(card: ElaboratedCard, features: Feature = SERVED) -> CardRecording:
    """Return the recording of a card on which nothing happened."""
    taps = {
        tap.name: RecordedTap(
            tap,
            tuple(np.zeros((tap.said.depth, 9), np.uint8) for _ in tap.lanes),
            0,
            wrapped=False,
            stored=0,
            offered=0,
        )
        for tap in card.recorders
    }
    log = None if card.log is None else taps.pop(card.log.name)
    clocks = [RecordedClock(clock, clock.said.hz) for clock in card.clocks]
    counters = {name: 0 for name, _ in card.counters}
    return CardRecording(
        card, taps, clocks, features, causes=1, cause_cycle=0, counters=counters, log=log
    )


class CardImage:
    """A target of one device for each recording."""

    def __init__(
        self,
        recordings: Sequence[CardRecording],
        *,
        boot_nonce: int = 0x1A2B3C4D,
        chunk: int = _CHUNK,
        texts: Mapping[int, str] | None = None,
        url: str = "image:",
    ) -> None:
        """Stand frozen at generation 1, with these recordings.

        Args:
            texts: of a device's ROM in place of its card's own, by device.
        Raises:
            ValueError: a card needs more CRC entries than the table has.
        """
        self.url = url
        self.closed = False
        stride = max(stride_log2(recording.card) for recording in recordings)
        self._devices = [
            _ImageDevice(
                recording,
                (n, len(recordings), stride),
                (boot_nonce + n) & 0xFFFFFFFF,
                chunk,
                (texts or {}).get(n, recording.card.text),
            )
            for n, recording in enumerate(recordings)
        ]
        self._stride_log2 = stride

    def device(self, index: int) -> _ImageDevice:
        """Return a device, whose words a test may change."""
        return self._devices[index]

    def read(self, addresses: Words | Sequence[int]) -> Words:
        """Return words; see ``Target.read``.

        Raises:
            BusError: an address that the map does not have, or that opens only when frozen.
        """
        asked = self._checked(addresses)
        words = np.zeros(len(asked), np.uint32)
        number = asked >> self._stride_log2
        for index in np.unique(number):
            mine = number == index
            device = self._device_at(int(index), int(asked[mine][0]))
            words[mine] = device.read(asked[mine] - (int(index) << self._stride_log2))
        return words

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write registers; see ``Target.write``.

        Raises:
            BusError: an address that cannot be written.
        """
        first, data = checked_write(address, words)
        if self.closed:
            raise closed_error(self.url)
        for n, word in enumerate(data.tolist()):
            at = first + 4 * n
            device = self._device_at(at >> self._stride_log2, at)
            device.write(at & ((1 << self._stride_log2) - 1), word)

    def close(self) -> None:
        """See ``Target.close``."""
        self.closed = True

    def _checked(
        self, addresses: Words | Sequence[int]
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        asked = checked_addresses(addresses).astype(np.int64)
        if self.closed:
            raise closed_error(self.url)
        return asked

    def _device_at(self, index: int, address: int) -> _ImageDevice:
        if index < len(self._devices):
            return self._devices[index]
        raise self._devices[0].refuse(address)


class _ImageDevice:
    """One device: its readable words in one sorted table."""

    def __init__(
        self,
        recording: CardRecording,
        place: tuple[int, int, int],
        boot_nonce: int,
        chunk: int,
        text: str,
    ) -> None:
        self.map = card_map(recording.card, recording.features)
        self._place = place
        self._chunk, self._text = chunk, text
        self._take(recording)
        self._identify(boot_nonce, chunk, self._rom_length)
        self.set("ctl.crc_done", self._entries)
        for tap in recording.recorders.values():
            self.set("tap.kinds", tap.kinds, tap.tap.number)
            self.set("tap.post", _POST, tap.tap.number)
        self.show()

    def run_again(self, recording: CardRecording) -> None:
        """Take another recording of the same card, when armed; what froze it there freezes it here, if it may."""
        kept = {at: int(self._words[np.searchsorted(self._at, at)]) for at in self._own}
        self._take(recording)
        for at, word in kept.items():
            self._words[np.searchsorted(self._at, at)] = word
        self._clear()
        causes = (recording.causes or 0) & (self.get("ctl.cause_mask") | 1)
        if causes & ~1:
            self.show()
            self.set("ctl.causes", causes)

    def _take(self, recording: CardRecording) -> None:
        """Put a recording into the words."""
        chunk, text = self._chunk, self._text
        self.recording = recording
        self._state = _FROZEN
        self._pin = False  # it was set at the arm
        memories = memories_of_card(recording.card)
        with_crc = Feature.CRC_TABLE in recording.features
        entries = sum(-(-memory.depth // chunk) for memory in memories) if with_crc else 0
        if entries > CRC_WORDS:
            raise ValueError(f"chunks of {chunk} records make {entries} CRC entries")
        parts = []
        if Feature.ROM in recording.features:
            parts.append(rom_image(text))
        taps = {memory.name: recording.recorders[memory.tap.name] for memory in memories}
        parts += trace_images(
            memories,
            {memory.name: taps[memory.name].lanes[memory.lane] for memory in memories},
            {memory.name: taps[memory.name].unread(memory.lane) for memory in memories},
            chunk,
            with_crc=with_crc,
        )
        registers = [
            self.map.offset(info.name, *indices)
            for info in self.map.registers
            if "r" in info.access
            for indices in elements(info)
        ]
        addresses = [np.array(registers, np.int64), *(part.addresses for part in parts)]
        words = [np.zeros(len(registers), np.uint32), *(part.words for part in parts)]
        closed = [np.zeros(len(registers), bool)]
        closed += [np.full(len(part.addresses), part.frozen_only) for part in parts]
        at = np.concatenate(addresses)
        order = np.argsort(at, kind="stable")
        self._at = at[order]
        self._words = np.concatenate(words)[order]
        self._frozen_only = np.concatenate(closed)[order]
        self._writable = {
            self.map.offset(info.name, *indices)
            for info in self.map.registers
            if "w" in info.access
            for indices in elements(info)
        }
        self._own = set(registers)
        self._rom_length = len(parts[0].words) if Feature.ROM in recording.features else 0
        self._entries = entries

    def set(self, name: str, value: int, *indices: int) -> None:
        """Give a register a value; 64-bit ones by their two halves."""
        self._words[np.searchsorted(self._at, self.map.offset(name, *indices))] = value

    def get(self, name: str, *indices: int) -> int:
        """Return a register's value."""
        return int(self._words[np.searchsorted(self._at, self.map.offset(name, *indices))])

    def flip(self, address: int, mask: int) -> None:
        """Change bits of a word, for tests of what a host finds."""
        self._words[np.searchsorted(self._at, address)] ^= np.uint32(mask)

    def read(self, offsets: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Words:
        """Return the words at offsets; raises as `CardImage.read`."""
        places = np.minimum(np.searchsorted(self._at, offsets), len(self._at) - 1)
        bad = self._at[places] != offsets
        if self._state != _FROZEN:
            bad = bad | self._frozen_only[places]
        if bad.any():
            raise self.refuse(int(offsets[np.flatnonzero(bad)[0]]))
        found: Words = self._words[places]
        return found

    def write(self, offset: int, word: int) -> None:
        """Write a register; an arm or freeze that is not meant for this recording does nothing."""
        if offset not in self._writable:
            raise self.refuse(offset)
        generation = self.get("id.generation")
        if offset == self.map.offset("ctl.arm"):
            nonce = self.get("id.boot_nonce") if Feature.ARM_KEY in self.recording.features else 0
            if word == (0x4152 ^ nonce & 0xFFF) << 16 | (generation + 1) & 0xFFFF:
                self.set("id.generation", (generation + 1) & 0xFFFFFFFF)
                self._clear()
                self._pin = self._has_steps() and bool(self.get("trigger.pin") & 1)
                self._play()
        elif offset == self.map.offset("ctl.freeze"):
            if word == 0x465A << 16 | generation & 0xFFFF and self._state == _ARMED:
                self.show()
                self.set("ctl.causes", 1)
        else:
            self._words[np.searchsorted(self._at, offset)] = word

    def refuse(self, offset: int) -> TargetError:
        """Count an error answer and return it."""
        self.set("id.bus_errors", (self.get("id.bus_errors") + 1) & 0xFFFFFFFF)
        self.set("id.bus_error_addr", (self._place[0] << self._place[2]) + offset)
        return BusError(f"image: no word at {offset:#010x} ({self.map.describe(offset)})")

    def show(self) -> None:
        """Stand frozen with the recording."""
        recording = self.recording
        self._state = _FROZEN
        self.set("ctl.state", _FROZEN | 1 << 5)
        self.set("ctl.causes", recording.causes or 0)
        self._set64("ctl.cause_cycle_", recording.cause_cycle or 0)
        for clock in recording.clocks:
            number = clock.clock.number
            self.set("id.clk_hz", clock.hz, number)
            if Feature.TIME_PAIRS in recording.features:
                for which, toggle in (("first", clock.first), ("last", clock.last)):
                    self.set(f"pair.{which}_number", toggle.number if toggle else 0, number)
                    self._set64(f"pair.{which}_", toggle.cycle if toggle else 0, number)
                status = (clock.first is not None) | (clock.last is not None) << 1
                self.set("pair.status", status, number)
        running = sum(1 << clock.clock.number for clock in recording.clocks if clock.alive)
        self.set("ctl.clocks_alive", running)
        self.set("ctl.clocks_closed", running)
        for tap in recording.recorders.values():
            number = tap.tap.number
            self.set("tap.write_ptr", tap.write_ptr, number)
            self.set("tap.status", tap.wrapped | tap.closed << 1, number)
            self.set("tap.stored", tap.stored or 0, number)
            self.set("tap.offered", tap.offered or 0, number)
        if Feature.COUNTERS in recording.features:
            for name, _ in recording.card.counters:
                value = recording.counters.get(name, 0)
                self._set64(f"frozen_counters.{name}.", value)
                for bank in (0, 1):
                    self._set64(f"snapshot.{name}.", value, bank)
        if Feature.BANK in recording.features:
            for name, value in recording.bank.items():
                self.set(f"bank.{name}", value)
        if Feature.HISTOGRAMS in recording.features:
            for number, name in enumerate(recording.card.said.histogram):
                bins = recording.histograms.get(name, (0,) * HISTOGRAM_BINS)
                for n, value in enumerate(bins):
                    self.set("histogram", value, number, n)

    def pin(self) -> None:
        """Let the outer pin have the edge that it is asked for, where it was asked for when the card was armed."""
        if self._state == _ARMED and self._pin and self.get("trigger.pin") & 1:
            self._fire(0b010)

    def _play(self) -> None:
        """Let a trigger of steps look at the recorded words."""
        if not self._has_steps():
            return
        machine = _play_recording(self.recording, self.get)
        self.set("trigger.fired", 0)
        if machine is None:
            return
        for number, (word, cycle) in enumerate(machine.reached):
            kept = 1 << 31 if word is None else word.tap << 8 | word.terms
            self.set("trigger.step.word", kept, number)
            self.set("trigger.step.cycle", cycle & 0xFFFFFFFF, number)
        self.set("trigger.fired", len(machine.reached) << 4)
        if machine.fired is not None:
            self._fire(0b001)
            self._set64("ctl.cause_cycle_", machine.fired + 2)

    def _fire(self, by: int) -> None:
        if self.get("ctl.cause_mask") & _TRIGGER:
            self.set("trigger.fired", self.get("trigger.fired") | by)
            self.show()
            self.set("ctl.causes", _TRIGGER)

    def _has_steps(self) -> bool:
        return self.map.has("trigger.shape")

    def _clear(self) -> None:
        self._state = _ARMED
        self.set("ctl.state", _ARMED | 1 << 5)
        self.set("ctl.causes", 0)
        self._set64("ctl.cause_cycle_", 0)
        self.set("ctl.clocks_closed", 0)
        for tap in self.recording.recorders.values():
            for name in ("write_ptr", "status", "stored", "offered"):
                self.set(f"tap.{name}", 0, tap.tap.number)

    def _set64(self, name: str, value: int, *indices: int) -> None:
        self.set(f"{name}lo", value & 0xFFFFFFFF, *indices)
        self.set(f"{name}hi", value >> 32, *indices)

    def _identify(self, boot_nonce: int, chunk: int, rom_length: int) -> None:
        card, recording = self.recording.card, self.recording
        index, count, stride = self._place
        words = {
            "magic": MAGIC,
            "format": 2 << 16,
            "card_hash_lo": card.hash & 0xFFFFFFFF,
            "card_hash_hi": card.hash >> 32,
            "boot_nonce": boot_nonce,
            "devices": count | index << 8 | stride << 16 | (index == 0) << 24,
            "features": int(recording.features),
            "generation": 1,
            "card_rom": rom_length,
            "shape": len(card.clocks) | len(card.recorders) << 8 | card.memories << 16,
            "chunk": chunk,
            "max_burst": 255,
            "sync_period": recording.sync_period,
            "post_drain": 1024,
            "cross_latency": 3,
            "counters": len(card.counters) | len(card.said.bank) << 8 | len(card.causes) << 16,
        }
        for name, word in words.items():
            self.set(f"id.{name}", word)
        if self._has_steps():
            built = card.said.trigger
            shape = built.terms | built.steps << 4 | built.count_bits << 8 | built.timer_bits << 16
            self.set("trigger.shape", shape | built.pin << 24)
            for number in range(built.steps):
                self.set("trigger.step.when", 0xAAAA, number)
        for cause in card.causes:
            if cause.said is None or cause.said.enabled:
                self.set("ctl.cause_mask", self.get("ctl.cause_mask") | 1 << cause.bit)
