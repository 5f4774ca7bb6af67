"""Columns of text cells as numbers, all rows at once: digits of any base, numbers with units, ISO times."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from freezeframe.capture.files.edges import PS_PER_S

LONGEST_CELL = 64  # that can be a number or a time
_NO_DIGIT, _UNKNOWN = 255, 254
_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6}
_WITH_UNIT = re.compile(
    r"\s*[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d+)?\s*([pnuµμmkM]?)(s|sec|V|A)\s*"
)
_ISO = re.compile(
    r"\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,18})?\s*(?:Z|[-+]\d\d:?\d\d)?\s*"
)
_ISO_PARTS = r"^\s*(?P<s>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](?P<part>\d{1,18}))?\s*(?:Z|[-+]\d\d:?\d\d)?\s*$"
_PS_DIGITS = 12


def _digit_table() -> npt.NDArray[np.uint8]:
    table = np.full(256, _NO_DIGIT, dtype=np.uint8)
    for value, letters in enumerate(
        ("0", "1", *"23456789", *(f"{c}{c.upper()}" for c in "abcdef"))
    ):
        table[[ord(letter) for letter in letters]] = value
    table[[ord(letter) for letter in "xXzZ-"]] = _UNKNOWN
    return table


_DIGITS = _digit_table()


def is_iso(cell: str) -> bool:
    return len(cell) <= LONGEST_CELL and _ISO.fullmatch(cell) is not None


def has_unit(cell: str) -> bool:
    return len(cell) <= LONGEST_CELL and _WITH_UNIT.fullmatch(cell) is not None


def digits(cells: Any, base: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_], int]:
    """Return the numbers that text cells of up to 64 bits are, with ``0x`` before or ``h`` behind or not.

    Returns:
        ``(n,)`` numbers, x and z being 0; which cells have x or z; and the first cell that is none
        of this or too large, -1 where all are good.
    """
    cells = pc.utf8_trim_whitespace(cells)
    _, offsets, data = cells.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[cells.offset : cells.offset + len(cells) + 1]
    text = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    begin, end = ends[:-1].astype(np.int64), ends[1:].astype(np.int64)
    if base == 16 and len(text):
        last, second = (
            text[np.maximum(end - 1, 0)] | 32,
            text[np.minimum(begin + 1, len(text) - 1)] | 32,
        )
        end = end - ((end - begin > 1) & (last == ord("h")))
        begin = begin + 2 * (
            (end - begin > 2)
            & (second == ord("x"))
            & (text[np.minimum(begin, len(text) - 1)] == ord("0"))
        )
    number = np.zeros(len(begin), dtype=np.uint64)
    unknown = np.zeros(len(begin), dtype=np.bool_)
    bad = end <= begin
    bits = np.uint64(base.bit_length() - 1)
    most = int((end - begin).max(initial=0))
    for place in range(min(most, 64)):
        at = end - 1 - place
        here = at >= begin
        digit = np.where(here, _DIGITS[text[np.maximum(at, 0)]], 0).astype(np.uint64)
        unknown |= digit == _UNKNOWN
        bad |= (digit >= base) & (digit != _UNKNOWN)
        digit[digit >= base] = 0
        shift = np.uint64(place) * bits
        if int(shift) < 64:
            number |= digit << shift
            bad |= digit << shift >> shift != digit
        else:
            bad |= digit != 0
    if most > 64:
        bad |= end - begin > 64
    return number, unknown, int(np.argmax(bad)) if bad.any() else -1


def signed(cells: Any, bits: int) -> npt.NDArray[np.uint64]:
    """Return decimal numbers that may be negative as they stand in so many bits, ``(n,)``.

    Raises:
        pa.ArrowInvalid: a cell is no such number.
    """
    number = np.asarray(
        pc.utf8_trim_whitespace(cells).cast(pa.int64()).to_numpy(zero_copy_only=False)
    )
    return number.view(np.uint64) & np.uint64((1 << bits) - 1)


def with_units(cells: Any, decimal: str) -> npt.NDArray[np.float64]:
    """Return numbers with units of seconds or volts (``4.860 us``, ``0,3 mV``) in the plain unit, ``(n,)``.

    A cell that is none is not a number.
    """
    parts = pc.extract_regex(
        cells, r"^\s*(?P<n>[-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*(?P<p>[pnuµμmkM]?)(?:s|sec|V|A)?\s*$"
    )
    numbers = pc.struct_field(parts, "n")
    if decimal == ",":
        numbers = pc.replace_substring(pc.replace_substring(numbers, ".", ""), ",", ".")
    good = pc.match_substring_regex(numbers, r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")
    plain = pc.if_else(good, numbers, pa.scalar(None, pa.string())).cast(pa.float64())
    prefixes = pc.dictionary_encode(pc.fill_null(pc.struct_field(parts, "p"), ""))
    scales = np.array([_PREFIXES.get(p, 1.0) for p in prefixes.dictionary.to_pylist()] or [1.0])
    scale = scales[np.asarray(prefixes.indices)]
    values: npt.NDArray[np.float64] = np.asarray(plain.to_numpy(zero_copy_only=False), np.float64)
    scaled: npt.NDArray[np.float64] = values * scale
    return scaled


def iso_ps(cells: Any, begin_s: int) -> npt.NDArray[np.int64]:
    """Return ISO 8601 times as picoseconds after the second ``begin_s`` of 1970, ``(n,)``; -1 for a cell
    that is none. Time zones are those of the first row: a log does not change them."""
    parts = pc.extract_regex(cells, _ISO_PARTS)
    seconds = pc.replace_substring(pc.struct_field(parts, "s"), "T", " ")
    whole = pc.strptime(seconds, format="%Y-%m-%d %H:%M:%S", unit="s", error_is_null=True)
    part = pc.fill_null(pc.struct_field(parts, "part"), "")
    part = pc.utf8_slice_codeunits(pc.utf8_rpad(part, _PS_DIGITS, "0"), 0, _PS_DIGITS)
    ps = np.asarray(part.cast(pa.int64()).to_numpy(zero_copy_only=False))
    s = np.asarray(pc.fill_null(whole.cast(pa.int64()), begin_s - 1).to_numpy(zero_copy_only=False))
    after = s - begin_s
    far = (after < 0) | (after > 9_000_000)
    return np.where(far, -1, np.where(far, 0, after) * PS_PER_S + ps)


def iso_second(cell: str) -> int:
    """Return the second of 1970 of an ISO 8601 time, which is one."""
    stamp = np.datetime64(cell.strip()[:19].replace(" ", "T"), "s")
    return int(stamp.astype(np.int64))
