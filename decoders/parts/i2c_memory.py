"""What is asked of a memory on I2C: writes that begin with an address, reads that go on from it.

Memories and the management pages of pluggable modules share this: a write sets the address counter
of the device, and may go on with data; a read begins where the counter stands. A read after a
repeated START belongs to the write before it.

Source: the byte, page, random and sequential operations that 24-series memories share; SFF-8472
rev. 12.4, clause 4; INF-8077i rev. 4.5, chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

ACCESS_ERRORS = {
    "no-answer": "nothing answers this address",
    "short-address": "the write has fewer bytes than an address",
    "refused-address": "a byte of the address was not acknowledged",
    "refused-data": "a byte of the data was not acknowledged, so it is not written",
    "no-nak": "the reader acknowledged the last byte, so the device goes on driving the bus",
    "no-stop": "no STOP follows the data, so the device does not write",
    "cut": "the capture ends inside the operation",
}


@dataclass(frozen=True, slots=True)
class Access:
    """One access to a device: ``device`` is its 7-bit address, without the bits that select a block.

    ``address`` is where ``data`` begins, -1 when that is not known; ``addressed`` says that it was
    sent in this access. ``answered`` is False when nothing acknowledged the device's address, and
    then there is no data. ``refused_at`` is the number of the first byte of written data that was
    not acknowledged, -1 for none. ``problem`` names what else was wrong on the bus, as
    `ACCESS_ERRORS` does. ``byte_sample`` and ``byte_end_sample`` have the places of each byte of
    ``data``.
    """

    t_ps: int
    t_end_ps: int
    device: int
    read: bool
    address: int
    addressed: bool
    data: bytes
    answered: bool
    refused_at: int
    problem: str
    transfer: int
    sample: int
    end_sample: int
    byte_sample: tuple[int, ...]
    byte_end_sample: tuple[int, ...]
    samplerate_hz: int


class MemoryBus:
    """Follows the address counters of the devices at some addresses of a bus.

    Args:
        devices: first and last 7-bit address.
        address_bytes: bytes of a memory address, 1 or 2.
        size_B: of one device, a power of two; what does not fit the address bytes is in the lower
            bits of the device's address.
        page_B: within which a write wraps; ``size_B`` for none.
    """

    def __init__(
        self,
        devices: tuple[int, int],
        *,
        address_bytes: int = 1,
        size_B: int = 256,
        page_B: int = 256,
    ) -> None:
        self._first_device, self._last_device = devices
        self._address_bytes = address_bytes
        self._size_B = size_B
        self._page_B = page_B
        self._block_bits = max(0, (size_B - 1).bit_length() - 8 * address_bytes)
        self._counter: dict[int, int] = {}
        self._held: Access | None = None  # sets the address; a read may follow

    def accesses(self, transfers: pa.Table, *, last: bool) -> list[Access]:
        """Take a table of I2C transfers; return the accesses that are now known, ``last`` all."""
        known = [access for row in transfers.to_pylist() for access in self.feed(row)]
        return known + self.end() if last else known

    def feed(self, transfer: Mapping[str, Any]) -> list[Access]:
        """Take a row of I2C transfers; return the accesses that are now known."""
        held, self._held = self._held, None
        address = transfer["address"]
        if transfer["ten_bit"] or not self._first_device <= address <= self._last_device:
            # A repeated START to another device ends what was held.
            return [held] if held else []
        access = self._access(transfer)
        follows = access.read and access.answered and transfer["repeated"]
        if held and follows and access.device == held.device:
            return [_joined(held, access)]
        if not access.read and access.addressed and not access.data and not transfer["stopped"]:
            self._held = access
            return [held] if held else []
        return [held, access] if held else [access]

    def end(self) -> list[Access]:
        """Return what was held at the end of the capture."""
        held, self._held = self._held, None
        return [held] if held else []

    def _access(self, transfer: Mapping[str, Any]) -> Access:
        blocks = (1 << self._block_bits) - 1
        device, block = transfer["address"] & ~blocks, transfer["address"] & blocks
        data, skipped = transfer["data"], 0
        problem = "cut" if transfer["kind"] == "error" else ""
        address, addressed, refused_at = self._counter.get(device, -1), False, -1
        if not transfer["address_ack"]:
            data = b""
        elif transfer["read"]:
            if not problem and transfer["nak_at"] != len(data) - 1:
                problem = "no-nak"
            self._advance(device, address, len(data), self._size_B)
        elif data:
            sent, size = data, self._address_bytes
            data, skipped = data[size:], size
            nak_at = transfer["nak_at"]
            addressed, address = True, -1
            if 0 <= nak_at < size:
                problem, data = problem or "refused-address", b""
            elif len(sent) < size:
                problem = problem or "short-address"
            else:
                address = (block << 8 * size | int.from_bytes(sent[:size], "big")) % self._size_B
                refused_at = nak_at - size if nak_at >= 0 else -1
                if data and not problem and not transfer["stopped"]:
                    problem = "no-stop"
            taken = len(data) if refused_at < 0 else refused_at
            self._advance(device, address, taken, self._page_B)
        return Access(
            transfer["t_ps"],
            transfer["t_end_ps"],
            device,
            bool(transfer["read"]),
            address,
            addressed,
            data,
            bool(transfer["address_ack"]),
            refused_at,
            problem,
            transfer["transfer"],
            transfer["sample"],
            transfer["end_sample"],
            tuple(transfer["byte_sample"][skipped:][: len(data)]),
            tuple(transfer["byte_end_sample"][skipped:][: len(data)]),
            transfer["samplerate_hz"],
        )

    def _advance(self, device: int, address: int, count: int, within_B: int) -> None:
        """Set the counter of the device to ``count`` bytes after ``address``."""
        if address >= 0:
            first = address - address % within_B
            address = first + (address - first + count) % within_B
        self._counter[device] = address


def _joined(held: Access, read: Access) -> Access:
    """Return a read with the address that was sent right before it."""
    return replace(
        read,
        t_ps=held.t_ps,
        address=held.address,
        addressed=True,
        problem=held.problem or read.problem,
        transfer=held.transfer,
        sample=held.sample,
    )


def access_errors(access: Access) -> list[str]:
    """Return what was wrong on the bus, as `ACCESS_ERRORS` names it."""
    if not access.answered:
        return ["no-answer"]
    return [
        *([access.problem] if access.problem else []),
        *(["refused-data"] if access.refused_at >= 0 else []),
    ]


def row_of_access(access: Access) -> dict[str, Any]:
    """Return the columns that all tables of accesses share."""
    return {
        "t_ps": access.t_ps,
        "kind": "operation",
        "t_end_ps": access.t_end_ps,
        "error": "",
        "device": access.device,
        "address": access.address,
        "addressed": access.addressed,
        "length_B": len(access.data),
        "memory": access.data,
        "transfer": access.transfer,
        "sample": access.sample,
        "end_sample": access.end_sample,
    }
