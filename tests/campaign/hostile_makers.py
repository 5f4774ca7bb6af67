"""Files that lie: sizes that contradict each other, members that overlap, bombs, counts that nothing could hold.

Each is made by its own few lines from the layout of its format, and shares no code with the readers.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tests.gui.made_capture import made_capture

Make = Callable[[Path], object]


class Case(NamedTuple):
    """A file, the verb that reads it, and what becomes of it.

    Attributes:
        at_once: it is refused before anything of it is unpacked.
        codes: exit codes that are right.
    """

    name: str
    file: str
    make: Make
    verb: tuple[str, ...]
    says: str
    at_once: bool = True
    codes: tuple[int, ...] = (2,)


DECODE = ("decode",)
UART = ("-d", "uart:rx=rx,baud=1000")
SMALL = ("--max-unpacked", "32MiB")
META = "[device 1]\ncapturefile=logic-1\ntotal probes={probes}\nsamplerate={rate}\nprobe1=rx\nunitsize={unit}\n"


def later(made: Callable[[], Make]) -> Make:
    """Return a maker that works out what it writes when it is asked for."""

    def make(path: Path) -> None:
        made()(path)

    return make


def of_bytes(data: bytes) -> Make:
    return lambda path: path.write_bytes(data)


def of_text(text: str) -> Make:
    return of_bytes(text.encode())


def of(file: str, *verb: str, codes: tuple[int, ...] = (2,)) -> Callable[..., Case]:
    """Return what makes a case of a kind of file: of its name, its bytes, its text or what writes it, what is said, and
    more of the command."""

    def case(
        name: str, content: Make | bytes | str, says: str = "", *more: str, at_once: bool = True,
        codes: tuple[int, ...] = codes,
    ) -> Case:  # fmt: skip
        data = content.encode() if isinstance(content, str) else content
        make = of_bytes(data) if isinstance(data, bytes) else data
        return Case(name, file, make, (*verb, *more), says, at_once, codes)

    return case


SR, DSVIEW, VCD, FST, GHW, CSV, JSON, WAV, ISF, RAW, SALEAE, PCAP_GZ, VCD_GZ, VCD_XZ, VCD_ZST = (
    of(file, *DECODE)
    for file in (
        "a.sr", "a.dsl", "a.vcd", "a.fst", "a.ghw", "a.csv", "a.json", "a.wav", "a.isf", "a.bin", "digital_0.bin",
        "a.pcap.gz", "a.vcd.gz", "a.vcd.xz", "a.vcd.zst",
    )
)  # fmt: skip
PCAP, PCAPNG = (of(file, *DECODE, codes=(0, 2)) for file in ("a.pcap", "a.pcapng"))
FF, FF_ZIP = (of(file, "explain") for file in ("a.ff", "a.ff.zip"))
FFREC = of("a.ffrec", "recording", codes=(0, 2))


# --- zip archives


class Member(NamedTuple):
    """A member as its local header and the directory say it; None of the latter: the same."""

    name: str
    packed: bytes
    size_B: int
    method: int = 0
    crc: int | None = None
    said_B: int | None = None  # unpacked, by the directory
    said_packed_B: int | None = None
    at: int | None = None  # where the directory says it begins
    flags: int = 0
    local: str | None = None  # its name before its bytes


def archive(
    members: Sequence[Member],
    count: int | None = None,
    where: int | None = None,
    zip64: bool = False,
) -> bytes:
    """Return a zip archive that says what its members say, right or wrong."""
    body, entries = bytearray(), bytearray()
    for m in members:
        crc = zlib.crc32(m.packed) if m.crc is None else m.crc
        begin = len(body) if m.at is None else m.at
        if m.at is None:
            local = (m.local or m.name).encode()
            sizes = (0xFFFFFFFF, 0xFFFFFFFF) if zip64 else (len(m.packed), m.size_B)
            extra = struct.pack("<HHQQ", 1, 16, m.size_B, len(m.packed)) if zip64 else b""
            body += struct.pack(
                "<4s5H3L2H",
                b"PK\3\4",
                45,
                m.flags,
                m.method,
                0,
                0x21,
                crc,
                *sizes,
                len(local),
                len(extra),
            )
            body += local + extra + m.packed
        said = (
            m.size_B if m.said_B is None else m.said_B,
            len(m.packed) if m.said_packed_B is None else m.said_packed_B,
        )
        extra = struct.pack("<HHQQ", 1, 16, *said) if zip64 else b""
        unpacked_B, packed_B = (0xFFFFFFFF, 0xFFFFFFFF) if zip64 else said
        name = m.name.encode()
        entries += struct.pack(
            "<4s6H3L5H2L", b"PK\1\2", 45, 45, m.flags, m.method, 0, 0x21, crc, packed_B, unpacked_B, len(name),
            len(extra),
            0, 0, 0, 0o100644 << 16, begin,
        ) + name + extra  # fmt: skip
    n = len(members) if count is None else count
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, n, n, len(entries), len(body) if where is None else where, 0
    )
    return bytes(body + entries) + end


def stored(name: str, data: bytes, **more: Any) -> Member:
    return Member(name, data, len(data), **more)


def deflated(name: str, data: bytes, **more: Any) -> Member:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return Member(
        name, packer.compress(data) + packer.flush(), len(data), 8, zlib.crc32(data), **more
    )


def session(
    *chunks: Member, probes: object = 1, rate: object = "1 MHz", unit: object = 1
) -> list[Member]:
    meta = META.format(probes=probes, rate=rate, unit=unit).encode()
    return [stored("version", b"2"), stored("metadata", meta), *chunks]


def sr(*chunks: Member, **more: object) -> Make:
    return of_bytes(archive(session(*chunks, **more)))


def bomb_of_zeros(size_B: int) -> bytes:
    """Return a deflate stream of so many zeros, made of repeated full blocks."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    piece = bytes(1 << 24)
    parts = [packer.compress(piece) for _ in range(size_B >> 24)]
    return b"".join([*parts, packer.flush()])


