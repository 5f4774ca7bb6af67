"""PCI: transactions with their data, waits and termination, the phases, and what breaks the rules.

Source: PCI Local Bus Specification 3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from freezeframe.decoders.bus.pci_signals import CHANNELS
from freezeframe.decoders.contract import EDGES, Decoder, Option, OptionValues, Output, Texts

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples
    from freezeframe.decoders.bus.pci_stream import PhaseColumns, RowColumns

__all__ = ["PCI", "PciState", "decode_pci", "pci_texts", "phase_schema", "transaction_schema"]

_ROWS_AT_ONCE = 4096
_AHEAD = 2  # clocks: PAR is one clock late, PERR# two


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
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("transaction", pa.int64()),
            pa.field("command", name_type()),
            pa.field("value", pa.int64()),
            pa.field("enables", pa.uint8()),
            pa.field("wide", pa.bool_()),
            pa.field("initiator_waits", pa.int32()),
            pa.field("target_waits", pa.int32()),
            pa.field("parity", name_type()),
            pa.field("sample", pa.int64()),
            pa.field("end_sample", pa.int64()),
        ]
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
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("error", name_type()),
            pa.field("transaction", pa.int64()),
            pa.field("command", name_type()),
            pa.field("address", pa.int64()),
            pa.field("dual", pa.bool_()),
            pa.field("wide", pa.bool_()),
            pa.field("data_phases", pa.int64()),
            pa.field("size_B", pa.int64()),
            pa.field("data", pa.list_(pa.int64())),
            pa.field("enables", pa.list_(pa.uint8())),
            pa.field("termination", name_type()),
            pa.field("devsel", name_type()),
            pa.field("initiator_waits", pa.int64()),
            pa.field("target_waits", pa.int64()),
            pa.field("latency_ps", pa.int64()),
            pa.field("parity_errors", pa.int64()),
            pa.field("perr", pa.bool_()),
            pa.field("serr", pa.bool_()),
            pa.field("locked", pa.bool_()),
            pa.field("idsel", pa.bool_()),
            pa.field("preempted", pa.bool_()),
            pa.field("retries", pa.int64()),
            pa.field("first_try", pa.int64()),
            pa.field("expected", pa.int8()),
            pa.field("seen", pa.int8()),
            pa.field("sample", pa.int64()),
            pa.field("end_sample", pa.int64()),
        ]
    )


class PciState:
    """What is carried from piece to piece: clocks ahead, the kernel's records, data of an open
    transaction."""

    def __init__(self) -> None:
        import numpy as np

        from freezeframe.decoders.bus.pci_rows import (
            PENDING,
            PENDING_RETRIES,
            STATE,
            TRANSACTION_ROW,
        )
        from freezeframe.decoders.bus.pci_stream import ClockStream, HeldData

        self.clocks = ClockStream(_AHEAD)
        self.held = HeldData()
        self.records = (
            np.zeros(1, dtype=STATE),
            np.zeros(1, dtype=TRANSACTION_ROW),
            np.zeros(PENDING_RETRIES + 1, dtype=PENDING),
        )
        self.rows = np.zeros(_ROWS_AT_ONCE, dtype=TRANSACTION_ROW)


def decode_pci(
    piece: Edges | Samples, options: OptionValues, state: PciState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, in either form, with the channels of `pci_signals.CHANNELS`.

    Raises:
        InputError: a part of the 64-bit extension has no probe.
    """
    import numpy as np

    from freezeframe.decoders.bus.pci_kernels import transactions
    from freezeframe.decoders.bus.pci_row_kernels import close
    from freezeframe.decoders.bus.pci_rows import PENDING_RETRIES, TRANSACTION_ROW
    from freezeframe.decoders.bus.pci_stream import decoded
    from freezeframe.decoders.columns import by_column, end_to_end

    fed = state.clocks.feed(piece, "pci", options, last)
    if fed is None:
        return _nothing()
    found, phases = decoded(transactions, fed, state.records, state.rows)
    state.clocks.forget(fed.stop)
    if last:
        rest = np.zeros(PENDING_RETRIES + 1, dtype=TRANSACTION_ROW)
        found.append(by_column(rest[: close(piece.end_sample, state.records, rest)]))
    rows = end_to_end(found or [by_column(state.rows[:0])])
    return {
        "pci.phases": _phase_table(phases, piece),
        "pci.transactions": _transaction_table(rows, phases, state, piece),
    }


@cache
def _nothing() -> dict[str, pa.Table]:
    return {
        "pci.phases": phase_schema().empty_table(),
        "pci.transactions": transaction_schema().empty_table(),
    }


