"""Output files stand at their place whole or not at all, and replace only what they may."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.gui.export.formats import FORMATS
from freezeframe.gui.export.place import check_output, new_files
from tests.gui.export.material import small
from tests.processes import run_program

# Exports in a process that may write files of 16 bytes only: as good as a full disk.
FULL_DISK = """
import resource, sys
from freezeframe.capture.errors import InputError
from freezeframe.gui.export.run import export_file
resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
source, *places = sys.argv[1:]
for place in places:
    try:
        export_file(source, place.rpartition(".")[2], place, force=True)
    except InputError as error:
        print(error)
"""


def test_what_was_there_stands_until_the_new_file_is_whole(tmp_path: Path) -> None:
    place = tmp_path / "x.csv"
    place.write_text("old")
    with new_files([place], force=True) as (temporary,):
        temporary.write_text("new")
        assert place.read_text() == "old"
        assert temporary.parent == tmp_path
    assert place.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.csv"]


def test_a_failure_leaves_nothing_and_what_was_there(tmp_path: Path) -> None:
    old = tmp_path / "a"
    old.write_text("old")

    def fail() -> None:
        with new_files([old, tmp_path / "b"], force=True) as temporary:
            for path in temporary:
                path.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"a": "old"}


def test_what_another_program_put_there_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "x"

    def race() -> None:
        with new_files([place], force=False) as (temporary,):
            temporary.write_text("ours")
            place.write_text("theirs")

    with pytest.raises(InputError, match="x: was made by another program meanwhile"):
        race()
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"x": "theirs"}


def test_a_place_without_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the directory .*no does not exist; create it"):
        check_output(tmp_path / "no" / "x", tmp_path / "s.sr", force=True)


def test_a_file_that_is_there_needs_force(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    with pytest.raises(InputError, match=r"x: exists already; .*--force"):
        check_output(tmp_path / "x", tmp_path / "s.sr", force=False)
    check_output(tmp_path / "x", tmp_path / "s.sr", force=True)


def test_a_folder_or_a_device_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(InputError, match="is there and is not a file, so it is not replaced"):
            check_output(path, Path("other.sr"), force=True)


def test_the_capture_itself_is_never_written_to(tmp_path: Path) -> None:
    capture = tmp_path / "x.sr"
    capture.write_text("samples")
    (tmp_path / "also.sr").symlink_to(capture)
    folder = tmp_path / "made.ff"
    (folder / "raw").mkdir(parents=True)
    for path, source in (
        (capture, capture),
        (tmp_path / "also.sr", capture),
        (folder / "x.csv", folder),
        (folder / "raw" / "x.csv", folder),
    ):
        with pytest.raises(InputError, match="is the capture, or inside it"):
            check_output(path, source, force=True)


def test_a_full_disk_is_one_clear_error_and_no_file_is_left_in_any_format(tmp_path: Path) -> None:
    write_sr(small(), tmp_path / "small.sr")
    places = [tmp_path / f"x.{form}" for form in FORMATS if form != "pcapng"]
    for place in places:
        place.write_text("old")
    # Without bytecode: what is compiled on a full disk is cut, and stays so for the next program.
    done = run_program([sys.executable, "-B", "-c", FULL_DISK, tmp_path / "small.sr", *places])
    assert done.stdout.splitlines() == [
        f"{place}: the disk is full; nothing was left behind, free some space or choose another place"
        for place in places
    ], done.stderr
    assert {entry.name for entry in tmp_path.iterdir()} == {"small.sr", *(p.name for p in places)}
    assert {place.read_text() for place in places} == {"old"}
