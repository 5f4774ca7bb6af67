"""word-duplicated: the read pointer of a FIFO was held for one cycle, and one 64-bit word came out twice.

From one tap alone the repeat can be placed, too: without its second copy the payload CRC is right.
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.crc.lone_payload import find_repeats
from freezeframe.analyzers.diagnosis.fifo_level import imbalances, level_finding
from freezeframe.analyzers.diagnosis.fifo_word import (
    Alone,
    BetweenTaps,
    alone,
    alone_finding,
    between_taps,
    pair_finding,
)
from freezeframe.analyzers.diagnosis.place import word_text
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.taps.align import Op

__all__ = ["NAME", "diagnose"]

NAME = "word-duplicated"


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet in which a FIFO repeated exactly one word, and for every FIFO by its level."""
    seen = list(_in_packets(facts))
    yield from seen
    for found in imbalances(facts):
        known = any(
            (one.device, one.direction) == (found.device, f"{found.sender}->{found.receiver}")
            for one in seen
        )
        if found.missing == -1 and not known:
            yield level_finding(facts, NAME, found)


def _in_packets(facts: Facts) -> Iterator[Finding]:
    for found in between_taps(facts, Op.DUPLICATED):
        yield _both_taps(facts, found)
    for long in alone(facts, 1):
        finding = _one_tap(facts, long)
        if finding is not None:
            yield finding


def _both_taps(facts: Facts, found: BetweenTaps) -> Finding:
    up, down, where = found.diff.up.source, found.diff.down.source, found.where
    text = (
        f"A word of packet {found.place.packet} ({found.diff.direction}, flow {found.place.flow}) "
        f"came twice out of the {found.fifo} FIFO of {found.device}: {down} has its second copy as "
        f"{where}, {up} has it once. Everything else of the packet is equal at both taps."
    )
    how = f"{down} has one word more than {up}: the second copy is {where}."
    return pair_finding(facts, NAME, found, text, how)


def _one_tap(facts: Facts, found: Alone) -> Finding | None:
    packet, stream = found.case.packet, found.case.stream
    tail = stream.tail(packet)
    repeats = [] if tail is None else find_repeats(stream.payload(packet), tail)
    if len(repeats) != 1:
        return None
    first, end = repeats[0]
    word = first if end - first == 1 else None
    at = packet.start + packet.heads + end - 1
    text = (
        f"A word of packet {packet.seq} ({found.direction}, flow {packet.flow}) came twice out of "
        f"the {found.fifo} FIFO of {found.device}: at {stream.source} the packet has one payload "
        f"word more than its good header says, {word_text(word, (first, end))} repeats the word "
        "before it, and without it the payload CRC is right."
    )
    return alone_finding(
        facts,
        NAME,
        found,
        text,
        at=at,
        word=word,
        confidence=0.95,
        how=(
            f"{packet.body_words} payload words of {packet.length}. Without the repeated word the "
            "CRC is that of the tail."
        ),
        rows=(
            stream.row(packet.start, "header"),
            stream.row(at - 1, f"payload word {end - 2}"),
            stream.row(at, f"payload word {end - 1} (repeats it)"),
            stream.row(packet.end - 1, "tail, one word late"),
        ),
    )