def pci_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `phase_schema` or `transaction_schema` into words."""
    from freezeframe.decoders.bus.pci_rows import ERROR_TEXTS, parity_said

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
        long = f"{row['source']}: {normal}: {ERROR_TEXTS[error]}{parity_said(row)}"
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
    digits = 16 if row["wide"] else 8
    data = " ".join(f"{word & (1 << 64) - 1:0{digits}x}" for word in row["data"][:_SHOWN])
    more = " ..." if row["data_phases"] > _SHOWN else ""
    return Texts(
        about,
        normal,
        f"{row['source']}: {normal}, {', '.join(filter(None, extra))}, data {data or 'none'}{more}",
    )


_SHOWN = 8  # data phases of a transaction that are shown


def _address_text(row: Mapping[str, Any]) -> str:
    digits = 16 if row["dual"] else 8
    return f"{row['command']} {row['address'] & (1 << 64) - 1:0{digits}x}"


def _parity(row: Mapping[str, Any]) -> str:
    return ", parity bad" if row["parity"] == "bad" else ""


def _phase_table(phases: PhaseColumns, piece: Edges | Samples) -> pa.Table:
    from freezeframe.decoders.bus.pci_lines import VERDICTS
    from freezeframe.decoders.bus.pci_rows import COMMANDS, PHASES
    from freezeframe.decoders.bus.pci_stream import span_columns
    from freezeframe.decoders.columns import names, one_name, table

    span = span_columns(phases["sample"], phases["end_sample"], piece.samplerate_hz)
    columns = span | {
        "source": one_name(piece.channels[0], phases.made),
        "kind": names(phases["kind"], PHASES, checked=False),
        "transaction": phases["transaction"],
        # The name after the commands is empty: a data phase has none.
        "command": names(phases["command"], (*COMMANDS, ""), checked=False),
        "value": phases["value"],
        "enables": phases["enables"],
        "wide": phases["wide"] == 1,
        "initiator_waits": phases["initiator_waits"],
        "target_waits": phases["target_waits"],
        "parity": names(phases["parity"], VERDICTS, checked=False),
    }
    return table(phase_schema(), columns)


def _transaction_table(
    rows: RowColumns, phases: PhaseColumns, state: PciState, piece: Edges | Samples
) -> pa.Table:
    import numpy as np

    from freezeframe.decoders.bus.pci_rows import COMMANDS, DEVSELS, ERRORS, TERMINATIONS
    from freezeframe.decoders.bus.pci_stream import elapsed_ps, span_columns
    from freezeframe.decoders.columns import names, one_name, table

    data, enables = state.held.lists(phases, rows["data_phases"])
    rate_hz = piece.samplerate_hz
    columns = span_columns(rows["sample"], rows["end_sample"], rate_hz) | {
        "source": one_name(piece.channels[0], len(rows["error"])),
        "kind": names(rows["error"] != 0, ("transaction", "error")),
        "error": names(rows["error"], ERRORS),
        "transaction": rows["number"],
        "command": names(
            np.where(rows["command"] < 0, len(COMMANDS), rows["command"]), (*COMMANDS, "")
        ),
        "data": data,
        "enables": enables,
        "termination": names(rows["termination"], TERMINATIONS),
        "devsel": names(rows["devsel"], DEVSELS),
        "latency_ps": elapsed_ps(rows["sample"], rows["data_sample"], rate_hz),
    }
    numbers = ("address", "data_phases", "size_B", "initiator_waits", "target_waits")
    for name in (*numbers, "parity_errors", "retries", "first_try", "expected", "seen"):
        columns[name] = rows[name]
    for name in ("dual", "wide", "perr", "serr", "locked", "idsel", "preempted"):
        columns[name] = rows[name] == 1
    return table(transaction_schema(), columns)


PCI = Decoder(
    id="pci",
    name="PCI",
    doc="PCI bus, 32 or 64 bits: transactions with data, waits, termination and retries; violations",
    consumes=EDGES,
    produces=(
        Output("pci.phases", phase_schema, "address and data phases"),
        Output("pci.transactions", transaction_schema, "transactions and errors"),
    ),
    decode=decode_pci,
    decode_samples=decode_pci,
    new_state=lambda options: PciState(),
    channels=CHANNELS,
    options=(
        Option(
            "take",
            "before",
            "the signals that stand in the sample before the rising edge of the clock, or with it",
            choices=("before", "with"),
        ),
    ),
    texts=pci_texts,
)
