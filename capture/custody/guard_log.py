"""What a guard says, accounts for and has explained: one recording, ``guard.ffrec``, in its directory.

A recording of kind ``guard``: lines as those of a console, and entries ``account`` (what became of a generation) and
``explained`` (what was found in a capture). What `GuardLog.sync` has seen stands on the disk; a full or failing disk is
told and ends nothing. `read_log` also reads what guards of former versions wrote: ``guard.log``, ``account.jsonl``,
``explanations.jsonl``.

Source: docs/formats.md, section 11.
"""

from __future__ import annotations

import errno
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from freezeframe.capture.counters.recorded import Entry, Recorded
from freezeframe.capture.counters.recording import GUARD, Recording
from freezeframe.capture.custody.store import kind_of
from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.journal import LONGEST_B, NO_SPACE, Disk, is_begun, is_journal

LOG = "guard.ffrec"
ACCOUNT, EXPLAINED = "account", "explained"

_OLD_LOG, _OLD_ACCOUNT, _OLD_EXPLAINED = "guard.log", "account.jsonl", "explanations.jsonl"
_NO_ROOM = "no room on the disk"
_REMOVED = f"{LOG} was removed while the guard wrote to it; what stood in it is gone"
_STAMP = 20  # characters of the time of an old line
_UTC = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(slots=True)
class Logged:
    """What stands in the log of a directory, oldest first.

    Attributes:
        lines: when (UTC, whole seconds) and what.
        accounts: what became of generations, with ``nonce`` as a number.
        explanations: what was found in captures; ``capture`` is the name.
        missing: a line for each thing that could not be read.
        shifts: a line for each time that the clock of the machine was set back, or went forward by itself.
        span_s: from the first line to the last.
    """

    lines: list[tuple[str, str]] = field(default_factory=list)
    accounts: list[dict[str, Any]] = field(default_factory=list)
    explanations: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    shifts: list[str] = field(default_factory=list)
    span_s: float = 0.0


def read_log(directory: Path) -> Logged:
    """Read the log of a guard, also of one that is at work; empty where there is none."""
    found = Logged(lines=list(_old_lines(directory / _OLD_LOG)))
    entries = [
        Entry(what, document)
        for what, name in ((ACCOUNT, _OLD_ACCOUNT), (EXPLAINED, _OLD_EXPLAINED))
        for document in _old_entries(directory / name)
    ]
    place = directory / LOG
    if is_journal(place):
        try:
            recorded = Recorded(place)
            events = list(recorded.events(entries))
            if events:
                before_s = (
                    seconds_between(found.lines[0][0], _utc(events[0].utc_ns)) if found.lines else 0
                )
                found.span_s = before_s + (events[-1].t_ps - events[0].t_ps) / 1e12
            found.lines += [(_utc(e.utc_ns), e.text) for e in events]
            found.missing += recorded.missing
            found.shifts += recorded.shifts
        except (CaptureFormatError, OSError) as error:
            found.missing.append(str(error))
    else:
        if found.lines:
            found.span_s = seconds_between(found.lines[0][0], found.lines[-1][0])
        if place.exists() and not is_begun(place):
            found.missing.append(f"{place}: is no recording; nothing of it was read")
    for what, document in entries:
        known = _account(document) if what == ACCOUNT else _explanation(document)
        if known is None:
            found.missing.append(f"an entry {what!r} of no known form: {json.dumps(document)[:80]}")
        else:
            (found.accounts if what == ACCOUNT else found.explanations).append(known)
    return found


