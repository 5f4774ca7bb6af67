"""Credits that a receiver held back although they were due by the unit that its own register states.

A credit is due with a unit freed since the last one, at the latest, and leaves as soon as the line is free, before any
packet. One that leaves only with a later word, after a free line had stood ready for long or a packet had begun in its
place, waited for that word: the card frees by a coarser unit than it states. A credit that leaves late with no word
freed since the line was ready for it was merely late.

Source: FORTH paper, section 4.3 (estimate of the free space); docs/formats.md section 3 (credits go between packets,
and first).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.flow_history import CROSSING_BUS, CROSSING_LINK
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog, Stream
from freezeframe.capture.registers.layouts import STATE_VALUE_NEW_MASK, Kind, MachineState

_FREE = (MachineState.IDLE, MachineState.WAIT_CREDIT)
"""States in which a transmitter sends nothing."""


def withheld_credits(facts: Facts, account: FlowAccount) -> tuple[int, ...]:
    """Return how many words each such credit states more than the one before, as far as words and events are known.

    Its last tap's words, and the credits and states of its event log, are of one clock, whatever that is to others.
    """
    log, view = facts.view.flow_log(account.receiver), facts.view
    stream = view.stream(account.receiver, view.roles.rx.exit)
    unit, modulus, sent = account.credit_unit, account.modulus, account.sent_credits
    if log is None or log.gaps or stream is None or stream.breaks or not unit or not modulus:
        return ()
    if stream.end_ps is None:
        return ()
    freed_ps = left_ps(stream, account.flow)
    losses, line = log.select("LOSS"), _Line(facts, log)
    prompt_ps = 2 * view.cycles_ps(account.receiver, bus=CROSSING_BUS, link=CROSSING_LINK)
    withheld = []
    for i in range(1, len(sent)):
        before_ps, at_ps = int(sent.t_ps[i - 1]), int(sent.t_ps[i])
        lump = int(sent.freed[i] - sent.freed[i - 1]) % modulus
        first, last = np.searchsorted(freed_ps, [before_ps - prompt_ps, at_ps])
        # Words freed just before the last credit are stated by it or by this one: the last ones are this one's.
        words = freed_ps[first:last][-lump:] if lump else freed_ps[:0]
        between = (losses > sent.positions[i - 1]) & (losses < sent.positions[i])
        if unit > lump or len(words) < lump or at_ps > stream.end_ps or bool(between.any()):
            continue
        free_ps = line.free_since(int(sent.positions[i]))
        if free_ps is None or at_ps - int(words[-1]) > prompt_ps:
            continue
        if at_ps - max(int(words[unit - 1]), free_ps) > prompt_ps:
            withheld.append(lump)
    return tuple(withheld)


def left_ps(stream: Stream, flow: int) -> npt.NDArray[np.int64]:
    """Return when each word of a flow left the FIFO, oldest first; nothing of packets whose flow is not sure."""
    mine = [
        stream.t_ps[packet.start : packet.end]
        for packet in stream.packets
        if packet.header_ok is True and packet.flow == flow
    ]
    return np.concatenate(mine) if mine else np.empty(0, np.int64)


def free_since(log: EventLog, states: npt.NDArray[np.int64], at: int) -> int | None:
    """Return the event by which a transmitter ceased to send, as its states have it before an event; None: it sends.

    Args:
        states: which events of the log are states of the transmitter.
    """

    def entered(number: int) -> int:
        return int(log.value[states[number]]) & STATE_VALUE_NEW_MASK

    last = int(np.searchsorted(states, at)) - 1
    if last < 0 or entered(last) not in _FREE:
        return None
    # A state that is entered again was left meanwhile, whatever the log has of that.
    while last and entered(last - 1) in _FREE and entered(last - 1) != entered(last):
        last -= 1
    return int(states[last])


class _Line:
    """Since when a transmitter had sent neither packet nor credit, by its states or its tap, whichever reaches back."""

    def __init__(self, facts: Facts, log: EventLog) -> None:
        tap = facts.view.roles.tx.exit
        stream, card = facts.view.stream(log.device, tap), facts.view.device(log.device)
        memory = card.memories.get(tap) if card is not None else None
        self._log, self._credits = log, log.select("CREDIT", "sent")
        self._states = log.select("STATE", "tx_link")
        self._words = stream if stream is not None and not stream.breaks else None
        self._from_arm = memory is not None and not memory.wrapped

    def free_since(self, at: int) -> int | None:
        """Return it for an event of the log, as a time; None: not known."""
        last_ps = self._by_states(at)
        if last_ps is None:
            last_ps = self._by_words(int(self._log.t_ps[at]))
        before = int(np.searchsorted(self._credits, at)) - 1
        if last_ps is None or before < 0:
            return last_ps
        return max(last_ps, int(self._log.t_ps[self._credits[before]]))

    def _by_states(self, at: int) -> int | None:
        since = free_since(self._log, self._states, at)
        return None if since is None else int(self._log.t_ps[since])

    def _by_words(self, at_ps: int) -> int | None:
        words = self._words
        if words is None or words.end_ps is None or words.end_ps < at_ps:
            return None
        last = int(np.searchsorted(words.t_ps, at_ps)) - 1
        if last < 0:
            return int(self._log.t_ps[0]) if self._from_arm else None
        return int(words.t_ps[last]) if words.kind[last] == Kind.TAIL else None
