"""Files that lie, as a table: how each is made, the verb that reads it, and what becomes of it."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import struct
import zlib
from typing import NamedTuple

from tests.campaign.hostile_makers import (
    BEGIN,
    COLUMNS,
    DECODE,
    INTERFACE,
    ONE,
    SECTION,
    SMALL,
    UART,
    VCD_HEAD,
    Make,
    Member,
    archive,
    archive_of_many,
    bomb_of_zeros,
    capture,
    deep,
    deflated,
    dsl,
    first_device,
    fst,
    inside,
    instead,
    journal_frame,
    later,
    long_text,
    many_of_one,
    of_bytes,
    of_text,
    one_file,
    overlapping,
    packed_dump,
    packed_fst,
    pcap,
    pcapng_block,
    recording,
    session,
    sr,
    stored,
    tables,
    vcd_vars,
    xz_dictionary,
    zstd,
)


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


CASES: tuple[Case, ...] = (
    # zip: what the directory says
    Case(
        "a member of 1 B that has 16 MiB",
        "a.sr",
        sr(deflated("logic-1-1", bytes(1 << 24), said_B=1)),
        DECODE,
        "contradicts itself",
    ),
    Case(
        "a member that says less packed bytes than it has",
        "a.sr",
        sr(stored("logic-1-1", bytes(999), said_packed_B=5)),
        DECODE,
        "contradicts itself",
    ),
    Case("2,000 entries for one member", "a.sr", overlapping, DECODE, "another name"),
    Case("a member inside of another", "a.sr", inside, DECODE, "overlap"),
    Case(
        "a member twice",
        "a.sr",
        sr(stored("logic-1-1", b"\1"), stored("logic-1-1", b"\2")),
        DECODE,
        "twice",
    ),
    Case(
        "another name before the bytes",
        "a.sr",
        sr(stored("logic-1-1", b"\1", local="logic-1-9")),
        DECODE,
        "another name",
    ),
    Case(
        "a directory of 60,000 members that has 3",
        "a.sr",
        of_bytes(archive(session(stored("logic-1-1", b"\1")), count=60_000)),
        DECODE,
        "",
    ),
    Case(
        "a directory beyond the end",
        "a.sr",
        of_bytes(archive(session(stored("logic-1-1", b"\1")), where=0xFFFFFF00)),
        DECODE,
        "",
    ),
    Case(
        "a member that begins beyond the end",
        "a.sr",
        sr(stored("logic-1-1", b"\1"), stored("logic-1-2", b"\1", at=0x7FFFFFFF)),
        DECODE,
        "no local header",
    ),
    Case(
        "a member of 2^62 B",
        "a.sr",
        of_bytes(archive([*session(), Member("logic-1-1", b"\1", 1 << 62)], zip64=True)),
        DECODE,
        "at most 68719476736 B are unpacked",
    ),
    Case(
        "40 members of 2 GiB each",
        "a.sr",
        sr(*(Member(f"logic-1-{n}", b"\1", 1 << 31) for n in range(1, 41))),
        DECODE,
        "says that it unpacks to",
    ),
    Case(
        "metadata of 1 GiB",
        "a.sr",
        of_bytes(
            archive(
                [stored("version", b"2"), Member("metadata", bomb_of_zeros(1 << 26), 1 << 30, 8)]
            )
        ),
        DECODE,
        "at most",
    ),
    Case("encrypted", "a.sr", sr(stored("logic-1-1", b"\1", flags=1)), DECODE, "encrypted"),
    Case(
        "a method that nobody has",
        "a.sr",
        sr(stored("logic-1-1", b"\1")._replace(method=99)),
        DECODE,
        "method 99",
    ),
    Case(
        "a bomb of 256 MiB with --max-unpacked 32MiB",
        "a.sr",
        later(lambda: sr(Member("logic-1-1", bomb_of_zeros(1 << 28), 1 << 28, 8))),
        (*DECODE, *SMALL),
        "--max-unpacked",
    ),
    Case(
        "a bomb that says 16 MiB",
        "a.sr",
        later(lambda: sr(Member("logic-1-1", bomb_of_zeros(1 << 28), 1 << 24, 8))),
        (*DECODE, *UART),
        "more than the 16777216 B",
        at_once=False,
    ),
    Case(
        "a unit of 4 GB",
        "a.sr",
        sr(stored("logic-1-1", b"\1"), unit=4_000_000_000),
        DECODE,
        "unitsize",
    ),
    Case("2^31 probes", "a.sr", sr(stored("logic-1-1", b"\1"), probes=1 << 31), DECODE, ""),
    Case(
        "a sample rate of 300 digits",
        "a.sr",
        sr(stored("logic-1-1", b"\1"), rate="9" * 300),
        DECODE,
        "",
    ),
    Case(
        "an archive of 30,000 empty members",
        "a.sr",
        later(lambda: sr(*(stored(f"logic-1-{n}", b"") for n in range(1, 30_001)))),
        DECODE,
        "no sample",
        at_once=False,
    ),
    Case(
        "an archive in an archive's comment",
        "a.sr",
        of_bytes(archive(session(stored("logic-1-1", b"\1"))) + archive(session())),
        DECODE,
        "",
    ),
    # DSView
    Case("10^9 blocks", "a.dsl", dsl(8, 10**9, stored("L-0/0", b"\1")), DECODE, "blocks are read"),
    Case(
        "2^63 samples in a block",
        "a.dsl",
        dsl(1 << 63, 1, stored("L-0/0", b"\1")),
        (*DECODE, *UART),
        "samples",
    ),
    Case(
        "9,999 probes",
        "a.dsl",
        dsl(
            8, 1, stored("L-0/0", b"\1"), probes="".join(f"probe{n} = p{n}\n" for n in range(9999))
        ),
        DECODE,
        "9999 probes",
    ),
    Case(
        "a block of 1 GiB",
        "a.dsl",
        dsl(1 << 32, 1, Member("L-0/0", b"\1", 1 << 30)),
        (*DECODE, *UART),
        "at most",
    ),
    # packed as a whole
    *(
        Case(
            f"64 MiB in a {suffix} with --max-unpacked 32MiB",
            f"a.vcd{suffix}",
            packed_dump(pack, 1 << 26),
            (*DECODE, *SMALL),
            "--max-unpacked",
            at_once=False,
        )
        for suffix, pack in (
            (".gz", lambda data: gzip.compress(data, 1)),
            (".xz", lambda data: lzma.compress(data, preset=0)),
            (".zst", zstd),
        )
    ),
    Case(
        "packed thrice",
        "a.vcd.gz",
        packed_dump(lambda d: gzip.compress(gzip.compress(gzip.compress(d))), 9),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "an .xz that asks for a dictionary of 4 GiB",
        "a.vcd.xz",
        xz_dictionary,
        DECODE,
        "cannot be unpacked",
    ),
    Case(
        "a .zst that asks for a window of 2 GiB",
        "a.vcd.zst",
        of_bytes(b"\x28\xb5\x2f\xfd" + bytes([0x00, 21 << 3]) + b"\1\0\0"),
        DECODE,
        "",
    ),
    # VCD
    Case(
        "a variable of 2^32 bits",
        "a.vcd",
        of_text("$timescale 1 ns $end\n$var wire 4294967296 ! rx $end\n$enddefinitions $end\n#0\n"),
        (*DECODE, *UART),
        "bits",
    ),
    Case(
        "a header of 300,000 variables",
        "a.vcd",
        of_text(vcd_vars(300_000, 1)),
        DECODE,
        "dump fewer",
    ),
    Case(
        "60,000 scopes in each other",
        "a.vcd",
        of_text(
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
        of_bytes(VCD_HEAD + b"#" + b"9" * 5000 + b"\n1!\n"),
        (*DECODE, *UART),
        "",
    ),
    Case(
        "a value of 20 million bits",
        "a.vcd",
        of_bytes(VCD_HEAD + b"b" + b"1" * 20_000_000 + b" !\n"),
        (*DECODE, *UART),
        "",
    ),
    Case("a header without an end", "a.vcd", of_text("$comment " + "x" * 40_000_000), DECODE, ""),
    # FST and GHW
    Case(
        "a section of 2^62 B",
        "a.fst",
        of_bytes(fst() + b"\5" + struct.pack(">Q", 1 << 62)),
        DECODE,
        "a section of",
    ),
    Case(
        "a section of no length",
        "a.fst",
        of_bytes(fst() + b"\5" + struct.pack(">Q", 0)),
        DECODE,
        "no section",
    ),
    Case(
        "a million sections",
        "a.fst",
        of_bytes(fst() + (b"\7" + struct.pack(">Q", 8)) * 1_100_000),
        DECODE,
        "sections",
    ),
    Case("an end at 2^64 - 1", "a.fst", of_bytes(fst(end=(1 << 64) - 1)), DECODE, ""),
    Case(
        "a hierarchy that says 2^60 B",
        "a.fst",
        of_bytes(fst((4, struct.pack(">Q", 1 << 60) + gzip.compress(b"x")))),
        DECODE,
        "",
    ),
    Case(
        "a geometry that says 2^60 signals",
        "a.fst",
        of_bytes(fst((3, struct.pack(">QQ", 1 << 60, 1 << 60) + zlib.compress(b"\1")))),
        DECODE,
        "",
    ),
    Case(
        "values that say 2^60 changes",
        "a.fst",
        of_bytes(fst((8, struct.pack(">QQQ", 0, 100, 1 << 60) + bytes(64)))),
        DECODE,
        "",
    ),
    Case(
        "packed whole, which says 2^60 B",
        "a.fst",
        of_bytes(packed_fst(1 << 60, fst())),
        DECODE,
        "--max-unpacked",
    ),
    Case(
        "packed whole, 64 MiB more than it says",
        "a.fst",
        lambda p: p.write_bytes(packed_fst(400, fst() + bytes(1 << 26))),
        DECODE,
        "more than the 400 B",
        at_once=False,
    ),
    Case(
        "a GHW of 2^31 strings",
        "a.ghw",
        of_bytes(
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
    Case(
        "a time of 10^308 s", "a.csv", of_text("time [s],rx\n0,0\n1e308,1\n"), (*DECODE, *UART), ""
    ),
    Case(
        "JSON 100,000 lists deep",
        "a.json",
        of_text("[" * 100_000),
        (*DECODE, "--format", "litescope"),
        "",
    ),
    Case(
        "JSON with a number of a million digits",
        "a.json",
        of_text('{"a": [0, ' + "9" * 1_000_000 + "]}"),
        (*DECODE, "--format", "litescope"),
        "",
    ),
    # binary exports
    Case(
        "2^61 transitions",
        "digital_0.bin",
        of_bytes(
            b"<SALEAE>" + struct.pack("<ii", 0, 0) + struct.pack("<IddQ", 0, 0.0, 1.0, 1 << 61)
        ),
        DECODE,
        "",
    ),
    Case(
        "chunks without an end",
        "digital_0.bin",
        of_bytes(b"<SALEAE>" + struct.pack("<iiQ", 1, 0, 1 << 60)),
        DECODE,
        "",
    ),
    Case(
        "a WAV of 4 GiB of data",
        "a.wav",
        of_bytes(
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
        of_bytes(
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
        of_bytes(b"RIFF\xff\xff\xff\x7fWAVE" + b"junk\0\0\0\0" * 1_000_000),
        DECODE,
        "",
    ),
    Case(
        "10^12 points",
        "a.isf",
        of_bytes(
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
        of_bytes(bytes(99)),
        (*DECODE, "--format", "binary:channels=1099511627776,rate=1"),
        "",
    ),
    # packets
    Case(
        "a packet of 4 GiB",
        "a.pcap",
        of_bytes(pcap(ONE + struct.pack("<IIII", 1, 0, 0xFFFFFFFF, 0xFFFFFFFF))),
        DECODE,
        "more than the",
        codes=(0, 2),
    ),
    Case(
        "packets of 2^32 B on the wire",
        "a.pcap",
        of_bytes(pcap(struct.pack("<IIII", 1, 0, 60, 0xFFFFFFFF) + bytes(60), 0xFFFFFFFF)),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a block of no length",
        "a.pcapng",
        of_bytes(SECTION + INTERFACE + pcapng_block(6, bytes(20), 0)),
        DECODE,
        "damaged",
        codes=(0, 2),
    ),
    Case(
        "a block of 4 GiB",
        "a.pcapng",
        of_bytes(SECTION + INTERFACE + pcapng_block(9, bytes(20), 0xFFFFFFFC)),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a packet longer than its block",
        "a.pcapng",
        of_bytes(
            SECTION
            + INTERFACE
            + pcapng_block(6, struct.pack("<IIIII", 0, 0, 0, 0xFFFFFFF0, 60) + bytes(60))
        ),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "50,000 interfaces",
        "a.pcapng",
        of_bytes(SECTION + INTERFACE * 50_000),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "a section of 4 GiB",
        "a.pcapng",
        of_bytes(
            pcapng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, 1 << 62), 0xFFFFFFFC)
            + INTERFACE
        ),
        DECODE,
        "",
        codes=(0, 2),
    ),
    Case(
        "64 MiB of packets in a .gz with --max-unpacked 32MiB",
        "a.pcap.gz",
        lambda p: p.write_bytes(gzip.compress(pcap(ONE * 900_000), 1)),
        (*DECODE, *SMALL),
        "--max-unpacked",
        at_once=False,
    ),
    # captures of cards
    Case(
        "a memory of 2^60 records",
        "a.ff",
        capture(lambda p, m: first_device(m).update(records=1 << 60)),
        ("explain",),
        "records",
    ),
    Case(
        "a gap of 2^62 slots",
        "a.ff",
        capture(
            lambda p, m: first_device(m).update(
                gaps=[{"first_slot": 0, "slots": 1 << 62, "reason": "x"}]
            )
        ),
        ("explain",),
        "",
        codes=(0, 2),
    ),
    Case(
        "200,000 gaps",
        "a.ff",
        capture(
            lambda p, m: first_device(m).update(
                gaps=[{"first_slot": 1, "slots": 1, "reason": "x"}] * 200_000
            )
        ),
        ("explain",),
        "",
        codes=(0, 2),
    ),
    Case("a manifest of 17 MiB", "a.ff", long_text, ("explain",), "more than a manifest can have"),
    Case(
        "a manifest 100,000 lists deep",
        "a.ff",
        deep,
        ("explain",),
        "is not a manifest",
    ),
    Case(
        "a memory that is /dev/zero",
        "a.ff",
        instead(lambda f: f.symlink_to("/dev/zero")),
        ("explain",),
        "",
    ),
    Case("a memory that is a pipe", "a.ff", instead(os.mkfifo), ("explain",), ""),
    Case(
        "a memory of 8 GiB of holes",
        "a.ff",
        instead(lambda f: os.truncate(os.open(f, os.O_CREAT | os.O_WRONLY), 1 << 33)),
        ("explain",),
        "",
    ),
    Case("tables of 50 million rows", "a.ff", tables, ("explain",), "", codes=(0,)),
    Case(
        "a name that leads out of the folder",
        "a.ff.zip",
        one_file(stored("x.ff/../../../tmp/x", b"x")),
        ("explain",),
        "no name inside of a folder",
    ),
    Case("an absolute name", "a.ff.zip", one_file(stored("/etc/x", b"x")), ("explain",), ""),
    Case(
        "100,001 members",
        "a.ff.zip",
        lambda p: p.write_bytes(archive_of_many(100_001)),
        ("explain",),
        "100001",
        at_once=False,
    ),
    Case(
        "one file of 2,000 entries for one member",
        "a.ff.zip",
        many_of_one("deflated", 1 << 24, 2000),
        ("explain",),
        "another name",
    ),
    Case(
        "the same, salvaged",
        "a.ff.zip",
        many_of_one("deflated", 1 << 24, 2000),
        ("explain", "--salvage"),
        "",
        at_once=False,
    ),
    Case(
        "1,000 stored members that are all of the file, salvaged",
        "a.ff.zip",
        many_of_one("stored", 1 << 23, 1000),
        ("explain", "--salvage"),
        "",
        at_once=False,
    ),
    Case(
        "a member of 256 MiB, salvaged",
        "a.ff.zip",
        later(
            lambda: one_file(
                Member("x.ff/raw/0", bomb_of_zeros(1 << 28), 1 << 28, 8, crc=5),
                stored("x.ff/raw/0", b""),
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
        recording(BEGIN + COLUMNS + journal_frame(2, b"x", 0xFFFFFFFF)),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "a million beginnings of frames of 8 MiB",
        "a.ffrec",
        recording(BEGIN + COLUMNS + (b"\xf5FFJ" + struct.pack("<IQI", 1 << 23, 2, 0)) * 800_000),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "numbers of frames that leave out 2^63",
        "a.ffrec",
        recording(BEGIN + COLUMNS + journal_frame(1 << 63, b'["s",5,[7]]')),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "a source of 100,000 columns",
        "a.ffrec",
        recording(
            BEGIN
            + journal_frame(
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
        recording(BEGIN + COLUMNS + journal_frame(2, b'["s",5,[' + b"9" * 4000 + b"]]")),
        ("recording",),
        "",
        codes=(0, 2),
    ),
    Case(
        "JSON 100,000 lists deep in a frame",
        "a.ffrec",
        recording(BEGIN + COLUMNS + journal_frame(2, b"[" * 100_000)),
        ("recording",),
        "",
        codes=(0, 2),
    ),
)
