"""Follow the management memory of a pluggable module: accesses to its pages, and the fields in them.

What is read is kept in an image, so a field is whole also when its bytes were read one by one. A
field is given when the last of its bytes that were not yet seen since the last time is read.

Source: SFF-8472 rev. 12.4, clause 4; INF-8077i rev. 4.5, chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from freezeframe.capture.files.edges import sample_to_ps
from freezeframe.decoders.columns import name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.parts.i2c_memory import (
    ACCESS_ERRORS,
    Access,
    MemoryBus,
    access_errors,
    row_of_access,
)
from freezeframe.decoders.parts.module_fields import Field, Memory, Reading

PAGE_SELECT = 127  # address of the byte that chooses the upper half
_HALF = 128
_MEMORY_B = 256
_SHOWN_B = 16


def field_schema() -> pa.Schema:
    """Return the columns of fields that were read or written, and errors.

    ``kind`` is ``field`` or ``error``, and then ``error`` says which; an error about a field stands
    after it and repeats its values. ``op`` is ``read`` or ``write``. ``page`` and ``address`` are
    where the field is, ``raw`` its bytes. ``value`` is its number in ``unit``, null where it has
    none; ``text`` says it in words. ``calibration`` is ``internal``, ``external`` or ``assumed``
    (internal, because the byte that says so was not read) for measurements, "" else. ``limit`` says
    which of the thresholds that are known a measurement violates (``high-alarm``, ``low-alarm``,
    ``high-warning``, ``low-warning``). ``reads`` counts the accesses that its bytes come from: only
    one makes a value of two bytes coherent.
    """
    return sampled_schema(
        {
            "op": name_type(),
            "page": name_type(),
            "address": pa.int16(),
            "length_B": pa.int32(),
            "name": name_type(),
            "raw": pa.binary(),
            "value": pa.float64(),
            "unit": name_type(),
            "text": pa.string(),
            "calibration": name_type(),
            "limit": name_type(),
            "reads": pa.int32(),
        }
    )


def transaction_schema() -> pa.Schema:
    """Return the columns of accesses to a module, and errors.

    ``kind`` is ``transaction`` or ``error``, and then ``error`` says which; an error about an access
    stands after it and repeats its values. ``op`` is ``read``, ``write``, ``set-address`` or
    ``none`` (nothing answered, or the device's address alone). ``page`` is where the access begins,
    ``address`` the byte there (-1 unknown); ``addressed`` says that it was sent. ``memory`` are the
    bytes, ``transfer`` is the number of the first I2C transfer.
    """
    return sampled_schema(
        {
            "op": name_type(),
            "device": pa.int16(),
            "page": name_type(),
            "address": pa.int16(),
            "addressed": pa.bool_(),
            "length_B": pa.int32(),
            "memory": pa.binary(),
            "transfer": pa.int64(),
        }
    )


class Module:
    """A module and what is known of its memory.

    Args:
        source: its name in the tables.
        devices: first and last 7-bit address.
        fields: the map of its memory.
        page_name: from device, address and selected page (-1 unknown) to the name of the page.
        paged_device: the device whose byte 127 selects the page of the upper half.
        page: the page that is selected at the beginning, -1 for not known.
    """

    def __init__(
        self,
        source: str,
        devices: tuple[int, int],
        fields: Sequence[Field],
        page_name: Callable[[int, int, int], str],
        paged_device: int,
        page: int,
    ) -> None:
        self.source = source
        self.bus = MemoryBus(devices)
        self._memory = Memory()
        self._page_name = page_name
        self._paged_device = paged_device
        self._page = page
        self._field_at = {
            (field.page, field.address + number): field
            for field in fields
            for number in range(field.length_B)
        }
        # Addresses of a field seen since it was given, with the accesses that they come from.
        self._seen: dict[Field, dict[int, int]] = {}

    def page_at(self, device: int, address: int) -> str:
        """Return the name of the page of a byte, "" while the address is not known."""
        return self._page_name(device, address, self._page) if address >= 0 else ""

    def take(self, access: Access) -> list[dict[str, Any]]:
        """Take the bytes of an access; return the fields that are whole by it."""
        rows = []
        if access.address < 0 or access.refused_at >= 0:
            return []
        first: dict[Field, int] = {}
        for number, byte in enumerate(access.data):
            address = (access.address + number) % _MEMORY_B
            page = self.page_at(access.device, address)
            self._memory.put(page, address, byte)
            if access.device == self._paged_device and address == PAGE_SELECT:
                self._page = byte
            field = self._field_at.get((page, address))
            if field is None:
                continue
            first.setdefault(field, number)
            seen = self._seen.setdefault(field, {})
            seen[address] = access.transfer
            if len(seen) == field.length_B:
                del self._seen[field]
                places = access.byte_sample[first[field]], access.byte_end_sample[number]
                rows += self._rows(field, access, places, len(set(seen.values())))
        return rows

    def _rows(
        self, field: Field, access: Access, places: tuple[int, int], reads: int
    ) -> list[dict[str, Any]]:
        raw = self._memory.get(field.page, field.address, field.length_B) or b""
        reading: Reading = field.meaning(raw, self._memory)
        t_ps, t_end_ps = (sample_to_ps(place, access.samplerate_hz) for place in places)
        row = {
            "t_ps": t_ps,
            "source": self.source,
            "kind": "field",
            "t_end_ps": t_end_ps,
            "error": "",
            "op": "read" if access.read else "write",
            "page": field.page,
            "address": field.address,
            "length_B": field.length_B,
            "name": field.name,
            "raw": raw,
            "value": None if reading.value is None else float(reading.value),
            "unit": reading.unit,
            "text": reading.text,
            "calibration": reading.calibration,
            "limit": self._limit(field, raw),
            "reads": reads,
            "sample": places[0],
            "end_sample": places[1],
        }
        error = {"kind": "error", "error": reading.error}
        return [row, row | error] if reading.error else [row]

    def _limit(self, field: Field, raw: bytes) -> str:
        """Return the threshold that a measurement violates; "" for none, or none that is known."""
        if field.limits is None:
            return ""
        value = int.from_bytes(raw, "big", signed=field.signed)
        for what, at in (("alarm", 0), ("warning", 2)):
            pair = [
                self._memory.get(field.page, address, field.length_B)
                for address in field.limits[at : at + 2]
            ]
            high, low = (
                int.from_bytes(limit, "big", signed=field.signed) if limit else None
                for limit in pair
            )
            if high is not None and low is not None and high <= low:
                continue  # a module that has none leaves them 0
            if high is not None and value > high:
                return f"high-{what}"
            if low is not None and value < low:
                return f"low-{what}"
        return ""


def decode_module(
    table: pa.Table, options: OptionValues, state: Module, last: bool
) -> dict[str, pa.Table]:
    """Decode I2C transfers to a module."""
    transactions: list[dict[str, Any]] = []
    fields: list[dict[str, Any]] = []
    for access in state.bus.accesses(table, last=last):
        row = row_of_access(access) | {
            "source": state.source,
            "kind": "transaction",
            "op": _op(access),
            "page": state.page_at(access.device, access.address),
        }
        transactions.append(row)
        transactions += [row | {"kind": "error", "error": error} for error in access_errors(access)]
        fields += state.take(access)
    name = state.source.lower()
    return {
        f"{name}.fields": pa.Table.from_pylist(fields, schema=field_schema()),
        f"{name}.transactions": pa.Table.from_pylist(transactions, schema=transaction_schema()),
    }


def module_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `field_schema` or `transaction_schema` into words."""
    what = str(row["name"] if "name" in row else row["op"])
    if row["kind"] == "error":
        error = str(row["error"])
        about = f" ({row['text']})" if "text" in row else ""
        return Texts("!", error, f"{what}: {error}: {_ERROR_TEXTS[error]}{about}")
    where = "?" if row["address"] < 0 else f"{row['page']} byte {row['address']}"
    if "name" in row:
        limit = f", over its {row['limit']} threshold" if row["limit"].startswith("high") else ""
        limit = f", under its {row['limit']} threshold" if row["limit"].startswith("low") else limit
        calibrated = f", {row['calibration']} calibration" if row["calibration"] else ""
        normal = f"{what}: {row['text']}{limit}"
        return Texts(str(row["text"]), normal, f"{row['op']} {where}, {normal}{calibrated}")
    data = row["memory"]
    shown = f": {data[:_SHOWN_B].hex(' ')}{'...' if len(data) > _SHOWN_B else ''}" if data else ""
    normal = f"{what} {where}{shown}"
    return Texts(what, normal, f"{row['source']}: {normal}, {len(data)} B")


_ERROR_TEXTS = ACCESS_ERRORS | {
    "bad-checksum": "the sum of the bytes is another",
    "bad-date": "this is no date",
    "not-ascii": "a text with characters that are not printable ASCII",
}


def _op(access: Access) -> str:
    if not access.answered or not (access.read or access.addressed):
        return "none"
    if access.read:
        return "read"
    return "write" if access.data else "set-address"
