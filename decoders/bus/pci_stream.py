"""What PCI and PCI-X share outside their kernels: clocks of a piece, and rows to columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus import pci_signals
from freezeframe.decoders.bus.pci_rows import Phases
from freezeframe.decoders.clocked import Clocked, Clocks, clocking
from freezeframe.decoders.columns import whole
from freezeframe.decoders.contract import OptionValues

_CLOCKS_AT_ONCE = 1 << 17
_LONG = ("sample", "end_sample", "value", "transaction")
_CODES = ("initiator_waits", "target_waits", "kind", "command", "parity")
_SMALL = ("enables", "wide")
# Rows and type of the arrays of `Phases`, the widest first: so each is aligned.
_PHASE_ARRAYS: tuple[tuple[int, type[np.generic]], ...] = (
    (len(_LONG), np.int64),
    (1, np.int64),
    (len(_CODES), np.int32),
    (len(_SMALL), np.uint8),
    (1, np.uint8),
)
_PHASE_B = sum(rows * np.dtype(kind).itemsize for rows, kind in _PHASE_ARRAYS)

# The fields of records, each as a column: ``(n,)``.
RowColumns = dict[str, npt.NDArray[np.int64]]


class ClockStream:
    """Cuts a stream of edges or samples into clocks, of which a kernel sees some more than it decodes.

    So a phase is judged where it ends: by the parity that comes a clock later, and PERR# after it.
    Clocks are gathered until there are many: tables of so many columns take as long to make as some
    ten thousand clocks to decode.
    """

    def __init__(self, ahead: int, options: OptionValues) -> None:
        self._ahead = ahead
        self._clocked = Clocked()
        self._clocking = clocking(1 << pci_signals.CLK, before=options.text("take") == "before")
        # The clocks that are not decoded yet, in room that is used again and again.
        self.room = _clock_room(0)
        self.count = 0

    def feed(self, piece: Edges | Samples, last: bool) -> int:
        """Gather the clocks of this piece; return how many to decode now, of those in the room: none
        until there are enough, then all but those to look ahead."""
        for clocks in self._clocked.parts(piece, self._clocking):
            self._gather(clocks)
        self._make_room(0)
        if not last and self.count < _CLOCKS_AT_ONCE:
            return 0
        self.room.sample[self.count : self.count + self._ahead] = piece.end_sample
        return self.count if last else max(0, self.count - self._ahead)

    def forget(self, stop: int) -> None:
        """Forget the clocks before ``stop``, which are decoded."""
        self.count -= stop
        for column in self.room:
            column[: self.count] = column[stop : stop + self.count].copy()

    def _gather(self, clocks: Clocks) -> None:
        more = len(clocks.sample)
        self._make_room(more)
        for column, new in zip(self.room, clocks, strict=True):
            column[self.count : self.count + len(new)] = new
        self.count += more

    def _make_room(self, more: int) -> None:
        """Have room for so many clocks more, and those to look ahead to."""
        needed = self.count + more + self._ahead
        if needed > len(self.room.sample):
            room = _clock_room(max(needed, 2 * len(self.room.sample)))
            for new, old in zip(room, self.room, strict=True):
                new[: self.count] = old[: self.count]
            self.room = room


def _clock_room(count: int) -> Clocks:
    return Clocks(np.empty(count, np.int64), np.empty(count, np.uint64), np.empty(count, np.uint64))


class PhaseColumns:
    """Columns of phases that a kernel fills, one entry a clock at most; and of their data alone.

    ``arrays`` are those that the kernels take.
    """

    NAMES: ClassVar = _LONG + _CODES + _SMALL

    def __init__(self, room: int) -> None:
        # One block, larger than all else together: when blocks alike are freed the C library gives
        # memory back to the system, and each page of the next has to be got and cleared again.
        block = np.empty(_PHASE_B * room, dtype=np.uint8)
        arrays = []
        end = 0
        for rows, kind in _PHASE_ARRAYS:
            begin, end = end, end + rows * room * np.dtype(kind).itemsize
            arrays.append(block[begin:end].view(kind).reshape(rows, room))
        longs, data, codes, small, enables = arrays
        self.arrays = Phases(longs, codes, small, data[0], enables[0])
        self.phases = self.data_phases = 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the phases that were written."""
        arrays: tuple[npt.NDArray[Any], ...] = (
            self.arrays.longs,
            self.arrays.codes,
            self.arrays.small,
        )
        for names, rows in zip((_LONG, _CODES, _SMALL), arrays, strict=True):
            if name in names:
                return self._kept(rows[names.index(name)][: self.phases])
        raise KeyError(name)

    @property
    def data(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return values and byte enables of the data phases alone."""
        return (
            self.arrays.data[: self.data_phases],
            self.arrays.data_enables[: self.data_phases],
        )

    def _kept(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # A table that is kept must not hold the room for many more phases than it has.
        return column if 2 * self.phases >= self.arrays.data.size else column.copy()


class HeldData:
    """The values of data phases, kept until the transaction that they belong to has ended."""

    def __init__(self) -> None:
        self._held: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []

    def lists(self, phases: PhaseColumns, counts: npt.NDArray[np.int64]) -> dict[str, pa.Array]:
        """Return the columns of values and of byte enables, of the phases that the rows ended.

        Args:
            phases: the new phases, in the order of the bus.
            counts: how many of all data phases that are there each row takes.
        """
        offsets = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=offsets[1:])
        used = int(offsets[-1])
        if not used:
            # While a transaction lasts nothing is copied twice.
            if phases.data_phases:
                self._held.append((phases.data[0].copy(), phases.data[1].copy()))
            values, enables = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
        else:
            pieces = [*self._held, phases.data]
            values = np.concatenate([piece[0] for piece in pieces])
            enables = np.concatenate([piece[1] for piece in pieces])
            left = used < len(values)
            self._held = [(values[used:].copy(), enables[used:].copy())] if left else []
        place = whole(offsets)
        return {
            "data": pa.ListArray.from_arrays(place, whole(values[:used])),
            "enables": pa.ListArray.from_arrays(place, whole(enables[:used])),
        }
