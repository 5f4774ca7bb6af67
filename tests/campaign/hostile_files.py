"""Files that lie: sizes that contradict each other, members that overlap, bombs, counts that nothing could hold.

Each is made by its own few lines from the layout of its format, and shares no code with the readers.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import os
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
_SMALL = ("--max-unpacked", "32MiB")
_META = "[device 1]\ncapturefile=logic-1\ntotal probes={probes}\nsamplerate={rate}\nprobe1=rx\nunitsize={unit}\n"


def _later(made: Callable[[], Make]) -> Make:
    """Return a maker that works out what it writes when it is asked for."""

    def make(path: Path) -> None:
        made()(path)

    return make


def _bytes(data: bytes) -> Make:
    return lambda path: path.write_bytes(data)


def _text(text: str) -> Make:
    return _bytes(text.encode())


# --- zip archives


class _Member(NamedTuple):
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


def _archive(
    members: Sequence[_Member],
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


def _stored(name: str, data: bytes, **more: Any) -> _Member:
    return _Member(name, data, len(data), **more)


def _deflated(name: str, data: bytes, **more: Any) -> _Member:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    return _Member(
        name, packer.compress(data) + packer.flush(), len(data), 8, zlib.crc32(data), **more
    )


def _session(
    *chunks: _Member, probes: object = 1, rate: object = "1 MHz", unit: object = 1
) -> list[_Member]:
    meta = _META.format(probes=probes, rate=rate, unit=unit).encode()
    return [_stored("version", b"2"), _stored("metadata", meta), *chunks]


def _sr(*chunks: _Member, **more: object) -> Make:
    return _bytes(_archive(_session(*chunks, **more)))


def _bomb_of_zeros(size_B: int) -> bytes:
    """Return a deflate stream of so many zeros, made of repeated full blocks."""
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    piece = bytes(1 << 24)
    parts = [packer.compress(piece) for _ in range(size_B >> 24)]
    return b"".join([*parts, packer.flush()])


def _many_of_one(method: str, size_B: int, count: int) -> Make:
    """An archive of one capture, in which so many entries of the directory stand for one member."""

    def make(path: Path) -> None:
        made = {"stored": _stored, "deflated": _deflated}[method]("x.ff/raw/0", bytes(size_B))
        at = 30 + len("x.ff/manifest.json") + len("{}")
        again = [made._replace(name=f"x.ff/raw/{n}", at=at) for n in range(1, count)]
        _one_file(made, *again)(path)

    return make


def _overlapping(path: Path) -> None:
    """Many entries of the directory that all stand for one member (the classic of overlapping bombs)."""
    core = _deflated("logic-1-1", bytes(1 << 22))
    first = _session(core)
    at = len(_archive(first[:2])) - 22 - sum(46 + len(m.name) for m in first[:2])
    again = [core._replace(name=f"logic-1-{n}", at=at) for n in range(2, 2000)]
    path.write_bytes(_archive([*first, *again]))


def _inside(path: Path) -> None:
    """A stored member whose bytes are another member's header and bytes."""
    inner = _archive([_stored("logic-1-2", b"\1" * 999)])[: 30 + 9 + 999]
    outer = _stored("logic-1-1", inner)
    before = len(_archive(_session())) - 22 - (46 + 7) - (46 + 8)
    hidden = _stored("logic-1-2", b"\1" * 999, at=before + 30 + 9)
    path.write_bytes(_archive(_session(outer, hidden)))


_DSL = (
    "[header]\nversion = 3\ntotal samples = {samples}\ntotal probes = 1\ntotal blocks = {blocks}\n"
    "samplerate = 1 MHz\n{probes}"
)


def _dsl(samples: object, blocks: object, *members: _Member, probes: str = "probe0 = rx\n") -> Make:
    head = _DSL.format(samples=samples, blocks=blocks, probes=probes).encode()
    return _bytes(_archive([_stored("header", head), *members]))


