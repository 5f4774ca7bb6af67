"""Decode serial EEPROM on I2C (24-series): operations, their data, and the time that writes take.

Source: Microchip DS20001203, 5.0 to 8.0 (device addressing, write, acknowledge polling, read), for
the operations that 24-series parts share.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.columns import name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.parts.i2c_memory import (
    ACCESS_ERRORS,
    Access,
    MemoryBus,
    access_errors,
    row_of_access,
)

_FIRST_DEVICE, _LAST_DEVICE = 0x50, 0x57  # control code 1010, then three bits of pins or blocks
_SHOWN_B = 16
_WIDTHS = (1, 2)  # bytes of an address
_BLOCKS = 8  # that three bits of the device address tell apart
_MOST_HELD = 4096  # transfers, of a bus that never shows how many


def operation_schema() -> pa.Schema:
    """Return the columns of EEPROM operations and errors.

    ``kind`` is ``operation`` or ``error``, and then ``error`` says which; an error about an
    operation stands after it and repeats its values. ``op`` is ``byte-write``, ``page-write``,
    ``current-read`` (a byte from where the counter stands), ``random-read`` (a byte from an address
    that is sent), ``sequential-read``, ``set-address`` or ``poll``. ``device`` is the 7-bit address
    without block bits, ``address`` that in the memory (-1 unknown), ``addressed`` whether it was
    sent in the operation. A ``poll`` stands for all addresses after a write that were not answered:
    ``polls`` counts them, and ``cycle_ps`` is from the STOP of the write to the first answer (-1
    without). ``transfer`` is the number of the first I2C transfer. Where the bytes of an address were to be
    found out, a row of kind ``address-bytes`` stands before all others: ``length_B`` says how many, and
    ``addressed`` whether the capture shows it; ``op`` is empty.
    """
    return sampled_schema(
        {
            "op": name_type(),
            "device": pa.int16(),
            "address": pa.int32(),
            "addressed": pa.bool_(),
            "length_B": pa.int32(),
            "memory": pa.binary(),
            "polls": pa.int64(),
            "cycle_ps": pa.int64(),
            "transfer": pa.int64(),
        }
    )


class EepromState:
    """The bus, what is known of each memory, and the polling that is under way."""

    def __init__(self, options: OptionValues) -> None:
        self.options = options
        self.address_bytes = options.integer("address_bytes")
        if options.integer("size_b") > _BLOCKS * 256:
            self.address_bytes = self.address_bytes or max(_WIDTHS)  # one byte cannot reach it
        self.held: list[dict[str, Any]] = []  # transfers, until the bytes of an address are known
        self.page_B = options.integer("page_b")
        self.content: dict[tuple[int, int], int] = {}  # (device, address): byte
        self.written_ps: dict[int, int] = {}  # device: end of a write, until something answers
        self.polls: dict[int, dict[str, Any]] = {}  # device: row of the polling under way
        self._set_bus(self.address_bytes or max(_WIDTHS))  # refuses what no width could be

    def decide(self, address_bytes: int) -> None:
        """Take so many bytes for an address."""
        self.address_bytes = address_bytes
        self._set_bus(address_bytes)

    def devices(self) -> tuple[int, int]:
        """Return the first and last address that are looked at, without block bits."""
        device = self.options.integer("device")
        return (device, device) if device >= 0 else (_FIRST_DEVICE, _LAST_DEVICE)

    def _set_bus(self, address_bytes: int) -> None:
        options = self.options
        size_B = options.integer("size_b") or 256**address_bytes
        blocks = size_B // 256**address_bytes
        if blocks > _BLOCKS:
            raise InputError(
                f"decoder eeprom: {size_B} B need more than {address_bytes} address B and three "
                "block bits; say address_bytes=2"
            )
        device = options.integer("device")
        devices = self.devices()
        if device >= 0 and blocks > 1:
            devices = (device & ~(blocks - 1), device | blocks - 1)
        self.bus = MemoryBus(
            devices, address_bytes=address_bytes, size_B=size_B, page_B=self.page_B
        )
        self.size_B = size_B


def decode_eeprom(
    table: pa.Table, options: OptionValues, state: EepromState, last: bool
) -> pa.Table:
    """Decode I2C transfers."""
    rows: list[dict[str, Any]] = []
    transfers = table.to_pylist()
    if not state.address_bytes:
        begin = max(len(state.held) - 1, 0)
        state.held += transfers
        shown = _shown_width(state.held[:_MOST_HELD], begin, state.devices())
        if not (shown or last or len(state.held) >= _MOST_HELD):
            return pa.Table.from_pylist([], schema=operation_schema())
        state.decide(shown or min(_WIDTHS))
        transfers, state.held = state.held, []
        if transfers:
            rows.append(_width_row(transfers[0], state.address_bytes, bool(shown)))
    accesses = [access for row in transfers for access in state.bus.feed(row)]
    for access in [*accesses, *(state.bus.end() if last else [])]:
        rows += _rows(state, access)
    if last:
        rows += state.polls.values()
        state.polls.clear()
    return pa.Table.from_pylist(rows, schema=operation_schema())


def eeprom_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `operation_schema` into words."""
    op = str(row["op"])
    if row["kind"] == "address-bytes":
        width = row["length_B"]
        why = (
            "so it was sent before a read"
            if row["addressed"]
            else "nothing shows it; say address_bytes="
        )
        return Texts(f"{width} B", f"addresses of {width} B", f"addresses of {width} B: {why}")
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{op}: {error}: {_ERROR_TEXTS[error]}")
    device = f"device {row['device']:#04x}"
    if op == "poll":
        normal = f"poll, {row['polls']} not answered"
        cycle = "" if row["cycle_ps"] < 0 else f", write took {format_ps(row['cycle_ps'])} at most"
        return Texts(op, normal, f"{device}: {normal}{cycle}")
    where = " at ?" if row["address"] < 0 else f" at {row['address']:#06x}"
    data = row["memory"]
    shown = f": {data[:_SHOWN_B].hex(' ')}" if data else ""
    normal = f"{op}{where}{shown}{'...' if len(data) > _SHOWN_B else ''}"
    return Texts(op, normal, f"{device}: {normal}, {row['length_B']} B")


