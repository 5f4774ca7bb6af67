"""What a device of map 2 says about itself, before its card is known.

Source: docs/card-map.md, sections 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import identity_map
from freezeframe.capture.registers.identity import constants_of

IDENTITY_MAP = identity_map()
_NOT_CONSTANT = ("id.bus_errors", "id.bus_error_addr", "id.generation")

CARD_IDENTITY_REGISTERS = tuple(
    info for info in IDENTITY_MAP.registers if info.name not in _NOT_CONSTANT
)


@dataclass(frozen=True, slots=True)
class CardIdentity:
    """The constants of a device of map 2; two reads of one are equal until it is powered up again.

    A register of several fields gives one value each (``id.devices.count`` is ``devices_count``).
    """

    magic: int
    format_minor: int
    format_major: int
    card_hash_lo: int
    card_hash_hi: int
    boot_nonce: int
    devices_count: int
    devices_index: int
    devices_stride_log2: int
    devices_time_master: int
    features: int
    build_hash: int
    card_rom: int
    shape_clocks: int
    shape_taps: int
    shape_memories: int
    chunk: int
    max_burst: int
    sync_period: int
    post_drain: int
    cross_latency: int
    counters_counters: int
    counters_bank: int
    counters_causes: int

    @classmethod
    def from_registers(cls, value: Callable[[str], int]) -> CardIdentity:
        """Make an identity from ``value(name)`` of every register in CARD_IDENTITY_REGISTERS."""
        values: dict[str, int] = {}
        for register in CARD_IDENTITY_REGISTERS:
            word = value(register.name)
            name = register.name.removeprefix("id.")
            for field in register.fields:
                key = name if len(register.fields) == 1 else f"{name}_{field.name}"
                values[key] = (word & field.mask) >> field.lsb
        return cls(**values)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> CardIdentity:
        """Make an identity from what ``to_json`` gave.

        Raises:
            ValueError: as ``constants_of``.
        """
        return cls(**constants_of(cls, values))

    def to_json(self) -> dict[str, int]:
        """Return the values by name."""
        return asdict(self)

    @property
    def card_hash(self) -> int:
        """First 64 bits of the SHA-256 of the card's text."""
        return self.card_hash_hi << 32 | self.card_hash_lo

    @property
    def stride_B(self) -> int:
        """Bytes from one device of the target to the next."""
        return 1 << self.devices_stride_log2

    @property
    def built(self) -> Feature:
        """What the build has; reserved bits are ignored."""
        return Feature(self.features & sum(Feature))
