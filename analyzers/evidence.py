"""Where on the path a finding lies, and the rows and sentences that findings share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from freezeframe.analyzers.contract import Evidence, Row
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.align import Edit, Op
from freezeframe.analyzers.taps.tap_diff import PacketPair, SegmentDiff
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.count_text import plural

_AROUND = 2  # words shown on either side of the one in question

amount = partial(plural, thousands="")
"""Counts in the sentences of findings are written as the registers and memories that they quote."""


@dataclass(frozen=True, slots=True)
class Place:
    """What identifies a packet in a finding."""

    flow: int | None
    packet: int | None


def tap_after(view: CaptureView, sender: str, receiver: str, stretch: int) -> tuple[str, str]:
    """Return device and tap at the end of a stretch: the first that can show damage made in it."""
    return view.path(sender, receiver)[stretch + 1]


def place_of_pair(pair: PacketPair) -> Place:
    """Return flow and sequence number of a packet, from the side whose header is good."""
    for packet in (pair.up, pair.down):
        if packet.header is not None and packet.header_ok is not False:
            return Place(packet.flow, packet.seq)
    return Place(None, None)


def word_label(stream: Stream, packet: Packet, position: int) -> str:
    """Return what the word at a stream position is: ``payload word 17``, ``header``, ``tail``."""
    heads = packet.start + packet.heads
    if position < heads:
        first = position == packet.start and not packet.cut_start
        return "header" if first else "address"
    if packet.has_tail and position == packet.end - 1:
        return "tail"
    if packet.cut_start and not packet.heads:
        return "payload word (index unknown)"
    return f"payload word {position - heads}"


def word_text(word: int | None, span: tuple[int, int] | None) -> str:
    """Return where a word is, as far as that is known."""
    if word is not None:
        return f"payload word {word}"
    if span is None:
        return "a word whose index is not known"
    return f"one of the equal payload words {span[0]} to {span[1] - 1}"


def neighbourhood(diff: SegmentDiff, pair: PacketPair, edit: Edit) -> tuple[Row, ...]:
    """Return the words around an edit, upstream and downstream, as rows of evidence."""
    up_at, down_at = pair.up.start + edit.up, pair.down.start + edit.down
    if edit.op is Op.ALTERED:
        lines = [(up_at + k, down_at + k) for k in range(-_AROUND, _AROUND + 1)]
    else:
        lines = [(up_at + k, down_at + k) for k in range(-_AROUND, 0)]
        rest = (1, 0) if edit.op is Op.OMITTED else (0, 1)
        lines.append((up_at, -1) if edit.op is Op.OMITTED else (-1, down_at))
        lines += [(up_at + rest[0] + k, down_at + rest[1] + k) for k in range(_AROUND)]
    rows: list[Row] = []
    for above, below in lines:
        in_up = pair.up.start <= above < pair.up.end
        in_down = pair.down.start <= below < pair.down.end
        expected = int(diff.up.data[above]) if in_up and in_down else None
        only = "" if above >= 0 and below >= 0 else " (only here)"
        if in_up:
            rows.append(diff.up.row(above, word_label(diff.up, pair.up, above) + only))
        if in_down:
            rows.append(
                diff.down.row(below, word_label(diff.down, pair.down, below) + only, expected)
            )
    return tuple(rows)


def verdict_text(packet: Packet) -> str:
    """Return what the checks say of a packet at a tap."""
    verdicts_said = []
    for name, verdict in (
        ("header CRC", packet.header_ok),
        ("payload CRC", packet.payload_ok),
        ("length", packet.length_ok),
    ):
        verdicts_said.append(
            f"{name} {'not known' if verdict is None else 'good' if verdict else 'bad'}"
        )
    return ", ".join(verdicts_said)


def good_elsewhere(diff: SegmentDiff, pair: PacketPair) -> Evidence:
    """Return the verdicts of a packet before and after a stretch."""
    rows = []
    for stream, packet in ((diff.up, pair.up), (diff.down, pair.down)):
        rows.append(stream.row(packet.start, word_label(stream, packet, packet.start)))
        if packet.has_tail:
            rows.append(stream.row(packet.end - 1, "tail"))
    return Evidence(
        f"At {diff.up.source}: {verdict_text(pair.up)}; {amount(pair.up.body_words, 'payload word')}. "
        f"At {diff.down.source}: {verdict_text(pair.down)}; {amount(pair.down.body_words, 'payload word')}.",
        diff.down.device,
        diff.down.tap,
        tuple(rows),
    )


def cause_evidence(facts: Facts, device: str) -> tuple[Evidence, ...]:
    """Return why a device froze; empty where the capture does not say."""
    causes = facts.view.causes(device)
    if not causes:
        return ()
    cycle = facts.view.cause_cycle(device)
    when = f" in bus cycle {cycle}" if cycle is not None else ""
    return (
        Evidence(
            f"{device} froze{when}: {', '.join(causes)}.",
            device,
            rows=(facts.view.register_row(device, "ctl.causes"),),
        ),
    )
