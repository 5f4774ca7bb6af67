"""Read Value Change Dump files (``.vcd``) as edges, in memory that does not depend on their length.

A tick of the file is a sample wherever a second has a whole number of them. A vector is a bus of
the channels ``NAME[0]`` and so on. x and z are read as 0 unless the settings say else, and counted; of
VHDL's nine values L and H are 0 and 1, and U, W and - are x. A real variable is a channel where it has
a threshold.

Source: IEEE 1364-2005 clause 18.2 (four-state VCD); IEEE 1164-1993 (the values of std_ulogic).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files._vcd_kernels import VCD_ERRORS, VCD_STATE, read_changes
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import NO_RATE, PS_PER_S, Edges
from freezeframe.capture.files.levels import no_threshold
from freezeframe.capture.files.source import (
    MAX_SIGNAL_BITS,
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    Signal,
    aliases_of,
    bit_names,
    buses_of,
    channels_of,
    check_channels,
    check_probes,
    check_samples,
    named_signals,
    tick_rate,
)
from freezeframe.capture.files.threshold import Threshold

_HEADER_LIMIT_B = 8 << 20  # some 200,000 variables
_PIECE_B = 1 << 20
_ID_LIMIT = 8  # characters; 94**8 variables have room
_LAST_S = 9_000_000  # about 104 days; int64 picoseconds hold 106
_UNITS_FS = {"s": 10**15, "ms": 10**12, "us": 10**9, "ns": 10**6, "ps": 10**3, "fs": 1}
_REAL = ("real", "realtime", "real_parameter", "shortreal")
_NO_BITS = ("string", "event")
_COMMAND = re.compile(rb"\$(\w+)\b(.*?)\$end(?=\s|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Dump:
    """Header of a file: where its values begin, and its variables as ``(channel name, signal)``."""

    begin_B: int
    header: CaptureHeader
    tick_fs: int | None
    signals: tuple[tuple[str, Signal], ...]
    widths: dict[str, int]
    reals: frozenset[str]  # identifiers


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate of the file, without reading a value.

    Raises:
        InputError: the file cannot be read.
        CaptureFormatError: it is no VCD file, or its header is cut or makes no sense.
    """
    with open_file(path) as file:
        return _dump(path, file, settings).header


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the file as edges, in pieces that follow each other; at least one.

    Settings of the layout: ``x`` and ``z``, 0 or 1, what these are read as.

    Raises:
        InputError: the file cannot be read, holds more than ``max_samples``, or a channel cannot
            be read.
        CaptureFormatError: it is damaged; for the values this comes when they are reached, so take
            no result before the last piece.
    """
    of_unknown = settings.levels_of_unknown("vcd")
    levels = (np.uint64(int(of_unknown["x"])), np.uint64(int(of_unknown["z"])))
    with open_file(path) as file:
        dump = _dump(path, file, settings)
        chosen = check_probes(path, dump.header, probes)
        rate_hz = dump.header.samplerate_hz or NO_RATE
        yield from _body(path, file, dump, chosen, rate_hz, levels, settings)


def _body(
    path: str | Path,
    file: IO[bytes],
    dump: _Dump,
    chosen: Sequence[str],
    rate_hz: int,
    levels: tuple[np.uint64, np.uint64],
    settings: ReadSettings,
) -> Iterator[Edges]:
    times, over = 1, 1
    if dump.tick_fs is not None and settings.samplerate_hz is None:
        _, times, over = tick_rate(dump.tick_fs)
    signals, segments = _tables(dump, chosen)
    volts = _volts(dump, settings)
    merger = ChangeMerger(chosen, rate_hz, dump.header.buses)
    state = np.zeros(1, dtype=VCD_STATE)
    state["time"] = -1
    now = state[0]
    room = _PIECE_B // 2 + 2
    sample, value = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.uint64)
    length_B = file.seek(0, 2)
    at_B = file.seek(dump.begin_B)
    ended = False
    while not ended:
        data = file.read(_PIECE_B)
        ended = not data
        if b"\0" in data:  # what a file is filled up with whose writer, or disk, stopped
            raise CaptureFormatError(
                f"{path}: byte {at_B + data.index(0):#x}: a byte 00 in text; what stood there was "
                "lost, write the file again"
            )
        # Blank after the last byte, so that a value without a line end is a value.
        raw = np.frombuffer(data or b"\n", dtype=np.uint8)
        count, error, where = read_changes(
            raw, state, signals, segments, levels, volts, sample, value
        )
        if error:
            raise CaptureFormatError(
                f"{path}: byte {at_B + where:#x}: "
                f"{VCD_ERRORS[error].format(detail=int(now['detail']))}; the file is damaged, "
                "write it again"
            )
        at_B += len(data)
        end = max(int(now["time"]), 0) * times // over
        if end // (rate_hz or PS_PER_S) >= _LAST_S or int(now["time"]) * times >= 1 << 63:
            raise CaptureFormatError(
                f"{path}: byte {at_B:#x}: time {int(now['time'])} is later than {_LAST_S} s, the "
                "last time that picoseconds can hold"
            )
        check_samples(path, end, settings.max_samples)
        if settings.progress is not None:
            settings.progress(at_B, length_B)
        yield from _pieces(merger, sample[:count] * times // over, value[:count].copy())
    if not int(now["stage"]):
        raise CaptureFormatError(
            f"{path}: there is no value of {', '.join(chosen[:3])} in it; it was cut short, or "
            "nothing was dumped"
        )
    if int(now["mode"]):
        raise CaptureFormatError(
            f"{path}: byte {at_B:#x}: the file ends in the middle of a value; it was cut short"
        )
    yield from _pieces(merger, np.array([end]), np.array([now["word"]], dtype=np.uint64))
    yield from merger.finish(end)
    if int(now["unknowns"]):
        settings.say(
            f"{path}: {int(now['unknowns'])} values with x or z are read as x={int(levels[0])}, "
            f"z={int(levels[1])}"
        )


def _pieces(
    merger: ChangeMerger, sample: npt.NDArray[np.int64], value: npt.NDArray[np.uint64]
) -> Iterator[Edges]:
    return merger.feed(sample, np.full_like(value, ~np.uint64(0)), value)


def _tables(
    dump: _Dump, chosen: Sequence[str]
) -> tuple[
    tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int64]],
    tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]],
]:
    """Return what the kernel takes: all identifiers, and the parts of each that are wanted."""
    place = {name: bit for bit, name in enumerate(chosen)}
    wanted: dict[str, dict[int, int]] = {}
    for name, signal in dump.signals:
        for bit, channel in enumerate(bit_names(signal, name)):
            if channel in place:
                wanted.setdefault(signal.key, {})[bit] = place[channel]
    keys = _ordered(dump)
    parts: list[tuple[int, int, int]] = []
    begins = [0]
    for key in keys:
        run: list[tuple[int, int]] = []
        for bit, to in sorted(wanted.get(key, {}).items()):
            if run and (bit, to) != (run[-1][0] + 1, run[-1][1] + 1):
                parts.append((*run[0], (1 << len(run)) - 1))
                run = []
            run.append((bit, to))
        if run:
            parts.append((*run[0], (1 << len(run)) - 1))
        begins.append(len(parts))
    table = np.array(parts, dtype=np.uint64).reshape(-1, 3)
    return (
        (
            np.array([int.from_bytes(key.encode("latin-1")) for key in keys], dtype=np.uint64),
            np.array([dump.widths[key] for key in keys], dtype=np.int64),
            np.array(begins, dtype=np.int64),
        ),
        (table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy()),
    )


def _volts(
    dump: _Dump, settings: ReadSettings
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the thresholds of the identifiers in the order of `_tables`; nan for those of bits."""
    of_key = {
        signal.key: _threshold(settings, signal.name)
        for _, signal in dump.signals
        if signal.key in dump.reals
    }
    thresholds = [of_key.get(key) for key in _ordered(dump)]
    return (
        np.array([np.nan if each is None else each.high_V for each in thresholds]),
        np.array([np.nan if each is None else each.low_V for each in thresholds]),
    )