# --- packed as a whole


def _zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


_VCD_HEAD = b"$timescale 1 ns $end\n$var wire 1 ! rx $end\n$enddefinitions $end\n#0\n0!\n"


def _packed_dump(pack: Callable[[bytes], bytes], size_B: int) -> Make:
    return lambda path: path.write_bytes(pack(_VCD_HEAD + b"\n" * size_B))


def _xz_dictionary(path: Path) -> None:
    """An .xz whose first block asks for a dictionary of 4 GiB - 1, its header's CRC right."""
    good = bytearray(lzma.compress(_VCD_HEAD))
    size_B = (good[12] + 1) * 4
    good[12 + 4] = 40  # the dictionary of LZMA2
    good[12 + size_B - 4 : 12 + size_B] = struct.pack("<I", zlib.crc32(good[12 : 12 + size_B - 4]))
    path.write_bytes(good)


# --- waveforms


def _fst(*sections: tuple[int, bytes], end: int = 100) -> bytes:
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


def _packed_fst(promised_B: int, data: bytes) -> bytes:
    packed = gzip.compress(data)
    return bytes([254]) + struct.pack(">QQ", 16 + len(packed), promised_B) + packed


def _vars(count: int, bits: int) -> str:
    return (
        "$timescale 1 ns $end\n"
        + "".join(f"$var wire {bits} v{n} n{n} $end\n" for n in range(count))
        + "$enddefinitions $end\n#0\n"
    )


# --- packets


def _pcap(records: bytes, snap_B: int = 65535) -> bytes:
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, snap_B, 1) + records


def _block(kind: int, body: bytes, length: int | None = None) -> bytes:
    size_B = struct.pack("<I", len(body) + 12 if length is None else length)
    return struct.pack("<I", kind) + size_B + body + size_B


_SECTION = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
_INTERFACE = _block(1, struct.pack("<HHI", 1, 0, 262144))
_ONE = struct.pack("<IIII", 1, 0, 60, 60) + bytes(60)


# --- captures of cards, recordings


def _capture(change: Callable[[Path, dict[str, Any]], object]) -> Make:
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


def _first(manifest: dict[str, Any]) -> dict[str, Any]:
    memory: dict[str, Any] = manifest["devices"][0]["memories"]["tx_enq"]
    return memory


def _instead(change: Callable[[Path], object]) -> Make:
    """Put something else in the place of a raw file."""

    def make(path: Path) -> None:
        made_capture(path)
        file = path / "raw/A.tx_enq.rec"
        file.unlink()
        change(file)

    return make


def _long_text(path: Path) -> None:
    made_capture(path)
    (path / "manifest.json").write_bytes(b'{"a":"' + b"x" * (17 << 20) + b'"}')


def _deep(path: Path) -> None:
    path.mkdir()
    (path / "manifest.json").write_text("[" * 100_000)


def _tables(path: Path) -> None:
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


def _one_file(*members: _Member) -> Make:
    return _bytes(_archive([_stored("x.ff/manifest.json", b"{}"), *members]))


def _frame(number: int, payload: bytes, length: int | None = None) -> bytes:
    size_B = len(payload) if length is None else length
    crc = zlib.crc32(payload, zlib.crc32(struct.pack("<IQ", size_B, number)))
    return b"\xf5FFJ" + struct.pack("<IQI", size_B, number, crc) + payload


def _recording(data: bytes) -> Make:
    def make(path: Path) -> None:
        path.mkdir()
        (path / "00000001.ffj").write_bytes(b"FFRJRNL1" + data)

    return make


_BEGIN = _frame(0, b'{"recording":1,"kind":"counters","tool":"x","t_ns":1,"utc_ns":2}')
_COLUMNS = _frame(1, b'{"source":"s","columns":[["a","counter","B"]]}')

