"""Which of the reasons for a full incoming FIFO fits: shared by the faults that end in rx-ovf.

A sender beyond its limit only while its sent count has wrapped and the credited one has not; beyond
it at any count; within a limit that is larger than the FIFO; or within everything while the counts of
both ends drift apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.contract import Evidence, Row
from freezeframe.analyzers.credits.flow_history import (
    FlowHistory,
    Start,
    flow_history,
    history_at_freeze,
)
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.facts import Facts

__all__ = ["Sending", "overflow_evidence", "sender_rows", "sendings", "share", "suffered"]

_MOST_PACKET_WORDS = 515  # 512 payload words, two HEAD words, TAIL


@dataclass(frozen=True, slots=True, eq=False)
class Sending:
    """How one flow was sent against its limit.

    ``beyond_wrap``, ``beyond_flat``: starts beyond the limit while the counts straddle a wrap, and
    while they do not. ``constant_below``: outside a wrap the sender was seen waiting for credit, so a
    constant error of its free space would be smaller than this; None when it was not seen waiting.
    """

    account: FlowAccount
    history: FlowHistory | None
    beyond_wrap: tuple[Start, ...]
    beyond_flat: tuple[Start, ...]
    constant_below: int | None


def sendings(facts: Facts) -> tuple[Sending, ...]:
    """Return the sending of every flow whose sender may be looked at."""
    return tuple(
        _sending(facts, account) for account in facts.accounts if account.limit is not None
    )


def _sending(facts: Facts, account: FlowAccount) -> Sending:
    history = history_at_freeze(facts.view, account) or flow_history(facts.view, account)
    beyond = history.beyond(account.limit or 0) if history is not None else ()
    return Sending(
        account=account,
        history=history,
        beyond_wrap=tuple(start for start in beyond if start.across_wrap),
        beyond_flat=tuple(start for start in beyond if not start.across_wrap),
        constant_below=_constant_below(facts, account),
    )


def _constant_below(facts: Facts, account: FlowAccount) -> int | None:
    """Return what a constant error of the free space must be below, by the waits outside a wrap.

    A sender that waits with ``free`` words of credit for a packet of at most 515 would not have
    waited, had it believed to have so many more.
    """
    log = facts.view.logs.get(account.sender)
    taken = account.taken_credits
    if log is None or account.limit is None or account.modulus is None:
        return None
    bounds = []
    for at in log.select("PRESSURE", "begin", flow=account.flow).tolist():
        last = int(np.searchsorted(taken.positions, at)) - 1
        free = int(log.value[at])
        if last < 0 or not free:
            continue
        credited = int(taken.freed[last])
        if credited + account.limit - free < account.modulus:
            bounds.append(_MOST_PACKET_WORDS - free)
    return min(bounds, default=None)


def suffered(facts: Facts, account: FlowAccount) -> bool:
    """Return whether an excess on this flow can have had its symptom: the receiver overflowed.

    Where the receiver may not be looked at, it must at least have been the one that froze first.
    """
    if facts.view.device(account.receiver) is not None:
        return facts.overflowed(account.receiver)
    return "cross" in facts.view.causes(account.sender)


def share(facts: Facts, account: FlowAccount) -> int | None:
    """Return the words that a flow's limit may be at most: the FIFO of the receiver.

    From the sender alone the FIFO is known by the counters' width, which has two bits more than it
    needs.
    """
    if account.depth is not None:
        return account.depth
    return None if account.modulus is None else account.modulus >> 2


def sender_rows(facts: Facts, account: FlowAccount) -> tuple[Row, ...]:
    """Return the sender's books of a flow at freeze."""
    rows = (
        facts.view.register_row(account.sender, f"frozen_flow.{name}", account.flow)
        for name in ("sent", "credited", "limit")
    )
    return tuple(row for row in rows if row.value is not None)


def overflow_evidence(facts: Facts, receiver: str) -> tuple[Evidence, ...]:
    """Return what the receiver says of words that found its FIFO full."""
    capture = facts.view.device(receiver)
    lost = facts.view.counter(receiver, "rx_fifo_overflows")
    if capture is None or lost is None:
        return ()
    return (
        Evidence(
            f"{receiver} counted {lost} words lost since power-up because its incoming FIFO of "
            f"{capture.identity.rx_fifo} "
            "words was full.",
            receiver,
            rows=(
                facts.view.counter_row(receiver, "rx_fifo_overflows"),
                facts.view.register_row(receiver, "frozen.rx_level"),
            ),
        ),
    )