def _threshold(settings: ReadSettings, name: str) -> Threshold | None:
    """Return the threshold for a real variable, by its whole name or its last part."""
    volts = settings.thresholds
    return volts.get(name) or volts.get(name.rpartition(".")[2]) or volts.get("")


def _ordered(dump: _Dump) -> list[str]:
    """Return the identifiers as the kernel looks for them."""
    return sorted(dump.widths, key=lambda key: int.from_bytes(key.encode("latin-1")))


def _dump(path: str | Path, file: IO[bytes], settings: ReadSettings) -> _Dump:
    """Parse the header; the file stands anywhere afterwards."""
    file.seek(0)
    text = file.read(_HEADER_LIMIT_B)
    at = text.find(b"$enddefinitions")
    end = text.find(b"$end", at + 4) if at >= 0 else -1
    if end < 0:
        if not text:
            raise CaptureFormatError(f"{path}: the file is empty")
        if len(text) == _HEADER_LIMIT_B:
            raise CaptureFormatError(
                f"{path}: no $enddefinitions in the first {_HEADER_LIMIT_B} B; no VCD file, or "
                "one of too many variables: dump fewer"
            )
        raise CaptureFormatError(
            f"{path}: no $enddefinitions in its {len(text)} B; no VCD file, or cut short"
        )
    # The command's own $end, not the one inside its name.
    end = text.find(b"$end", at + len(b"$enddefinitions"))
    scopes: list[str] = []
    signals: list[Signal] = []
    widths: dict[str, int] = {}
    refused: dict[str, str] = {}
    tick_fs: int | None = None
    reals: set[str] = set()
    for match in _COMMAND.finditer(text, 0, at):
        words = match[2].decode("utf-8", "replace").split()
        where = f"{path}: byte {match.start():#x}"
        match match[1]:
            case b"scope":
                scopes.append(words[-1] if words else "")
            case b"upscope" | b"unscope":  # LiteScope writes the second
                if scopes:
                    scopes.pop()
            case b"timescale":
                tick_fs = _tick_fs(where, "".join(words))
            case b"var":
                signal, why = _variable(where, words, scopes)
                if words[0] in _REAL and _threshold(settings, signal.name) is not None:
                    reals.add(signal.key)
                    why = ""
                if widths.setdefault(signal.key, signal.width) != signal.width:
                    raise CaptureFormatError(
                        f"{where}: identifier {signal.key} is a variable of {signal.width} bits "
                        f"and one of {widths[signal.key]}"
                    )
                if why:
                    refused[signal.name] = why
                else:
                    signals.append(signal)
    check_channels(path, signals)
    named = named_signals(path, signals)
    rate_hz = settings.samplerate_hz
    if rate_hz is None and tick_fs is not None:
        rate_hz = tick_rate(tick_fs)[0]
    once = {name: (name, signal) for name, signal in named}
    header = CaptureHeader(
        "vcd",
        channels_of(named),
        rate_hz,
        buses_of(list(once.values())),
        refused,
        spans_time=True,
        analog=tuple(name for name, signal in named if signal.key in reals),
        aliases=aliases_of(named),
    )
    return _Dump(end + len(b"$end"), header, tick_fs, tuple(named), widths, frozenset(reals))


