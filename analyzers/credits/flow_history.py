"""How many words of a flow were outstanding when each packet started, from the sender's own recording.

The freeze bank holds the counts as they stood when all memories had closed, which may be long after
the last recorded word. What ties recorded words to counts are the PRESSURE events: a sender that waits
for credit, and goes on, writes down the free space it saw; with the last credit taken that gives what
it had sent before the packet that starts next. A sender that never waited is counted back from the freeze bank,
where all that left after its last recorded word is known, or on from power-up, where all before it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.credits.ledger import (
    CreditTimes,
    Departure,
    FlowAccount,
    departures,
    described_packets,
)
from freezeframe.analyzers.streams import EventLog, Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG

_COUNTER = 1 << 32
_SEQ_MASK = 0xFFFF

CROSSING_BUS, CROSSING_LINK = 6, 4
"""An event and the word that follows from it are stamped in two domains; they may seem as many cycles of
the bus and of the link together apart."""


@dataclass(frozen=True, slots=True)
class Start:
    """One packet of the flow as it started. Counts are wrapped, in words, before the packet.

    ``outstanding`` includes the packet. ``credit``: position in the event log of the last credit that
    the sender had then, None before the first one of a link.
    """

    departure: Departure
    sent: int
    credited: int
    outstanding: int
    credit: int | None

    @property
    def across_wrap(self) -> bool:
        """The count of sent words had wrapped and that of credited words had not."""
        return self.sent < self.credited


@dataclass(frozen=True, slots=True, eq=False)
class FlowHistory:
    """The known starts of one flow, oldest first; ``anchors`` PRESSURE events agree with them.

    ``exact``: counted word by word, back from the freeze bank or on from power-up.
    """

    account: FlowAccount
    starts: tuple[Start, ...]
    anchors: int
    exact: bool = False

    def beyond(self, limit: int) -> tuple[Start, ...]:
        """Return the starts with more than ``limit`` words outstanding; a little less than none is not more."""
        most = (self.account.modulus or 0) - limit
        return tuple(start for start in self.starts if limit < start.outstanding < most)


def flow_history(view: CaptureView, account: FlowAccount) -> FlowHistory | None:
    """Return the history of a flow; None when nothing ties its recorded words to its counts."""
    log = view.flow_log(account.sender)
    modulus = account.modulus
    if log is None or account.limit is None or modulus is None or log.gaps:
        return None
    stream = view.stream(account.sender, view.roles.tx.exit)
    if stream is None or stream.end_ps is None:
        return None
    crossing_ps = _crossing_ps(view, stream, log)
    if crossing_ps is None:
        return None
    end_ps = stream.end_ps
    every = departures(view, account.sender)
    base, votes = _base(log, account, every, end_ps, crossing_ps)
    if base is None:
        every = departures(view, account.sender, extend=True)
        base, votes = _base(log, account, every, end_ps, crossing_ps)
    if base is None:
        return None
    starts = _starts(log, account, every, base, crossing_ps)
    history = FlowHistory(account, starts, votes)
    flat = [start for start in history.beyond(account.limit) if not start.across_wrap]
    if flat and any(departure.position is None for departure in every):
        return None  # more likely the packets before the recording are not what they seemed
    return history


def counted_history(view: CaptureView, account: FlowAccount) -> FlowHistory | None:
    """Return the history of a flow counted word by word; None where a word between is not known.

    Back from its count at freeze: the tap's counter goes on to the freeze and its memory's count of offered words to
    the memory's end: their difference left in between, in the order in which the packets were fetched. Or on from
    power-up, where the memory holds all since.
    """
    log, stream = view.flow_log(account.sender), view.stream(account.sender, view.roles.tx.exit)
    modulus = account.modulus
    if log is None or log.gaps or stream is None or stream.breaks or not stream.packets:
        return None
    crossing_ps = _crossing_ps(view, stream, log, wide=True)
    if modulus is None or account.sent is None or crossing_ps is None:
        return None
    every = departures(view, account.sender)
    base = _counted_back(view, account, stream, every)
    if base is None:
        whole = _since_power_up(view, account.sender, stream.tap)
        first = every[0] if every else None
        base = 0 if whole and first is not None and (first.seq, first.position) == (0, 0) else None
    if base is None:
        return None
    whole = _since_power_up(view, account.sender, EVENT_LOG)
    starts = _starts(log, account, every, base, crossing_ps, from_zero=whole)
    return FlowHistory(account, starts, 0, exact=True)


def _counted_back(
    view: CaptureView, account: FlowAccount, stream: Stream, every: tuple[Departure, ...]
) -> int | None:
    """Return what a flow had sent before the first known packet, back from its count at freeze."""
    if view.value(account.sender, "ctl.generation") != 1:
        return None
    since = view.since_closed(account.sender, stream.tap)
    last = every[-1] if every else None
    if since is None or last is None or last.position is None:
        return None
    if not _books_fit(view, account.sender):
        return None  # what is counted back from them would be off by as much
    left = len(stream) - last.position + since
    own = left if _alone(view, account) else _left_since(view, account, last, left)
    if own is None:
        return None
    before = sum(departure.words for departure in every[:-1] if departure.flow == account.flow)
    return ((account.sent or 0) - own - before) % (account.modulus or 1)


def _books_fit(view: CaptureView, sender: str) -> bool:
    """Tell whether a sender's flows together sent what its last tap counted, as far as both were read."""
    crossed, sent = view.count(sender, "words", view.roles.tx.exit), _words_sent(view, sender)
    known = [words for words in sent if words is not None]
    return crossed is None or len(known) < len(sent) or (sum(known) - crossed) % _COUNTER == 0


