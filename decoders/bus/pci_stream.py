"""What PCI and PCI-X share outside their kernels: clocks of a piece, and rows to columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus import pci_signals
from freezeframe.decoders.bus.clock_kernels import CLOCKING, Clocks, clocks_of, new_state
from freezeframe.decoders.bus.clock_sample_kernels import clocks_of_samples
from freezeframe.decoders.columns import by_column, whole

if TYPE_CHECKING:
    import pyarrow as pa

    from freezeframe.capture.files.edges import Edges
    from freezeframe.decoders.contract import OptionValues

_CLOCKS_AT_ONCE = 1 << 17
_LONG = ("sample", "end_sample", "value", "transaction")
_CODES = ("initiator_waits", "target_waits", "kind", "command", "parity")
_SMALL = ("enables", "wide")
# Rows and type of the arrays of `PhaseColumns`, the widest first: so each is aligned.
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

__all__ = [
    "BusClocks",
    "ClockStream",
    "HeldData",
    "PhaseColumns",
    "RowColumns",
    "decoded",
    "elapsed_ps",
    "span_columns",
]


class BusClocks(NamedTuple):
    """Clocks of a bus, all of which but the last ``ahead`` are to be decoded now.

    ``real`` of the entries are clocks; behind them the end of the capture stands in as ``sample``.
    ``bus`` is what the kernels are told of the signals.
    """

    clocks: Clocks
    stop: int
    bus: tuple[Any, ...]


class ClockStream:
    """Cuts a stream of edges or samples into clocks, of which a kernel sees some more than it decodes.

    So a phase is judged where it ends: by the parity that comes a clock later, and PERR# after it.
    Clocks are gathered until there are many: tables of so many columns take as long to make as some
    ten thousand clocks to decode.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._state = new_state()
        # The clocks that are not decoded yet, in room that is used again and again.
        self._room = _clock_room(0)
        self._count = 0

    def feed(
        self, piece: Edges | Samples, decoder: str, options: OptionValues, last: bool
    ) -> BusClocks | None:
        """Return the clocks of this piece and of those before it; None until there are enough.

        Raises:
            InputError: a part of the 64-bit extension is missing.
        """
        wide = pci_signals.is_wide(piece, decoder)
        clocking = np.zeros(1, dtype=CLOCKING)
        clocking["watch"] = 1 << pci_signals.CLK
        clocking["before"] = options.text("take") == "before"
        if isinstance(piece, Samples):
            self._gather(clocks_of_samples(piece, clocking, self._state))
        else:
            self._gather(clocks_of(piece, clocking, self._state))
        if not last and self._count < _CLOCKS_AT_ONCE:
            return None
        real = self._count
        self._room[0][real : real + self._ahead] = piece.end_sample
        stop = real if last else max(0, real - self._ahead)
        absent = np.uint64(pci_signals.absent_lines(piece))
        there = [bool(piece.channels[place]) for place in (pci_signals.PAR, pci_signals.PAR64)]
        return BusClocks(self._room, stop, (absent, wide, *there, real))

    def forget(self, stop: int) -> None:
        """Forget the clocks before ``stop``, which are decoded."""
        self._count -= stop
        for column in self._room:
            column[: self._count] = column[stop : stop + self._count].copy()

    def _gather(self, found: Clocks) -> None:
        count = self._count + len(found[0])
        if count + self._ahead > len(self._room[0]):
            room = _clock_room(max(count + self._ahead, 2 * len(self._room[0])))
            for new, old in zip(room, self._room, strict=True):
                new[: self._count] = old[: self._count]
            self._room = room
        for column, new in zip(self._room, found, strict=True):
            column[self._count : self._count + len(new)] = new
        self._count = count


def _clock_room(count: int) -> Clocks:
    return (
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.uint64),
        np.empty(count, dtype=np.uint64),
    )


