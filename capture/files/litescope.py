"""Read the dumps of LiteScope as edges: ``.csv`` and ``.json``; its ``.vcd`` and ``.sr`` are others'.

LiteScope writes each sample twice, so that its ``scope_clk`` can be drawn: the rate of the lines is
twice that of its clock, and is not in these files.

Source: LiteScope 2024.12, as its own writers make them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.csv_sniff import first_lines
from freezeframe.capture.files.csv_table import record_batches
from freezeframe.capture.files.edges import NO_RATE, Edges
from freezeframe.capture.files.sigrok_sr import DEFAULT_MAX_SAMPLES
from freezeframe.capture.files.source import (
    MAX_SIGNAL_BITS,
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    Signal,
    bit_names,
    buses_of,
    check_probes,
    check_samples,
)

_JSON_LIMIT_B = 16 << 20  # a recorder of 64 bits and 65,536 samples makes 3 MB


def is_dump(path: str | Path) -> bool:
    """Return whether the first lines are those of a LiteScope ``.csv`` or ``.json``."""
    lines = first_lines(path)
    return bool(lines) and (_is_csv(lines) or lines[0].startswith('{"'))


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels and buses; the sample rate is that of the settings.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is no such dump.
    """
    lines = first_lines(path)
    return _header(path, _signals(path, lines), settings)


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the dump as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: the file cannot be read, holds more than ``max_samples``, or a channel cannot
            be read.
        CaptureFormatError: it is damaged.
    """
    settings.only("litescope", ())
    lines = first_lines(path)
    signals = _signals(path, lines)
    header = _header(path, signals, settings)
    chosen = check_probes(path, header, probes)
    if header.samplerate_hz is None:
        settings.say(
            f"{path}: a LiteScope dump of this kind has no sample rate; that of its lines is twice the "
            "clock of the scope"
        )
    place = {name: bit for bit, name in enumerate(chosen)}
    wanted = [
        signal
        for signal in signals
        # One that is too wide may have a bit of the name of another signal.
        if signal.width <= MAX_SIGNAL_BITS and set(bit_names(signal, signal.name)) & set(chosen)
    ]
    merger = ChangeMerger(chosen, header.samplerate_hz or NO_RATE, header.buses)
    rows = unknowns = 0
    numbers = _csv(path, signals, wanted) if _is_csv(lines) else _json(path, wanted)
    for columns, unknown in numbers:
        unknowns += unknown
        word = np.zeros(len(columns[0]), dtype=np.uint64)
        for signal, number in zip(wanted, columns, strict=True):
            for bit, name in enumerate(bit_names(signal, signal.name)):
                if name in place:
                    word |= (number >> np.uint64(bit) & np.uint64(1)) << np.uint64(place[name])
        sample = np.arange(rows, rows + len(word), dtype=np.int64)
        rows += len(word)
        check_samples(path, rows, settings.max_samples or DEFAULT_MAX_SAMPLES)
        yield from merger.feed(sample, np.full_like(word, ~np.uint64(0)), word)
        if settings.progress is not None:
            settings.progress(rows, 0)
    if not rows:
        raise CaptureFormatError(f"{path}: there is no sample in it; capture again")
    yield from merger.finish(rows)
    if unknowns:
        settings.say(f"{path}: {unknowns} values with x are read as 0")


def _is_csv(lines: Sequence[str]) -> bool:
    return (
        len(lines) >= 2
        and lines[0].endswith(",")
        and bool(re.fullmatch(r"(?:[1-9]\d{0,8},)+", lines[1]))
        and lines[0].count(",") == lines[1].count(",")
    )


def _header(path: str | Path, signals: Sequence[Signal], settings: ReadSettings) -> CaptureHeader:
    names = [signal.name for signal in signals]
    for name in names:
        if not name or names.count(name) > 1:
            raise CaptureFormatError(
                f"{path}: {names.count(name)} signals are named {name!r}; give each its own name"
            )
    fitting = [s for s in signals if 1 <= s.width <= MAX_SIGNAL_BITS]
    return CaptureHeader(
        "litescope",
        tuple(bit for signal in fitting for bit in bit_names(signal, signal.name)),
        settings.samplerate_hz,
        buses_of([(signal.name, signal) for signal in fitting]),
        {
            s.name: f"it has {s.width} bits; 1 to {MAX_SIGNAL_BITS} are read"
            for s in signals
            if s not in fitting
        },
    )


def _signals(path: str | Path, lines: Sequence[str]) -> list[Signal]:
    if _is_csv(lines):
        pairs = zip(lines[0].split(",")[:-1], lines[1].split(",")[:-1], strict=True)
        return [Signal(name, int(width), name) for name, width in pairs]
    return [
        # The file has no widths: a signal is as wide as its largest value.
        Signal(name, max(1, max(values, default=0).bit_length()), name)
        for name, values in _document(path).items()
    ]


def _document(path: str | Path) -> dict[str, list[int]]:
    text = first_bytes(path, _JSON_LIMIT_B + 1)
    if len(text) > _JSON_LIMIT_B:
        raise CaptureFormatError(
            f"{path}: more than {_JSON_LIMIT_B} B of JSON; save the dump as .csv or .vcd"
        )
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptureFormatError(f"{path}: no JSON: {error}; no dump, or cut short") from None
    if not isinstance(document, dict) or not document:
        raise CaptureFormatError(f"{path}: no object of signals with their values")
    for name, values in document.items():
        good = isinstance(values, list) and all(type(v) is int and v >= 0 for v in values)
        if not good:
            raise CaptureFormatError(f"{path}: {name!r} is not a list of whole numbers from 0")
    return document


def _json(
    path: str | Path, wanted: Sequence[Signal]
) -> Iterator[tuple[list[npt.NDArray[np.uint64]], int]]:
    document = _document(path)
    length = max(len(values) for values in document.values())
    if not length:
        return
    columns = []
    for signal in wanted:
        values = document[signal.name] or [0]
        # scope_clk lacks its last value where the samples are odd; LiteScope's other writers
        # repeat the last one.
        columns.append(np.array(values + values[-1:] * (length - len(values)), dtype=np.uint64))
    yield columns, 0


def _csv(
    path: str | Path, signals: Sequence[Signal], wanted: Sequence[Signal]
) -> Iterator[tuple[list[npt.NDArray[np.uint64]], int]]:
    names = [*(signal.name for signal in signals), " "]
    types = {signal.name: pa.string() for signal in wanted}
    rows = 0
    for batch in record_batches(path, 2, ",", names, types):
        if not len(batch):
            continue
        columns = []
        unknowns = 0
        for signal in wanted:
            cells = pc.utf8_trim_whitespace(batch.column(signal.name))
            good = pc.match_substring_regex(cells, f"^[01x]{{{signal.width}}}$").to_numpy(
                zero_copy_only=False
            )
            if not good.all():
                bad = int(np.argmin(good))
                raise CaptureFormatError(
                    f"{path}: row {rows + bad + 1}: {signal.name} is {cells[bad].as_py()[:80]!r}, "
                    f"not {signal.width} digits of 0, 1 and x"
                )
            text = np.array(cells.to_pylist(), dtype=f"S{signal.width}")
            digits = text.view(np.uint8).reshape(len(text), signal.width)
            unknowns += int((digits == ord("x")).any(axis=1).sum())
            number = np.zeros(len(text), dtype=np.uint64)
            for place in range(signal.width):
                number = number << np.uint64(1) | (digits[:, place] == ord("1")).astype(np.uint64)
            columns.append(number)
        rows += len(batch)
        yield columns, unknowns
