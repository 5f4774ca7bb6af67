"""One 8b/10b lane as a stream: edges in pieces of any size in, symbols and events out."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.link import run_kernels
from freezeframe.decoders.link.bitrate import WANTED_RUNS, find_period
from freezeframe.decoders.link.lane_rows import (
    EVENT,
    FRACTION,
    MOST_BITS,
    NO_BITRATE,
    SETTINGS,
    new_run_state,
    new_symbol_state,
)
from freezeframe.decoders.link.run_kernels import line_runs
from freezeframe.decoders.link.symbol_kernels import close, symbols

Int64 = npt.NDArray[np.int64]

_MIN_SAMPLES_A_BIT = 2.5  # with fewer, runs of one and two bits are not told apart
_EVENTS_AT_ONCE = 4096


class Symbols(NamedTuple):
    """Symbols of a lane, in order; all columns ``(n,)``.

    ``entry`` is that of the decode table with SYNCED and FRESH of lane_rows, ``group`` the ten
    bits as received.
    """

    sample: Int64
    entry: npt.NDArray[np.uint16]
    group: npt.NDArray[np.int16]

    @classmethod
    def empty(cls, count: int) -> Symbols:
        return cls._make(np.empty(count, kind) for kind in (np.int64, np.uint16, np.int16))


class Lane:
    """The state of one lane between pieces.

    Attributes:
        horizon: no symbol or event still to come begins before this sample.
        aligned: whether the next symbol goes on from the one before.
    """

    def __init__(self, decoder: str, options: OptionValues, bit: int, clock_bit: int) -> None:
        """Decode bit ``bit`` of the edges that will come, with the clock at ``clock_bit``.

        Args:
            decoder: the id that messages name.
            options: with those of lane_options.
        """
        self.horizon = 0
        self.aligned = False
        self.samples_a_bit = 0.0  # 0 while it is not known, and with a clock
        self._decoder = decoder
        self._bit = bit
        self._clock_bit = clock_bit
        self._bitrate = options.integer("bitrate")
        self._held: list[Edges] = []  # until the bit rate is known
        self._no_period = False
        self._line = np.full(3, -1, dtype=np.int64)
        self._lengths: list[Int64] = []
        self._runs = new_run_state()
        self._symbols = new_symbol_state()
        self._settings = np.zeros(1, dtype=SETTINGS)
        self._settings["data_bit"] = bit
        self._settings["clock_bit"] = -1
        edge = options.text("clock_edge")
        self._settings["rising"] = edge in ("rising", "both")
        self._settings["falling"] = edge in ("falling", "both")
        self._settings["invert"] = options.flag("invert")
        self._settings["sync_commas"] = options.integer("sync_commas")
        self._settings["realign_always"] = options.text("realign") == "always"

    def feed(self, edges: Edges, last: bool) -> tuple[Symbols, npt.NDArray[np.void]]:
        """Decode a piece; return its symbols, and its events as rows of EVENT, not yet in order.

        Raises:
            InputError: the bit rate leaves fewer than 2.5 samples a bit.
        """
        if self._clock_bit >= 0 and edges.channels[self._clock_bit]:
            self._settings["clock_bit"] = self._clock_bit
            return self._decode(edges, last)
        if not self.samples_a_bit:
            whole = self._with_period(edges, last)
            if whole is None:
                return self._nothing(edges.end_sample if last else -1)
            edges = whole
        return self._decode(edges, last)

    def _with_period(self, edges: Edges, last: bool) -> Edges | None:
        """Set the bit period and return what was held until now, or None where it is not known yet."""
        if self._bitrate and not edges.samplerate_hz:
            raise InputError(
                f"decoder {self._decoder}: option bitrate={self._bitrate}: the capture has no sample "
                "rate; give it with --samplerate"
            )
        if self._bitrate:
            self._set_period(edges.samplerate_hz / self._bitrate, edges.samplerate_hz)
            return edges
        if self._no_period:
            return None
        room = WANTED_RUNS - sum(map(len, self._lengths))
        lengths = np.empty(min(room, len(edges)), dtype=np.int64)
        count = line_runs((edges.sample, edges.value), self._bit, self._line, lengths)
        self._lengths.append(lengths[:count])
        self._held.append(self._own(edges))
        if count < room and not last:
            return None
        period = find_period(np.concatenate(self._lengths))
        whole = join(self._held)
        self._held.clear()
        if period is None or period < _MIN_SAMPLES_A_BIT:
            # No second try: where it began would depend on where pieces end.
            self._no_period = True
            return None
        self._set_period(period, edges.samplerate_hz)
        return whole

    def _own(self, edges: Edges) -> Edges:
        """Return the edges of this line alone, for many of the other lane would take memory while it is held."""
        level = edges.value >> np.uint64(self._bit) & np.uint64(1)
        keep = np.ones(len(level), dtype=np.bool_)
        np.not_equal(level[1:], level[:-1], out=keep[1:])
        return replace(edges, sample=edges.sample[keep], value=edges.value[keep])

    def _set_period(self, samples_a_bit: float, samplerate_hz: int) -> None:
        if samples_a_bit < _MIN_SAMPLES_A_BIT:
            raise InputError(
                f"decoder {self._decoder}: option bitrate={self._bitrate}: {samplerate_hz} samples a "
                f"second are {samples_a_bit:.2f} a bit; at least {_MIN_SAMPLES_A_BIT} are needed, or a clock"
            )
        self.samples_a_bit = samples_a_bit
        self._settings["period"] = round(samples_a_bit * (1 << FRACTION))

    def _nothing(self, end_sample: int) -> tuple[Symbols, npt.NDArray[np.void]]:
        """Return no symbols; at the end of the capture (not -1) with the event that says why."""
        events = np.zeros(int(end_sample >= 0), dtype=EVENT)
        events["code"] = NO_BITRATE
        events["sample"] = end_sample
        return Symbols.empty(0), events

    def _decode(self, edges: Edges, last: bool) -> tuple[Symbols, npt.NDArray[np.void]]:
        runs, events = self._to_runs(edges, last)
        parts: list[Symbols] = []
        done = 0
        while True:
            size = len(runs[0]) // 2 + 16  # a legal group has two runs or more
            room = Symbols.empty(size)
            rows = np.zeros(_EVENTS_AT_ONCE, dtype=EVENT)
            done, count, event_count = symbols(
                runs, done, self._settings, self._symbols, tuple(room), rows
            )
            parts.append(Symbols._make(column[:count] for column in room))
            events.append(rows[:event_count].copy())
            if done == len(runs[0]):
                break
        if last:
            rows = np.zeros(1, dtype=EVENT)
            events.append(rows[: close(edges.end_sample, self._symbols, rows)])
        self._set_horizon(edges.end_sample)
        joined = (
            parts[0]
            if len(parts) == 1
            else Symbols._make(map(np.concatenate, zip(*parts, strict=True)))
        )
        return joined, np.concatenate(events)

    def _to_runs(
        self, edges: Edges, last: bool
    ) -> tuple[tuple[Int64, npt.NDArray[np.int16]], list[npt.NDArray[np.void]]]:
        room = 3 * len(edges) + 3  # for nothing but silences; most is address space, not memory
        ends, bits = np.empty(room, np.int64), np.empty(room, np.int16)
        events = [np.zeros(0, dtype=EVENT)]
        count = done = 0
        if self._settings["clock_bit"][0] >= 0:
            piece = (edges.sample, edges.value)
            count = run_kernels.clocked_runs(piece, self._settings, self._runs, (ends, bits))
            if last:
                rest = (ends[count:], bits[count:])
                count += run_kernels.last_clocked_run(edges.end_sample, self._runs, rest)
            return (ends[:count], bits[:count]), events
        line = np.empty(len(edges) + 1, np.int64)
        piece = (edges.sample, edges.value)
        line = line[: run_kernels.line_edges(piece, self._settings, self._runs, line)]
        while True:
            rows = np.zeros(_EVENTS_AT_ONCE, dtype=EVENT)
            consumed, more, event_count = run_kernels.timed_runs(
                line[done:],
                edges.end_sample,
                self._settings,
                self._runs,
                (ends[count:], bits[count:]),
                rows,
            )
            done += consumed
            count += more
            events.append(rows[:event_count].copy())
            if done == len(line):
                break
        if last:
            rest = (ends[count:], bits[count:])
            count += run_kernels.last_timed_run(edges.end_sample, self._settings, self._runs, rest)
        return (ends[:count], bits[:count]), events

    def _set_horizon(self, end_sample: int) -> None:
        """A comma can begin in the latest run; everything else in a symbol or run that is not over."""
        state = self._symbols[0]
        self.aligned = bool(state["aligned"])
        run, symbol = int(state["run_start"]), int(state["start"])
        self.horizon = min(run, symbol) if self.aligned else run
        if self._runs[0]["silent"]:
            two_bits = (int(state["run_end"]) - run) * 2 // MOST_BITS
            self.horizon = max(self.horizon, end_sample - two_bits - 1)
