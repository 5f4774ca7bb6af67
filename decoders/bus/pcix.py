"""PCI-X: transactions with their attributes, and Split Completions matched to the requests they answer.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b; mode 1 of 2.0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.bus.pci_signals import CHANNELS
from freezeframe.decoders.contract import EDGES, Decoder, Option, OptionValues, Output, Texts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples
    from freezeframe.decoders.bus.pci_stream import PhaseColumns, RowColumns

__all__ = [
    "PCIX",
    "PcixState",
    "decode_pcix",
    "pcix_texts",
    "phase_schema",
    "split_schema",
    "transaction_schema",
]

_ROWS_AT_ONCE = 4096
_AHEAD = 3  # clocks: PAR is one clock late, PERR# two more


def _fields(*columns: tuple[str, Any]) -> pa.Schema:
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    name = name_type()
    first = [
        pa.field("t_ps", pa.int64(), nullable=False),
        pa.field("source", name, nullable=False),
        pa.field("kind", name, nullable=False),
        pa.field("t_end_ps", pa.int64(), nullable=False),
    ]
    places = [("sample", pa.int64()), ("end_sample", pa.int64())]
    return pa.schema(first + [pa.field(*column) for column in (*columns, *places)])


@cache
def phase_schema() -> pa.Schema:
    """Return the columns of phases, in the order of the bus.

    ``kind`` is ``address``, ``attribute`` or ``data`` (one in which data goes over). ``value`` is
    the 64-bit pattern on AD, ``enables`` the levels of C/BE#, ``command`` that of an address phase.
    ``parity`` is ``good``, ``bad`` or empty where PAR is not known.
    """
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    return _fields(
        ("transaction", pa.int64()),
        ("command", name_type()),
        ("value", pa.int64()),
        ("enables", pa.uint8()),
        ("wide", pa.bool_()),
        ("parity", name_type()),
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
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    name = name_type()
    return _fields(
        ("error", name),
        ("transaction", pa.int64()),
        ("command", name),
        ("address", pa.int64()),
        ("dual", pa.bool_()),
        ("wide", pa.bool_()),
        ("requester", name),
        ("tag", pa.int8()),
        ("completer", name),
        ("byte_count", pa.int64()),
        ("relaxed", pa.bool_()),
        ("no_snoop", pa.bool_()),
        ("modified", pa.bool_()),
        ("data_phases", pa.int64()),
        ("size_B", pa.int64()),
        ("data", pa.list_(pa.int64())),
        ("enables", pa.list_(pa.uint8())),
        ("termination", name),
        ("devsel", name),
        ("target_waits", pa.int64()),
        ("latency_ps", pa.int64()),
        ("parity_errors", pa.int64()),
        ("perr", pa.bool_()),
        ("serr", pa.bool_()),
        ("split_of", pa.int64()),
        ("status", name),
        ("expected", pa.int8()),
        ("seen", pa.int8()),
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
    import pyarrow as pa

    from freezeframe.decoders.columns import name_type

    name = name_type()
    return _fields(
        ("error", name),
        ("request", pa.int64()),
        ("completion", pa.int64()),
        ("command", name),
        ("address", pa.int64()),
        ("requester", name),
        ("tag", pa.int8()),
        ("completer", name),
        ("byte_count", pa.int64()),
        ("received_B", pa.int64()),
        ("completions", pa.int64()),
        ("latency_ps", pa.int64()),
        ("status", name),
    )


class PcixState:
    """What is carried from piece to piece: clocks ahead, the kernel's records, data of an open
    transaction."""

    def __init__(self) -> None:
        import numpy as np

        from freezeframe.decoders.bus.pci_stream import ClockStream, HeldData
        from freezeframe.decoders.bus.pcix_rows import (
            PENDING_SPLITS,
            SPLIT_ROW,
            STATE,
            TRANSACTION_ROW,
        )

        self.clocks = ClockStream(_AHEAD)
        self.held = HeldData()
        self.records = (
            np.zeros(1, dtype=STATE),
            np.zeros(1, dtype=TRANSACTION_ROW),
            np.zeros(PENDING_SPLITS + 1, dtype=SPLIT_ROW),
            np.zeros(2 * _ROWS_AT_ONCE, dtype=SPLIT_ROW),
        )
        self.rows = np.zeros(_ROWS_AT_ONCE, dtype=TRANSACTION_ROW)

    def taken(self) -> RowColumns:
        """Return the splits that ended, and forget them."""
        from freezeframe.decoders.columns import by_column

        state, ended = self.records[0], self.records[3]
        found = by_column(ended[: int(state["ended"][0])])
        state["ended"] = 0
        return found


def decode_pcix(
    piece: Edges | Samples, options: OptionValues, state: PcixState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, in either form, with the channels of `pci_signals.CHANNELS`.

    Raises:
        InputError: a part of the 64-bit extension has no probe.
    """
    import numpy as np

    from freezeframe.decoders.bus.pci_stream import decoded
    from freezeframe.decoders.bus.pcix_kernels import transactions
    from freezeframe.decoders.bus.pcix_row_kernels import close
    from freezeframe.decoders.bus.pcix_rows import TRANSACTION_ROW
    from freezeframe.decoders.columns import by_column, end_to_end

    fed = state.clocks.feed(piece, "pcix", options, last)
    if fed is None:
        return _nothing()
    splits: list[RowColumns] = []
    found, phases = decoded(
        transactions,
        fed,
        state.records,
        state.rows,
        lambda: splits.append(state.taken()),
    )
    state.clocks.forget(fed.stop)
    if last:
        rest = np.zeros(1, dtype=TRANSACTION_ROW)
        found.append(by_column(rest[: close(piece.end_sample, state.records, rest)]))
        splits.append(state.taken())
    if not splits:
        splits.append(state.taken())
    rows = end_to_end(found or [by_column(state.rows[:0])])
    return {
        "pcix.phases": _phase_table(phases, piece),
        "pcix.transactions": _transaction_table(rows, phases, state, piece),
        "pcix.splits": _split_table(end_to_end(splits), piece),
    }


