"""A capture folder of format 2.0: the recording of cards that are described by a file, with their texts.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import stat
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.card.finding import FoundCard, card_of_text, look_up
from freezeframe.capture.card.identity import CardIdentity
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.folder.card_content import CardCapture, recorded_clock
from freezeframe.capture.folder.content import CHUNK_RECORDS, Gap, MemoryImage, RegisterImage
from freezeframe.capture.folder.durable import Content, write_folder
from freezeframe.capture.folder.manifest import (
    CARD_VERSION,
    FORMAT_NAME,
    MANIFEST,
    manifest_digest,
    manifest_text,
    memory_file,
    registers_file,
    sha256,
    tool_version,
)
from freezeframe.capture.folder.reader import read_manifest
from freezeframe.capture.folder.records import RECORD_B

_CHUNK_B = CHUNK_RECORDS * RECORD_B
_HEAD_B = 4096
_KEEP = "copy the folder again from where it was pulled, or pull again"
_VERSION = re.compile(rb'"format"\s*:\s*\[\s*"freezeframe-capture"\s*,\s*2\s*,')


class CardFolder:
    """A capture of format 2.0 whose manifest, cards and raw files were found whole and unaltered.

    Attributes:
        devices: in the order of their index.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], devices: list[CardCapture]) -> None:
        """Hold what ``open`` has checked; use that."""
        self.path = path
        self.manifest = manifest
        self.devices = devices

    @classmethod
    def open(cls, path: Path | str) -> CardFolder:
        """Read a folder; every byte of it is checked.

        Raises:
            CaptureFormatError: a file is missing, cut, altered (its chunk is named) or extra.
            CaptureVersionError: written by another version of the format.
            InputError: the card's text is missing and no known card has its hash.
        """
        folder = Path(path)
        try:
            manifest = read_manifest(folder, FORMAT_NAME, CARD_VERSION)
            raw = _read_raw(folder, manifest.get("raw"))
            devices = [_device(entry, raw, folder) for entry in manifest["devices"]]
        except OSError as error:
            raise CaptureFormatError(
                f"{error.filename or folder}: could not be read: {error.strerror}"
            ) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise CaptureFormatError(
                f"{folder / MANIFEST}: does not describe what is in raw/: {what}; {_KEEP}"
            ) from error
        if extra := [name for name in raw if not name.startswith("cards/")]:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: {min(extra)} belongs to no device; {_KEEP}"
            )
        if [device.index for device in devices] != list(range(len(devices))) or not devices:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: no devices, or not in their order; {_KEEP}"
            )
        return cls(folder, manifest, devices)

    def device(self, name: str) -> CardCapture:
        """Return the device of that name.

        Raises:
            InputError: the capture has no such device; the message lists those it has.
        """
        for device in self.devices:
            if device.name == name:
                return device
        known = ", ".join(device.name for device in self.devices)
        raise InputError(f"{self.path}: no device {name!r}; the capture holds {known}")

    @property
    def lost(self) -> list[str]:
        """One line for each thing that is missing from the capture."""
        return [str(line) for line in self.manifest.get("lost", [])]


def is_card_folder(path: Path) -> bool:
    """Return whether a folder says that it is of format 2; whether that is true, ``open`` finds."""
    try:
        with (path / MANIFEST).open("rb") as file:
            return bool(_VERSION.search(file.read(_HEAD_B)))
    except OSError:
        return False


def act(what: str, when: datetime | None = None, **known: Any) -> dict[str, Any]:
    """Return an entry of a capture's history: what was done by this program now, by whom and where.

    What is not known is None in ``known`` and said as null.
    """
    moment = (when or datetime.now(UTC)).isoformat(timespec="seconds")
    try:
        who: str | None = getpass.getuser()
    except (KeyError, OSError):
        who = None  # a container without an entry for the user
    return {"what": what, "when": moment, "who": who, "where": socket.gethostname(), **known}


def unknown_act(what: str, **known: Any) -> dict[str, Any]:
    """Return an entry of something that was done while this program did not look."""
    return {"what": what, "when": None, "who": None, "where": None, **known}