class PhaseColumns:
    """Columns of phases that a kernel fills, one entry a clock at most; and of their data alone.

    A phase has begin, end, value on AD and number of its transaction; waits of both sides, codes of
    kind, command (one beyond the last for none) and parity; byte enables, and whether it is wide.
    ``arrays``: these as rows of ``(4, n)`` int64, ``(5, n)`` int32 and ``(2, n)`` uint8 (a kernel
    is called sooner with few arrays), and ``(n,)`` int64 and uint8 of the data phases alone.
    """

    def __init__(self, room: int) -> None:
        # One block, larger than all else together: when blocks alike are freed the C library gives
        # memory back to the system, and each page of the next has to be got and cleared anew.
        block = np.empty(_PHASE_B * room, dtype=np.uint8)
        arrays = []
        end = 0
        for rows, kind in _PHASE_ARRAYS:
            begin, end = end, end + rows * room * np.dtype(kind).itemsize
            arrays.append(block[begin:end].view(kind).reshape(rows, room))
        longs, data, codes, small, enables = arrays
        self.arrays = longs, codes, small, data[0], enables[0]
        self.made = self.taken = 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the phases that were made."""
        for names, rows in zip((_LONG, _CODES, _SMALL), self.arrays, strict=False):
            if name in names:
                return self._kept(rows[names.index(name)][: self.made])
        raise KeyError(name)

    @property
    def data(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return values and byte enables of the data phases alone."""
        return self.arrays[3][: self.taken], self.arrays[4][: self.taken]

    def _kept(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # A table that is kept must not hold the room for many more phases than it has.
        return column if 2 * self.made >= self.arrays[3].size else column.copy()


class HeldData:
    """The values of data phases, kept until the transaction that they belong to has ended."""

    def __init__(self) -> None:
        self._held: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]] = []

    def lists(
        self, phases: PhaseColumns, counts: npt.NDArray[np.int64]
    ) -> tuple[pa.Array, pa.Array]:
        """Return a column of values and one of byte enables, of the phases that the rows ended.

        Args:
            phases: the new phases, in the order of the bus.
            counts: how many of all data phases that are there each row takes.
        """
        import pyarrow as pa

        offsets = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=offsets[1:])
        used = int(offsets[-1])
        if not used:
            # While a transaction lasts nothing is copied twice.
            if phases.taken:
                self._held.append((phases.data[0].copy(), phases.data[1].copy()))
            values, enables = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.uint8)
        else:
            pieces = [*self._held, phases.data]
            values = np.concatenate([piece[0] for piece in pieces])
            enables = np.concatenate([piece[1] for piece in pieces])
            left = used < len(values)
            self._held = [(values[used:].copy(), enables[used:].copy())] if left else []
        place = whole(offsets)
        return (
            pa.ListArray.from_arrays(place, whole(values[:used])),
            pa.ListArray.from_arrays(place, whole(enables[:used])),
        )


def span_columns(
    sample: npt.NDArray[np.int64], end_sample: npt.NDArray[np.int64], samplerate_hz: int
) -> dict[str, Any]:
    """Return begin and end of rows in samples and in picoseconds."""
    sample, end = np.ascontiguousarray(sample), np.ascontiguousarray(end_sample)
    return {
        "t_ps": samples_to_ps(sample, samplerate_hz),
        "t_end_ps": samples_to_ps(end, samplerate_hz),
        "sample": sample,
        "end_sample": end,
    }


def elapsed_ps(
    begin: npt.NDArray[np.int64], end: npt.NDArray[np.int64], samplerate_hz: int
) -> npt.NDArray[np.int64]:
    """Return the time between two samples of each row; -1 where the second is -1."""
    until = samples_to_ps(np.maximum(end, 0), samplerate_hz)
    since = samples_to_ps(np.maximum(begin, 0), samplerate_hz)
    return np.where(end < 0, -1, until - since)


def decoded(
    kernel: Callable[..., tuple[int, int, int, int]],
    fed: BusClocks,
    state: tuple[npt.NDArray[np.void], ...],
    rows: npt.NDArray[np.void],
    after: Callable[[], None] = lambda: None,
) -> tuple[list[RowColumns], PhaseColumns]:
    """Run a kernel over all clocks; return its rows in pieces, and the phases.

    Args:
        rows: room that is used again and again.
        after: called whenever it is to be used again.
    """
    found: list[RowColumns] = []
    phases = PhaseColumns(fed.stop)
    done = 0
    while done < fed.stop:
        made = phases.made, phases.taken
        room = rows, phases.arrays
        done, count, *made_ = kernel(fed.clocks, done, fed.stop, fed.bus, state, made, room)
        phases.made, phases.taken = made_
        if count:
            found.append(by_column(rows[:count]))
        after()
    return found, phases
