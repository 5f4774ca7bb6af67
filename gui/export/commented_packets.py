"""Packets written again as pcapng, each with a comment of what it broke: for Wireshark, beside its own reading.

The packets, their lengths, their interfaces and directions are those of the source; times are rounded down to
nanoseconds. Options of the source that say more than that, its own comments among them, are not carried over.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from freezeframe.analyzers.iwarp.explain import packet_events
from freezeframe.capture.errors import InputError
from freezeframe.capture.packets.block import PacketBlock
from freezeframe.capture.packets.file import open_packets
from freezeframe.capture.packets.pcapng_blocks import interface_block, packet_block, section_block
from freezeframe.gui.export.material import Wrote

_FCS_SHIFT = 5  # epb_flags bits 5-8: length of the check sequence, bytes


def write_commented(
    source: Path,
    place: Path,
    specs: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> Wrote:
    """Write the packets of ``source`` to ``place``; the comments are those of the decoder ``iwarp``.

    Raises:
        InputError: another decoder is named; the source cannot be read.
    """
    other = [spec for spec in specs if spec.partition(":")[0] != "iwarp"]
    if other:
        raise InputError(
            f"-d {other[0]}: packets are written as pcapng with the comments of iwarp; the rows of other decoders go "
            "to csv and parquet"
        )
    wrote = Wrote()
    comments: dict[int, str] = {}
    for row in packet_events(source, progress):
        text = f"{row['error']}: {row['text']}"
        if row["clause"]:
            text += f" ({row['clause']})"
        before = comments.get(row["packet"])
        comments[row["packet"]] = text if before is None else f"{before}; {text}"
    with open_packets(source) as packets, place.open("xb") as file:
        file.write(section_block(f"exported from {source.name}"))
        known = 0
        for block in packets:
            for interface in block.interfaces[known:]:
                file.write(interface_block(interface.name, interface.linktype, ""))
            known = len(block.interfaces)
            file.write(b"".join(_blocks(block, packets.epoch_ns, comments)))
            wrote.add("packets", len(block))
    wrote.notes += packets.notes
    wrote.add("comments", len(comments))
    return wrote


def _blocks(block: PacketBlock, epoch_ns: int, comments: dict[int, str]) -> list[bytes]:
    made = []
    for at in range(len(block)):
        interface = int(block.interface[at])
        fcs_B = block.interfaces[interface].fcs_B
        flags = 0 if block.flags is None else int(block.flags[at])
        if fcs_B > 0 and not flags >> _FCS_SHIFT & 15:
            flags |= fcs_B << _FCS_SHIFT
        made.append(
            packet_block(
                interface,
                epoch_ns + int(block.t_ps[at]) // 1000,
                block.packet(at),
                wire_B=int(block.wire_B[at]),
                comment=comments.get(block.first + at, ""),
                flags=flags,
            )
        )
    return made