@cache
def _nothing() -> dict[str, pa.Table]:
    return {
        "pcix.phases": phase_schema().empty_table(),
        "pcix.transactions": transaction_schema().empty_table(),
        "pcix.splits": split_schema().empty_table(),
    }


def pcix_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of one of the three schemas into words."""
    from freezeframe.decoders.bus.pci_rows import parity_said
    from freezeframe.decoders.bus.pcix_rows import ERROR_TEXTS

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
        said = f"{ERROR_TEXTS[error]}{parity_said(row)}"
        return Texts("!", error, f"{source}: {f'{error} {about}'.strip()}: {said}")
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
    digits = 16 if row["wide"] else 8
    data = " ".join(f"{word & (1 << 64) - 1:0{digits}x}" for word in row["data"][:_SHOWN])
    more = " ..." if row["data_phases"] > _SHOWN else ""
    return Texts(
        about,
        normal,
        f"{source}: {normal}, {', '.join(filter(None, extra))}, data {data or 'none'}{more}",
    )


_SHOWN = 8  # data phases of a transaction that are shown


def _phase_table(phases: PhaseColumns, piece: Edges | Samples) -> pa.Table:
    from freezeframe.decoders.bus.pci_lines import VERDICTS
    from freezeframe.decoders.bus.pci_stream import span_columns
    from freezeframe.decoders.bus.pcix_rows import COMMANDS, PHASES
    from freezeframe.decoders.columns import names, one_name, table

    span = span_columns(phases["sample"], phases["end_sample"], piece.samplerate_hz)
    columns = span | {
        "source": one_name(piece.channels[0], phases.made),
        "kind": names(phases["kind"], PHASES, checked=False),
        "transaction": phases["transaction"],
        # The name after the commands is empty: other phases have none.
        "command": names(phases["command"], (*COMMANDS, ""), checked=False),
        "value": phases["value"],
        "enables": phases["enables"],
        "wide": phases["wide"] == 1,
        "parity": names(phases["parity"], VERDICTS, checked=False),
    }
    return table(phase_schema(), columns)


def _transaction_table(
    rows: RowColumns, phases: PhaseColumns, state: PcixState, piece: Edges | Samples
) -> pa.Table:
    from freezeframe.decoders.bus.pci_stream import elapsed_ps, span_columns
    from freezeframe.decoders.bus.pcix_rows import DEVSELS, ERRORS, TERMINATIONS
    from freezeframe.decoders.columns import names, one_name, table

    data, enables = state.held.lists(phases, rows["data_phases"])
    columns = (
        span_columns(rows["sample"], rows["end_sample"], piece.samplerate_hz)
        | _who(rows)
        | {
            "source": one_name(piece.channels[0], len(rows["error"])),
            "kind": names(rows["error"] != 0, ("transaction", "error")),
            "error": names(rows["error"], ERRORS),
            "transaction": rows["number"],
            "data": data,
            "enables": enables,
            "termination": names(rows["termination"], TERMINATIONS),
            "devsel": names(rows["devsel"], DEVSELS),
            "latency_ps": elapsed_ps(rows["sample"], rows["data_sample"], piece.samplerate_hz),
        }
    )
    numbers = ("address", "byte_count", "data_phases", "size_B", "target_waits")
    for name in (*numbers, "parity_errors", "split_of", "expected", "seen"):
        columns[name] = rows[name]
    for name in ("dual", "wide", "relaxed", "no_snoop", "modified", "perr", "serr"):
        columns[name] = rows[name] == 1
    return table(transaction_schema(), columns)


def _split_table(rows: RowColumns, piece: Edges | Samples) -> pa.Table:
    from freezeframe.decoders.bus.pci_stream import elapsed_ps, span_columns
    from freezeframe.decoders.bus.pcix_rows import ERRORS
    from freezeframe.decoders.columns import names, one_name, table

    columns = (
        span_columns(rows["sample"], rows["end_sample"], piece.samplerate_hz)
        | _who(rows)
        | {
            "source": one_name(piece.channels[0], len(rows["error"])),
            "kind": names(rows["error"] != 0, ("split", "error")),
            "error": names(rows["error"], ERRORS),
            "latency_ps": elapsed_ps(
                rows["split_sample"], rows["answer_sample"], piece.samplerate_hz
            ),
        }
    )
    for name in ("request", "completion", "address", "byte_count", "received_B", "completions"):
        columns[name] = rows[name]
    return table(split_schema(), columns)


def _who(rows: RowColumns) -> dict[str, Any]:
    """Return command, requester, tag, completer and status, which both tables have."""
    import numpy as np

    from freezeframe.decoders.bus.pcix_rows import COMMANDS, message_text
    from freezeframe.decoders.columns import names

    columns: dict[str, Any] = {"tag": rows["tag"].astype(np.int8)}
    columns["command"] = names(
        np.where(rows["command"] < 0, len(COMMANDS), rows["command"]), (*COMMANDS, "")
    )
    for name in ("requester", "completer"):
        columns[name] = _named(rows[name], _function)
    messages = np.where(
        rows["message_class"] < 0, -1, rows["message_class"] << 8 | rows["message_index"]
    )
    columns["status"] = _named(messages, lambda code: message_text(code >> 8, code & 0xFF))
    return columns


def _named(codes: npt.NDArray[np.int64], text: Callable[[int], str]) -> pa.Array:
    """Return a column of ``text(code)``, which is asked once for each that there is."""
    from freezeframe.decoders.columns import names, whole

    found = whole(codes).dictionary_encode()
    return names(found.indices.to_numpy(), [text(code) for code in found.dictionary.to_pylist()])


def _function(number: int) -> str:
    """Return bus, device and function as they are usually written; empty for -1."""
    return f"{number >> 8:02x}:{number >> 3 & 0x1F:02x}.{number & 7}" if number >= 0 else ""


PCIX = Decoder(
    id="pcix",
    name="PCI-X",
    doc="PCI-X 1.0b and mode 1 of 2.0: transactions with attributes, splits matched; violations",
    consumes=EDGES,
    produces=(
        Output("pcix.phases", phase_schema, "address, attribute and data phases"),
        Output("pcix.transactions", transaction_schema, "transactions and errors"),
        Output("pcix.splits", split_schema, "split requests with what answered them"),
    ),
    decode=decode_pcix,
    decode_samples=decode_pcix,
    new_state=lambda options: PcixState(),
    channels=CHANNELS,
    options=(
        Option(
            "take",
            "before",
            "the signals that stand in the sample before the rising edge of the clock, or with it",
            choices=("before", "with"),
        ),
    ),
    texts=pcix_texts,
)
