"""Map 1 for links of more lanes than the example card's two: the same registers, a longer ``frozen.lane``.

The map leaves room behind ``frozen.lane[2]``; a card whose link is bonded from four or eight lanes has the elements
that follow, at the same stride, and nothing else changes. Its map_hash is made as docs/formats.md section 1 says, so a
device states with its hash how many lanes it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from freezeframe.capture.registers.layout import RegisterInfo, WindowInfo
from freezeframe.capture.registers.map_table import REGISTERS, WINDOWS

LANE = "frozen.lane."
LANES = 2
"""Lanes of the example card."""

LANE_COUNTS = (2, 4, 8)
"""Lanes that carry the same number of whole bytes of each 64-bit word."""


@cache
def registers_for(lanes: int) -> tuple[RegisterInfo, ...]:
    """Return the registers of map 1 for a link of so many lanes.

    Raises:
        ValueError: none of `LANE_COUNTS`.
    """
    if lanes not in LANE_COUNTS:
        raise ValueError(f"{lanes} lanes; a link has {', '.join(map(str, LANE_COUNTS))}")
    return tuple(
        replace(register, dims=((lanes, register.dims[0][1]),))
        if register.name.startswith(LANE)
        else register
        for register in REGISTERS
    )


@cache
def map_hash_for(lanes: int) -> int:
    """Return the map_hash of a device of map 1 with so many lanes; raises as `registers_for`."""
    digest = hashlib.sha256(_canonical(registers_for(lanes), WINDOWS).encode("ascii")).digest()
    return int.from_bytes(digest[:4], "big")


@cache
def lanes_of_maps() -> dict[int, int]:
    """Return the lanes of every form of map 1 that this program knows, by its map_hash."""
    return {map_hash_for(lanes): lanes for lanes in LANE_COUNTS}


def known_maps() -> str:
    """Return the hashes of those forms for a message, the example card's first."""
    return ", ".join(f"{known:08x}" for known in lanes_of_maps())


def _canonical(registers: Iterable[RegisterInfo], windows: Iterable[WindowInfo]) -> str:
    lines = []
    for item in registers:
        fields = "".join(f" {f.name}[{f.lsb + f.width - 1}:{f.lsb}]" for f in item.fields)
        lines.append((item.address, f"{item.name} {_shape(item.dims)} {item.access}{fields}"))
    for window in windows:
        lines.append((window.address, f"{window.name} [{window.words}*4] {window.access}"))
    return "".join(f"{address:08x} {line}\n" for address, line in sorted(lines))


def _shape(dims: tuple[tuple[int, int], ...]) -> str:
    return "".join(f"[{count}*{stride}]" for count, stride in dims) or "-"
