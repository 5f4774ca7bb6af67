"""Read Fast Signal Trace files (``.fst``) and GHW files of ghdl as edges, through pywellen.

Names and buses as in a VCD file, but bits of a bus are numbered from 0: pywellen does not give the
indices of a declaration. x and z are read as 0 unless the settings say else, and counted; of VHDL's
nine values L and H are 0 and 1, and U, W and - are x. An FST is streamed in bounded memory; a GHW
pywellen holds whole, so only files of up to 32 MiB are read.

What the sections say of their length is checked first (`fst_sections`); the rest is pywellen's, in a
process of its own (`wave_worker`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError, InputError
from freezeframe.capture.files.bytes_of import open_file
from freezeframe.capture.files.changes import ChangeMerger
from freezeframe.capture.files.edges import NO_RATE, PS_PER_S, Edges
from freezeframe.capture.files.fst_sections import end_tick, whole_fst
from freezeframe.capture.files.marks import GHW_MARK
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
from freezeframe.capture.files.wave_worker import Changes, Wave

_GHW_LIMIT_B = 1 << 25  # pywellen holds it whole, ten times as large
_LAST_S = 9_000_000  # int64 picoseconds hold 106 days
_FS_PER_S_EXPONENT = 15
_KNOWN = set("01lLhH")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A file with its header, its signals as they are shown, and the femtoseconds of a tick."""

    wave: Wave
    file: Path
    header: CaptureHeader
    named: Sequence[tuple[str, Signal]]
    tick_fs: int


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channels, buses and sample rate of the file, without reading a value.

    Raises:
        InputError: the file cannot be read, or pywellen is not installed.
        CaptureFormatError: it is damaged.
    """
    return _opened(path, settings).header


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
    opened = _opened(path, settings)
    header = opened.header
    of_unknown = settings.levels_of_unknown(header.format)
    chosen = check_probes(path, header, probes)
    rate_hz = header.samplerate_hz or NO_RATE
    times, over = 1, 1
    if settings.samplerate_hz is None and opened.tick_fs:
        _, times, over = tick_rate(opened.tick_fs)
    place = {name: bit for bit, name in enumerate(chosen)}
    wanted: dict[str, list[tuple[int, int]]] = {}
    for name, signal in opened.named:
        parts = [(b, place[c]) for b, c in enumerate(bit_names(signal, name)) if c in place]
        if parts:
            known = wanted.setdefault(signal.key, [])
            known += [part for part in parts if part not in known]
    end = 0 if header.format == "ghw" else end_tick(path, opened.file) * times // over
    if end // (rate_hz or PS_PER_S) >= _LAST_S:
        raise CaptureFormatError(
            f"{path}: ends at {end // (rate_hz or PS_PER_S)} s; {_LAST_S} s is the last that "
            "picoseconds can hold"
        )
    check_samples(path, end, settings.max_samples)
    merger = ChangeMerger(chosen, rate_hz, header.buses)
    levels = str.maketrans(
        {kind: of_unknown["z" if kind in "zZ" else "x"] for kind in "xXzZuUwW-"}
        | {"l": "0", "L": "0", "h": "1", "H": "1"}
    )
    unknowns = latest = 0
    seen: set[int] = set()
    for changes in opened.wave.changes(list(wanted)):
        if not len(changes.time):
            continue
        latest = int(changes.time.max())
        if latest * times // over // (rate_hz or PS_PER_S) >= _LAST_S or latest * times >= 1 << 63:
            raise CaptureFormatError(f"{path}: a change at time {latest}; the file is damaged")
        unknowns += sum(1 for text in changes.texts.values() if set(text) - _KNOWN)
        seen.update(np.unique(changes.signal).tolist())
        bits = changes.value.copy()
        for row, text in changes.texts.items():
            bits[row] = int(text.translate(levels), 2)
        sample = changes.time.astype(np.int64) * times // over
        try:
            yield from merger.feed(sample, *_word(changes, bits, list(wanted.values())))
        except ValueError as error:
            raise CaptureFormatError(
                f"{path}: time {int(changes.time[error.args[1]])} is earlier than the one before; "
                "the file is damaged, write it again"
            ) from None
        if settings.progress is not None:
            settings.progress(int(sample[-1]), end)
    if header.format == "ghw":
        end = latest * times // over + 1  # the file has no end of its own
        check_samples(path, end, settings.max_samples)
    keys = {key for at, key in enumerate(wanted) if at not in seen}
    never = [name for name, signal in opened.named if signal.key in keys]
    if never and not seen:
        raise CaptureFormatError(f"{path}: there is no value of {', '.join(never[:3])} in it")
    yield from merger.finish(end)
    if never:
        settings.say(f"{path}: there is no value of {', '.join(never[:5])}; they are read as 0")
    if unknowns:
        settings.say(
            f"{path}: {unknowns} values with x or z are read as "
            f"x={of_unknown['x']}, z={of_unknown['z']}"
        )


def _word(
    changes: Changes, bits: npt.NDArray[np.uint64], wanted: Sequence[Sequence[tuple[int, int]]]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return which bits of the word each change gives, and what they are; ``wanted[signal]`` has the
    bits of a signal and where they go."""
    mask, value = np.zeros_like(bits), np.zeros_like(bits)
    for number in np.unique(changes.signal).tolist():
        here = changes.signal == number
        of_signal, made = bits[here], np.zeros(int(here.sum()), dtype=np.uint64)
        for bit, to in wanted[number]:
            made |= (of_signal >> np.uint64(bit) & np.uint64(1)) << np.uint64(to)
        value[here] = made
        mask[here] = sum(1 << to for _, to in wanted[number])
    return mask, value


