"""Tables of PCI, and of PCI-X where they are alike: columns, rows of the kernels as columns, rows in words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges, samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.pci_names import ERRORS, PCI_NAMES, VERDICTS, Names, parity_text
from freezeframe.decoders.bus.pci_stream import PhaseColumns, RowColumns
from freezeframe.decoders.columns import name_type, names, sampled_schema, span_schema, span_table
from freezeframe.decoders.contract import Texts

_SHOWN = 8  # data phases of a transaction that are shown


@cache
def phase_schema() -> pa.Schema:
    """Return the columns of phases, in the order of the bus.

    ``kind`` is ``address`` or ``data`` (a data phase in which nothing goes over has no row).
    ``value`` is the 64-bit pattern on AD, ``command`` that of an address phase, ``enables`` the
    bytes of a data phase that are enabled, bit 0 for AD7..0. The waits are clocks in which IRDY#
    was not asserted, and in which neither TRDY# nor STOP# was. ``parity`` is ``good``, ``bad`` or
    empty where PAR is not known. ``wide`` is true for a transfer of 64 bits. A data phase lasts
    from the end of the phase before it to the clock after its own last one.
    """
    return span_schema(
        {
            "transaction": pa.int64(),
            "command": name_type(),
            "value": pa.int64(),
            "enables": pa.uint8(),
            "wide": pa.bool_(),
            "initiator_waits": pa.int32(),
            "target_waits": pa.int32(),
            "parity": name_type(),
            "sample": pa.int64(),
            "end_sample": pa.int64(),
        }
    )


@cache
def transaction_schema() -> pa.Schema:
    """Return the columns of transactions and errors, in the order of their end.

    ``kind`` is ``transaction`` or ``error``, and then ``error`` says which and the other columns
    what is known of the transaction it is about (``transaction`` -1: about none). ``data`` holds
    the 64-bit patterns of its data phases and ``enables`` their byte enables; ``size_B`` counts the
    enabled bytes. ``latency_ps`` is from the address phase to the first data (-1 without).
    ``parity_errors`` counts phases with a wrong PAR, ``perr`` and ``serr`` say that PERR# (two clocks after a data
    phase) or SERR# was asserted. ``preempted`` is true where GNT# was gone when the initiator ended
    the transaction: perhaps its latency timer did. ``retries`` counts the same transaction before
    that ended in a retry, ``first_try`` is the number of the first. Of an error about parity
    ``expected`` is what PAR should have been and ``seen`` what it was, PAR64 as bit 1 of both (-1 else).
    """
    return sampled_schema(
        {
            "transaction": pa.int64(),
            "command": name_type(),
            "address": pa.int64(),
            "dual": pa.bool_(),
            "wide": pa.bool_(),
            "data_phases": pa.int64(),
            "size_B": pa.int64(),
            "data": pa.list_(pa.int64()),
            "enables": pa.list_(pa.uint8()),
            "termination": name_type(),
            "devsel": name_type(),
            "initiator_waits": pa.int64(),
            "target_waits": pa.int64(),
            "latency_ps": pa.int64(),
            "parity_errors": pa.int64(),
            "perr": pa.bool_(),
            "serr": pa.bool_(),
            "locked": pa.bool_(),
            "idsel": pa.bool_(),
            "preempted": pa.bool_(),
            "retries": pa.int64(),
            "first_try": pa.int64(),
            "expected": pa.int8(),
            "seen": pa.int8(),
        }
    )


def phase_table(
    schema: pa.Schema, phases: PhaseColumns, piece: Edges | Samples, bus: Names
) -> pa.Table:
    """Return the table of phases."""
    rows = {name: phases[name] for name in PhaseColumns.NAMES}
    columns = {
        "kind": names(rows["kind"], bus.phases, checked=False),
        # The name after the commands is empty: a data phase has none.
        "command": names(rows["command"], (*bus.commands, ""), checked=False),
        "parity": names(rows["parity"], VERDICTS, checked=False),
    }
    return span_table(schema, rows, piece.channels[0], piece.samplerate_hz, **columns)


def transaction_columns(rows: RowColumns, bus: Names, samplerate_hz: int) -> dict[str, Any]:
    """Return the columns of transactions that are not the numbers of the kernel's rows."""
    return {
        "kind": names(rows["error"] != 0, ("transaction", "error")),
        "error": error_names(rows["error"], bus),
        "transaction": rows["number"],
        "command": command_names(rows["command"], bus),
        "termination": names(rows["termination"], bus.terminations),
        "devsel": names(rows["devsel"], bus.devsels),
        "latency_ps": elapsed_ps(rows["sample"], rows["data_sample"], samplerate_hz),
    }