def write_card_folder(
    path: Path,
    devices: Sequence[CardCapture],
    *,
    source: str,
    history: Sequence[Mapping[str, Any]],
    overwrite: bool = False,
) -> None:
    """Write a capture whole, or not at all.

    Args:
        source: URL of the target; what follows a ``?`` stays out of the capture.
        history: what is known of arming, freezing and pulling, in that order.
    Raises:
        InputError: the place is taken, or the disk is full; nothing is left behind.
    """
    files: dict[str, bytes] = {}
    cards: dict[str, Any] = {}
    for device in devices:
        name = card_file(device.identity.card_hash)
        files[name] = device.found.text.encode()
        cards[f"{device.identity.card_hash:016x}"] = {
            "file": name,
            "name": device.card.name,
            "version": device.card.said.card.version,
        }
        for memory, image in device.memories.items():
            files[memory_file(device.name, memory)] = image.records.tobytes()
        files[registers_file(device.name)] = device.registers.to_bytes()
    manifest: dict[str, Any] = {
        "format": [FORMAT_NAME, *CARD_VERSION],
        "source": source.partition("?")[0],
        "tool": tool_version(),
        "cards": cards,
        "devices": [_entry(device) for device in devices],
        "history": [dict(entry) for entry in history],
        "custody": [],
        "lost": [line for device in devices for line in device.missing()],
        "raw": {name: _stated(name, data) for name, data in sorted(files.items())},
    }
    manifest["digest"] = manifest_digest(manifest)
    contents: dict[str, Content] = {**files, MANIFEST: manifest_text(manifest)}
    write_folder(path, contents, overwrite=overwrite, mark=MANIFEST)


def card_file(card_hash: int) -> str:
    """Return the path of a card's text inside the folder."""
    return f"cards/{card_hash:016x}.json"


def _stated(name: str, data: bytes) -> dict[str, Any]:
    said: dict[str, Any] = {"sha256": sha256(data), "bytes": len(data)}
    if name.endswith(".rec"):
        said["chunks"] = _chunk_hashes(data)
    return said


def _chunk_hashes(data: bytes) -> list[str]:
    return [sha256(data[at : at + _CHUNK_B]) for at in range(0, len(data), _CHUNK_B)]


def _entry(device: CardCapture) -> dict[str, Any]:
    registers, identity = device.registers, device.identity
    recording = device.recording()
    clocks = []
    for clock in device.card.clocks:
        seen = recorded_clock(device, clock.number)
        pairs = {
            which: None if toggle is None else toggle._asdict()
            for which, toggle in (("first", seen.first), ("last", seen.last))
        }
        clocks.append(
            {"name": clock.name, "hz": seen.hz, "ppm": clock.said.ppm, "alive": seen.alive, **pairs}
        )
    return {
        "name": device.name,
        "index": device.index,
        "base": f"{device.base:#010x}",
        "card": f"{identity.card_hash:016x}",
        "identity": identity.to_json(),
        "boot_nonce": f"{identity.boot_nonce:#010x}",
        "generation": registers.value("id.generation"),
        "causes": None if recording.causes is None else list(recording.cause_names),
        "cause_cycle": recording.cause_cycle,
        "clocks": clocks,
        "taps": {
            tap.name: {
                "write_ptr": registers.value("tap.write_ptr", tap.number),
                "wrapped": bool(registers.field("tap.status", "wrapped", tap.number)),
                "closed": bool(registers.field("tap.status", "closed", tap.number)),
                "stored": registers.value("tap.stored", tap.number),
                "offered": registers.value("tap.offered", tap.number),
            }
            for tap in device.card.recorders
        },
        "memories": {
            memory.name: {
                "file": memory_file(device.name, memory.name),
                "tap": memory.tap.name,
                "lane": memory.lane,
                "records": len(device.memories[memory.name].records),
                "gaps": [gap._asdict() for gap in device.memories[memory.name].gaps],
            }
            for memory in memories_of_card(device.card)
            if memory.name in device.memories
        },
        "registers": {
            "file": registers_file(device.name),
            "count": len(registers),
            "not_read": list(device.not_read),
        },
    }


