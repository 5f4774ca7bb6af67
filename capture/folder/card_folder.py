"""A capture folder of format 2.0: the recording of cards that are described by a file, with their texts.

Source: docs/formats.md, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.card.finding import FoundCard, card_of_text, look_up
from freezeframe.capture.card.identity import CardIdentity
from freezeframe.capture.card.registers import card_map, memories_of_card
from freezeframe.capture.durable import Content, write_folder
from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.folder.card_content import CardCapture, recorded_clock
from freezeframe.capture.folder.content import RegisterImage
from freezeframe.capture.folder.manifest import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    MANIFEST_COPY,
    manifest_digest,
    manifest_text,
    memory_file,
    registers_file,
)
from freezeframe.capture.folder.one_file import place_of
from freezeframe.capture.folder.opened import (
    OpenedFolder,
    count_of,
    memory_of,
    opening,
    refuse_left,
)
from freezeframe.capture.folder.raw_files import (
    KEEP,
    card_file,
    cards_of_capture,
    read_files,
    stated_files,
)
from freezeframe.capture.folder.reader import read_manifest
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.capture.tool import tool_version

MAP = 2


class CardFolder(OpenedFolder[CardCapture]):
    """A capture of format 2.0, of cards that are described by a file."""

    @classmethod
    def open(cls, path: Path | str) -> CardFolder:
        """Read a folder; every byte of it is checked.

        Raises:
            CaptureFormatError: a file is missing, cut, altered (its chunk is named) or extra.
            CaptureVersionError: written by another version of the format.
            InputError: the card's text is missing and no known card has its hash.
        """
        folder = place_of(path)
        with opening(folder):
            manifest = read_manifest(folder, FORMAT_NAME, (FORMAT_VERSION,))
            if manifest.get("map", MAP) != MAP:
                raise CaptureFormatError(
                    f"{folder / MANIFEST}: holds devices of map {manifest['map']}, not of map {MAP}"
                )
            raw = read_files(folder, manifest.get("raw"))
            devices = [_device(entry, raw, folder) for entry in manifest["devices"]]
        refuse_left(folder, raw)
        if [device.index for device in devices] != list(range(len(devices))) or not devices:
            raise CaptureFormatError(
                f"{folder / MANIFEST}: no devices, or not in their order; {KEEP}"
            )
        return cls(folder, manifest, devices)

    @property
    def unchecked(self) -> list[str]:
        """One line for each thing that was read and that nothing of a device vouches for."""
        return [line for device in self.devices for line in device.unchecked()]


def write_card_folder(
    path: Path,
    devices: Sequence[CardCapture],
    *,
    source: str,
    history: Sequence[Mapping[str, Any]],
    lost: Sequence[str] = (),
    overwrite: bool = False,
) -> None:
    """Write a capture whole, or not at all.

    Args:
        source: URL of the target; what follows a ``?`` stays out of the capture.
        history: what is known of arming, freezing and pulling, in that order.
        lost: what is missing and no gap of a device says, a line each.
    Raises:
        InputError: the place is taken, or the disk is full; nothing is left behind.
    """
    cards, files = cards_of_capture([device.found for device in devices])
    for device in devices:
        for memory, image in device.memories.items():
            files[memory_file(device.name, memory)] = image.records.tobytes()
        files[registers_file(device.name)] = device.registers.to_bytes()
    manifest: dict[str, Any] = {
        "format": [FORMAT_NAME, *FORMAT_VERSION],
        "map": MAP,
        "source": source.partition("?")[0],
        "tool": tool_version(),
        "cards": cards,
        "devices": [_entry(device) for device in devices],
        "history": [dict(entry) for entry in history],
        "custody": [],
        "lost": [*lost, *(line for device in devices for line in device.missing())],
        "unchecked": [line for device in devices for line in device.unchecked()],
        "raw": stated_files(files),
    }
    manifest["digest"] = manifest_digest(manifest)
    text = manifest_text(manifest)
    contents: dict[str, Content] = {**files, MANIFEST_COPY: text, MANIFEST: text}
    write_folder(path, contents, overwrite=overwrite, mark=MANIFEST)


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
    name, index = entry["name"], count_of(entry["index"], "index")
    file = registers_file(name)
    registers = RegisterImage.from_bytes(
        raw.pop(file), str(folder / file), card_map(found.card, identity.built)
    )
    memories = {}
    for memory in places:
        said = entry["memories"][memory.name]
        data = raw.pop(memory_file(name, memory.name))
        # A ring of C hooks is as deep as its program made it, which its identity tells.
        depth = identity.chunk if found.card.of_hooks else memory.depth
        if len(data) != RECORD_B * depth:
            raise ValueError(
                f"{memory.name} has {len(data)} B; its card has {depth} records of 9 B"
            )
        tap = entry["taps"][memory.tap.name]
        memories[memory.name] = memory_of(memory.name, data, tap, said["gaps"])
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
    return card_of_text(data.decode(errors="replace"), card_hash, str(folder / name))
