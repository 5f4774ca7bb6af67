"""Archives and packed files that lie: zip directories, bombs, DSView sessions."""

from __future__ import annotations

import gzip
import lzma

from tests.campaign.hostile_makers import (
    DECODE,
    DSVIEW,
    SMALL,
    SR,
    UART,
    VCD_GZ,
    VCD_XZ,
    VCD_ZST,
    Case,
    Member,
    archive,
    bomb_of_zeros,
    deflated,
    dsl,
    inside,
    later,
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
    SR(
        "a member of 1 B that has 16 MiB",
        sr(deflated("logic-1-1", bytes(1 << 24), said_B=1)),
        "contradicts itself",
    ),
    SR(
        "a member that says less packed bytes than it has",
        sr(stored("logic-1-1", bytes(999), said_packed_B=5)),
        "contradicts itself",
    ),
    SR("2,000 entries for one member", overlapping, "another name"),
    SR("a member inside of another", inside, "overlap"),
    SR("a member twice", sr(stored("logic-1-1", b"\1"), stored("logic-1-1", b"\2")), "twice"),
    SR(
        "another name before the bytes",
        sr(stored("logic-1-1", b"\1", local="logic-1-9")),
        "another name",
    ),
    SR(
        "a directory of 60,000 members that has 3",
        archive(session(stored("logic-1-1", b"\1")), count=60_000),
    ),
    SR(
        "a directory beyond the end", archive(session(stored("logic-1-1", b"\1")), where=0xFFFFFF00)
    ),
    SR(
        "a member that begins beyond the end",
        sr(stored("logic-1-1", b"\1"), stored("logic-1-2", b"\1", at=0x7FFFFFFF)),
        "no local header",
    ),
    SR(
        "a member of 2^62 B",
        archive([*session(), Member("logic-1-1", b"\1", 1 << 62)], zip64=True),
        "at most 68719476736 B are unpacked",
    ),
    SR(
        "40 members of 2 GiB each",
        sr(*(Member(f"logic-1-{n}", b"\1", 1 << 31) for n in range(1, 41))),
        "says that it unpacks to",
    ),
    SR(
        "metadata of 1 GiB",
        archive([stored("version", b"2"), Member("metadata", bomb_of_zeros(1 << 26), 1 << 30, 8)]),
        "at most",
    ),
    SR("encrypted", sr(stored("logic-1-1", b"\1", flags=1)), "encrypted"),
    SR("a method that nobody has", sr(stored("logic-1-1", b"\1")._replace(method=99)), "method 99"),
    SR(
        "a bomb of 256 MiB with --max-unpacked 32MiB",
        later(lambda: sr(Member("logic-1-1", bomb_of_zeros(1 << 28), 1 << 28, 8))),
        "--max-unpacked",
        *SMALL,
    ),
    SR(
        "a bomb that says 16 MiB",
        later(lambda: sr(Member("logic-1-1", bomb_of_zeros(1 << 28), 1 << 24, 8))),
        "more than the 16777216 B",
        *UART,
        at_once=False,
    ),
    SR("a unit of 4 GB", sr(stored("logic-1-1", b"\1"), unit=4_000_000_000), "unitsize"),
    SR("2^31 probes", sr(stored("logic-1-1", b"\1"), probes=1 << 31)),
    SR("a sample rate of 300 digits", sr(stored("logic-1-1", b"\1"), rate="9" * 300)),
    SR(
        "an archive of 30,000 empty members",
        later(lambda: sr(*(stored(f"logic-1-{n}", b"") for n in range(1, 30_001)))),
        "no sample",
        at_once=False,
    ),
    SR(
        "an archive in an archive's comment",
        archive(session(stored("logic-1-1", b"\1"))) + archive(session()),
    ),
    # DSView
    DSVIEW("10^9 blocks", dsl(8, 10**9, stored("L-0/0", b"\1")), "blocks are read"),
    DSVIEW("2^63 samples in a block", dsl(1 << 63, 1, stored("L-0/0", b"\1")), "samples", *UART),
    DSVIEW(
        "9,999 probes",
        dsl(
            8, 1, stored("L-0/0", b"\1"), probes="".join(f"probe{n} = p{n}\n" for n in range(9999))
        ),
        "9999 probes",
    ),
    DSVIEW("a block of 1 GiB", dsl(1 << 32, 1, Member("L-0/0", b"\1", 1 << 30)), "at most", *UART),
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
    VCD_GZ(
        "packed thrice",
        packed_dump(lambda d: gzip.compress(gzip.compress(gzip.compress(d))), 9),
        codes=(0, 2),
    ),
    VCD_XZ("an .xz that asks for a dictionary of 4 GiB", xz_dictionary, "cannot be unpacked"),
    VCD_ZST(
        "a .zst that asks for a window of 2 GiB",
        b"\x28\xb5\x2f\xfd" + bytes([0x00, 21 << 3]) + b"\1\0\0",
    ),
)
