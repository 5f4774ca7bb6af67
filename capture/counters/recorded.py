"""What a recording holds, read from its journal: rows of counters or lines, and what is missing.

Rows of counters: ``t_ps`` from the first sample, ``source``, ``kind`` (counter or gauge), ``counter``, ``unit``,
``value`` (int64 bit pattern), ``changed`` (its value is another than one sample before), ``utc_ns``. Rows of lines:
``t_ps``, ``text``, ``utc_ns``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.recording import COUNTERS, GUARD, LINES, VERSION
from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError
from freezeframe.capture.journal import FIRST, Hole, read, segments

_PS_A_NS = 1000
_SET_NS = 1_000_000_000  # from which on a difference of two clocks is more than their drift
_ROWS = 1 << 18
_TOP = 1 << 63
_TEXT = pa.dictionary(pa.int32(), pa.string())
_SCHEMAS = {
    COUNTERS: pa.schema(
        [
            ("t_ps", pa.int64()),
            *((name, _TEXT) for name in ("source", "kind", "counter", "unit")),
            ("value", pa.int64()),
            ("changed", pa.bool_()),
            ("utc_ns", pa.int64()),
        ]
    ),
    LINES: pa.schema([("t_ps", pa.int64()), ("text", pa.string()), ("utc_ns", pa.int64())]),
}
_SCHEMAS[GUARD] = _SCHEMAS[LINES]


class Event(NamedTuple):
    """A sample or a line: when, of which source (None of a line), and its columns with their values, or its text."""

    t_ps: int
    utc_ns: int
    source: str | None
    columns: Sequence[tuple[str, str, str]]
    values: Sequence[int]
    text: str = ""


class Entry(NamedTuple):
    """What a guard has written down beside its lines."""

    what: str
    document: dict[str, Any]


class Recorded:
    """A recording that is read; ``missing`` fills while it is.

    Attributes:
        kind: counters, lines or guard.
        begun_ns: UTC of its beginning.
        missing: one line for each thing that is not there.
        lost: samples that were not written for want of room.
        missed: samples of a source that were read and not taken in time.
        shifts: one line for each time that the clock of the machine was set back, or went forward by itself.
    """

    def __init__(self, place: Path) -> None:
        """Read what the recording is.

        Raises:
            CaptureFormatError: it is none, or nothing of it can be read.
            CaptureVersionError: another version wrote it.
        """
        self.place = place
        self.missing: list[str] = []
        self.lost = 0
        self.missed: dict[str, int] = {}
        self.shifts: list[str] = []
        for payload in self._payloads():
            match payload:
                case {"recording": int(version), "kind": str(kind), "utc_ns": int(begun_ns)} if (
                    _fits(begun_ns)
                ):
                    break
        else:
            raise CaptureFormatError(
                f"{place}: nothing of the recording can be read; freezeframe verify says why"
            )
        if version != VERSION or kind not in _SCHEMAS:
            raise CaptureVersionError(
                f"{place}: a recording of {kind!r} in version {version}; this program reads version {VERSION}"
            )
        self.kind, self.begun_ns = kind, begun_ns

    @property
    def is_text(self) -> bool:
        """Whether it holds lines."""
        return self.kind != COUNTERS

    def events(self, entries: list[Entry] | None = None) -> Iterator[Event]:
        """Give samples or lines in their order; what was damaged is left out, and ``missing`` says it.

        Args:
            entries: gets the entries of a guard on the way.
        """
        self.missing, self.lost, self.missed = [], 0, {}
        self.shifts = []
        clock = _Clock()
        columns: dict[str, Sequence[tuple[str, str, str]]] = {}
        for payload in self._payloads():
            match payload:
                case {"recording": _, "t_ns": int(t_ns), "utc_ns": int(utc_ns)}:
                    if shift := clock.read(t_ns, utc_ns):
                        self.shifts.append(shift)
                case {"source": str(source), "columns": list(described)} if all(
                    isinstance(each, list) and len(each) == 3 for each in described
                ):
                    columns[source] = [
                        (str(k), str(kind), str(unit)) for k, kind, unit in described
                    ]
                case {"source": str(source), "missed": int(count)}:
                    self.missed[source] = self.missed.get(source, 0) + count
                    self.missing.append(
                        f"{plural(count, 'sample')} of {source}: read, and not taken in time"
                    )
                case {"entry": str(what), "document": dict(document)}:
                    if entries is not None:
                        entries.append(Entry(what, document))
                case {"lost": int(count)}:
                    self.lost += count
                    self.missing.append(f"{count} were not written: there was no room on the disk")
                case [str(source), int(t_ns), list(values)] if clock.known and all(
                    map(_is_word, values)
                ):
                    of = columns.get(source)
                    if of is None or len(of) != len(values):
                        self.missing.append(
                            f"a sample of {source} without its columns: they were damaged"
                        )
                        continue
                    utc_ns, t_ps = clock.times(t_ns)
                    if not _fits(utc_ns, t_ps):
                        self.missing.append(f"a sample of {source} at a time that is none")
                        continue
                    clock.took(t_ns)
                    yield Event(t_ps, utc_ns, source, of, values)
                case [int(t_ns), str(text)] if clock.known:
                    utc_ns, t_ps = clock.times(t_ns)
                    if not _fits(utc_ns, t_ps):
                        self.missing.append("a line at a time that is none")
                        continue
                    clock.took(t_ns)
                    yield Event(t_ps, utc_ns, None, (), (), text)
                case _:
                    self.missing.append(
                        f"a frame that is of no known form: {json.dumps(payload)[:80]}"
                    )

    @property
    def schema(self) -> pa.Schema:
        """The columns of `tables`."""
        return _SCHEMAS[self.kind]

    def tables(self) -> Iterator[pa.Table]:
        """Give the rows in pieces; at least one."""
        batch: list[tuple[Any, ...]] = []
        before: dict[tuple[str, str], int] = {}
        empty = True
        for t_ps, utc_ns, source, columns, values, text in self.events():
            if source is None:
                batch.append((t_ps, text, utc_ns))
            else:
                for (key, kind, unit), value in zip(columns, values, strict=True):
                    changed = before.get((source, key)) != value
                    before[source, key] = value
                    pattern = (value + _TOP) % (2 * _TOP) - _TOP
                    batch.append((t_ps, source, kind, key, unit, pattern, changed, utc_ns))
            if len(batch) >= _ROWS:
                yield _table(batch, self.schema)
                batch, empty = [], False
        if batch or empty:
            yield _table(batch, self.schema)

    def _payloads(self) -> Iterator[Any]:
        files = segments(self.place) if self.place.is_dir() else []
        if files and files[0].name != FIRST:
            self.missing.append(
                f"what came before {files[0].name}: it was removed to keep the recording small"
            )
        for item in read(self.place):
            if isinstance(item, Hole):
                self.missing.append(item.text)
                continue
            try:
                payload = json.loads(item.payload)
                if b"\\u" in item.payload:  # half a surrogate pair is no text
                    json.dumps(payload, ensure_ascii=False).encode()
                yield payload
            except (ValueError, RecursionError):
                self.missing.append(f"frame {item.number} is no JSON")


class _Clock:
    """The two clocks of a recording: since boot, by which samples are dated, and UTC, which may be set.

    Time since the beginning is that of UTC while it goes forward, for a machine may have slept or been started again;
    where UTC goes back it is that of the clock since boot, and stands still where that began anew, too.
    """

    def __init__(self) -> None:
        self.known = False
        self._utc_ns = self._elapsed_ns = 0  # less the clock since boot
        self._last_ns: int | None = None  # of the clock since boot, at the last sample

    def read(self, t_ns: int, utc_ns: int) -> str:
        """Take an instant of both clocks; return what has become of UTC, in one line, empty where nothing has."""
        if not _fits(t_ns, utc_ns):
            return ""
        shift_ns = utc_ns - t_ns - self._utc_ns
        # Within one boot and run the clock since boot counts; another run has another.
        if self.known and abs(shift_ns) <= _SET_NS:
            return ""
        first, self.known, self._utc_ns = not self.known, True, utc_ns - t_ns
        if first or self._last_ns is None:
            return ""
        by_boot_ns = t_ns - self._last_ns
        by_utc_ns = by_boot_ns + shift_ns
        if by_boot_ns < 0:  # the machine was started again
            self._elapsed_ns += max(by_utc_ns, 0) - by_boot_ns
            return "" if by_utc_ns >= 0 else _set_back(utc_ns, -by_utc_ns)
        if shift_ns < 0:
            return _set_back(utc_ns, -shift_ns)
        self._elapsed_ns += shift_ns
        return (
            f"at {_utc(utc_ns)} UTC had gone forward by {_seconds(shift_ns)} more than the clock since boot: "
            "it was set, or the machine slept or was started again"
        )

    def times(self, t_ns: int) -> tuple[int, int]:
        """Return UTC in ns and the time since the first sample in ps."""
        elapsed_ns = 0 if self._last_ns is None else t_ns + self._elapsed_ns
        return t_ns + self._utc_ns, elapsed_ns * _PS_A_NS

    def took(self, t_ns: int) -> None:
        """A sample was taken at that time; the first one is the beginning."""
        if self._last_ns is None:
            self._elapsed_ns = -t_ns
        self._last_ns = t_ns


def _set_back(utc_ns: int, by_ns: int) -> str:
    return f"at {_utc(utc_ns)} UTC had been set back by {_seconds(by_ns)}: dates before and after it are in no order"


def _utc(t_ns: int) -> str:
    if not 0 <= t_ns < _TOP:
        return "a time that is none"
    return datetime.fromtimestamp(t_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(t_ns: int) -> str:
    return f"{t_ns / 1_000_000_000:,.1f} s"


def _is_word(value: object) -> bool:
    """Return whether a value is a number of 64 bits, with a sign or without."""
    return type(value) is int and -_TOP <= value < 2 * _TOP


def _fits(*numbers: int) -> bool:
    """Return whether numbers are such as a table holds."""
    return all(-_TOP <= number < _TOP for number in numbers)


def _table(batch: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.Table:
    if not batch:
        return schema.empty_table()
    arrays = []
    for column, field in zip(zip(*batch, strict=True), schema, strict=True):
        text = pa.types.is_dictionary(field.type)
        array = pa.array(column, type=pa.string() if text else field.type)
        arrays.append(array.dictionary_encode() if text else array)
    return pa.table(arrays, schema=schema)
