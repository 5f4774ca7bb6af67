"""Frames and errors of the native UART decoder, and the line's edges, as rows for sigrok's objects.

Source: the OUTPUT_PYTHON format of sigrok's decoder ``uart``, as its documentation gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges, join
from freezeframe.decoders.columns import codes_of
from freezeframe.decoders.contract import OptionValues
from freezeframe.decoders.serial.uart_code import uart_texts
from freezeframe.decoders.serial.uart_kernels import PARITIES, middle_of, parity_verdict
from freezeframe.decoders.srd.feed_edges import LineEdges, by_place

_FRAME, _BAD_START, _BREAK, _IDLE, _CUT = range(5)  # kinds of rows
_ERRORS = ("", "bad-start", "break")  # the errors of which a row comes, in the order of the kinds
# kind, begin, end, data, parity, verdicts, whole halves of a bit below and above its middle; then
# the middle of each bit, the start bit first.
_HEAD = 9


class UartRows:
    """Rows for ``feeds/freezeframe_uart``: frames, errors, breaks and idle times of one line."""

    def __init__(self, options: OptionValues) -> None:
        self._baud = 0  # until the decoder knows it
        self._held: list[Edges] = []  # pieces before that
        self._bits = options.integer("bits")
        self._parity_kind = PARITIES.index(options.text("parity"))
        self._parity = int(self._parity_kind != PARITIES.index("none"))
        self._msb_first = options.text("order") == "msb-first"
        self._halves = 2 * (1 + self._bits + self._parity) + round(2 * options.number("stop"))
        self._low = int(options.flag("invert"))  # level of a start bit
        self._line = LineEdges()
        self._idle_from = -1  # since when the line idles, -1 while it does not
        self._last_start = -1  # of a frame

    def settings(self) -> dict[str, Any]:
        """Return the options of the feeder."""
        return {
            "data_bits": self._bits,
            "order": "msb-first" if self._msb_first else "lsb-first",
            "parity": "yes" if self._parity else "no",
        }

    def rows(
        self, piece: Edges, tables: Mapping[str, pa.Table], state: Any, *, last: bool
    ) -> npt.NDArray[np.int64]:
        """Return what a piece adds, ``(n, w)`` int64, in the order of sigrok's objects.

        Raises:
            InputError: the baud rate was to be measured and cannot be.
        """

        table = tables["uart"]
        self._baud = state.baud
        if not self._baud:
            self._held.append(piece)
            if last:
                _check_measured(table)
            return self._room(0)
        if self._held:
            piece = join([*self._held, piece])
            self._held = []
        rows = self._event_rows(piece, table)
        frames = rows[rows[:, 0] == _FRAME]
        idle = self._idle_rows(piece, frames[:, 1])
        # A frame is there with its last bit, the others with their end.
        place = np.where(rows[:, 0] == _FRAME, rows[:, -1], rows[:, 2])
        rows = by_place(rows, place, idle, idle[:, 2])
        if last and int(state.record["bit"]) > 0:
            rows = np.concatenate([rows, self._cut_row(piece, state.record)])
        return rows

    def _event_rows(self, piece: Edges, table: pa.Table) -> npt.NDArray[np.int64]:
        # The errors about a frame repeat what it says itself.
        kind = codes_of(table.column("error"), _ERRORS)
        kind[codes_of(table.column("kind"), ("frame", "error")) < 0] = -1
        rows = self._room(int((kind >= 0).sum()))
        rows[:, 0] = kind[kind >= 0]
        for at, name in (
            (1, "sample"), (2, "end_sample"), (3, "data"), (4, "parity"),
            (5, "parity_ok"), (6, "stop_ok"),
        ):  # fmt: skip
            column = table.column(name)
            column = column.cast("int8") if name.endswith("_ok") else column
            rows[:, at] = column.fill_null(-1).to_numpy()[kind >= 0]
        self._bit_places(rows, piece.samplerate_hz)
        return rows

    def _bit_places(self, rows: npt.NDArray[np.int64], samplerate_hz: int) -> None:
        """Put in where bits are, in whole samples as the decoder takes them."""
        down = samplerate_hz // (2 * self._baud)
        rows[:, 7] = down
        rows[:, 8] = -(-samplerate_hz // (2 * self._baud))
        bad = rows[:, 0] == _BAD_START
        # The row of a bad start begins half a bit before its middle, not with the edge.
        rows[bad, 1] += down - middle_of(0, samplerate_hz, self._baud)
        for bit in range(rows.shape[1] - _HEAD):
            rows[:, _HEAD + bit] = rows[:, 1] + middle_of(bit, samplerate_hz, self._baud)

    def _idle_rows(self, piece: Edges, starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return a row for each time of a frame's length in which the line was idle without a break.

        It begins to idle with the end of a frame or, after a break or a spurious start, when it
        rises; since when it did before the first edge of the capture nobody knows.
        """
        length = -(-self._halves * piece.samplerate_hz // (2 * self._baud))
        place, level = self._line.changes(piece, 0)
        rises = level != self._low
        begin = np.concatenate([[self._idle_from][: self._idle_from >= 0], place[rises]])
        end = place[~rises]
        if len(end) and (not len(begin) or end[0] <= begin[0]):
            end = end[1:]
        is_open = len(begin) > len(end)
        if is_open:
            end = np.append(end, piece.end_sample)
        starts = np.concatenate([[self._last_start], starts])
        self._last_start = int(starts[-1])
        long = np.flatnonzero(end - begin > length)
        # A frame's last bit may be before the line rises, and after it: the frame counts in both.
        frame = starts[np.searchsorted(starts, end[long]) - 1]
        idle_ends = []
        since = np.maximum(begin[long], np.where(frame >= 0, frame + length, -1))
        for start, until in zip(since.tolist(), end[long].tolist(), strict=True):
            idle_ends.append(np.arange(start + length, until, length))
        ends = np.concatenate([*idle_ends, np.zeros(0, dtype=np.int64)])
        rows = self._room(len(ends))
        rows[:, 0] = _IDLE
        rows[:, 1] = ends - length
        rows[:, 2] = ends
        self._idle_from = int(begin[-1]) if is_open else -1
        if is_open and len(long) and long[-1] == len(begin) - 1 and len(idle_ends[-1]):
            self._idle_from = int(idle_ends[-1][-1])
        return rows

    def _cut_row(self, piece: Edges, record: Any) -> npt.NDArray[np.int64]:
        """Return what is known of the frame that the end of the capture cuts."""
        row = self._room(1)
        taken = int(record["bit"])  # bits, with the start bit
        data, parity = int(record["character"]), int(record["parity"])
        row[0, :5] = _CUT, record["start"], taken, data, parity
        row[0, 5] = parity_verdict(data, parity, self._parity_kind)
        self._bit_places(row, piece.samplerate_hz)
        return row

    def _room(self, count: int) -> npt.NDArray[np.int64]:
        return np.zeros((count, _HEAD + 1 + self._bits + self._parity + 1), dtype=np.int64)


def _check_measured(table: pa.Table) -> None:
    """Raise the error that says why there is no rate; a line that never changes has no error."""
    for row in table.filter(codes_of(table.column("kind"), ("error",)) == 0).to_pylist():
        raise InputError(f"decoder uart: {uart_texts(row).long}")
