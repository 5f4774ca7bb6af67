"""A recording: what watch, serve, console and guard see, kept in a journal as it comes.

Payloads are JSON. Each segment begins with what it is: ``{"recording": 1, "kind": ..., "tool": ..., "t_ns": ...,
"utc_ns": ...}`` (one instant of both clocks). Kind ``counters``: ``{"source", "columns": [[key, kind, unit], ...]}``,
then ``[source, t_ns, [value, ...]]`` for each sample; ``{"source", "missed": N}``: so many were read and not taken in
time. Kinds ``lines`` and ``guard``: ``[t_ns, text]``; of ``guard`` also ``{"entry", "document"}``. ``{"lost": N}``: so
many could not be written, for there was no room. Where the two clocks drift apart what it is comes again.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from freezeframe.capture.counters.contract import Counter, Sample
from freezeframe.capture.errors import InputError
from freezeframe.capture.journal import NO_SPACE, SUFFIX, Disk, Journal, is_begun, is_journal
from freezeframe.capture.tool import tool_version

VERSION = 1
COUNTERS, LINES, GUARD = "counters", "lines", "guard"
_MOST_SHIFT_NS = (
    1_500_000_000  # of one clock against the other: a clock that was set, a machine that slept
)


class Recording:
    """A recording in progress.

    Attributes:
        samples: that were recorded.
        lost: that were not, because the disk was full.
    """

    def __init__(
        self,
        path: Path,
        kind: str = COUNTERS,
        *,
        overwrite: bool = False,
        keep_B: int | None = None,
        disk: Disk | None = None,
    ) -> None:
        """Begin; in a recording that is there already, go on.

        Args:
            overwrite: begin anew where a recording is.
            keep_B: of the newest that is kept, at least.
        Raises:
            InputError: no such name or folder, something else is there, or another program records to it.
            OSError: the disk is full.
        """
        if path.suffix != SUFFIX:
            raise InputError(
                f"{path}: a recording is called NAME{SUFFIX}; freezeframe recording NAME{SUFFIX} -o {path.name} makes "
                "a table of it"
            )
        if not path.parent.is_dir():
            raise InputError(f"{path}: there is no folder {path.parent}")
        if path.exists() and not (is_journal(path) or is_begun(path)):
            raise InputError(f"{path}: is there, and is no recording; choose another name")
        if overwrite and path.exists():
            shutil.rmtree(path)
        self.path, self.kind = path, kind
        self.samples = self.lost = 0
        self._keys: dict[str, list[str]] = {}  # source -> the columns of its samples
        self._columns: dict[str, bytes] = {}
        self._offset_ns = 0  # from the clock since boot to UTC, as it was recorded last
        self._missed: dict[str, int] = {}  # source -> what is recorded as missed
        self._journal = Journal(path, self._preamble, keep_B=keep_B, disk=disk)

    def add(self, source: str, counters: Mapping[str, Counter], sample: Sample) -> None:
        """Append a sample; where there is no room it is counted, and what is lost is said when there is again.

        Raises:
            OSError: the disk fails.
        """
        keys = self._keys.get(source)
        columns = None
        if (
            keys is None
            or len(keys) != len(sample.values)
            or any(map(str.__ne__, keys, sample.values))
        ):
            keys = list(sample.values)
            described = [
                (key, counters[key].kind, counters[key].unit)
                if key in counters
                else (key, "gauge", "")
                for key in keys
            ]
            columns = _json({"source": source, "columns": described})
        if (
            self._append(columns, _json([source, sample.t_ns, list(sample.values.values())]))
            and columns
        ):
            self._keys[source], self._columns[source] = keys, columns

    def missed(self, source: str, ever: int) -> None:
        """Record how many samples of a source were read and not taken in time, ``ever`` since it began; as `add`."""
        new = ever - self._missed.get(source, 0)
        if new and self._append(_json({"source": source, "missed": new}), samples=0):
            self._missed[source] = ever

    def line(self, text: str) -> bool:
        """Append a line of text and return whether there was room; as `add`."""
        return self._append(_json([time.monotonic_ns(), text]))

    def entry(self, what: str, document: Mapping[str, Any]) -> bool:
        """Append an entry and return whether there was room; as `add`."""
        return self._append(_json({"entry": what, "document": document}))

    def sync(self) -> int:
        """Let what was added reach the disk; return how many frames stand there for good.

        Raises:
            OSError: the disk fails.
        """
        return self._journal.sync()

    def close(self) -> None:
        """End the recording; ``lost`` says then what it could not say itself, for there was no room until its end."""
        if self.lost:
            self._append(samples=0)
        self._journal.close()

    def _append(self, *payloads: bytes | None, samples: int = 1) -> bool:
        try:
            if abs(time.time_ns() - time.monotonic_ns() - self._offset_ns) > _MOST_SHIFT_NS:
                self._journal.append(self._head())
            if self.lost:
                self._journal.append(_json({"lost": self.lost}))
                self.lost = 0
            for payload in payloads:
                if payload is not None:
                    self._journal.append(payload)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            self.lost += samples
            return False
        self.samples += samples
        return True

    def _preamble(self) -> list[bytes]:
        return [self._head(), *self._columns.values()]

    def _head(self) -> bytes:
        now = {"t_ns": time.monotonic_ns(), "utc_ns": time.time_ns()}
        self._offset_ns = now["utc_ns"] - now["t_ns"]
        return _json({"recording": VERSION, "kind": self.kind, "tool": tool_version(), **now})


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
