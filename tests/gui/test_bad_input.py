"""Bad input at the command line: one clear line, within 512 MiB of memory, and an end.

Every case runs in a process of its own that may not have more, forked from one that has loaded the
program already. An instrument that stops in mid-transfer is in test_capture_verb.py.
"""

from __future__ import annotations

import json
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.capture.files.captures import metadata, write_session
from tests.gui.cli import Outcome, process_environment
from tests.processes import run_program

MEMORY_B = 512 << 20
LONG_S = 120  # an end at all, on a machine that does ten other things

HEADER = "$timescale 1 ns $end\n$var wire 1 ! rx $end\n$enddefinitions $end\n"


def large(path: Path) -> None:
    """A small file of one chunk that unpacks to more than the memory there is."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("version", "2")
        archive.writestr("metadata", metadata(["rx"]))
        with archive.open("logic-1-1", "w", force_zip64=True) as member:
            for _ in range(80):
                member.write(b"\1" * (1 << 23))


def lying_size(path: Path) -> None:
    """A chunk of 16 MiB whose directory entry says one byte."""
    write_session(path, [bytes(1 << 24)], metadata(["rx"]))
    data = bytearray(path.read_bytes())
    size = struct.pack("<I", 1 << 24)
    at = data.rindex(size, 0, data.rindex(b"logic-1-1"))
    data[at : at + 4] = struct.pack("<I", 1)
    path.write_bytes(data)


def cut_chunk(path: Path) -> None:
    write_session(path, [b"\0\1" * 5000, b"\0\1\0"], metadata(["rx"], unitsize=2))


def cut_archive(path: Path) -> None:
    write_session(path, [bytes(100_000)], metadata(["rx"]))
    path.write_bytes(path.read_bytes()[:-200])


def lost_chunk(path: Path) -> None:
    names = ["logic-1-1", "logic-1-3"]
    write_session(path, [b"\0\1", b"\0\1"], metadata(["rx"]), names=names)


def session(**more: object) -> Callable[[Path], object]:
    return lambda path: write_session(path, [b"\0\1" * 50], metadata(["rx"], **more))  # type: ignore[arg-type] # as named


def nine_probes(path: Path) -> None:
    write_session(path, [b"\0\1"], metadata([f"p{number}" for number in range(9)]))


def duplicate(path: Path) -> None:
    write_session(path, [b"\0\1"], metadata(["rx", "rx"]))


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


def endless_line(path: Path) -> None:
    with path.open("w") as file:
        file.write("time [us],rx\n0,0\n1,")
        for _ in range(4):
            file.write("1" * (1 << 20))


def endless_header(path: Path) -> None:
    with path.open("w") as file:
        for number in range(700_000):
            file.write(f"$var wire 1 {number} n{number} $end\n")


def wide_values(path: Path) -> None:
    """A vector of 20 million bits, as a value of a variable of 8."""
    with path.open("w") as file:
        file.write("$timescale 1 ns $end\n$var wire 8 ! rx $end\n$enddefinitions $end\n#0\nb")
        for _ in range(20):
            file.write("1" * 1_000_000)
        file.write(" !\n")


UART = ("-d", "uart:rx=rx,baud=1000")
CASES: dict[str, tuple[str, Callable[[Path], object], tuple[str, ...], str]] = {
    "more samples than allowed": (
        *("a.sr", large, (*UART, "--max-samples", "1000000")),
        "holds at least 671088640 samples, more than the 1000000 allowed",
    ),
    "member that lies about its size": (
        "a.sr",
        lying_size,
        UART,
        "an archive that contradicts itself is not unpacked",
    ),
    "unit size too small": (
        *("a.sr", nine_probes, UART, "probe9=p8 is not in the 8 bits of unitsize 1"),
    ),
    "unit size that cannot be": ("a.sr", session(unitsize=4_000_000), UART, "unitsize 4000000; 1"),
    "no sample rate": ("a.sr", session(rate=None), UART, "give it with --samplerate"),
    "chunk cut in a sample": ("a.sr", cut_chunk, UART, "end with 1 B of a sample of 2 B"),
    "archive cut": ("a.sr", cut_archive, UART, "it was cut short, copy it again"),
    "chunk missing": ("a.sr", lost_chunk, UART, "logic-1-2 is missing"),
    "duplicate names in a session": ("a.sr", duplicate, UART, "rx#1, rx#2"),
    "duplicate names in a table": ("a.csv", text("rx,rx\n0,1\n"), UART, "rx#1, rx#2"),
    "variable of four gigabits": (
        "a.vcd",
        text("$timescale 1 ns $end\n$var wire 4294967296 ! rx $end\n$enddefinitions $end\n#0\n"),
        *(UART, "it has 4294967296 bits; 1 to 64 are read"),
    ),
    "value of 20 megabits": ("a.vcd", wide_values, ("-d", "uart:rx=rx[0]"), "more than its"),
    "gigantic identifier": (
        "a.vcd",
        text(HEADER + "#0\n1" + "!" * 5_000_000 + "\n"),
        *(UART, "an identifier is longer than 8 characters"),
    ),
    "endless header": ("a.vcd", endless_header, UART, "no $enddefinitions in the first"),
    "time that goes back in a dump": (
        *(
            "a.vcd",
            text(HEADER + "#5\n1!\n#4\n0!\n"),
            UART,
            "time 4 is earlier than the one before",
        ),
    ),
    "time that goes back in a table": (
        *("a.csv", text("time [us],rx\n0,1\n5,0\n4,1\n"), UART, "row 3: its time is earlier"),
    ),
    "empty session": ("a.sr", text(""), UART, "the file is empty"),
    "empty dump": ("a.vcd", text(""), UART, "the file is empty"),
    "empty table": ("a.csv", text(""), UART, "the file is empty"),
    "empty file": ("a.bin", text(""), UART, "the file is empty"),
    "text in a number column": (
        *("a.csv", text("time [us],rx\n0,1\n5,high\n"), UART, "line 3: rx is 'high', not a number"),
    ),
    "line without an end": ("a.csv", endless_line, UART, "a line is longer than 1048576 B"),
    "option out of range": (
        *("a.sr", session(), ("-d", "uart:rx=rx,bits=12"), "option bits=12: too large; allowed: 5"),
    ),
    "option that does not exist": (
        *("a.sr", session(), ("-d", "uart:rx=rx,speed=12"), "uart has no option or channel speed"),
    ),
    "channel that does not exist": (
        *("a.sr", session(), ("-d", "uart:rx=D7"), "there is no probe 'D7'; probes of the capture"),
    ),
}


# Run with the arguments of all cases on standard input; forks for each, and answers for each.
RUNNER = """
import json, os, resource, signal, sys, tempfile
import numba, numpy, pyarrow, pyarrow.csv, typer
import freezeframe.decoders.serial.uart_kernels, freezeframe.capture.files.vcd
from freezeframe.gui.cli.main import main
for arguments in json.load(sys.stdin):
    out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        signal.alarm(LONG)
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        try:
            if arguments == ["hungry"]:
                bytearray(MEMORY)
            main(arguments)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code or 0)
        except BaseException as error:
            os.write(2, repr(error).encode())
        os._exit(99)
    _, status = os.waitpid(child, 0)
    for file in (out, err):
        file.seek(0)
    answer = [os.waitstatus_to_exitcode(status), out.read().decode(), err.read().decode()]
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Run all cases, and two that show what the limit does."""
    folder = tmp_path_factory.mktemp("bad")
    wanted = {"hungry": ["hungry"]}
    for number, (case, (name, make, arguments, _)) in enumerate(CASES.items()):
        (folder / str(number)).mkdir()
        path = folder / str(number) / name
        make(path)
        wanted[case] = ["decode", str(path), *arguments]
    wanted["large"] = ["decode", wanted["more samples than allowed"][1], *UART]
    script = RUNNER.replace("MEMORY", str(MEMORY_B)).replace("LONG", str(LONG_S))
    done = run_program(
        [sys.executable, "-c", script],
        input=json.dumps(list(wanted.values())),
        timeout=LONG_S * 3,
        check=True,
        env=process_environment(),
    )
    answers = [Outcome(*json.loads(line)) for line in done.stdout.splitlines()]
    return dict(zip(wanted, answers, strict=True))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_bad_input_is_one_line_in_bounded_memory(case: str, outcomes: dict[str, Outcome]) -> None:
    done = outcomes[case]
    assert (done.code, done.out) == (2, "")
    assert CASES[case][3] in done.err
    assert done.err.startswith("freezeframe: ")
    assert done.err.count("\n") == 1


def test_the_limit_holds_so_that_the_cases_prove_something(outcomes: dict[str, Outcome]) -> None:
    assert (outcomes["hungry"].code, outcomes["hungry"].err) == (99, "MemoryError()")


def test_a_chunk_larger_than_the_memory_is_read_when_it_is_allowed(
    outcomes: dict[str, Outcome],
) -> None:
    done = outcomes["large"]
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("0 events")