def _opened(path: str | Path, settings: ReadSettings) -> _Opened:
    ghw = _is_ghw(path)
    file = Path(path) if ghw else whole_fst(path)
    if not ghw:
        end_tick(path, file)
    wave = Wave(path, file, "ghw" if ghw else "fst")
    signals: list[Signal] = []
    refused: dict[str, str] = {}
    for variable in wave.variables:
        width = variable.bitwidth
        key = variable.signal_id
        signal = Signal(variable.full_name, width or 0, key, None if width in (None, 0, 1) else 0)
        if variable.is_real or variable.is_string or not width:
            refused[signal.name] = f"it is a {variable.var_type}, which has no bits"
        elif width > MAX_SIGNAL_BITS:
            refused[signal.name] = f"it has {width} bits; 1 to {MAX_SIGNAL_BITS} are read"
        else:
            signals.append(signal)
    check_channels(path, signals)
    named = named_signals(path, signals)
    tick_fs = 0
    if wave.timescale is not None:
        factor, exponent = wave.timescale
        tick_fs = int(max(1, factor * 10 ** max(exponent + _FS_PER_S_EXPONENT, 0)))
    rate_hz = settings.samplerate_hz or (tick_rate(tick_fs)[0] if tick_fs else None)
    header = CaptureHeader(
        "ghw" if ghw else "fst",
        channels_of(named),
        rate_hz,
        buses_of(list(dict(named).items())),
        refused,
        spans_time=True,
        aliases=aliases_of(named),
    )
    return _Opened(wave, file, header, named, tick_fs)


def _is_ghw(path: str | Path) -> bool:
    """Return whether it is a GHW file, of a size that can be read.

    Raises:
        InputError: it is larger, or cannot be read.
    """
    with open_file(path) as file:
        if file.read(len(GHW_MARK)) != GHW_MARK:
            return False
        size_B = file.seek(0, 2)
    if size_B > _GHW_LIMIT_B:
        raise InputError(
            f"{path}: {size_B} B; GHW files of up to {_GHW_LIMIT_B} B are read, because they are held "
            "in memory; let ghdl write --fst=FILE"
        )
    return True