def _alone(view: CaptureView, account: FlowAccount) -> bool:
    """Tell whether no other flow of a sender ever sent a word: then all that left was this flow's."""
    sent = enumerate(_words_sent(view, account.sender))
    return all(words == 0 for flow, words in sent if flow != account.flow)


def _words_sent(view: CaptureView, sender: str) -> list[int | None]:
    """Return what each flow of a sender sent since power-up."""
    device = view.device(sender)
    flows = range(device.identity.flows_count if device is not None else 0)
    return [view.value(sender, "frozen_flow.words_sent", flow) for flow in flows]


def _left_since(view: CaptureView, account: FlowAccount, last: Departure, words: int) -> int | None:
    """Return how many of the ``words`` that left since a packet began, it included, were of the flow."""
    packets = described_packets(view, account.sender)
    seq, flow, length = last.seq, last.flow, last.words
    own = 0
    while words > 0:
        own += min(words, length) if flow == account.flow else 0
        words -= length
        seq = seq + 1 & _SEQ_MASK
        if words > 0 and seq not in packets:
            return None
        flow, length = packets.get(seq, (flow, length))
    return own


def _since_power_up(view: CaptureView, sender: str, name: str) -> bool:
    """Return whether a memory of a sender holds all since power-up: before what it holds there was nothing."""
    device = view.device(sender)
    memory = device.memories.get(name) if device is not None else None
    first = memory is not None and not memory.wrapped and sender not in view.since_ps
    return first and view.value(sender, "ctl.generation") == 1


def _starts(
    log: EventLog,
    account: FlowAccount,
    every: tuple[Departure, ...],
    base: int,
    crossing_ps: int,
    *,
    from_zero: bool = False,
) -> tuple[Start, ...]:
    """Return the starts of a flow among departures, the first with ``base`` words sent before it."""
    taken, modulus = account.taken_credits, account.modulus or 1
    starts = []
    gone = 0
    for departure in every:
        if departure.flow != account.flow:
            continue
        sent, gone = (base + gone) % modulus, gone + departure.words
        n = int(np.searchsorted(taken.t_ps, departure.t_ps + crossing_ps, side="right"))
        # Before its first credit and after its end the log does not say what had been credited.
        # Nor while it closes: a credit of that moment may come after its last event.
        known = departure.t_ps + crossing_ps <= int(log.t_ps[-1])
        if n and known and not _uncertain(log, taken, n - 1):
            credited = int(taken.freed[n - 1])
            first = int(np.searchsorted(taken.t_ps, departure.t_ps - crossing_ps))
            before = int(taken.freed[first - 1]) if first else 0
            if first + 1 < n and (sent < before) != (sent < credited):
                continue  # of several credits any may have been the last: across the wrap or not
            outstanding = (base + gone - credited) % modulus
            starts.append(
                Start(departure, sent, credited, outstanding, int(taken.positions[n - 1]))
            )
        elif not n and known and from_zero and not len(log.select("LOSS")):
            starts.append(Start(departure, sent, 0, (base + gone) % modulus, None))
    return tuple(starts)


