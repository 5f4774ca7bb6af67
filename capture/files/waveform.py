"""Read waveforms that an instrument handed over: bytes with the preambles that say what they mean.

A folder with ``waveform.json`` and a file of bytes for each trace. Digital channels are bits of a
byte; analog ones need a threshold. Traces may have different rates and begin at different times.

Source: docs/formats.md section 7; the meaning of the preamble is that of the instrument's dialect.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.files.changes import BlockChanges, ChangeMerger, merge_blocks
from freezeframe.capture.files.edges import MAX_SAMPLERATE_HZ, PS_PER_S, Edges
from freezeframe.capture.files.levels import has_threshold, no_threshold, thresholder
from freezeframe.capture.files.source import (
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    check_probes,
    check_samples,
)

WAVEFORM = "waveform.json"
WAVEFORM_FORMAT = ("freezeframe-waveform", 1)

_LIMIT_B = 1 << 20
_POINTS_AT_ONCE = 1 << 18
_LAST_S = 9_000_000.0


@dataclass(frozen=True, slots=True)
class _Trace:
    """A file of bytes: its channels, the first time and the spacing, and how bytes are volts."""

    file: Path
    channels: tuple[str, ...]
    analog: bool
    points: int
    begin_s: float
    spacing_s: float
    y: tuple[float, float]  # volts = byte * y[0] + y[1]


def is_waveform(path: Path) -> bool:
    """Return whether a folder is such a capture."""
    return (path / WAVEFORM).is_file()


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels and the sample rate; an analog channel needs a threshold.

    Raises:
        CaptureFormatError: a file is missing or has not the bytes that the preamble says.
    """
    return _header(_traces(Path(path)), settings)


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the waveforms as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: a channel cannot be read, or there are more than ``max_samples``.
        CaptureFormatError: as `read_header`.
    """
    settings.only("waveform", ())
    traces = _traces(Path(path))
    header = _header(traces, settings)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz or PS_PER_S
    used = [trace for trace in traces if set(trace.channels) & set(chosen)]
    zero_s = min(trace.begin_s for trace in used)
    ends = [_sample(trace, zero_s, rate_hz, np.array([trace.points]))[0] for trace in used]
    check_samples(path, int(max(ends)), settings.max_samples)
    merger = ChangeMerger(chosen, rate_hz)
    # All traces are gone through in the same stretches of time, so that memory is bounded.
    parts = [_Changes(trace, chosen, zero_s, rate_hz, settings) for trace in used]
    yield from merge_blocks(parts, merger, int(max(ends)), settings.progress)


class _Changes(BlockChanges):
    """The changes of one trace, read in blocks."""

    def __init__(
        self,
        trace: _Trace,
        chosen: Sequence[str],
        zero_s: float,
        rate_hz: int,
        settings: ReadSettings,
    ) -> None:
        self._trace, self._zero_s, self._rate_hz = trace, zero_s, rate_hz
        places = [(bit, chosen.index(c)) for bit, c in enumerate(trace.channels) if c in chosen]
        self._bits = [(np.uint64(bit), np.uint64(to)) for bit, to in places]
        super().__init__(sum(1 << to for _, to in places))
        self._level = thresholder(trace.channels[0], settings) if trace.analog else None
        self._done = 0
        self._last: int | None = None

    @property
    def unread(self) -> bool:
        return self._done < self._trace.points

    def read_block(self) -> None:
        count = min(_POINTS_AT_ONCE, self._trace.points - self._done)
        raw = np.fromfile(self._trace.file, np.uint8, count, offset=self._done)
        if len(raw) < count:
            raise CaptureFormatError(f"{self._trace.file}: became shorter while it was read")
        value = self._word(raw)
        keep = np.ones(count, dtype=np.bool_)
        keep[1:] = value[1:] != value[:-1]
        keep[0] = self._last is None or int(value[0]) != self._last
        self._last = int(value[-1])
        index = np.arange(self._done, self._done + count)
        self.sample = _sample(self._trace, self._zero_s, self._rate_hz, index[keep])
        self.value = value[keep]
        self._done += count
        end = _sample(self._trace, self._zero_s, self._rate_hz, index[-1:])
        self.newest = int(end[0])

    def _word(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
        if self._level is not None:
            scale, offset = self._trace.y
            number = self._level.feed(raw * scale + offset)
        else:
            number = raw.astype(np.uint64)
        word = np.zeros(len(raw), dtype=np.uint64)
        for bit, to in self._bits:
            word |= (number >> bit & np.uint64(1)) << to
        return word


def _sample(
    trace: _Trace, zero_s: float, rate_hz: int, index: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the sample of each point; with one rate for all, the number of the point."""
    ahead = np.rint((trace.begin_s - zero_s) * rate_hz)
    step = trace.spacing_s * rate_hz
    exact = index if abs(step - 1) < 1e-6 else np.rint(index * step)
    return np.asarray(ahead + exact, dtype=np.int64)


