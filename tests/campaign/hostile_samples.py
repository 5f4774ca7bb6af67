"""Files of samples that lie: VCD, FST, GHW, tables of text, binary exports."""

from __future__ import annotations

import gzip
import struct
import zlib

from tests.campaign.hostile_makers import (
    DECODE,
    UART,
    VCD_HEAD,
    Case,
    fst,
    of_bytes,
    of_text,
    packed_fst,
    vcd_vars,
)

SAMPLES: tuple[Case, ...] = (
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
)