CASES: tuple[Case, ...] = (
    # zip: what the directory says
    Case(
        "a member of 1 B that has 16 MiB",
        "a.sr",
        _sr(_deflated("logic-1-1", bytes(1 << 24), said_B=1)),
        DECODE,
        "contradicts itself",
    ),
    Case(
        "a member that says less packed bytes than it has",
        "a.sr",
        _sr(_stored("logic-1-1", bytes(999), said_packed_B=5)),
        DECODE,
        "contradicts itself",
    ),
    Case("2,000 entries for one member", "a.sr", _overlapping, DECODE, "another name"),
    Case("a member inside of another", "a.sr", _inside, DECODE, "overlap"),
    Case(
        "a member twice",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1"), _stored("logic-1-1", b"\2")),
        DECODE,
        "twice",
    ),
    Case(
        "another name before the bytes",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1", local="logic-1-9")),
        DECODE,
        "another name",
    ),
    Case(
        "a directory of 60,000 members that has 3",
        "a.sr",
        _bytes(_archive(_session(_stored("logic-1-1", b"\1")), count=60_000)),
        DECODE,
        "",
    ),
    Case(
        "a directory beyond the end",
        "a.sr",
        _bytes(_archive(_session(_stored("logic-1-1", b"\1")), where=0xFFFFFF00)),
        DECODE,
        "",
    ),
    Case(
        "a member that begins beyond the end",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1"), _stored("logic-1-2", b"\1", at=0x7FFFFFFF)),
        DECODE,
        "no local header",
    ),
    Case(
        "a member of 2^62 B",
        "a.sr",
        _bytes(_archive([*_session(), _Member("logic-1-1", b"\1", 1 << 62)], zip64=True)),
        DECODE,
        "at most 68719476736 B are unpacked",
    ),
    Case(
        "40 members of 2 GiB each",
        "a.sr",
        _sr(*(_Member(f"logic-1-{n}", b"\1", 1 << 31) for n in range(1, 41))),
        DECODE,
        "says that it unpacks to",
    ),
    Case(
        "metadata of 1 GiB",
        "a.sr",
        _bytes(
            _archive(
                [_stored("version", b"2"), _Member("metadata", _bomb_of_zeros(1 << 26), 1 << 30, 8)]
            )
        ),
        DECODE,
        "at most",
    ),
    Case("encrypted", "a.sr", _sr(_stored("logic-1-1", b"\1", flags=1)), DECODE, "encrypted"),
    Case(
        "a method that nobody has",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1")._replace(method=99)),
        DECODE,
        "method 99",
    ),
    Case(
        "a bomb of 256 MiB with --max-unpacked 32MiB",
        "a.sr",
        _later(lambda: _sr(_Member("logic-1-1", _bomb_of_zeros(1 << 28), 1 << 28, 8))),
        (*DECODE, *_SMALL),
        "--max-unpacked",
    ),
    Case(
        "a bomb that says 16 MiB",
        "a.sr",
        _later(lambda: _sr(_Member("logic-1-1", _bomb_of_zeros(1 << 28), 1 << 24, 8))),
        (*DECODE, *UART),
        "more than the 16777216 B",
        at_once=False,
    ),
    Case(
        "a unit of 4 GB",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1"), unit=4_000_000_000),
        DECODE,
        "unitsize",
    ),
    Case("2^31 probes", "a.sr", _sr(_stored("logic-1-1", b"\1"), probes=1 << 31), DECODE, ""),
    Case(
        "a sample rate of 300 digits",
        "a.sr",
        _sr(_stored("logic-1-1", b"\1"), rate="9" * 300),
        DECODE,
        "",
    ),
    Case(
        "an archive of 30,000 empty members",
        "a.sr",
        _later(lambda: _sr(*(_stored(f"logic-1-{n}", b"") for n in range(1, 30_001)))),
        DECODE,
        "no sample",
        at_once=False,
    ),
    Case(
        "an archive in an archive's comment",
        "a.sr",
        _bytes(_archive(_session(_stored("logic-1-1", b"\1"))) + _archive(_session())),
        DECODE,
        "",
    ),
    # DSView
    Case(
        "10^9 blocks", "a.dsl", _dsl(8, 10**9, _stored("L-0/0", b"\1")), DECODE, "blocks are read"
    ),
    Case(
        "2^63 samples in a block",
        "a.dsl",
        _dsl(1 << 63, 1, _stored("L-0/0", b"\1")),
        (*DECODE, *UART),
        "samples",
    ),
    Case(
        "9,999 probes",
        "a.dsl",
        _dsl(
            8, 1, _stored("L-0/0", b"\1"), probes="".join(f"probe{n} = p{n}\n" for n in range(9999))
        ),
        DECODE,
        "9999 probes",
    ),
    Case(
        "a block of 1 GiB",
        "a.dsl",
        _dsl(1 << 32, 1, _Member("L-0/0", b"\1", 1 << 30)),
        (*DECODE, *UART),
        "at most",
    ),
    # packed as a whole
    *(
        Case(
            f"64 MiB in a {suffix} with --max-unpacked 32MiB",
            f"a.vcd{suffix}",
            _packed_dump(pack, 1 << 26),
            (*DECODE, *_SMALL),
            "--max-unpacked",
            at_once=False,
        )
        for suffix, pack in (
            (".gz", lambda data: gzip.compress(data, 1)),
            (".xz", lambda data: lzma.compress(data, preset=0)),
            (".zst", _zstd),
        )
    ),
    Case(
        "packed thrice",
        "a.vcd.gz",
        _packed_dump(lambda d: gzip.compress(gzip.compress(gzip.compress(d))), 9),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "an .xz that asks for a dictionary of 4 GiB",
        "a.vcd.xz",
        _xz_dictionary,
        DECODE,
        "cannot be unpacked",
    ),
    Case(
        "a .zst that asks for a window of 2 GiB",
        "a.vcd.zst",
        _bytes(b"\x28\xb5\x2f\xfd" + bytes([0x00, 21 << 3]) + b"\1\0\0"),
        DECODE,
        "",
    ),
    # VCD
    Case(
        "a variable of 2^32 bits",
        "a.vcd",
        _text("$timescale 1 ns $end\n$var wire 4294967296 ! rx $end\n$enddefinitions $end\n#0\n"),
        (*DECODE, *UART),
        "bits",
    ),
    Case("a header of 300,000 variables", "a.vcd", _text(_vars(300_000, 1)), DECODE, "dump fewer"),
    Case(
        "60,000 scopes in each other",
        "a.vcd",
        _text(
            "$scope module m $end\n" * 60_000
            + "$var wire 1 ! rx $end\n$enddefinitions $end\n#0\n1!\n"
        ),
        DECODE,
        "",
        codes=(0, 2),
        at_once=False,
    ),
    Case(
        "a time of 5,000 digits",
        "a.vcd",
        _bytes(_VCD_HEAD + b"#" + b"9" * 5000 + b"\n1!\n"),
        (*DECODE, *UART),
        "",
    ),
    Case(
        "a value of 20 million bits",
        "a.vcd",
        _bytes(_VCD_HEAD + b"b" + b"1" * 20_000_000 + b" !\n"),
        (*DECODE, *UART),
        "",
    ),
    Case("a header without an end", "a.vcd", _text("$comment " + "x" * 40_000_000), DECODE, ""),
    # FST and GHW
    Case(
        "a section of 2^62 B",
        "a.fst",
        _bytes(_fst() + b"\5" + struct.pack(">Q", 1 << 62)),
        DECODE,
        "a section of",
    ),
    Case(
        "a section of no length",
        "a.fst",
        _bytes(_fst() + b"\5" + struct.pack(">Q", 0)),
        DECODE,
        "no section",
    ),
    Case(
        "a million sections",
        "a.fst",
        _bytes(_fst() + (b"\7" + struct.pack(">Q", 8)) * 1_100_000),
        DECODE,
        "sections",
    ),
    Case("an end at 2^64 - 1", "a.fst", _bytes(_fst(end=(1 << 64) - 1)), DECODE, ""),
    Case(
        "a hierarchy that says 2^60 B",
        "a.fst",
        _bytes(_fst((4, struct.pack(">Q", 1 << 60) + gzip.compress(b"x")))),
        DECODE,
        "",
    ),
    Case(
        "a geometry that says 2^60 signals",
        "a.fst",
        _bytes(_fst((3, struct.pack(">QQ", 1 << 60, 1 << 60) + zlib.compress(b"\1")))),
        DECODE,
        "",
    ),
    Case(
        "values that say 2^60 changes",
        "a.fst",
        _bytes(_fst((8, struct.pack(">QQQ", 0, 100, 1 << 60) + bytes(64)))),
        DECODE,
        "",
    ),
    Case(
        "packed whole, which says 2^60 B",
        "a.fst",
        _bytes(_packed_fst(1 << 60, _fst())),
        DECODE,
        "--max-unpacked",
    ),
    Case(
        "packed whole, 64 MiB more than it says",
        "a.fst",
        lambda p: p.write_bytes(_packed_fst(400, _fst() + bytes(1 << 26))),
        DECODE,
        "more than the 400 B",
        at_once=False,
    ),
    Case(
        "a GHW of 2^31 strings",
        "a.ghw",
        _bytes(
            b"GHDLwave\n\x10\0\1\1\4\1\0"
            + b"STR\0"
            + bytes(4)
            + struct.pack("<II", 0x7FFFFFFF, 0x7FFFFFFF)
            + b"x" * 40
        ),
        DECODE,
        "",
    ),
    # text and numbers
    Case(
        "a table of 130,000 columns",
        "a.csv",
        lambda p: p.write_text(
            "t," + ",".join(f"c{n}" for n in range(130_000)) + "\n" + "0," * 130_000 + "0\n"
        ),
        DECODE,
        "",
    ),
    Case(
        "a line of 20 MB",
        "a.csv",
        lambda p: p.write_text("time [us],rx\n0,0\n1," + "1" * 20_000_000),
        (*DECODE, *UART),
        "line",
    ),
    Case("a time of 10^308 s", "a.csv", _text("time [s],rx\n0,0\n1e308,1\n"), (*DECODE, *UART), ""),
    Case(
        "JSON 100,000 lists deep",
        "a.json",
        _text("[" * 100_000),
        (*DECODE, "--format", "litescope"),
        "",
    ),
    Case(
        "JSON with a number of a million digits",
        "a.json",
        _text('{"a": [0, ' + "9" * 1_000_000 + "]}"),
        (*DECODE, "--format", "litescope"),
        "",
    ),
    # binary exports
    Case(
        "2^61 transitions",
        "digital_0.bin",
        _bytes(b"<SALEAE>" + struct.pack("<ii", 0, 0) + struct.pack("<IddQ", 0, 0.0, 1.0, 1 << 61)),
        DECODE,
        "",
    ),
    Case(
        "chunks without an end",
        "digital_0.bin",
        _bytes(b"<SALEAE>" + struct.pack("<iiQ", 1, 0, 1 << 60)),
        DECODE,
        "",
    ),
    Case(
        "a WAV of 4 GiB of data",
        "a.wav",
        _bytes(
            b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0"
            + struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
            + b"data\xfe\xff\xff\xff"
            + bytes(9)
        ),
        (*DECODE, "--threshold", "0.1"),
        "",
    ),
    Case(
        "a WAV of 65,535 channels",
        "a.wav",
        _bytes(
            b"RIFF\x30\0\0\0WAVEfmt \x10\0\0\0"
            + struct.pack("<HHIIHH", 1, 65535, 8000, 8000, 65535, 8)
            + b"data\x08\0\0\0"
            + bytes(8)
        ),
        (*DECODE, "--threshold", "0.1"),
        "",
    ),
    Case(
        "a WAV of a million chunks",
        "a.wav",
        _bytes(b"RIFF\xff\xff\xff\x7fWAVE" + b"junk\0\0\0\0" * 1_000_000),
        DECODE,
        "",
    ),
    Case(
        "10^12 points",
        "a.isf",
        _bytes(
            b':WFMPRE:BYT_NR 1;BIT_NR 8;ENCDG BIN;BN_FMT RI;BYT_OR MSB;NR_PT 999999999999;WFID "Ch1";PT_FMT Y;'
            b"XINCR 1E-6;PT_OFF 0;"
            b'XZERO 0;XUNIT "s";YMULT 0.04;YZERO 0;YOFF 0;YUNIT "V";:CURVE #9999999999abcd'
        ),
        (*DECODE, "--threshold", "0.1"),
        "",
    ),
    Case(
        "raw samples of 2^40 channels",
        "a.bin",
        _bytes(bytes(99)),
        (*DECODE, "--format", "binary:channels=1099511627776,rate=1"),
        "",
    ),
    # packets
    Case(
        "a packet of 4 GiB",
        "a.pcap",
        _bytes(_pcap(_ONE + struct.pack("<IIII", 1, 0, 0xFFFFFFFF, 0xFFFFFFFF))),
        DECODE,
        "more than the",
        codes=(0, 2),
    ),
    Case(
        "packets of 2^32 B on the wire",
        "a.pcap",
        _bytes(_pcap(struct.pack("<IIII", 1, 0, 60, 0xFFFFFFFF) + bytes(60), 0xFFFFFFFF)),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a block of no length",
        "a.pcapng",
        _bytes(_SECTION + _INTERFACE + _block(6, bytes(20), 0)),
        DECODE,
        "damaged",
        codes=(0, 2),
    ),
    Case(
        "a block of 4 GiB",
        "a.pcapng",
        _bytes(_SECTION + _INTERFACE + _block(9, bytes(20), 0xFFFFFFFC)),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a packet longer than its block",
        "a.pcapng",
        _bytes(
            _SECTION
            + _INTERFACE
            + _block(6, struct.pack("<IIIII", 0, 0, 0, 0xFFFFFFF0, 60) + bytes(60))
        ),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "50,000 interfaces",
        "a.pcapng",
        _bytes(_SECTION + _INTERFACE * 50_000),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a section of 4 GiB",
        "a.pcapng",
        _bytes(
            _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, 1 << 62), 0xFFFFFFFC)
            + _INTERFACE
        ),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "64 MiB of packets in a .gz with --max-unpacked 32MiB",
        "a.pcap.gz",
        lambda p: p.write_bytes(gzip.compress(_pcap(_ONE * 900_000), 1)),
        (*DECODE, *_SMALL),
        "--max-unpacked",
        at_once=False,
    ),
    # captures of cards
    Case(
        "a memory of 2^60 records",
        "a.ff",
        _capture(lambda p, m: _first(m).update(records=1 << 60)),
        ("explain",),
        "records",
    ),
    Case(
        "a gap of 2^62 slots",
        "a.ff",
        _capture(
            lambda p, m: _first(m).update(gaps=[{"first_slot": 0, "slots": 1 << 62, "reason": "x"}])
        ),
        ("explain",),
        "",
        codes=(0, 2),
    ),
    Case(
        "200,000 gaps",
        "a.ff",
        _capture(
            lambda p, m: _first(m).update(
                gaps=[{"first_slot": 1, "slots": 1, "reason": "x"}] * 200_000
            )
        ),
        ("explain",),
        "",
        codes=(0, 2),
    ),
    Case("a manifest of 17 MiB", "a.ff", _long_text, ("explain",), "more than a manifest can have"),
    Case(
        "a manifest 100,000 lists deep",
        "a.ff",
        _deep,
        ("explain",),
        "is not a manifest",
    ),
    Case(
        "a memory that is /dev/zero",
        "a.ff",
        _instead(lambda f: f.symlink_to("/dev/zero")),
        ("explain",),
        "",
    ),
    Case("a memory that is a pipe", "a.ff", _instead(os.mkfifo), ("explain",), ""),
    Case(
        "a memory of 8 GiB of holes",
        "a.ff",
        _instead(lambda f: os.truncate(os.open(f, os.O_CREAT | os.O_WRONLY), 1 << 33)),
        ("explain",),
        "",
    ),
    Case("tables of 50 million rows", "a.ff", _tables, ("explain",), "", codes=(0,)),
    Case(
        "a name that leads out of the folder",
        "a.ff.zip",
        _one_file(_stored("x.ff/../../../tmp/x", b"x")),
        ("explain",),
        "no name inside of a folder",
    ),
    Case("an absolute name", "a.ff.zip", _one_file(_stored("/etc/x", b"x")), ("explain",), ""),
    Case(
        "100,001 members",
        "a.ff.zip",
        lambda p: p.write_bytes(_archive_of_many(100_001)),
        ("explain",),
        "100001",
        at_once=False,
    ),
    Case(
        "one file of 2,000 entries for one member",
        "a.ff.zip",
        _many_of_one("deflated", 1 << 24, 2000),
        ("explain",),
        "another name",
    ),
    Case(
        "the same, salvaged",
        "a.ff.zip",
        _many_of_one("deflated", 1 << 24, 2000),
        ("explain", "--salvage"),
        "",
        at_once=False,
    ),
    Case(
        "1,000 stored members that are all of the file, salvaged",
        "a.ff.zip",
        _many_of_one("stored", 1 << 23, 1000),
        ("explain", "--salvage"),
        "",
        at_once=False,
    ),
    Case(
        "a member of 256 MiB, salvaged",
        "a.ff.zip",
        _later(
            lambda: _one_file(
                _Member("x.ff/raw/0", _bomb_of_zeros(1 << 28), 1 << 28, 8, crc=5),
                _stored("x.ff/raw/0", b""),
            )
        ),
        ("explain", "--salvage"),
        "",
        at_once=False,
    ),
    # recordings
    Case(
        "a frame of 4 GiB",
        "a.ffrec",
        _recording(_BEGIN + _COLUMNS + _frame(2, b"x", 0xFFFFFFFF)),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "a million beginnings of frames of 8 MiB",
        "a.ffrec",
        _recording(_BEGIN + _COLUMNS + (b"\xf5FFJ" + struct.pack("<IQI", 1 << 23, 2, 0)) * 800_000),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "numbers of frames that leave out 2^63",
        "a.ffrec",
        _recording(_BEGIN + _COLUMNS + _frame(1 << 63, b'["s",5,[7]]')),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "a source of 100,000 columns",
        "a.ffrec",
        _recording(
            _BEGIN
            + _frame(
                1,
                json.dumps(
                    {"source": "s", "columns": [[f"c{n}", "counter", "B"] for n in range(100_000)]}
                ).encode(),
            )
        ),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "a value of 4,000 digits",
        "a.ffrec",
        _recording(_BEGIN + _COLUMNS + _frame(2, b'["s",5,[' + b"9" * 4000 + b"]]")),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "JSON 100,000 lists deep in a frame",
        "a.ffrec",
        _recording(_BEGIN + _COLUMNS + _frame(2, b"[" * 100_000)),
        ("recording",),
        "",
        codes=(0, 2),
    ),
)


def _archive_of_many(count: int) -> bytes:
    """Return an archive of so many empty members (with the end record of zip64, as the format asks for)."""

    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x.ff/manifest.json", "{}")
        for number in range(count - 1):
            archive.writestr(f"x.ff/raw/{number}", b"")
    return made.getvalue()
