"""Files of packets, captures of cards and recordings that lie."""

from __future__ import annotations

import gzip
import json
import os
import struct

from tests.campaign.hostile_makers import (
    BEGIN,
    COLUMNS,
    DECODE,
    INTERFACE,
    ONE,
    SECTION,
    SMALL,
    Case,
    Member,
    archive_of_many,
    bomb_of_zeros,
    capture,
    deep,
    first_device,
    instead,
    journal_frame,
    later,
    long_text,
    many_of_one,
    of_bytes,
    one_file,
    pcap,
    pcapng_block,
    recording,
    stored,
    tables,
)

CAPTURES: tuple[Case, ...] = (
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
