"""Parallel bus: 1 to 64 data lines, with a clock and an enable where the bus has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from freezeframe.capture.errors import InputError
from freezeframe.decoders.contract import (
    EDGES,
    Channel,
    Decoder,
    Option,
    OptionValues,
    Output,
    Texts,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa
    from freezeframe.capture.files.edges import Edges
    from freezeframe.capture.files.samples import Samples
    from freezeframe.decoders.bus.clock_kernels import Clocks
    from freezeframe.decoders.bus.parallel_sample_kernels import SamplePlan

__all__ = [
    "PARALLEL",
    "ParallelState",
    "decode_parallel",
    "decode_parallel_samples",
    "item_schema",
    "parallel_texts",
    "word_schema",
]

_MAX_BITS = 64
_CLK, _ENABLE, _DATA = 0, 1, 2  # places of channels; d0 to d63 from _DATA on


@cache
def item_schema() -> pa.Schema:
    """Return the columns of items, one row a clock at which the bus is enabled.

    ``kind`` is ``item`` or ``error``, and then ``error`` says which. ``value`` is the 64-bit
    pattern of the lines, d0 lowest, a line that is not there 0; ``bits`` is the width. An item
    stands until the next clock, enabled or not, the last one until the end of the capture. An error
    about the timing stands between clock and change, with ``value`` -1.
    """
    import pyarrow as pa
    from freezeframe.decoders.columns import name_type

    return pa.schema(
        [
            pa.field("t_ps", pa.int64(), nullable=False),
            pa.field("source", name_type(), nullable=False),
            pa.field("kind", name_type(), nullable=False),
            pa.field("t_end_ps", pa.int64(), nullable=False),
            pa.field("error", name_type()),
            pa.field("value", pa.int64()),
            pa.field("bits", pa.int8()),
            pa.field("sample", pa.int64()),
            pa.field("end_sample", pa.int64()),
        ]
    )


@cache
def word_schema() -> pa.Schema:
    """Return the columns of words of ``word_items`` items; no row where that is 0.

    ``kind`` is ``word``, or ``error`` (``cut-word``) for one that ends early, with the ``items`` so
    far. ``value`` is a 64-bit pattern, ``bits`` the width of the items that are there.
    """
    import pyarrow as pa

    schema = item_schema()
    return schema.insert(schema.get_field_index("sample"), pa.field("items", pa.int64()))


@cache
def _no_words() -> pa.Table:
    return word_schema().empty_table()


class ParallelState:
    """What is carried from piece to piece: the kernels' records and the last clock."""

    def __init__(self) -> None:
        from freezeframe.decoders.bus import clock_kernels, parallel_kernels

        self.clock = clock_kernels.new_state()
        self.word = parallel_kernels.new_word()
        self.timing = parallel_kernels.new_timing()
        self.held: Clocks | None = None
        self.density = 0.0  # items a sample in the piece before
        self.plan: tuple[tuple[tuple[int, ...], int, int], SamplePlan] | None = None
        self.timed = parallel_kernels.no_timed()  # rows that one to come may stand before


class _Items(NamedTuple):
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
        import numpy as np

        return np.ones(len(self.value), dtype=np.bool_) if self.enabled is None else self.enabled


