"""Decode serial NOR flash on SPI: commands, addresses, data, and how long the part was busy.

Source: JEDEC JESD216F (opcodes, 4-byte addressing, status polling); JEDEC JEP106 (identification).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from freezeframe.capture.files.edges import sample_to_ps
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.columns import name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.parts.at45_commands import AT45_COMMANDS, STATUS_BITS, DataFlash
from freezeframe.decoders.parts.spi_bytes import byte_transfers
from freezeframe.decoders.parts.spiflash_chip import Flash, parts_of
from freezeframe.decoders.parts.spiflash_commands import COMMANDS

_MEANINGS = {c.name: c.meaning for c in (*AT45_COMMANDS.values(), *COMMANDS.values())}
_SHOWN_B = 16


def operation_schema() -> pa.Schema:
    """Return the columns of flash commands and errors, one command a transfer.

    ``kind`` is ``operation`` or ``error``, and then ``error`` says which; an error about a command
    stands after it and repeats its values. ``address`` was sent in ``address_bytes`` bytes.
    ``memory`` is the data in the direction of the command, null where it went over four lines;
    ``length_B`` counts it in any case. ``value`` is the register of a status command (the last one
    read), the three bytes of RDID, manufacturer and device of REMS, the signature of RDP. ``polls``
    counts the status bytes so far that said busy, since the last program or erase; ``busy_ps``
    stands with the status that said no longer busy, from the end of that command on. -1 stands for
    what is not there. ``transfer`` is the number of the SPI transfer. ``source`` is ``flash``, with the
    number of its chip select when that is not 0.
    """
    return sampled_schema(
        {
            "op": name_type(),
            "opcode": pa.int16(),
            "address": pa.int64(),
            "address_bytes": pa.int8(),
            "length_B": pa.int32(),
            "memory": pa.binary(),
            "value": pa.int64(),
            "polls": pa.int64(),
            "busy_ps": pa.int64(),
            "transfer": pa.int64(),
        }
    )


def new_state(options: OptionValues) -> dict[int, Flash]:
    """Return the state: a part for each chip select that is met."""
    return {}


def decode_spiflash(
    table: pa.Table, options: OptionValues, state: dict[int, Flash], last: bool
) -> pa.Table:
    """Decode SPI transfers of 8-bit words; ``state`` has a part for each chip select.

    Raises:
        InputError: words are not of 8 bits, or MOSI or MISO is not there.
    """
    rows: list[dict[str, Any]] = []
    for transfer in byte_transfers(table, options.integer("select"), "spiflash"):
        if transfer["words"]:
            if transfer["select"] not in state:
                state[transfer["select"]] = _new_flash(options)
            row, errors = _operation(state[transfer["select"]], transfer, table)
            rows.append(row)
            rows += [row | {"kind": "error", "error": error} for error in errors]
    return pa.Table.from_pylist(rows, schema=operation_schema())


def spiflash_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `operation_schema` into words."""
    op = str(row["op"]) or f"{row['opcode']:#04x}"
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{op}: {error}: {_ERROR_TEXTS[error]}")
    where = "" if row["address"] < 0 else f" {row['address']:#0{2 + 2 * row['address_bytes']}x}"
    if row["value"] >= 0:
        what = f" = {_value_text(op, row['value'])}"
    elif row["length_B"]:
        data = row["memory"]
        shown = "" if data is None else f": {data[:_SHOWN_B].hex(' ')}"
        what = f", {row['length_B']} B{shown}{'...' if len(data or b'') > _SHOWN_B else ''}"
    else:
        what = ""
    normal = f"{op}{where}{what}"
    busy = (
        ""
        if row["busy_ps"] < 0
        else f", was busy for {format_ps(row['busy_ps'])} ({row['polls']} polls)"
    )
    return Texts(op, normal, f"{_MEANINGS.get(op, 'unknown')}{where}{what}{busy}")


