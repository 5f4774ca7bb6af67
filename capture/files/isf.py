"""Read Tektronix waveform files (``.isf``) as edges: one waveform, the answer to WFMOutpre? and CURVe? as it is.

A header of settings, ``BYT_NR 2;BN_FMT RI;...;`` or with their short or long paths before, then
``CURVE #<digits><bytes><data>``. A point is ``YZERO + YMULT * (number - YOFF)``, and ``XINCR`` after the
one before.

Source: Tektronix MSO4000 and DPO4000 Series Programmer Manual, and TDS200/1000/2000 Series Programmer
Manual, WFMPre and CURVe.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.bytes_of import first_bytes
from freezeframe.capture.files.edges import MAX_SAMPLERATE_HZ, Edges
from freezeframe.capture.files.levels import edges_of_levels, has_threshold, no_threshold
from freezeframe.capture.files.source import NO_SETTINGS, CaptureHeader, ReadSettings, check_probes

_HEAD_B = 1 << 14
_POINTS_AT_ONCE = 1 << 20
_CURVE = re.compile(rb"[:;]?CURVE?\s+", re.I)
# No two repeats beside or in each other match the same letters: a header of damaged paths took a minute.
_SETTING = re.compile(
    r"\s*(?::?[A-Za-z][A-Za-z0-9]*:)*+([A-Za-z]+(?:_[A-Za-z]*)?)\s+(\"[^\"]*\"|[^;]*)"
)
# Each with the least letters that stand for it.
_SETTINGS = (
    ("byt_nr", 5), ("enc", 3), ("bn_fmt", 4), ("byt_or", 5), ("wfid", 3), ("nr_pt", 4), ("pt_fmt", 4),
    ("xincr", 3), ("xunit", 3), ("ymult", 3), ("yzero", 3), ("yoff", 3), ("yunit", 3),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Wave:
    """What the header says, and where the numbers are."""

    channel: str
    kind: np.dtype[np.void]
    at_B: int
    count: int
    spacing_s: float
    y: tuple[float, float, float]  # a point is y[0] + y[1] * (number - y[2])


def read_header(path: str | Path, settings: ReadSettings = NO_SETTINGS) -> CaptureHeader:
    """Return the channel and the sample rate; the channel needs a threshold.

    Raises:
        CaptureFormatError: it is no such file, is cut, or holds what is not read.
    """
    wave = _parsed(path)
    there = has_threshold(wave.channel, settings)
    rate = 1 / wave.spacing_s
    return CaptureHeader(
        "isf",
        (wave.channel,) if there else (),
        settings.samplerate_hz or max(1, round(rate)),
        refused={} if there else {wave.channel: no_threshold(wave.channel)},
        analog=(wave.channel,) if there else (),
    )


def read_edges(
    path: str | Path, probes: Sequence[str] | None = None, settings: ReadSettings = NO_SETTINGS
) -> Iterator[Edges]:
    """Yield the waveform as edges, in pieces that follow each other; at least one.

    Raises:
        InputError: there is no threshold, or there are more than ``max_samples``.
        CaptureFormatError: as `read_header`.
    """
    settings.only("isf", ())
    header = read_header(path, settings)
    chosen = check_probes(path, header, probes)
    wave = _parsed(path)
    rate_hz = header.samplerate_hz or 1
    yield from edges_of_levels(
        path, _points(path, wave), chosen, rate_hz, settings, settings.max_samples
    )


def is_isf(head: bytes) -> bool:
    """Return whether a file with this begin is such a waveform."""
    start = head.lstrip()[:40].upper()
    return start.startswith((b":WFM", b"WFM", b"BYT_N")) and b"BYT_N" in head[:_HEAD_B].upper()


def _points(path: str | Path, wave: _Wave) -> Iterator[npt.NDArray[np.float64]]:
    zero, step, offset = wave.y
    for first in range(0, wave.count, _POINTS_AT_ONCE):
        count = min(_POINTS_AT_ONCE, wave.count - first)
        numbers = np.fromfile(path, wave.kind, count, offset=wave.at_B + first * wave.kind.itemsize)
        if len(numbers) < count:
            raise CaptureFormatError(f"{path}: became shorter while it was read")
        with np.errstate(invalid="ignore", over="ignore"):  # points that are no numbers stay so
            level = zero + step * (numbers.astype(np.float64) - offset)
        yield level.reshape(-1, 1)


def _parsed(path: str | Path) -> _Wave:
    head = first_bytes(path, _HEAD_B)
    curve = _CURVE.search(head)
    if curve is None:
        raise CaptureFormatError(
            f"{path}: no CURVE in its first {len(head)} B; no Tektronix waveform (.isf), or cut"
        )
    said: dict[str, str] = {}
    for part in re.findall(r"(?:\"[^\"]*\"|[^;\"])+", head[: curve.start()].decode("latin-1")):
        if match := _SETTING.match(part):
            word = match[1].lower()
            for name, least in _SETTINGS:
                if len(word) >= least and (name.startswith(word) or word.startswith(name)):
                    said.setdefault(name, " ".join(match[2].split()).strip('"'))
    kind = _kind(path, said)
    digits = head[curve.end() : curve.end() + 2]
    if not re.fullmatch(rb"#[1-9]", digits):
        raise CaptureFormatError(
            f"{path}: byte {curve.end():#x}: the curve begins with {digits!r}, not with # and a digit"
        )
    length_at = curve.end() + 2
    length = head[length_at : length_at + int(digits[1:])]
    if not length.isdigit() or len(length) < int(digits[1:]):
        raise CaptureFormatError(f"{path}: byte {length_at:#x}: {length!r} is no number of bytes")
    at_B, data_B = length_at + len(length), int(length)
    left_B = Path(path).stat().st_size - at_B
    if data_B > left_B:
        raise CaptureFormatError(
            f"{path}: byte {at_B:#x}: {data_B} B of the curve are promised and {left_B} B are left; the "
            "file is cut, save it again"
        )
    count = data_B // kind.itemsize
    if not count or data_B % kind.itemsize:
        raise CaptureFormatError(
            f"{path}: byte {at_B:#x}: {data_B} B are no whole number of points of {kind.itemsize} B"
        )
    spacing_s = _number(path, said, "xincr", None)
    if not 1 / MAX_SAMPLERATE_HZ <= spacing_s <= 1:
        raise CaptureFormatError(f"{path}: XINCR is {spacing_s:g} s; 1 ps to 1 s is read")
    wanted = _number(path, said, "nr_pt", float(count))
    if wanted != count:
        raise CaptureFormatError(
            f"{path}: byte {at_B:#x}: {count} points, where NR_PT says {wanted:.0f}; the file is damaged"
        )
    y = (
        _number(path, said, "yzero", 0.0),
        _number(path, said, "ymult", 1.0),
        _number(path, said, "yoff", 0.0),
    )
    channel = re.match(r"\s*([A-Za-z]+\d+)", said.get("wfid", ""))
    return _Wave(channel[1].upper() if channel else "CH1", kind, at_B, count, spacing_s, y)


def _kind(path: str | Path, said: dict[str, str]) -> np.dtype[np.void]:
    """Return the form of a number in the file."""
    if not said.get("enc", "BIN").upper().startswith("BIN"):
        raise CaptureFormatError(f"{path}: ENCDG {said['enc']}; binary waveforms are read")
    if said.get("pt_fmt", "Y").upper() != "Y":
        raise CaptureFormatError(
            f"{path}: PT_FMT {said['pt_fmt']}: lowest and highest points in pairs; save the waveform of an "
            "acquisition in sample mode"
        )
    width, kind = said.get("byt_nr", ""), said.get("bn_fmt", "RI").upper()
    letter = {"RI": "i", "RP": "u", "FP": "f"}.get(kind)
    if letter is None or width not in (("4", "8") if letter == "f" else ("1", "2", "4", "8")):
        raise CaptureFormatError(
            f"{path}: BN_FMT {kind} with BYT_NR {width or 'missing'}; RI, RP of 1, 2, 4 or 8 B and FP of 4 "
            "or 8 B are read"
        )
    order = "<" if said.get("byt_or", "MSB").upper() == "LSB" else ">"
    return np.dtype(f"{order}{letter}{width}")


def _number(path: str | Path, said: dict[str, str], name: str, default: float | None) -> float:
    text = said.get(name)
    if text is None and default is not None:
        return default
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CaptureFormatError(
            f"{path}: {name.upper()} is {(text or 'missing')[:40]}, not a number"
        )
    return value
