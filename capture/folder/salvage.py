"""A damaged capture read all the same: what is damaged becomes a stated gap, everything else is the evidence it was.

Nothing is repaired but the text of a card, without which no record has a meaning: of one flipped bit in it the hash
says which, and that it is right again. The damaged capture stays as it is; a copy with the gaps is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.capture.durable import write_folder
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import refuse_empty
from freezeframe.capture.files.packed import temporary_folder
from freezeframe.capture.folder.damage import (
    Damage,
    Examined,
    chunk_records,
    examine,
    flipped_bit,
    lines_of,
)
from freezeframe.capture.folder.manifest import (
    MANIFEST,
    MANIFEST_COPY,
    SAMPLES_NAME,
    Json,
    manifest_digest,
    manifest_text,
    memory_file,
    registers_file,
    samples_file,
)
from freezeframe.capture.folder.one_file import (
    SUFFIX,
    altered_members,
    capture_in,
    cut_at_end,
    examine_beside,
    first_difference,
    is_ours,
    salvage_members,
    unpacked,
)
from freezeframe.capture.folder.raw_files import stated_files
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.capture.stand_ins import stands_for
from freezeframe.capture.targets.given_as_file import missing

_PAIR_B = 8
_SAMPLE_B = 8
_ALTERED = "altered since it was packed; it is beside the capture, not of it"
_ARCHIVE_B = 1 << 30  # of an archive that is damaged


class _Packed(NamedTuple):
    """An archive as a folder, what is wrong with the archive itself, and what is said of what lies beside."""

    place: Path
    damage: list[Damage]
    beside: int = 0
    unchecked: tuple[str, ...] = ()


class Salvaged(NamedTuple):
    """Where what is left of a capture stands, and what was damaged."""

    place: Path
    damage: list[Damage]


def examine_any(path: Path) -> Examined:
    """Hold a capture, a folder or one file, against its hashes.

    Raises:
        CaptureFormatError: it is no capture.
    """
    if path.is_dir():
        return examine(path)
    packed = _unpacked(path)
    found = examine(packed.place)
    return found._replace(
        damage=[*packed.damage, *found.damage], beside=packed.beside, unchecked=packed.unchecked
    )


def salvage(path: Path) -> Salvaged:
    """Return where a capture can be read from: the path itself where nothing of it is damaged.

    Raises:
        CaptureFormatError: it is no capture, of samples, or neither its manifest nor the copy can be read.
    """
    packed = _Packed(path, []) if path.is_dir() else _unpacked(path)
    folder, damage = packed.place, packed.damage
    found = examine(folder)
    damage += found.damage
    if not found.damage:
        return Salvaged(folder if damage else path, damage)
    manifest = found.manifest
    if manifest is None:
        raise CaptureFormatError(
            f"{path}: neither {MANIFEST} nor {MANIFEST_COPY} is as it was written, so nothing says what the rest is"
        )
    if manifest["format"][0] == SAMPLES_NAME:
        raise CaptureFormatError(
            f"{path}: holds files of samples, which have no gaps: freezeframe verify {path} says where each is "
            "damaged, and decode reads one of them up to there"
        )
    return Salvaged(_without(folder, manifest, found.damage), damage)


def _unpacked(path: Path) -> _Packed:
    """Return what an archive holds, also a damaged one."""
    if not path.exists():
        raise CaptureFormatError(missing(path, "does not exist"))
    refuse_empty(path)
    if path.stat().st_size > _ARCHIVE_B:
        return _of_another(path, unpacked(path))
    damage = []
    try:
        data = path.read_bytes()
        ours = is_ours(data)
        cut = cut_at_end(data) if ours else ""
        at = first_difference(data) if ours and not cut else None
        if cut:
            damage = [Damage(path.name, 0, 0, cut)]
        if at is not None:
            damage = [
                Damage(path.name, at, 1, "altered beside what is packed: header or directory")
            ]
        if not ours and (place := unpacked(path)).is_dir():
            return _of_another(path, place)
    except (CaptureFormatError, OSError) as error:
        if isinstance(error, OSError):
            raise InputError(f"{path}: cannot be read: {error.strerror}") from None
        damage = [Damage(path.name, 0, 0, str(error).partition(": ")[2])]
    members = salvage_members(data)
    prefix = capture_in(tuple(members))
    if prefix is None:
        raise CaptureFormatError(f"{path}: is no capture: nothing in it is a {MANIFEST}")
    lead = f"{prefix}/" if prefix else ""
    name = prefix.rpartition("/")[2] or path.name.removesuffix(SUFFIX)
    place = Path(tempfile.mkdtemp(dir=temporary_folder().name)) / name
    for member, content in members.items():
        if member.startswith(lead) and not member.endswith("/"):
            file = place / member[len(lead) :]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    stands_for(place, path)
    # What is beside the capture has no hashes; of it the archive's own sums tell.
    damage += [
        Damage(member, 0, size_B, _ALTERED)
        for member, size_B in altered_members(data).items()
        if not member.startswith(lead)
    ]
    return _Packed(place, damage, sum(not member.startswith(lead) for member in members))


def _of_another(path: Path, place: Path) -> _Packed:
    """Return a whole archive, with what the archive's sums say of what lies beside the capture."""
    beside = examine_beside(path)
    damage = [
        Damage(name, 0, size_B, f"{_ALTERED} ({why})") for name, size_B, why in beside.altered
    ]
    return _Packed(place, damage, beside.files, tuple(beside.unchecked))