def _crossing_ps(
    view: CaptureView, stream: Stream, log: EventLog, *, wide: bool = False
) -> int | None:
    """Return how far apart an event and the word that follows from it may seem; None where no times order them.

    Times that are known less well than by half of what the crossing takes order nothing, unless ``wide``.
    """
    if not len(stream) or not len(log):
        return None
    crossing_ps = view.cycles_ps(stream.device, bus=CROSSING_BUS, link=CROSSING_LINK)
    uncertain = stream.t_unc_ps, log.t_unc_ps
    if any(int(each.min()) < 0 for each in uncertain):
        return None
    if not wide and any(int(each.max()) > crossing_ps // 2 for each in uncertain):
        return None
    return crossing_ps + sum(int(each.max()) for each in uncertain)


def _base(
    log: EventLog,
    account: FlowAccount,
    every: tuple[Departure, ...],
    end_ps: int,
    crossing_ps: int,
) -> tuple[int | None, int]:
    """Return what had been sent before the first known packet, and how many events agree.

    ``end_ps``: when the memory of tx_deq closed; packets that left later are not known.
    """
    taken = account.taken_credits
    starts = [departure.t_ps for departure in every]
    gone = [0]
    for departure in every:
        gone.append(gone[-1] + (departure.words if departure.flow == account.flow else 0))
    votes: Counter[int] = Counter()
    events = 0
    for at in log.select("PRESSURE", "begin", "end", flow=account.flow).tolist():
        free, t_ps, ends = int(log.value[at]), int(log.t_ps[at]), str(log.code[at]) == "end"
        following = _following(starts, t_ps, ends, crossing_ps)
        if not free or following is None or t_ps > end_ps:
            continue  # 0 may stand for less than nothing
        events += 1
        for c in _credits_at(taken, at, t_ps, ends, crossing_ps):
            if _uncertain(log, taken, c):
                continue
            if account.limit is not None and account.modulus is not None:
                sent = int(taken.freed[c]) + account.limit - free
                votes[(sent - gone[following]) % account.modulus] += 1
    ranked = votes.most_common(2)
    if not ranked or 2 * ranked[0][1] <= events:
        return None, 0
    if len(ranked) == 2 and ranked[0][1] == ranked[1][1]:
        return None, 0
    return ranked[0]


def _uncertain(log: EventLog, taken: CreditTimes, credit: int) -> bool:
    """Return whether the log lost events after a credit and before the next it holds."""
    following = taken.positions[credit + 1] if credit + 1 < len(taken) else len(log)
    losses = log.select("LOSS")
    return bool(((losses > taken.positions[credit]) & (losses <= following)).any())


def _following(starts: list[int], t_ps: int, ends: bool, crossing_ps: int) -> int | None:
    """Return which known packet starts next after a PRESSURE event; None when it is not known.

    The end of pressure is the start of the packet; its beginning lies before that.
    """
    following = bisect_left(starts, t_ps - crossing_ps)
    if ends:
        known = following < len(starts) and starts[following] <= t_ps + crossing_ps
        return following if known else None
    # Before the first known packet others may have started since.
    return following if following or not starts else None


def _credits_at(taken: CreditTimes, at: int, t_ps: int, ends: bool, crossing_ps: int) -> list[int]:
    """Return the credits that may have been the last at a PRESSURE event, by number."""
    if ends:
        # A credit ends the pressure; it is logged in the same cycle, or just before or after, and so may the next be.
        last = int(np.searchsorted(taken.t_ps, t_ps + crossing_ps, side="right")) - 1
        first = int(np.searchsorted(taken.t_ps, t_ps - crossing_ps))
        return [*range(max(0, min(first, last)), last + 1)]
    last = int(np.searchsorted(taken.positions, at)) - 1
    credits = [last] if last >= 0 else []
    if last + 1 < len(taken) and int(taken.t_ps[last + 1]) - t_ps <= crossing_ps:
        credits.append(last + 1)
    return credits
