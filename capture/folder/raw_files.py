"""The files of a capture beside its manifest: hashes when they are written, and every byte checked when they are read.

Each file has a hash for each of its chunks, a trace memory for each 256 records, so that what was altered can be
named and lost alone.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Any

from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder.content import CHUNK_RECORDS
from freezeframe.capture.folder.manifest import MANIFEST, SALVAGE, Json, sha256
from freezeframe.capture.folder.records import RECORD_B

KEEP = f"copy the folder again from where it was pulled, or pull again; {SALVAGE}"
_CHUNK_B = CHUNK_RECORDS * RECORD_B
_REGISTERS_CHUNK_B = (
    512  # 64 registers, or a part of a card's text so small that one bit of it can be searched
)
_TEXT_CHUNK_B = 1 << 16
_INSIDE = re.compile(r"(?:raw|cards)/[A-Za-z0-9_]+(?:\.[a-z0-9_]+)+")


def card_file(card_hash: int) -> str:
    """Return the path of a card's text inside the folder."""
    return f"cards/{card_hash:016x}.json"


def cards_of_capture(found: list[FoundCard]) -> tuple[Json, dict[str, bytes]]:
    """Return what a manifest says of the cards of its devices, and the files with their texts."""
    stated, files = {}, {}
    for card, text, _ in found:
        name = card_file(card.hash)
        files[name] = text.encode()
        stated[f"{card.hash:016x}"] = {
            "file": name,
            "name": card.name,
            "version": card.said.card.version,
        }
    return stated, files


def stated_files(files: dict[str, bytes]) -> Json:
    """Return what a manifest says of its files: size, hash, and the hashes of a memory's chunks."""
    return {name: _stated(name, data) for name, data in sorted(files.items())}


def _stated(name: str, data: bytes) -> Json:
    said: Json = {"sha256": sha256(data), "bytes": len(data)}
    size_B = _CHUNK_B
    if not name.endswith(".rec"):
        small = name.endswith(".bin") or name.startswith("cards/")
        size_B = said["chunk_bytes"] = _REGISTERS_CHUNK_B if small else _TEXT_CHUNK_B
    said["chunks"] = chunk_hashes(data, size_B)
    return said


def chunk_bytes(entry: Json) -> int:
    """Return the size of the chunks that a manifest has hashes of."""
    size_B = entry.get("chunk_bytes", _CHUNK_B)
    return size_B if type(size_B) is int and size_B > 0 else _CHUNK_B


def chunk_hashes(data: bytes, size_B: int) -> list[str]:
    """Return the hash of each chunk."""
    return [sha256(data[at : at + size_B]) for at in range(0, len(data), size_B)]


def read_files(folder: Path, stated: Any) -> dict[str, bytes]:
    """Return every file of a capture by its name; a card's text that is not there is left out.

    Raises:
        CaptureFormatError: a file is missing, cut, altered (its chunk is named, where it has any) or extra.
        OSError: it cannot be read.
    """
    if not isinstance(stated, dict):
        raise CaptureFormatError(f"{folder / MANIFEST}: names no raw files; {KEEP}")
    for sub in ("raw", "cards"):
        there = sorted((folder / sub).iterdir()) if (folder / sub).is_dir() else ()
        for place in there:
            if f"{sub}/{place.name}" not in stated:
                raise CaptureFormatError(
                    f"{place}: is not in the manifest; {sub}/ holds only what was pulled: move the "
                    "file elsewhere"
                )
    return {
        name: data
        for name, entry in sorted(stated.items())
        if (data := _read_file(folder, name, entry)) is not None
    }


def _read_file(folder: Path, name: str, entry: Any) -> bytes | None:
    """Return a file's bytes; None for a card's text that is not there: another copy may be known."""
    digest, size_B = stated_of(folder, name, entry, inside=bool(_INSIDE.fullmatch(name)))
    file = folder / name
    if not check_size(file, size_B, "pulled", KEEP):
        if name.startswith("cards/"):
            return None
        raise CaptureFormatError(f"{file}: missing; {size_B} B were pulled; {KEEP}")
    data = file.read_bytes()
    if sha256(data) != digest:
        raise CaptureFormatError(f"{file}: altered{_where(data, digest, entry)}; {KEEP}")
    return data


def stated_of(folder: Path, name: str, entry: Any, *, inside: bool) -> tuple[str, int]:
    """Return the SHA-256 and the size that a manifest states of a file, whose name must stay inside its folder.

    Raises:
        CaptureFormatError: it states something else.
    """
    match entry:
        case {"sha256": str(digest), "bytes": int(size_B)} if inside:
            return digest, size_B
    raise CaptureFormatError(
        f"{folder / MANIFEST}: {name!r} is not the name, size and SHA-256 of a raw file"
    )


def check_size(file: Path, size_B: int, came: str, keep: str) -> bool:
    """Check that a file is one of so many bytes; return False where there is none.

    Raises:
        CaptureFormatError: it is not; the message says how the bytes ``came`` there, and ends with what to do.
    """
    try:
        status = os.lstat(file)
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(status.st_mode):
        raise CaptureFormatError(f"{file}: is not a regular file; {keep}")
    if status.st_size != size_B:
        how = "cut" if status.st_size < size_B else "longer than it was"
        raise CaptureFormatError(
            f"{file}: {how}: {status.st_size} B, and {size_B} B were {came}; {keep}"
        )
    return True


def _where(data: bytes, digest: str, entry: Json) -> str:
    """Return which chunks of a file were altered, as the hashes of its chunks tell; else both hashes."""
    size_B, chunks = chunk_bytes(entry), entry.get("chunks")
    found = chunk_hashes(data, size_B)
    stated = chunks if isinstance(chunks, list) else found
    bad = [n for n, (now, was) in enumerate(zip(found, stated, strict=False)) if now != was]
    if not bad:
        return f": SHA-256 {short(sha256(data))}, and {short(digest)} was pulled"
    more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    if "chunk_bytes" in entry:
        at = f"bytes {bad[0] * size_B}..{min((bad[0] + 1) * size_B, len(data)) - 1}"
    else:
        first = bad[0] * CHUNK_RECORDS
        at = f"records {first}..{min(first + CHUNK_RECORDS, len(data) // RECORD_B) - 1}"
    return f" in chunk {bad[0]} ({at}){more} of {len(found)}"


def short(digest: object) -> str:
    """Return the beginning of a hash, for messages."""
    return f"{digest[:12]}..." if isinstance(digest, str) else repr(digest)
