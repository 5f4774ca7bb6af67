"""The clock of a host against that of its card, bounded by what both saw.

A handler is entered after the card raised the line, and before the card notes that the handler masked it; a
descriptor's last word is written by the host before the card notes it. Which entry belongs to which interrupt
follows from their order, where only one order is possible at all; which write is which descriptor from runs of
lengths, flags and flows that occur once on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.capture.clock_relation import MOST_DRIFT_PPM, Bound, Relation, relate
from freezeframe.capture.registers.layouts import DESCRIPTOR, Kind
from freezeframe.capture.timebase import UNKNOWN_PS
from freezeframe.decoders.host.lines import HostLine
from freezeframe.decoders.trace.views import descriptors

_RUNS = (8, 5, 3)  # accesses in a row that must agree; the longest that gives enough
_ENOUGH = 3
_CONTROL_LSB = 96  # the control word is the fourth of a descriptor
_TRIES = 8
_NEVER_PS = 1 << 62

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HostClock:
    """How the host's clock stands to the capture's time, and how that is known.

    ``irq`` is the line whose handler serves the card, -1 where none was found; the interrupt number i of the
    card's log is entry number i + ``ahead`` of that handler. ``relation`` is None where the two are not related;
    ``note`` says why, or how well they are.
    """

    relation: Relation | None
    irq: int
    note: str
    ahead: int = 0


def relate_host(lines: Sequence[HostLine], events: pd.DataFrame, device: str) -> HostClock:
    """Return how the clock of a host's trace stands to ``t_ps`` of a capture.

    Args:
        lines: of one trace.
        events: the table ``events`` of the capture.
        device: the card in that host.
    """
    own = events[(events["device"] == device).to_numpy() & (events["t_unc_ps"] != UNKNOWN_PS)]
    written = _written(lines, own)
    interrupts = _interrupts(own)
    best: tuple[Relation, int, int] | None = None
    most = 0
    for irq in sorted({line.irq for line in lines if line.kind == "irq_handler_entry"}):
        entries = [x for x in lines if x.kind == "irq_handler_entry" and x.irq == irq]
        most = max(most, len(entries))
        fit = _by_order(entries, interrupts, written)
        if fit is not None and (best is None or fit[0].offset_unc_ps < best[0].offset_unc_ps):
            best = fit[0], irq, fit[1]
    if best is None:
        return HostClock(None, -1, _why_not(written, interrupts, most, device))
    relation, irq, ahead = best
    return HostClock(
        relation,
        irq,
        f"clock of the host related by the handler of irq {irq} and {len(written)} register writes "
        f"({relation.bounds} bounds), within {relation.offset_unc_ps / 1000:.0f} ns and "
        f"{relation.drift_unc_ppt / 10**6:.1f} ppm",
        ahead,
    )


def _why_not(
    written: Sequence[Bound],
    interrupts: Sequence[_Interrupt],
    entries: int,
    device: str,
) -> str:
    seen = (
        f"{len(written)} register writes were seen by the host and by {device}"
        if written
        else f"no run of descriptor writes was seen both by the host and by {device}"
    )
    if not entries:
        why = "the trace holds no entry of an interrupt handler"
    elif not interrupts:
        why = f"{device} recorded no interrupt"
    elif min(entries, len(interrupts)) < _ENOUGH:
        return (
            f"{seen}; the trace holds {entries} and {device} recorded {len(interrupts)} of the {_ENOUGH} "
            "interrupts with their handlers that relate the clocks: the host's clock is not related to the "
            "card's; capture again with more interrupts before the freeze"
        )
    else:
        why = f"the order of handler entries fits none or several of {device}'s interrupts"
    return (
        f"{seen}, and {why}: the host's clock is not related to the card's; trace register writes and "
        "handlers (trace-cmd record -e rwmmio -e irq) until the card freezes"
    )


class _Interrupt(NamedTuple):
    """An interrupt as the card noted it: raised not before, and masked by the handler not after (or None)."""

    raised_ps: int
    masked_ps: int | None


def _interrupts(events: pd.DataFrame) -> list[_Interrupt]:
    interrupts: list[_Interrupt] = []
    log = events[events["kind"] == Kind.IRQ.name]
    for code, t_ps, unc_ps in zip(log["code"], log["t_ps"], log["t_unc_ps"], strict=True):
        if code == "raised":
            interrupts.append(_Interrupt(int(t_ps) - int(unc_ps), None))
        elif code == "masked" and interrupts and interrupts[-1].masked_ps is None:
            interrupts[-1] = interrupts[-1]._replace(masked_ps=int(t_ps) + int(unc_ps))
    return interrupts


def _written(lines: Sequence[HostLine], events: pd.DataFrame) -> list[Bound]:
    """Return a bound for each descriptor whose last write the host's trace holds."""
    posted = descriptors(events)
    posted = posted[posted["code"] == "posted"]
    theirs = list(posted[["length", "flags", "flow"]].itertuples(index=False, name=None))
    latest = (posted["t_ps"] + posted["t_unc_ps"]).tolist()
    by_address: dict[int, list[HostLine]] = {}
    for line in lines:
        if line.kind == "write" and line.own_ps >= 0:
            by_address.setdefault(line.address, []).append(line)
    most: list[Bound] = []
    for writes in by_address.values():
        pairs = _same_runs([_control(line.value) for line in writes], theirs)
        bounds = [Bound(writes[i].own_ps, latest[j], at_most=True) for i, j in pairs]
        most = max(most, bounds, key=len)
    return most


