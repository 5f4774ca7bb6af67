"""What is damaged in a capture: every file held against the hashes of its manifest, chunk by chunk.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder.content import CHUNK_RECORDS
from freezeframe.capture.folder.manifest import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    MANIFEST_COPY,
    OLD_VERSIONS,
    SALVAGE,
    SAMPLES_NAME,
    SAMPLES_VERSION,
    sha256,
)
from freezeframe.capture.folder.raw_files import chunk_bytes
from freezeframe.capture.folder.reader import read_manifest
from freezeframe.capture.folder.records import RECORD_B

_SEARCHED_B = 4096  # of a chunk, for the one bit of it that was flipped
_READ_B = 1 << 20
APPENDED = "was appended"
"""Of bytes that are no part of what was recorded: nothing is lost by them."""


class Damage(NamedTuple):
    """What is wrong with ``size_B`` bytes of a file, from ``first_B`` on; ``chunk`` is None where it is no chunk's.

    ``chunks``: so many from ``chunk`` on.
    """

    file: str
    first_B: int
    size_B: int
    what: str
    chunk: int | None = None
    chunks: int = 1

    @property
    def text(self) -> str:
        """One line."""
        where = ""
        if self.chunk is not None:
            last = self.chunk + self.chunks - 1
            many = f"{self.chunks} chunks, {self.chunk}..{last}, "
            where = f"chunk {self.chunk}, " if self.chunks == 1 else many
            if self.file.endswith(".rec"):
                first = self.first_B // RECORD_B
                where += f"records {first}..{first + max(self.size_B // RECORD_B, 1) - 1}, "
        if self.size_B:
            where += f"bytes {self.first_B}..{self.first_B + self.size_B - 1}: "
        return f"{self.file}: {where}{self.what}"


class Examined(NamedTuple):
    """A capture folder held against its manifest; ``manifest`` is None where neither it nor its copy can be read.

    Attributes:
        files: of the evidence, the manifests among them; ``chunks``: that have a hash of their own.
        beside: files that lie in one file with the capture and were held against the archive's sums.
        unchecked: what lies there and was not, or not against what it says of itself, and why.
    """

    manifest: dict[str, Any] | None
    damage: list[Damage]
    files: int
    bytes: int
    chunks: int
    beside: int = 0
    unchecked: tuple[str, ...] = ()


def lines_of(damage: Sequence[Damage]) -> list[str]:
    """Return a line for each thing that is wrong; chunks one behind the other to which the same happened are one."""
    runs: list[Damage] = []
    for each in damage:
        last = runs[-1] if runs else None
        if (
            last is not None
            and last.chunk is not None
            and (each.file, each.what) == (last.file, last.what)
            and (each.chunk, each.first_B) == (last.chunk + last.chunks, last.first_B + last.size_B)
        ):
            runs[-1] = last._replace(size_B=last.size_B + each.size_B, chunks=last.chunks + 1)
        else:
            runs.append(each)
    return [run.text for run in runs]


def examine(folder: Path) -> Examined:
    """Hold every file of a capture folder, of a card or of samples, against its hashes.

    Raises:
        CaptureFormatError: it is no capture folder: it has neither a manifest nor the copy of one.
        CaptureVersionError: another version wrote it.
    """
    manifest, damage = _manifest(folder)
    if manifest is None:
        return Examined(None, damage, 0, 0, 0)
    stated = manifest.get("raw")
    files = stated if isinstance(stated, dict) else {}
    manifests = [path for name in (MANIFEST, MANIFEST_COPY) if (path := folder / name).is_file()]
    chunks, size_B = len(manifests), sum(path.stat().st_size for path in manifests)
    for name, entry in sorted(files.items()):
        damage += file_damage(folder, name, entry)
        size_B += entry["bytes"]
        chunks += len(entry.get("chunks") or (1,))
    damage += [
        Damage(name, 0, 0, "is not in the manifest; only what was recorded belongs here")
        for name in _extra(folder, files)
    ]
    return Examined(manifest, damage, len(manifests) + len(files), size_B, chunks)


def file_damage(folder: Path, name: str, entry: Any) -> list[Damage]:
    """Return the damaged chunks of a file, neighbours as one only where the file has no hashes of chunks."""
    path, stated_B = folder / name, entry["bytes"]
    try:
        there_B = os.lstat(path).st_size
        if not path.is_file() or path.is_symlink():
            return [Damage(name, 0, stated_B, "is not a regular file")]
        found, digest = [], hashlib.sha256()
        size_B = chunk_bytes(entry)
        chunks = entry.get("chunks")
        with path.open("rb") as file:
            for number, at in enumerate(range(0, stated_B, size_B)):
                data = file.read(min(size_B, stated_B - at))
                digest.update(data)
                want_B = min(size_B, stated_B - at)
                if not chunks or number >= len(chunks):
                    continue
                if len(data) < want_B:
                    what = "missing: the file was cut"
                    if data:
                        what = f"cut after {len(data):,} B of it, which have no hash of their own"
                    found.append(Damage(name, at, want_B, what, number))
                elif sha256(data) != chunks[number]:
                    what = "altered" + flipped_text(data, chunks[number], at)
                    found.append(Damage(name, at, want_B, what, number))
    except FileNotFoundError:
        return [Damage(name, 0, stated_B, "missing")]
    except OSError as error:
        return [Damage(name, 0, stated_B, f"cannot be read: {error.strerror}")]
    if there_B > stated_B:
        found.append(Damage(name, stated_B, there_B - stated_B, APPENDED))
    if not found and digest.hexdigest() != entry["sha256"]:
        what = "altered" if there_B >= stated_B else "cut"
        found.append(Damage(name, 0, stated_B, what))
    return found


def flipped_bit(data: bytes, digest: str) -> tuple[int, int] | None:
    """Return byte and bit whose flip gives data of this SHA-256; None where no single one does."""
    if len(data) > _SEARCHED_B:
        return None
    changed = bytearray(data)
    for at in range(len(data)):
        for bit in range(8):
            changed[at] ^= 1 << bit
            if hashlib.sha256(changed).hexdigest() == digest:
                return at, bit
            changed[at] ^= 1 << bit
    return None


def flipped_text(data: bytes, digest: str, first_B: int) -> str:
    """Return which bit of a chunk was flipped, as the end of a message; empty where it is more than one."""
    flipped = flipped_bit(data, digest)
    return (
        "" if flipped is None else f": bit {flipped[1]} of byte {first_B + flipped[0]} is flipped"
    )


def _manifest(folder: Path) -> tuple[dict[str, Any] | None, list[Damage]]:
    """Return the manifest, or its copy, and what is wrong with either."""
    texts: dict[str, bytes] = {}
    good: dict[str, dict[str, Any]] = {}
    why: dict[str, CaptureFormatError] = {}
    for file in (MANIFEST, MANIFEST_COPY):
        try:
            texts[file] = (folder / file).read_bytes()
            samples = f'"{SAMPLES_NAME}"'.encode() in texts[file][:_READ_B]
            name, versions = (
                (SAMPLES_NAME, (SAMPLES_VERSION,))
                if samples
                else (FORMAT_NAME, (FORMAT_VERSION, *OLD_VERSIONS))
            )
            good[file] = read_manifest(folder, name, versions, file)
        except FileNotFoundError:
            continue
        except CaptureFormatError as error:
            why[file] = error
    if not texts:
        raise CaptureFormatError(f"{folder}: is not a capture folder (it has no {MANIFEST})")
    if not good:
        first = next(iter(why.values()))
        if len(why) == 1 and len(texts) == 1:  # without either nothing can be read
            raise type(first)(str(first).removesuffix(f"; {SALVAGE}")) from None
        return None, [Damage(name, 0, len(texts[name]), "altered") for name in why]
    damage = []
    one = next(iter(good))
    for file in (MANIFEST, MANIFEST_COPY):
        if file not in texts and (file == MANIFEST or _has_copy(good[one])):
            damage.append(Damage(file, 0, 0, "missing"))
        elif file in why or (file in texts and texts[file] != texts[one]):
            damage.append(_other_text(file, texts[file], texts[one]))
    return good[one], damage


def _has_copy(manifest: dict[str, Any]) -> bool:
    """Return whether the program that wrote a manifest wrote its copy as well: since chunks are hashed in all files."""
    return any("chunk_bytes" in entry for entry in manifest["raw"].values())


def _other_text(file: str, data: bytes, whole: bytes) -> Damage:
    """Return what is wrong with a manifest, of which the other one has the whole text."""
    at = _first_other(data, whole)
    if at == len(data) < len(whole):
        missing_B = len(whole) - at
        return Damage(file, at, missing_B, f"cut, {missing_B} B missing")
    if at == len(whole) < len(data):
        return Damage(file, at, len(data) - at, APPENDED)
    return Damage(file, at, 1, "altered" + _bit(data, whole, at))


def _first_other(data: bytes, other: bytes) -> int:
    pairs = enumerate(zip(data, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(data), len(other)))


def _bit(data: bytes, other: bytes, at: int) -> str:
    if len(data) != len(other) or data[at + 1 :] != other[at + 1 :]:
        return ""
    flipped = data[at] ^ other[at]
    return f": bit {flipped.bit_length() - 1} is flipped" if flipped.bit_count() == 1 else ""


def _extra(folder: Path, stated: dict[str, Any]) -> Iterator[str]:
    for sub in ("raw", "cards"):
        for path in sorted((folder / sub).rglob("*")):
            name = path.relative_to(folder).as_posix()
            if name not in stated and (path.is_symlink() or not path.is_dir()):
                yield name


def chunk_records(damage: Damage) -> tuple[int, int]:
    """Return the first record and the records of a trace memory that damage takes with it, whole chunks."""
    first = damage.first_B // RECORD_B
    last = (damage.first_B + damage.size_B - 1) // RECORD_B
    first -= first % CHUNK_RECORDS if damage.chunk is not None else 0
    return first, last - first + 1
