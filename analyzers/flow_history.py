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
"""A credit and the start it allows are stamped in two clock domains; they may seem this much apart."""


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
    """The recorded starts of one flow, oldest first; ``anchors`` PRESSURE events agree with them."""

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
    sizes = np.array([p.end - p.start for p in packets], np.int64)
    before = np.cumsum(sizes) - sizes
    taken = account.taken_credits
    base, votes = _base(view, account, starts, before)
    if base is None:
        return None
    found = []
    for k, packet in enumerate(packets):
        n = int(np.searchsorted(taken.t_ps, starts[k] + _CROSSING_PS, side="right"))
        if n == 0:
            continue  # what had been credited then is not in the log
        sent = (base + int(before[k])) % account.modulus
        credited = int(taken.freed[n - 1])
        outstanding = (sent + int(sizes[k]) - credited) % account.modulus
        found.append(Start(packet, sent, credited, outstanding, int(taken.positions[n - 1])))
    return FlowHistory(account, tuple(found), votes)


def _base(
    view: CaptureView, account: FlowAccount, starts: Int64, before: Int64
) -> tuple[int | None, int]:
    """Return what had been sent before the first recorded packet, and how many events say so."""
    log, taken = view.logs[account.sender], account.taken_credits
    assert account.limit is not None and account.modulus is not None
    votes: Counter[int] = Counter()
    for at in log.select("PRESSURE", "begin", flow=account.flow).tolist():
        free = int(log.value[at])
        t_ps = int(log.t_ps[at])
        if not free or t_ps < starts[0]:
            continue  # 0 may stand for less than nothing
        n = int(np.searchsorted(taken.positions, at))
        k = int(np.searchsorted(starts, t_ps - _CROSSING_PS // 2))
        said = set()
        for credit in {n - 1, n}:  # the credit may have come in the very cycle
            if not 0 <= credit < len(taken) or abs(int(taken.positions[credit]) - at) > 1 > n - credit:
                continue
            for packets in {k, k - 1, k + 1}:  # so may the start of the next packet
                if 0 < packets <= len(starts):
                    gone = int(before[packets]) if packets < len(before) else None
                    gone = int(before[-1]) if gone is None else gone
                    sent = int(taken.freed[credit]) + account.limit - free
                    said.add((sent - gone) % account.modulus)
        votes.update(said)
    if not votes:
        return None, 0
    (best, count), *rest = votes.most_common(2)
    return (None, 0) if rest and rest[0][1] == count and count > 1 else (best, count)
