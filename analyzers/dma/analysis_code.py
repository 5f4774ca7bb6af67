"""Analysis ``dma``: what the DMA engines of each card did on the bus, and what their hosts were notified of.

Source: FORTH paper, sections 2.6, 4.1 and 4.2; docs/analyzers.md says what it can and cannot tell.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals
from freezeframe.analyzers.dma.figures import (
    bus_figures,
    interrupt_figures,
    read_figures,
    received_figures,
    received_lengths,
)
from freezeframe.analyzers.dma.findings import interrupt_faults
from freezeframe.analyzers.dma.interrupts import DMA_KINDS, device_rows, interrupts_in
from freezeframe.analyzers.dma.rates import rate_figures
from freezeframe.analyzers.dma.reads import Read, reads_in
from freezeframe.analyzers.dma.transfers import Transfers, transfers_of
from freezeframe.analyzers.view import CaptureView


def dma(view: CaptureView) -> AnalysisResult:
    """Look at every device of a capture; see `DMA`."""
    trace = view.trace
    figures: list[Figure] = []
    intervals: list[Intervals] = []
    notes: list[str] = []
    reads: dict[str, list[Read]] = {}
    transfers: dict[str, Transfers] = {}
    lengths: list[pd.DataFrame] = []
    for device in view.names:
        log = view.logs[device]
        missing = [kind.name for kind in DMA_KINDS if not log.recorded(kind)]
        if missing:
            notes.append(
                f"{device}: its event log did not record {', '.join(missing)}; what rests on them is "
                "not told"
            )
        if log.gaps:
            notes.append(f"{device}: a part of its event log was not read")
        rows = device_rows(trace, device)
        reads[device] = [read for read in reads_in(rows) if read.from_host]
        transfers[device] = transfers_of(view, device)
        interrupts = interrupts_in(rows)
        figures += bus_figures(view, device)
        figures += read_figures(device, reads[device])
        figures += rate_figures(view, device)
        lengths.append(received_lengths(view, device))
        figures += received_figures(view, device, lengths[-1])
        figures += transfers[device].figures()
        figures += interrupt_figures(view, device, interrupts)
        intervals.append(transfers[device].intervals())
        notes += transfers[device].notes
    return AnalysisResult(
        "dma",
        figures=tuple(figures),
        intervals=tuple(track for track in intervals if len(track.t_ps)),
        findings=tuple(interrupt_faults(view)),
        tables=_tables(reads, transfers, lengths),
        notes=tuple(dict.fromkeys(notes)),
    )


def _tables(
    reads: dict[str, list[Read]], transfers: dict[str, Transfers], lengths: list[pd.DataFrame]
) -> dict[str, pd.DataFrame]:
    rows = [
        {
            "t_ps": r.t_ps, "device": device, "seq": r.seq, "flow": r.flow,
            "length_words": r.length_words, "fetch_cycle": r.fetch, "request_cycle": r.request,
            "data_cycle": r.data, "done_cycle": r.done, "cycles": r.cycles,
            "first_split_cycles": r.split_cycles[0] if r.split_cycles else None, "splits": len(r.split_cycles),
            "retries": r.retries, "disconnects": r.disconnects, "events_row": r.row,
        }
        for device, of_device in reads.items()
        for r in of_device
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    for name in ("fetch_cycle", "request_cycle", "data_cycle", "cycles", "first_split_cycles"):
        if name in table:
            table[name] = table[name].astype("Int64")
    return {
        "reads": table,
        "reads_by_length": _by_length(reads),
        "splits": _split_histogram(reads),
        "received_by_length": pd.concat(lengths, ignore_index=True) if lengths else pd.DataFrame(),
        "transfers": pd.concat([t.table() for t in transfers.values()], ignore_index=True)
        if transfers
        else pd.DataFrame(),
    }


def _by_length(reads: dict[str, list[Read]]) -> pd.DataFrame:
    """Return transfers by size: how many, and what the smooth ones cost on the bus."""
    rows = []
    for device, of_device in reads.items():
        for length in sorted({read.length_words for read in of_device}):
            group = [read for read in of_device if read.length_words == length]
            cycles = [read.cycles for read in group if read.cycles is not None]
            rows.append(
                {
                    "device": device,
                    "length_words": length,
                    "reads": len(group),
                    "smooth": len(cycles),
                    "mean_cycles": float(np.mean(cycles)) if cycles else float("nan"),
                    "data_share": length * len(cycles) / sum(cycles) if cycles else float("nan"),
                    "retries": sum(read.retries for read in group),
                    "disconnects": sum(read.disconnects for read in group),
                }
            )
    return pd.DataFrame(rows)


def _split_histogram(reads: dict[str, list[Read]]) -> pd.DataFrame:
    rows = []
    for device, of_device in reads.items():
        waits = np.array([c for read in of_device for c in read.split_cycles], np.int64)
        cycles, counts = np.unique(waits, return_counts=True)
        rows += [
            {"device": device, "split_cycles": cycle, "splits": count}
            for cycle, count in zip(cycles.tolist(), counts.tolist(), strict=True)
        ]
    return pd.DataFrame(rows)