def _without(folder: Path, manifest: Json, damage: Sequence[Damage]) -> Path:
    """Write a copy of a capture in which what is damaged is a gap, and return where."""
    of_file: dict[str, list[Damage]] = {}
    for each in damage:
        of_file.setdefault(each.file, []).append(each)
    stated: Json = manifest["raw"]
    files = {
        name: _bytes(folder, name, entry, of_file.get(name, ())) for name, entry in stated.items()
    }
    lost = [f"damaged since it was pulled: {line}" for line in lines_of(damage)]
    for device in manifest["devices"]:
        name = device["name"]
        for memory, said in device["memories"].items():
            file = memory_file(name, memory)
            said["gaps"] = _gaps(
                said["gaps"],
                [chunk_records(each) for each in of_file.get(file, ())],
                len(files[file] or b"") // RECORD_B,
            )
        if device.get("samples"):
            file = samples_file(name)
            device["samples"]["gaps"] = _gaps(
                device["samples"]["gaps"],
                [_slots(each) for each in of_file.get(file, ())],
                len(files[file] or b"") // _SAMPLE_B,
            )
        device["registers"]["count"] = len(files[registers_file(name)] or b"") // _PAIR_B
    kept = {name: data for name, data in files.items() if data is not None}
    manifest["raw"] = stated_files(kept)
    manifest["lost"] = [*manifest.get("lost", []), *lost]
    manifest["salvaged"] = {"digest": manifest["digest"], "damage": [each.text for each in damage]}
    manifest["digest"] = manifest_digest(manifest)
    kept[MANIFEST_COPY] = kept[MANIFEST] = manifest_text(manifest)
    name = folder.resolve().name
    place = Path(tempfile.mkdtemp(dir=temporary_folder().name)) / name
    write_folder(place, kept, overwrite=False, mark=MANIFEST)
    stands_for(place, folder)
    return place


def _bytes(folder: Path, name: str, entry: Any, damage: Sequence[Damage]) -> bytes | None:
    """Return a file without what is damaged: zeros in a memory, left out elsewhere; None for a card's lost text."""
    try:
        data = (folder / name).read_bytes()
    except OSError:
        data = b""
    if name.startswith("cards/"):
        return _card_text(data, entry, damage)
    data = data[: entry["bytes"]].ljust(entry["bytes"], b"\0")
    holes = [(each.first_B, each.first_B + each.size_B) for each in damage]
    if name.endswith(".rec"):
        spans = (chunk_records(each) for each in damage)
        holes = [(first * RECORD_B, (first + count) * RECORD_B) for first, count in spans]
    fixed = name.endswith((".rec", ".samples.bin"))
    parts, at = [], 0
    for begin, upto in sorted(holes):
        end = min(upto, len(data))
        parts += [data[at:begin], bytes(max(0, end - max(begin, at))) if fixed else b""]
        at = max(at, end)
    return b"".join([*parts, data[at:]])


def _card_text(data: bytes, entry: Any, damage: Sequence[Damage]) -> bytes | None:
    changed = bytearray(data)
    for each in damage:
        if each.chunk is None or each.first_B + each.size_B > len(data):
            return None
        chunk = data[each.first_B : each.first_B + each.size_B]
        flipped = flipped_bit(chunk, entry["chunks"][each.chunk])
        if flipped is None:
            return None  # a card that is known by its hash may stand in
        changed[each.first_B + flipped[0]] ^= 1 << flipped[1]
    return bytes(changed)


def _slots(damage: Damage) -> tuple[int, int]:
    first = damage.first_B // _SAMPLE_B
    return first, (damage.first_B + damage.size_B + _SAMPLE_B - 1) // _SAMPLE_B - first


def _gaps(known: Sequence[Any], holes: Iterable[tuple[int, int]], slots: int) -> list[Json]:
    """Return the gaps of a memory with the holes among them, ascending, none over another."""
    spans = [(g["first_slot"], g["first_slot"] + g["slots"], str(g["reason"])) for g in known]
    taken = [False] * slots
    for begin, end, _ in spans:
        taken[begin:end] = [True] * (min(end, slots) - begin)
    for first, count in holes:
        at = first
        while at < min(first + count, slots):
            end = at
            while end < min(first + count, slots) and not taken[end]:
                end += 1
            if end > at:
                spans.append((at, end, "damaged in the capture since it was pulled"))
                taken[at:end] = [True] * (end - at)
            at = end + 1
    return [{"first_slot": a, "slots": b - a, "reason": why} for a, b, why in sorted(spans)]
