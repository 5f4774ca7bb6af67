"""Use of a PCI-X bus from its decoded transactions: data cycles, split latency, retries, disconnects.

The tables are those of the decoder ``pcix`` (docs/decoders-bus.md): of a logic analyzer on the bus, not of a
card. All initiators are in them, distinguished by their requester.

Source: PCI-X Addendum 1.0b, chapter 2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.capture.errors import InputError
from freezeframe.capture.timebase import PS_PER_S

Int64 = npt.NDArray[np.int64]

_DISCONNECTS = ("disconnect-at-adb", "single-data-disconnect")
_NEEDED = {
    "pcix.transactions": (
        "t_ps", "t_end_ps", "kind", "command", "requester", "data_phases", "size_B", "termination",
        "target_waits",
    ),
    "pcix.splits": (
        "t_ps", "t_end_ps", "kind", "byte_count", "received_B", "latency_ps",
    ),
}  # fmt: skip


@dataclass(slots=True)
class BusUse:
    """Sums over transactions; every count adds up, in any order.

    ``split_ps`` counts split latencies, ``sizes`` transactions by (command, bytes), ``ends`` by
    (requester, termination); ``reads`` holds (bytes, ps from the request to the last data) of split reads
    that were answered in full.
    """

    transactions: int = 0
    busy_ps: int = 0
    data_phases: int = 0
    size_B: int = 0
    target_waits: int = 0
    first_ps: int | None = None
    last_ps: int | None = None
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)
    sizes: Counter[tuple[str, int]] = field(default_factory=Counter)
    split_ps: Counter[int] = field(default_factory=Counter)
    reads: list[tuple[int, int]] = field(default_factory=list)
    errors: int = 0


def _take(use: BusUse, piece: dict[str, pa.Table]) -> None:
    """Add ``pcix.transactions`` and ``pcix.splits`` of a piece to the sums.

    Raises:
        InputError: a table or column is missing.
    """
    rows, splits = (_columns(piece, name) for name in _NEEDED)
    good = rows["kind"] == "transaction"
    use.errors += int((~good).sum())
    begin, end = rows["t_ps"][good].astype(np.int64), rows["t_end_ps"][good].astype(np.int64)
    use.transactions += int(good.sum())
    use.busy_ps += int((end - begin).sum())
    for name in ("data_phases", "size_B", "target_waits"):
        setattr(use, name, getattr(use, name) + int(rows[name][good].sum()))
    if len(begin):
        first, last = int(begin.min()), int(end.max())
        use.first_ps = first if use.first_ps is None else min(first, use.first_ps)
        use.last_ps = last if use.last_ps is None else max(last, use.last_ps)
    use.ends.update(
        zip(rows["requester"][good].tolist(), rows["termination"][good].tolist(), strict=True)
    )
    use.sizes.update(
        zip(rows["command"][good].tolist(), rows["size_B"][good].tolist(), strict=True)
    )
    answered = (splits["kind"] == "split") & (splits["latency_ps"].astype(np.int64) >= 0)
    use.errors += int((splits["kind"] != "split").sum())
    use.split_ps.update(splits["latency_ps"][answered].astype(np.int64).tolist())
    asked, came = (splits[n].astype(np.int64) for n in ("byte_count", "received_B"))
    whole = answered & (asked > 0) & (came >= asked)
    lasted = splits["t_end_ps"].astype(np.int64) - splits["t_ps"].astype(np.int64)
    use.reads += list(zip(asked[whole].tolist(), lasted[whole].tolist(), strict=True))


def pcix_use(
    tables: dict[str, pa.Table] | Sequence[dict[str, pa.Table]], clk_hz: int, *, width_B: int = 8
) -> AnalysisResult:
    """Say how a PCI-X bus was used.

    Args:
        tables: what the decoder ``pcix`` gave, whole or piece by piece.
        clk_hz: clock of the bus; a capture states samples, not clocks.
        width_B: bytes a data phase can carry.
    Raises:
        InputError: a table or column is missing, or the clock or width is not above 0.
    """
    if clk_hz <= 0 or width_B <= 0:
        raise InputError(f"PCI-X bus of {clk_hz} Hz, {width_B} B: both must be above 0")
    use = BusUse()
    for piece in [tables] if isinstance(tables, dict) else tables:
        _take(use, piece)
    notes = []
    if use.errors:
        notes.append(
            f"{use.errors} rows are errors of the bus or cut transactions; not in the sums"
        )
    if not use.transactions:
        notes.append("there is no whole transaction")
        return AnalysisResult("dma", notes=tuple(notes))
    return AnalysisResult(
        "dma",
        figures=tuple(_figures(use, clk_hz, width_B)),
        tables=_tables(use, clk_hz, width_B),
        notes=tuple(notes),
    )


def _columns(batch: dict[str, pa.Table], table: str) -> dict[str, npt.NDArray[np.object_]]:
    if table not in batch:
        raise InputError(f"there is no table {table}; it comes from the decoder pcix")
    missing = [name for name in _NEEDED[table] if name not in batch[table].column_names]
    if missing:
        raise InputError(f"{table}: has no column {', '.join(missing)}")
    return {
        name: batch[table].column(name).to_numpy(zero_copy_only=False) for name in _NEEDED[table]
    }


def _figures(use: BusUse, clk_hz: int, width_B: int) -> list[Figure]:
    busy = _cycles(use.busy_ps, clk_hz)
    span = _cycles((use.last_ps or 0) - (use.first_ps or 0), clk_hz)
    retries = sum(count for (_, end), count in use.ends.items() if end == "retry")
    broken = sum(count for (_, end), count in use.ends.items() if end in _DISCONNECTS)
    splits = sum(use.split_ps.values())
    figures = [
        Figure("pcix.transactions", "transactions", use.transactions),
        Figure("pcix.busy", "cycles of transactions", busy, "cycles"),
        Figure("pcix.data", "cycles that carried data", use.data_phases, "cycles"),
        Figure("pcix.efficiency", "data cycles of cycles of transactions",
               100 * use.data_phases / busy if busy else None, "%",
               note="waiting for a Split Completion is no transaction"),
        Figure("pcix.load", "cycles of transactions of all from the first to the last",
               100 * busy / span if span else None, "%"),
        Figure("pcix.waits", "wait cycles of targets", use.target_waits, "cycles"),
        Figure("pcix.retries", "transactions that were retried", retries),
        Figure("pcix.disconnects", "transactions that were disconnected", broken),
        Figure("pcix.splits", "split transactions answered", splits),
    ]  # fmt: skip
    if splits:
        waits = np.repeat(
            np.array(sorted(use.split_ps), np.int64),
            [use.split_ps[ps] for ps in sorted(use.split_ps)],
        )
        figures += [
            Figure(f"pcix.split.{key}", f"split latency, {key}", _cycles(int(value), clk_hz), "cycles",
                   note="from the Split Response to the first Split Completion")
            for key, value in (("min", waits[0]), ("p50", waits[(len(waits) - 1) // 2]),
                               ("max", waits[-1]))
        ]  # fmt: skip
    if use.reads:
        longest = max(size for size, _ in use.reads)
        lasted = [ps for size, ps in use.reads if size == longest]
        mean = _cycles(sum(lasted), clk_hz) / len(lasted)
        words = -(-longest // width_B)
        figures += [
            Figure("pcix.read.longest.words", f"longest split reads, words of {width_B} B", words),
            Figure("pcix.read.longest.cycles", "longest split reads, request to last data, mean",
                   mean, "cycles", note=f"{len(lasted)} reads"),
            Figure("pcix.read.longest.efficiency", "longest split reads, data cycles of all",
                   100 * words / mean, "%"),
        ]  # fmt: skip
    return figures


def _tables(use: BusUse, clk_hz: int, width_B: int) -> dict[str, pd.DataFrame]:
    return {
        "transactions_by_size": pd.DataFrame(
            [
                {"command": c, "size_B": s, "transactions": n}
                for (c, s), n in sorted(use.sizes.items())
            ]
        ),
        "ends": pd.DataFrame(
            [
                {"requester": who, "termination": end, "transactions": n}
                for (who, end), n in sorted(use.ends.items())
            ]
        ),
        "splits": pd.DataFrame(
            [
                {"split_cycles": _cycles(ps, clk_hz), "splits": n}
                for ps, n in sorted(use.split_ps.items())
            ]
        ),
        "reads": pd.DataFrame(
            [
                {"size_B": size, "words": -(-size // width_B), "cycles": _cycles(ps, clk_hz)}
                for size, ps in sorted(use.reads)
            ]
        ),
    }


def _cycles(ps: int, clk_hz: int) -> int:
    """Return a time as cycles of the bus, to the nearest: samples do not meet clock edges exactly."""
    return (ps * clk_hz + PS_PER_S // 2) // PS_PER_S
