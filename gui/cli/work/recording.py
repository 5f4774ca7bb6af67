"""``freezeframe recording``: a recording summed up, written as a table, or drawn."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from freezeframe.analyzers.analysis import AnalysisResult, Series
from freezeframe.capture.count_text import plural
from freezeframe.capture.counters.recorded import Entry, Event, Recorded
from freezeframe.capture.custody.guard_log import EXPLAINED
from freezeframe.capture.custody.store import kind_of
from freezeframe.capture.errors import InputError
from freezeframe.capture.parquet import write_batches
from freezeframe.gui.cli.output import count_text, emit_json, table
from freezeframe.gui.export.safe_csv import safe_column
from freezeframe.gui.places import refuse_evidence, refuse_taken, write_whole
from freezeframe.gui.plots.figures import drawings
from freezeframe.gui.plots.picture import picture_png, picture_svg
from freezeframe.gui.text import printable

_PS_PER_S = 10**12
_SHOWN = 40
_DRAWN = 12  # charts; more is no picture any more
_POINTS = 20_000  # of one line
_TABLES, _PICTURES = (".parquet", ".csv"), (".svg", ".png")

Key = tuple[str, str]  # source and counter


@dataclass(slots=True)
class _Seen:
    """What is known of one counter."""

    kind: str
    unit: str
    first: int
    first_ps: int
    last: int
    last_ps: int
    least: int
    most: int
    restarts: int = 0
    grew: int = 0
    points: list[tuple[int, int]] = field(default_factory=list)

    def add(self, t_ps: int, value: int) -> None:
        if self.kind == "counter" and value < self.last:
            self.restarts += 1
        else:
            self.grew += value - self.last
        self.last, self.last_ps = value, t_ps
        self.least, self.most = min(self.least, value), max(self.most, value)


@dataclass(slots=True)
class _Samples:
    """The samples of one source."""

    first: Event
    last: Event
    count: int = 0


def show_recording(place: Path, what: str, output: Path | None, *, force: bool, json: bool) -> None:
    """Print what a recording holds, or write it.

    Raises:
        InputError: it is no recording, no counter has such a name, or the file cannot be written.
    """
    recorded = Recorded(place)
    if output is not None:
        if output.suffix not in (*_TABLES, *_PICTURES):
            raise InputError(f"{output}: ends in none of {', '.join((*_TABLES, *_PICTURES))}")
        refuse_evidence(output)
        refuse_taken(output, force, "night.parquet")
    if output is not None and output.suffix in _TABLES:
        rows = _write_table(recorded, what, output)
        document = {"written": str(output), "rows": rows, "missing": recorded.missing}
        text = f"{output}: {plural(rows, 'row')}, {count_text(output.stat().st_size)} B"
    elif recorded.is_text:
        if output is not None:
            raise InputError(
                f"{place}: holds lines of text, which are not drawn; -o NAME.csv writes them"
            )
        lines, found = _lines(recorded, what)
        document = {
            "kind": recorded.kind,
            "lines": [{"t_ps": e.t_ps, "utc_ns": e.utc_ns, "text": e.text} for e in lines],
            "explained": [document for _, document in found],
            "missing": recorded.missing,
        }
        text = "\n".join(_told(lines, found))
    else:
        seen, samples = _seen(recorded, what, points=output is not None)
        document = _document(recorded, seen, samples)
        text = _text(place, recorded, seen, samples)
        if output is not None:
            count = _draw(place, seen, output)
            document |= {"written": str(output)}
            text = f"{output}: {plural(count, 'drawing')}, {count_text(output.stat().st_size)} B"
    for line in recorded.missing:
        print(f"freezeframe: {printable(place)}: missing: {printable(line)}", file=sys.stderr)
    for line in recorded.shifts:
        print(f"freezeframe: {printable(place)}: {line}", file=sys.stderr)
    if json:
        emit_json({**document, "clock": recorded.shifts})
    elif text:
        print(text)


def _lines(recorded: Recorded, what: str) -> tuple[list[Event], list[tuple[int, dict[str, Any]]]]:
    """Return the lines of a recording, and what a guard found in captures, each with how many lines stand before it."""
    entries: list[Entry] = []
    lines: list[Event] = []
    found: list[tuple[int, dict[str, Any]]] = []

    def take() -> None:
        for entry in entries:
            document = entry.document
            if entry.what == EXPLAINED and fnmatchcase(_finding(document), what):
                found.append((len(lines), document))
        entries.clear()

    for event in recorded.events(entries):
        take()
        if fnmatchcase(event.text, what):
            lines.append(event)
    take()
    return lines, found


def _finding(document: dict[str, Any]) -> str:
    """Return what was found in a capture, as `night` counts it."""
    return f"{document.get('capture')}: {kind_of(document)}"


def _told(lines: list[Event], found: list[tuple[int, dict[str, Any]]]) -> Iterator[str]:
    """Yield lines with their time, and findings where they stand among them."""
    left = found
    for number, event in enumerate(lines):
        while left and left[0][0] <= number:
            yield _explained(left[0][1])
            left = left[1:]
        yield f"{_utc(event.utc_ns)} {printable(event.text)}"
    for _, document in left:
        yield _explained(document)


def _explained(document: dict[str, Any]) -> str:
    when = str(document.get("explained") or "")[:19]
    return printable(f"{f'{when}Z' if when else ' ' * 20} found in {_finding(document)}")


def _matches(what: str) -> Callable[[str, str], bool]:
    return lambda source, key: fnmatchcase(key, what) or fnmatchcase(f"{source}/{key}", what)


def _seen(
    recorded: Recorded, what: str, *, points: bool
) -> tuple[dict[Key, _Seen], dict[str, _Samples]]:
    """Return what became of each counter, and the samples of each source."""
    wanted = _matches(what)
    seen: dict[Key, _Seen] = {}
    samples: dict[str, _Samples] = {}
    chosen: dict[tuple[str, int], list[bool]] = {}
    for event in recorded.events():
        _count(samples, event)
        source = str(event.source)
        of = chosen.get((source, id(event.columns)))
        if of is None:
            of = chosen[source, id(event.columns)] = [
                wanted(source, key) for key, *_ in event.columns
            ]
        for (key, kind, unit), value, take in zip(event.columns, event.values, of, strict=True):
            if not take:
                continue
            one = seen.get((source, key))
            if one is None:
                one = seen[source, key] = _Seen(
                    kind, unit, value, event.t_ps, value, event.t_ps, value, value
                )
            one.add(event.t_ps, value)
            if points:
                one.points.append((event.t_ps, value))
    if not seen and samples:
        raise InputError(
            f"{recorded.place}: no counter is called {what!r}; without --what all are shown"
        )
    return seen, samples


def _count(samples: dict[str, _Samples], event: Event) -> None:
    source = str(event.source)
    known = samples.setdefault(source, _Samples(event, event))
    known.count += 1
    known.last = event


def _utc(t_ns: int) -> str:
    return datetime.fromtimestamp(t_ns // 1_000_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _rate(one: _Seen) -> float | None:
    took_ps = one.last_ps - one.first_ps
    return one.grew * _PS_PER_S / took_ps if took_ps and one.kind == "counter" else None


def _document(
    recorded: Recorded, seen: dict[Key, _Seen], samples: dict[str, _Samples]
) -> dict[str, Any]:
    return {
        "kind": recorded.kind,
        "begun": _utc(recorded.begun_ns),
        "sources": [
            {
                "source": source, "samples": of.count, "first": _utc(of.first.utc_ns),
                "last": _utc(of.last.utc_ns),
            }
            for source, of in samples.items()
        ],
        "counters": [
            {
                "source": source, "counter": key, "kind": one.kind, "unit": one.unit, "first": one.first,
                "last": one.last, "least": one.least, "most": one.most, "restarts": one.restarts,
                "a_second": _rate(one),
            }
            for (source, key), one in seen.items()
        ],
        "lost": recorded.lost,
        "missed": recorded.missed,
        "missing": recorded.missing,
    }  # fmt: skip


def _text(
    place: Path, recorded: Recorded, seen: dict[Key, _Seen], samples: dict[str, _Samples]
) -> str:
    lines = [f"{printable(place)}: begun {_utc(recorded.begun_ns)}"]
    for source, of in samples.items():
        took = f"{(of.last.t_ps - of.first.t_ps) / _PS_PER_S:,.1f} s"
        to = _utc(of.last.utc_ns)
        lines.append(f"  {printable(source)}: {plural(of.count, 'sample')}, {took}, to {to}")
    moved = [
        (key, one) for key, one in seen.items() if one.least != one.most or len(seen) <= _SHOWN
    ]
    rows = []
    for (source, key), one in moved[:_SHOWN]:
        rate = _rate(one)
        again = str(one.restarts) if one.restarts else ""
        shown = "" if rate is None else f"{rate:,.1f}"
        rows.append((source, key, f"{one.first:,}", f"{one.last:,}", shown, one.unit, again))
    if rows:
        headers = ("source", "counter", "first", "last", "a second", "unit", "restarts")
        lines += ["", table(headers, rows, right=(2, 3, 4, 6))]
    still, more = len(seen) - len(moved), len(moved) - len(rows)
    if still:
        lines.append(
            f"{plural(still, 'counter')} did not move; --what NAME shows them, -o NAME.csv has all"
        )
    if more:
        lines.append(f"{more} more moved; --what chooses, -o NAME.csv has all")
    return "\n".join(lines)


def _write_table(recorded: Recorded, what: str, output: Path) -> int:
    rows = 0

    def chosen() -> Any:
        nonlocal rows
        wanted = _matches(what)
        for batch in recorded.tables():
            kept = batch
            if what != "*" and not recorded.is_text:
                pairs = zip(batch["source"].to_pylist(), batch["counter"].to_pylist(), strict=True)
                kept = batch.filter(
                    pa.array([wanted(source, key) for source, key in pairs], pa.bool_())
                )
            elif what != "*":
                kept = batch.filter(
                    pa.array([fnmatchcase(t, what) for t in batch["text"].to_pylist()], pa.bool_())
                )
            rows += len(kept)
            yield kept

    if output.suffix == ".parquet":
        write_batches(chosen(), output, recorded.schema)
        return rows
    made = pa.BufferOutputStream()
    texts = pa.schema(
        [
            (f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type)
            for f in recorded.schema
        ]
    )
    with pyarrow.csv.CSVWriter(made, texts) as writer:
        for piece in chosen():
            plain = piece.cast(texts)
            for place, field in enumerate(texts):
                if pa.types.is_string(field.type):
                    plain = plain.set_column(place, field, safe_column(plain.column(place)))
            writer.write_table(plain)
    write_whole(output, made.getvalue().to_pybytes())
    return rows


def _draw(place: Path, seen: dict[Key, _Seen], output: Path) -> int:
    groups: dict[str, list[Series]] = defaultdict(list)
    for (source, key), one in seen.items():
        if one.least == one.most and len(seen) > _DRAWN:
            continue
        t_ps, value = (np.array(column, np.int64) for column in zip(*one.points, strict=True))
        unit, shown = one.unit, value.astype(np.float64)
        if one.kind == "counter":
            steps, took = np.diff(value).astype(np.float64), np.diff(t_ps).astype(np.float64)
            steps[(steps < 0) | (took <= 0)] = np.nan
            shown = steps * _PS_PER_S / np.maximum(took, 1)
            t_ps, unit = t_ps[1:], f"{one.unit} a second".strip()
        every = max(1, len(t_ps) // _POINTS)
        name = f"{source}/{key}".replace(".", "-")
        groups[unit].append(
            Series(
                f"{name}.{key}",
                f"{key} of {source}",
                unit,
                t_ps[::every],
                shown[::every],
                step=False,
            )
        )
    made = [
        one
        for unit, series in groups.items()
        for one in drawings(AnalysisResult(unit or "count", series=tuple(series)))
    ]
    if not made:
        raise InputError(f"{place}: nothing to draw: no counter moved, or there is one sample only")
    svg = picture_svg(made[:_DRAWN], printable(place.name), theme="light")
    write_whole(output, svg.encode() if output.suffix == ".svg" else picture_png(svg, scale=1.0))
    return len(made[:_DRAWN])
