"""A capture folder of samples: files of a logic analyzer as they were, and how they are to be read.

Nothing of the evidence is changed: thresholds, other names, a second file laid over the first, and
a cut stand in the manifest as a recipe, and are applied whenever the folder is read.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

from freezeframe.capture.durable import Content, write_folder
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.merge import Alignment
from freezeframe.capture.folder.manifest import (
    MANIFEST,
    MANIFEST_COPY,
    SAMPLES_NAME,
    SAMPLES_VERSION,
    manifest_digest,
    manifest_text,
    sha256,
)
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.folder.opened import opening
from freezeframe.capture.folder.raw_files import check_size, stated_of
from freezeframe.capture.folder.reader import read_manifest
from freezeframe.capture.tool import tool_version

EDGES_TABLE = "tables/edges.parquet"

_COPY_B = 1 << 20
_HEAD_B = 4096
_KEEP = "copy the folder again from where it was made, or import the files again"


@dataclass(frozen=True, slots=True)
class SampleSource:
    """A file, or a folder of channel files, and what was said of it when it was imported.

    ``path`` is that inside the folder, ``raw/1/phy.sr``; of a file to import where it is. The texts are those of
    the options ``--format``, ``--channel`` and ``--threshold``. A further source lies at ``placement`` on the
    time base of the first; where that was estimated, ``shared`` is the signal, ``ONE`` or
    ``ONE=OTHER``.
    """

    path: str
    format: str | None = None
    channels: tuple[str, ...] = ()
    thresholds: tuple[str, ...] = ()
    samplerate_hz: int | None = None
    placement: Alignment | None = None
    shared: str = ""


@dataclass(frozen=True, slots=True)
class SampleFolder:
    """What the manifest says; ``open`` checks it and the sizes, ``verify`` every byte.

    ``origin`` says where the samples come from: a file, or a device and its settings.
    """

    path: Path
    sources: tuple[SampleSource, ...]
    cut_ps: tuple[int, int | None] | None = None
    origin: Mapping[str, Any] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def open(cls, path: Path | str) -> SampleFolder:
        """Read the manifest; every raw file is there with its size, and no other.

        Raises:
            CaptureFormatError: not such a folder, altered, or a file is missing, cut or extra.
            CaptureVersionError: written by another version of the format.
        """
        folder = place_of(path)
        with opening(folder, "say how raw/ is to be read", _KEEP):
            manifest = read_manifest(folder, SAMPLES_NAME, (SAMPLES_VERSION,))
            _check_files(folder, manifest.get("raw"))
            return cls(
                folder,
                tuple(_source(said) for said in manifest["sources"]),
                _cut(manifest["cut_ps"]),
                dict(manifest["origin"]),
                manifest["raw"],
                str(manifest["digest"]),
            )

    def verify(self) -> None:
        """Check the SHA-256 of every raw file.

        Raises:
            CaptureFormatError: one was altered, or cannot be read.
        """
        for name, said in self.raw.items():
            digest = hashlib.sha256()
            try:
                with (self.path / name).open("rb") as file:
                    while data := file.read(_COPY_B):
                        digest.update(data)
            except OSError as error:
                raise CaptureFormatError(
                    f"{self.path / name}: could not be read: {error.strerror}"
                ) from error
            if digest.hexdigest() != said["sha256"]:
                raise CaptureFormatError(
                    f"{self.path / name}: altered: SHA-256 {digest.hexdigest()[:12]}..., and "
                    f"{said['sha256'][:12]}... was imported; {_KEEP}"
                )


def is_sample_folder(path: Path) -> bool:
    """Return whether a folder says that it is one; whether that is true, ``open`` finds."""
    for name in (MANIFEST, MANIFEST_COPY):
        try:
            with (place_of(path) / name).open("rb") as file:
                return f'"{SAMPLES_NAME}"'.encode() in file.read(_HEAD_B)
        except FileNotFoundError:
            continue  # of a folder that has lost its manifest the copy says what it was
        except OSError:
            return False
    return False


def write_samples(
    place: Path,
    sources: Sequence[tuple[SampleSource, Mapping[str, Path]]],
    *,
    origin: Mapping[str, Any],
    about: Mapping[str, Any],
    cut_ps: tuple[int, int | None] | None = None,
    tables: Callable[[Path, Path], None] | None = None,
    overwrite: bool = False,
) -> None:
    """Copy files into a new folder with the manifest that says how they are read, in one step.

    Args:
        sources: each with its files, by path inside the folder.
        about: what reading them gave (channels, sample rate, ...), for people.
        tables: writes `EDGES_TABLE`: called with the folder as it will stand and the file.
    Raises:
        InputError: the place is taken, a file cannot be read, or the disk is full; nothing is left
            behind then.
    """
    copied: dict[str, Any] = {}
    files: dict[str, Content] = {}
    for _, parts in sources:
        for name, file in parts.items():
            files[name] = _copier(file, name, copied)

    def write_manifest(path: Path) -> None:
        manifest: dict[str, Any] = {
            "format": [SAMPLES_NAME, *SAMPLES_VERSION],
            "tool": tool_version(),
            "origin": dict(origin),
            **about,
            "sources": [_said(source) for source, _ in sources],
            "cut_ps": None if cut_ps is None else list(cut_ps),
            "raw": dict(sorted(copied.items())),
        }
        manifest["digest"] = manifest_digest(manifest)
        path.write_bytes(manifest_text(manifest))

    def copy_manifest(path: Path) -> None:
        path.write_bytes(path.with_name(MANIFEST).read_bytes())

    files[MANIFEST] = write_manifest
    files[MANIFEST_COPY] = copy_manifest
    if tables is not None:
        write = tables
        files[EDGES_TABLE] = lambda path: write(path.parents[1], path)
    write_folder(place, files, overwrite=overwrite, mark=MANIFEST)


def _copier(source: Path, name: str, copied: dict[str, Any]) -> Callable[[Path], None]:
    def copy(path: Path) -> None:
        digest = hashlib.sha256()
        chunks = []
        size_B = 0
        try:
            file = source.open("rb")
        except OSError as error:
            raise InputError(f"{source}: cannot be read: {error.strerror}") from None
        with file, path.open("xb") as to:
            while data := file.read(_COPY_B):
                digest.update(data)
                chunks.append(sha256(data))
                size_B += len(data)
                to.write(data)
        copied[name] = {
            "sha256": digest.hexdigest(),
            "bytes": size_B,
            "chunk_bytes": _COPY_B,
            "chunks": chunks,
        }

    return copy


def _check_files(folder: Path, stated: Any) -> None:
    where = folder / MANIFEST
    if not isinstance(stated, dict) or not stated:
        raise CaptureFormatError(f"{where}: names no raw files; {_KEEP}")
    for name, entry in stated.items():
        digest, size_B = stated_of(folder, name, entry, inside=_is_raw(name))
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise CaptureFormatError(f"{where}: {name}: {digest[:70]!r} is no SHA-256; {_KEEP}")
        if not check_size(folder / name, size_B, "imported", _KEEP):
            raise CaptureFormatError(f"{folder / name}: missing; {_KEEP}")
    for name in _walk(folder / "raw"):
        if f"raw/{name}" not in stated:
            raise CaptureFormatError(
                f"{folder}/raw/{name}: is not in the manifest; raw/ holds only what was imported: "
                "move the file elsewhere"
            )


def _walk(root: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(root):
        # A link to a folder is not gone into, so it is something that nobody would check.
        for name in [*names, *(each for each in folders if (Path(parent) / each).is_symlink())]:
            yield (Path(parent) / name).relative_to(root).as_posix()


def _is_raw(name: object) -> bool:
    """Return whether a path stays inside ``raw/``."""
    if not isinstance(name, str) or "\0" in name:
        return False
    parts = PurePosixPath(name).parts
    return len(parts) >= 3 and parts[0] == "raw" and ".." not in parts and name == "/".join(parts)


def _said(source: SampleSource) -> dict[str, Any]:
    said: dict[str, Any] = {
        "path": source.path,
        "format": source.format,
        "channels": list(source.channels),
        "thresholds": list(source.thresholds),
        "samplerate_hz": source.samplerate_hz,
        "placement": None,
    }
    if source.placement is not None:
        said["placement"] = {
            name: _decimal(value) if isinstance(value, Fraction) else value
            for name, value in asdict(source.placement).items()
        }
        said["shared"] = source.shared
    return said


def _source(said: Mapping[str, Any]) -> SampleSource:
    path = said["path"]
    if not _is_raw(path):
        raise ValueError(f"{path!r} is not a path in raw/")
    placement = None
    if said["placement"] is not None:
        at = dict(said["placement"])
        for name in ("drift_ppm", "drift_unc_ppm"):
            at[name] = Fraction(str(at[name]))
        if any(type(value) is not int for name, value in at.items() if not name.startswith("dri")):
            raise ValueError(f"placement {said['placement']} is not in whole picoseconds")
        placement = Alignment(**at)
    rate_hz = said["samplerate_hz"]
    if rate_hz is not None and (type(rate_hz) is not int or rate_hz < 1):
        raise ValueError(f"samplerate_hz is {rate_hz!r}")
    return SampleSource(
        path,
        None if said["format"] is None else str(said["format"]),
        tuple(map(str, said["channels"])),
        tuple(map(str, said["thresholds"])),
        rate_hz,
        placement,
        str(said.get("shared", "")),
    )


def _cut(said: Any) -> tuple[int, int | None] | None:
    match said:
        case None:
            return None
        case [int(begin), int() | None as end]:
            return begin, end
        case _:
            raise ValueError(f"cut_ps is {said!r}, not begin and end")


def _decimal(value: Fraction) -> str:
    """Return a decimal number where it is one; the manifest has no floating-point numbers."""
    scaled = value * 10**12
    if scaled.denominator != 1:
        return str(value)
    sign, digits = ("-" if scaled < 0 else ""), f"{abs(scaled.numerator):013d}"
    return f"{sign}{digits[:-12]}.{digits[-12:]}".rstrip("0").rstrip(".")
