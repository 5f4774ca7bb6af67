"""Export packets as pcapng, for Wireshark: Ethernet frames, buses with a link type, link packets, others as bytes.

An interface for each source. Times are nanoseconds from the beginning of the capture, rounded
down, so they show as 1970. docs/export.md has the layout of link packets.

Source: IETF draft-ietf-opsawg-pcapng-03; tcpdump.org link-layer header types.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.pcapng_blocks import (
    LINKTYPE_ETHERNET,
    MOST_B,
    interface_block,
    packet_block,
    section_block,
)
from freezeframe.gui.export.link_types import Frames, frames_of
from freezeframe.gui.export.material import Material, Wrote, rows_by_time, to_ns

LINK_LAYOUT = 1  # first byte of a link packet; another number is another layout
_LINKTYPE_LINK, _LINKTYPE_BYTES = 147, 148  # USER0, USER1
_DIRECTIONS = {"received": 1, "sent": 2}  # epb_flags bits 0-1: inbound, outbound
_VERDICT_BITS = {"header_ok": 0, "payload_ok": 2, "length_ok": 4}
_WHOLE_BIT = 6


@dataclass(slots=True)
class _Packet:
    t_ps: int
    interface: tuple[str, int, str]  # source, link type, description
    data: bytes
    flags: int
    comment: str
    wire_B: int = 0  # its length where more of it was on the wire than is kept


def write_pcapng(material: Material, path: Path) -> Wrote:
    """Write all packets of all tables, in order of time.

    Raises:
        InputError: no table has packets.
    """
    wrote = Wrote()
    packets: list[_Packet] = []
    silent = []
    for name, table in material.tables:
        make = _maker(name, table, material)
        if make is None:
            silent.append(name)
            continue
        found = list(make())
        wrote.add(f"packets of {name}", len(found))
        packets += found
    if not wrote.counts:
        what = (
            f"there are no bytes of packets in {', '.join(name for name, _ in material.tables)}; "
            "name a decoder that makes some"
            if material.tables
            else "samples have no packets; name a decoder that makes some"
        )
        raise InputError(
            f"{material.source}: nothing to export as pcapng: {what}, for instance "
            "-d spi+enc28j60, or -d trace for a capture folder"
        )
    if not packets:
        wrote.notes.append(
            f"a file without a packet: none is in {', '.join(name for name, _ in material.tables)}; "
            f"freezeframe explain {material.source} says what is"
        )
    # The words of a recording are what its packets are made of.
    silent = [
        name
        for name in silent
        if f"packets of {_beside(name, 'words', 'packets')}" not in wrote.counts
    ]
    if silent:
        wrote.notes.append(f"no packets, so not in the file: {', '.join(silent)}")
    packets.sort(key=lambda packet: packet.t_ps)
    interfaces = {packet.interface: 0 for packet in packets}
    for number, interface in enumerate(sorted(interfaces)):
        interfaces[interface] = number
    with path.open("xb") as file:
        source = material.source.name
        file.write(section_block(f"exported from {source}; time 0 is the beginning of the capture"))
        for interface in sorted(interfaces):
            file.write(interface_block(*interface))
        for packet in packets:
            file.write(
                packet_block(
                    interfaces[packet.interface], to_ns(packet.t_ps), packet.data,
                    wire_B=packet.wire_B, comment=packet.comment, flags=packet.flags,
                )
            )  # fmt: skip
    cut = sum(len(packet.data) > MOST_B for packet in packets)
    if cut:
        wrote.notes.append(f"packets longer than {MOST_B} B, which were cut to that: {cut}")
    return wrote


def _beside(name: str, this: str, other: str) -> str:
    """Return the name of the other table of a pair: of ``trace.packets#2``, ``trace.words#2``."""
    return re.sub(rf"\.{this}(?=#\d+$|$)", f".{other}", name)


def _maker(
    name: str, table: pa.Table, material: Material
) -> Callable[[], Iterator[_Packet]] | None:
    """Return what makes packets of a table, or None when it has none."""
    columns = set(table.column_names)
    if {"first_row", "end_row"} <= columns:
        words = material.table(_beside(name, "packets", "words"))
        return None if words is None else lambda: _link_packets(table, words)
    frames = frames_of(name)
    if frames is not None:
        return lambda: _bus_packets(name, table, frames, material)
    if "data" not in columns or not kinds.is_binary(table.schema.field("data").type):
        return None
    words_of = material.texts(name) if material.texts is not None else None
    linktype = LINKTYPE_ETHERNET if "ethertype" in columns else _LINKTYPE_BYTES
    return lambda: _byte_packets(name, table, linktype, words_of)


