"""The devices of a target: named registers, and when a word of all ones is believed.

Source: docs/formats.md, section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.card.map_1 import card_of_map, map_1_card_of_file, register_map_of
from freezeframe.capture.card.roles import Roles, roles_of
from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import (
    BusError,
    DeviceUnknownError,
    InputError,
    RegisterError,
    TargetError,
)
from freezeframe.capture.registers import names
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS, MAGIC, Identity
from freezeframe.capture.registers.map_forms import form_of, known_maps
from freezeframe.capture.registers.map_table import FORMAT_VERSION
from freezeframe.capture.registers.register_map import RegisterMap
from freezeframe.capture.targets.base import Target, Words

__all__ = [
    "ALL_ONES",
    "CounterSnapshot",
    "Device",
    "Identity",
    "MappedDevice",
    "Recorder",
    "RegisterAt",
    "agreed_words",
    "check_places",
    "check_side_by_side",
    "device_of",
    "open_devices",
    "refuse_gone",
]

ALL_ONES = 0xFFFFFFFF
ARM_KEY = 0x4152

_TRIES = 16  # of everything that another reader or a moving counter can spoil
_AT_MAGIC = names.offset("id.magic")
_AT_FORMAT = names.offset("id.format")


@dataclass(frozen=True, slots=True)
class CounterSnapshot:
    """All counters of a device as they stood at one bus cycle; ``seq`` numbers the snapshots."""

    seq: int
    values: dict[str, int]


@dataclass(frozen=True, slots=True)
class RegisterAt:
    """One register of the map: its dotted name, array indices, and offset in the device, bytes."""

    name: str
    indices: tuple[int, ...]
    offset: int

    @property
    def label(self) -> str:
        return names.label(self.name, self.indices)


class RecorderIdentity(Protocol):
    """What every device says of itself, whatever its map."""

    @property
    def boot_nonce(self) -> int: ...
    @property
    def chunk(self) -> int: ...
    @property
    def devices_count(self) -> int: ...
    @property
    def devices_index(self) -> int: ...
    @property
    def devices_stride_log2(self) -> int: ...
    @property
    def stride_B(self) -> int: ...


IdentityT_co = TypeVar("IdentityT_co", bound=RecorderIdentity, covariant=True)


class MappedDevice(Generic[IdentityT_co]):
    """A recorder behind a target, with the register map it has; every read is checked against error answers.

    Attributes:
        found: its card; of map 1 the one that ships, unless another was given.
        map: names, offsets, windows and counters of this device.
    """

    generation_register = "ctl.generation"
    memory_registers = "memory"  # what the pointers of a trace memory begin with

    def __init__(
        self,
        target: Target,
        index: int,
        base: int,
        identity: IdentityT_co,
        map: RegisterMap,
        found: FoundCard,
    ) -> None:
        self.found = found
        self.target = target
        self.index = index
        self.base = base
        self.identity = identity
        self.map = map

    def arm_key(self, nonce: int) -> int:
        """Return the upper half of the word that arms; map 1 does not ask for the nonce."""
        return ARM_KEY

    @property
    def name(self) -> str:
        """``A`` for device 0, ``B`` for device 1, and so on; ``D26`` where the letters end."""
        return names.device_name(self.index)

    def __repr__(self) -> str:
        return f"Device({self.name} of {self.target.url} at {self.base:#010x})"

    def address(self, name: str, *indices: int) -> int:
        """Return the byte address of a register from the start of the target."""
        return self.base + self.map.offset(name, *indices)

    def window(self, name: str) -> int:
        """Return the byte address of a window from the start of the target."""
        return self.base + self.map.window(name).address

    def read(self, name: str, *indices: int) -> int:
        """Return a register; raises as ``read_many``."""
        return self.read_many([(name, *indices)])[0]

    def read_many(self, registers: Sequence[tuple[str | int, ...] | str]) -> list[int]:
        """Return registers in one call of the transport: ``["ctl.state", ("memory.stored", 0)]``.

        Raises:
            RegisterError: no such register, or it can only be written; and as ``read_words``.
        """
        addresses = []
        for entry in registers:
            name, indices = _split(entry)
            if "r" not in self.map.register(name).access:
                raise RegisterError(f"{name} can only be written")
            addresses.append(self.address(name, *indices))
        return [int(word) for word in self.read_words(addresses)]

    def field(self, name: str, field: str, *indices: int) -> int:
        """Return one field of a register."""
        return self.map.field(name, field).of(self.read(name, *indices))

    def write(self, name: str, value: int, *indices: int) -> None:
        """Write a register once.

        Raises:
            RegisterError: it can only be read, or the value does not fit 32 bits. Nothing is written.
        """
        if "w" not in self.map.register(name).access:
            raise RegisterError(f"{name} can only be read")
        if not 0 <= value <= ALL_ONES:
            raise RegisterError(f"{name}: {value} does not fit 32 bits (0..{ALL_ONES})")
        self.target.write(self.address(name, *indices), [value])

    def modify(self, name: str, *indices: int, **fields: int) -> None:
        """Write some fields of a register and keep the others.

        Raises:
            RegisterError: the register cannot be read back, there is no such field, or a value does
                not fit; nothing is written.
        """
        info = self.map.register(name)
        if info.access != "rw" or info.pulse:
            raise RegisterError(
                f"{name} is {info.access!r}: it cannot be read, changed and written"
            )
        known = {field: self.map.field(name, field) for field in fields}
        for field, value in fields.items():
            top = (1 << known[field].width) - 1
            if not 0 <= value <= top:
                raise RegisterError(
                    f"{name}.{field} (addr {self.address(name, *indices):#010x}): {value} does not "
                    f"fit {known[field].width} bits (0..{top})"
                )
        word = self.read(name, *indices)
        for field, value in fields.items():
            word = word & ~known[field].mask | value << known[field].lsb
        self.write(name, word, *indices)

    def read_words(self, addresses: Words | Sequence[int]) -> Words:
        """Return the words at absolute byte addresses, with every all-ones answer put to the test.

        Args:
            addresses: ``(n,)`` multiples of 4, in any order, from the start of the target.
        Returns:
            ``(n,)`` uint32 in the order asked. 0xFFFFFFFF among them is data.
        Raises:
            BusError: the device answered one of them with an error; the message names the register.
            TargetError: the device is gone (its magic reads all ones).
            TargetTimeout: no answer.

        Source: docs/formats.md, section 1, "Error answers".
        """
        asked = np.asarray(addresses, dtype=np.uint32)
        words = self.target.read(asked)
        suspect = np.flatnonzero(words == ALL_ONES)
        owners = asked[suspect] >> np.uint32(self.identity.devices_stride_log2)
        owners[owners >= self.identity.devices_count] = 0  # device 0 counts what falls into none
        for owner in np.unique(owners):
            of_owner = suspect[owners == owner]
            words[of_owner] = self._believed(asked[of_owner], int(owner) * self.identity.stride_B)
        return words

    def counters(self) -> CounterSnapshot:
        """Return all counters of the last complete snapshot, never torn between two.

        Raises:
            TargetError: a new snapshot came during each of 16 readings.

        Source: docs/formats.md, section 1.2.
        """
        counters = self.map.counters
        bank_registers = [f"snapshot.{n}.{half}" for n in counters for half in ("lo", "hi")]
        seq = self.read("ctl.snapshot_seq")
        for _ in range(_TRIES):
            # Three calls, because a transport may reorder what one call asks for.
            words = self.read_many([(name, seq & 1) for name in bank_registers])
            after = self.read("ctl.snapshot_seq")
            if after == seq:
                return CounterSnapshot(
                    seq,
                    {n: words[2 * i] | words[2 * i + 1] << 32 for i, n in enumerate(counters)},
                )
            seq = after
        raise TargetError(
            f"{self.target.url}: device {self.name}: a counter snapshot was replaced during "
            f"each of {_TRIES} readings; raise ctl.snapshot_log2"
        )

    def dump_registers(self) -> list[RegisterAt]:
        """Return every register that is safe to read at any time, in address order."""
        found = [
            RegisterAt(info.name, indices, self.map.offset(info.name, *indices))
            for info in self.map.registers
            if "r" in info.access and not info.skip_dump
            for indices in names.elements(info)
        ]
        return sorted(found, key=lambda entry: entry.offset)

    def dump(self) -> dict[str, int]:
        """Return every register that is safe to read: label (``memory.stored[2]``) to value."""
        registers = self.dump_registers()
        words = self.read_words([self.base + entry.offset for entry in registers])
        return {entry.label: int(word) for entry, word in zip(registers, words, strict=True)}

    def _believed(self, addresses: Words, base: int) -> Words:
        """Return what stands at addresses of one device that read all ones, or raise."""
        suspects = {int(address) for address in addresses}
        read = self.target.read
        at_errors, at_error_addr = map(self.map.offset, ("id.bus_errors", "id.bus_error_addr"))
        for _ in range(_TRIES):
            # Separate calls, because within one call a transport may answer in any order.
            magic, errors = read([base + _AT_MAGIC, base + at_errors])
            if magic == ALL_ONES:
                raise TargetError(
                    f"{self.target.url}: the device at {base:#010x} is gone: everything, the magic "
                    "too, reads all ones; is it powered, and is its link or slot up?"
                )
            words = read(addresses)
            errors_after, where = read([base + at_errors, base + at_error_addr])
            if errors_after == errors:
                return words
            if int(where) in suspects:
                raise BusError(
                    f"{self.target.url}: the read of {int(where):#010x} "
                    f"({self._describe(int(where))}) was answered with an error: it is outside the "
                    "map, cannot be read, or opens only when the recorder is frozen"
                )
        raise TargetError(
            f"{self.target.url}: errors at other addresses came in each of {_TRIES} readings of "
            f"{len(suspects)} all-ones words from {min(suspects):#010x} on, so these can be "
            "neither believed nor refused; stop the other program that reads this device"
        )

    def _describe(self, address: int) -> str:
        return self.map.describe(address & (self.identity.stride_B - 1))


Recorder = MappedDevice[RecorderIdentity]
"""A device of any map."""


class Device(MappedDevice[Identity]):
    """A device of map 1; its card names what stands in the map."""

    def __init__(
        self,
        target: Target,
        index: int,
        base: int,
        identity: Identity,
        found: FoundCard | None = None,
    ) -> None:
        found = found or card_of_map(identity.map_hash)
        super().__init__(target, index, base, identity, register_map_of(found.card), found)

    @property
    def roles(self) -> Roles:
        """The parts of the card by what they do."""
        return roles_of(self.found.card)


def open_devices(
    target: Target, begins: tuple[int, int] | None = None, card: Path | None = None
) -> list[Device]:
    """Return every device of a target, device 0 first.

    Args:
        begins: magic and format of device 0, where they were read already: no word is read twice, for on an
            emulated card each access takes its time.
        card: a card file of map 1 that names what the map holds; without it the one that ships.
    Raises:
        InputError: the card file is not one of the devices' map.
        DeviceUnknownError: what answers is not a Freezeframe device, or has a format version or
            register map that this program does not know.
        TargetError: the target answers all ones; or as ``Target.read``.
    """
    first = _identify(target, 0, 0, begins)
    check_places(target, first)
    found = map_1_card_of_file(card, first.map_hash, target.url) if card is not None else None
    devices = [Device(target, 0, 0, first, found)]
    for index in range(1, first.devices_count):
        base = index * first.stride_B
        devices.append(Device(target, index, base, _identify(target, index, base), found))
    check_side_by_side(devices)
    return devices


def check_places(target: Target, first: RecorderIdentity) -> None:
    """Check that all devices lie within 32-bit addresses.

    Raises:
        DeviceUnknownError: they do not.
    """
    if not (first.devices_count >= 1 and 12 <= first.devices_stride_log2 < 32) or (
        first.devices_count << first.devices_stride_log2 > 1 << 32
    ):
        raise DeviceUnknownError(
            f"{target.url}: the device says it is one of {first.devices_count}, each "
            f"2^{first.devices_stride_log2} B apart, which 32-bit addresses cannot hold"
        )


def check_side_by_side(devices: Sequence[Recorder]) -> None:
    """Check that each device says it is the one that is expected at its place.

    Raises:
        DeviceUnknownError: one says another number.
    """
    for device in devices:
        said = device.identity.devices_index
        if said != device.index:
            raise DeviceUnknownError(
                f"{device.target.url}: at {device.base:#010x} device {device.index} is expected and "
                f"device {said} answers; does the target begin with device 0 (option base=)?"
            )


DeviceT = TypeVar("DeviceT", bound=Recorder)


def device_of(devices: Sequence[DeviceT], name: str) -> DeviceT:
    """Return the device of that name.

    Raises:
        InputError: the target has none; the message lists those it has.
    """
    for device in devices:
        if device.name == name:
            return device
    known = ", ".join(device.name for device in devices)
    raise InputError(f"{devices[0].target.url}: no device {name!r}; it has {known}")


def _identify(
    target: Target, index: int, base: int, begins: tuple[int, int] | None = None
) -> Identity:
    rest = [register for register in IDENTITY_REGISTERS if register.address != _AT_FORMAT]

    where = f"{target.url}: device {index} at {base:#010x}"

    def agreed(asked: list[int]) -> Words:
        words = agreed_words(target.read, asked, target.url, lambda at: names.describe(at - base))
        refuse_gone(target, base, words, where)
        return words

    magic, version = begins or map(int, agreed([base + _AT_MAGIC, base + _AT_FORMAT]))
    if magic == MAGIC and version >> 16 == FORMAT_VERSION[0]:
        words = agreed([base + register.address for register in rest])
        by_name = {r.name: int(w) for r, w in zip(rest, words, strict=True)}
        by_name["id.format"] = version
        identity = Identity.from_registers(by_name.__getitem__)
        magic = identity.magic
    if magic != MAGIC:
        swapped = int.from_bytes(magic.to_bytes(4, "little"), "big") == MAGIC
        raise DeviceUnknownError(
            f"{where}: the first word is {magic:#010x}, not {MAGIC:#010x} (FRZF): "
            + (
                "the bytes of each word are swapped on the way"
                if swapped
                else "not a Freezeframe device, or it stands at another address (option base=)"
            )
        )
    if version >> 16 == 2:
        raise DeviceUnknownError(
            f"{where} is of a card that is described by a file; this step knows the built-in card alone: "
            "use status, arm, freeze, counters, watch and pull"
        )
    if version >> 16 != FORMAT_VERSION[0]:
        older = version >> 16 < FORMAT_VERSION[0]
        raise DeviceUnknownError(
            f"{where} has format version {version >> 16}.{version & 0xFFFF}; this "
            f"program knows {FORMAT_VERSION[0]}.{FORMAT_VERSION[1]}: use "
            + ("an older release of Freezeframe" if older else "a newer release of Freezeframe")
        )
    if form_of(identity.map_hash) is None:
        raise DeviceUnknownError(
            f"{where} has register map {identity.map_hash:08x}; this program knows {known_maps()}: "
            "use the Freezeframe release that the device was built with"
        )
    return identity


def refuse_gone(target: Target, base: int, words: Words, where: str) -> None:
    """Refuse words of a device of which nothing answers: it is gone, or went while they were read.

    A register may hold all ones; the magic, which is asked again then, does not.

    Raises:
        TargetError: the magic reads all ones; or as ``Target.read``.
    """
    if (words == ALL_ONES).any() and int(target.read([base + _AT_MAGIC])[0]) == ALL_ONES:
        raise TargetError(
            f"{where} reads all ones: nothing answers there; is the device powered and configured?"
        )


def agreed_words(
    read: Callable[[Words], Words],
    addresses: Words | Sequence[int],
    url: str,
    describe: Callable[[int], str],
) -> Words:
    """Return words that stand still, once two readings of each were equal.

    Args:
        describe: what stands at an address, for the message.
    Raises:
        TargetError: some differed in every reading; or as ``read``.
    """
    asked = np.asarray(addresses, dtype=np.uint32)
    words = read(asked)
    unsure = np.arange(len(asked))
    for _ in range(_TRIES):
        again = read(asked[unsure])
        differ = again != words[unsure]
        words[unsure] = again
        unsure = unsure[differ]
        if not len(unsure):
            return words
    first = int(asked[unsure[0]])
    raise TargetError(
        f"{url}: {plural(len(unsure), 'word')}, the first at {first:#010x} ({describe(first)}), did not read "
        f"the same twice running in {_TRIES + 1} readings: what stands there changes, or the network "
        "alters packets"
    )


def _split(entry: tuple[str | int, ...] | str) -> tuple[str, tuple[int, ...]]:
    if isinstance(entry, str):
        return entry, ()
    name, *indices = entry
    if not isinstance(name, str) or not all(isinstance(index, int) for index in indices):
        raise RegisterError(f"{entry!r} is not a register name with its indices")
    return name, tuple(index for index in indices if isinstance(index, int))