def _read_raw(folder: Path, stated: Any) -> dict[str, bytes]:
    if not isinstance(stated, dict) or not stated:
        raise CaptureFormatError(f"{folder / MANIFEST}: names no raw files; {_KEEP}")
    for sub in ("raw", "cards"):
        there = (folder / sub).iterdir() if (folder / sub).is_dir() else ()
        for place in there:
            if f"{sub}/{place.name}" not in stated:
                raise CaptureFormatError(
                    f"{place}: is not in the manifest; {sub}/ holds only what was pulled: move the "
                    "file elsewhere"
                )
    return {
        name: data
        for name, entry in stated.items()
        if (data := _read_file(folder, name, entry)) is not None
    }


def _read_file(folder: Path, name: str, entry: Any) -> bytes | None:
    """Return a file's bytes; None for a card's text that is not there: another copy may be known."""
    match entry:
        case {"sha256": str(digest), "bytes": int(size_B)} if _inside(name):
            pass
        case _:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: {name!r} is not the name, size and SHA-256 of a raw file"
            )
    file = folder / name
    try:
        status = os.lstat(file)
    except FileNotFoundError:
        if name.startswith("cards/"):
            return None
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
        raise CaptureFormatError(f"{file}: altered{_where(data, entry.get('chunks'))}; {_KEEP}")
    return data


def _where(data: bytes, chunks: Any) -> str:
    """Return which chunks of a memory were altered, as the hashes of its chunks tell."""
    if not isinstance(chunks, list):
        return ""
    found = _chunk_hashes(data)
    bad = [n for n, (now, was) in enumerate(zip(found, chunks, strict=False)) if now != was]
    if not bad:
        return ""
    first = bad[0] * CHUNK_RECORDS
    more = f", and {len(bad) - 1} more" if len(bad) > 1 else ""
    last = min(first + CHUNK_RECORDS, len(data) // RECORD_B) - 1
    return f" in chunk {bad[0]} (records {first}..{last}){more} of {len(found)}"


def _inside(name: str) -> bool:
    return bool(re.fullmatch(r"(?:raw|cards)/[A-Za-z0-9_]+(?:\.[a-z0-9_]+)+", name))


def _device(entry: Any, raw: dict[str, bytes], folder: Path) -> CardCapture:
    """Make a device from its manifest entry, taking its files out of ``raw``."""
    identity = CardIdentity.from_json(entry["identity"])
    found = _card(identity.card_hash, raw, folder)
    places = memories_of_card(found.card)
    if list(entry["memories"]) != [memory.name for memory in places]:
        raise ValueError(
            f"device {entry['name']} has memories {', '.join(entry['memories'])}; its card "
            f"{found.card.name} has {', '.join(memory.name for memory in places)}"
        )
    name, index = entry["name"], _count(entry["index"], "index")
    file = registers_file(name)
    registers = RegisterImage.from_bytes(
        raw.pop(file), str(folder / file), card_map(found.card, identity.built)
    )
    memories = {}
    for memory in places:
        said = entry["memories"][memory.name]
        data = np.frombuffer(raw.pop(memory_file(name, memory.name)), np.uint8)
        if len(data) != RECORD_B * memory.depth:
            raise ValueError(
                f"{memory.name} has {len(data)} B; its card has {memory.depth} records of 9 B"
            )
        tap = entry["taps"][memory.tap.name]
        gaps = [
            Gap(
                _count(g["first_slot"], "first_slot"), _count(g["slots"], "slots"), str(g["reason"])
            )
            for g in said["gaps"]
        ]
        memories[memory.name] = MemoryImage(
            memory.name,
            data.reshape(-1, RECORD_B),
            _count(tap["write_ptr"], "write_ptr"),
            bool(tap["wrapped"]),
            gaps,
        )
    device = CardCapture(
        index,
        int(entry["base"], 16),
        identity,
        found,
        registers,
        memories,
        [str(register) for register in entry["registers"]["not_read"]],
    )
    if device.name != name:
        raise ValueError(f"device {index} is called {name!r}, not {device.name!r}")
    return device


def _card(card_hash: int, raw: dict[str, bytes], folder: Path) -> FoundCard:
    name = card_file(card_hash)
    data = raw.get(name)
    if data is None:
        return look_up(card_hash, f"{folder / name}: the capture is without its card")
    return card_of_text(data.decode(), card_hash, str(folder / name))


def _count(value: Any, name: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} is {value!r}, not a count")
    return value
