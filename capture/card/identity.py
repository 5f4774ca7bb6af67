"""What a device of map 2 says about itself, before its card is known.

Source: docs/card-map.md, sections 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import identity_map
from freezeframe.capture.registers.identity import Constants
from freezeframe.capture.registers.layout import RegisterInfo

IDENTITY_MAP = identity_map()
_NOT_CONSTANT = ("id.bus_errors", "id.bus_error_addr", "id.generation")

CARD_IDENTITY_REGISTERS = tuple(
    info for info in IDENTITY_MAP.registers if info.name not in _NOT_CONSTANT
)


@dataclass(frozen=True, slots=True)
class CardIdentity(Constants):
    """The constants of a device of map 2."""

    REGISTERS: ClassVar[tuple[RegisterInfo, ...]] = CARD_IDENTITY_REGISTERS

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