def _shown_width(transfers: list[dict[str, Any]], begin: int, devices: tuple[int, int]) -> int:
    """Return the bytes of an address, by the first write that a read of its device follows after a repeated START.

    Such a write sends the address and nothing else (random read). 0 where there is none from ``begin`` on.
    """
    for write, read in pairwise(transfers[begin:]):
        sent = write["data"]
        if (
            devices[0] <= write["address"] <= devices[1]
            and not (write["ten_bit"] or write["read"] or write["stopped"])
            and write["address_ack"] and write["nak_at"] < 0 and len(sent) in _WIDTHS
            and read["repeated"] and read["read"] and read["address"] == write["address"]
        ):  # fmt: skip
            return len(sent)
    return 0


def _width_row(first: dict[str, Any], width: int, shown: bool) -> dict[str, Any]:
    return {
        "t_ps": first["t_ps"], "t_end_ps": first["t_ps"], "source": "EEPROM", "kind": "address-bytes", "error": "",
        "op": "", "device": -1, "address": -1, "addressed": shown, "length_B": width, "memory": b"", "polls": -1,
        "cycle_ps": -1, "transfer": first["transfer"], "sample": first["sample"], "end_sample": first["sample"],
    }  # fmt: skip


_ERROR_TEXTS = ACCESS_ERRORS | {
    "no-answer": "nothing answers this address, and no write is known that it could be busy with",
    "page-wrap": "the data goes over the end of the page and goes on at its beginning",
    "differs": "a byte is not what was last written or read there in this capture",
}


def _rows(state: EepromState, access: Access) -> list[dict[str, Any]]:
    row = row_of_access(access) | {
        "source": "EEPROM",
        "op": _op(access),
        "polls": -1,
        "cycle_ps": -1,
    }
    if not access.answered:
        return _not_answered(state, access, row)
    before = _answered(state, access)
    if row["op"] == "poll":
        # The address alone: it says that the device is there, and ends polling.
        return before or [row | {"polls": 0}]
    errors = access_errors(access)
    if access.read:
        errors += _read(state, access)
    elif access.data:
        if access.address >= 0 and access.address % state.page_B + len(access.data) > state.page_B:
            errors.append("page-wrap")
        if access.refused_at < 0 and not access.problem:
            _write(state, access)
    return [*before, row, *(row | {"kind": "error", "error": error} for error in errors)]


def _op(access: Access) -> str:
    if not access.answered or not (access.addressed or access.data or access.read):
        return "poll"
    if access.read:
        if len(access.data) > 1:
            return "sequential-read"
        return "random-read" if access.addressed else "current-read"
    if not access.data:
        return "set-address"
    return "byte-write" if len(access.data) == 1 else "page-write"


def _not_answered(state: EepromState, access: Access, row: dict[str, Any]) -> list[dict[str, Any]]:
    if access.device not in state.written_ps:
        row |= {"polls": 1}
        return [row, row | {"kind": "error", "error": "no-answer"}]
    poll = state.polls.setdefault(access.device, row | {"polls": 0})
    poll["polls"] += 1
    poll["t_end_ps"], poll["end_sample"] = access.t_end_ps, access.end_sample
    return []


def _answered(state: EepromState, access: Access) -> list[dict[str, Any]]:
    """Return the row of the polling that this answer ends, if there was any."""
    written_ps = state.written_ps.pop(access.device, None)
    poll = state.polls.pop(access.device, None)
    if poll is None or written_ps is None:
        return []
    poll["cycle_ps"] = access.t_ps - written_ps
    return [poll]


def _read(state: EepromState, access: Access) -> list[str]:
    if access.address < 0:
        return []
    differs = False
    for number, byte in enumerate(access.data):
        key = access.device, (access.address + number) % state.size_B
        differs |= state.content.get(key, byte) != byte
        state.content[key] = byte
    return ["differs"] if differs else []


def _write(state: EepromState, access: Access) -> None:
    state.written_ps[access.device] = access.t_end_ps
    page = access.address - access.address % state.page_B
    for number, byte in enumerate(access.data):
        place = (access.address - page + number) % state.page_B
        state.content[access.device, page + place] = byte
