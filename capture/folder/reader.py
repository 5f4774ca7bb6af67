"""Opening of a capture folder: every byte of the evidence is checked before it is believed."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from freezeframe.capture.card.map_1 import card_of_map, register_map_of
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError
from freezeframe.capture.folder.content import (
    DeviceCapture,
    Gap,
    HostTrace,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.folder.manifest import (
    CARD_VERSION,
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    SAMPLES_NAME,
    manifest_digest,
    memory_file,
    registers_file,
    samples_file,
    sha256,
)
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.layouts import DOMAIN_NAMES
from freezeframe.capture.registers.map_table import MAP_HASH
from freezeframe.capture.registers.names import device_name

_MANIFEST_LIMIT_B = 16 << 20  # a manifest with a gap in every chunk of 26 devices is under 4 MiB
_RAW_NAME = re.compile(
    r"raw/(?:(?:[A-Z]|D\d+)\.(?:[a-z_]+\.rec|samples\.bin|registers\.bin)|host\.\d+\.txt)"
)
_SAMPLE_B = 8
_KEEP = "copy the folder again from where it was pulled, or pull again"


class CaptureFolder(ShownInNotebooks):
    """A capture folder whose manifest and raw files were found whole and unaltered.

    Attributes:
        path: the folder.
        manifest: the content of ``manifest.json``.
        devices: in the order of their index.
        host: traces of the computer the card is in, as they were given.
    """

    def __init__(
        self,
        path: Path,
        manifest: dict[str, Any],
        devices: list[DeviceCapture],
        host: Sequence[HostTrace] = (),
    ) -> None:
        """Hold what ``open`` has checked; use that."""
        self.path = path
        self.manifest = manifest
        self.devices = devices
        self.host = tuple(host)

    @classmethod
    def open(cls, path: Path | str) -> CaptureFolder:
        """Read a folder and check its manifest's digest and the SHA-256 of every raw file.

        Raises:
            CaptureFormatError: not a capture folder, or a file is missing, cut, altered or extra.
            CaptureVersionError: written by another version of the format, or of a device with
                another register map.
        """
        folder = Path(path)
        try:
            manifest = read_manifest(folder)
            raw = _read_raw(folder, manifest)
        except OSError as error:
            raise CaptureFormatError(
                f"{error.filename or folder}: could not be read: {error.strerror}"
            ) from error
        try:
            devices = [_device(entry, raw, folder) for entry in manifest["devices"]]
            host = [
                HostTrace(str(said["name"]), str(said["device"]), raw.pop(said["file"]))
                for said in manifest.get("host", [])
            ]
            _check_pairs(manifest.get("time_pairs", []))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CaptureFormatError(
                f"{folder / MANIFEST}: does not describe what is in raw/: {what}; {_KEEP}"
            ) from error
        if raw:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: {min(raw)} belongs to no device; {_KEEP}"
            )
        if len({device.index for device in devices}) != len(devices) or not devices:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: no devices, or one of them twice; {_KEEP}"
            )
        return cls(folder, manifest, devices, host)

    def device(self, name: str) -> DeviceCapture:
        """Return the device of that name.

        Raises:
            ValueError: the capture has no such device; the message lists those it has.
        """
        for device in self.devices:
            if device.name == name:
                return device
        known = ", ".join(device.name for device in self.devices)
        raise ValueError(f"{self.path}: no device {name!r}; the capture holds {known}")

    @property
    def lost(self) -> list[str]:
        """One line for each thing that is missing from the capture."""
        return [str(line) for line in self.manifest.get("lost", [])]


def _check_pairs(pairs: Any) -> None:
    """Raise what reading of a manifest raises when pairs of instants are not of the form of formats.md."""
    for pair in pairs:
        for device, domain, cycle in (pair["a"], pair["b"]):
            if not isinstance(device, str) or domain not in DOMAIN_NAMES:
                raise ValueError(f"time_pairs: {device!r}, {domain!r} is no clock")
            _integer(cycle, "cycle of time_pairs")
        _integer(pair["unc_ps"], "unc_ps of time_pairs")


def read_manifest(
    folder: Path, name: str = FORMAT_NAME, version: tuple[int, int] = FORMAT_VERSION
) -> dict[str, Any]:
    """Return the manifest of a folder of this format, its digest checked.

    Raises:
        CaptureFormatError: there is none, it is of another format, cut or altered.
        CaptureVersionError: it is of another version of the format.
        OSError: it cannot be read.
    """
    where = folder / MANIFEST
    if not folder.exists():
        raise CaptureFormatError(f"{folder}: does not exist")
    if not folder.is_dir() or not where.is_file():
        raise CaptureFormatError(
            f"{folder}: is not a capture folder (it has no {MANIFEST}); "
            "give the folder NAME.ff that pull wrote"
        )
    size_B = where.stat().st_size
    if size_B > _MANIFEST_LIMIT_B:
        raise CaptureFormatError(
            f"{where}: {size_B} B is more than a manifest can have ({_MANIFEST_LIMIT_B} B)"
        )
    try:
        manifest = json.loads(
            where.read_bytes(),
            object_pairs_hook=_unique_keys,
            parse_float=_no_float,
            parse_constant=_no_float,
        )
    except (ValueError, RecursionError) as error:
        raise CaptureFormatError(
            f"{where}: is not a manifest ({error}); it was cut or altered; {_KEEP}"
        ) from error
    if not isinstance(manifest, dict):
        raise CaptureFormatError(f"{where}: is not a manifest (no JSON object); {_KEEP}")
    _check_version(where, manifest, name, version)
    digest, found = manifest.get("digest"), manifest_digest(manifest)
    if digest != found:
        raise CaptureFormatError(
            f"{where}: altered: its digest says {_short(digest)}, its content has {_short(found)}; "
            f"{_KEEP}"
        )
    return manifest


def _check_version(
    where: Path, manifest: dict[str, Any], wanted: str, version: tuple[int, int]
) -> None:
    match manifest.get("format"):
        case [str(name), int(major), int(minor)] if name == wanted:
            found = (major, minor)
        case [str(name), *_] if name == SAMPLES_NAME:
            raise CaptureFormatError(
                f"{where.parent}: holds samples of a logic analyzer, not the recording of a card; "
                f"freezeframe decode {where.parent} says what is in it"
            )
        case other:
            raise CaptureFormatError(
                f"{where}: format is {other!r}, not ['{wanted}', major, minor]; "
                "this is not a capture folder"
            )
    if found[0] == version[0] and found[1] <= version[1]:
        return
    if found == CARD_VERSION:
        raise CaptureVersionError(
            f"{where.parent}: holds the recording of a card that is described by a file; this step knows "
            f"the built-in card alone: freezeframe explain {where.parent} says what is in it, in Python "
            "ff.explain(ff.open(...))"
        )
    mine = f"{version[0]}.{version[1]}"
    advice = (
        "update Freezeframe"
        if found > version
        else f"open it with the version that wrote it ({manifest.get('tool')})"
    )
    raise CaptureVersionError(
        f"{where}: format version {found[0]}.{found[1]}, this program reads {mine}; {advice}"
    )


def _read_raw(folder: Path, manifest: dict[str, Any]) -> dict[str, bytes]:
    where = folder / MANIFEST
    stated = manifest.get("raw")
    if not isinstance(stated, dict) or not isinstance(manifest.get("devices"), list):
        raise CaptureFormatError(f"{where}: names no raw files or no devices; {_KEEP}")
    found = {f"raw/{e.name}" for e in os.scandir(folder / "raw")} if stated else set()
    for name in sorted(found - stated.keys()):
        raise CaptureFormatError(
            f"{folder / name}: is not in the manifest; raw/ holds only what was pulled: "
            "move the file elsewhere"
        )
    return {name: _read_file(folder, name, entry) for name, entry in sorted(stated.items())}


def _read_file(folder: Path, name: str, entry: Any) -> bytes:
    file = folder / name
    match entry:
        case {"sha256": str(digest), "bytes": int(size_B)} if _RAW_NAME.fullmatch(name):
            pass
        case _:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: {name!r} is not the name, size and SHA-256 of a raw file"
            )
    try:
        status = os.lstat(file)
    except FileNotFoundError:
        raise CaptureFormatError(f"{file}: missing; {size_B} B were pulled; {_KEEP}") from None
    if not stat.S_ISREG(status.st_mode):
        raise CaptureFormatError(f"{file}: is not a regular file; {_KEEP}")
    if status.st_size != size_B:
        how = "cut" if status.st_size < size_B else "longer than it was"
        raise CaptureFormatError(
            f"{file}: {how}: {status.st_size} B, and {size_B} B were pulled; {_KEEP}"
        )
    data = file.read_bytes()
    if sha256(data) != digest:
        raise CaptureFormatError(
            f"{file}: altered: SHA-256 {_short(sha256(data))}, and {_short(digest)} was pulled; "
            f"{_KEEP}"
        )
    return data


def _device(entry: Any, raw: dict[str, bytes], folder: Path) -> DeviceCapture:
    """Make a device from its manifest entry, taking its files out of ``raw``."""
    identity = Identity.from_json(entry["identity"])
    if identity.map_hash != MAP_HASH:
        raise CaptureVersionError(
            f"{folder / MANIFEST}: device {entry['name']} has register map "
            f"{identity.map_hash:#010x}, this program knows {MAP_HASH:#010x}; "
            "use the version that pulled it"
        )
    index = _integer(entry["index"], "index")
    name = device_name(index)
    if entry["name"] != name:
        raise ValueError(f"device {index} is called {entry['name']!r}, not {name!r}")
    found = card_of_map(identity.map_hash)
    roles = roles_of(found.card)
    memories = {}
    for memory, said in entry["memories"].items():
        if memory not in roles.memories:
            raise ValueError(f"{name} has no trace memory {memory!r}")
        file = memory_file(name, memory)
        data = np.frombuffer(raw.pop(file), np.uint8)
        if len(data) != RECORD_B * _integer(said["records"], "records"):
            raise ValueError(f"{file} has {len(data)} B for {said['records']} records of 9 B")
        memories[memory] = MemoryImage(
            memory,
            data.reshape(-1, RECORD_B),
            _integer(said["write_ptr"], "write_ptr"),
            bool(said["wrapped"]),
            _gaps(said["gaps"]),
        )
    samples, sample_gaps = None, []
    if (said := entry["samples"]) is not None:
        file = samples_file(name)
        data = np.frombuffer(raw.pop(file), np.uint8)
        if len(data) != _SAMPLE_B * _integer(said["slots"], "slots"):
            raise ValueError(f"{file} has {len(data)} B for {said['slots']} samples of 8 B")
        samples = data.view("<u4").astype(np.uint32).reshape(-1, 2)
        sample_gaps = _gaps(said["gaps"])
    file = registers_file(name)
    return DeviceCapture(
        index=index,
        base=int(entry["base"], 16),
        identity=identity,
        registers=RegisterImage.from_bytes(
            raw.pop(file), str(folder / file), register_map_of(found.card)
        ),
        memories=memories,
        samples=samples,
        sample_gaps=sample_gaps,
        not_read=[str(register) for register in entry["registers"]["not_read"]],
        target=_integer(entry.get("target", 0), "target"),
        found=found,
    )


def _gaps(said: Any) -> list[Gap]:
    return [
        Gap(
            _integer(g["first_slot"], "first_slot"), _integer(g["slots"], "slots"), str(g["reason"])
        )
        for g in said
    ]


def _integer(value: Any, name: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}, not a count")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key stands twice")
    return keys


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text} is not an integer")


def _short(digest: object) -> str:
    return f"{digest[:12]}..." if isinstance(digest, str) else repr(digest)


def as_recording(capture: CaptureFolder | Path | str) -> CaptureFolder:
    """Return the recording of a card that is given opened or by its path.

    Raises:
        CaptureFormatError, CaptureVersionError: as `CaptureFolder.open`.
    """
    return capture if isinstance(capture, CaptureFolder) else CaptureFolder.open(capture)
