"""split-retry-mishandled: the sender's DMA went on at the wrong word after a retry or a disconnect.

It happens before the CRCs are made, so they are good at every tap; only the length is not what the header, and
the descriptor, say. What tells it from a word lost in a FIFO: tx_enq itself is wrong, and its CRC is good.

Source: docs/formats.md section 4 (DESC retried, disconnected).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.analyzers.diagnosis.place import cause_evidence, verdict_text
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import EventLog, Packet, Stream
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    Kind,
)

__all__ = ["NAME", "diagnose"]

NAME = "split-retry-mishandled"
_INTERRUPTED = ("retried", "disconnected")
_ASKED = "requested"


def diagnose(facts: Facts) -> Iterator[Finding]:
    """Yield a finding for every packet whose length was wrong, its CRCs good, before the outgoing FIFO."""
    for sender, receiver in facts.view.directions:
        stream = facts.view.stream(sender, "tx_enq")
        if stream is None:
            continue
        for packet in stream.packets:
            if (
                packet.whole
                and packet.header_ok
                and packet.payload_ok
                and packet.length_ok is False
            ):
                yield _finding(facts, sender, receiver, stream, packet)


def _finding(facts: Facts, sender: str, receiver: str, stream: Stream, packet: Packet) -> Finding:
    log = facts.view.logs[sender]
    events = _interruptions(log, packet)
    missing = (packet.length or 0) - packet.body_words
    word = None
    if len(events) == 1:
        # What had been fetched when the bus ended the read: the first word that is wrong.
        left = int(log.value[events[0]]) >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
        word = (packet.length or 0) - left
    start = packet.start + packet.heads
    at = min(start + (word or 0), packet.end - 1)
    t_ps, unc_ps = stream.when(at)
    how = "left out" if missing > 0 else "too many"
    where = "" if word is None else f" from payload word {word} on"
    rows = [stream.row(packet.start, "header"), stream.row(packet.end - 1, "tail")]
    if word is not None:
        rows.insert(
            1, stream.row(at, f"payload word {word}: the first that is not the one expected")
        )
    return Finding(
        diagnosis=NAME,
        text=(
            f"Packet {packet.seq} ({sender}->{receiver}, flow {packet.flow}) entered {sender}'s outgoing "
            f"FIFO with {packet.body_words} payload words where its descriptor says {packet.length}, and "
            f"with good CRCs: {abs(missing)} words were {how}{where} before the CRCs were made, where the "
            "DMA went on after the bus had ended its read."
            if events
            else f"Packet {packet.seq} ({sender}->{receiver}, flow {packet.flow}) entered {sender}'s "
            f"outgoing FIFO with {packet.body_words} payload words where its descriptor says "
            f"{packet.length}, and with good CRCs: {abs(missing)} words were {how} before the CRCs were "
            "made, by its DMA. No retry or disconnect of its read is in the recording."
        ),
        device=sender,
        tap="tx_enq",
        direction=f"{sender}->{receiver}",
        flow=packet.flow,
        packet=packet.seq,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.97 if events else 0.75,
        evidence=(
            Evidence(f"{stream.source}: {verdict_text(packet)}.", sender, "tx_enq", tuple(rows)),
            *(
                Evidence(
                    f"The bus ended the read of this message ({log.code[event]}).",
                    sender,
                    "event_log",
                    (log.row(event, f"read {log.code[event]}"),),
                )
                for event in events
            ),
            *cause_evidence(facts, receiver),
        ),
    )


def _interruptions(log: EventLog, packet: Packet) -> list[int]:
    """Return the event after which the read of a packet went on wrongly; several where that is not known.

    The next request asks for another number of words than were left. A log without requests gives every
    event that ended a read of this packet.
    """
    ended, asked = [], None
    for at in reversed(
        log.select(Kind.DESC.name, *_INTERRUPTED, _ASKED, flow=packet.flow).tolist()
    ):
        value = int(log.value[at])
        if value >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK != packet.seq:
            continue
        words = value >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
        if str(log.code[at]) == _ASKED:
            asked = words
            continue
        if asked is not None and asked != words:
            return [at]
        ended.append(at)
    return ended
