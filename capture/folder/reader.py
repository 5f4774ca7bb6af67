"""Opening of a capture folder: every byte of the evidence is checked before it is believed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from freezeframe.capture.card.finding import FoundCard, card_of_text, look_up
from freezeframe.capture.card.map_1 import MAP, card_of_map, check_map_1, register_map_of
from freezeframe.capture.card.roles import roles_of
from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError
from freezeframe.capture.files.bytes_of import refuse_empty
from freezeframe.capture.folder.content import (
    DeviceCapture,
    HostTrace,
    RegisterImage,
)
from freezeframe.capture.folder.convert import as_2_0
from freezeframe.capture.folder.manifest import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    MANIFEST_COPY,
    OLD_VERSIONS,
    SAMPLES_NAME,
    manifest_digest,
    memory_file,
    registers_file,
    samples_file,
)
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.folder.opened import (
    OpenedFolder,
    count_of,
    gaps_of,
    memory_of,
    opening,
    refuse_left,
)
from freezeframe.capture.folder.raw_files import KEEP, card_file, read_files, short
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.registers.layouts import DOMAIN_NAMES
from freezeframe.capture.registers.map_forms import form_of, known_maps
from freezeframe.capture.registers.names import device_name
from freezeframe.capture.targets.given_as_file import missing

_MANIFEST_LIMIT_B = 16 << 20  # a manifest with a gap in every chunk of 26 devices is under 4 MiB
_SAMPLE_B = 8
_OF_CARDS = 2  # the map where a manifest of format 2 says none


class CaptureFolder(OpenedFolder[DeviceCapture]):
    """The recording of cards of map 1.

    Attributes:
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
        super().__init__(path, manifest, devices)
        self.host = tuple(host)

    @classmethod
    def open(cls, path: Path | str) -> CaptureFolder:
        """Read a folder and check its manifest's digest and the SHA-256 of every raw file.

        Raises:
            CaptureFormatError: not a capture folder, or a file is missing, cut, altered or extra.
            CaptureVersionError: written by another version of the format, or of a device with
                another register map.
        """
        folder = place_of(path)
        with opening(folder):
            manifest = read_manifest(folder)
            raw = read_files(folder, manifest.get("raw"))
            manifest = as_2_0(manifest, raw)
            if manifest.get("map", _OF_CARDS) != MAP:
                raise CaptureVersionError(
                    f"{folder}: holds the recording of a card that is described by a file; this step knows "
                    f"the built-in card alone: freezeframe explain {folder} says what is in it, in Python "
                    "ff.explain(ff.open(...))"
                )
            _check_maps(manifest, folder)
            devices = [_device(entry, raw, folder) for entry in manifest["devices"]]
            host = [
                HostTrace(str(said["name"]), str(said["device"]), raw.pop(said["file"]))
                for said in manifest.get("host", [])
            ]
            _check_pairs(manifest.get("time_pairs", []))
            if not isinstance(manifest.get("lost", []), list):
                raise ValueError("lost is no list")
        refuse_left(folder, raw)
        if len({device.index for device in devices}) != len(devices) or not devices:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: no devices, or one of them twice; {KEEP}"
            )
        return cls(folder, manifest, devices, host)


def _check_pairs(pairs: Any) -> None:
    """Raise what reading of a manifest raises when pairs of instants are not of the form of formats.md."""
    for pair in pairs:
        for device, domain, cycle in (pair["a"], pair["b"]):
            if not isinstance(device, str) or domain not in DOMAIN_NAMES:
                raise ValueError(f"time_pairs: {device!r}, {domain!r} is no clock")
            count_of(cycle, "cycle of time_pairs")
        count_of(pair["unc_ps"], "unc_ps of time_pairs")


def read_manifest(
    folder: Path,
    name: str = FORMAT_NAME,
    versions: Sequence[tuple[int, int]] = (FORMAT_VERSION, *OLD_VERSIONS),
    file: str = MANIFEST,
) -> dict[str, Any]:
    """Return the manifest of a folder of this format, its digest checked.

    Args:
        versions: that are read, the newest first.
        file: `MANIFEST`, or its copy.

    Raises:
        CaptureFormatError: there is none, it is of another format, cut or altered.
        CaptureVersionError: it is of another version of the format.
        OSError: it cannot be read.
    """
    where = folder / file
    if not folder.exists():
        raise CaptureFormatError(missing(folder, "does not exist"))
    if file == MANIFEST and not where.is_file() and (folder / MANIFEST_COPY).is_file():
        raise CaptureFormatError(f"{where}: missing; {KEEP}")
    refuse_empty(folder)
    if not folder.is_dir():
        raise CaptureFormatError(
            f"{folder}: is not a capture folder, but a file; give the folder NAME.ff that pull wrote, and of samples "
            f"or packets see what is in them: freezeframe decode {folder}"
        )
    if not where.is_file():
        raise CaptureFormatError(
            f"{folder}: is not a capture folder (it has no {file}); "
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
            f"{where}: is not a manifest ({_no_json(error)}); it was cut or altered; {KEEP}"
        ) from error
    if not isinstance(manifest, dict):
        raise CaptureFormatError(f"{where}: is not a manifest (no JSON object); {KEEP}")
    _check_version(where, manifest, name, versions)
    digest, found = manifest.get("digest"), manifest_digest(manifest)
    if digest != found:
        raise CaptureFormatError(
            f"{where}: altered: its digest says {short(digest)}, its content has {short(found)}; "
            f"{KEEP}"
        )
    return manifest


