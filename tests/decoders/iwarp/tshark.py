"""What tshark reads in a capture: a row for each FPDU, fields as in the truth."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.decoders.iwarp.packets import Endpoints
from tests.decoders.iwarp.truth import Fpdu

TSHARK = shutil.which("tshark")
FIELDS = (
    "frame.number",
    "tcp.srcport",
    "tcp.dstport",
    "iwarp_mpa.ulpdulength",
    "iwarp_mpa.crc",
    "iwarp_mpa.crc_check",
    "iwarp_ddp.tagged_flag",
    "iwarp_ddp.last_flag",
    "iwarp_ddp.dv",
    "iwarp_rdma.version",
    "iwarp_rdma.opcode",
    "iwarp_ddp.stag",
    "iwarp_ddp.tagged_offset",
    "iwarp_ddp.qn",
    "iwarp_ddp.msn",
    "iwarp_ddp.mo",
    "iwarp_rdma.inval_stag",
    "iwarp_rdma.sinkstag",
    "iwarp_rdma.sinkto",
    "iwarp_rdma.rdmardsz",
    "iwarp_rdma.srcstag",
    "iwarp_rdma.srcto",
)


@dataclass(frozen=True, slots=True)
class Row:
    """An FPDU as tshark shows it; None: a field that this FPDU has not."""

    packet: int
    ports: tuple[int, int]
    ulpdu_B: int
    crc: int  # as tshark prints it: the four octets as they stand, most significant first
    tagged: bool
    last: bool
    versions: tuple[int, int]
    opcode: int
    stag: int | None
    to: int | None
    queue: int | None
    msn: int | None
    mo: int | None
    read: tuple[int, ...] | None  # the fields of a Read Request


def read_rows(path: Path) -> list[Row]:
    """Return the FPDUs that tshark finds in a capture."""
    assert TSHARK
    command = [TSHARK, "-r", str(path), "-Y", "iwarp_ddp_rdmap", "-T", "fields"]
    # Protocols over RDMA take short Sends for their own, fail on them, and lose the FPDUs behind in the packet.
    command += ["--disable-protocol", "rpcordma", "--disable-protocol", "smb_direct"]
    command += ["--disable-protocol", "irc"]  # it has port 57000
    command += ["-o", "tcp.reassemble_out_of_order:TRUE"]
    command += ["-o", "iwarp_ddp_rdmap.reassemble_iwarp_rdma_send:FALSE"]
    command += ["-E", "occurrence=a", "-E", "aggregator=;", "-E", "separator=/t"]
    for field in FIELDS:
        command += ["-e", field]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [row for line in text.splitlines() for row in _rows(line)]


def _rows(line: str) -> Iterator[Row]:
    lists = [[int(n, 0) for n in cell.split(";")] if cell else [] for cell in line.split("\t")]
    named = dict(zip(FIELDS, map(iter, lists), strict=True))
    frame, ports = lists[0][0], (lists[1][0], lists[2][0])
    for ulpdu_B in lists[3]:
        tagged = bool(next(named["iwarp_ddp.tagged_flag"]))
        opcode = next(named["iwarp_rdma.opcode"])

        def of(name: str, there: bool) -> int | None:
            return next(named[name]) if there else None

        stag = of("iwarp_ddp.stag", tagged)
        if not tagged and opcode in (4, 6):
            stag = next(named["iwarp_rdma.inval_stag"], None)
        read = None
        if opcode == 1 and not tagged:
            read = tuple(
                next(named[f"iwarp_rdma.{n}"])
                for n in ("sinkstag", "sinkto", "rdmardsz", "srcstag", "srcto")
            )
        yield Row(
            frame,
            ports,
            ulpdu_B,
            next(named["iwarp_mpa.crc_check" if lists[5] else "iwarp_mpa.crc"]),
            tagged,
            bool(next(named["iwarp_ddp.last_flag"])),
            (next(named["iwarp_ddp.dv"]), next(named["iwarp_rdma.version"])),
            opcode,
            stag,
            of("iwarp_ddp.tagged_offset", tagged),
            of("iwarp_ddp.qn", not tagged),
            of("iwarp_ddp.msn", not tagged),
            of("iwarp_ddp.mo", not tagged),
            read,
        )


def expected_row(fpdu: Fpdu, ends: Endpoints) -> Row:
    """Return what tshark should show of an FPDU."""
    tagged, opcode = fpdu.tagged, fpdu.opcode
    read = None
    if opcode == 1 and not tagged:
        read = struct.unpack(">IQIIQ", fpdu.payload)
    return Row(
        fpdu.packet,
        (ends.port[fpdu.side], ends.port[1 - fpdu.side]),
        len(fpdu.ulpdu),
        int.from_bytes(fpdu.crc.to_bytes(4, "little"), "big"),
        tagged,
        fpdu.last,
        (fpdu.ulpdu[0] & 3, fpdu.ulpdu[1] >> 6),
        opcode,
        fpdu.stag if tagged or opcode in (4, 6) else None,
        fpdu.to if tagged else None,
        None if tagged else fpdu.queue,
        None if tagged else fpdu.msn,
        None if tagged else fpdu.mo,
        read,
    )
