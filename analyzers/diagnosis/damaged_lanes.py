"""Faults of one lane of the link: sync-fifo-empty and lane-misaligned.

sync-fifo-empty: one lane's synchronization FIFO was read while empty, before the receiver's rx_enq.

That lane's last valid share of a word repeats (of two lanes a 32-bit half), then the lane lags behind the others until
it realigns. What distinguishes it: a part of a word repeats, not all (word-duplicated); the lane lags, it is not
rotated (lane-misaligned); one lane, not all at a regular interval (clock-drift).

lane-misaligned: the byte phase of one lane shifted by 1 to 3 bytes at the receiver, and stays.

From one word on that lane's bytes are rotated, in every packet after. What distinguishes it: rotation, not lag
(sync-fifo-empty); the damage persists, it is not one header (header-corrupted).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row
from freezeframe.analyzers.diagnosis.lanes import others_of, share_name
from freezeframe.analyzers.diagnosis.link_damage import (
    PERSISTS_WORDS,
    LinkDamage,
    LoneDamage,
    at_receiver,
)
from freezeframe.analyzers.evidence import (
    Place,
    amount,
    place_of_pair,
    verdict_text,
    word_label,
    word_text,
)
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.capture.registers.layouts import Kind

SYNC_FIFO_EMPTY = "sync-fifo-empty"
_ROWS = 6


def empty_sync_fifos(
    facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]
) -> Iterator[Finding]:
    """Yield a finding for every link on which one lane repeated a half and lagged."""
    for damage in damages:
        if len(damage.lanes) == 1 and damage.lanes[0] in damage.lags and not damage.hidden:
            lane = damage.lanes[0]
            if _decided(facts, damage, lane):
                yield _lag_between_taps(facts, damage, lane)
    for case in lone:
        yield from _lag_at_one_tap(facts, case)


def underflows(facts: Facts, receiver: str, lane: int) -> int | None:
    """Return how often a lane's synchronization FIFO was read while empty in this recording.

    None where that is not known: the register was not read, or counts since before the last arm.
    """
    count = facts.view.value(receiver, "frozen.lane.underflows", lane)
    first = facts.view.value(receiver, "ctl.generation") == 1
    return count if first or count == 0 else None


def lane_rows(facts: Facts, receiver: str, lane: int) -> tuple[Row, ...]:
    """Return the state of a lane at freeze as rows of evidence, where it was read."""
    names = ("sync_level", "underflows", "overflows", "comma_phase")
    return facts.view.register_rows(receiver, (f"frozen.lane.{name}" for name in names), lane)


def _decided(facts: Facts, damage: LinkDamage, lane: int) -> bool:
    """Return whether a lag is more than one of several things that look the same."""
    few_bits = damage.differ.size == 1 and damage.bits(int(damage.differ[0])) <= 8
    if not few_bits and lane not in damage.phases:
        return True
    # One word that differs in a few bits may be flipped bits; the lane's own count decides.
    return bool(underflows(facts, damage.receiver, lane))


def _lag_between_taps(facts: Facts, damage: LinkDamage, lane: int) -> Finding:
    lag = damage.lags[lane]
    first = damage.at(lag.start)
    certain = lag.first == lag.start
    place = place_of_pair(first.pair)
    text = (
        f"Lane {lane} into {damage.receiver} repeated its {share_name(damage.bonded)} at {first.label} of packet "
        f"{place.packet} ({damage.direction}, flow {place.flow}) and then lagged by {_words(lag.repeats)} up to "
        f"{_until(damage, lag.end)}; {others_of(damage.bonded)} right throughout. The lane's synchronization FIFO "
        "was read while it was empty."
    )
    shown = (
        f"{damage.diff.up.source} and {damage.diff.down.source} differ on lane {lane} only, in {damage.differ.size} "
        f"words: each half there is that of {_words(lag.repeats)} earlier."
    )
    return at_receiver(
        facts,
        SYNC_FIFO_EMPTY,
        damage,
        text,
        place,
        at=first.position,
        word=first.word if certain else None,
        ground=Ground.COMPARED if certain else Ground.CONFIRMED,
        shown=shown,
        rows=damage.rows(lag.start - 1, min(lag.end + 1, lag.start + _ROWS)),
        more=_underflow_registers(facts, damage.receiver, lane),
    )


def _until(damage: LinkDamage, end: int) -> str:
    if end >= len(damage.words.up):
        return "the end of the recording"
    last = damage.at(end - 1)
    place = place_of_pair(last.pair)
    return f"{last.label} of packet {place.packet}"


def _words(count: int) -> str:
    return "one word" if count == 1 else f"{count} words"


def _underflow_registers(facts: Facts, receiver: str, lane: int) -> tuple[Evidence, ...]:
    rows = lane_rows(facts, receiver, lane)
    count = underflows(facts, receiver, lane)
    if not rows or count is None:
        return ()
    return (
        Evidence(
            f"{receiver}, lane {lane}: its synchronization FIFO was read while empty "
            f"{'once' if count == 1 else f'{count} times'}.",
            receiver,
            rows=rows,
        ),
    )


def _lag_at_one_tap(facts: Facts, case: LoneDamage) -> Iterator[Finding]:
    packet, stream = case.first, case.stream
    if packet.length_ok is False or case.flips or case.phase is not None:
        return
    if len(case.repeats) != 1:
        return
    lane, position = case.repeats[0]
    if not underflows(facts, case.receiver, lane) or any(
        underflows(facts, case.receiver, other) != 0
        for other in range(case.bonded)
        if other != lane
    ):
        return  # without the lanes' own counts a repeated share may be the data's
    body = stream.kind[position] == Kind.BODY
    word = position - packet.start - packet.heads if body and packet.has_head else None
    seq = packet.seq if packet.header_ok else case.expected_seq
    text = (
        f"At {stream.source} lane {lane} has the same {share_name(case.bonded)} twice at {word_text(word, None)} "
        f"of packet {seq} ({case.direction}), the other {'lane has' if case.bonded == 2 else 'lanes have'} not, the "
        "packet's CRC is bad, and "
        "the lane counted reads of its empty synchronization FIFO."
    )
    yield at_receiver(
        facts,
        SYNC_FIFO_EMPTY,
        case,
        text,
        Place(packet.flow if packet.header_ok else None, seq),
        at=position,
        word=word,
        ground=Ground.INFERRED,
        shown=f"{stream.source}: {verdict_text(packet)}; half repeated on lane {lane}.",
        rows=_words_around(stream, packet, position - 2, position + 3),
        more=_underflow_registers(facts, case.receiver, lane),
    )


def _words_around(stream: Stream, packet: Packet, begin: int, end: int) -> tuple[Row, ...]:
    return tuple(
        stream.row(at, word_label(stream, packet, at))
        for at in range(max(begin, packet.start), min(end, packet.end))
    )


LANE_MISALIGNED = "lane-misaligned"
_HOW = {
    "rotated": "rotated by {k} within each half",
    "late": "{k} late",
    "early": "{k} early",
}


def misaligned_lanes(
    facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]
) -> Iterator[Finding]:
    """Yield a finding for every link on which one lane's byte phase is wrong to the end."""
    for damage in damages:
        if len(damage.lanes) != 1 or damage.lanes[0] not in damage.phases:
            continue
        lane = damage.lanes[0]
        if lane not in damage.lags or underflows(facts, damage.receiver, lane) == 0:
            yield _phase_between_taps(facts, damage, lane)
    for case in lone:
        yield from _phase_at_one_tap(facts, case)


