"""notes.json: a user's notes and views, written whole, never over what another program wrote."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.desktop.notes import (
    Note,
    NoteBook,
    notes_path,
    read_notes,
    write_notes,
)

NOTE = Note("a1", 1_500, "here it begins", 2_500, "packets", 7)


def test_notes_stand_in_a_capture_folder_and_beside_a_file(tmp_path: Path) -> None:
    assert notes_path(tmp_path) == tmp_path / "notes.json"
    assert notes_path(tmp_path / "phy.sr") == tmp_path / "phy.sr.notes.json"


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    book = NoteBook(path, [NOTE], {"my view": {"filter": "ok"}})
    write_notes(book)
    again = read_notes(path)
    assert again.notes == [NOTE]
    assert again.views == {"my view": {"filter": "ok"}}
    again.put(Note("b2", 0, "earlier"))
    again.put(Note("a1", 1_500, "changed"))
    write_notes(again)
    assert [note.text for note in read_notes(path).notes] == ["earlier", "changed"]
    assert [file.name for file in tmp_path.iterdir()] == ["notes.json"]


def test_the_file_says_its_format_and_holds_times_in_whole_picoseconds(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    write_notes(NoteBook(path, [NOTE]))
    assert json.loads(path.read_text()) == {
        "format": ["freezeframe-notes", 1, 0],
        "notes": [
            {"id": "a1", "t_ps": 1500, "text": "here it begins", "t_end_ps": 2500,
             "table": "packets", "row": 7}
        ],
        "views": {},
    }  # fmt: skip


def test_without_notes_no_file_is_made(tmp_path: Path) -> None:
    book = read_notes(tmp_path / "notes.json")
    write_notes(book)
    assert list(tmp_path.iterdir()) == []


def test_what_another_program_changed_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    write_notes(NoteBook(path, [NOTE]))
    mine, other = read_notes(path), read_notes(path)
    other.put(Note("b2", 5, "of another window"))
    write_notes(other)
    mine.put(Note("c3", 6, "mine"))
    with pytest.raises(InputError, match="was changed by another program since it was read"):
        write_notes(mine)
    assert [note.id for note in read_notes(path).notes] == ["b2", "a1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no notes that can be read"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [', "holds no notes"),
        ("[]", "no JSON object"),
        ('{"format": "else"}', "format is 'else', not freezeframe-notes"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [{"id": "a"}]}', "t_ps"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [{"id": "a", "text": "", "t_ps": 1.5}]}',
         "1.5 is no time in picoseconds"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [{"id": "a", "text": "", "t_ps": true}]}',
         "True is no time"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [{"id": 1, "text": "", "t_ps": 1}]}',
         "a note without id or text"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": {"a": 1}}', "notes is no list"),
        ('{"format": ["freezeframe-notes", 1, 0], "views": {"a": 3}}', "is no JSON object"),
        ("[" * 100_000, "holds no notes"),
        ('{"format": ["freezeframe-notes", 1, 0], "notes": [{"id": "a", "text": "", "t_ps": 1}, '
         '{"id": "a", "text": "", "t_ps": 2}]}', "two notes have one id"),
    ],
    ids=["empty", "cut", "list", "other", "no time", "float", "bool", "id", "object", "view", "deep", "twice"],
)  # fmt: skip
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "notes.json"
    path.write_text(text)
    with pytest.raises(CaptureFormatError, match=message) as raised:
        read_notes(path)
    assert "\n" not in str(raised.value)
    assert "move it away" in str(raised.value)
    with pytest.raises(InputError, match="changed by another program"):
        write_notes(NoteBook(path, [NOTE]))
    assert path.read_text() == text


def test_another_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    path.write_text('{"format": ["freezeframe-notes", 2, 0]}')
    with pytest.raises(CaptureVersionError, match=r"version 2\.0, this program reads 1\.0"):
        read_notes(path)


def test_a_file_of_absurd_size_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.json"
    with path.open("wb") as file:
        file.truncate(17 << 20)
    with pytest.raises(CaptureFormatError, match="17825792 B are more than notes can have"):
        read_notes(path)


def test_a_place_that_cannot_be_written_is_said_and_the_notes_stay_in_the_book(
    tmp_path: Path,
) -> None:
    book = NoteBook(tmp_path / "gone" / "notes.json", [NOTE])
    with pytest.raises(InputError, match="they are kept only in this window"):
        write_notes(book)
    assert book.notes == [NOTE]


def test_a_live_source_has_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pull a capture and note it there"):
        write_notes(NoteBook(None, [NOTE]))


def test_notes_are_not_part_of_the_evidence(fault_capture: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "fault.ff"
    shutil.copytree(fault_capture, copy)
    digest = CaptureFolder.open(copy).manifest["digest"]
    write_notes(NoteBook(notes_path(copy), [NOTE]))
    assert CaptureFolder.open(copy).manifest["digest"] == digest
