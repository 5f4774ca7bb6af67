"""word-omitted: the write enable of one 64-bit word was lost at a FIFO.

The taps before and after the FIFO differ by one deletion and the tail comes one word early. From one
tap alone the omission shows as a payload one word short, but not where: every place fits the CRC.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis.fifo_level import imbalances, level_finding
from freezeframe.analyzers.diagnosis.fifo_word import (
    Alone,
    BetweenTaps,
    alone,
    alone_finding,
    between_taps,
    pair_finding,
)
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.taps.align import Op

__all__ = ["NAME", "diagnose"]

NAME = "word-omitted"
_RX_ENQ = 2


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet that lost exactly one word in a FIFO, and every FIFO that did by its level."""
    seen = list(_in_packets(facts))
    yield from seen
    for found in imbalances(facts):
        known = any(
            (one.device, one.direction) == (found.device, f"{found.sender}->{found.receiver}")
            for one in seen
        )
        if found.missing == 1 and not known:
            yield level_finding(facts, NAME, found)


def _in_packets(facts: Facts) -> Iterator[Finding]:
    for found in between_taps(facts, Op.OMITTED):
        yield _both_taps(facts, found)
    for short in alone(facts, -1):
        # Words that found the receiver's FIFO full are missing, too.
        if short.case.tap < _RX_ENQ or not facts.overflowed(short.case.receiver):
            yield _one_tap(facts, short)


def _both_taps(facts: Facts, found: BetweenTaps) -> Finding:
    up, down, where = found.diff.up.source, found.diff.down.source, found.where
    text = (
        f"{where[0].upper()}{where[1:]} of packet {found.place.packet} ({found.diff.direction}, "
        f"flow {found.place.flow}) went into the {found.fifo} FIFO of {found.device} and did not "
        f"come out: {up} has it, {down} goes on with the word after it. Everything else of the "
        "packet is equal at both taps."
    )
    return pair_finding(facts, NAME, found, text, f"{up} and {down} differ by one word: {where}.")


def _one_tap(facts: Facts, found: Alone) -> Finding:
    packet, stream = found.case.packet, found.case.stream
    text = (
        f"Packet {packet.seq} ({found.direction}, flow {packet.flow}) has {packet.body_words} "
        f"payload words at {stream.source} where its good header says {packet.length}, and its "
        f"payload CRC is bad: one word was lost in the {found.fifo} FIFO of {found.device}. Which "
        "word, only the tap before could say."
    )
    return alone_finding(
        facts,
        NAME,
        found,
        text,
        at=packet.end - 1,
        word=None,
        confidence=0.8,
        how=f"{packet.body_words} of {packet.length} payload words.",
        rows=(
            stream.row(packet.start, "header"),
            stream.row(packet.end - 1, "tail, one word early"),
        ),
    )
