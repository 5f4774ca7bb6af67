"""The log of a guard: one recording that survives crashes and a full disk; what former versions wrote is read."""

from __future__ import annotations

import errno
import json
import shutil
import struct
import threading
import zlib
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.counters.recording import GUARD, Recording
from freezeframe.capture.custody.guard_log import LOG, GuardLog, read_log
from freezeframe.capture.custody.night import night, night_lines
from freezeframe.capture.errors import InputError
from freezeframe.capture.journal import LONGEST_B, Disk, segments
from tests.capture.counters.test_recording import Full

KEPT = {"what": "kept", "boot_nonce": "0x0b000000", "generation": 7, "capture": "x.ff"}
FOUND = {"capture": "x.ff", "findings": [{"diagnosis": "credit-lost", "device": "A", "tap": None}]}


def write(directory: Path) -> None:
    log = GuardLog(directory)
    log("card: watching A, B")
    log.account(KEPT)
    assert log.explained(FOUND) == ""
    log.close()


def test_what_was_said_accounted_for_and_found_is_read_again(tmp_path: Path) -> None:
    write(tmp_path)
    log = GuardLog(tmp_path)
    log("again")
    log.close()
    read = read_log(tmp_path)
    assert [line for _, line in read.lines] == ["card: watching A, B", "again"]
    assert read.accounts == [{**KEPT, "nonce": 0x0B000000}]
    assert read.explanations == log.before.explanations == [FOUND]
    assert log.kinds == {"x.ff": "credit-lost at A"}
    assert read.missing == []


def test_a_log_is_these_bytes(tmp_path: Path) -> None:
    """Each frame: mark, length, number, CRC, JSON; by a reader of its own."""
    write(tmp_path)
    (segment,) = segments(tmp_path / LOG)
    data = segment.read_bytes()
    payloads: list[bytes] = []
    assert data[:8] == b"FFRJRNL1"
    at = 8
    while at < len(data):
        mark, size_B, number, crc = struct.unpack_from("<4sIQI", data, at)
        payload = data[at + 20 : at + 20 + size_B]
        assert (mark, number) == (b"\xf5FFJ", len(payloads))
        assert crc == zlib.crc32(data[at + 4 : at + 16] + payload)
        payloads.append(payload)
        at += 20 + size_B
    head, line, account, explained, end = payloads
    assert json.loads(head)["kind"] == "guard"
    assert json.loads(line)[1] == "card: watching A, B"
    assert json.loads(account) == {"entry": "account", "document": KEPT}
    assert json.loads(explained) == {"entry": "explained", "document": FOUND}
    assert end == b""


def test_a_line_that_a_crash_has_torn_takes_nothing_else_with_it(tmp_path: Path) -> None:
    write(tmp_path)
    (segment,) = segments(tmp_path / LOG)
    segment.write_bytes(segment.read_bytes()[:-25])  # the end, and 5 bytes of the explanation
    read = read_log(tmp_path)
    assert (len(read.lines), len(read.accounts), read.explanations) == (1, 1, [])
    assert "no whole frame: it was being written when the recording ended" in read.missing[0]


def test_damage_in_the_middle_takes_one_entry_and_the_night_says_so(tmp_path: Path) -> None:
    write(tmp_path)
    (segment,) = segments(tmp_path / LOG)
    segment.write_bytes(segment.read_bytes().replace(b'"generation":7', b'"generation":8'))
    read = read_log(tmp_path)
    assert (len(read.lines), read.accounts, read.explanations) == (1, [], [FOUND])
    (line,) = [line for line in night_lines(night(tmp_path)) if "missing" in line]
    assert line.startswith("missing in guard.ffrec: 00000001.ffj: bytes ")
    assert "altered, 1 frame is missing" in line
    assert night(tmp_path).to_json()["missing"] == read.missing


def test_a_full_disk_ends_nothing_and_what_was_lost_is_counted(tmp_path: Path) -> None:
    said: list[str] = []
    disk = Full()
    disk.full = True
    log = GuardLog(tmp_path, said.append, disk=disk)
    log("one")
    log.account(KEPT)
    assert log.explained(FOUND) == "no room on the disk"
    disk.full = False
    log("two")
    disk.full = True
    log("three")
    disk.full = False
    log.close()
    read = read_log(tmp_path)
    assert [line for _, line in read.lines] == ["two"]
    recorded = Recorded(tmp_path / LOG)
    assert len(list(recorded.events())) == 1
    assert recorded.lost == 4
    assert [line[21:] for line in said] == [
        "guard.ffrec: no room on the disk",
        "one (guard.ffrec: no room on the disk)",
        "two",
        "three (guard.ffrec: no room on the disk)",
    ]


class WithoutInodes(Disk):
    """A disk on which no file can be made, until it can."""

    full = True

    def create(self, path: Path) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().create(path)


