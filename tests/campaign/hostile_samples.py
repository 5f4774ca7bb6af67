"""Files of samples that lie: VCD, FST, GHW, tables of text, binary exports."""

from __future__ import annotations

import gzip
import struct
import zlib

from tests.campaign.hostile_makers import (
    CSV,
    FST,
    GHW,
    ISF,
    JSON,
    RAW,
    SALEAE,
    UART,
    VCD,
    VCD_HEAD,
    WAV,
    Case,
    fst,
    packed_fst,
    vcd_vars,
)

SAMPLES: tuple[Case, ...] = (
    # VCD
    VCD(
        "a variable of 2^32 bits",
        "$timescale 1 ns $end\n$var wire 4294967296 ! rx $end\n$enddefinitions $end\n#0\n",
        "bits",
        *UART,
    ),
    VCD("a header of 300,000 variables", vcd_vars(300_000, 1), "dump fewer"),
    VCD(
        "60,000 scopes in each other",
        "$scope module m $end\n" * 60_000 + "$var wire 1 ! rx $end\n$enddefinitions $end\n#0\n1!\n",
        codes=(0, 2),
        at_once=False,
    ),
    VCD("a time of 5,000 digits", VCD_HEAD + b"#" + b"9" * 5000 + b"\n1!\n", "", *UART),
    VCD("a value of 20 million bits", VCD_HEAD + b"b" + b"1" * 20_000_000 + b" !\n", "", *UART),
    VCD("a header without an end", "$comment " + "x" * 40_000_000),
    # FST and GHW
    FST("a section of 2^62 B", fst() + b"\5" + struct.pack(">Q", 1 << 62), "a section of"),
    FST("a section of no length", fst() + b"\5" + struct.pack(">Q", 0), "no section"),
    FST("a million sections", fst() + (b"\7" + struct.pack(">Q", 8)) * 1_100_000, "sections"),
    FST("an end at 2^64 - 1", fst(end=(1 << 64) - 1)),
    FST("a hierarchy that says 2^60 B", fst((4, struct.pack(">Q", 1 << 60) + gzip.compress(b"x")))),
    FST(
        "a geometry that says 2^60 signals",
        fst((3, struct.pack(">QQ", 1 << 60, 1 << 60) + zlib.compress(b"\1"))),
    ),
    FST("values that say 2^60 changes", fst((8, struct.pack(">QQQ", 0, 100, 1 << 60) + bytes(64)))),
    FST("packed whole, which says 2^60 B", packed_fst(1 << 60, fst()), "--max-unpacked"),
    FST(
        "packed whole, 64 MiB more than it says",
        lambda p: p.write_bytes(packed_fst(400, fst() + bytes(1 << 26))),
        "more than the 400 B",
        at_once=False,
    ),
    GHW(
        "a GHW of 2^31 strings",
        b"GHDLwave\n\x10\0\1\1\4\1\0"
        + b"STR\0"
        + bytes(4)
        + struct.pack("<II", 0x7FFFFFFF, 0x7FFFFFFF)
        + b"x" * 40,
    ),
    # text and numbers
    CSV(
        "a table of 130,000 columns",
        lambda p: p.write_text(
            "t," + ",".join(f"c{n}" for n in range(130_000)) + "\n" + "0," * 130_000 + "0\n"
        ),
    ),
    CSV(
        "a line of 20 MB",
        lambda p: p.write_text("time [us],rx\n0,0\n1," + "1" * 20_000_000),
        "line",
        *UART,
    ),
    CSV("a time of 10^308 s", "time [s],rx\n0,0\n1e308,1\n", "", *UART),
    JSON("JSON 100,000 lists deep", "[" * 100_000, "", "--format", "litescope"),
    JSON(
        "JSON with a number of a million digits",
        '{"a": [0, ' + "9" * 1_000_000 + "]}",
        "",
        "--format",
        "litescope",
    ),
    # binary exports
    SALEAE(
        "2^61 transitions",
        b"<SALEAE>" + struct.pack("<ii", 0, 0) + struct.pack("<IddQ", 0, 0.0, 1.0, 1 << 61),
    ),
    SALEAE("chunks without an end", b"<SALEAE>" + struct.pack("<iiQ", 1, 0, 1 << 60)),
    WAV(
        "a WAV of 4 GiB of data",
        b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0"
        + struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
        + b"data\xfe\xff\xff\xff"
        + bytes(9),
        "",
        "--threshold",
        "0.1",
    ),
    WAV(
        "a WAV of 65,535 channels",
        b"RIFF\x30\0\0\0WAVEfmt \x10\0\0\0"
        + struct.pack("<HHIIHH", 1, 65535, 8000, 8000, 65535, 8)
        + b"data\x08\0\0\0"
        + bytes(8),
        "",
        "--threshold",
        "0.1",
    ),
    WAV("a WAV of a million chunks", b"RIFF\xff\xff\xff\x7fWAVE" + b"junk\0\0\0\0" * 1_000_000),
    ISF(
        "10^12 points",
        b':WFMPRE:BYT_NR 1;BIT_NR 8;ENCDG BIN;BN_FMT RI;BYT_OR MSB;NR_PT 999999999999;WFID "Ch1";PT_FMT Y;'
        b"XINCR 1E-6;PT_OFF 0;"
        b'XZERO 0;XUNIT "s";YMULT 0.04;YZERO 0;YOFF 0;YUNIT "V";:CURVE #9999999999abcd',
        "",
        "--threshold",
        "0.1",
    ),
    RAW(
        "raw samples of 2^40 channels",
        bytes(99),
        "",
        "--format",
        "binary:channels=1099511627776,rate=1",
    ),
)
