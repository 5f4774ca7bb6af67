"""A parallel bus piece by piece: its items, from edges or straight from samples, and their tables."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, sample_span_ps, samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.clock_kernels import CLOCKING, Clocks, clocks_of
from freezeframe.decoders.bus.clock_kernels import new_state as new_clock
from freezeframe.decoders.bus.parallel_kernels import (
    TIMING_ROW,
    near_changes,
    new_timing,
    new_word,
    no_timed,
)
from freezeframe.decoders.bus.parallel_kernels import items as take_items
from freezeframe.decoders.bus.parallel_sample_kernels import (
    SamplePlan,
    items_of_samples,
    sample_plan,
)
from freezeframe.decoders.bus.parallel_tables import Items, item_table, timed_table, word_table
from freezeframe.decoders.contract import OptionValues

__all__ = ["ParallelState", "decode_parallel", "decode_parallel_samples"]

_MAX_BITS = 64  # of a word
_CLK, _ENABLE, _DATA = 0, 1, 2  # places of channels; d0 to d63 from _DATA on


class ParallelState:
    """What is carried from piece to piece: the kernels' records and the last clock."""

    def __init__(self, options: OptionValues) -> None:
        self.clock = new_clock()
        self.word = new_word()
        self.timing = new_timing()
        self.held: Clocks | None = None
        self.channels: tuple[str, ...] | None = None  # of the samples to which these two belong
        self.over_edges, self.bits = False, 0
        self.density = 0.0  # items a sample in the piece before
        self.plan: tuple[tuple[tuple[int, ...], int, int], SamplePlan] | None = None
        self.timed = no_timed()  # rows that one to come may stand before


def decode_parallel(
    edges: Edges, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture; ``edges`` has the channels clk, enable, d0 to d63.

    Without a clock every change of a data line is one.

    Raises:
        InputError: there is no data line, or a word would be wider than 64 bits.
    """
    near = _near_changes(edges, options, state) if _checks_timing(edges, options) else None
    bits = _width(edges, options)
    clocks = clocks_of(edges, _clocking(edges, options), state.clock, state.held)
    items = _items(edges, clocks, bits, options, state, last)
    rate_hz = edges.samplerate_hz
    if near is None:
        table = item_table(items)
    else:
        horizon = None if last else _horizon(edges, options, state)
        table, state.timed = timed_table(items, near, state.timed, horizon, rate_hz)
    return {
        "parallel.items": table,
        "parallel.words": word_table(items, options, state.word, rate_hz, last),
    }


def decode_parallel_samples(
    samples: Samples, options: OptionValues, state: ParallelState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, as `decode_parallel` does, straight from its samples.

    Raises:
        InputError: as `decode_parallel`.
    """
    if state.channels is not samples.channels:  # all pieces of a capture have the same
        state.bits = _width(samples, options)
        state.over_edges = _checks_timing(samples, options)
        state.channels = samples.channels
    if state.over_edges:
        return decode_parallel(samples.edges(), options, state, last)
    items = _items_of_samples(samples, state.bits, options, state, last)
    return {
        "parallel.items": item_table(items),
        "parallel.words": word_table(items, options, state.word, samples.samplerate_hz, last),
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
) -> Items:
    """Return the items whose end is known; the last clock waits for the next."""
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
    always = take_items(low, high, layout, (enable, level), enabled)
    t_ps = samples_to_ps(sample, piece.samplerate_hz, latest=piece.end_sample)
    return Items(sample, t_ps, low, None if always else enabled, bits, _source(piece))


def _items_of_samples(
    samples: Samples, bits: int, options: OptionValues, state: ParallelState, last: bool
) -> Items:
    """Return what `_items` does."""
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
    return Items(sample, t_ps, taken.value[:ends], enabled, bits, _source(samples))


def _sample_plan(samples: Samples, options: OptionValues, state: ParallelState) -> SamplePlan:
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
