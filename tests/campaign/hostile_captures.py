"""Files of packets, captures of cards and recordings that lie."""

from __future__ import annotations

import gzip
import json
import os
import struct

from tests.campaign.hostile_makers import (
    BEGIN,
    COLUMNS,
    FF,
    FF_ZIP,
    FFREC,
    INTERFACE,
    ONE,
    PCAP,
    PCAP_GZ,
    PCAPNG,
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
    one_file,
    pcap,
    pcapng_block,
    recording,
    stored,
    tables,
)

CAPTURES: tuple[Case, ...] = (
    # packets
    PCAP(
        "a packet of 4 GiB",
        pcap(ONE + struct.pack("<IIII", 1, 0, 0xFFFFFFFF, 0xFFFFFFFF)),
        "more than the",
    ),
    PCAP(
        "packets of 2^32 B on the wire",
        pcap(struct.pack("<IIII", 1, 0, 60, 0xFFFFFFFF) + bytes(60), 0xFFFFFFFF),
    ),
    PCAPNG("a block of no length", SECTION + INTERFACE + pcapng_block(6, bytes(20), 0), "damaged"),
    PCAPNG("a block of 4 GiB", SECTION + INTERFACE + pcapng_block(9, bytes(20), 0xFFFFFFFC)),
    PCAPNG(
        "a packet longer than its block",
        SECTION
        + INTERFACE
        + pcapng_block(6, struct.pack("<IIIII", 0, 0, 0, 0xFFFFFFF0, 60) + bytes(60)),
    ),
    PCAPNG("50,000 interfaces", SECTION + INTERFACE * 50_000),
    PCAPNG(
        "a section of 4 GiB",
        pcapng_block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, 1 << 62), 0xFFFFFFFC)
        + INTERFACE,
    ),
    PCAP_GZ(
        "64 MiB of packets in a .gz with --max-unpacked 32MiB",
        lambda p: p.write_bytes(gzip.compress(pcap(ONE * 900_000), 1)),
        "--max-unpacked",
        *SMALL,
        at_once=False,
    ),
    # captures of cards
    FF(
        "a memory of 2^60 records",
        capture(lambda p, m: first_device(m).update(records=1 << 60)),
        "records",
    ),
    FF(
        "a gap of 2^62 slots",
        capture(
            lambda p, m: first_device(m).update(
                gaps=[{"first_slot": 0, "slots": 1 << 62, "reason": "x"}]
            )
        ),
        codes=(0, 2),
    ),
    FF(
        "200,000 gaps",
        capture(
            lambda p, m: first_device(m).update(
                gaps=[{"first_slot": 1, "slots": 1, "reason": "x"}] * 200_000
            )
        ),
        codes=(0, 2),
    ),
    FF("a manifest of 17 MiB", long_text, "more than a manifest can have"),
    FF("a manifest 100,000 lists deep", deep, "is not a manifest"),
    FF("a memory that is /dev/zero", instead(lambda f: f.symlink_to("/dev/zero"))),
    FF("a memory that is a pipe", instead(os.mkfifo)),
    FF(
        "a memory of 8 GiB of holes",
        instead(lambda f: os.truncate(os.open(f, os.O_CREAT | os.O_WRONLY), 1 << 33)),
    ),
    FF("tables of 50 million rows", tables, codes=(0,)),
    FF_ZIP(
        "a name that leads out of the folder",
        one_file(stored("x.ff/../../../tmp/x", b"x")),
        "no name inside of a folder",
    ),
    FF_ZIP("an absolute name", one_file(stored("/etc/x", b"x"))),
    FF_ZIP(
        "100,001 members",
        lambda p: p.write_bytes(archive_of_many(100_001)),
        "100001",
        at_once=False,
    ),
    FF_ZIP(
        "one file of 2,000 entries for one member",
        many_of_one("deflated", 1 << 24, 2000),
        "another name",
    ),
    FF_ZIP(
        "the same, salvaged", many_of_one("deflated", 1 << 24, 2000), "", "--salvage", at_once=False
    ),
    FF_ZIP(
        "1,000 stored members that are all of the file, salvaged",
        many_of_one("stored", 1 << 23, 1000),
        "",
        "--salvage",
        at_once=False,
    ),
    FF_ZIP(
        "a member of 256 MiB, salvaged",
        later(
            lambda: one_file(
                Member("x.ff/raw/0", bomb_of_zeros(1 << 28), 1 << 28, 8, crc=5),
                stored("x.ff/raw/0", b""),
            )
        ),
        "",
        "--salvage",
        at_once=False,
    ),
    # recordings
    FFREC("a frame of 4 GiB", recording(BEGIN + COLUMNS + journal_frame(2, b"x", 0xFFFFFFFF))),
    FFREC(
        "a million beginnings of frames of 8 MiB",
        recording(BEGIN + COLUMNS + (b"\xf5FFJ" + struct.pack("<IQI", 1 << 23, 2, 0)) * 800_000),
    ),
    FFREC(
        "numbers of frames that leave out 2^63",
        recording(BEGIN + COLUMNS + journal_frame(1 << 63, b'["s",5,[7]]')),
    ),
    FFREC(
        "a source of 100,000 columns",
        recording(
            BEGIN
            + journal_frame(
                1,
                json.dumps(
                    {"source": "s", "columns": [[f"c{n}", "counter", "B"] for n in range(100_000)]}
                ).encode(),
            )
        ),
    ),
    FFREC(
        "a value of 4,000 digits",
        recording(BEGIN + COLUMNS + journal_frame(2, b'["s",5,[' + b"9" * 4000 + b"]]")),
    ),
    FFREC(
        "JSON 100,000 lists deep in a frame",
        recording(BEGIN + COLUMNS + journal_frame(2, b"[" * 100_000)),
    ),
)
