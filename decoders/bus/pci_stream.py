"""What PCI and PCI-X share outside their kernels: clocks of a piece, and rows to columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.decoders.bus import pci_signals
from freezeframe.decoders.bus.clock_kernels import CLOCKING, Clocks, clocks_of, new_state

if TYPE_CHECKING:
    import pyarrow as pa
    from freezeframe.capture.files.edges import Edges
    from freezeframe.decoders.contract import OptionValues

_PHASE_COLUMNS = (
    "sample",
    "end_sample",
    "value",
    "transaction",
    "initiator_waits",
    "target_waits",
    "kind",
    "command",
    "parity",
    "enables",
    "wide",
)

__all__ = ["BusClocks", "ClockStream", "HeldData", "decoded", "elapsed_ps", "span_columns"]


class BusClocks(NamedTuple):
    """Clocks of a bus, all of which but the last ``ahead`` are to be decoded now.

    ``real`` of the entries are clocks; behind them the end of the capture stands in as ``sample``.
    ``bus`` is what the kernels are told of the signals.
    """

    clocks: Clocks
    stop: int
    bus: tuple[Any, ...]


class ClockStream:
    """Cuts a stream of edges into clocks, of which a kernel sees some more than it decodes.

    So a phase is judged where it ends: by the parity that comes a clock later, and PERR# after it.
    """

    def __init__(self, ahead: int) -> None:
        self._ahead = ahead
        self._state = new_state()
        self._held: Clocks | None = None

    def feed(self, edges: Edges, decoder: str, options: OptionValues, last: bool) -> BusClocks:
        """Return the clocks of a piece.

        Raises:
            InputError: a part of the 64-bit extension is missing.
        """
        wide = pci_signals.is_wide(edges, decoder)
        clocking = np.zeros(1, dtype=CLOCKING)
        clocking["watch"] = 1 << pci_signals.CLK
        clocking["before"] = options.text("take") == "before"
        sample, low, high = clocks_of(edges, clocking, self._state, self._held)
        real = len(sample)
        kept = max(0, real - self._ahead)
        self._held = sample[kept:].copy(), low[kept:].copy(), high[kept:].copy()
        stop = kept
        if last:
            stop = real
            sample = np.append(sample, np.full(self._ahead, edges.end_sample))
        absent = np.uint64(pci_signals.absent_lines(edges))
        there = [bool(edges.channels[place]) for place in (pci_signals.PAR, pci_signals.PAR64)]
        return BusClocks((sample, low, high), stop, (absent, wide, *there, real))


class PhaseColumns:
    """Columns of phases that a kernel fills, one entry a clock at most; and of their data alone.

    A phase has begin, end, value on AD, number of its transaction, waits of both sides, codes of
    kind, command (one beyond the last for none) and parity, byte enables, and whether it is wide.
    """

    def __init__(self, room: int) -> None:
        kinds = (np.int64, np.int64, np.uint64, np.int64, np.int32, np.int32)
        codes = (np.int32, np.int32, np.int32, np.uint8, np.bool_)
        data = (np.uint64, np.uint8)
        self.columns = tuple(np.empty(room, dtype=kind) for kind in (*kinds, *codes, *data))
        self.made = self.taken = 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """Return a column of the phases that were made."""
        return self.columns[_PHASE_COLUMNS.index(name)][: self.made]

    @property
    def data(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
        """Return values and byte enables of the data phases alone."""
        values: npt.NDArray[Any] = self.columns[-2]
        enables: npt.NDArray[Any] = self.columns[-1]
        return values[: self.taken], enables[: self.taken]


class HeldData:
    """The values of data phases, kept until the transaction that they belong to has ended."""

    def __init__(self) -> None:
        self._held: list[tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]] = []

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
        pieces = [*self._held, phases.data]
        if not used:
            # While a transaction lasts nothing is copied twice.
            if phases.taken:
                self._held.append((phases.data[0].copy(), phases.data[1].copy()))
            values, enables = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint8)
        else:
            values = np.concatenate([piece[0] for piece in pieces])
            enables = np.concatenate([piece[1] for piece in pieces])
            left = used < len(values)
            self._held = [(values[used:].copy(), enables[used:].copy())] if left else []
        place = pa.array(offsets)
        return (
            pa.ListArray.from_arrays(place, pa.array(values[:used].view(np.int64))),
            pa.ListArray.from_arrays(place, pa.array(enables[:used])),
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
) -> tuple[list[npt.NDArray[np.void]], PhaseColumns]:
    """Run a kernel over all clocks; return its rows in pieces, and the phases.

    Args:
        rows: room that is used again and again.
        after: called whenever it is to be used again.
    """
    found = []
    phases = PhaseColumns(fed.stop)
    done = 0
    while done < fed.stop:
        made = phases.made, phases.taken
        room = rows, phases.columns
        done, count, *made_ = kernel(fed.clocks, done, fed.stop, fed.bus, state, made, room)
        phases.made, phases.taken = made_
        found.append(rows[:count].copy())
        after()
    return found, phases
