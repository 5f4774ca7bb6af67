"""Tables of PCI-X: columns, rows of the kernels as columns, rows in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.bus.pci_names import PCIX_NAMES, message_text, parity_text
from freezeframe.decoders.bus.pci_stream import RowColumns
from freezeframe.decoders.bus.pci_tables import (
    command_names,
    data_text,
    elapsed_ps,
    error_names,
)
from freezeframe.decoders.columns import (
    name_type,
    names,
    sampled_schema,
    span_schema,
    span_table,
    whole,
)
from freezeframe.decoders.contract import Texts


@cache
def phase_schema() -> pa.Schema:
    """Return the columns of phases, in the order of the bus.

    ``kind`` is ``address``, ``attribute`` or ``data`` (one in which data goes over). ``value`` is
    the 64-bit pattern on AD, ``enables`` the levels of C/BE#, ``command`` that of an address phase.
    ``parity`` is ``good``, ``bad`` or empty where PAR is not known.
    """
    return span_schema(
        {
            "transaction": pa.int64(),
            "command": name_type(),
            "value": pa.int64(),
            "enables": pa.uint8(),
            "wide": pa.bool_(),
            "parity": name_type(),
            "sample": pa.int64(),
            "end_sample": pa.int64(),
        }
    )


@cache
def transaction_schema() -> pa.Schema:
    """Return the columns of transactions and errors, in the order of their end.

    ``kind`` is ``transaction`` or ``error``, and then ``error`` says which and the other columns
    what is known of the transaction it is about (``transaction`` -1: about none). ``requester`` and
    ``completer`` are ``bus:device.function``, empty where there is none. ``byte_count`` is that of
    the attributes (of a DWORD transaction the bytes that are enabled), ``size_B`` what went over.
    ``address`` of a Split Completion is its lower address. ``split_of`` is the transaction that a
    Split Completion answers, -1 else, ``status`` what its message says. ``target_waits`` are clocks
    from DEVSEL# to the first answer. ``latency_ps`` is from the address phase to the first data
    (-1 without). Of an error about parity ``expected`` is what PAR should have been and ``seen`` what
    it was, PAR64 as bit 1 of both (-1 else).
    """
    return sampled_schema(
        {
            "transaction": pa.int64(),
            "command": name_type(),
            "address": pa.int64(),
            "dual": pa.bool_(),
            "wide": pa.bool_(),
            "requester": name_type(),
            "tag": pa.int8(),
            "completer": name_type(),
            "byte_count": pa.int64(),
            "relaxed": pa.bool_(),
            "no_snoop": pa.bool_(),
            "modified": pa.bool_(),
            "data_phases": pa.int64(),
            "size_B": pa.int64(),
            "data": pa.list_(pa.int64()),
            "enables": pa.list_(pa.uint8()),
            "termination": name_type(),
            "devsel": name_type(),
            "target_waits": pa.int64(),
            "latency_ps": pa.int64(),
            "parity_errors": pa.int64(),
            "perr": pa.bool_(),
            "serr": pa.bool_(),
            "split_of": pa.int64(),
            "status": name_type(),
            "expected": pa.int8(),
            "seen": pa.int8(),
        }
    )


@cache
def split_schema() -> pa.Schema:
    """Return the columns of Split Transactions, in the order of their end.

    ``kind`` is ``split``, or ``error`` for one that ended with an error message or was not
    answered. A row lasts from the request to the end of its last Split Completion. ``request`` and
    ``completion`` are numbers of transactions (the last Split Completion, -1 without),
    ``completions`` counts them. ``latency_ps`` is from the end of the request to the begin of the
    first Split Completion (-1 without). ``byte_count`` was asked for (0 for a write).
    """
    return sampled_schema(
        {
            "request": pa.int64(),
            "completion": pa.int64(),
            "command": name_type(),
            "address": pa.int64(),
            "requester": name_type(),
            "tag": pa.int8(),
            "completer": name_type(),
            "byte_count": pa.int64(),
            "received_B": pa.int64(),
            "completions": pa.int64(),
            "latency_ps": pa.int64(),
            "status": name_type(),
        }
    )


def who_columns(rows: RowColumns) -> dict[str, Any]:
    """Return requester, completer and status, which transactions and splits have."""
    columns: dict[str, Any] = {
        name: _texts(rows[name], _function) for name in ("requester", "completer")
    }
    messages = np.where(
        rows["message_class"] < 0, -1, rows["message_class"] << 8 | rows["message_index"]
    )
    columns["status"] = _texts(messages, lambda code: message_text(code >> 8, code & 0xFF))
    return columns


def split_table(rows: RowColumns, piece: Edges | Samples) -> pa.Table:
    """Return the table of splits that ended."""
    columns = who_columns(rows) | {
        "kind": names(rows["error"] != 0, ("split", "error")),
        "error": error_names(rows["error"], PCIX_NAMES),
        "command": command_names(rows["command"], PCIX_NAMES),
        "latency_ps": elapsed_ps(rows["split_sample"], rows["answer_sample"], piece.samplerate_hz),
    }
    return span_table(split_schema(), rows, piece.channels[0], piece.samplerate_hz, **columns)


def _texts(codes: npt.NDArray[np.int64], text: Callable[[int], str]) -> pa.Array:
    """Return a column of ``text(code)``, which is asked once for each code that there is."""
    coded = whole(codes).dictionary_encode()
    return names(coded.indices.to_numpy(), [text(code) for code in coded.dictionary.to_pylist()])


def _function(number: int) -> str:
    """Return bus, device and function as they are usually written; empty for -1."""
    return f"{number >> 8:02x}:{number >> 3 & 0x1F:02x}.{number & 7}" if number >= 0 else ""


def pcix_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of one of the three schemas into words."""
    source, kind = row["source"], row["kind"]
    if kind in ("address", "attribute", "data"):
        digits = 16 if row["wide"] else 8
        value = f"{row['value'] & (1 << 64) - 1:0{digits}x}"
        normal = f"{row['command'] or kind} {value}"
        bad = ", parity bad" if row["parity"] == "bad" else ""
        return Texts(value, normal, f"{source}: {normal} C/BE# {row['enables']:x}{bad}")
    about = ""
    if row["requester"]:
        digits = 16 if row.get("dual") else 8
        address = f"{row['address'] & (1 << 64) - 1:0{digits}x}"
        about = f"{row['command']} {address} of {row['requester']} tag {row['tag']}"
    if kind == "error":
        error = str(row["error"])
        what = f"{PCIX_NAMES.error_texts[error]}{parity_text(row)}"
        return Texts("!", error, f"{source}: {f'{error} {about}'.strip()}: {what}")
    status = f", {row['status']}" if row["status"] else ""
    if kind == "split":
        normal = f"{about}: {row['received_B']} B in {row['completions']}{status}"
        long = f"{source}: {normal}, by {row['completer']} after {format_ps(row['latency_ps'])}"
        return Texts(about, normal, long)
    normal = f"{about}: {row['size_B']} of {row['byte_count']} B, {row['termination']}{status}"
    extra = [
        f"DEVSEL# {row['devsel']}" if row["devsel"] else "",
        f"{row['target_waits']} waits",
        *(name for name in ("relaxed", "no_snoop", "wide", "perr", "serr") if row[name]),
        f"{row['parity_errors']} parity errors" if row["parity_errors"] else "",
        f"answers {row['split_of']}" if row["split_of"] >= 0 else "",
    ]
    return Texts(
        about,
        normal,
        f"{source}: {normal}, {', '.join(filter(None, extra))}, {data_text(row)}",
    )
