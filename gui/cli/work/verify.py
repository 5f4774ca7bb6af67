"""``freezeframe verify``: each capture held against its hashes, and what is damaged listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.count_text import plural
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder.damage import APPENDED, lines_of
from freezeframe.capture.folder.manifest import has_manifest
from freezeframe.capture.folder.one_file import SUFFIX
from freezeframe.capture.folder.salvage import examine_any
from freezeframe.capture.journal import SUFFIX as RECORDING
from freezeframe.capture.journal import Frame, is_journal, read, segments
from freezeframe.gui.cli.output import count_text, emit_json
from freezeframe.gui.cli.reading import refuse_missing
from freezeframe.gui.text import printable


def verify(evidence: Sequence[Path], *, json: bool) -> bool:
    """Print what is damaged, of everything that is evidence; return whether nothing is.

    Raises:
        InputError: a path names no capture and no folder with one; the others were verified.
    """
    found, refused = [], []
    for place in evidence:
        try:
            refuse_missing(place)
            found += [_examined(path) for path in _all_in(place)]
        except InputError as error:
            refused.append((place, error))
    if json:
        for one in found:
            one.pop("lines", None)
        emit_json(
            {
                "evidence": found,
                "damaged": sum(bool(one["damage"]) for one in found),
                "refused": [{"path": str(path), "why": str(why)} for path, why in refused],
            }
        )
    else:
        for one in found:
            print(_text(one))
    if refused:
        raise _RefusedError([str(why) for _, why in refused])
    return not any(one["damage"] for one in found)


class _RefusedError(InputError):
    """What was no evidence, a line each."""

    def __init__(self, why: Sequence[str]) -> None:
        super().__init__("; ".join(why))
        self._why = tuple(why)

    @property
    def lines(self) -> tuple[str, ...]:
        return self._why


def _all_in(place: Path) -> Iterator[Path]:
    """Give the captures that a path names: itself, or those in a folder."""
    if not place.is_dir() or _is_one(place):
        yield place
        return
    inside = sorted(path for path in place.rglob("*") if _is_one(path))
    if not inside:
        raise InputError(
            f"{place}: neither a capture nor a folder with one; give NAME.ff, NAME{SUFFIX}, or a folder of them"
        )
    yield from inside


def _is_one(path: Path) -> bool:
    if path.name.startswith("."):
        return False
    if path.is_dir():
        return is_journal(path) or has_manifest(path)
    return path.name.endswith(SUFFIX)


def _examined(path: Path) -> dict[str, Any]:
    if path.is_dir() and is_journal(path):
        return _recording(path)
    try:
        examined = examine_any(path)
    except CaptureFormatError as error:
        if not _is_one(path):
            raise
        why = str(error).removeprefix(f"{path}: ")
        return {"path": str(path), "readable": False, "damage": [_damage("", 0, 0, why)]}
    damage = [
        _damage(each.file, each.first_B, each.size_B, each.what, each.chunk, each.text)
        for each in examined.damage
    ]
    return {
        "path": str(path),
        "lines": lines_of(examined.damage),
        "readable": examined.manifest is not None,
        "files": examined.files,
        "bytes": examined.bytes,
        "chunks": examined.chunks,
        "beside": examined.beside,
        "unchecked": list(examined.unchecked),
        "damage": damage,
    }


def _recording(path: Path) -> dict[str, Any]:
    frames, damage = 0, []
    for item in read(path):
        if isinstance(item, Frame):
            frames += 1
        else:
            damage.append(
                _damage(item.segment, item.first_B, item.size_B, item.text, text=item.text)
            )
    files = segments(path)
    size_B = sum(file.stat().st_size for file in files)
    return {
        "path": str(path), "readable": frames > 0, "files": len(files), "bytes": size_B, "chunks": frames,
        "damage": damage,
    }  # fmt: skip


def _damage(
    file: str, first_B: int, size_B: int, what: str, chunk: int | None = None, text: str = ""
) -> dict[str, Any]:
    return {
        "file": file,
        "first_byte": first_B,
        "bytes": size_B,
        "chunk": chunk,
        "what": what,
        "text": text or what,
    }


def _text(one: dict[str, Any]) -> str:
    name = printable(one["path"])
    damage = one["damage"]
    if not damage:
        sizes = f"{plural(one['files'], 'file')}, {plural(one['chunks'], 'chunk')}, {count_text(one['bytes'])} B"
        beside = (
            f"; beside it {plural(one['beside'], 'file')}, as packed" if one.get("beside") else ""
        )
        return "\n".join([f"{name}: whole: {sizes}{beside}", *_unchecked(one)])
    lines = one.get("lines") or [each["text"] for each in damage]
    head = f"{name}: damaged in {plural(len(lines), 'place')}"
    if one["readable"] and not Path(one["path"]).name.endswith(RECORDING):
        lost_B = sum(
            each["bytes"]
            for each in damage
            if each["file"].startswith("raw/") and each["what"] != APPENDED
        )
        head += f"; {count_text(lost_B)} B of {count_text(one['bytes'])} B are lost, --salvage reads the rest"
    return "\n".join([head, *(f"  {printable(line)}" for line in lines), *_unchecked(one)])


def _unchecked(one: dict[str, Any]) -> list[str]:
    return [f"  not checked: {printable(line)}" for line in one.get("unchecked", ())]
