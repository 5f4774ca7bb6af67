"""Which resource each wait for credit was spent on: the receiver's FIFO, withheld credits, or the round trip.

A sender that waits needs to learn that one certain word was freed: the *critical word*, whose freeing makes room
for the packet that waits. The wait ends when a credit that covers it is taken. In between that word was on the link
(round trip), stood in the receiver's FIFO (receiver FIFO), had been freed and not reported because credits are sent
only every so many words (credit granularity), or the credit was on its way (round trip). A credit that covered it
and never arrived makes the rest of the wait a lost credit.

Source: FORTH 4.3 (back-pressure on the time line of throughput); docs/formats.md section 3.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.flights import flights
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.credits.sent_counts import PressureEnd, SentCounts, seen_unit
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import (
    STATE_VALUE_NEW_MASK,
    STATE_VALUE_OLD_LSB,
    STATE_VALUE_OLD_MASK,
    MachineState,
)

RECEIVER, GRANULARITY, ROUND_TRIP, LOST, UNKNOWN = (
    "receiver-fifo", "credit-granularity", "credit-round-trip", "credit-lost", "unknown",
)  # fmt: skip

_IN_FLIGHT_LINK = 2048  # cycles: a wait that long has outlived any credit on its way

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Blame:
    """One wait and what it was spent on, in picoseconds; the parts add up to the whole.

    ``queued_ps``: of the round trip, how long the credit that was due waited to be sent. ``kind``: the part that took
    longest. ``exact``: the waiting packet's size is known; else the critical word is one
    of those that the last credit stated, and the latest of them is taken.
    """

    begin_ps: int
    end_ps: int
    flow: int
    kind: str
    receiver_ps: int = 0
    granularity_ps: int = 0
    round_trip_ps: int = 0
    lost_ps: int = 0
    queued_ps: int = 0
    unknown_ps: int = 0
    exact: bool = False
    packet: int | None = None

    @property
    def wait_ps(self) -> int:
        return self.end_ps - self.begin_ps


def latency_ps(view: CaptureView, sender: str, receiver: str) -> int | None:
    """Return the shortest time of a packet from tx_deq to rx_enq; None where no packet is at both taps."""
    up = view.stream(sender, view.roles.tx.exit)
    down = view.stream(receiver, view.roles.rx.entry)
    if up is None or down is None:
        return None
    left = {p.seq: int(up.t_ps[p.start]) for p in up.packets if p.header_ok and p.has_head}
    delays = [
        int(down.t_ps[p.start]) - left[p.seq]
        for p in down.packets
        if p.header_ok and p.has_head and p.seq in left
    ]
    return max(0, min(delays)) if delays else None


def blame(view: CaptureView, counts: SentCounts, begins: Sequence[tuple[int, int]]) -> list[Blame]:
    """Return what every wait of a flow that has both its ends was spent on.

    Args:
        begins: ``(begin, end)`` of each wait, ps, as the intervals of the trace tell them.
    """
    account = counts.account
    ends = {end.t_ps: end for end in counts.ends}
    shortest_ps = latency_ps(view, account.sender, account.receiver)
    receiver = view.flow_log(account.receiver)
    drain = _Drain.of(view, account)
    blames = []
    for begin_ps, end_ps in begins:
        end = ends.get(end_ps)
        if end is None or receiver is None or not len(account.sent_credits):
            blames.append(
                Blame(begin_ps, end_ps, account.flow, UNKNOWN, unknown_ps=end_ps - begin_ps)
            )
        else:
            blames.append(_one(view, account, end, begin_ps, shortest_ps, drain))
    return blames


def standing(view: CaptureView, account: FlowAccount, begin_ps: int, end_ps: int) -> Blame:
    """Return what a wait that the freeze cut short was spent on, as both freeze banks stand.

    The whole wait is given to the one resource that stands between the sender and its credit at the freeze.
    """
    wait = end_ps - begin_ps
    reported, credited, waiting, withheld = (
        account.reported, account.credited, account.waiting, account.withheld,
    )  # fmt: skip
    if reported is None or credited is None or waiting is None or withheld is None:
        return Blame(begin_ps, end_ps, account.flow, UNKNOWN, unknown_ps=wait)
    if reported != credited:
        if flights(view, account).lost:
            return Blame(begin_ps, end_ps, account.flow, LOST, lost_ps=wait)
        if wait <= view.cycles_ps(account.sender, link=_IN_FLIGHT_LINK):
            return Blame(begin_ps, end_ps, account.flow, ROUND_TRIP, round_trip_ps=wait)
        return Blame(begin_ps, end_ps, account.flow, UNKNOWN, unknown_ps=wait)
    if withheld >= max(waiting, 1):
        return Blame(begin_ps, end_ps, account.flow, GRANULARITY, granularity_ps=wait)
    if waiting:
        return Blame(begin_ps, end_ps, account.flow, RECEIVER, receiver_ps=wait)
    return Blame(begin_ps, end_ps, account.flow, UNKNOWN, unknown_ps=wait)


def _one(
    view: CaptureView,
    account: FlowAccount,
    end: PressureEnd,
    begin_ps: int,
    shortest_ps: int | None,
    drain: _Drain,
) -> Blame:
    modulus, sent = account.modulus, account.sent_credits
    if modulus is None or account.limit is None:
        return Blame(begin_ps, end.t_ps, account.flow, UNKNOWN, unknown_ps=end.t_ps - begin_ps)
    critical = end.credited
    if end.packet is not None:
        critical = (end.sent + end.packet - account.limit) % modulus
    credit = _first_telling(account, critical, end.t_ps)
    if credit is None:
        return Blame(begin_ps, end.t_ps, account.flow, UNKNOWN, unknown_ps=end.t_ps - begin_ps)
    first, ending = credit
    freed_ps = drain.freed_at(account, critical, first)
    due_ps = drain.freed_at(account, _due(account, critical, first), first)
    arrived_ps = begin_ps
    if shortest_ps is not None:
        # The words sent after the critical one left no faster than one a link cycle.
        after = (end.sent - critical) % modulus
        arrived_ps = begin_ps + max(0, shortest_ps - view.cycles_ps(account.sender, link=after))
    told_ps, ending_ps = int(sent.t_ps[first]), int(sent.t_ps[ending])
    marks = [begin_ps, arrived_ps, freed_ps, due_ps, told_ps, ending_ps, end.t_ps]
    for i in range(1, len(marks) - 1):
        marks[i] = min(max(marks[i], marks[i - 1]), end.t_ps)
    way_in, waiting, withheld, queued, lost, way_back = np.diff(marks).tolist()
    parts = {
        RECEIVER: waiting, GRANULARITY: withheld, ROUND_TRIP: way_in + queued + way_back, LOST: lost,
    }  # fmt: skip
    return Blame(
        begin_ps,
        end.t_ps,
        account.flow,
        max(parts, key=lambda kind: parts[kind]),
        receiver_ps=parts[RECEIVER],
        granularity_ps=parts[GRANULARITY],
        round_trip_ps=parts[ROUND_TRIP],
        lost_ps=parts[LOST],
        queued_ps=queued,
        exact=end.packet is not None,
        packet=end.packet,
    )


def _due(account: FlowAccount, critical: int, first: int) -> int:
    """Return the freed count at which the credit that covers a word became due.

    Credits become due at multiples of the unit. Where the counts wrap at no multiple of it, those after the first
    wrap are not known, and the last possible count is taken.
    """
    unit, modulus = seen_unit(account) or 1, account.modulus or 1
    up = -critical % unit if modulus % unit == 0 else unit - 1
    freed = int(account.sent_credits.freed[first])
    return (critical + min(up, (freed - critical) % modulus)) % modulus


def _first_telling(account: FlowAccount, critical: int, end_ps: int) -> tuple[int, int] | None:
    """Return the first credit sent that covers a word, and the one whose taking ended the wait, by number.

    They differ only where a credit between them was never taken. None where the receiver's log does not hold it.
    """
    sent, taken, modulus = account.sent_credits, account.taken_credits, account.modulus or 1
    last = bisect_right(sent.t_ps.tolist(), end_ps) - 1
    heard = set(taken.freed[(taken.t_ps <= end_ps)][-64:].tolist())
    first = ending = None
    for i in range(last, -1, -1):
        if (int(sent.freed[i]) - critical) % modulus >= modulus // 2:
            break
        first = i
        if int(sent.freed[i]) in heard:
            ending = i
    if first is None or ending is None:
        return None
    return first, ending


@dataclass(frozen=True, slots=True, eq=False)
class _Drain:
    """When the receiver could empty its FIFO: its receive DMA moves words and its transmit DMA leaves it the bus.

    ``able_ps`` is how long it could up to ``t_ps``; ``word_ps``: a bus cycle, in which one word leaves at most.
    """

    t_ps: Int64
    able_ps: Int64
    word_ps: int

    @classmethod
    def of(cls, view: CaptureView, account: FlowAccount) -> _Drain:
        log = view.flow_log(account.receiver)
        word_ps = view.cycles_ps(account.receiver, bus=1)
        if log is None or not len(log):
            return cls(np.zeros(1, np.int64), np.zeros(1, np.int64), word_ps)
        marks = np.unique(
            np.concatenate([log.t_ps[log.select("STATE", "rx_dma", "tx_dma")], log.t_ps[[0, -1]]])
        )
        able = _state_at(log, "rx_dma", marks, MachineState.DATA)
        able &= ~_state_at(log, "tx_dma", marks, MachineState.DATA)
        spent = np.where(able[:-1], np.diff(marks), 0)
        return cls(marks, np.concatenate([[0], np.cumsum(spent)]).astype(np.int64), word_ps)

    def freed_at(self, account: FlowAccount, count: int, first: int) -> int:
        """Return the latest time at which a count can have been freed, for a credit told of more by its time.

        The words beyond it left one a bus cycle at most, and only while the DMA could move them.
        """
        sent, modulus = account.sent_credits, account.modulus or 1
        told_ps, told = int(sent.t_ps[first]), int(sent.freed[first])
        need_ps = (told - count) % modulus * self.word_ps
        able_ps = int(np.interp(told_ps, self.t_ps, self.able_ps)) - need_ps
        at = int(np.searchsorted(self.able_ps, able_ps, side="right")) - 1
        if at < 0:
            return min(told_ps - need_ps, told_ps)
        freed_ps = int(self.t_ps[at]) + able_ps - int(self.able_ps[at])
        since_ps = int(sent.t_ps[first - 1]) if first else freed_ps
        return min(max(freed_ps, since_ps), told_ps)


def _state_at(
    log: EventLog, machine: str, marks: Int64, state: MachineState
) -> npt.NDArray[np.bool_]:
    """Return whether a machine was in a state from each mark on; before its first change, what that one left."""
    at = log.select("STATE", machine)
    if not len(at):
        return np.full(len(marks), machine == "rx_dma")
    new = log.value[at] & STATE_VALUE_NEW_MASK
    old = int(log.value[at[0]]) >> STATE_VALUE_OLD_LSB & STATE_VALUE_OLD_MASK
    index = np.searchsorted(log.t_ps[at], marks, side="right") - 1
    in_state: npt.NDArray[np.bool_] = np.where(index >= 0, new[np.maximum(index, 0)], old) == state
    return in_state