class GuardLog:
    """The log of a guard that is at work. Of any thread; nothing that the disk does raises.

    Attributes:
        before: what stood in it when it was opened.
        kinds: the kind of finding of each capture that was explained, by the capture's name.
    """

    def __init__(
        self,
        directory: Path,
        listener: Callable[[str], None] | None = None,
        *,
        keep_B: int | None = None,
        disk: Disk | None = None,
    ) -> None:
        """Go on in the directory's log, or begin it.

        Args:
            listener: gets each line, with its time.
            keep_B: of the newest that is kept, at least.
        Raises:
            InputError: something else stands there, or another program writes to it.
        """
        self._place = directory / LOG
        self._listener = listener
        self._keep_B, self._disk = keep_B, disk
        self._lock = threading.Lock()
        self._recording: Recording | None = None
        self._trouble = ""
        self.before = read_log(directory)
        self.kinds = {each["capture"]: kind_of(each) for each in self.before.explanations}
        self._lost = 0  # said, and not yet recorded as lost
        self._removed = False  # by somebody, and not yet said in the one that was begun anew
        try:
            self._opened()
        except OSError:
            self._tell(_NO_ROOM)

    def __call__(self, line: str) -> None:
        """Say a line."""
        trouble = self._write(lambda recording: recording.line(line), said=1)
        if self._listener is not None:
            stamped = f"{time.strftime(_UTC, time.gmtime())} {line}"
            self._listener(f"{stamped} ({LOG}: {trouble})" if trouble else stamped)

    def account(self, entry: dict[str, Any]) -> None:
        """Write down what became of a generation."""
        self._tell(self._write(lambda recording: recording.entry(ACCOUNT, entry), said=1))

    def explained(self, document: dict[str, Any]) -> str:
        """Write down what was found in a capture; return why that is not on the disk, empty where it is."""
        self.kinds[document["capture"]] = kind_of(document)
        size_B = len(json.dumps(document))
        kept = document
        if size_B > LONGEST_B // 2:  # beside its frame
            more = f"the explanation has {size_B:,} B and is not kept; freezeframe explain gives it"
            kept = {"capture": document["capture"], "findings": [], "error": more}
        trouble = self._write(lambda recording: recording.entry(EXPLAINED, kept), said=1)
        return trouble or self.sync()

    def sync(self) -> str:
        """Let everything said so far reach the disk; return why it does not, empty where it does."""
        trouble = self._write(lambda recording: recording.sync() >= 0)
        self._tell(trouble)
        return trouble

    def close(self) -> None:
        """End it."""
        with self._lock:
            if self._recording is not None:
                try:
                    self._recording.close()
                except OSError as error:
                    self._tell(str(error.strerror))
                self._recording = None

    def _write(self, write: Callable[[Recording], bool], *, said: int = 0) -> str:
        """Open it where that was not possible before, and write; return why that fails, of which ``said`` are lost."""
        with self._lock:
            try:
                return "" if write(self._opened()) else _NO_ROOM
            except (OSError, InputError) as error:
                self._lost += said
                if not isinstance(error, OSError):
                    return str(error)
                if error.errno == errno.ESTALE:
                    self._begin_anew()
                return _NO_ROOM if error.errno in NO_SPACE else str(error.strerror or error)

    def _begin_anew(self) -> None:
        """Leave a log that somebody has removed; the next write begins another, which says so."""
        if self._recording is not None:
            with suppress(OSError):  # that of the file that is gone
                self._recording.close()
            self._recording = None
        self._removed = True

    def _opened(self) -> Recording:
        if self._recording is None:
            self._recording = Recording(self._place, GUARD, keep_B=self._keep_B, disk=self._disk)
        self._recording.lost += self._lost
        self._lost = 0
        if self._removed:
            self._removed = not self._recording.line(_REMOVED)
        return self._recording

    def _tell(self, trouble: str) -> None:
        """Tell a trouble that comes with no line of its own, once while it lasts."""
        if trouble and trouble != self._trouble and self._listener is not None:
            self._listener(f"{time.strftime(_UTC, time.gmtime())} {LOG}: {trouble}")
        self._trouble = trouble


def seconds_between(first: str, last: str) -> float:
    """Return the seconds between two stamps; 0 where the clock went back, or one is none."""
    try:
        return max(
            (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds(), 0.0
        )
    except ValueError:
        return 0.0


def _account(entry: dict[str, Any]) -> dict[str, Any] | None:
    if not all(isinstance(entry.get(key), str | None) for key in ("capture", "when")):
        return None
    try:
        return {
            **entry,
            "what": str(entry["what"]),
            "nonce": int(entry["boot_nonce"], 16),
            "generation": int(entry["generation"]),
        }
    except (ValueError, LookupError, TypeError):
        return None


def _explanation(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return an explanation whose lists, as far as they are looked into, are of objects."""
    findings = document.get("findings")
    known = isinstance(document.get("capture"), str) and _objects(document.get("history"))
    if not known or not _objects(findings):
        return None
    told = [each.get("evidence") for each in findings or ()]
    rows = [row for each in told if _objects(each) for row in each or ()]
    whole = all(map(_objects, told)) and all(_objects(row.get("rows")) for row in rows)
    return document if whole else None


def _objects(value: Any) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(x, dict) for x in value))


def _utc(t_ns: int) -> str:
    return datetime.fromtimestamp(t_ns // 1_000_000_000, UTC).strftime(_UTC)


def _old_lines(path: Path) -> Iterator[tuple[str, str]]:
    for line in _text_lines(path):
        if line[_STAMP - 1 : _STAMP] == "Z":
            yield line[:_STAMP], line[_STAMP + 1 :]


def _old_entries(path: Path) -> Iterator[dict[str, Any]]:
    for line in _text_lines(path):
        try:
            document = json.loads(line)
        except (ValueError, RecursionError):
            continue  # torn by a full disk or a crash
        if isinstance(document, dict):
            yield document


def _text_lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