def many_of_one(method: str, size_B: int, count: int) -> Make:
    """An archive of one capture, in which so many entries of the directory stand for one member."""

    def make(path: Path) -> None:
        made = {"stored": stored, "deflated": deflated}[method]("x.ff/raw/0", bytes(size_B))
        at = 30 + len("x.ff/manifest.json") + len("{}")
        again = [made._replace(name=f"x.ff/raw/{n}", at=at) for n in range(1, count)]
        one_file(made, *again)(path)

    return make


def overlapping(path: Path) -> None:
    """Many entries of the directory that all stand for one member (the classic of overlapping bombs)."""
    core = deflated("logic-1-1", bytes(1 << 22))
    first = session(core)
    at = len(archive(first[:2])) - 22 - sum(46 + len(m.name) for m in first[:2])
    again = [core._replace(name=f"logic-1-{n}", at=at) for n in range(2, 2000)]
    path.write_bytes(archive([*first, *again]))


def inside(path: Path) -> None:
    """A stored member whose bytes are another member's header and bytes."""
    inner = archive([stored("logic-1-2", b"\1" * 999)])[: 30 + 9 + 999]
    outer = stored("logic-1-1", inner)
    before = len(archive(session())) - 22 - (46 + 7) - (46 + 8)
    hidden = stored("logic-1-2", b"\1" * 999, at=before + 30 + 9)
    path.write_bytes(archive(session(outer, hidden)))


DSL = (
    "[header]\nversion = 3\ntotal samples = {samples}\ntotal probes = 1\ntotal blocks = {blocks}\n"
    "samplerate = 1 MHz\n{probes}"
)


def dsl(samples: object, blocks: object, *members: Member, probes: str = "probe0 = rx\n") -> Make:
    head = DSL.format(samples=samples, blocks=blocks, probes=probes).encode()
    return of_bytes(archive([stored("header", head), *members]))


# --- packed as a whole


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


VCD_HEAD = b"$timescale 1 ns $end\n$var wire 1 ! rx $end\n$enddefinitions $end\n#0\n0!\n"


def packed_dump(pack: Callable[[bytes], bytes], size_B: int) -> Make:
    return lambda path: path.write_bytes(pack(VCD_HEAD + b"\n" * size_B))


def xz_dictionary(path: Path) -> None:
    """An .xz whose first block asks for a dictionary of 4 GiB - 1, its header's CRC right."""
    good = bytearray(lzma.compress(VCD_HEAD))
    size_B = (good[12] + 1) * 4
    good[12 + 4] = 40  # the dictionary of LZMA2
    good[12 + size_B - 4 : 12 + size_B] = struct.pack("<I", zlib.crc32(good[12 : 12 + size_B - 4]))
    path.write_bytes(good)


# --- waveforms


