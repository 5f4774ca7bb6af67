"""Words that no CRC protects, each believed when two readings of it agree: what identifies a recording,
registers, samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import (
    BusError,
    DeviceUnknownError,
    RecorderStateError,
    TargetError,
)
from freezeframe.capture.folder import RegisterImage
from freezeframe.capture.recorder.plan import MemoryPlan
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.recorder.state import RecorderState
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import Device, Recorder, RegisterAt
from freezeframe.capture.registers.layouts import STATE_NAMES, State
from freezeframe.capture.targets.base import Target, Words

_CONFIRM_TRIES = 16
_STATE_MASK = 0x3

_READINGS = 24
_REFUSALS = 4  # error answers to one address alone, before it counts as not readable


class RecordingLost(TargetError):
    """The rest of a recording is out of reach: the target stayed away, or came back without it.

    ``reason`` is the message without the URL: it stands in the capture, and the options of a URL
    may say what a capture must not (which fault an emulated card was given).
    """

    def __init__(self, url: str, reason: str, detail: str = "") -> None:
        super().__init__(f"{url}: {reason}{detail}")
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Recording:
    """Which recording is being read: boot nonce and generation of every device, all frozen."""

    devices: Sequence[Recorder]
    states: Sequence[RecorderState]

    def confirm(self, target: Target) -> None:
        """Check that every device still holds this recording.

        What was read before is then of this recording: a nonce does not come back after a restart,
        and a generation does not after an arm.

        Raises:
            RecordingLost: a device was restarted.
            RecorderStateError: a device was armed again, or says it is not frozen.
            TargetError: the answers stay different from one reading to the next.
        """
        expected = [
            (device.identity.boot_nonce, state.generation, int(State.FROZEN))
            for device, state in zip(self.devices, self.states, strict=True)
        ]
        addresses = [
            device.address(name)
            for device in self.devices
            for name in ("id.boot_nonce", device.generation_register, "ctl.state")
        ]
        before: Words | None = None
        for _ in range(_CONFIRM_TRIES):
            words = target.read(addresses)
            now = [(int(n), int(g), int(s) & _STATE_MASK) for n, g, s in words.reshape(-1, 3)]
            if now == expected:
                return
            # One word altered on its way is no restart: a difference is believed the second time.
            if before is not None and np.array_equal(words, before):
                raise self._changed(target.url, expected, now)
            before = words
        raise TargetError(
            f"{target.url}: nonce, generation and state were different in each of "
            f"{_CONFIRM_TRIES} readings; the network alters packets"
        )

    def _changed(
        self,
        url: str,
        expected: Sequence[tuple[int, int, int]],
        there: Sequence[tuple[int, int, int]],
    ) -> TargetError:
        for device, was, now in zip(self.devices, expected, there, strict=True):
            where = f"{url}: device {device.name}"
            if now[0] != was[0]:
                return RecordingLost(
                    url,
                    f"device {device.name} was restarted (boot nonce {was[0]:#010x} before, "
                    f"{now[0]:#010x} now); its recording is gone",
                )
            if now[1] != was[1]:
                return RecorderStateError(
                    f"{where} was armed again during the pull (generation {was[1]} before, "
                    f"{now[1]} now); nothing is kept. Stop whatever arms it, and pull again"
                )
            if now[2] != was[2]:
                return RecorderStateError(
                    f"{where} is {STATE_NAMES[now[2]]} and was frozen, with the same generation; "
                    "the device contradicts itself, and nothing is kept"
                )
        raise ValueError("nothing has changed")


@dataclass(frozen=True, slots=True, eq=False)
class Agreed:
    """Words in the order asked, and which of them can be believed."""

    words: Words
    good: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class DeviceRegisters:
    """The registers of one device as two readings agreed on them; ``not_read`` names those that never
    did."""

    device: Recorder
    image: RegisterImage
    not_read: list[str]

    def end_of(self, plan: MemoryPlan) -> tuple[int, bool]:
        """Return the write pointer of a memory, and whether it wrapped.

        Raises:
            TargetError: they were not read, or lie outside the memory.
        """
        of = self.device.memory_registers
        write_ptr = self._must(f"{of}.write_ptr", plan.place)
        self._must(f"{of}.status", plan.place)
        if write_ptr > plan.slots:
            raise TargetError(
                f"{self.device.target.url}: device {self.device.name}: {plan.name} has "
                f"{plan.slots} slots and its write pointer is at {write_ptr}; the device "
                "contradicts itself"
            )
        return write_ptr, bool(self.image.field(f"{of}.status", "wrapped", plan.place))

    def sample_addresses(self) -> Words:
        """Return the addresses of the sampler slots written since arm: words out, words in, each slot;
        none without a sampler.

        Raises:
            TargetError: the registers of the sampler were not read.
            DeviceUnknownError: depth or pointer do not fit the device's own map.
        """
        if not isinstance(self.device, Device) or not self.device.identity.sampler_depth:
            return np.zeros(0, np.uint32)
        depth, room = self.device.identity.sampler_depth, names.window("samples").words // 2
        write_ptr = self._must("sampler.write_ptr")
        self._must("sampler.status")
        if depth > room or write_ptr > depth:
            raise DeviceUnknownError(
                f"{self.device.target.url}: device {self.device.name}: the sampler has {depth} "
                f"slots and writes slot {write_ptr}; the map has room for {room}; the device "
                "contradicts itself"
            )
        slots = depth if self.image.field("sampler.status", "wrapped") else write_ptr
        start = self.device.window("samples")
        return np.arange(start, start + 8 * slots, 4, dtype=np.uint32)

    def _must(self, name: str, *indices: int) -> int:
        value = self.image.value(name, *indices)
        if value is None:
            raise TargetError(
                f"{self.device.target.url}: device {self.device.name}: "
                f"{names.label(name, indices)} never read the same twice, and the memories mean "
                "nothing without it; nothing is kept"
            )
        return value


def read_registers(
    recording: Recording,
    entries: Sequence[Sequence[RegisterAt]],
    plans: Sequence[MemoryPlan],
    tally: Tally,
) -> list[DeviceRegisters]:
    """Read these registers of each device.

    Raises:
        TargetError: one without which the memories mean nothing is missing or contradicts them; or
            as `read_agreed`.
    """
    addresses = [
        np.array([device.base + entry.offset for entry in mine], dtype=np.uint32)
        for device, mine in zip(recording.devices, entries, strict=True)
    ]
    registers = []
    agreed = read_agreed(recording, addresses, tally)
    for device, mine, words in zip(recording.devices, entries, agreed, strict=True):
        read = list(zip(mine, words.words.tolist(), words.good.tolist(), strict=True))
        image = RegisterImage(
            {entry.offset: word for entry, word, good in read if good}, device.map
        )
        not_read = [entry.label for entry, _, good in read if not good]
        registers.append(DeviceRegisters(device, image, not_read))
    tally.words_total += sum(map(len, addresses))
    for one in registers:
        for plan in plans:
            if plan.device == one.device.index:
                one.end_of(plan)
        tally.words_total += len(one.sample_addresses())
    tally.words_total += sum(4 * plan.slots for plan in plans)
    return registers


def read_agreed(recording: Recording, addresses: Sequence[Words], tally: Tally) -> list[Agreed]:
    """Read words of each device that stand still, until each has read the same twice running.

    Args:
        addresses: of each device, ``(n,)`` uint32.
        tally: counts the words that are believed, and those that were read again.
    Raises:
        RecordingLost, RecorderStateError: the target stayed away, or holds another recording.
    """
    asked = np.concatenate(addresses)
    words = np.zeros(len(asked), np.uint32)
    good = np.zeros(len(asked), np.bool_)
    seen = np.zeros(len(asked), np.bool_)
    refused = np.zeros(len(asked), np.int64)
    first = recording.devices[0]
    for reading in range(_READINGS):
        missing = np.flatnonzero(~good & (refused < _REFUSALS))
        if not missing.size:
            break
        if reading >= 2:
            tally.retries += len(missing)
        for part in _parts(missing, reading):
            try:
                now = first.read_words(asked[part])
            except (RecordingLost, RecorderStateError):
                raise
            except BusError:
                # One bad address makes a transport refuse the whole list: next in smaller parts.
                refused[part] += len(part) == 1
                seen[part] = False
                continue
            except TargetError:
                seen[part] = False  # all ones that could be neither believed nor refused
                continue
            good[part] = seen[part] & (now == words[part])
            words[part] = now
            seen[part] = True
    recording.confirm(first.target)
    tally.words_done += int(good.sum())
    ends = accumulate(map(len, addresses), initial=0)
    return [Agreed(words[begin:end], good[begin:end]) for begin, end in pairwise(ends)]


def _parts(indices: npt.NDArray[np.int64], reading: int) -> list[npt.NDArray[np.int64]]:
    """Return all in one list at first, then in ever smaller lists, from the tenth on one by one."""
    if reading < 3:
        return [indices]
    if reading >= 10:
        return [indices[i : i + 1] for i in range(len(indices))]
    size = max(1, len(indices) >> 2 * (reading - 2))
    return [indices[i : i + size] for i in range(0, len(indices), size)]