def test_a_log_that_could_not_be_begun_is_begun_when_there_is_room(tmp_path: Path) -> None:
    said: list[str] = []
    disk = WithoutInodes()
    log = GuardLog(tmp_path, said.append, disk=disk)
    log("one")
    disk.full = False
    log("two")
    log.close()
    recorded = Recorded(tmp_path / LOG)
    assert [event.text for event in recorded.events()] == ["two"]
    assert recorded.lost == 1
    assert "one (guard.ffrec: no room on the disk)" in said[1]


def test_two_threads_write_to_one_log(tmp_path: Path) -> None:
    log = GuardLog(tmp_path)

    def explain() -> None:
        for number in range(100):
            log.explained({"capture": f"{number}.ff", "findings": []})

    thread = threading.Thread(target=explain)
    thread.start()
    for number in range(100):
        log(f"line {number}")
        log.sync()
    thread.join()
    log.close()
    read = read_log(tmp_path)
    assert [line for _, line in read.lines] == [f"line {number}" for number in range(100)]
    assert [each["capture"] for each in read.explanations] == [f"{n}.ff" for n in range(100)]
    assert read.missing == []


def test_an_explanation_that_no_frame_holds_is_replaced_by_a_word_of_it(tmp_path: Path) -> None:
    log = GuardLog(tmp_path)
    assert log.explained({**FOUND, "notes": ["x" * LONGEST_B]}) == ""
    log.close()
    (kept,) = read_log(tmp_path).explanations
    assert (kept["capture"], kept["findings"]) == ("x.ff", [])
    assert "is not kept; freezeframe explain gives it" in kept["error"]


def test_of_a_small_log_the_oldest_goes_and_the_night_says_so(tmp_path: Path) -> None:
    for _ in range(3):
        log = GuardLog(tmp_path, keep_B=1)
        log("x" * 100)
        log.close()
    read = read_log(tmp_path)
    assert len(read.lines) == 2
    assert read.missing == [
        "what came before 00000002.ffj: it was removed to keep the recording small"
    ]


def test_entries_of_no_known_form_are_said(tmp_path: Path) -> None:
    log = GuardLog(tmp_path)
    log.account({"what": "kept", "boot_nonce": "x", "generation": 1})
    log.explained({**FOUND})
    log.close()
    read = read_log(tmp_path)
    assert (read.accounts, len(read.explanations)) == ([], 1)
    assert read.missing[0].startswith("an entry 'account' of no known form: {")


def test_something_else_of_that_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text("mine")
    with pytest.raises(InputError, match="is there, and is no recording"):
        GuardLog(tmp_path)
    assert (tmp_path / LOG).read_text() == "mine"


def test_a_clock_that_is_set_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ns = [1_700_000_000_000_000_000]
    monkeypatch.setattr("time.time_ns", lambda: now_ns[0])
    monkeypatch.setattr("time.monotonic_ns", lambda: 5)
    log = GuardLog(tmp_path)
    log("before")
    now_ns[0] += 3600 * 10**9
    log("after")
    log.close()
    assert read_log(tmp_path).lines == [
        ("2023-11-14T22:13:20Z", "before"),
        ("2023-11-14T23:13:20Z", "after"),
    ]


@pytest.mark.parametrize(
    ("what", "entry"),
    [
        ("explained", {"capture": "x.ff", "findings": 3}),
        ("explained", {"capture": "x.ff", "findings": ["a"]}),
        ("explained", {"capture": "x.ff", "history": [7]}),
        ("explained", {"capture": "x.ff", "findings": [{"evidence": [{"rows": [1]}]}]}),
        ("account", {**KEPT, "capture": 5}),
        ("account", {**KEPT, "when": []}),
    ],
)
def test_an_entry_whose_frame_is_whole_and_whose_values_are_of_another_kind_is_left_out_and_said(
    tmp_path: Path, what: str, entry: dict[str, Any]
) -> None:
    recording = Recording(tmp_path / LOG, GUARD)
    recording.line("watching")
    recording.entry(what, entry)
    recording.close()
    read = read_log(tmp_path)
    assert (read.accounts, read.explanations) == ([], [])
    assert read.missing[0].startswith(f"an entry {what!r} of no known form: {{")
    GuardLog(tmp_path).close()
    assert night(tmp_path).freezes == 0


def test_a_log_that_somebody_removes_is_begun_anew_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []
    log = GuardLog(tmp_path, said.append)
    log("before")
    assert log.sync() == ""
    shutil.rmtree(tmp_path / LOG)
    log("to a file without a name")
    assert log.sync() == "it was removed while it was written"
    assert said[-1].endswith("guard.ffrec: it was removed while it was written")
    log("after")
    assert log.sync() == ""
    log.close()
    lines = [line for _, line in read_log(tmp_path).lines]
    assert lines == [
        "guard.ffrec was removed while the guard wrote to it; what stood in it is gone",
        "after",
    ]


def test_a_directory_that_somebody_removes_ends_no_guard(tmp_path: Path) -> None:
    place = tmp_path / "caught"
    place.mkdir()
    log = GuardLog(place)
    log("before")
    shutil.rmtree(place)
    log("to a file without a name")
    assert log.sync() == "it was removed while it was written"
    log("nowhere")
    assert "there is no folder" in log.sync()
    log.close()