def _phase_between_taps(facts: Facts, damage: LinkDamage, lane: int) -> Finding:
    phase = damage.phases[lane]
    first = damage.at(phase.start)
    # Unless the word before it was compared and right, the phase may have been lost earlier.
    hidden = damage.hidden or not bool(damage.words.joined[phase.start])
    certain = phase.first == phase.start and not hidden
    place = place_of_pair(first.pair)
    packets = len({int(n) for n in damage.words.pair[damage.differ]})
    ground = Ground.COMPARED if certain else Ground.CONFIRMED
    if damage.differ.size < PERSISTS_WORDS:
        ground = Ground.LITTLE
    text = (
        f"From {first.label} of packet {place.packet} ({damage.direction}, flow {place.flow}) on, lane {lane} into "
        f"{damage.receiver} has its bytes {_HOW[phase.mode].format(k=phase.shift)}, in every word to the end of the "
        f"recording ({amount(packets, 'packet')}); {others_of(damage.bonded)} right. The lane lost its byte phase."
    )
    shown = (
        f"{damage.diff.up.source} and {damage.diff.down.source} differ on lane {lane} only, in {damage.differ.size} "
        f"of the {amount(phase.words, 'word')} from there on, always by the same byte phase."
    )
    return at_receiver(
        facts,
        LANE_MISALIGNED,
        damage,
        text,
        Place(None, None) if hidden else place,
        at=first.position,
        word=first.word if certain else None,
        ground=ground,
        shown=shown,
        rows=damage.rows(phase.start - 1, phase.start + _ROWS),
        more=_phase_registers(facts, damage.receiver, lane),
    )


def _phase_registers(facts: Facts, receiver: str, lane: int) -> tuple[Evidence, ...]:
    rows = lane_rows(facts, receiver, lane)
    if not rows:
        return ()
    phase = facts.view.value(receiver, "frozen.lane.comma_phase", lane)
    return (
        Evidence(f"{receiver}, lane {lane}: comma phase {phase} at freeze.", receiver, rows=rows),
    )


def _phase_at_one_tap(facts: Facts, case: LoneDamage) -> Iterator[Finding]:
    phase = case.phase
    if phase is None:
        return
    packet, stream = case.first, case.stream
    first, end = phase.places
    body = stream.kind[first] == Kind.BODY and packet.has_head
    word = first - packet.start - packet.heads if body and end - first == 1 else None
    seq = packet.seq if packet.header_ok else case.expected_seq
    text = (
        f"At {stream.source} every check from packet {seq} ({case.direction}) on fails, and all "
        f"{phase.checks} of them are right when lane {phase.lane} is read with its bytes "
        f"{_HOW[phase.mode].format(k=phase.shift)} undone from {word_label(stream, packet, first)} "
        "on: the lane lost its byte phase."
    )
    yield at_receiver(
        facts,
        LANE_MISALIGNED,
        case,
        text,
        Place(packet.flow if packet.header_ok else None, seq),
        at=first,
        word=word,
        ground=Ground.CONFIRMED,
        shown=(
            f"{stream.source}: {verdict_text(packet)}; with lane {phase.lane} undone {phase.checks} "
            "checks are right."
        ),
        rows=_words_around(stream, packet, first - 1, first + _ROWS),
        more=_phase_registers(facts, case.receiver, phase.lane),
    )