def _tick_fs(where: str, text: str) -> int:
    match = re.fullmatch(r"(\d{1,9})(s|ms|us|ns|ps|fs)", text)
    if not match or not int(match[1]):
        raise CaptureFormatError(f"{where}: timescale {text[:40]!r}; a number with s..fs is needed")
    return int(match[1]) * _UNITS_FS[match[2]]


def _variable(where: str, words: Sequence[str], scopes: Sequence[str]) -> tuple[Signal, str]:
    """Return a variable, and why it cannot be read, or nothing."""
    if len(words) < 4 or not words[1].isdecimal() or len(words[1]) > 18:
        raise CaptureFormatError(
            f"{where}: $var {' '.join(words)[:60]!r} is not: type, width, identifier, name"
        )
    kind, width, key = words[0], int(words[1]), words[2]
    if len(key) > _ID_LIMIT or not all(33 <= ord(char) < 127 for char in key):
        raise CaptureFormatError(
            f"{where}: an identifier of {len(key)} characters; 1 to {_ID_LIMIT} printable ones "
            "are read"
        )
    match = re.fullmatch(r"(.*?)(?:\[(-?\d{1,9})(?::(-?\d{1,9}))?\])?", "".join(words[3:]))
    name, left, right = match.groups() if match else ("".join(words[3:]), None, None)
    full = ".".join([*scopes, name])
    high = int(left) if left is not None else None
    low = int(right) if right is not None else high
    if kind in _REAL:
        # A bit, where it has a threshold.
        return Signal(full, 1, key), no_threshold(name)
    if kind in _NO_BITS:
        return Signal(full, width, key, low), f"it is a {kind}, which has no bits"
    if right is not None and abs((high or 0) - (low or 0)) + 1 != width:
        raise CaptureFormatError(
            f"{where}: {name}[{left}:{right}] has not the {width} bits it says"
        )
    if left is not None and right is None and width != 1:
        low = None
        full += f"[{left}]"
    signal = Signal(full, width, key, low, -1 if (high or 0) < (low or 0) else 1)
    if not 1 <= width <= MAX_SIGNAL_BITS:
        return signal, f"it has {width} bits; 1 to {MAX_SIGNAL_BITS} are read"
    return signal, ""
