"""The rows of the kernels as tables: events, operations, FPDUs, connections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.decoders import columns
from freezeframe.decoders.columns import name_type, names, whole
from freezeframe.decoders.iwarp.payload_kernels import payload_offsets, put_payload
from freezeframe.decoders.iwarp.rules import RULES
from freezeframe.decoders.iwarp.state import CUT, REASONS, SLOTS, VERDICTS
from freezeframe.decoders.iwarp.words import connection_words, event_words
from freezeframe.decoders.net.addresses import end_text, ip_text
from freezeframe.decoders.net.tcp_state import PORTS
from freezeframe.decoders.net.tcp_streams import Connections

OPCODES = (
    "Write", "Read Request", "Read Response", "Send", "Send with Invalidate", "Send with SE",
    "Send with SE and Invalidate", "Terminate", "Immediate", "Immediate with SE", "Atomic Request", "Atomic Response",
    "opcode 12", "opcode 13", "opcode 14", "opcode 15",
)  # fmt: skip
_OPERATIONS = (*OPCODES[:1], "Read", *OPCODES[2:10], "Atomic", *OPCODES[11:])
_READ, _ATOMIC = 1, 10
_UNREAD = len(OPCODES)
_SEVERITY = np.array([("error", "warning", "note").index(rule.severity) for rule in RULES])
_EVENT_NUMBERS = ("rule", "value", "expected", "about", "detail")
_RULE_NAMES = (*(rule.name for rule in RULES), "")
_CLAUSES, _CLAUSE_OF = columns.distinct([rule.clause for rule in RULES])
_ANSWERS, _ANSWER_OF = columns.distinct(
    ["" if each.terminate is None else "{}.{}.{:02x}".format(*each.terminate) for each in RULES]
)


Rows = npt.NDArray[Any]
Fields = Mapping[str, npt.NDArray[Any]]  # of records, or the records themselves


def fpdu_schema() -> pa.Schema:
    """Return the columns of FPDUs, a row each, in the order in which they were whole.

    ``source``: the connection, sender first. ``kind``: the opcode. ``t_ps`` and ``packet_begin``: of its first octet,
    ``t_end_ps`` and ``packet`` of its last. ``number``: from 1, over the whole capture. ``position``: of its first
    octet in the stream of its side, a marker right before it counted with it; 0 is the first octet after SYN.
    ``length_B``: ULPDU_Length. ``verdict`` on the CRC: good, bad, off (none is in force, or none that is known to be),
    cut (the capture does not have all octets); ``error``: why it is likely bad, and ``flipped_bit`` the bit counted
    from ``position``, bit 0 the lowest of the first octet, -1 where it was not one. Untagged segments have ``queue``,
    ``msn``, ``mo`` and the ``invalidated`` STag, tagged ones ``stag`` and ``to``; null where the segment is of the
    other sort, or its header is not there. ``to`` is a bit pattern. ``payload``: where it was asked for.
    """
    return columns.event_schema(
        {
            "number": pa.int64(), "connection": pa.int64(), "side": pa.uint8(), "packet_begin": pa.int64(),
            "packet": pa.int64(), "position": pa.int64(), "length_B": pa.int32(), "payload_B": pa.int32(),
            "markers": pa.int16(), "tagged": pa.bool_(), "last": pa.bool_(), "ddp_version": pa.uint8(),
            "rdmap_version": pa.uint8(), "opcode": pa.uint8(), "stag": pa.uint32(), "to": pa.int64(),
            "invalidated": pa.uint32(), "queue": pa.uint32(), "msn": pa.uint32(), "mo": pa.uint32(), "crc": pa.uint32(),
            "crc_expected": pa.uint32(), "verdict": name_type(), "flipped_bit": pa.int32(),
            "payload": pa.binary(),
        }
    )  # fmt: skip


def fpdu_table(rows: Rows, connections: Connections, sources: Sources, kernel: Any) -> pa.Table:
    """Return FPDUs as a table; ``kernel`` holds their payload, where it is wanted."""
    of = columns.by_column(rows)
    control, rdmap, read = of["control"], of["rdmap"], of["read"] > 0
    tagged = control & 0x80 != 0
    opcode = np.where(read, rdmap & 15, _UNREAD)
    untagged_there, tagged_there = read & ~tagged, read & tagged
    bad = of["reason"] * (of["verdict"] == 1)
    cut = of["verdict"] == CUT
    filled = {
        "t_ps": _numbers(of["t_begin_ps"]),
        "source": sources.column(of, connections),
        "kind": names(opcode, (*OPCODES, "FPDU"), checked=False),
        "t_end_ps": _numbers(of["t_ps"]),
        "error": names(bad, REASONS, checked=False),
        "packet_begin": _numbers(of["packet_begin"]),
        "length_B": _numbers(of["length"]),
        "tagged": whole(tagged),
        "last": whole(control & 0x40 != 0),
        "ddp_version": _numbers(control & 3),
        "rdmap_version": _numbers(rdmap >> 6),
        "opcode": _numbers(rdmap & 15),
        "stag": _some(of["stag"], tagged_there),
        "to": _some(_pattern(of["to"]), tagged_there),
        "invalidated": _some(of["invalidates"], untagged_there),
        "queue": _some(of["queue"], untagged_there),
        "msn": _some(of["msn"], untagged_there),
        "mo": _some(of["mo"], untagged_there),
        "crc": _some(of["crc"], ~cut),
        "crc_expected": _some(of["crc_expected"], ~cut),
        "verdict": names(of["verdict"], VERDICTS, checked=False),
        "flipped_bit": _numbers(of["flip"]),
        "payload": _payload(rows, kernel),
    }
    return _table(fpdu_schema(), filled, of)


def operation_schema() -> pa.Schema:
    """Return the columns of operations, in the order in which they ended.

    ``source``: the connection, who asked first. ``t_ps``: first octet of the message, of a Read that of its request;
    ``t_end_ps``: last octet, of a Read that of its response, so that ``latency_ps`` is their difference;
    ``t_answer_ps``: first octet of the response, null where there is none. ``size_B``: payload; of a Read that of its
    response. ``stag``, ``to``: of the tagged buffer that is written, of a Read its sink; of a Send the STag that it
    invalidates. ``whole``: false for a response whose request the capture does not have, and for a request without its
    response.
    """
    return columns.event_schema(
        {
            "connection": pa.int64(), "side": pa.uint8(), "packet": pa.int64(), "packet_end": pa.int64(),
            "size_B": pa.int64(), "segments": pa.int32(), "msn": pa.uint32(), "stag": pa.uint32(), "to": pa.int64(),
            "source_stag": pa.uint32(), "source_to": pa.int64(), "t_answer_ps": pa.int64(), "latency_ps": pa.int64(),
            "whole": pa.bool_(),
        }
    )  # fmt: skip


def operation_table(rows: Rows, connections: Connections, sources: Sources) -> pa.Table:
    """Return operations as a table."""
    of = columns.by_column(rows)
    asked = (of["opcode"] == _READ) | (of["opcode"] == _ATOMIC)
    names_stag = (of["stag"] != 0) | (of["opcode"] == 0) | (of["opcode"] == _READ)
    filled = {
        "source": sources.column(of, connections),
        "kind": names(of["opcode"], _OPERATIONS, checked=False),
        "error": columns.one_name("", len(rows)),
        "size_B": _numbers(of["size"]),
        "stag": _some(of["stag"], names_stag),
        "to": _some(_pattern(of["to"]), (of["opcode"] == 0) | (of["opcode"] == _READ)),
        "msn": _some(of["msn"], (of["opcode"] != 0) & (of["opcode"] != 2)),
        "source_stag": _some(of["source_stag"], asked),
        "source_to": _some(_pattern(of["source_to"]), asked),
        "t_answer_ps": _some(of["t_answer_ps"], of["answered"] > 0),
        "latency_ps": _numbers(of["t_end_ps"] - of["t_ps"]),
        "whole": whole(of["whole"] > 0),
    }
    return _table(operation_schema(), filled, of)


def event_schema() -> pa.Schema:
    """Return the columns of events.

    ``kind``: error (a MUST is broken), warning, note (no breach). ``error``: the name of the rule, of notes too.
    ``fpdu``: number of the FPDU, null outside; ``about``: of a Terminate, the FPDU of the other side that it is about.
    ``value``, ``expected``: the numbers of ``text``, as bit patterns. ``clause``: where the rule stands. ``terminate``:
    what a receiver by the RFC sends, layer.type.code.
    """
    return columns.event_schema(
        {
            "connection": pa.int64(), "side": pa.uint8(), "packet": pa.int64(), "position": pa.int64(),
            "fpdu": pa.int64(), "about": pa.int64(), "value": pa.int64(), "expected": pa.int64(),
            "clause": name_type(), "terminate": name_type(), "text": pa.string(),
        }
    )  # fmt: skip


def event_table(rows: Rows, connections: Connections, sources: Sources) -> pa.Table:
    """Return events as a table."""
    rule = rows["rule"]
    filled = {
        "source": sources.column(rows, connections),
        "kind": names(_SEVERITY[rule], ("error", "warning", "note"), checked=False),
        "t_end_ps": _numbers(rows["t_ps"]),
        "error": names(rule, _RULE_NAMES, checked=False),
        "fpdu": _some(rows["fpdu"], rows["fpdu"] >= 0),
        "about": _some(rows["about"], rows["about"] >= 0),
        "value": _numbers(_pattern(rows["value"])),
        "expected": _numbers(_pattern(rows["expected"])),
        "clause": names(_CLAUSE_OF[rule], _CLAUSES, checked=False),
        "terminate": names(_ANSWER_OF[rule], _ANSWERS, checked=False),
        "text": columns.octets(
            [event_words(*(int(row[name]) for name in _EVENT_NUMBERS)) for row in rows]
        ),
    }
    return _table(event_schema(), filled, rows)


def connection_schema() -> pa.Schema:
    """Return the columns of connections that had anything of iWARP, in the order in which they ended.

    Columns of the Request and of the Reply are null where the capture does not have it. ``fpdus``, ``bad_crc``,
    ``payload_B``, ``gap_B``: of the initiator and of the responder; where who is who is not known, of the side that
    sent first and of the other. ``text``: the negotiation in words.
    """
    return columns.event_schema(
        {
            "connection": pa.int64(), "packet": pa.int64(), "initiator": pa.string(), "responder": pa.string(),
            "request_packet": pa.int64(), "reply_packet": pa.int64(), "request_revision": pa.int16(),
            "reply_revision": pa.int16(), "initiator_markers": pa.bool_(), "responder_markers": pa.bool_(),
            "crc": pa.bool_(), "rejected": pa.bool_(), "request_ird": pa.int32(), "request_ord": pa.int32(),
            "reply_ird": pa.int32(), "reply_ord": pa.int32(), "request_private": pa.binary(),
            "reply_private": pa.binary(), "initiator_fpdus": pa.int64(), "responder_fpdus": pa.int64(),
            "initiator_bad_crc": pa.int64(), "responder_bad_crc": pa.int64(), "initiator_payload_B": pa.int64(),
            "responder_payload_B": pa.int64(), "initiator_gap_B": pa.int64(), "responder_gap_B": pa.int64(),
            "events": pa.int64(), "from_start": pa.bool_(), "text": pa.string(),
        }
    )  # fmt: skip


def connection_table(
    rows: Rows, private: npt.NDArray[np.uint8], connections: Connections, end_ps: int
) -> pa.Table:
    """Return connections as a table; ``private``: a row of private data for each, of the Request and of the Reply."""
    made = [_connection(row, private[place], connections, end_ps) for place, row in enumerate(rows)]
    return columns.of_rows(connection_schema(), made)


def _connection(
    row: Any, private: npt.NDArray[np.uint8], connections: Connections, end_ps: int
) -> dict[str, Any]:
    first = max(0, int(row["initiator"]))
    slot, sides = int(row["slot"]), (first, 1 - first)
    asked, replied = int(row["revision"][0]) >= 0, int(row["revision"][1]) >= 0
    half = len(private) // 2
    kept = [int(size) for size in row["private_B"]]  # -1 where it had more than may be
    data = [private[half * i : half * i + max(0, kept[i])].tobytes() for i in (0, 1)]
    flags = [int(flag) for flag in row["frame_flags"]]
    deep = [int(row["revision"][i]) == 2 and bool(flags[i] & 0x10) for i in (0, 1)]
    made = {
        "t_ps": int(row["t_ps"]),
        "source": f"{_end(connections, slot, first)}>{_end(connections, slot, 1 - first)}",
        "kind": "connection",
        "t_end_ps": end_ps,
        "error": "rejected" if row["rejected"] else "",
        "connection": int(row["number"]),
        "packet": int(row["packet"]),
        "initiator": _end(connections, slot, first) if row["initiator"] >= 0 else None,
        "responder": _end(connections, slot, 1 - first) if row["initiator"] >= 0 else None,
        "request_packet": int(row["request_packet"]) if asked else None,
        "reply_packet": int(row["reply_packet"]) if replied else None,
        "request_revision": int(row["revision"][0]) if asked else None,
        "reply_revision": int(row["revision"][1]) if replied else None,
        "initiator_markers": bool(flags[1] & 0x80) if replied else None,
        "responder_markers": bool(flags[0] & 0x80) if asked else None,
        "crc": None if row["crc"] < 0 else bool(row["crc"]),
        "rejected": bool(row["rejected"]),
        "events": int(row["events"]),
        "from_start": not row["midstream"],
    }
    for place, which in enumerate(("request", "reply")):
        made[f"{which}_ird"] = int(row["ird"][place]) if deep[place] else None
        made[f"{which}_ord"] = int(row["ord"][place]) if deep[place] else None
        made[f"{which}_private"] = (
            data[place] if (asked, replied)[place] and kept[place] >= 0 else None
        )
    for who, side in zip(("initiator", "responder"), sides, strict=True):
        made[f"{who}_fpdus"] = int(row["rows"][side])
        made[f"{who}_bad_crc"] = int(row["bad"][side])
        made[f"{who}_payload_B"] = int(row["octets"][side])
        made[f"{who}_gap_B"] = int(row["gap_B"][side])
    made["text"] = connection_words(row, data)
    return made


def _table(schema: pa.Schema, filled: dict[str, pa.Array], rows: Fields | Rows) -> pa.Table:
    """Return a table of the columns that were made, the others as the rows have them."""
    arrays = [filled[name] if name in filled else _numbers(rows[name]) for name in schema.names]
    return pa.Table.from_arrays(
        [
            array if array.type == field.type else array.cast(field.type)
            for array, field in zip(arrays, schema, strict=True)
        ],
        schema=schema,
    )


def _numbers(values: npt.NDArray[Any]) -> pa.Array:
    return whole(
        np.array(values)
    )  # a copy: the kernels write these rows again, and a single one is contiguous


def _pattern(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return 64-bit words as bit patterns of int64, as all tables keep them."""
    return np.array(values).view(np.int64)