def _byte_packets(
    name: str,
    table: pa.Table,
    linktype: int,
    words_of: Callable[[dict[str, object]], str] | None,
) -> Iterator[_Packet]:
    """Yield a packet for each row; rows of kind error follow theirs and become its comment."""
    held: _Packet | None = None
    for row in rows_by_time(table):
        text = words_of(row) if words_of is not None else ""
        if row["kind"] == "error" and held is not None and _about(row, held):
            error = f"error: {row.get('error') or text}"
            held.comment = f"{held.comment}; {error}" if held.comment else error
            continue
        if held is not None:
            yield held
        data = bytes(row["data"] or b"")
        flags = _DIRECTIONS.get(str(row.get("direction")), 0)
        fcs = row.get("fcs")
        if linktype == LINKTYPE_ETHERNET and fcs is not None and fcs >= 0:
            data += struct.pack("<I", fcs)
            flags |= 4 << 5  # epb_flags bits 5-8: length of the check sequence, bytes
        # Bytes from the middle of a frame are no frame: Wireshark would read addresses there.
        kind = linktype if row.get("begun", True) else _LINKTYPE_BYTES
        interface = (str(row["source"]), kind, name)
        held = _Packet(row["t_ps"], interface, data, flags, text, int(row.get("wire_B") or 0))
    if held is not None:
        yield held


def _bus_packets(
    name: str, table: pa.Table, frames: Frames, material: Material
) -> Iterator[_Packet]:
    """Yield the packets of a bus that has a link type; what its rows of kind error say becomes comments."""
    words_of = material.texts(name) if material.texts is not None else None
    said: dict[tuple[int, str], list[str]] = {}
    for row in table.filter(pc.equal(table.column("kind").cast("string"), "error")).to_pylist():
        said.setdefault((row["t_ps"], str(row["source"])), []).append(f"error: {row['error']}")
    for made in frames(rows_by_time(table)):
        row = dict(made.row)
        about = said.pop((row["t_ps"], str(row["source"])), [])
        text = words_of(row) if words_of is not None and made.one_row else ""
        comment = "; ".join([*([text] if text else []), *about])
        interface = (str(row["source"]), made.linktype, name)
        yield _Packet(row["t_ps"], interface, made.data, 0, comment)


def _about(row: Mapping[str, Any], packet: _Packet) -> bool:
    """Tell whether an error row repeats the values of the packet before it."""
    return row["t_ps"] == packet.t_ps and packet.data.startswith(row["data"] or b"")


def _link_packets(packets: pa.Table, words: pa.Table) -> Iterator[_Packet]:
    """Yield link packets: 12 bytes that say what follows, then the words, 8 bytes each.

    Layout: u8 version, u8 verdicts (bits 0-1 header, 2-3 payload, 4-5 length: 0 not known, 1 good,
    2 bad; bit 6 whole), u16 TAIL words, u32 HEAD words, u32 BODY words; little-endian, as the words.
    """
    data = words.column("data").to_numpy().astype("<i8")
    codes = words.column("kind").combine_chunks()
    names = codes.dictionary.to_pylist()
    kind = codes.indices.to_numpy()
    for row in rows_by_time(packets):
        rows = slice(row["first_row"], row["end_row"])
        count = {text: int(np.count_nonzero(kind[rows] == code)) for code, text in enumerate(names)}
        verdicts = int(row["whole"]) << _WHOLE_BIT
        bad = []
        for column, bit in _VERDICT_BITS.items():
            verdicts |= {None: 0, True: 1, False: 2}[row[column]] << bit
            if row[column] is False:
                bad.append(f"{column.removesuffix('_ok')} wrong")
        front = struct.pack(
            "<BBHII",
            LINK_LAYOUT,
            verdicts,
            count.get("TAIL", 0),
            count.get("HEAD", 0),
            count.get("BODY", 0),
        )
        text = f"{row['kind']} #{row['seq']} flow {row['flow']} {row['direction']}"
        if not row["whole"]:
            bad.append("cut by the end of the memory or a gap")
        comment = ", ".join([text, f"t_ps {row['t_ps']} +- {row['t_unc_ps']}", *bad])
        interface = (str(row["source"]), _LINKTYPE_LINK, "link packets, layout in docs/export.md")
        yield _Packet(row["t_ps"], interface, front + data[rows].tobytes(), 0, comment)