def fst(*sections: tuple[int, bytes], end: int = 100) -> bytes:
    header = (
        struct.pack(">QQ", 0, end)
        + struct.pack("<d", 2.718281828459045)
        + struct.pack(">QQQQQ", 1 << 26, 1, 1, 1, 1)
    )
    header += struct.pack("b", -9) + bytes(128 + 119) + b"\0" + struct.pack(">q", 0)
    return b"".join(
        bytes([kind]) + struct.pack(">Q", 8 + len(data)) + data
        for kind, data in ((0, header.ljust(321, b"\0")), *sections)
    )


def packed_fst(promised_B: int, data: bytes) -> bytes:
    packed = gzip.compress(data)
    return bytes([254]) + struct.pack(">QQ", 16 + len(packed), promised_B) + packed


def vcd_vars(count: int, bits: int) -> str:
    return (
        "$timescale 1 ns $end\n"
        + "".join(f"$var wire {bits} v{n} n{n} $end\n" for n in range(count))
        + "$enddefinitions $end\n#0\n"
    )


# --- packets


def pcap(records: bytes, snap_B: int = 65535) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap_B, 1) + records


def pcapng_block(kind: int, body: bytes, length: int | None = None) -> bytes:
    size_B = struct.pack("<I", len(body) + 12 if length is None else length)
    return struct.pack("<I", kind) + size_B + body + size_B


SECTION = pcapng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
INTERFACE = pcapng_block(1, struct.pack("<HHI", 1, 0, 262144))
ONE = struct.pack("<IIII", 1, 0, 60, 60) + bytes(60)


# --- captures of cards, recordings


def capture(change: Callable[[Path, dict[str, Any]], object]) -> Make:
    """Change the folder and the manifest of a good capture, and seal it again."""

    def make(path: Path) -> None:
        made_capture(path)
        manifest = json.loads((path / "manifest.json").read_text())
        change(path, manifest)
        del manifest["digest"]
        text = json.dumps(manifest, sort_keys=True, separators=(",", ":"))
        manifest["digest"] = hashlib.sha256(text.encode()).hexdigest()
        (path / "manifest.json").write_text(json.dumps(manifest))

    return make


def first_device(manifest: dict[str, Any]) -> dict[str, Any]:
    memory: dict[str, Any] = manifest["devices"][0]["memories"]["tx_enq"]
    return memory


def instead(change: Callable[[Path], object]) -> Make:
    """Put something else in the place of a raw file."""

    def make(path: Path) -> None:
        made_capture(path)
        file = path / "raw/A.tx_enq.rec"
        file.unlink()
        change(file)

    return make


def long_text(path: Path) -> None:
    made_capture(path)
    (path / "manifest.json").write_bytes(b'{"a":"' + b"x" * (17 << 20) + b'"}')


def deep(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text("[" * 100_000)


def tables(path: Path) -> None:
    """A table of 400 million rows that take 4 bytes each thousand."""
    made_capture(path)
    (path / "tables").mkdir(exist_ok=True)
    column = pa.array([0] * (1 << 20), pa.int64())
    table = pa.table({f"c{n}": column for n in range(8)})
    with pq.ParquetWriter(
        path / "tables/words.parquet", table.schema, compression="zstd"
    ) as writer:
        for _ in range(48):
            writer.write_table(table)


def one_file(*members: Member) -> Make:
    return of_bytes(archive([stored("x.ff/manifest.json", b"{}"), *members]))


def journal_frame(number: int, payload: bytes, length: int | None = None) -> bytes:
    size_B = len(payload) if length is None else length
    crc = zlib.crc32(payload, zlib.crc32(struct.pack("<IQ", size_B, number)))
    return b"\xf5FFJ" + struct.pack("<IQI", size_B, number, crc) + payload


def recording(data: bytes) -> Make:
    def make(path: Path) -> None:
        path.mkdir()
        (path / "00000001.ffj").write_bytes(b"FFRJRNL1" + data)

    return make


BEGIN = journal_frame(0, b'{"recording":1,"kind":"counters","tool":"x","t_ns":1,"utc_ns":2}')
COLUMNS = journal_frame(1, b'{"source":"s","columns":[["a","counter","B"]]}')


def archive_of_many(count: int) -> bytes:
    """Return an archive of so many empty members (with the end record of zip64, as the format asks for)."""

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x.ff/manifest.json", "{}")
        for number in range(count - 1):
            archive.writestr(f"x.ff/raw/{number}", b"")
    return made.getvalue()
