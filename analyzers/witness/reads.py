"""Witnesses of how the sender's DMA read a packet: what ended a read, and where the next one went on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from freezeframe.analyzers.evidence import amount
from freezeframe.analyzers.facts import covers
from freezeframe.analyzers.streams import EventLog
from freezeframe.analyzers.witness.bound import Bound
from freezeframe.analyzers.witness.vocabulary import Reading, silent
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Kind,
)

_ENDED = ("retried", "disconnected")
_ASKED = "requested"


def _read_events(bound: Bound) -> Reading:
    view, sender = bound.facts.view, bound.sender
    log = view.logs.get(sender)
    if log is None or not log.recorded(Kind.DESC):
        return silent(f"{sender}'s log does not hold its reads")
    mine = [code for code, _ in _reads(log, bound) if code != _ASKED]
    if mine:
        return Reading("seen", f"{sender}'s log has {len(mine)} such events of this packet")
    if covers(bound.facts, sender, None) and sender not in view.since_ps:
        return Reading(
            "none",
            f"{sender}'s log is whole, and no read of this packet was retried or disconnected",
        )
    return silent(f"{sender}'s log does not reach back to that read")


def _resumed(bound: Bound) -> Reading:
    sender = bound.sender
    log = bound.facts.view.logs.get(sender)
    if log is None or log.gaps or not log.recorded(Kind.DESC) or len(log.select(Kind.LOSS.name)):
        return silent(f"{sender}'s log does not hold all of its reads")
    left: int | None = None
    after = 0
    for code, words in _reads(log, bound):
        if code != _ASKED:
            left = words
        elif left is not None:
            if words != left:
                text = f"with {amount(left, 'word')} left {sender} asked for {words}"
                return Reading("elsewhere", text)
            left, after = None, after + 1
    if left is not None or not after:
        return silent(f"{sender}'s log has no request of this packet after a read that was ended")
    many = f"all {after} times" if after > 1 else "the one time"
    return Reading("rightly", f"{sender} asked for exactly the words left, {many} a read was ended")


def _reads(log: EventLog, bound: Bound) -> Iterator[tuple[str, int]]:
    """Yield what the log has of the reads of the packet, in order: what happened, and its count of words."""
    finding = bound.finding
    for at in log.select(Kind.DESC.name, *_ENDED, _ASKED, flow=finding.flow).tolist():
        value = int(log.value[at])
        if value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK == finding.packet:
            words = value >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
            yield str(log.code[at]), words


READS: dict[str, Callable[[Bound], Reading]] = {"read_events": _read_events, "resumed": _resumed}