def decode_parallel(
    edges: Edges, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels clk, enable, d0 to d63.

    Without a clock every change of a data line is one.

    Raises:
        InputError: there is no data line, or a word would be wider than 64 bits.
    """
    from freezeframe.decoders.bus.clock_kernels import clocks_of

    near = _near_changes(edges, options, state) if _checks_timing(edges, options) else None
    bits = _width(edges, options)
    clocks = clocks_of(edges, _clocking(edges, options), state.clock, state.held)
    items = _items(edges, clocks, bits, options, state, last)
    rate_hz = edges.samplerate_hz
    if near is None:
        table = _item_table(items, rate_hz)
    else:
        horizon = None if last else _horizon(edges, options, state)
        table = _timed_table(items, near, state, horizon, rate_hz)
    return {
        "parallel.items": table,
        "parallel.words": _word_table(items, options, state, rate_hz, last),
    }


def decode_parallel_samples(
    samples: Samples, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, as `decode_parallel` does, straight from its samples.

    Raises:
        InputError: as `decode_parallel`.
    """
    if _checks_timing(samples, options):
        return decode_parallel(samples.edges(), options, state, last)
    bits = _width(samples, options)
    items = _items_of_samples(samples, bits, options, state, last)
    return {
        "parallel.items": _item_table(items, samples.samplerate_hz),
        "parallel.words": _word_table(items, options, state, samples.samplerate_hz, last),
    }


def parallel_texts(row: Mapping[str, Any]) -> Texts:
    """Put a row of `item_schema` or `word_schema` into words."""
    if row["kind"] == "error":
        error = str(row["error"])
        return Texts("!", error, f"{row['source']}: {error}: {_ERROR_TEXTS[error]}")
    shown = f"{row['value'] & (1 << row['bits']) - 1:0{-(-row['bits'] // 4)}x}"
    return Texts(shown, shown, f"{row['source']}: {row['kind']} {shown}")


_ERRORS = ("", "setup", "hold")
_ERROR_TEXTS = {
    "setup": "a data line changes too soon before the clock",
    "hold": "a data line changes too soon after the clock",
    "cut-word": "the bus is disabled or the capture ends inside a word",
}


def _width(edges: Edges | Samples, options: OptionValues) -> int:
    low, high = _masks(edges.channels)
    bits = (high << 64 | low).bit_length() - _DATA
    if bits <= 0:
        raise InputError("decoder parallel: no data line has a probe; say d0=PROBE, d1=PROBE, ...")
    if bits * options.integer("word_items") > _MAX_BITS:
        raise InputError(
            f"decoder parallel: {options.integer('word_items')} items of {bits} bits are more than "
            f"the {_MAX_BITS} bits of a word"
        )
    return bits


@lru_cache(maxsize=16)
def _masks(channels: tuple[str, ...]) -> tuple[int, int]:
    """Return the data lines among the low and among the high channels."""
    there = sum(1 << place for place, probe in enumerate(channels) if probe) >> _DATA << _DATA
    return there & (1 << 64) - 1, there >> 64


def _clocking(edges: Edges | Samples, options: OptionValues) -> npt.NDArray[np.void]:
    import numpy as np
    from freezeframe.decoders.bus.clock_kernels import CLOCKING

    clocking = np.zeros(1, dtype=CLOCKING)
    clocking["before"] = options.text("take") == "before"
    if edges.channels[_CLK]:
        edge = options.text("clock_edge")
        clocking["watch"] = 1
        clocking["invert"] = edge == "falling"
        clocking["both"] = edge == "both"
    else:
        low, high = _masks(edges.channels)
        clocking["watch"] = clocking["both"] = np.uint64(low)
        clocking["watch_high"] = np.uint64(high)
        clocking["before"] = 0
    return clocking


def _items(
    piece: Edges | Samples,
    clocks: Clocks,
    bits: int,
    options: OptionValues,
    state: ParallelState,
    last: bool,
) -> _Items:
    """Return the items whose end is known; the last clock waits for the next."""
    import numpy as np
    from freezeframe.capture.files.edges import samples_to_ps
    from freezeframe.decoders.bus import parallel_kernels

    sample, low, high = clocks
    if last and len(sample):
        sample = np.append(sample, piece.end_sample)
    else:
        state.held = sample[-1:].copy(), low[-1:].copy(), high[-1:].copy()
        low, high = low[:-1], high[:-1]
    enable = np.uint64(1 << _ENABLE if piece.channels[_ENABLE] else 0)
    level = enable if options.text("enable_level") == "high" else np.uint64(0)
    mask, mask_high = _masks(piece.channels)
    enabled = np.empty(len(low), dtype=np.bool_)
    layout = np.uint64(mask), np.uint64(mask_high), _DATA
    always = parallel_kernels.items(low, high, layout, (enable, level), enabled)
    t_ps = samples_to_ps(sample, piece.samplerate_hz, latest=piece.end_sample)
    return _Items(sample, t_ps, low, None if always else enabled, bits, _source(piece))


def _items_of_samples(
    samples: Samples, bits: int, options: OptionValues, state: ParallelState, last: bool
) -> _Items:
    """Return what `_items` does."""
    from freezeframe.capture.files.edges import samples_to_ps
    from freezeframe.decoders.bus.parallel_sample_kernels import items_of_samples

    end = samples.end_sample
    plan = _sample_plan(samples, options, state)
    expected = int(state.density * len(samples) * 1.02)
    taken = items_of_samples(samples, plan, state.clock, state.held, expected=expected)
    count = taken.items
    if len(samples):
        state.density = count / len(samples)
    if last and count:
        taken.sample[count] = end
        taken.t_ps[count] = end * plan.span_ps
        count += 1
    elif count:
        state.held = taken.last
    sample = taken.sample[:count]
    t_ps = taken.t_ps[:count]
    if not plan.span_ps:
        t_ps = samples_to_ps(sample, samples.samplerate_hz, latest=end)
    ends = max(count - 1, 0)
    enabled = taken.enabled[:ends] if plan.enable[0] else None
    return _Items(sample, t_ps, taken.value[:ends], enabled, bits, _source(samples))


def _sample_plan(samples: Samples, options: OptionValues, state: ParallelState) -> SamplePlan:
    from freezeframe.capture.files.edges import sample_span_ps
    from freezeframe.decoders.bus.parallel_sample_kernels import sample_plan

    span_ps = sample_span_ps(samples.samplerate_hz, samples.end_sample)
    of = samples.bits, span_ps, samples.unit_B
    if state.plan is None or state.plan[0] != of:
        high = options.text("enable_level") == "high"
        plan = sample_plan(
            samples.bits,
            _clocking(samples, options),
            place=_DATA,
            enable=(_ENABLE, high),
            span_ps=span_ps,
            unit_B=samples.unit_B,
        )
        state.plan = of, plan
    return state.plan[1]


def _source(piece: Edges | Samples) -> str:
    return piece.channels[_CLK] or next(filter(None, piece.channels[_DATA:]))


def _checks_timing(piece: Edges | Samples, options: OptionValues) -> bool:
    limits = options.integer("setup_samples"), options.integer("hold_samples")
    return any(limits) and bool(piece.channels[_CLK])


def _near_changes(
    edges: Edges, options: OptionValues, state: ParallelState
) -> npt.NDArray[np.void]:
    import numpy as np
    from freezeframe.decoders.bus.parallel_kernels import TIMING_ROW, near_changes

    limits = options.integer("setup_samples"), options.integer("hold_samples")
    rows = np.zeros(2 * len(edges), dtype=TIMING_ROW)
    wide = edges.high is not None
    planes = edges.sample, edges.value, np.zeros(0, np.uint64) if edges.high is None else edges.high
    low, high = _masks(edges.channels)
    clocking = _clocking(edges, options)
    data = np.uint64(low), np.uint64(high)
    return rows[: near_changes(planes, wide, clocking, data, limits, state.timing, rows)]


def _horizon(edges: Edges, options: OptionValues, state: ParallelState) -> int:
    """Return the sample before which no row begins that is still to come.

    The item of the last clock is, and so is an error about a change that the next clock may be too
    near to.
    """
    changed_at = int(state.timing["changed_at"][0])
    near = edges.end_sample - changed_at < options.integer("setup_samples")
    begins = [edges.end_sample, *([changed_at] if near else [])]
    if state.held is not None:
        begins += state.held[0].tolist()
    return min(begins)


def _item_table(items: _Items, samplerate_hz: int) -> pa.Table:
    import numpy as np
    from freezeframe.decoders.columns import one_name, one_number, table, whole

    count = len(items.value)
    if items.enabled is None:
        # An item ends where the next begins: both columns look at the same memory.
        sample, t_ps = whole(items.sample), whole(items.t_ps)
        columns: dict[str, Any] = {
            "sample": sample.slice(0, count),
            "end_sample": sample.slice(1, count),
            "t_ps": t_ps.slice(0, count),
            "t_end_ps": t_ps.slice(1, count),
            "value": items.value.view(np.int64),
        }
    else:
        columns = {
            "sample": items.sample[:-1][items.enabled],
            "end_sample": items.sample[1:][items.enabled],
            "t_ps": items.t_ps[:-1][items.enabled],
            "t_end_ps": items.t_ps[1:][items.enabled],
            "value": items.value.view(np.int64)[items.enabled],
        }
        count = len(columns["sample"])
    columns |= {
        "source": one_name(items.source, count),
        "kind": one_name("item", count),
        "error": one_name("", count),
        "bits": one_number(items.bits, count, np.int8),
    }
    return table(item_schema(), columns)


def _timed_table(
    items: _Items,
    near: npt.NDArray[np.void],
    state: ParallelState,
    horizon: int | None,
    samplerate_hz: int,
) -> pa.Table:
    """Return items and errors about the timing in the order of their begin, an item first.

    Rows from ``horizon`` on wait for those to come, so that the order is that of the whole capture.
    """
    import numpy as np
    from freezeframe.capture.files.edges import samples_to_ps
    from freezeframe.decoders.bus.parallel_kernels import TIMED_ROW
    from freezeframe.decoders.columns import names, one_name, table

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


def _word_table(
    items: _Items, options: OptionValues, state: ParallelState, samplerate_hz: int, last: bool
) -> pa.Table:
    import numpy as np
    from freezeframe.capture.files.edges import samples_to_ps
    from freezeframe.decoders.bus.parallel_kernels import WORD_ROW, close_word, words
    from freezeframe.decoders.columns import names, one_name, table

    size = options.integer("word_items")
    if not size:
        return _no_words()
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


PARALLEL = Decoder(
    id="parallel",
    name="Parallel bus",
    doc="1 to 64 data lines, with a clock and an enable where the bus has them",
    consumes=EDGES,
    produces=(
        Output("parallel.items", item_schema, "one row a clock"),
        Output("parallel.words", word_schema, "items joined to words"),
    ),
    decode=decode_parallel,
    decode_samples=decode_parallel_samples,
    new_state=lambda options: ParallelState(),
    channels=(
        Channel("clk", "clock; without it every change of a data line counts", optional=True),
        Channel("enable", "the clock counts only while this is active", optional=True),
        *(
            Channel(f"d{bit}", f"data line {bit}", optional=True, aliases=(f"d[{bit}]",))
            for bit in range(_MAX_BITS)
        ),
    ),
    options=(
        Option(
            "clock_edge",
            "rising",
            "edge of the clock that counts",
            choices=("rising", "falling", "both"),
        ),
        Option("enable_level", "high", "level that enables", choices=("high", "low")),
        Option(
            "take",
            "with",
            "the data that stands in the sample of the clock's edge, or in the one before it",
            choices=("with", "before"),
        ),
        Option("word_items", 0, "items that make a word; 0 for no words", minimum=0, maximum=64),
        Option(
            "endianness",
            "little",
            "whether the first item of a word is its lowest or its highest",
            choices=("little", "big"),
        ),
        Option(
            "setup_samples",
            0,
            "an error where data changes less than so long before a clock; 0 for no check",
            minimum=0,
            maximum=1 << 30,
            unit="samples",
        ),
        Option(
            "hold_samples",
            0,
            "an error where data changes less than so long after a clock; 0 for no check",
            minimum=0,
            maximum=1 << 30,
            unit="samples",
        ),
    ),
    texts=parallel_texts,
)
