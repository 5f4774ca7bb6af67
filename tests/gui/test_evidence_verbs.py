"""verify, bundle, recover, recording and --salvage: what they print, and their exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from freezeframe.capture.counters.contract import Sample
from freezeframe.capture.counters.recording import LINES, Recording
from freezeframe.capture.custody.guard_log import GuardLog
from freezeframe.capture.folder.one_file import files_below, pack
from tests.capture.counters.played import counter
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import made_capture


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_capture(tmp_path_factory.mktemp("whole") / "fault.ff").path


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(whole, tmp_path / "bad.ff"))
    file = folder / "raw/B.rx_enq.rec"
    data = bytearray(file.read_bytes())
    data[3000] ^= 1 << 5
    file.write_bytes(data)
    return folder


def test_verify_lists_what_is_damaged_and_exits_with_1(damaged: Path, whole: Path) -> None:
    done = run_inside("verify", str(whole), str(damaged.parent))
    assert done.code == 1
    first, second, third = done.out.splitlines()
    assert re.search(r"fault\.ff: whole: 17 files, 61 chunks, [\d,]+ B$", first)
    assert re.search(
        r"bad\.ff: damaged in 1 place; 2,304 B of [\d,]+ B are lost, --salvage reads the rest$",
        second,
    )
    assert third.split(": ")[0].strip() == "raw/B.rx_enq.rec"
    assert third.endswith("altered: bit 5 of byte 3000 is flipped")
    document = json.loads(run_inside("verify", str(damaged), "--json").out)
    (damage,) = document["evidence"][0]["damage"]
    assert {key: damage[key] for key in ("file", "first_byte", "bytes", "chunk")} == {
        "file": "raw/B.rx_enq.rec", "first_byte": 2304, "bytes": 2304, "chunk": 1,
    }  # fmt: skip


def test_verify_refuses_what_is_no_evidence(tmp_path: Path) -> None:
    assert "neither a capture nor a folder with one" in refusal("verify", str(tmp_path))


def test_what_is_no_evidence_keeps_verify_from_nothing_else(
    damaged: Path, whole: Path, tmp_path: Path
) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("seen at 1 a.m.")
    nope = tmp_path / "nope.ff"
    words = ["verify", str(nope), str(whole), str(text), str(damaged)]
    done = run_inside(*words)
    assert done.code == 2
    assert [line.split(": ")[1] for line in done.out.splitlines() if line[0] == "/"] == [
        "whole", "damaged in 1 place; 2,304 B of 91,897 B are lost, --salvage reads the rest",
    ]  # fmt: skip
    assert done.err == (
        f"freezeframe: {nope}: there is no such file or folder\n"
        f"freezeframe: {text}: is no capture: nothing in it is a manifest.json\n"
    )
    document = json.loads(run_inside(*words, "--json").out)
    assert [one["path"] for one in document["evidence"]] == [str(whole), str(damaged)]
    assert [one["path"] for one in document["refused"]] == [str(nope), str(text)]


@pytest.mark.parametrize(
    "words",
    [
        ("explain",),
        ("check",),
        ("decode", "-d", "trace"),
        ("analyze", "pressure"),
        ("explain", "--json"),
    ],
)
def test_salvage_reads_the_rest_and_says_what_is_left_out(
    damaged: Path, words: tuple[str, ...]
) -> None:
    verb, *more = words
    assert run_inside(verb, str(damaged), *more).code == 2
    done = run_inside(verb, str(damaged), *more, "--salvage")
    assert done.code == 0
    assert "left out: raw/B.rx_enq.rec: chunk 1, records 256..511" in done.err
    if words == ("explain",):
        assert "B.rx_enq: slot 256: 81 records from this slot on could not be read" in " ".join(
            done.out.split()
        )


def test_a_bundle_holds_the_capture_its_report_and_the_log_of_its_guard(
    whole: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "fault.ff"))
    log = GuardLog(tmp_path)
    log("a line")
    log.close()
    done = run_inside("bundle", str(folder))
    assert done.code == 0
    mailed = tmp_path / "fault.ff.zip"
    with zipfile.ZipFile(mailed) as archive:
        names = archive.namelist()
        assert b"word-omitted" in archive.read("report.html")
        assert json.loads(archive.read("versions.json"))["tool"].startswith("freezeframe ")
        assert re.fullmatch(
            rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ a line\n", archive.read("guard.log")
        )
    assert names[:2] == ["fault.ff/manifest.copy.json", "fault.ff/manifest.json"]
    assert run_inside("explain", str(mailed)).out == run_inside("explain", str(folder)).out
    assert run_inside("verify", str(mailed)).code == 0
    assert "exists already; --force replaces it" in refusal("bundle", str(folder))


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("decode", "-d", "trace"),
        ("decode",),
        ("analyze", "pressure"),
        ("explain", "--json"),
    ],
)
def test_one_file_is_read_as_the_folder_is(
    whole: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    mailed = tmp_path / "fault.ff.zip"
    mailed.write_bytes(pack(files_below(whole, "fault.ff")))
    verb, *more = words
    one, other = (run_inside(verb, str(place), *more) for place in (mailed, whole))
    assert one.code == other.code
    assert one.out == other.out


def recorded(path: Path) -> Path:
    recording = Recording(path)
    for second in range(10):
        recording.add(
            "s", {"a": counter("a")}, Sample(second * 10**9, {"a": 5 * second, "still": 3})
        )
    recording.close()
    return path


def test_a_recording_is_summed_up_written_and_drawn(tmp_path: Path) -> None:
    place = recorded(tmp_path / "n.ffrec")
    document = json.loads(run_inside("recording", str(place), "--what", "a", "--json").out)
    (one,) = document["counters"]
    assert (one["counter"], one["first"], one["last"], one["a_second"]) == ("a", 0, 45, 5.0)
    assert "10 samples, 9.0 s" in run_inside("recording", str(place)).out
    assert run_inside("recording", str(place), "-o", str(tmp_path / "n.csv")).code == 0
    lines = (tmp_path / "n.csv").read_text().splitlines()
    assert lines[0] == '"t_ps","source","kind","counter","unit","value","changed","utc_ns"'
    assert len(lines) == 21
    assert run_inside("recording", str(place), "-o", str(tmp_path / "n.svg")).code == 0
    assert "<svg" in (tmp_path / "n.svg").read_text()
    wrong = run_inside("recording", str(place), "--what", "nope")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)


def test_a_console_is_recorded_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"hello\nworld\n")
    record = tmp_path / "c.ffrec"
    assert run_inside("console", str(tmp_path / "c.txt"), "--record", str(record)).code == 0
    out = run_inside("recording", str(record)).out
    assert [line.split()[1] for line in out.splitlines()] == ["hello", "world"]


def test_recover_ends_a_recording_and_finishes_a_capture_that_stands_whole(
    whole: Path, tmp_path: Path
) -> None:
    place = recorded(tmp_path / "n.ffrec")
    segment = place / "00000001.ffj"
    segment.write_bytes(segment.read_bytes()[:-25])
    assert run_inside("verify", str(place)).code == 1
    shutil.copytree(whole, tmp_path / ".fault.ff.partial-99999999-0123abcd")
    (tmp_path / ".part.ff.partial-99999999-0123abcd").mkdir()
    done = run_inside("recover", str(tmp_path))
    assert done.code == 0
    assert "was written whole, and is fault.ff now" in done.out
    assert "it holds no manifest, remove it" in done.out
    assert "B of no whole frame were cut" in done.out
    assert run_inside("verify", str(place)).code == 0
    assert run_inside("verify", str(tmp_path / "fault.ff")).code == 0
    assert run_inside("recover", str(tmp_path / "fault.ff")).code == 2


def test_recover_touches_nothing_that_a_program_still_writes(tmp_path: Path) -> None:
    live = Recording(tmp_path / "c.ffrec", LINES)
    live.line("before")
    live.sync()
    (tmp_path / f".fault.ff.partial-{os.getpid()}-0123abcd").mkdir()
    segment = tmp_path / "c.ffrec" / "00000001.ffj"
    stood = segment.read_bytes()
    done = run_inside("recover", str(tmp_path))
    assert done.code == 0
    assert "c.ffrec: a program that runs is recording there; nothing was touched" in done.out
    assert f"process {os.getpid()} runs, and may still write it; nothing was touched" in done.out
    assert segment.read_bytes() == stood
    live.line("after")
    live.close()
    assert run_inside("verify", str(tmp_path / "c.ffrec")).code == 0
    out = run_inside("recording", str(tmp_path / "c.ffrec")).out
    assert [line.split()[1] for line in out.splitlines()] == ["before", "after"]


def test_lines_are_not_drawn(tmp_path: Path) -> None:
    Recording(tmp_path / "c.ffrec", LINES).close()
    said = refusal("recording", str(tmp_path / "c.ffrec"), "-o", str(tmp_path / "c.svg"))
    assert "holds lines of text, which are not drawn" in said


def test_an_error_within_one_file_names_that_file_and_no_temporary_folder(tmp_path: Path) -> None:
    folder, packed = made_capture(tmp_path / "x.ff").path, tmp_path / "x.ff.zip"
    altered = folder / "raw/A.tx_deq.rec"
    altered.write_bytes(altered.read_bytes()[:40] + b"!" + altered.read_bytes()[41:])
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"x.ff/{path.relative_to(folder)}")
    said = refusal("explain", str(packed))
    assert said.startswith(f"freezeframe: {packed}/raw/A.tx_deq.rec: altered in chunk 0 ")
    assert "unpacked" not in said
    salvaged = run_inside("explain", str(packed), "--salvage")
    assert "freezeframe-unpacked" not in salvaged.out + salvaged.err


def test_salvage_says_what_is_damaged_on_standard_error_and_once_in_the_answer(
    tmp_path: Path,
) -> None:
    folder = made_capture(tmp_path / "x.ff").path
    altered = folder / "raw/A.tx_deq.rec"
    altered.write_bytes(altered.read_bytes()[:40] + b"!" + altered.read_bytes()[41:])
    done = run_inside("explain", str(folder), "--salvage")
    assert done.err.count("raw/A.tx_deq.rec: chunk 0") == 1
    assert " ".join(done.out.split()).count("damaged since it was pulled: raw/A.tx_deq.rec") == 1


def test_what_lies_beside_the_capture_in_one_file_is_verified_too(
    whole: Path, tmp_path: Path
) -> None:
    place = tmp_path / "fault.ff.zip"
    assert run_inside("bundle", str(whole), "-o", str(place)).code == 0
    data = bytearray(place.read_bytes())
    at = data.index(b"<html")
    data[at + 1] ^= 1
    place.write_bytes(data)
    done = run_inside("verify", str(place))
    assert done.code == 1
    assert "report.html: bytes 0.." in done.out
    assert "altered since it was packed; it is beside the capture, not of it" in done.out
    assert "; 0 B of" in done.out
    # The evidence is whole, and is read.
    assert run_inside("reg", str(place), "ctl.state", "--device", "A").code == 0


def _of_another_program(whole: Path, place: Path, beside: dict[str, bytes]) -> bytearray:
    """Return an archive, deflated, as another program makes it."""
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**files_below(whole, "mail/fault.ff"), **beside}.items():
            archive.writestr(name, data)
    return bytearray(place.read_bytes())


def test_in_an_archive_of_another_program_what_lies_beside_is_held_against_its_sums(
    whole: Path, tmp_path: Path
) -> None:
    place = tmp_path / "mail.ff.zip"
    data = _of_another_program(whole, place, {"notes.txt": b"seen at 1 a.m.", "mail/b.log": b""})
    done = run_inside("verify", str(place))
    assert done.code == 0
    assert re.fullmatch(
        r"\S+: whole: 17 files, 61 chunks, [\d,]+ B; beside it 2 files, as packed\n", done.out
    )
    at = data.index(b"notes.txt") + len("notes.txt")
    stored = data.index(b"PK\x03\x04", at) - at
    data[at + stored // 2] ^= 1
    place.write_bytes(data)
    done = run_inside("verify", str(place))
    assert (done.code, "damaged in 1 place; 0 B of" in done.out) == (1, True)
    assert (
        "notes.txt: bytes 0..13: altered since it was packed; it is beside the capture, not of it ("
        in done.out
    )
    assert run_inside("reg", str(place), "ctl.state", "--device", "A").code == 0  # which is whole


def test_what_cannot_be_checked_beside_a_capture_is_listed(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "mail.ff.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for name, data in files_below(whole, "fault.ff").items():
            archive.writestr(name, data)
            archive.writestr(name.replace("fault.ff", "later/other.ff"), data)
        archive.writestr("notes.txt", b"seen" * 9, zipfile.ZIP_BZIP2)
    done = run_inside("verify", str(place))
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "  not checked: notes.txt: is packed by method 12; 0 (stored) and 8 (deflate) are read",
        "  not checked: later/other.ff: is a capture, too, and was held against the archive's sums alone; "
        "unpack it to verify it",
    ]
    (one,) = json.loads(run_inside("verify", str(place), "--json").out)["evidence"]
    assert (one["beside"], len(one["unchecked"]), one["damage"]) == (17, 2, [])


def test_a_name_beside_the_capture_that_leads_out_is_refused(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "mail.ff.zip"
    _of_another_program(whole, place, {"../notes.txt": b""})
    said = refusal("explain", str(place))
    assert "holds '../notes.txt', which is no name inside of a folder" in said


def test_verify_and_bundle_count_the_same_files(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "fault.ff"))
    (folder / "notes.json").write_text("{}")  # a user's, and no evidence
    place = tmp_path / "fault.ff.zip"
    told = run_inside("bundle", str(folder), "-o", str(place)).out
    assert told.endswith(": fault.ff (17 files), fault.ff/notes.json, versions.json, report.html\n")
    for path, beside in ((folder, ""), (place, "; beside it 2 files, as packed")):
        done = run_inside("verify", str(path))
        assert re.search(rf": whole: 17 files, 61 chunks, [\d,]+ B{beside}$", done.out.strip())


def test_a_file_that_would_be_taken_for_a_capture_is_not_added(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    said = refusal(
        "bundle",
        str(whole),
        "-o",
        str(tmp_path / "x.ff.zip"),
        "--add",
        str(tmp_path / "manifest.json"),
    )
    assert "by that name it would be taken for a capture; rename yours" in said


def test_of_bytes_that_were_appended_nothing_is_said_to_be_lost(
    whole: Path, tmp_path: Path
) -> None:
    shutil.copytree(whole, tmp_path / "longer.ff")
    with (tmp_path / "longer.ff/raw/A.tx_enq.rec").open("ab") as file:
        file.write(b"x" * 900)
    done = run_inside("verify", str(tmp_path / "longer.ff"))
    assert (done.code, "was appended" in done.out) == (1, True)
    assert "; 0 B of" in done.out


def test_registers_of_a_damaged_capture_are_salvaged(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "bad.ff")
    file = tmp_path / "bad.ff/raw/A.tx_enq.rec"
    file.write_bytes(file.read_bytes()[:-9])
    name = str(tmp_path / "bad.ff")
    assert run_inside("reg", name, "ctl.state").code == 2
    done = run_inside("reg", name, "ctl.state", "--device", "A", "--salvage")
    assert (done.code, done.err.count("left out: raw/A.tx_enq.rec")) == (0, 1)
    assert "ctl.state" in done.out
    said = refusal("reg", "etherbone://127.0.0.1:1", "--salvage")
    assert "is no capture, so there is nothing to salvage" in said


def test_places_are_counted_as_they_are_listed_and_what_is_there_of_a_cut_file_is_said(
    whole: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "bad.ff"))
    for name, left_B in (("tx_deq", 1000), ("tx_enq", 0)):
        os.truncate(folder / f"raw/A.{name}.rec", left_B)
    expected = [
        "raw/A.tx_deq.rec: chunk 0, records 0..255, bytes 0..2303: cut after 1,000 B of it, which have no hash of "
        "their own",
        "raw/A.tx_deq.rec: chunk 1, records 256..511, bytes 2304..4607: missing: the file was cut",
        "raw/A.tx_enq.rec: 2 chunks, 0..1, records 0..511, bytes 0..4607: missing: the file was cut",
    ]
    head, *lines = run_inside("verify", str(folder)).out.splitlines()
    assert ": damaged in 3 places; 9,216 B of " in head
    assert lines == [f"  {line}" for line in expected]
    said = run_inside("explain", "--salvage", str(folder)).err.splitlines()
    assert said == [f"freezeframe: {folder}: left out: {line}" for line in expected]
    document = json.loads(run_inside("verify", str(folder), "--json").out)
    assert [each["chunk"] for each in document["evidence"][0]["damage"]] == [0, 1, 0, 1]
