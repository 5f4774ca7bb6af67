"""Devices of either map behind a target: the identity block says which, and of which card.

Source: docs/card-map.md; docs/formats.md, section 1.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np

from freezeframe.capture.card.finding import (
    FoundCard,
    card_of_file,
    card_of_text,
    look_up,
    text_of_rom,
)
from freezeframe.capture.card.identity import CARD_IDENTITY_REGISTERS, IDENTITY_MAP, CardIdentity
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import (
    ROM_ADDRESS,
    ROM_WORDS,
    CardMemory,
    card_map,
    memories_of_card,
    stride_log2,
)
from freezeframe.capture.errors import DeviceUnknownError, InputError
from freezeframe.capture.registers.access import (
    ARM_KEY,
    Device,
    MappedDevice,
    agreed_words,
    check_places,
    check_side_by_side,
    open_devices,
    refuse_gone,
)
from freezeframe.capture.registers.identity import MAGIC
from freezeframe.capture.targets.aliases import resolved
from freezeframe.capture.targets.base import Target, Words

CARD_FORMAT = 2


class CardDevice(MappedDevice[CardIdentity]):
    """A device of map 2, with the card it was built from.

    Attributes:
        memories: its trace memories, in the order of the CRC table.
    """

    generation_register = "id.generation"
    memory_registers = "tap"

    def __init__(
        self, target: Target, index: int, base: int, identity: CardIdentity, found: FoundCard
    ) -> None:
        super().__init__(target, index, base, identity, card_map(found.card, identity.built), found)
        self.memories: tuple[CardMemory, ...] = memories_of_card(found.card)

    def arm_key(self, nonce: int) -> int:
        """Return the upper half of the word that arms: it names what is given up, where the build asks for it."""
        return ARM_KEY ^ nonce & 0xFFF if Feature.ARM_KEY in self.identity.built else ARM_KEY


def open_any(target: Target, card: Path | None = None) -> list[Device] | list[CardDevice]:
    """Return every device of a target, device 0 first; all are of one map.

    Args:
        card: the card file the devices were built from, where neither their ROM nor this computer has it; of devices
            of map 1 the file that names what stands in their registers, where that is not the card that ships.
    Raises:
        InputError: the card is not known, or the file given is another one.
        DeviceUnknownError: not our device, of a newer format, or one that contradicts itself.
        TargetError: the target does not answer.
    """
    magic, version = _agreed(target, [0, 4], 0, f"{target.url}: device 0 at 0x00000000")
    if magic != MAGIC or version >> 16 != CARD_FORMAT:
        return open_devices(target, (magic, version), card)
    return _open_cards(target, card)


def split_card(url: str) -> tuple[str, Path | None]:
    """Return a target's URL without its option ``card``, and the card file that it names; also of a user's name for it.

    Raises:
        InputError: the option is given twice, or without a file.
    """
    url = resolved(url)
    rest, mark, options = url.partition("?")
    others = [option for option in options.split("&") if not option.startswith("card=")]
    named = [option[5:] for option in options.split("&") if option.startswith("card=")]
    if not mark or not named:
        return url, None
    if len(named) > 1 or not named[0]:
        raise InputError(f"{url}: card= takes one card file, as in ?card=my-card.toml")
    return (f"{rest}?{'&'.join(others)}" if others else rest), Path(unquote(named[0]))


def _open_cards(target: Target, card: Path | None) -> list[CardDevice]:
    first = _open_card(target, 0, 0, card)
    check_places(target, first.identity)
    devices = [first]
    for index in range(1, first.identity.devices_count):
        devices.append(_open_card(target, index, index * first.identity.stride_B, card))
    check_side_by_side(devices)
    return devices


def _open_card(target: Target, index: int, base: int, card: Path | None) -> CardDevice:
    where = f"{target.url}: device {index} at {base:#010x}"
    words = _agreed(target, [base + info.address for info in CARD_IDENTITY_REGISTERS], base, where)
    value = {info.name: word for info, word in zip(CARD_IDENTITY_REGISTERS, words, strict=True)}
    identity = CardIdentity.from_registers(value.__getitem__)
    if (identity.magic, identity.format_major) != (MAGIC, CARD_FORMAT):
        raise DeviceUnknownError(
            f"{where}: magic {identity.magic:#010x} and format {identity.format_major} do not go "
            "with device 0 of this target, which is of map 2"
        )
    found = _find(target, base, identity, card, where)
    _check_shape(identity, found, where)
    return CardDevice(target, index, base, identity, found)


def _find(
    target: Target, base: int, identity: CardIdentity, card: Path | None, where: str
) -> FoundCard:
    if card is not None:
        return card_of_file(card, identity.card_hash, where)
    if Feature.ROM in identity.built and identity.card_rom:
        if identity.card_rom > ROM_WORDS:
            raise DeviceUnknownError(
                f"{where}: says its ROM has {identity.card_rom} words; the map has room for "
                f"{ROM_WORDS}; the device contradicts itself"
            )
        words = _agreed(
            target,
            range(base + ROM_ADDRESS, base + ROM_ADDRESS + 4 * identity.card_rom, 4),
            base,
            where,
        )
        try:
            text = text_of_rom(words, where)
            return card_of_text(text, identity.card_hash, f"{where}, ROM")
        except InputError as error:
            raise DeviceUnknownError(str(error)) from None  # it is the device that is at fault
    return look_up(
        identity.card_hash, f"{where}: has no card in a ROM", ", or name it (?card=FILE)"
    )


def _check_shape(identity: CardIdentity, found: FoundCard, where: str) -> None:
    """Refuse a device whose counts are not those of its card.

    Raises:
        DeviceUnknownError: the first that differs is named.
    """
    card = found.card
    said = {
        "clocks": (identity.shape_clocks, len(card.clocks)),
        "taps": (identity.shape_taps, len(card.recorders)),
        "memories": (identity.shape_memories, card.memories),
        "causes": (identity.counters_causes, len(card.causes)),
    }
    if Feature.COUNTERS in identity.built:
        said["counters"] = identity.counters_counters, len(card.counters)
    if Feature.BANK in identity.built:
        said["registers of the bank"] = identity.counters_bank, len(card.said.bank)
    for what, (device, file) in said.items():
        if device != file:
            raise DeviceUnknownError(
                f"{where}: says it has {device} {what}, its card {card.name} has {file}; the device "
                "contradicts itself"
            )
    if identity.devices_stride_log2 < stride_log2(card):
        raise DeviceUnknownError(
            f"{where}: spans 2^{identity.devices_stride_log2} B, its card {card.name} needs "
            f"2^{stride_log2(card)}; the device contradicts itself"
        )
    if identity.chunk < 1:
        raise DeviceUnknownError(f"{where}: has chunks of {identity.chunk} records")


def _agreed(target: Target, addresses: list[int] | range, base: int, where: str) -> list[int]:
    words: Words = agreed_words(
        target.read, np.asarray(addresses, np.uint32), target.url, IDENTITY_MAP.describe
    )
    refuse_gone(target, base, words, where)
    return [int(word) for word in words]