def _control(word: int) -> tuple[int, int, int]:
    fields = DESCRIPTOR.unpack((word & 0xFFFFFFFF) << _CONTROL_LSB)
    return fields["length"], fields["flags"], fields["flow"]


def _same_runs(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return positions of things that are the same: each stands in a run that occurs once in either."""
    for length in _RUNS:
        left, right = _runs(ours, length), _runs(theirs, length)
        pairs = {
            (left[run] + i, right[run] + i)
            for run in left.keys() & right.keys()
            for i in range(length)
        }
        if len(pairs) >= max(_ENOUGH, length):
            return sorted(pairs)
    return []


def _runs(items: Sequence[Hashable], length: int) -> dict[tuple[Hashable, ...], int]:
    at = [tuple(items[i : i + length]) for i in range(len(items) - length + 1)]
    times = Counter(at)
    return {run: i for i, run in enumerate(at) if times[run] == 1}


def _by_order(
    entries: Sequence[HostLine], interrupts: Sequence[_Interrupt], written: Sequence[Bound]
) -> tuple[Relation, int] | None:
    """Return the one relation in which handler entries follow interrupts one to one, and by how many entries
    the trace is ahead; None without one, or with several."""
    fits: list[tuple[Relation, int]] = []
    for shift in _shifts(entries, interrupts, written):
        first, last = max(0, -shift), min(len(interrupts), len(entries) - shift)
        bounds = list(written)
        for interrupt, entry in zip(
            interrupts[first:last], entries[first + shift : last + shift], strict=True
        ):
            # The latest instant that the digits allow: an entry is not before the interrupt even then.
            bounds.append(Bound(entry.own_ps + entry.unc_ps, interrupt.raised_ps, at_most=False))
            if interrupt.masked_ps is not None:
                bounds.append(Bound(entry.own_ps, interrupt.masked_ps, at_most=True))
        try:
            relation = relate(bounds)
        except ValueError:
            continue
        if relation is not None:
            fits.append((relation, shift))
    return fits[0] if len(fits) == 1 else None


def _shifts(
    entries: Sequence[HostLine], interrupts: Sequence[_Interrupt], written: Sequence[Bound]
) -> list[int]:
    """Return by how many entries the trace may be ahead of the card's log, as far as that is possible at all.

    Only orders in which most of the shorter side has a partner: a single pair fits anywhere.
    """
    if len(entries) < _ENOUGH or len(interrupts) < _ENOUGH:
        return []
    # From the first entry on: a computer that has run for over 106 days counts beyond int64.
    zero_ps = entries[0].own_ps
    own = np.array([entry.own_ps - zero_ps for entry in entries], np.int64)
    raised = np.array([one.raised_ps for one in interrupts], np.int64)
    masked = np.array(
        [_NEVER_PS if one.masked_ps is None else one.masked_ps for one in interrupts], np.int64
    )
    spans = [bound.own_ps for bound in written]
    span = int(own[-1]) + (max(spans) - min(spans) if spans else 0)
    slack = 2 * span * MOST_DRIFT_PPM // 10**6 + 1000 + entries[0].unc_ps
    most = min((b.reference_ps - b.own_ps + zero_ps for b in written), default=_NEVER_PS)
    wanted = max(_ENOUGH, 3 * min(len(own), len(raised)) // 4)
    shifts = []
    for shift in range(-len(raised) + wanted, len(own) - wanted + 1):
        first, last = max(0, -shift), min(len(raised), len(own) - shift)
        at = own[first + shift : last + shift]
        low = int((raised[first:last] - at).max())
        high = min(most, int((masked[first:last] - at).min()))
        if low <= high + slack:
            shifts.append(shift)
    return shifts[:_TRIES]
