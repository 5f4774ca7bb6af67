"""How many words of a flow were outstanding when each packet started, from the sender's own recording.

The freeze bank holds the counts as they stood when all memories had closed, which may be long after
the last recorded word. What ties recorded words to counts is the PRESSURE event: a blocked sender
writes down the free space it saw, and from that and the last credit taken follows what it had sent.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from freezeframe.analyzers.credit_ledger import FlowAccount
from freezeframe.analyzers.view import CaptureView, Packet

__all__ = ["FlowHistory", "Start", "flow_history"]

Int64 = npt.NDArray[np.int64]

_CROSSING_PS = 100_000
"""A credit and the start it allows are stamped in two clock domains; they may seem this much "
"apart."""


@dataclass(frozen=True, slots=True)
class Start:
    """One packet of the flow as it started. Counts are wrapped, in words, before the packet.

    ``outstanding`` includes the packet. ``credit``: position of the last credit in the event log
    that the sender had then, -1 when that is before the log.
    """

    packet: Packet
    sent: int
    credited: int
    outstanding: int
    credit: int

    @property
    def across_wrap(self) -> bool:
        """The count of sent words had wrapped and that of credited words had not."""
        return self.sent < self.credited


@dataclass(frozen=True, slots=True, eq=False)
class FlowHistory:
    """The recorded starts of one flow, oldest first; ``anchors`` PRESSURE events agree with "
    "them."""

    account: FlowAccount
    starts: tuple[Start, ...]
    anchors: int

    def beyond(self, limit: int) -> tuple[Start, ...]:
        """Return the starts with more than ``limit`` words outstanding."""
        return tuple(start for start in self.starts if start.outstanding > limit)


def flow_history(view: CaptureView, account: FlowAccount) -> FlowHistory | None:
    """Return the history of a flow; None when nothing ties its recorded words to its counts."""
    stream = view.stream(account.sender, "tx_deq")
    log = view.logs.get(account.sender)
    if stream is None or log is None or account.limit is None or account.modulus is None:
        return None
    packets = [p for p in stream.packets if p.flow == account.flow and not p.cut_start]
    if not packets:
        return None
    starts = np.array([stream.t_ps[p.start] for p in packets], np.int64)
    gone = np.cumsum([0, *(p.end - p.start for p in packets)], dtype=np.int64)
    taken = account.taken_credits
    base, votes = _base(view, account, starts, gone)
    if base is None:
        return None
    found = []
    for k, packet in enumerate(packets):
        n = int(np.searchsorted(taken.t_ps, starts[k] + _CROSSING_PS, side="right"))
        if n == 0:
            continue  # what had been credited then is not in the log
        sent = (base + int(gone[k])) % account.modulus
        credited = int(taken.freed[n - 1])
        outstanding = (base + int(gone[k + 1]) - credited) % account.modulus
        found.append(Start(packet, sent, credited, outstanding, int(taken.positions[n - 1])))
    return FlowHistory(account, tuple(found), votes)


def _base(
    view: CaptureView, account: FlowAccount, starts: Int64, gone: Int64
) -> tuple[int | None, int]:
    """Return what had been sent before the first recorded packet, and how many events agree.

    Args:
        starts: ``(n,)`` int64, when each packet of the flow started, ps.
        gone: ``(n + 1,)`` int64, words sent before each, and in all.
    """
    log, taken = view.logs[account.sender], account.taken_credits
    votes: Counter[int] = Counter()
    weights: Counter[int] = Counter()
    for at in log.select("PRESSURE", "begin", flow=account.flow).tolist():
        free, t_ps = int(log.value[at]), int(log.t_ps[at])
        if not free or t_ps < starts[0]:
            continue  # 0 may stand for less than nothing
        credit = int(np.searchsorted(taken.positions, at)) - 1
        packets = int(np.searchsorted(starts, t_ps))
        # A credit or a start stamped close to the event may belong on either side of it.
        for c in {credit, credit + (_close(taken.t_ps, credit + 1, t_ps))}:
            for k in {packets, packets - _close(starts, packets - 1, t_ps)}:
                if c >= 0 and k > 0 and account.limit is not None and account.modulus:
                    sent = int(taken.freed[c]) + account.limit - free
                    base = (sent - int(gone[k])) % account.modulus
                    votes[base] += 1
                    weights[base] += 2 if (c, k) == (credit, packets) else 1
    ranked = weights.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None, 0
    return ranked[0][0], votes[ranked[0][0]]


def _close(times_ps: Int64, at: int, t_ps: int) -> int:
    return int(0 <= at < len(times_ps) and abs(int(times_ps[at]) - t_ps) <= _CROSSING_PS)