def _header(traces: Sequence[_Trace], settings: ReadSettings) -> CaptureHeader:
    channels: list[str] = []
    refused: dict[str, str] = {}
    for trace in traces:
        name = trace.channels[0]
        if trace.analog and not has_threshold(name, settings):
            refused[name] = no_threshold(name)
        else:
            channels += trace.channels
    rate_hz = settings.samplerate_hz
    if rate_hz is None:
        rates = {1 / trace.spacing_s for trace in traces}
        rate = rates.pop() if len(rates) == 1 else 0.0
        whole = round(rate)
        near = 1 <= whole <= MAX_SAMPLERATE_HZ and abs(rate - whole) <= 1e-6 * rate
        rate_hz = whole if near else PS_PER_S
    analog = {trace.channels[0] for trace in traces if trace.analog}
    return CaptureHeader(
        "waveform",
        tuple(channels),
        rate_hz,
        refused=refused,
        spans_time=True,
        analog=tuple(name for name in channels if name in analog),
    )


def _traces(path: Path) -> list[_Trace]:
    where = path / WAVEFORM
    text = first_bytes(where, _LIMIT_B + 1)
    try:
        if len(text) > _LIMIT_B:
            raise ValueError(f"more than {_LIMIT_B} B")
        index = json.loads(text)
        if tuple(index["format"]) != WAVEFORM_FORMAT:
            raise ValueError(f"format is {index['format']!r}, not {list(WAVEFORM_FORMAT)}")
        traces = [_trace(path, each, index["fields"], index["volts"]) for each in index["traces"]]
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise CaptureFormatError(f"{where}: no waveforms: {what}; capture again") from None
    names = [name for trace in traces for name in trace.channels]
    if not names or len(set(names)) < len(names):
        raise CaptureFormatError(f"{where}: no channel, or one of them twice; capture again")
    for trace in traces:
        try:
            size_B = trace.file.stat().st_size
        except OSError as error:
            raise CaptureFormatError(f"{trace.file}: {error.strerror}; capture again") from None
        if size_B != trace.points:
            raise CaptureFormatError(
                f"{trace.file}: {size_B} B, and the preamble says {trace.points} points of a byte"
            )
    return traces


def _trace(path: Path, stated: Any, fields: Sequence[str], volts: str) -> _Trace:
    numbers = dict(zip(fields, map(float, str(stated["preamble"]).split(",")), strict=True))
    file = stated["file"]
    if not isinstance(file, str) or Path(file).name != file or "\0" in file:
        raise ValueError(f"{file!r} is not the name of a file")
    points, spacing_s = numbers["points"], numbers["x_increment_s"]
    begin_s = numbers["x_origin_s"] - numbers["x_reference"] * spacing_s
    if not all(map(math.isfinite, numbers.values())) or not points.is_integer() or points < 1:
        raise ValueError(f"preamble {stated['preamble'][:80]!r}")
    if not 1e-12 <= spacing_s <= 1 or abs(begin_s) + points * spacing_s > _LAST_S:
        raise ValueError(f"{points:g} points each {spacing_s:g} s from {begin_s:g} s on")
    analog = stated["bits_per_byte"] == 0
    y = (0.0, 0.0)
    if analog:
        scale, origin = numbers["y_increment_V"], numbers["y_origin_V"]
        reference = numbers["y_reference"]
        y = (
            (scale, origin - reference * scale)
            if volts == "reference"
            else (scale, -(origin + reference) * scale)
        )
    channels = tuple(map(str, stated["channels"]))
    if not 1 <= len(channels) <= max(1, stated["bits_per_byte"]) <= 8:
        raise ValueError(f"{len(channels)} channels in a byte of {stated['bits_per_byte']}")
    return _Trace(path / file, channels, analog, int(points), begin_s, spacing_s, y)
