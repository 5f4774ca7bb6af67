"""Read Fast Signal Trace files (``.fst``) and GHW files of ghdl as edges, through pywellen.

Names and buses as in a VCD file, but bits of a bus are numbered from 0: pywellen does not give the
indices of a declaration. x and z are read as 0 unless the settings say else, and counted. An FST
is streamed in bounded memory; a GHW pywellen holds whole, so only files of up to 32 MiB are read.

What the sections say of their length is checked first (`fst_sections`); the rest is pywellen's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Full, Queue
from typing import Any

import numpy as np

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.fst_sections import end_tick
from freezeframe.capture.files.ghw import GhwWave, is_ghw
from freezeframe.capture.files.source import (
    MAX_SIGNAL_BITS,
    NO_SETTINGS,
    CaptureHeader,
    ReadSettings,
    Signal,
    bit_names,
    buses_of,
    check_channels,
    check_probes,
    check_samples,
    short_names,
    tick_rate,
)

_CHANGES_AT_ONCE = 1 << 15
_LAST_S = 9_000_000  # int64 picoseconds hold 106 days
_FS_PER_S_EXPONENT = 15

_Change = tuple[int, Any, Any]


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate of the file, without reading a value.

    Raises:
        InputError: the file cannot be read, or pywellen is not installed.
        CaptureFormatError: it is damaged.
    """
    return _opened(path, settings)[1]


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
    wave, header, named = _opened(path, settings)
    of_unknown = settings.levels_of_unknown(header.format)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz
    if rate_hz is None:
        raise CaptureFormatError(f"{path}: there is no timescale; give a tick with --samplerate")
    times, over = 1, 1
    if settings.samplerate_hz is None:
        _, times, over = tick_rate(_tick_fs(wave))
    place = {name: bit for bit, name in enumerate(chosen)}
    wanted: dict[str, list[tuple[int, int]]] = {}
    variables: dict[str, Any] = {}
    for name, signal, variable in named:
        parts = [(b, place[c]) for b, c in enumerate(bit_names(signal, name)) if c in place]
        if parts:
            known = wanted.setdefault(signal.key, [])
            known += [part for part in parts if part not in known]
            variables[signal.key] = variable
    end = 0 if header.format == "ghw" else end_tick(path) * times // over
    if end // rate_hz >= _LAST_S:
        raise CaptureFormatError(
            f"{path}: ends at {end // rate_hz} s; {_LAST_S} s is the last that picoseconds can hold"
        )
    check_samples(path, end, settings.max_samples)
    merger = ChangeMerger(chosen, rate_hz, header.buses)
    order = list(wanted)
    place_of = {key: at for at, key in enumerate(order)}
    levels = str.maketrans(
        {kind: of_unknown["z" if kind in "zZ" else "x"] for kind in "xXzZuUwW-"}
        | {"l": "0", "L": "0", "h": "1", "H": "1"}
    )
    unknowns = 0
    seen: set[str] = set()
    read = _held if header.format == "ghw" else _streamed
    latest = 0
    for changes in read(path, wave, list(variables.values())):
        time = [change[0] for change in changes]
        latest = max(time)
        if latest * times // over // rate_hz >= _LAST_S or latest * times >= 1 << 63:
            raise CaptureFormatError(f"{path}: a change at time {latest}; the file is damaged")
        numbers = [change[2] for change in changes]
        for at, number in enumerate(numbers):
            if isinstance(number, str):
                unknowns += 1
                numbers[at] = int(number.translate(levels), 2)
        bits = np.array(numbers, dtype=np.uint64)
        keys = np.array([place_of[change[1]] for change in changes])
        sample = np.array(time, dtype=np.int64) * times // over
        mask, value = np.zeros_like(bits), np.zeros_like(bits)
        for key in np.unique(keys).tolist():
            name = order[key]
            seen.add(name)
            here = keys == key
            of_key, made = bits[here], np.zeros(int(here.sum()), dtype=np.uint64)
            for bit, to in wanted[name]:
                made |= (of_key >> np.uint64(bit) & np.uint64(1)) << np.uint64(to)
            value[here] = made
            mask[here] = sum(1 << to for _, to in wanted[name])
        try:
            yield from merger.feed(sample, mask, value)
        except ValueError as error:
            raise CaptureFormatError(
                f"{path}: time {changes[error.args[1]][0]} is earlier than the one before; the "
                "file is damaged, write it again"
            ) from None
        if settings.progress is not None:
            settings.progress(int(sample[-1]), end)
    if header.format == "ghw":
        end = latest * times // over + 1  # the file has no end of its own
        check_samples(path, end, settings.max_samples)
    never = [name for name, signal, _ in named if signal.key in set(wanted) - seen]
    if never and len(seen) == 0:
        raise CaptureFormatError(f"{path}: there is no value of {', '.join(never[:3])} in it")
    yield from merger.finish(end)
    if never:
        settings.say(f"{path}: there is no value of {', '.join(never[:5])}; they are read as 0")
    if unknowns:
        settings.say(
            f"{path}: {unknowns} values with x or z are read as "
            f"x={of_unknown['x']}, z={of_unknown['z']}"
        )


