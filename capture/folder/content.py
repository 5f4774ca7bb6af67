"""What a capture holds of each device: the image of its registers, its trace memories, its throughput samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.card.map_1 import card_of_map
from freezeframe.capture.card.roles import Roles, roles_of
from freezeframe.capture.crystal import Crystal
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder.records import RECORD_B, Records
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.layout import FieldInfo
from freezeframe.capture.registers.names import MAP_1, device_name
from freezeframe.capture.registers.register_map import RegisterMap

_PAIR_B = 8


def pack_register(name: str, **fields: int) -> int:
    """Return a register's word with these fields; fields not given are 0.

    Raises:
        ValueError: no such register or field, or a value does not fit its field.
    """
    word = 0
    for field_name, value in fields.items():
        field = _field(name, field_name)
        if not 0 <= value < 1 << field.width:
            raise ValueError(
                f"{name}.{field_name}: {value} does not fit {field.width} bits "
                f"(0..{(1 << field.width) - 1})"
            )
        word |= value << field.lsb
    return word


def _field(name: str, field_name: str) -> FieldInfo:
    for info in names.register(name).fields:
        if info.name == field_name:
            return info
    raise ValueError(f"register {name} has no field {field_name!r}")


class RegisterImage:
    """Words by byte address from the start of the device; what was not read is not there.

    An image never changes after it was made.
    """

    __slots__ = ("_words", "map")

    def __init__(self, words: Mapping[int, int], map: RegisterMap = MAP_1) -> None:
        """Take words by address.

        Args:
            map: whose names the words are found by.
        Raises:
            ValueError: an address is not a multiple of 4 or a word does not fit 32 bits.
        """
        for address, word in words.items():
            if address < 0 or address % 4 or address >> 32:
                raise ValueError(f"register address {address:#x} is not a 32-bit multiple of 4")
            if not 0 <= word < 1 << 32:
                raise ValueError(f"register {address:#08x}: {word} does not fit 32 bits")
        self.map = map
        self._words = {int(address): int(words[address]) for address in sorted(words)}

    @classmethod
    def from_values(cls, values: Mapping[str | tuple[str | int, ...], int]) -> RegisterImage:
        """Make an image of map 1 by names: ``{"id.magic": 1, ("memory.write_ptr", 4): 17}``."""
        words: dict[int, int] = {}
        for key, value in values.items():
            name, *indices = (key,) if isinstance(key, str) else key
            words[MAP_1.offset(str(name), *(int(i) for i in indices))] = value
        return cls(words)

    @classmethod
    def from_bytes(cls, data: bytes, where: str, map: RegisterMap = MAP_1) -> RegisterImage:
        """Read ``(address, value)`` pairs, little-endian 32 bit, addresses ascending.

        Args:
            data: the content of a ``raw/DEV.registers.bin``.
            where: the file's name, for messages.
        Raises:
            CaptureFormatError: cut in a pair, or addresses that do not ascend.
        """
        if len(data) % _PAIR_B:
            raise CaptureFormatError(
                f"{where}: {len(data)} B is not a multiple of {_PAIR_B} B (address and value); "
                "the file was cut"
            )
        pairs = np.frombuffer(data, "<u4").reshape(-1, 2)
        addresses = pairs[:, 0].astype(np.int64)
        wrong = np.flatnonzero(np.diff(addresses) <= 0)
        if wrong.size:
            raise CaptureFormatError(
                f"{where}: pair {int(wrong[0]) + 1}: address {int(addresses[wrong[0] + 1]):#x} "
                f"does not follow {int(addresses[wrong[0]]):#x}; addresses must ascend"
            )
        odd = np.flatnonzero(addresses % 4)
        if odd.size:
            raise CaptureFormatError(
                f"{where}: register address {int(addresses[odd[0]]):#x} is not a 32-bit multiple of 4"
            )
        image = cls({}, map)
        image._words = dict(pairs.tolist())  # in order, and of 32 bits each
        return image

    def to_bytes(self) -> bytes:
        """Return the pairs as ``from_bytes`` reads them."""
        return np.array(list(self._words.items()), "<u4").tobytes()

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, address: int) -> bool:
        return address in self._words

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Iterate over ``(address, value)``, addresses ascending."""
        return iter(self._words.items())

    def word(self, address: int) -> int | None:
        """Return the word at a byte address from the start of the device; None when not read."""
        return self._words.get(address)

    def value(self, name: str, *indices: int) -> int | None:
        """Return a register's value; None when it was not read.

        Raises:
            ValueError: the map has no such register, or the indices do not fit.
        """
        return self._words.get(self.map.offset(name, *indices))

    def known(self, name: str, *indices: int) -> int | None:
        """Return a register's value; None also where the map has no such register: its part was not built."""
        return self.value(name, *indices) if self.map.has(name) else None

    def flipped(self, name: str, *indices: int, bit: int) -> RegisterImage:
        """Return the image with one bit of a register the other way.

        Raises:
            KeyError: the register was not read. ValueError: as `value`.
        """
        address = self.map.offset(name, *indices)
        return RegisterImage({**self._words, address: self._words[address] ^ 1 << bit}, self.map)

    def field(self, name: str, field: str, *indices: int) -> int | None:
        """Return one field of a register; None when the register was not read."""
        info = self.map.field(name, field)
        word = self.value(name, *indices)
        return None if word is None else info.of(word)

    def value64(self, name: str, *indices: int) -> int | None:
        """Return a 64-bit value kept in two registers; None when either half was not read.

        Args:
            name: what stands before ``lo`` and ``hi``, with the joint: ``ctl.cause_cycle_`` or
                ``frozen_counters.drops.``.
        """
        low = self.value(f"{name}lo", *indices)
        high = self.value(f"{name}hi", *indices)
        return None if low is None or high is None else high << 32 | low

    def counters(self) -> dict[str, int]:
        """Return the counters as they stood at freeze; those that were not read are left out."""
        values = {name: self.value64(f"frozen_counters.{name}.") for name in self.map.counters}
        return {name: value for name, value in values.items() if value is not None}


