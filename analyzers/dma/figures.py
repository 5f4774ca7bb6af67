"""Figures of the analysis ``dma``: the bus by its counters, reads by their events, interrupts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.dma.interrupts import Interrupts
from freezeframe.analyzers.dma.reads import Read
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.timebase import PS_PER_S

_SINCE = "counter, since power-up"
_BINS = 16  # of the length histogram: bin b holds lengths of b bits
_LONGEST = 512  # words of a message: docs/formats.md section 3
_WORD_B, _MB = 8, 1 << 20
_COUNTERS = (
    ("bus.owned", "bus-cycles", "cycles in which it owned the bus", "cycles"),
    ("bus.data", "bus-data-cycles", "bus cycles that carried a word", "cycles"),
    ("bus.split_wait", "bus-wait-cycles", "cycles of waiting for split completions", "cycles"),
    ("bus.retries", "bus-retries", "transactions that were retried", ""),
    ("bus.disconnects", "bus-disconnects", "transactions that were disconnected", ""),
    ("descriptors", "work-posted", "descriptors posted", ""),
    ("notifications", "work-told", "notifications written", ""),
    ("interrupts", "host-called", "interrupts", ""),
)


def bus_figures(view: CaptureView, device: str) -> list[Figure]:
    """Return what the frozen counters say of the bus; a counter that was not read has no value."""
    figures = []
    values: dict[str, int | None] = {}
    for key, counts, label, unit in _COUNTERS:
        values[key] = view.count(device, counts)
        note = _SINCE if values[key] is not None else _not_read(view, counts)
        figures.append(Figure(f"{device}.{key}", f"{device} {label}", values[key], unit, note=note))
    owned, data = values["bus.owned"], values["bus.data"]
    share = 100 * data / owned if owned and data is not None else None
    figures.append(
        Figure(
            f"{device}.bus.efficiency", f"{device} data cycles of all cycles owned", share, "%",
            note="waiting for a split completion does not own the bus"
            if share is not None
            else "no cycle was owned, or the counters were not read",
        )
    )  # fmt: skip
    return figures


def _not_read(view: CaptureView, counts: str) -> str:
    name = view.roles.counter(counts)
    return f"frozen_counters.{name} was not read" if name else f"the card counts no {counts}"


def read_figures(device: str, reads: Sequence[Read]) -> list[Figure]:
    """Return what the reads of the transmit engine in the event log cost."""
    if not reads:
        note = "the event log holds no whole read of host memory"
        return [Figure(f"{device}.reads", f"{device} reads recorded", 0, note=note)]
    smooth = [read for read in reads if read.cycles is not None]
    splits = np.array([c for read in reads for c in read.split_cycles], np.int64)
    overlapped = sum(read.overlapped for read in reads)
    figures = [
        Figure(f"{device}.reads", f"{device} reads recorded", len(reads)),
        Figure(
            f"{device}.reads.retries", f"{device} retries of recorded reads",
            sum(read.retries for read in reads),
        ),
        Figure(
            f"{device}.reads.disconnects", f"{device} disconnects of recorded reads",
            sum(read.disconnects for read in reads),
        ),
        Figure(
            f"{device}.reads.overlapped", f"{device} reads that overlapped another", overlapped,
            note="their own waits are not told apart" if overlapped else "",
        ),
    ]  # fmt: skip
    if not len(splits):
        return figures
    for key, value in (
        ("mean", float(splits.mean())),
        ("min", int(splits.min())),
        ("p50", int(np.sort(splits)[(len(splits) - 1) // 2])),
        ("max", int(splits.max())),
    ):
        figures.append(
            Figure(
                f"{device}.split.{key}", f"{device} split wait, {key}", value, "cycles",
                note="from the accepted request to the completion on the bus",
            )
        )  # fmt: skip
    if smooth:
        figures += _smooth_figures(device, smooth)
    return figures


def _smooth_figures(device: str, smooth: Sequence[Read]) -> list[Figure]:
    """Return what reads cost that one completion answered, and the longest of them on their own."""
    longest = max(read.length_words for read in smooth)
    chosen = [read for read in smooth if read.length_words == longest]
    cycles = [read.cycles for read in chosen if read.cycles is not None]
    figures = []
    for key, label, values, note in (
        ("arbitration", "taking a descriptor to accepted request",
         [r.arbitration_cycles for r in smooth], "waits for room in the FIFO or for the bus are in it"),
        ("first_word", "accepted request to first word", [r.first_word_cycles for r in smooth], ""),
        ("start", "taking a descriptor to first word", [r.start_cycles for r in smooth], ""),
    ):  # fmt: skip
        known = [value for value in values if value is not None]
        if known:
            figures.append(
                Figure(
                    f"{device}.read.{key}", f"{device} {label}, mean", float(np.mean(known)),
                    "cycles", note=note,
                )
            )  # fmt: skip
    note = f"{len(chosen)} {'read' if len(chosen) == 1 else 'reads'} without retry or disconnect"
    figures += [
        Figure(f"{device}.read.longest.words", f"{device} longest reads", longest, "words"),
        Figure(
            f"{device}.read.longest.cycles", f"{device} longest reads, mean", float(np.mean(cycles)),
            "cycles", note=note,
        ),
        Figure(
            f"{device}.read.longest.cycles.min", f"{device} longest reads, least", min(cycles),
            "cycles",
        ),
        Figure(
            f"{device}.read.longest.cycles.max", f"{device} longest reads, most", max(cycles),
            "cycles",
        ),
        Figure(
            f"{device}.read.longest.efficiency", f"{device} longest reads, data cycles of all",
            100 * longest * len(cycles) / sum(cycles), "%", note=note,
        ),
    ]  # fmt: skip
    return figures


def interrupt_figures(view: CaptureView, device: str, seen: Interrupts) -> list[Figure]:
    """Return interrupts against completions, of the recording and of the counters."""
    figures = [
        Figure(f"{device}.completions.recorded", f"{device} completions recorded", seen.completions),
        Figure(f"{device}.interrupts.recorded", f"{device} interrupts recorded", seen.raised),
        Figure(
            f"{device}.interrupts.per_completion", f"{device} interrupts a completion",
            seen.per_completion,
            note="no completion was recorded"
            if not seen.completions
            else "remote and local notifications"
            if seen.with_local
            else "remote notifications",
        ),
        Figure(
            f"{device}.interrupts.unmasked", f"{device} interrupts on top of one not masked",
            len(seen.again),
        ),
        Figure(
            f"{device}.interrupts.lost", f"{device} completions without their interrupt",
            len(seen.lost),
        ),
    ]  # fmt: skip
    figures.append(
        Figure(
            f"{device}.interrupts.fruitless", f"{device} handlers that found nothing to take",
            seen.fruitless,
            note="the card counts a completion that its host does not see" if seen.fruitless else "",
        )
    )  # fmt: skip
    interrupts, notes = view.count(device, "host-called"), view.count(device, "work-told")
    if interrupts is not None and notes:
        figures.append(
            Figure(
                f"{device}.interrupts.per_notification",
                f"{device} interrupts a notification",
                interrupts / notes,
                note="counters, since power-up; local notifications are in it",
            )
        )
    if seen.response_cycles:
        figures.append(
            Figure(
                f"{device}.interrupts.response",
                f"{device} interrupt to handler, mean",
                float(np.mean(seen.response_cycles)),
                "cycles",
            )
        )
    return figures


def received_lengths(view: CaptureView, device: str) -> pd.DataFrame:
    """Return the device's histogram of the lengths of good packets, since power-up, as a table.

    ``from_words`` to ``to_words``, both ends included; without rows where it was not read.
    """
    counts = [view.value(device, "length_histogram", number) for number in range(_BINS)]
    return pd.DataFrame(
        [
            {
                "device": device,
                "from_words": 1 << number >> 1,
                "to_words": min(_LONGEST, (1 << number) - 1),
                "packets": count,
            }
            for number, count in enumerate(counts)
            if count is not None and 1 << number >> 1 <= _LONGEST
        ]
    )


def received_figures(view: CaptureView, device: str, lengths: pd.DataFrame) -> list[Figure]:
    """Return how many packets came and how much payload those of full length brought in a second."""
    if not len(lengths):
        return []
    figures = [
        Figure(
            f"{device}.received.packets", f"{device} good packets received",
            int(lengths["packets"].sum()), note=_SINCE,
        )
    ]  # fmt: skip
    whole = lengths[lengths["from_words"] == _LONGEST]["packets"]
    capture = view.device(device)
    frozen = None if capture is None else capture.registers.value64("frozen.freeze_cycle_")
    if len(whole) and capture is not None and frozen and capture.identity.clk_bus:
        count = int(whole.iloc[0])
        time_ps = frozen * PS_PER_S // capture.identity.clk_bus
        figures += [
            Figure(f"{device}.received.full", f"{device} packets of {_LONGEST} words received", count,
                   note=_SINCE),
            Figure(f"{device}.received.full.rate", f"{device} payload of full packets, mean",
                   count * _LONGEST * _WORD_B / _MB * PS_PER_S / time_ps, "MiB/s",
                   note="from power-up to the freeze, what came before the first packet included"),
        ]  # fmt: skip
    return figures
