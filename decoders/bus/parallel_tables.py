"""Tables of a parallel bus: items, words of items, and errors about the timing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.decoders.bus.parallel import item_schema, word_schema
from freezeframe.decoders.bus.parallel_kernels import TIMED_ROW, WORD_ROW, close_word, words
from freezeframe.decoders.columns import names, one_name, one_number, table, whole

if TYPE_CHECKING:
    from freezeframe.decoders.bus.parallel_stream import ParallelState
    from freezeframe.decoders.contract import OptionValues

__all__ = ["Items", "item_table", "timed_table", "word_table"]

_ERRORS = ("", "setup", "hold")
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
    state: ParallelState,
    horizon: int | None,
    samplerate_hz: int,
) -> pa.Table:
    """Return items and errors about the timing in the order of their begin, an item first.

    Rows from ``horizon`` on wait for those to come, so that the order is that of the whole capture.
    """
    enabled = items.each_enabled()
    found = np.zeros(np.count_nonzero(enabled), dtype=TIMED_ROW)
    found["sample"] = items.sample[:-1][enabled]
    found["end_sample"] = items.sample[1:][enabled]
    found["value"] = items.value[enabled].view(np.int64)
    errors = np.zeros(len(near), dtype=TIMED_ROW)
    errors["sample"] = np.minimum(near["clock"], near["change"])
    errors["end_sample"] = np.maximum(near["clock"], near["change"])
    errors["value"] = -1
    errors["error"] = near["hold"] + 1
    rows = np.concatenate((state.timed, found, errors))
    rows = rows[np.lexsort((rows["error"] > 0, rows["sample"]))]
    ready = len(rows) if horizon is None else int(np.searchsorted(rows["sample"], horizon))
    state.timed = rows[ready:].copy()
    rows = rows[:ready]
    columns = {
        "t_ps": samples_to_ps(rows["sample"], samplerate_hz),
        "source": one_name(items.source, ready),
        "kind": names(np.minimum(rows["error"], 1), ("item", "error")),
        "t_end_ps": samples_to_ps(rows["end_sample"], samplerate_hz),
        "error": names(rows["error"], _ERRORS),
        "value": rows["value"],
        "bits": np.full(ready, items.bits, dtype=np.int8),
        "sample": rows["sample"],
        "end_sample": rows["end_sample"],
    }
    return table(item_schema(), columns)


def word_table(
    items: Items, options: OptionValues, state: ParallelState, samplerate_hz: int, last: bool
) -> pa.Table:
    """Return a row of `word_schema` for each word that ends with these items; none without words."""
    size = options.integer("word_items")
    if not size:
        return _NO_WORDS
    rows = np.zeros(len(items.sample) + 1, dtype=WORD_ROW)
    layout = size, items.bits, int(options.text("endianness") == "big")
    clocks = items.sample[:-1], items.value, items.each_enabled()
    count = words(clocks, items.sample[1:], layout, state.word, rows)
    if last and len(items.sample):
        count += close_word(items.sample[-1], state.word[0], rows[count : count + 1])
    rows = rows[:count]
    cut = (rows["items"] < size).astype(np.int32)
    columns = {
        "t_ps": samples_to_ps(rows["sample"], samplerate_hz),
        "source": one_name(items.source, count),
        "kind": names(cut, ("word", "error")),
        "t_end_ps": samples_to_ps(rows["end_sample"], samplerate_hz),
        "error": names(cut, ("", "cut-word")),
        "value": rows["word"].astype(np.int64),
        "items": rows["items"],
        "bits": rows["items"] * items.bits,
        "sample": rows["sample"],
        "end_sample": rows["end_sample"],
    }
    return table(word_schema(), columns)
