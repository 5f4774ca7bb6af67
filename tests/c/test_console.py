"""What the C hooks print is what the host reads, from a file and over a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import threading
import tty
from pathlib import Path

from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.decode import decode_capture
from tests.c.hooks import drive, ring_states
from tests.capture.console.printed import line
from tests.gui.cli import process_environment, run_inside

RECORD = ["I 40", "P 4", "A 0"]
RECORD += [f"E {10 + 7 * i:x} 8 2 1 3 {i:x}" for i in range(100)]
RECORD += ["C 400 1"] + [f"E {0x500 + 7 * i:x} 8 2 1 3 {i:x}" for i in range(10)]
SWITCH = ["F 3 40 9", "F 5 10 80", "F 80 1 1", "O 1 2 30", "O 1 2 4", "O 9 9 9", "S 500"]


def test_the_switch_prints_flows_crosspoints_and_forwarding_each_behind_its_crc() -> None:
    expected = ["flow 500 3 40", "flow 500 5 10", "xpt 500 1 2 4 30", "fwd 500 2 89 9 80 2"]
    assert drive(["I 1", *SWITCH]).encode() == b"".join(line(text) for text in expected).replace(
        b"\r\n", b"\n"
    )


def test_the_counts_of_a_port_replace_those_read_before_and_a_port_that_is_none_is_refused() -> (
    None
):
    read = ["W 1 9 9 9 9 9 9 9", "W 1 ffffffffffffffff 12 1 fe 100 11 2", "W 8 1 1 1 1 1 1 1"]
    expected = ["port 500 1 ffffffffffffffff 12 1 fe 100 11 2", "fwd 500 0 0 0 0 1"]
    assert drive(["I 1", *read, "S 500"]).encode() == b"".join(map(line, expected)).replace(
        b"\r\n", b"\n"
    )


def test_a_ring_that_is_not_frozen_prints_no_dump() -> None:
    assert drive(["I 10", "A 0", "R 1 1 1", "D"]).strip() == "not frozen"


def test_a_dump_becomes_a_capture_with_exactly_the_bytes_of_the_ring(tmp_path: Path) -> None:
    (ring,) = ring_states([*RECORD, "?"])
    printed = tmp_path / "console.txt"
    printed.write_text("U-Boot 2024\n" + drive([*RECORD, "D"]) + "login:\n")
    done = run_inside("console", str(printed), "-o", str(tmp_path / "ring.ff"))
    assert (done.code, done.err) == (0, "")
    assert "64 records" in done.out
    folder = CaptureFolder.open(tmp_path / "ring.ff")
    memory = folder.devices[0].memories["event_log"]
    assert memory.records.tobytes() == ring.image
    assert memory.wrapped
    trace = decode_capture(folder)
    assert trace.problems == []
    mark = trace.events[trace.events["kind"] == "MARK"]
    assert mark["code"].tolist() == ["host"]


def test_a_dump_with_a_damaged_line_is_kept_and_the_exit_code_says_that_a_part_is_missing(
    tmp_path: Path,
) -> None:
    printed = tmp_path / "console.txt"
    lines = drive([*RECORD, "D"]).splitlines(keepends=True)
    (at,) = (number for number, text in enumerate(lines) if text.startswith("ff:rec 5 "))
    lines[at] = lines[at].replace(":rec", ":rec ", 1)
    printed.write_text("".join(lines))
    done = run_inside("console", str(printed), "-o", str(tmp_path / "ring.ff"))
    assert done.code == 3
    assert "1 of 64 records did not arrive" in done.out
    assert "holds only a part of the ring" in done.err
    memory = CaptureFolder.open(tmp_path / "ring.ff").devices[0].memories["event_log"]
    assert [(gap.first_slot, gap.slots) for gap in memory.gaps] == [(5, 1)]


def test_the_live_counts_are_lines_of_json_for_a_machine(tmp_path: Path) -> None:
    printed = tmp_path / "console.txt"
    printed.write_text(drive(["I 1", *SWITCH]) + "ff:flow 500 3 41 *ca7e\n")
    done = run_inside("console", str(printed), "--json")
    assert done.code == 0
    rows = [json.loads(row) for row in done.out.splitlines()]
    assert rows[0] == {"kind": "flow", "cycle": 0x500, "flow": 3, "words": 0x40}
    assert rows[3]["refused"] == 2
    assert rows[4] == {
        "kind": "damaged",
        "line": "ff:flow 500 3 41 *ca7e",
        "why": "its CRC does not fit",
    }


def test_a_port_s_counts_are_shown_for_people_and_for_a_machine(tmp_path: Path) -> None:
    printed = tmp_path / "console.txt"
    printed.write_text(drive(["I 1", "W 1 1000 12 1 ffe 100 11 2", "S 500"]))
    assert run_inside("console", str(printed)).out.splitlines()[0] == (
        "         1,280  port 1: 4,096 words in, 18 packets, 1 bad, 4,094 words told; 256 words out, 17 packets, 2 bad"
    )
    row = json.loads(run_inside("console", str(printed), "--json").out.splitlines()[0])
    assert row == {
        "kind": "port", "cycle": 0x500, "port": 1, "words_in": 0x1000, "packets_in": 0x12, "bad_in": 1, "told": 0xFFE,
        "words_out": 0x100, "packets_out": 0x11, "bad_out": 2,
    }  # fmt: skip


def test_a_dump_comes_over_a_serial_line(tmp_path: Path) -> None:
    """A pseudo-terminal: the host opens it as the serial port it would open in the lab."""
    (ring,) = ring_states([*RECORD, "?"])
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    text = ("noise\n" + drive([*RECORD, "D"])).encode()
    with subprocess.Popen(
        [
            sys.executable,
            "-m",
            "freezeframe",
            "console",
            os.ttyname(theirs),
            "-o",
            tmp_path / "x.ff",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=process_environment(),
    ) as process:
        stop = threading.Event()

        def printing() -> None:
            # Printed again and again, as a card does, for the host may open the port late.
            while not stop.is_set():
                os.write(ours, text)

        thread = threading.Thread(target=printing, daemon=True)
        thread.start()
        try:
            out, err = process.communicate(timeout=60)
        finally:
            stop.set()
            process.kill()
    os.read(theirs, 1)  # unblocks the writer, should it wait for room
    os.close(theirs)
    thread.join(5)
    os.close(ours)
    assert (process.returncode, err) == (0, b"")
    assert b"64 records" in out
    memory = CaptureFolder.open(tmp_path / "x.ff").devices[0].memories["event_log"]
    assert memory.records.tobytes() == ring.image


def test_a_port_that_is_not_there_and_a_file_without_a_dump_are_one_line_each(
    tmp_path: Path,
) -> None:
    done = run_inside("console", "/dev/ttyNOTHING")
    assert done.code == 3
    assert "/dev/ttyNOTHING: cannot be opened" in done.err
    empty = tmp_path / "console.txt"
    empty.write_text("hello\n" + "".join(drive([*RECORD, "D"]).splitlines(keepends=True)[:50]))
    done = run_inside("console", str(empty), "-o", str(tmp_path / "x.ff"))
    assert done.code == 3
    assert "ended in the middle of a dump" in done.err
    assert not (tmp_path / "x.ff").exists()
    done = run_inside("console", "/dev/ttyS0@fast")
    assert done.code == 2
    assert "'fast' is not a baud rate" in done.err
