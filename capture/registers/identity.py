"""What a device says about itself: every constant of its ``id`` registers, in one object.

Source: firmware-hooks/registers/freezeframe.rdl, register file ``id``; docs/formats.md, section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from freezeframe.capture.registers.layout import RegisterInfo
from freezeframe.capture.registers.map_table import REGISTERS

MAGIC = 0x46525A46
"""``id.magic``: the letters FRZF."""

_NOT_IDENTITY = ("id.bus_errors", "id.bus_error_addr")  # they count accesses, so they change

IDENTITY_REGISTERS: tuple[RegisterInfo, ...] = tuple(
    r for r in REGISTERS if r.name.startswith("id.") and r.name not in _NOT_IDENTITY
)
"""The registers an identity is made from, in address order."""


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of one device; two reads of one device are equal until it is powered up again.

    A register with one field has the register's name; the fields of the others have both names
    (``id.devices.count`` is ``devices_count``).
    """

    REGISTERS: ClassVar[tuple[RegisterInfo, ...]]
    """The registers that it is made from, in address order."""

    @classmethod
    def from_registers(cls, value: Callable[[str], int]) -> Self:
        """Make an identity from ``value(name)`` of every register in ``REGISTERS``."""
        values: dict[str, int] = {}
        for register in cls.REGISTERS:
            word = value(register.name)
            name = register.name.removeprefix("id.").replace(".", "_")
            for field in register.fields:
                key = name if len(register.fields) == 1 else f"{name}_{field.name}"
                values[key] = field.of(word)
        return cls(**values)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Make an identity from what ``to_json`` gave.

        Raises:
            ValueError: a value is missing, unknown, or no word of 32 bits; the message names the first.
        """
        names = {field.name for field in fields(cls)}
        for name in sorted(names ^ values.keys()):
            raise ValueError(f"identity: {name!r} is {'missing' if name in names else 'unknown'}")
        for name, value in values.items():
            if type(value) is not int or not 0 <= value < 1 << 32:
                raise ValueError(f"identity: {name} is {value!r}, not a word")
        return cls(**values)

    def to_json(self) -> dict[str, int]:
        """Return the values by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Identity(Constants):
    """What a device of map 1 is: clocks in Hz, depths and FIFOs in records or words as the map says."""

    REGISTERS: ClassVar[tuple[RegisterInfo, ...]] = IDENTITY_REGISTERS

    magic: int
    format_major: int
    format_minor: int
    map_hash: int
    build_hash: int
    boot_nonce: int
    devices_count: int
    devices_index: int
    devices_stride_log2: int
    devices_time_master: int
    trace_mode: int
    trace_taps: int
    trace_data_w: int
    trace_kind_w: int
    trace_dt_w: int
    tap_depth: int
    event_depth: int
    chunk: int
    max_burst: int
    clk_bus: int
    clk_link: int
    sampler_depth: int
    counters_count: int
    counters_width: int
    flows_count: int
    flows_credit_w: int
    tx_fifo: int
    rx_fifo: int
    credit_unit: int
    cross_latency: int
    sync_period: int
    event_fifo: int
    post_drain: int

    @property
    def stride_B(self) -> int:
        """Bytes from one device of the target to the next."""
        return 1 << self.devices_stride_log2

    def depth(self, memory: int) -> int:
        """Return the records in trace memory 0-4 (4 is the event log)."""
        return self.event_depth if memory == 4 else self.tap_depth
