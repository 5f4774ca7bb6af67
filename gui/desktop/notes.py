"""A user's notes and saved views beside a capture: ``notes.json``. Not evidence, and in no digest.

A file that is damaged or was changed by another program is never written over.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.gui.places import write_whole

FORMAT = ("freezeframe-notes", 1, 0)
_LIMIT_B = 16 << 20
_MOST = 100_000
_LONGEST = 10_000  # characters of a note
_FAR_PS = 1 << 62
_ABSENT = ""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark at a time, or over ``[t_ps, t_end_ps)``; ``source``, ``table``, ``row`` say of what."""

    id: str
    t_ps: int
    text: str
    t_end_ps: int | None = None
    table: str = ""
    row: int | None = None

    @classmethod
    def new(
        cls,
        t_ps: int,
        text: str,
        t_end_ps: int | None = None,
        table: str = "",
        row: int | None = None,
    ) -> Note:
        """Return a note with a new name."""
        return cls(secrets.token_hex(6), t_ps, text[:_LONGEST], t_end_ps, table, row)


@dataclass(slots=True)
class NoteBook:
    """The notes of one source, by time, and its views by name; ``digest`` is of the file as read."""

    path: Path | None
    notes: list[Note] = field(default_factory=list)
    views: dict[str, dict[str, Any]] = field(default_factory=dict)
    digest: str = _ABSENT
    trouble: str = ""

    def put(self, note: Note) -> None:
        """Add a note, or replace the one of its id."""
        self.notes = sorted(
            [*(one for one in self.notes if one.id != note.id), note], key=lambda n: (n.t_ps, n.id)
        )

    def remove(self, id: str) -> None:
        """Take a note out; one that is not there is no error."""
        self.notes = [one for one in self.notes if one.id != id]


def notes_path(source: Path) -> Path:
    """Return where the notes of a source stand: in a capture folder, else beside the file."""
    return (
        source / "notes.json" if source.is_dir() else source.with_name(f"{source.name}.notes.json")
    )


def read_notes(path: Path) -> NoteBook:
    """Return the notes of a file; an empty book where there is none.

    Raises:
        CaptureFormatError: it is no such file, or damaged.
        CaptureVersionError: it is of another version.
        InputError: it cannot be read.
    """
    try:
        if not path.exists():
            return NoteBook(path)
        size_B = path.stat().st_size
        if size_B > _LIMIT_B:
            raise CaptureFormatError(
                f"{path}: {size_B} B are more than notes can have ({_LIMIT_B} B)"
            )
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        held = json.loads(raw)
        if not isinstance(held, dict):
            raise ValueError("no JSON object")
        _check_format(path, held.get("format"))
        notes = [_note(said) for said in _list(held, "notes")]
        views = {
            str(name): _mapping(view) for name, view in _mapping(held.get("views", {})).items()
        }
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise CaptureFormatError(
            f"{path}: holds no notes that can be read ({error}); move it away to begin new ones, "
            "the capture itself is not touched by it"
        ) from None
    if len({note.id for note in notes}) != len(notes):
        raise CaptureFormatError(f"{path}: two notes have one id; move it away to begin new ones")
    return NoteBook(path, sorted(notes, key=lambda n: (n.t_ps, n.id)), views, _digest(raw))


def write_notes(book: NoteBook) -> None:
    """Write the notes to their place: a temporary name, synced, renamed.

    Raises:
        InputError: there is no place, the file there is damaged or another program changed it, or
            the system refuses.
    """
    path = book.path
    if path is None:
        raise InputError("a live card has no file of notes; pull a capture and note it there")
    if book.trouble:
        raise InputError(f"{path}: is not written over: {book.trouble}")
    try:
        there = _digest(path.read_bytes()) if path.exists() else _ABSENT
        if there != book.digest:
            raise InputError(
                f"{path}: was changed by another program since it was read; the notes are not "
                "written over it; open the capture again to see both"
            )
        if there == _ABSENT and not book.notes and not book.views:
            return
        raw = _text(book)
        write_whole(path, raw)
    except OSError as error:
        raise InputError(
            f"{path}: notes cannot be written: {error.strerror}; they are kept only in this window"
        ) from None
    book.digest = _digest(raw)


def _text(book: NoteBook) -> bytes:
    held = {"format": FORMAT, "notes": [asdict(note) for note in book.notes], "views": book.views}
    return (json.dumps(held, indent=1, ensure_ascii=True) + "\n").encode()


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def _check_format(path: Path, said: Any) -> None:
    match said:
        case [str(name), int(major), int(minor)] if name == FORMAT[0]:
            if major != FORMAT[1] or minor > FORMAT[2]:
                raise CaptureVersionError(
                    f"{path}: notes of version {major}.{minor}, this program reads "
                    f"{FORMAT[1]}.{FORMAT[2]}; update Freezeframe"
                )
        case _:
            raise ValueError(f"format is {said!r}, not {FORMAT[0]}")


def _note(said: Any) -> Note:
    held = _mapping(said)
    t_ps, end = _time(held["t_ps"]), held.get("t_end_ps")
    row = held.get("row")
    id, text, table = held["id"], held["text"], held.get("table", "")
    if not isinstance(id, str) or not isinstance(text, str) or not isinstance(table, str):
        raise ValueError("a note without id or text")
    if row is not None and (type(row) is not int or row < 0):
        raise ValueError(f"row {row!r}")
    return Note(id, t_ps, text[:_LONGEST], None if end is None else _time(end), table, row)


def _time(value: Any) -> int:
    if type(value) is not int or not -_FAR_PS < value < _FAR_PS:
        raise ValueError(f"{value!r} is no time in picoseconds")
    return value


def _list(held: Mapping[str, Any], name: str) -> list[Any]:
    found = held.get(name, [])
    if not isinstance(found, list) or len(found) > _MOST:
        raise ValueError(f"{name} is no list of up to {_MOST}")
    return found


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.40} is no JSON object")
    return value