def _some(values: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> pa.Array:
    """Return numbers, null where they are not there."""
    return columns.some(np.array(values), there)


class Sources:
    """Who sends to whom, as a column: connections are few, rows many."""

    def __init__(self) -> None:
        self._used = np.zeros(2 * SLOTS, np.bool_)
        self._codes = np.zeros(2 * SLOTS, np.int32)

    def column(self, rows: Fields | Rows, connections: Connections) -> pa.Array:
        """Return the sender and the receiver of each row."""
        index = 2 * rows["slot"].astype(np.int64) + rows["side"]
        self._used[index] = True
        places = np.flatnonzero(self._used)
        self._used[places] = False
        self._codes[places] = np.arange(len(places))
        texts = [
            f"{_end(connections, place // 2, place % 2)}>{_end(connections, place // 2, 1 - place % 2)}"
            for place in places.tolist()
        ]
        # Ports that were used again are another connection between the same ends.
        different, code = columns.distinct(texts)
        return names(code[self._codes[index]], different, checked=False)


def _end(connections: Connections, slot: int, side: int) -> str:
    """Return one end as people write it, ``10.0.0.1:7174`` or ``[fe80::1]:7174``."""
    high, low = (int(half[slot]) for half in connections.address(side))
    ports = int(connections.connection[slot, PORTS])
    address = ip_text(int(connections.ip_version[slot]), high, low)
    return end_text(address, ports & 0xFFFF if side else ports >> 16)


def _payload(rows: Rows, kernel: Any) -> pa.Array:
    if kernel is None:
        return pa.nulls(len(rows), pa.binary())
    offsets = payload_offsets(rows, kernel["fragments"])
    data = np.empty(int(offsets[-1]), np.uint8)
    put_payload(rows, kernel["fragments"], kernel["payload"], offsets, data)
    return columns.cut_octets(data, offsets)
