"""The decoder's tables beside the truth: what differs, in words."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.file import open_packets
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from tests.decoders.iwarp import octets as o
from tests.decoders.iwarp.packets import Capture
from tests.decoders.iwarp.truth import Breach, Fpdu, Truth

KINDS = {
    o.WRITE: "Write", o.READ_REQUEST: "Read", o.SEND: "Send", o.SEND_INV: "Send with Invalidate",
    o.SEND_SE: "Send with SE", o.SEND_SE_INV: "Send with SE and Invalidate", o.TERMINATE: "Terminate",
    o.IMMEDIATE: "Immediate", o.IMMEDIATE_SE: "Immediate with SE", o.ATOMIC_REQUEST: "Atomic",
}  # fmt: skip
_NONE = np.zeros(0, np.int64)
_NOTHING = PacketBlock(
    np.zeros(1 << 20, np.uint8),
    _NONE,
    _NONE,
    _NONE,
    _NONE,
    _NONE.astype(np.int32),
    _NONE.astype(np.int32),
    0,
)
Tables = dict[str, list[dict[str, Any]]]


def decode_file(path: Path, *, payload: bool = True, fpdus: bool = True) -> dict[str, pa.Table]:
    """Return the decoder's four tables of a file."""
    options = OptionValues(IWARP.options, {"payload": payload, "fpdus": fpdus})
    state = IwarpState(options)
    parts: dict[str, list[pa.Table]] = {}
    with open_packets(path) as file:
        for block in itertools.chain(file, [_NOTHING]):
            for name, table in decode_iwarp(block, options, state, block is _NOTHING).items():
                parts.setdefault(name.removeprefix("iwarp."), []).append(table)
    return {name: pa.concat_tables(tables) for name, tables in parts.items()}


def decode(capture: Capture, path: Path) -> Tables:
    """Return the decoder's tables of a capture, which is written to `path`, as rows."""
    path.write_bytes(capture.pcap())
    return {name: table.to_pylist() for name, table in decode_file(path).items()}


def source_of(truth: Truth, connection: int, side: int) -> str:
    """Return a sender and its receiver as the decoder writes them."""
    ends = truth.connections[connection].ends
    texts = [f"[{ip}]" if ip.version == 6 else str(ip) for ip in ends.ip]
    return f"{texts[side]}:{ends.port[side]}>{texts[1 - side]}:{ends.port[1 - side]}"


def expected_fpdu(fpdu: Fpdu, truth: Truth) -> dict[str, Any]:
    """Return the columns of an FPDU that the truth knows."""
    tagged = fpdu.tagged
    is_on = truth.connections[fpdu.connection].crc_on
    return {
        "packet": fpdu.packet,
        "position": fpdu.begin,
        "length_B": len(fpdu.ulpdu),
        "payload_B": len(fpdu.payload),
        "markers": fpdu.markers,
        "tagged": tagged,
        "last": fpdu.last,
        "ddp_version": fpdu.ulpdu[0] & 3,
        "rdmap_version": fpdu.ulpdu[1] >> 6,
        "opcode": fpdu.opcode,
        "stag": fpdu.stag if tagged else None,
        "to": fpdu.to - (fpdu.to >> 63 << 64) if tagged else None,  # bit patterns of int64
        "invalidated": None if tagged else fpdu.stag,
        "queue": None if tagged else fpdu.queue,
        "msn": None if tagged else fpdu.msn,
        "mo": None if tagged else fpdu.mo,
        "crc": fpdu.crc,
        "verdict": ("good" if fpdu.crc == fpdu.crc_right else "bad") if is_on else "off",
        "payload": fpdu.payload,
    }


def _by_source(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row["source"], []).append(row)
    return found


def fpdu_differences(tables: Tables, truth: Truth, left_out: tuple[str, ...] = ()) -> list[str]:
    """Return how the FPDUs differ from those of the truth, which are all there and in order."""
    wanted: dict[str, list[dict[str, Any]]] = {}
    for fpdu in truth.fpdus:
        source = source_of(truth, fpdu.connection, fpdu.side)
        wanted.setdefault(source, []).append(expected_fpdu(fpdu, truth))
    found = _by_source(tables["fpdus"])
    out = []
    for source in sorted(wanted.keys() | found.keys()):
        mine, theirs = wanted.get(source, []), found.get(source, [])
        if len(mine) != len(theirs):
            out.append(f"{source}: {len(theirs)} FPDUs, {len(mine)} were sent")
        for place, (want, got) in enumerate(zip(mine, theirs, strict=False)):
            for name, value in want.items():
                if name not in left_out and got[name] != value:
                    out.append(
                        f"{source} FPDU {place}: {name} is {got[name]!r:.60}, not {value!r:.60}"
                    )
    return out


