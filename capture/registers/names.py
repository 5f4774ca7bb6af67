"""Register names to addresses and back, on the map of the example card (map 1).

Addresses here are bytes from the start of the device; ``access.py`` adds where the device stands.
"""

from __future__ import annotations

from freezeframe.capture.registers.layouts import CAUSE_NAMES
from freezeframe.capture.registers.map_table import COUNTER_DOCS, MAP_SIZE, REGISTERS, WINDOWS
from freezeframe.capture.registers.register_map import CounterInfo, RegisterMap, elements, label

__all__ = [
    "MAP_1",
    "cause_names",
    "counter_unit",
    "describe",
    "device_name",
    "elements",
    "label",
    "offset",
    "register",
    "window",
]


def device_name(index: int) -> str:
    """Return the name of a target's device: ``A`` for 0, ``B`` for 1; ``D26`` where letters end.

    Raises:
        ValueError: the index is negative.
    """
    if index < 0:
        raise ValueError(f"device index {index} is negative")
    return chr(ord("A") + index) if index < 26 else f"D{index}"


def counter_unit(name: str) -> str:
    """Return what a counter counts in: words, packets, cycles, or plain events."""
    suffix = name.rpartition("_")[2]
    if name.endswith("fifo_overflows"):
        return "words"
    return suffix if suffix in ("words", "packets", "cycles") else "events"


def cause_names(causes: int) -> list[str]:
    """Return the names of the causes in a mask; a bit without a name is ``cause-NN``."""
    return [
        CAUSE_NAMES[bit] if bit < len(CAUSE_NAMES) else f"cause-{bit}"
        for bit in range(causes.bit_length())
        if causes >> bit & 1
    ]


MAP_1 = RegisterMap(
    REGISTERS,
    WINDOWS,
    {name: CounterInfo(counter_unit(name), doc) for name, doc in COUNTER_DOCS.items()},
    MAP_SIZE,
)
register, window, offset, describe = MAP_1.register, MAP_1.window, MAP_1.offset, MAP_1.describe