def _check_version(
    where: Path, manifest: dict[str, Any], wanted: str, versions: Sequence[tuple[int, int]]
) -> None:
    match manifest.get("format"):
        case [str(name), int(major), int(minor)] if name == wanted:
            found = (major, minor)
        case [str(name), *_] if name == SAMPLES_NAME:
            raise CaptureFormatError(
                f"{where.parent}: holds samples of a logic analyzer, not the recording of a card; "
                f"freezeframe decode {where.parent} says what is in it"
            )
        case None:
            raise CaptureFormatError(
                f"{where}: does not say its format, as every manifest does; this is not a capture folder"
            )
        case other:
            raise CaptureFormatError(
                f"{where}: its format is {json.dumps(other)}, and that of a capture is "
                f"{json.dumps([wanted, *versions[0]])}; this is not a capture folder"
            )
    if found in versions:
        return
    mine = f"{versions[0][0]}.{versions[0][1]}"
    advice = (
        "update Freezeframe"
        if found > versions[0]
        else f"open it with the version that wrote it ({manifest.get('tool')})"
    )
    raise CaptureVersionError(
        f"{where}: format version {found[0]}.{found[1]}, this program reads {mine}; {advice}"
    )


def _check_maps(manifest: dict[str, Any], folder: Path) -> None:
    for entry in manifest["devices"]:
        map_hash = Identity.from_json(entry["identity"]).map_hash
        if form_of(map_hash) is None:
            raise CaptureVersionError(
                f"{folder / MANIFEST}: device {entry['name']} has register map {map_hash:#010x}, "
                f"this program knows {known_maps()}; use the version that pulled it"
            )


def _device(entry: Any, raw: dict[str, bytes], folder: Path) -> DeviceCapture:
    """Make a device from its manifest entry, taking its files out of ``raw``."""
    identity = Identity.from_json(entry["identity"])
    index = count_of(entry["index"], "index")
    name = device_name(index)
    if entry["name"] != name:
        raise ValueError(f"device {index} is called {entry['name']!r}, not {name!r}")
    found = _card(entry["card"], identity, raw, folder)
    roles = roles_of(found.card)
    memories = {}
    for memory, said in entry["memories"].items():
        if memory not in roles.memories:
            raise ValueError(f"{name} has no trace memory {memory!r}")
        file = memory_file(name, memory)
        data = raw.pop(file)
        if len(data) != RECORD_B * count_of(said["records"], "records"):
            raise ValueError(f"{file} has {len(data)} B for {said['records']} records of 9 B")
        memories[memory] = memory_of(memory, data, said, said["gaps"])
    samples, sample_gaps = None, []
    if (said := entry["samples"]) is not None:
        file = samples_file(name)
        data = raw.pop(file)
        if len(data) != _SAMPLE_B * count_of(said["slots"], "slots"):
            raise ValueError(f"{file} has {len(data)} B for {said['slots']} samples of 8 B")
        samples = np.frombuffer(data, "<u4").astype(np.uint32).reshape(-1, 2)
        sample_gaps = gaps_of(said["gaps"])
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
        target=count_of(entry.get("target", 0), "target"),
        found=found,
    )


def _card(card_hash: str, identity: Identity, raw: dict[str, bytes], folder: Path) -> FoundCard:
    """Return the card of a device: that of the capture, else the one that is known by that hash."""
    name = card_file(int(card_hash, 16))
    if name not in raw:
        ships = card_of_map(identity.map_hash)
        if int(card_hash, 16) == ships.card.hash:
            return ships
        return look_up(int(card_hash, 16), f"{folder / name}: the capture is without its card")
    found = _card_of_text(raw[name].decode(), int(card_hash, 16), str(folder / name))
    if found.card.map != MAP or found.card.said.card.map_hash != identity.map_hash:
        raise ValueError(f"{name} is not a card of map 1 with hash {identity.map_hash:#010x}")
    check_map_1(found.card, str(folder / name))
    return found


_card_of_text = lru_cache(maxsize=8)(card_of_text)  # the devices of a capture are often one card


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) != len(pairs):
        raise ValueError("a key stands twice")
    return keys


def _no_json(error: Exception) -> str:
    """Return where a text stops being JSON, in words."""
    match error:
        case json.JSONDecodeError(doc=text, pos=at, lineno=line, colno=column):
            if at >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
                return f"its text ends in the middle, after {len(text):,} characters"
            return f"no JSON from line {line}, column {column} on"
        case UnicodeDecodeError(start=at):
            return f"byte {at:,} is of no text"
        case RecursionError():
            return "lists stand in lists too deep to be read"
    return str(error)


def _no_float(text: str) -> NoReturn:
    raise ValueError(f"{text} is not an integer")


def as_recording(capture: CaptureFolder | Path | str) -> CaptureFolder:
    """Return the recording of a card that is given opened or by its path.

    Raises:
        CaptureFormatError, CaptureVersionError: as `CaptureFolder.open`.
    """
    return capture if isinstance(capture, CaptureFolder) else CaptureFolder.open(capture)