def operation_differences(tables: Tables, truth: Truth) -> list[str]:
    """Return how the operations differ, as counts of (source, kind, octets); those without an answer are left out."""
    wanted: Counter[tuple[str, str, int]] = Counter()
    for operation in truth.operations:
        asks = operation.opcode in (o.READ_REQUEST, o.ATOMIC_REQUEST)
        if not asks or operation.response_last is not None:
            source = source_of(truth, operation.connection, operation.side)
            wanted[
                source,
                KINDS[operation.opcode],
                operation.size_B if operation.opcode != o.ATOMIC_REQUEST else -1,
            ] += 1
    found = Counter(
        (row["source"], row["kind"], row["size_B"] if row["kind"] != "Atomic" else -1)
        for row in tables["operations"]
        if row["t_answer_ps"] is not None or row["kind"] not in ("Read", "Atomic")
    )
    return [
        f"{'more' if n < 0 else 'fewer'} {key}: {abs(n)}"
        for key in wanted | found
        if (n := wanted[key] - found[key])
    ]


def breaches_found(tables: Tables) -> list[dict[str, Any]]:
    """Return the events that are errors or warnings."""
    return [row for row in tables["events"] if row["kind"] != "note"]


def breach_differences(tables: Tables, truth: Truth) -> list[str]:
    """Return what is wrong in how the one breach of a capture was found."""
    (breach,) = truth.breaches
    found = breaches_found(tables)
    source = source_of(truth, breach.connection, breach.side)
    named = [row for row in found if row["error"] == breach.rule]
    out = []
    if not named:
        out.append(f"{breach.rule} is not found")
    elif not _stands(named[0], breach, source, truth):
        there = f"{named[0]['source']} {named[0]['position']}, packet {named[0]['packet']}"
        here = f"{source} {breach.position}, packet {breach.packet}"
        out.append(f"{breach.rule} is found at {there}; it stands at {here}")
    others = {row["error"] for row in found} - {breach.rule, *breach.followers}
    out += [f"{name} is found too" for name in sorted(others)]
    first = found[0]["error"] if found else breach.rule
    if first not in (breach.rule, *breach.followers):
        out.append(f"{first} is found first")
    return out


def _stands(row: dict[str, Any], breach: Breach, source: str, truth: Truth) -> bool:
    """Tell whether an event is where the breach is: its FPDU's octets, or its frame's."""
    if row["source"] != source:
        return False
    if breach.rule == "mpa-initiator-early":  # known by its first octets
        return bool(0 <= breach.position - row["position"] <= 4)
    if breach.fpdu is not None and truth.connections[breach.connection].syn_seen:
        return bool(row["packet"] == breach.packet)
    start = truth.connections[breach.connection].start[breach.side]
    return bool(row["position"] == breach.position - start)


def unfounded(tables: Tables, truth: Truth) -> list[str]:
    """Return the errors and warnings in a damaged capture that are not its breach, or the breach elsewhere.

    The breach itself may be found or not, and then again behind it; what is never whole has no place to compare.
    """
    breach = truth.breaches[0] if truth.breaches else None
    out, named = [], False
    for row in breaches_found(tables):
        where = f"{row['error']} at {row['source']} {row['position']}, packet {row['packet']}"
        if breach is None or row["error"] not in (breach.rule, *breach.followers):
            out.append(where if breach is None else f"{where}, in place of {breach.rule}")
        elif row["error"] == breach.rule and not named:
            named = True
            near = 0 <= breach.position - row["position"] <= 4
            source = source_of(truth, breach.connection, breach.side)
            if row["source"] != source or not (near or breach.packet in (0, row["packet"])):
                out.append(f"{where}; it stands at {breach.position}, packet {breach.packet}")
    return out


def strays(tables: Tables, truth: Truth) -> list[str]:
    """Return the FPDUs with a verdict on all of their octets that were never sent: none, whatever was lost."""
    names = ("tagged", "last", "opcode", "length_B", "stag", "to", "queue", "msn", "mo", "payload")
    sent: Counter[tuple[Any, ...]] = Counter()
    for fpdu in truth.fpdus:
        row = expected_fpdu(fpdu, truth)
        sent[source_of(truth, fpdu.connection, fpdu.side), *(row[name] for name in names)] += 1
    found: Counter[tuple[Any, ...]] = Counter()
    for row in tables["fpdus"]:
        if row["verdict"] != "cut":
            found[row["source"], *(row[name] for name in names)] += 1
    return [f"never sent: {key!r:.120}" for key in found - sent]


def found_whole(tables: Tables, truth: Truth) -> tuple[int, int]:
    """Return how many FPDUs the decoder has whole, and how many the capture has."""
    whole = sum(fpdu.packet > 0 for fpdu in truth.fpdus)
    return sum(row["verdict"] != "cut" for row in tables["fpdus"]), whole
