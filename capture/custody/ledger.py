"""What this host knows of the recordings of cards: armed by whom, kept where, given up by whom.

A card does not know what was pulled from it; hosts do. One file of JSON lines for each boot of a card, named by the
boot nonce of its first device, in ``$XDG_STATE_HOME/freezeframe/cards`` (``~/.local/state``). A line is one act on
one target. Each is written whole under a lock and synced; a line that a crash has torn is passed over.

Source: docs/reliability.md.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.capture.durable import write_whole
from freezeframe.capture.folder.history import Act, act
from freezeframe.capture.folder.manifest import MANIFEST

ARMED, KEPT, GIVEN_UP, REMOVED = "armed", "kept", "given-up", "removed"

_LONGEST_S = 400 * 86_400  # a boot of which nothing was heard for so long is forgotten
_MOST_MANIFEST_B = 16 << 20


@dataclass(frozen=True, slots=True)
class RecordingKey:
    """What identifies one recording of one device.

    ``cause_cycle`` tells two boots with one short nonce apart; None: it is not frozen.
    """

    nonce: int
    generation: int
    cause_cycle: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "boot_nonce": f"{self.nonce:#010x}",
            "generation": self.generation,
            "cause_cycle": self.cause_cycle,
        }


class Ledger:
    """The acts that this host knows of, by boot nonce."""

    def __init__(self, home: Path | None = None) -> None:
        """``home``: in place of the user's state directory."""
        self.home = state_home() if home is None else home

    def note(self, what: str, recordings: Sequence[RecordingKey], **known: Any) -> str:
        """Write down an act on the recordings of one target, first device first.

        Returns:
            why it could not be written, in one line; empty where it was.
        """
        entry = act(what, pid=os.getpid(), recordings=[r.to_json() for r in recordings], **known)
        path = self._path(recordings[0].nonce)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _forget_old(path.parent)
            _append(path, json.dumps(entry))
        except OSError as error:
            return f"{path}: {error.strerror}: this host will not know of it"
        return ""

    def acts(self, nonce: int) -> list[Act]:
        """Return what is known of one boot of a card, oldest first."""
        try:
            lines = self._path(nonce).read_bytes().splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                entry = json.loads(line)
                entry["parsed"] = [_recording(each) for each in entry["recordings"]]
            except (ValueError, LookupError, TypeError):
                continue  # torn by a crash
            found.append(entry)
        return found

    def of(self, what: str, recordings: Sequence[RecordingKey]) -> list[Act]:
        """Return the acts of one kind on exactly these recordings, oldest first."""
        wanted = list(recordings)
        return [
            entry
            for entry in self.acts(wanted[0].nonce)
            if entry["what"] == what and entry["parsed"] == wanted
        ]

    def armed(self, recordings: Sequence[RecordingKey]) -> Act | None:
        """Return who armed these recordings, where this host has seen it."""
        wanted = [(r.nonce, r.generation) for r in recordings]
        for entry in reversed(self.acts(recordings[0].nonce)):
            if entry["what"] == ARMED and wanted == [
                (r.nonce, r.generation) for r in entry["parsed"]
            ]:
                return entry
        return None

    def _path(self, nonce: int) -> Path:
        return self.home / "cards" / f"{nonce:08x}.jsonl"


def state_home() -> Path:
    """Return this user's folder for what the program remembers from run to run."""
    base = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / "freezeframe"


def digest_of(capture: Path) -> str | None:
    """Return the digest that a capture's manifest states; None where there is no such capture."""
    try:
        with (capture / MANIFEST).open("rb") as file:
            digest = json.loads(file.read(_MOST_MANIFEST_B))["digest"]
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return str(digest)


def note_kept(
    ledger: Ledger, path: Path, recordings: Iterable[Sequence[RecordingKey]], **known: Any
) -> str:
    """Write down that the recordings of one or several targets lie in a capture; return why it could not be."""
    place, digest = str(path.resolve()), digest_of(path)
    troubles = [
        ledger.note(KEPT, of_target, path=place, digest=digest, **known)
        for of_target in recordings
        if of_target
    ]
    return next(filter(None, troubles), "")


def _append(path: Path, line: str) -> None:
    """Add a line, whole and on the disk; one that was torn before is ended first."""
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        torn = size and os.pread(descriptor, 1, size - 1) != b"\n"
        write_whole(descriptor, (b"\n" if torn else b"") + line.encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _forget_old(directory: Path) -> None:
    before = time.time() - _LONGEST_S
    for path in directory.glob("*.jsonl"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def _recording(entry: Mapping[str, Any]) -> RecordingKey:
    cycle = entry["cause_cycle"]
    return RecordingKey(
        int(entry["boot_nonce"], 16),
        int(entry["generation"]),
        None if cycle is None else int(cycle),
    )