def _streamed(path: str | Path, wave: Any, variables: Sequence[Any]) -> Iterator[list[_Change]]:
    """Yield changes in lists; pywellen calls back, so it runs on a thread that waits for us."""
    queue: Queue[list[_Change] | BaseException | None] = Queue(maxsize=2)
    stop = threading.Event()

    def put(item: list[_Change] | BaseException | None) -> None:
        while not stop.is_set():
            try:
                queue.put(item, timeout=0.1)
                return
            except Full:
                continue

    def run() -> None:
        held: list[_Change] = []

        def change(time: int, signal: Any, value: Any) -> None:
            nonlocal held
            held.append((time, str(signal), value))
            if len(held) >= _CHANGES_AT_ONCE:
                put(held)
                held = []
                if stop.is_set():
                    raise InterruptedError

        try:
            wave.stream_changes(change, list(variables))
            if held:
                put(held)
            put(None)
        # A panic of the library is no Exception; whatever it is, the reader must hear of it.
        except BaseException as error:
            put(error)

    thread = threading.Thread(target=run, name="fst reader", daemon=True)
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise CaptureFormatError(
                    f"{path}: {_line(item)}; the file is damaged, write it again"
                ) from None
            yield item
    finally:
        stop.set()
        thread.join()


def _held(path: str | Path, wave: GhwWave, variables: Sequence[Any]) -> Iterator[list[_Change]]:
    yield from wave.changes([variable.signal_id for variable in variables])


def _opened(
    path: str | Path, settings: ReadSettings
) -> tuple[Any, CaptureHeader, list[tuple[str, Signal, Any]]]:
    try:
        import pywellen  # type: ignore[import-untyped] # it has no types
    except ImportError:
        raise InputError(
            f"{path}: FST files are read with pywellen, which is not installed; "
            "pip install pywellen, or make a .vcd of it with fst2vcd"
        ) from None
    ghw = is_ghw(path)
    wave: Any
    declared: list[Any]
    if not ghw:
        end_tick(path)
    try:
        if ghw:
            wave = GhwWave(path)
            declared = list(wave.variables)
        else:
            wave = pywellen.Waveform(str(path), stream_only=True)
            declared = list(wave.all_vars())
    except CaptureFormatError:
        raise
    except (KeyboardInterrupt, SystemExit):
        raise
    # A panic of the library is no Exception.
    except BaseException as error:
        raise CaptureFormatError(
            f"{path}: {_line(error)}; the file is damaged, write it again"
        ) from None
    signals: list[Signal] = []
    variables = []
    refused: dict[str, str] = {}
    for variable in declared:
        width = variable.bitwidth
        key = str(variable.signal_id)
        signal = Signal(variable.full_name, width or 0, key, None if width in (None, 0, 1) else 0)
        if variable.is_real or variable.is_string or not width:
            refused[signal.name] = f"it is a {variable.var_type}, which has no bits"
        elif width > MAX_SIGNAL_BITS:
            refused[signal.name] = f"it has {width} bits; 1 to {MAX_SIGNAL_BITS} are read"
        else:
            signals.append(signal)
            variables.append(variable)
    check_channels(path, signals)
    names = short_names(signals)
    owner: dict[str, tuple[str, int]] = {}
    for name, signal in zip(names, signals, strict=True):
        for bit, channel in enumerate(bit_names(signal, name)):
            if owner.setdefault(channel, (signal.key, bit)) != (signal.key, bit):
                raise CaptureFormatError(
                    f"{path}: two variables are named {channel}; which is meant cannot be known"
                )
    rate_hz = settings.samplerate_hz
    if rate_hz is None and wave.timescale is not None:
        rate_hz = tick_rate(_tick_fs(wave))[0]
    once = dict(zip(names, signals, strict=True))
    header = CaptureHeader(
        "ghw" if ghw else "fst",
        tuple(owner),
        rate_hz,
        buses_of(list(once.items())),
        refused,
        spans_time=True,
    )
    return wave, header, list(zip(names, signals, variables, strict=True))


def _tick_fs(wave: Any) -> int:
    if isinstance(wave, GhwWave):
        factor, exponent = wave.timescale
    else:
        factor, exponent = wave.timescale.factor, wave.timescale.unit.to_exponent()
    return int(max(1, factor * 10 ** max(exponent + _FS_PER_S_EXPONENT, 0)))


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