def command_names(codes: npt.NDArray[np.int64], bus: Names) -> pa.Array:
    """Return the names of commands, empty for -1."""
    return names(np.where(codes < 0, len(bus.commands), codes), (*bus.commands, ""))


def error_names(codes: npt.NDArray[np.int64], bus: Names) -> pa.Array:
    """Return the names of errors, of which there are those of this bus alone."""
    texts = tuple(bus.error_texts)
    return names(_error_places(texts)[codes], texts)


@cache
def _error_places(texts: tuple[str, ...]) -> npt.NDArray[np.int64]:
    """Return where each of ERRORS is among these, -1 for none."""
    return np.array([texts.index(name) if name in texts else -1 for name in ERRORS])


def elapsed_ps(
    begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], samplerate_hz: int
) -> npt.NDArray[np.int64]:
    """Return the time between two samples of each row; -1 where the second is -1."""
    until = samples_to_ps(np.maximum(end, 0), samplerate_hz)
    since = samples_to_ps(np.maximum(begin, 0), samplerate_hz)
    return np.where(end < 0, -1, until - since)


def pci_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `phase_schema` or `transaction_schema` into words."""
    if row["kind"] == "address":
        normal = f"{row['command']} {row['value']:08x}"
        return Texts(f"{row['value']:08x}", normal, f"{row['source']}: {normal}{_parity(row)}")
    if row["kind"] == "data":
        digits = 16 if row["wide"] else 8
        normal = (
            f"{row['value'] & (1 << 64) - 1:0{digits}x} enables {row['enables']:0{digits // 2}b}"
        )
        waits = f", {row['initiator_waits']}+{row['target_waits']} waits"
        return Texts(normal.split()[0], normal, f"{row['source']}: {normal}{waits}{_parity(row)}")
    about = _address_text(row) if row["transaction"] >= 0 else ""
    if row["kind"] == "error":
        error = str(row["error"])
        normal = f"{error} {about}".strip()
        long = f"{row['source']}: {normal}: {PCI_NAMES.error_texts[error]}{parity_text(row)}"
        return Texts("!", error, long)
    normal = f"{about}: {row['size_B']} B in {row['data_phases']}, {row['termination']}"
    extra = [
        f"DEVSEL# {row['devsel']}" if row["devsel"] else "",
        f"{row['initiator_waits']}+{row['target_waits']} waits",
        "64 bits" if row["wide"] else "",
        f"{row['parity_errors']} parity errors" if row["parity_errors"] else "",
        *(name.upper() + "#" if row[name] else "" for name in ("perr", "serr", "locked")),
        "preempted" if row["preempted"] else "",
        f"after {row['retries']} retries" if row["retries"] else "",
    ]
    return Texts(
        about,
        normal,
        f"{row['source']}: {normal}, {', '.join(filter(None, extra))}, {data_text(row)}",
    )


def data_text(row: Mapping[str, Any]) -> str:
    """Return the first data phases of a transaction in words."""
    digits = 16 if row["wide"] else 8
    data = " ".join(f"{word & (1 << 64) - 1:0{digits}x}" for word in row["data"][:_SHOWN])
    more = " ..." if row["data_phases"] > _SHOWN else ""
    return f"data {data or 'none'}{more}"


def _address_text(row: Mapping[str, Any]) -> str:
    digits = 16 if row["dual"] else 8
    return f"{row['command']} {row['address'] & (1 << 64) - 1:0{digits}x}"


def _parity(row: Mapping[str, Any]) -> str:
    return ", parity bad" if row["parity"] == "bad" else ""
