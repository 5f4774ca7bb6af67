"""What the bridge is told and what it counts: its cycles and sizes, the protection tables, a write, the books."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from freezeframe.capture.errors import InputError
from freezeframe.decoders.sci import layout
from freezeframe.emulator.profile_files import profile_file

PAGE_B = 4096
BLOCK_B = 4 * layout.BODY_WORDS
NODE = 0x0004
"""This bridge's node; in loop-back its packets are for itself."""
FAR_NODE = 0x0008
"""That of the bridge at the other end of the ring."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of the bridge, by the names of the profile's ``[parameter]``; cycles unless the name says otherwise."""

    cycle_ns: int
    epu_cycles: int
    dispatch_cycles: int
    control_cycles: int
    master_cycles: int
    write_buffers: int
    ids_enabled: int
    incoming_buffers: int
    blink_start_cycles: int
    transit_cycles: int
    timeout_us: int
    resend_cycles: int
    send_buffers: int
    host_gap_cycles: int

    @property
    def timeout_cycles(self) -> int:
        return self.timeout_us * 1000 // self.cycle_ns


_LEAST = {"host_gap_cycles": 0}
_MOST = {
    "ids_enabled": layout.IDS,
    "write_buffers": 4,
    "incoming_buffers": layout.IDS,
    "cycle_ns": 30,
}


def sizes_of(profile: str, settings: Mapping[str, Any] | None = None) -> Sizes:
    """Return the numbers of a profile of a bridge.

    Args:
        settings: values in place of the profile's, by name; of those the bridge does not have none is taken.

    Raises:
        InputError: no such profile, or a number is missing, none, or out of range; the message names file and line.
    """
    file = profile_file(profile)
    said: Mapping[str, Any] = {**file.said.get("parameter", {}), **(settings or {})}
    values = {}
    for name in (one.name for one in fields(Sizes)):
        value = said.get(name)
        least, most = _LEAST.get(name, 1), _MOST.get(name, 1_000_000)
        if name == "cycle_ns":
            least = 30
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            place = file.place(("parameter", name))
            raise InputError(
                f"{place}: parameter.{name}: {value!r}; the bridge needs a whole number {least}..{most}"
            )
        values[name] = value
    return Sizes(**values)


class Page(NamedTuple):
    """An entry of a protection table: whether writes are allowed, and whether they are answered (`nwrite`)."""

    writable: bool = True
    answered: bool = False


@dataclass(frozen=True)
class Tables:
    """Downstream table of the sending side, upstream of the receiving one, by page; without an entry: refused."""

    down: Mapping[int, Page]
    up: Mapping[int, Page]


@dataclass
class Write:
    """A write of the host to remote memory: first byte of it, its words of 32 bits; inside one block of 64 bytes."""

    address: int
    words: tuple[int, ...]
    number: int = 0
    id: int = -1

    @property
    def page(self) -> int:
        return self.address // PAGE_B

    @property
    def key(self) -> int:
        """What the logged events of this write have for value: tag and transaction ID."""
        return (self.number & 0x3FF) << 6 | self.id


@dataclass
class Books:
    """What the bridge counts, by the names of its card file, and what stands in its registers."""

    counts: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    inside: int = 0


WRITE_BUFFER = ("idle", "translate_request_issued", "translated", "ready_to_send", "flush_request_issued")  # fmt: skip
