"""Archives and packed files that lie: zip directories, bombs, DSView sessions."""

from __future__ import annotations

import gzip
import lzma

from tests.campaign.hostile_makers import (
    DECODE,
    SMALL,
    UART,
    Case,
    Member,
    archive,
    bomb_of_zeros,
    deflated,
    dsl,
    inside,
    later,
    of_bytes,
    overlapping,
    packed_dump,
    session,
    sr,
    stored,
    xz_dictionary,
    zstd,
)

ARCHIVES: tuple[Case, ...] = (
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
)
