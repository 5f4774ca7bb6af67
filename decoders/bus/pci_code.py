"""PCI and PCI-X piece by piece: clocks, phases and transactions, and their tables."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus import pci_signals, pci_tables, pcix_tables
from freezeframe.decoders.bus.pci_kernels import close, transactions
from freezeframe.decoders.bus.pci_names import PCI_NAMES, PCIX_NAMES, Names
from freezeframe.decoders.bus.pci_rows import new_machine
from freezeframe.decoders.bus.pci_stream import ClockStream, HeldData, PhaseColumns, RowColumns
from freezeframe.decoders.columns import by_column, end_to_end, span_table
from freezeframe.decoders.contract import OptionValues


class PciState:
    """What is carried from piece to piece: clocks ahead, the kernel's record, data of an open
    transaction."""

    def __init__(self, names: Names, options: OptionValues, *, to_perr: int) -> None:
        self.names = names
        self.clocks = ClockStream(to_perr, options)
        self.held = HeldData()
        self.machine = new_machine(names, extended=names is PCIX_NAMES, to_perr=to_perr)

    def decode(self, piece: Edges | Samples, stop: int, last: bool) -> _Decoded:
        """Run the kernel over the clocks before ``stop``, at the end of the capture over its rest."""
        decoded = _Decoded(PhaseColumns(stop))
        machine = self.machine
        signals = machine["bus"]
        signals["absent"] = pci_signals.absent_lines(piece.channels)
        signals["wide"] = pci_signals.is_wide(piece.channels, self.names.decoder)
        signals["has_par"] = bool(piece.channels[pci_signals.PAR])
        signals["has_par64"] = bool(piece.channels[pci_signals.PAR64])
        signals["recorded"] = self.clocks.count
        state = machine["state"][0]
        state["phases"] = state["data_phases"] = 0
        done = 0
        while done < stop:
            done = transactions(self.clocks.room, machine, decoded.phases.arrays, done, stop)
            self._take(decoded)
        decoded.phases.phases = int(state["phases"])
        decoded.phases.data_phases = int(state["data_phases"])
        if last:
            close(machine, piece.end_sample)
            self._take(decoded)
        return decoded

    def _take(self, decoded: _Decoded) -> None:
        """Take the rows that were written, and make room."""
        state = self.machine["state"][0]
        decoded.rows.append(by_column(self.machine["rows"][0][: state["rows"]]))
        decoded.splits.append(by_column(self.machine["ended"][0][: state["ended"]]))
        state["rows"] = state["ended"] = 0


class _Decoded:
    """What a piece gives: phases, and in parts transactions and splits."""

    def __init__(self, phases: PhaseColumns) -> None:
        self.phases = phases
        self.rows: list[RowColumns] = []
        self.splits: list[RowColumns] = []


def new_pci_state(options: OptionValues) -> PciState:
    """Return the state at the start of a capture of PCI."""
    return PciState(PCI_NAMES, options, to_perr=2)  # 3.7.4.1


def new_pcix_state(options: OptionValues) -> PciState:
    """Return the state at the start of a capture of PCI-X."""
    return PciState(PCIX_NAMES, options, to_perr=3)


def decode_pci(
    piece: Edges | Samples, options: OptionValues, state: PciState, last: bool
) -> dict[str, pa.Table]:
    """Decode a piece of a capture, in either form, with the channels of `pci_signals.CHANNELS`.

    Raises:
        InputError: a part of the 64-bit extension has no probe.
    """
    pci_signals.is_wide(piece.channels, state.names.decoder)
    stop = state.clocks.feed(piece, last)
    if not stop and not last:
        return _nothing(state.names.decoder)
    decoded = state.decode(piece, stop, last)
    state.clocks.forget(stop)
    return (
        _pcix(decoded, state, piece) if state.names is PCIX_NAMES else _pci(decoded, state, piece)
    )


@cache
def _nothing(decoder: str) -> dict[str, pa.Table]:
    if decoder == PCI_NAMES.decoder:
        return {
            "pci.phases": pci_tables.phase_schema().empty_table(),
            "pci.transactions": pci_tables.transaction_schema().empty_table(),
        }
    return {
        "pcix.phases": pcix_tables.phase_schema().empty_table(),
        "pcix.transactions": pcix_tables.transaction_schema().empty_table(),
        "pcix.splits": pcix_tables.split_schema().empty_table(),
    }


def _pci(decoded: _Decoded, state: PciState, piece: Edges | Samples) -> dict[str, pa.Table]:
    rows = end_to_end(decoded.rows)
    columns = pci_tables.transaction_columns(rows, PCI_NAMES, piece.samplerate_hz)
    columns |= state.held.lists(decoded.phases, rows["data_phases"])
    phases, transactions = pci_tables.phase_schema(), pci_tables.transaction_schema()
    return {
        "pci.phases": pci_tables.phase_table(phases, decoded.phases, piece, PCI_NAMES),
        "pci.transactions": span_table(
            transactions, rows, piece.channels[0], piece.samplerate_hz, **columns
        ),
    }


def _pcix(decoded: _Decoded, state: PciState, piece: Edges | Samples) -> dict[str, pa.Table]:
    rows = end_to_end(decoded.rows)
    columns = pci_tables.transaction_columns(rows, PCIX_NAMES, piece.samplerate_hz)
    columns |= state.held.lists(decoded.phases, rows["data_phases"])
    columns |= pcix_tables.who_columns(rows)
    phases, transactions = pcix_tables.phase_schema(), pcix_tables.transaction_schema()
    return {
        "pcix.phases": pci_tables.phase_table(phases, decoded.phases, piece, PCIX_NAMES),
        "pcix.transactions": span_table(
            transactions, rows, piece.channels[0], piece.samplerate_hz, **columns
        ),
        "pcix.splits": pcix_tables.split_table(end_to_end(decoded.splits), piece),
    }
