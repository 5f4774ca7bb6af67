"""The captures that a guard made in its directory: their names, what they hold, and which of them stay.

``NNNN-NONCE-GENERATION-CAUSE.ff``; what was found in them stands in the log beside them (`guard_log`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.custody.ledger import RecordingKey
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.manifest import MANIFEST

LOCK = ".guard.lock"
REMOVED = ": removed; "  # in the guard's log, behind the name of a capture that the rule of keeping has removed
BESIDE, BUNDLE = ".beside.jsonl", ".ff.zip"  # what stands beside NAME.ff
NOT_EXPLAINED, NO_FINDING = "not explained", "no fault found"

NAME = re.compile(r"(?P<number>\d{4,})-(?P<nonce>[0-9a-f]{8})-(?P<generation>\d+)-[a-z0-9-]+\.ff")

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgt]?)i?b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Keep:
    """Which captures stay: the newest, the first ones, one of each kind of finding, and no more bytes than so many.

    The newest one stays whatever the limits say, and so do the first ones and the first of each kind. ``log_bytes``: of
    the newest of the guard's log that stay, at least; None: all.
    """

    newest: int = 50
    first: int = 0
    bytes: int | None = None
    kinds: bool = False
    log_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.newest < 1:
            raise InputError(f"keep {self.newest}: at least one capture must be kept")


def captures_in(directory: Path) -> list[Path]:
    """Return the captures that a guard made in a directory, oldest first; none where it is not there."""
    numbered = []
    for entry in directory.iterdir() if directory.is_dir() else ():
        match = NAME.fullmatch(entry.name)
        if match and _is_of(entry, match["nonce"], int(match["generation"])):
            numbered.append((int(match["number"]), entry))
    return [path for _, path in sorted(numbered)]


def unreadable_in(directory: Path) -> list[Path]:
    """Return what has the name of a guard's capture in a directory, and cannot be read as that, oldest first."""
    named = [p for p in directory.iterdir() if NAME.fullmatch(p.name)] if directory.is_dir() else []
    return sorted(set(named) - set(captures_in(directory)))


def devices_of(folder: Path) -> list[dict[str, Any]]:
    """Return the devices of a capture of `captures_in`, as its manifest has them."""
    devices: list[dict[str, Any]] = json.loads((folder / MANIFEST).read_bytes())["devices"]
    return devices


def keys_of(folder: Path) -> list[RecordingKey]:
    """Return what identifies the recording of each device of a capture."""
    return [
        RecordingKey(int(device["boot_nonce"], 16), device["generation"], device["cause_cycle"])
        for device in devices_of(folder)
    ]


def has_gaps(folder: Path) -> bool:
    """Return whether a capture states that some of its recording could not be read."""
    return any(
        part["gaps"]
        for device in devices_of(folder)
        for part in (*device["memories"].values(), device.get("samples"))
        if part
    )


def kind_of(told: dict[str, Any]) -> str:
    """Return the kind of a finding: its name and where it is; or that there is none."""
    if told.get("error"):
        return NOT_EXPLAINED
    findings = told.get("findings") or []
    if not findings:
        return NO_FINDING
    first = findings[0]
    place = ".".join(str(part) for part in (first.get("device"), first.get("tap")) if part)
    return f"{first.get('diagnosis')} at {place}" if place else str(first.get("diagnosis"))


def superfluous(
    directory: Path, keep: Keep, kinds: Mapping[str, str], waiting: Collection[str] = ()
) -> list[Path]:
    """Return which captures go, oldest first; of those that go by bytes, what has no kind goes last.

    Args:
        kinds: the kind of finding of each that is explained, by its name.
        waiting: the names of those that somebody is still to explain. None of them goes: that one of each kind stays
            cannot be said of what nobody has looked at.
    """
    folders = captures_in(directory)
    protected = {*waiting, *_at_the_ends(folders, keep)}
    if keep.kinds:
        seen: set[str] = set()
        for path in folders:
            kind = kinds.get(path.name)
            if kind is not None and kind not in seen:
                seen.add(kind)
                protected.add(path.name)
    loose = [path for path in folders if path.name not in protected]
    newest = {path.name for path in folders[-keep.newest :]}
    gone = [path for path in loose if path.name not in newest]
    if keep.bytes is not None:
        left_B = sum(size_of(path) for path in folders if path not in gone)
        rest = [path for path in loose if path not in gone]
        for path in sorted(rest, key=lambda path: path.name not in kinds):
            if left_B <= keep.bytes:
                break
            left_B -= size_of(path)
            gone.append(path)
    return gone


def held_back_B(directory: Path, keep: Keep, waiting: Collection[str]) -> int:
    """Return by how many bytes a directory exceeds its limit while some captures wait to be explained; 0 where none
    does of those that could go."""
    folders = captures_in(directory)
    if keep.bytes is None or not set(waiting) - _at_the_ends(folders, keep):
        return 0
    return max(0, sum(map(size_of, folders)) - keep.bytes)


def _at_the_ends(folders: Sequence[Path], keep: Keep) -> set[str]:
    """Return the names of the first ones and the newest one, which stay whatever the limits say."""
    return {path.name for path in (*folders[: keep.first], *folders[-1:])}


def size_of(folder: Path) -> int:
    """Return the bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def parse_size(text: str) -> int:
    """Return bytes: ``500M``, ``20 GB``; k, M, G, T are powers of 1000.

    Raises:
        InputError: not of that form.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise InputError(f"{text!r}: not a size; write for instance 500M or 20G")
    return int(float(found["number"]) * _UNITS[found["unit"].lower()])


def holds(folder: Path, wanted: Sequence[RecordingKey]) -> bool:
    """Return whether a capture holds all these recordings; a cycle that is not known fits any."""
    keys = keys_of(folder)
    return all(
        any(
            (key.nonce, key.generation) == (each.nonce, each.generation)
            and (None in (key.cause_cycle, each.cause_cycle) or key.cause_cycle == each.cause_cycle)
            for key in keys
        )
        for each in wanted
    )


def firsts_of(folder: Path) -> list[RecordingKey]:
    """Return the recording of the first device of each target of a capture."""
    targets = [device.get("target", 0) for device in devices_of(folder)]
    keys = keys_of(folder)
    return [keys[targets.index(target)] for target in dict.fromkeys(targets)]


def _is_of(folder: Path, nonce: str, generation: int) -> bool:
    """Return whether a folder is the capture that its name says; only such a one is a guard's."""
    try:
        first = devices_of(folder)[0]
        return bool(first["boot_nonce"] == f"0x{nonce}" and first["generation"] == generation)
    except (OSError, ValueError, LookupError, TypeError):
        return False
