"""Forms of map 1: the same registers, with what a card has more than the example card.

The map leaves room behind ``frozen.lane[2]`` and behind the counters of each bank. A card whose link is bonded from
four or eight lanes has the lanes that follow, at the same stride; one that resolves handles of memory regions has one
counter more. Nothing else changes. The map_hash of a form is made as docs/formats.md section 1 says, so a device states
with its hash which form it has.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache
from itertools import product
from typing import NamedTuple

from freezeframe.capture.registers.layout import RegisterInfo, WindowInfo
from freezeframe.capture.registers.map_table import COUNTER_DOCS, REGISTERS, WINDOWS

LANE_COUNTS = (2, 4, 8)
"""Lanes that carry the same number of whole bytes of each 64-bit word."""

WRITES_REFUSED = "writes_refused"
"""Counter of a card that resolves handles: packets that were not written because they were not within their region."""

WRITE_REFUSED = 1
"""Code of the USER event by which such a card's receive DMA tells each of them (docs/formats.md section 1.4)."""

_LANE = "frozen.lane."
_REFUSED_DOC = "Packets not written: outside the region of their handle"


class Form(NamedTuple):
    """What a card of map 1 has; without a word, the example card's: two lanes, and addresses that are physical."""

    lanes: int = 2
    regions: bool = False


EXAMPLE = Form()


@cache
def registers_for(form: Form) -> tuple[RegisterInfo, ...]:
    """Return the registers of a form, in the order of their addresses.

    Raises:
        ValueError: its lanes are none of `LANE_COUNTS`.
    """
    if form.lanes not in LANE_COUNTS:
        raise ValueError(f"{form.lanes} lanes; a link has {', '.join(map(str, LANE_COUNTS))}")
    all_of_them = (
        replace(register, dims=((form.lanes, register.dims[0][1]),))
        if register.name.startswith(_LANE)
        else register
        for register in (*REGISTERS, *(_one_more() if form.regions else ()))
    )
    return tuple(sorted(all_of_them, key=lambda register: register.address))


def _one_more() -> Iterator[RegisterInfo]:
    """Yield the registers of a counter behind the last one of each bank."""
    last, doc = list(COUNTER_DOCS.items())[-1]
    for register in REGISTERS:
        bank, _, rest = register.name.partition(".")
        name, _, half = rest.partition(".")
        if name == last:
            yield replace(
                register,
                name=f"{bank}.{WRITES_REFUSED}.{half}",
                address=register.address + 8,
                doc=register.doc.replace(doc, _REFUSED_DOC),
            )


@cache
def counters_for(form: Form) -> dict[str, str]:
    """Return the counters of a form with their help texts, in the order of a bank."""
    return COUNTER_DOCS | ({WRITES_REFUSED: _REFUSED_DOC} if form.regions else {})


@cache
def map_hash_for(form: Form) -> int:
    """Return the map_hash of a device of that form; raises as `registers_for`."""
    digest = hashlib.sha256(_canonical(registers_for(form), WINDOWS).encode("ascii")).digest()
    return int.from_bytes(digest[:4], "big")


@lru_cache(maxsize=64)
def form_of(map_hash: int | None) -> Form | None:
    """Return the form of map 1 with this map_hash; None where none has it.

    A form takes 1 ms to work out, and most devices are of the first one.
    """
    return next((form for form in _forms() if map_hash_for(form) == map_hash), None)


def known_maps() -> str:
    """Return the hashes of all forms for a message, the example card's first."""
    return ", ".join(f"{map_hash_for(form):08x}" for form in _forms())


def _forms() -> Iterator[Form]:
    return (Form(lanes, regions) for regions, lanes in product((False, True), LANE_COUNTS))


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
