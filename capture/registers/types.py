"""The shape of the generated register table: what a register, a field, a window and a counter are."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FieldInfo", "RegisterInfo", "WindowInfo"]


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a register. ``lsb`` and ``width`` in bits."""

    name: str
    lsb: int
    width: int
    reset: int
    doc: str
    unit: str = ""

    @property
    def mask(self) -> int:
        return ((1 << self.width) - 1) << self.lsb


@dataclass(frozen=True, slots=True)
class RegisterInfo:
    """A 32-bit register, or an array of them, at a byte address from the start of the device.

    ``name`` is dotted (``ctl.state``, ``memory.write_ptr``). ``dims`` holds ``(count, stride_B)`` for every
    array on the way to it, outermost first: ``frozen.lane[2]`` gives ``frozen.lane.sync_level`` one pair.
    """

    name: str
    address: int
    dims: tuple[tuple[int, int], ...]
    access: str  # "r", "w" or "rw", seen from the host
    fields: tuple[FieldInfo, ...]
    doc: str
    parameter: bool = False
    pulse: bool = False
    skip_dump: bool = False


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """A memory of 32-bit words in the address space."""

    name: str
    address: int
    words: int
    access: str
    frozen_only: bool
    skip_dump: bool
    doc: str
