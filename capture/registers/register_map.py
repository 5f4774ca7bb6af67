"""A register map as an object: names, offsets, windows and counters of one kind of device.

Addresses are bytes from the start of the device.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from freezeframe.capture.errors import RegisterError
from freezeframe.capture.nearest import no_such
from freezeframe.capture.registers.layout import FieldInfo, RegisterInfo, WindowInfo


class CounterInfo(NamedTuple):
    """What a counter counts in, and what it means, for people."""

    unit: str
    doc: str


def label(name: str, indices: tuple[int, ...] = ()) -> str:
    """Return how one register of an array is written: ``frozen.lane.sync_level[1]``."""
    return name + "".join(f"[{index}]" for index in indices)


def elements(info: RegisterInfo) -> Iterator[tuple[int, ...]]:
    """Give the indices of every register of an array, one empty tuple for a single register."""
    return product(*(range(count) for count, _ in info.dims))


class RegisterMap:
    """The registers and windows of a device.

    Attributes:
        registers, windows: in the order of the map.
        counters: by name, in the order of a bank.
        size_B: bytes from one device to the next.
    """

    def __init__(
        self,
        registers: Sequence[RegisterInfo],
        windows: Sequence[WindowInfo],
        counters: Mapping[str, CounterInfo],
        size_B: int,
    ) -> None:
        self.registers = tuple(registers)
        self.windows = tuple(windows)
        self.counters = dict(counters)
        self.size_B = size_B
        self._register_of = {info.name: info for info in registers}
        self._window_of = {info.name: info for info in windows}

    def register(self, name: str) -> RegisterInfo:
        """Return the register of that dotted name.

        Raises:
            RegisterError: no such register; the message offers the nearest names.
        """
        try:
            return self._register_of[name]
        except KeyError:
            raise _no_such("register", name, self._register_of) from None

    def window(self, name: str) -> WindowInfo:
        """Return the window of that name; ``RegisterError`` as for ``register``."""
        try:
            return self._window_of[name]
        except KeyError:
            raise _no_such("window", name, self._window_of) from None

    def field(self, name: str, field: str) -> FieldInfo:
        """Return a field of a register.

        Raises:
            RegisterError: no such register, or it has no such field; the message lists those it has.
        """
        fields = self.register(name).fields
        for info in fields:
            if info.name == field:
                return info
        known = ", ".join(info.name for info in fields)
        raise RegisterError(f"{name} has no field {field!r}; it has {known}")

    def has(self, name: str) -> bool:
        """Return whether the map has a register of that name."""
        return name in self._register_of

    def offset(self, name: str, *indices: int) -> int:
        """Return the byte offset of one register: ``offset("frozen.lane.sync_level", 1)``.

        Raises:
            RegisterError: no such register, the wrong number of indices, or one out of its range.
        """
        info = self.register(name)
        if len(indices) != len(info.dims):
            raise RegisterError(
                f"{name}: {len(indices)} indices given, it takes {len(info.dims)} "
                f"{[count for count, _ in info.dims]}"
            )
        address = info.address
        for index, (count, stride_B) in zip(indices, info.dims, strict=True):
            if not 0 <= index < count:
                raise RegisterError(f"{name}: index {index} is out of range (0..{count - 1})")
            address += index * stride_B
        return address

    def describe(self, address: int) -> str:
        """Return what stands at a byte offset: a register, ``window+offset``, or "nothing"."""
        found = self._labels.get(address)
        if found is not None:
            return found
        at = bisect_right([info.address for info in self._windows_by_address], address) - 1
        if at >= 0:
            info = self._windows_by_address[at]
            if address < info.address + 4 * info.words:
                return f"{info.name}+{address - info.address:#06x}"
        return "nothing" if address < self.size_B else "nothing (outside the map)"

    @cached_property
    def _windows_by_address(self) -> tuple[WindowInfo, ...]:
        return tuple(sorted(self.windows, key=lambda info: info.address))

    @cached_property
    def _labels(self) -> dict[int, str]:
        return {
            self.offset(info.name, *indices): label(info.name, indices)
            for info in self.registers
            for indices in elements(info)
        }


def _no_such(kind: str, name: str, known: Mapping[str, object]) -> RegisterError:
    return RegisterError(no_such(kind, name, known, f"the map has {len(known)}"))
