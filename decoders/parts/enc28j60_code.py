"""Decode what is done with an ENC28J60, an Ethernet controller on SPI, and the frames it moves.

Source: Microchip DS39662E, 4.2 (SPI instruction set), table 4-1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from freezeframe.decoders.columns import name_type, sampled_schema
from freezeframe.decoders.contract import OptionValues, Texts
from freezeframe.decoders.net.ethernet import EthernetFrame, ethernet_texts
from freezeframe.decoders.net.ethernet_code import ethernet_table
from freezeframe.decoders.parts.enc28j60_memory import Chip, When
from freezeframe.decoders.parts.enc28j60_registers import COMMON_FROM, REGISTERS
from freezeframe.decoders.parts.spi_bytes import byte_transfers

_OPS = ("RCR", "RBM", "WCR", "WBM", "BFS", "BFC", "", "SRC")  # by the upper three bits
_NAMES = {
    "RCR": "read control register",
    "RBM": "read buffer memory",
    "WCR": "write control register",
    "WBM": "write buffer memory",
    "BFS": "bit field set",
    "BFC": "bit field clear",
    "SRC": "system reset",
}
_BUFFER_ARGUMENT = 0x1A  # the lower five bits of RBM and WBM


def operation_schema() -> pa.Schema:
    """Return the columns of ENC28J60 operations and errors, one operation a transfer.

    ``kind`` is ``operation`` or ``error``, and then ``error`` says which; an error about an
    operation stands after it and repeats its values. ``register`` is the name ("" for buffer
    memory, "?" while the bank is not known), ``address`` the 5 bits and ``bank`` the bank then
    selected. ``data`` is the register's value, or the mask of BFS and BFC; ``memory`` what was read
    from or written to buffer memory, from ``pointer`` on. -1 stands for what is not there or not
    known. ``transfer`` is the number of the SPI transfer.
    """
    return sampled_schema(
        {
            "op": name_type(),
            "register": name_type(),
            "address": pa.int8(),
            "bank": pa.int8(),
            "data": pa.int16(),
            "pointer": pa.int32(),
            "length_B": pa.int32(),
            "memory": pa.binary(),
            "transfer": pa.int64(),
        }
    )


def new_state(options: OptionValues) -> Chip:
    """Return a chip of which nothing is known yet."""
    return Chip()


def decode_enc28j60(
    table: pa.Table, options: OptionValues, state: Chip, last: bool
) -> dict[str, pa.Table]:
    """Decode SPI transfers of 8-bit words.

    Raises:
        InputError: words are not of 8 bits, or MOSI or MISO is not there.
    """
    rows: list[dict[str, Any]] = []
    frames: list[EthernetFrame] = []
    source = "ENC28J60"
    for transfer in byte_transfers(table, options.integer("select"), "enc28j60"):
        row, errors, moved = _operation(state, transfer)
        if row is not None:
            rows.append(row)
            rows += [row | {"kind": "error", "error": error} for error in errors]
        frames += moved
    if last:
        frames += state.received()
    return {
        "enc28j60.operations": pa.Table.from_pylist(rows, schema=operation_schema()),
        "ethernet": ethernet_table(frames, source),
    }


def enc28j60_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `operation_schema`, or of an Ethernet frame, into words."""
    if "ethertype" in row:
        return ethernet_texts(row)
    op = str(row["op"])
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{op or 'operation'}: {error}: {_ERROR_TEXTS[error]}")
    value = "" if row["data"] < 0 else f" {row['data']:#04x}"
    what = str(row["register"])
    if op in ("RBM", "WBM"):
        where = "" if row["pointer"] < 0 else f" at {row['pointer']:#06x}"
        what = f"{row['length_B']} B{where}"
    normal = f"{op} {what}{value}".strip()
    banked = row["bank"] >= 0 and 0 <= row["address"] < COMMON_FROM
    bank = f", bank {row['bank']}" if banked else ""
    long = f"{_NAMES.get(op, 'unknown')} {what}{value}{bank}".strip()
    return Texts(op, normal, long)