CHUNK_RECORDS = 256
"""Records under one entry of the CRC table, unless the device's identity says otherwise."""

Samples = npt.NDArray[np.uint32]


class Gap(NamedTuple):
    """Slots ``[first_slot, first_slot + slots)`` that could not be read, and why."""

    first_slot: int
    slots: int
    reason: str


@dataclass(frozen=True, slots=True)
class HostTrace:
    """A trace of the computer a card is in: text of trace-cmd, of ftrace or of dmesg, unaltered.

    ``name`` is that of the file it came from; ``device`` the card whose accesses are seen in it.
    """

    name: str
    device: str
    text: bytes


@dataclass(frozen=True, slots=True, eq=False)
class MemoryImage:
    """One trace memory as it was read.

    Attributes:
        records: ``(n, 9)`` uint8 in slot order, the whole memory; slots of a gap are zero bytes.
        write_ptr: slot the next record would have taken.
        wrapped: every slot has been written since arm.
        gaps: what could not be read, ascending, not overlapping.
    """

    name: str
    records: Records
    write_ptr: int
    wrapped: bool
    gaps: list[Gap] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Check the shape.

        Raises:
            ValueError: records not ``(n, 9)``, or pointer or gaps outside the memory.
        """
        if self.records.ndim != 2 or self.records.shape[1] != RECORD_B:
            raise ValueError(f"{self.name}: records have shape {self.records.shape}, not (n, 9)")
        slots = len(self.records)
        # A memory that fills exactly before the freeze may leave its pointer at the end or at 0.
        if not 0 <= self.write_ptr <= slots:
            raise ValueError(f"{self.name}: write_ptr {self.write_ptr} is outside 0..{slots}")
        end = 0
        for gap in self.gaps:
            if gap.first_slot < end or gap.slots < 1 or gap.first_slot + gap.slots > slots:
                raise ValueError(
                    f"{self.name}: gap of {gap.slots} slots at {gap.first_slot} overlaps another "
                    f"or lies outside the {slots} slots"
                )
            end = gap.first_slot + gap.slots
            if self.records[gap.first_slot : end].any():
                raise ValueError(
                    f"{self.name}: slots {gap.first_slot}..{end - 1} are stated as not read, "
                    "and hold data"
                )

    def slots_in_order(self) -> npt.NDArray[np.int64]:
        """Return the valid slots, oldest first, by ``write_ptr`` and ``wrapped`` alone."""
        filled = np.arange(self.write_ptr, dtype=np.int64)
        if not self.wrapped:
            return filled
        return np.concatenate(
            [np.arange(self.write_ptr, len(self.records), dtype=np.int64), filled]
        )

    def read_mask(self) -> npt.NDArray[np.bool_]:
        """Return ``(n,)`` bool: True for every slot that was read."""
        mask = np.ones(len(self.records), np.bool_)
        for gap in self.gaps:
            mask[gap.first_slot : gap.first_slot + gap.slots] = False
        return mask

    def verified_chunks(self, chunk_records: int) -> tuple[int, int]:
        """Return the chunks without a gap, and all chunks, of ``chunk_records`` slots each."""
        starts = np.arange(0, len(self.records), chunk_records)
        if not starts.size:
            return 0, 0
        whole = np.logical_and.reduceat(self.read_mask(), starts)
        return int(whole.sum()), len(starts)


@dataclass(frozen=True, slots=True, eq=False)
class DeviceCapture:
    """One device of a capture.

    Attributes:
        index: place in the capture; in a capture of one target also that which the device states.
        name: "A", "B", ... by index.
        base: byte address of the device from the start of its target.
        memories: by name, in the order of the map; without those the device does not have.
        samples: ``(n, 2)`` uint32, words out and words in, slot order; None without a sampler.
            Where the newest stands is in the registers ``sampler.*``.
        sample_gaps: slots of the sampler that could not be read (zeros there).
    """

    index: int
    base: int
    identity: Identity
    registers: RegisterImage
    memories: dict[str, MemoryImage]
    samples: Samples | None = None
    sample_gaps: list[Gap] = field(default_factory=list)
    not_read: list[str] = field(default_factory=list)
    """Names of registers that should be in the image and could not be read."""
    target: int = 0
    """Number of the target it was pulled from; several in one capture have a time line each."""
    found: FoundCard = field(default_factory=card_of_map)
    """Its card, which names memories, counters and causes; the one that ships, unless another was given."""
    crystals: Mapping[str, Crystal] = field(default_factory=dict)
    """Its clocks by that of the time master, where this card was qualified; no part of the capture."""

    @property
    def name(self) -> str:
        """The name of the device: "A" for the first."""
        return device_name(self.index)

    @property
    def roles(self) -> Roles:
        """The parts of the card by what they do."""
        return roles_of(self.found.card)

    def counter(self, name: str) -> int | None:
        """Return a counter as it stood at the freeze; None where it was not read, or the card has none (empty)."""
        return self.registers.value64(f"frozen_counters.{name}.") if name else None


def looped_back(devices: Iterable[DeviceCapture]) -> bool:
    """Return whether every card heard its own link: one in loop-back leaves its peer nothing else to hear."""
    return any(device.registers.field("provoke.link", "loopback") for device in devices)


def peers_of(devices: Sequence[DeviceCapture]) -> dict[str, str]:
    """Return the other end of each device's link, by name; without those of which it is not known.

    A target of two devices is a pair, also where only one was captured; so are two targets of one device
    each: they are pulled into one capture because they are linked. A card in loop-back is its own peer.
    """
    if looped_back(devices):
        return {device.name: device.name for device in devices}
    alone = [device for device in devices if device.identity.devices_count == 1]
    if len(devices) == len(alone) == 2 and alone[0].target != alone[1].target:
        return {alone[0].name: alone[1].name, alone[1].name: alone[0].name}
    found = {}
    for device in devices:
        if device.identity.devices_count == 2:
            # In the capture the two stand side by side, in the order in which they count themselves.
            other = device.index + 1 - 2 * device.identity.devices_index
            found[device.name] = device_name(other)
    return found
