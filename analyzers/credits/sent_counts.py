"""How many words of each flow had been sent before each packet, over the whole event log of a sender.

DESC events give the packets in the order in which they leave; every end of back-pressure states what had been
sent before the packet that starts then: the last credit taken, plus the limit, less the free words seen. The one
offset between the two that most of these ends agree on ties the packets to the counts, also where the memory of
tx_deq does not reach back.

Source: docs/formats.md sections 3 and 4.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from freezeframe.analyzers.credits.ledger import FlowAccount, departures
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
)

CROSSING_BUS, CROSSING_LINK = 6, 4
"""Cycles of both clocks that an event and what it states may seem apart, being stamped in two domains."""

FRAME_WORDS = 3
"""Words of a packet beside its payload: header, address, tail."""

_FEW_STEPS = 4  # steps from which on the smallest says something of the unit
_WAITING = 16  # packets of a flow that may stand in the outgoing FIFO before the one that waits


@dataclass(frozen=True, slots=True)
class Loaded:
    """A packet that stood whole in the outgoing FIFO: by its DESC event ``done``. ``words`` with its frame."""

    seq: int
    flow: int
    words: int
    started_ps: int | None
    done_ps: int


@dataclass(frozen=True, slots=True)
class PressureEnd:
    """The end of a wait for credit: what the sender's books said then, counts wrapped, in words.

    ``sent``: before the packet that starts; ``packet``: its words, None where not known; ``credit``: number of the
    credit, among those taken, that ended the wait.
    """

    t_ps: int
    flow: int
    free: int
    sent: int
    credited: int
    credit: int
    packet: int | None = None


@dataclass(frozen=True, slots=True)
class SentCounts:
    """One flow: its ends of back-pressure, and the packets' counts where they could be tied.

    ``base``: words sent before the first of ``packets``, wrapped; None where nothing ties them. ``votes`` ends of
    ``ends`` agree with it.
    """

    account: FlowAccount
    packets: tuple[Loaded, ...]
    ends: tuple[PressureEnd, ...]
    base: int | None
    votes: int


def loaded_packets(log: EventLog) -> list[Loaded]:
    """Return the packets that the log says were put into the outgoing FIFO, oldest first.

    Only the last stretch without a missing sequence number.
    """
    started: dict[int, int] = {}
    packets: list[Loaded] = []
    at = log.select("DESC", "started", "done")
    lengths = (log.value[at] >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK).tolist()
    seqs = (log.value[at] >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK).tolist()
    rows = zip(
        seqs,
        log.flow[at].tolist(),
        lengths,
        log.t_ps[at].tolist(),
        log.code[at].tolist(),
        strict=True,
    )
    for seq, flow, length, t_ps, code in rows:
        if code == "started":
            started[seq] = t_ps
            continue
        if packets and seq != packets[-1].seq + 1 & DESC_VALUE_SEQ_MASK:
            packets.clear()
        packets.append(Loaded(seq, flow, length + FRAME_WORDS, started.pop(seq, None), t_ps))
    return packets


def sent_counts(view: CaptureView, account: FlowAccount, packets: Sequence[Loaded]) -> SentCounts:
    """Tie the packets of a flow to its counts.

    Args:
        packets: of all flows of the sender, as `loaded_packets` gives them.
    """
    log = view.flow_log(account.sender)
    mine = tuple(packet for packet in packets if packet.flow == account.flow)
    if log is None or log.gaps or account.limit is None or account.modulus is None:
        return SentCounts(account, mine, (), None, 0)
    crossing_ps = view.cycles_ps(account.sender, bus=CROSSING_BUS, link=CROSSING_LINK)
    ends = _ends(log, account, crossing_ps)
    starts = {d.t_ps: d.seq for d in departures(view, account.sender) if d.flow == account.flow}
    before = np.concatenate([[0], np.cumsum([p.words for p in mine])]).astype(np.int64).tolist()
    done = [p.done_ps for p in mine]
    number = {p.seq: k for k, p in enumerate(mine)}
    votes: Counter[int] = Counter()
    for end in ends:
        last = bisect_right(done, end.t_ps + crossing_ps)
        near = [seq for t, seq in starts.items() if abs(t - end.t_ps) <= crossing_ps]
        fitting = [number[s] for s in near if s in number] or range(max(0, last - _WAITING), last)
        for k in fitting:
            if mine[k].words <= end.free:
                votes[(end.sent - before[k]) % account.modulus] += 1
    best = max(votes.values(), default=0)
    if best * 2 <= len([end for end in ends if done and end.t_ps >= done[0]]):
        return SentCounts(account, mine, tuple(ends), None, 0)
    # Packets of one size all fit the counts alike: then which one it was stays open, and its size does not.
    bases = [base for base, agreed in votes.items() if agreed == best]
    tied = []
    for end in ends:
        last = bisect_right(done, end.t_ps + crossing_ps)
        places = range(max(0, last - _WAITING), last)
        sizes = {
            mine[k].words
            for base in bases
            for k in places
            if (base + before[k]) % account.modulus == end.sent and mine[k].words <= end.free
        }
        tied.append(replace(end, packet=sizes.pop() if len(sizes) == 1 else None))
    return SentCounts(account, mine, tuple(tied), bases[0] if len(bases) == 1 else None, best)


def _ends(log: EventLog, account: FlowAccount, crossing_ps: int) -> list[PressureEnd]:
    """Return the ends of back-pressure of a flow at which a credit was known."""
    taken = account.taken_credits
    if not len(taken) or account.limit is None or account.modulus is None:
        return []
    at = log.select("PRESSURE", "end", flow=account.flow)
    last = np.searchsorted(taken.t_ps, log.t_ps[at] + crossing_ps, side="right") - 1
    losses = log.select("LOSS")
    ends = []
    for position, credit in zip(at.tolist(), last.tolist(), strict=True):
        if credit < 0 or bool(((losses > taken.positions[credit]) & (losses < position)).any()):
            continue  # a credit between may be lost from the log
        free, credited = int(log.value[position]), int(taken.freed[credit])
        sent = (credited + account.limit - free) % account.modulus
        ends.append(
            PressureEnd(int(log.t_ps[position]), account.flow, free, sent, credited, credit)
        )
    return ends


def seen_unit(account: FlowAccount) -> int | None:
    """Return the words freed between two credits: as the card says, or more where all credits tell more.

    A receiver may return credits in larger lumps than it states.
    """
    steps = np.diff(account.sent_credits.freed) % (account.modulus or 1)
    steps = steps[steps > 0]
    least = int(steps.min()) if len(steps) >= _FEW_STEPS else 0
    return max(account.credit_unit or 0, least) or None
