"""Tables of a parallel bus: items, words of items, and errors about the timing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.decoders.bus.parallel_kernels import TIMED_ROW, WORD_ROW, close_word, words
from freezeframe.decoders.columns import (
    names,
    one_name,
    one_number,
    sampled_schema,
    span_table,
    whole,
)
from freezeframe.decoders.contract import OptionValues, Texts

_ERRORS = ("", "setup", "hold")


@cache
def item_schema() -> pa.Schema:
    """Return the columns of items, one row a clock at which the bus is enabled.

    ``kind`` is ``item`` or ``error``, and then ``error`` says which. ``value`` is the 64-bit
    pattern of the lines, d0 lowest, a line that is not there 0; ``bits`` is the width. An item
    stands until the next clock, enabled or not, the last one until the end of the capture. An error
    about the timing stands between clock and change, with ``value`` -1.
    """
    return sampled_schema(
        {
            "value": pa.int64(),
            "bits": pa.int8(),
        }
    )


@cache
def word_schema() -> pa.Schema:
    """Return the columns of words of ``word_items`` items; no row where that is 0.

    ``kind`` is ``word``, or ``error`` (``cut-word``) for one that ends early, with the ``items`` so
    far. ``value`` is a 64-bit pattern, ``bits`` the width of the items that are there.
    """
    schema = item_schema()
    return schema.insert(schema.get_field_index("sample"), pa.field("items", pa.int64()))


_NO_WORDS = word_schema().empty_table()


class Items(NamedTuple):
    """Items: ``(n + 1,)`` times, the last being the end of the last item; ``(n,)`` the others.

    ``enabled`` is None where all are.
    """

    sample: npt.NDArray[np.int64]
    t_ps: npt.NDArray[np.int64]
    value: npt.NDArray[np.uint64]
    enabled: npt.NDArray[np.bool_] | None
    bits: int
    source: str

    def each_enabled(self) -> npt.NDArray[np.bool_]:
        return np.ones(len(self.value), dtype=np.bool_) if self.enabled is None else self.enabled


def item_table(items: Items) -> pa.Table:
    """Return a row of `item_schema` for each enabled item; all enabled, no column is copied."""
    value = items.value.view(np.int64)
    if items.enabled is None:
        sample, end_sample = _begins_and_ends(items.sample)
        t_ps, t_end_ps = _begins_and_ends(items.t_ps)
    else:
        sample, end_sample = (
            whole(c[items.enabled]) for c in (items.sample[:-1], items.sample[1:])
        )
        t_ps, t_end_ps = (whole(c[items.enabled]) for c in (items.t_ps[:-1], items.t_ps[1:]))
        value = value[items.enabled]
    source, kind, error, bits = _same_for_all(items.source, items.bits, len(value))
    columns = t_ps, source, kind, t_end_ps, error, whole(value), bits, sample, end_sample
    # Not `columns.table`: there is nothing to convert, and it takes three times as long.
    return pa.Table.from_arrays(columns, schema=item_schema())


def _begins_and_ends(numbers: npt.NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
    """Return all but the last and all but the first as columns, which look at the same memory: an
    item ends where the next begins."""
    count, first = max(len(numbers) - 1, 0), min(len(numbers), 1)
    kind, buffers = pa.int64(), [None, pa.py_buffer(numbers)]
    return (
        pa.Array.from_buffers(kind, count, buffers, 0),
        pa.Array.from_buffers(kind, count, buffers, 0, first),
    )


@lru_cache(maxsize=8)
def _same_for_all(source: str, bits: int, count: int) -> tuple[pa.Array, ...]:
    """Return the columns that say the same of each item; of a steady clock all pieces have as many."""
    texts = (one_name(text, count) for text in (source, "item", ""))
    return *texts, one_number(bits, count, np.int8)


def timed_table(
    items: Items,
    near: npt.NDArray[np.void],
    waiting: npt.NDArray[np.void],
    horizon: int | None,
    samplerate_hz: int,
) -> tuple[pa.Table, npt.NDArray[np.void]]:
    """Return items and errors about the timing in the order of their begin, an item first.

    Rows from ``horizon`` on wait for those to come, so that the order is that of the whole capture:
    the second value returned, which the next piece takes as ``waiting``.
    """
    enabled = items.each_enabled()
    timed = np.zeros(np.count_nonzero(enabled), dtype=TIMED_ROW)
    timed["sample"] = items.sample[:-1][enabled]
    timed["end_sample"] = items.sample[1:][enabled]
    timed["value"] = items.value[enabled].view(np.int64)
    errors = np.zeros(len(near), dtype=TIMED_ROW)
    errors["sample"] = np.minimum(near["clock"], near["change"])
    errors["end_sample"] = np.maximum(near["clock"], near["change"])
    errors["value"] = -1
    errors["error"] = near["hold"] + 1
    rows = np.concatenate((waiting, timed, errors))
    rows = rows[np.lexsort((rows["error"] > 0, rows["sample"]))]
    ready = len(rows) if horizon is None else int(np.searchsorted(rows["sample"], horizon))
    waiting = rows[ready:].copy()
    rows = rows[:ready]
    made = span_table(
        item_schema(),
        rows,
        items.source,
        samplerate_hz,
        kind=names(np.minimum(rows["error"], 1), ("item", "error")),
        error=names(rows["error"], _ERRORS),
        bits=np.full(ready, items.bits, dtype=np.int8),
    )
    return made, waiting


def word_table(
    items: Items,
    options: OptionValues,
    word: npt.NDArray[np.void],
    samplerate_hz: int,
    last: bool,
) -> pa.Table:
    """Return a row of `word_schema` for each word that ends with these items; none without words.

    ``word`` is the state of `words`.
    """
    size = options.integer("word_items")
    if not size:
        return _NO_WORDS
    rows = np.zeros(len(items.sample) + 1, dtype=WORD_ROW)
    layout = size, items.bits, int(options.text("endianness") == "big")
    clocks = items.sample[:-1], items.value, items.each_enabled()
    count = words(clocks, items.sample[1:], layout, word, rows)
    if last and len(items.sample):
        count += close_word(items.sample[-1], word[0], rows[count : count + 1])
    rows = rows[:count]
    cut = (rows["items"] < size).astype(np.int32)
    return span_table(
        word_schema(),
        rows,
        items.source,
        samplerate_hz,
        kind=names(cut, ("word", "error")),
        error=names(cut, ("", "cut-word")),
        value=rows["word"].astype(np.int64),
        bits=rows["items"] * items.bits,
    )


def parallel_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `item_schema` or `word_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}: {error}: {_ERROR_TEXTS[error]}")
    shown = f"{row['value'] & (1 << row['bits']) - 1:0{-(-row['bits'] // 4)}x}"
    return Texts(shown, shown, f"{row['source']}: {row['kind']} {shown}")


_ERROR_TEXTS = {
    "setup": "a data line changes too soon before the clock",
    "hold": "a data line changes too soon after the clock",
    "cut-word": "the bus is disabled or the capture ends inside a word",
}