def _value_text(op: str, value: int) -> str:
    if op == "RDID":
        return f"{value:06x}"
    if op == "RDSR":
        bits = ", ".join(name for bit, name in _STATUS_BITS if value >> bit & 1)
        protect = value >> 2 & 0xF
        return f"{value:#04x} ({bits or 'ready'}, block protection {protect:#x})"
    if op == "STATUS":
        bits = ", ".join(name for bit, name in STATUS_BITS if value >> bit & 1)
        return f"{value:#04x} ({bits if value >> 7 else ', '.join(filter(None, ('busy', bits)))})"
    return f"{value:#04x}"


_STATUS_BITS = ((0, "busy"), (1, "write enabled"), (7, "register protected"))
_ERROR_TEXTS = {
    "unknown-opcode": "no command with this opcode is known",
    "bad-length": "the command has another number of bytes; the part does not do it",
    "not-enabled": "the write enable latch was not set; the part does not do it",
    "while-busy": "the last status said busy; the part does not do it",
    "in-power-down": "the part is in deep power-down and takes only the release from it",
    "reset-not-enabled": "the command before it does not enable the reset",
    "page-wrap": "the data goes over the end of the page and goes on at its beginning",
    "unaligned": "the address is inside of what is erased; the part ignores its lower bits",
    "cut-operation": "the capture begins or ends inside the command",
}


def _operation(
    flash: Flash, transfer: Mapping[str, Any], table: pa.Table
) -> tuple[dict[str, Any], list[str]]:
    mosi, miso = transfer["mosi"], transfer["miso"]
    command = flash.commands.get(mosi[0])
    row: dict[str, Any] = {
        "t_ps": transfer["t_ps"],
        "source": f"flash{transfer['select']}" if transfer["select"] > 0 else "flash",
        "kind": "operation",
        "t_end_ps": transfer["t_end_ps"],
        "error": "",
        "op": command.name if command else "",
        "opcode": mosi[0],
        "address": -1,
        "address_bytes": 0,
        "length_B": len(mosi) - 1,
        "memory": None,
        "value": -1,
        "polls": -1,
        "busy_ps": -1,
        "transfer": transfer["transfer"],
        "sample": transfer["sample"],
        "end_sample": transfer["end_sample"],
    }
    # Of a cut command the first byte may be missing, or some of its end: nothing is done by it.
    if transfer["kind"] == "error" or not transfer["whole"]:
        return row, ["cut-operation"]
    if command is None:
        return row, ["unknown-opcode"]
    parts = flash.located(command, parts_of(command, flash.address_bytes, mosi, miso))
    if command.address:
        mode = flash.address_bytes if command.address == "mode" else command.address
        row["address_bytes"] = mode
    errors = flash.errors(command, parts)
    row["length_B"] = parts.length_B
    if command.data:
        row["memory"] = parts.data
    if command.name not in ("REMS", "RDP"):
        row["address"] = parts.address
    row["value"] = _value(command.name, parts.address, parts.data or b"")
    flash.take(command, transfer["t_end_ps"], errors)
    if command.name == flash.status_op and not errors:
        flash.status(parts.data or b"", _ends_ps(transfer, table)[1:])
        row["polls"], row["busy_ps"] = flash.polls, flash.busy_ps
    return row, errors


def _new_flash(options: OptionValues) -> Flash:
    kind = DataFlash if options.text("family") == "at45" else Flash
    return kind(options.integer("address_bytes"), options.integer("page_b"))


def _value(op: str, address: int, data: bytes) -> int:
    """Return the number that a register command is about, -1 when there is none."""
    if op == "RDID":
        return int.from_bytes(data[:3], "big") if len(data) >= 3 else -1
    if op == "REMS":
        # An odd address asks for the device first.
        pair = data[:2] if not address & 1 else data[1::-1]
        return int.from_bytes(pair, "big") if len(data) >= 2 else -1
    if op == "RDP":
        return data[-1] if data else -1
    if op.startswith(("RDSR", "WRSR", "STATUS")):
        at = 0 if op.startswith("WRSR") else -1
        return data[at] if data else -1
    return -1


def _ends_ps(transfer: Mapping[str, Any], table: pa.Table) -> list[int]:
    """Return the time of the end of each byte."""
    ends = table.column("word_end_sample")[transfer["row"]].as_py()
    return [sample_to_ps(sample, transfer["samplerate_hz"]) for sample in ends]
