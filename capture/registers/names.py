"""Register names to addresses and back, on one device's map.

Addresses here are bytes from the start of the device; ``access.py`` adds where the device stands.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import product

from freezeframe.capture.registers.layout import RegisterInfo, WindowInfo
from freezeframe.capture.registers.layouts import CAUSE_NAMES
from freezeframe.capture.registers.map_table import MAP_SIZE, REGISTERS, WINDOWS

_REGISTERS = {info.name: info for info in REGISTERS}
_WINDOWS = {info.name: info for info in WINDOWS}


def device_name(index: int) -> str:
    """Return the name of a target's device: ``A`` for 0, ``B`` for 1; ``D26`` where letters end.

    Raises:
        ValueError: the index is negative.
    """
    if index < 0:
        raise ValueError(f"device index {index} is negative")
    return chr(ord("A") + index) if index < 26 else f"D{index}"


def register(name: str) -> RegisterInfo:
    """Return the register of that dotted name.

    Raises:
        ValueError: no such register; the message offers the nearest names.
    """
    try:
        return _REGISTERS[name]
    except KeyError:
        raise ValueError(f"no register {name!r}{_nearest(name, _REGISTERS)}") from None


def window(name: str) -> WindowInfo:
    """Return the window of that name; ``ValueError`` as for ``register``."""
    try:
        return _WINDOWS[name]
    except KeyError:
        raise ValueError(f"no window {name!r}{_nearest(name, _WINDOWS)}") from None


def offset(name: str, *indices: int) -> int:
    """Return the byte offset of one register: ``offset("frozen.lane.sync_level", 1)``.

    Raises:
        ValueError: no such register, the wrong number of indices, or one out of its range.
    """
    info = register(name)
    if len(indices) != len(info.dims):
        raise ValueError(
            f"{name}: {len(indices)} indices given, it takes {len(info.dims)} "
            f"{[count for count, _ in info.dims]}"
        )
    address = info.address
    for index, (count, stride_B) in zip(indices, info.dims, strict=True):
        if not 0 <= index < count:
            raise ValueError(f"{name}: index {index} is out of range (0..{count - 1})")
        address += index * stride_B
    return address


def label(name: str, indices: tuple[int, ...] = ()) -> str:
    """Return how one register of an array is written: ``frozen.lane.sync_level[1]``."""
    return name + "".join(f"[{index}]" for index in indices)


def elements(info: RegisterInfo) -> Iterator[tuple[int, ...]]:
    """Give the indices of every register of an array, one empty tuple for a single register."""
    return product(*(range(count) for count, _ in info.dims))


def describe(address: int) -> str:
    """Return what stands at a byte offset: a register, ``window+offset``, or "nothing"."""
    found = _labels().get(address)
    if found is not None:
        return found
    windows = sorted(WINDOWS, key=lambda info: info.address)
    at = bisect_right([info.address for info in windows], address) - 1
    if at >= 0 and address < windows[at].address + 4 * windows[at].words:
        return f"{windows[at].name}+{address - windows[at].address:#06x}"
    return "nothing" if address < MAP_SIZE else "nothing (outside the map)"


def counter_unit(name: str) -> str:
    """Return what a counter counts in: words, packets, cycles, or plain events."""
    suffix = name.rpartition("_")[2]
    if name.endswith("fifo_overflows"):
        return "words"
    return suffix if suffix in ("words", "packets", "cycles") else "events"


@cache
def _labels() -> dict[int, str]:
    return {
        offset(info.name, *indices): label(info.name, indices)
        for info in REGISTERS
        for indices in elements(info)
    }


def _nearest(name: str, known: dict[str, RegisterInfo] | dict[str, WindowInfo]) -> str:
    near = difflib.get_close_matches(name, known, 3)
    return f"; the nearest are {', '.join(near)}" if near else ""


def cause_names(causes: int) -> list[str]:
    """Return the names of the causes in a mask; a bit without a name is ``cause-NN``."""
    return [
        CAUSE_NAMES[bit] if bit < len(CAUSE_NAMES) else f"cause-{bit}"
        for bit in range(causes.bit_length())
        if causes >> bit & 1
    ]