_ERROR_TEXTS = {
    "unknown-opcode": "there is no such instruction",
    "bad-length": "the instruction has another number of bytes",
    "bad-argument": "the lower five bits of a buffer memory instruction are not 11010",
    "unknown-bank": "the bank was not selected in the capture so far",
    "reserved-register": "there is no such register, or it is reserved",
    "no-dummy": "a MAC or MII register was read without the dummy byte",
    "extra-dummy": "an Ethernet register was read with a dummy byte",
    "not-eth-register": "bits of MAC and MII registers cannot be set or cleared by themselves",
    "cut-operation": "the capture begins or ends inside the operation",
}


def _operation(
    chip: Chip, transfer: Mapping[str, Any]
) -> tuple[dict[str, Any] | None, list[str], list[EthernetFrame]]:
    mosi, miso = transfer["mosi"], transfer["miso"]
    if not mosi:
        return None, [], []
    op, argument = _OPS[mosi[0] >> 5], mosi[0] & 0x1F
    row: dict[str, Any] = {
        "t_ps": transfer["t_ps"],
        "source": "ENC28J60",
        "kind": "operation",
        "t_end_ps": transfer["t_end_ps"],
        "error": "",
        "op": op,
        "register": "",
        "address": -1,
        "bank": -1,
        "data": -1,
        "pointer": -1,
        "length_B": len(mosi) - 1,
        "memory": b"",
        "transfer": transfer["transfer"],
        "sample": transfer["sample"],
        "end_sample": transfer["end_sample"],
    }
    # Of a cut operation the first byte may be missing, or some of its end: nothing is done by it.
    if transfer["kind"] == "error" or not transfer["whole"]:
        return row, ["cut-operation"], []
    when = When(transfer["t_ps"], transfer["t_end_ps"])
    if op in ("RBM", "WBM"):
        if argument != _BUFFER_ARGUMENT:
            return row, ["bad-argument"], []
        row["memory"] = (miso if op == "RBM" else mosi)[1:]
        row["pointer"] = (
            chip.read_memory(miso[1:], when) if op == "RBM" else chip.write_memory(mosi[1:])
        )
        return row, [], []
    if op == "SRC":
        if len(mosi) != 1:
            return row, ["bad-length"], []
        chip.reset()
        return row, [], []
    if not op:
        return row, ["unknown-opcode"], []
    if len(mosi) != 2 and not (op == "RCR" and len(mosi) == 3):
        return row, ["bad-length"], []
    errors = _name(chip, argument, row)
    if op == "RCR":
        return row, errors + _read(row, miso), []
    row["data"] = mosi[1]
    if op != "WCR" and row["register"].startswith("M"):
        errors.append("not-eth-register")
    act = {"WCR": chip.write, "BFS": chip.set_bits, "BFC": chip.clear_bits}[op]
    return row, errors, act(argument, mosi[1], when)


def _name(chip: Chip, address: int, row: dict[str, Any]) -> list[str]:
    row["address"] = address
    row["bank"] = chip.bank
    if chip.bank < 0 and address < COMMON_FROM:
        row["register"] = "?"
        return ["unknown-bank"]
    row["register"] = REGISTERS[max(0, chip.bank)][address]
    return ["reserved-register"] if row["register"] in ("-", "Reserved") else []


def _read(row: dict[str, Any], miso: bytes) -> list[str]:
    """Take the value of a register that was read; MAC and MII ones come after a dummy byte."""
    dummy = len(miso) == 3
    if row["register"] == "?":
        row["data"] = miso[-1]
        return []
    slow = row["register"].startswith("M")
    if slow and not dummy:
        return ["no-dummy"]
    row["data"] = miso[2] if slow else miso[1]
    return ["extra-dummy"] if dummy and not slow else []
