"""sync-fifo-empty: one lane's synchronization FIFO was read while empty, before the receiver's rx_enq.

That lane's last valid 32-bit half repeats, then the lane lags behind the other until it realigns. What
tells it: half a word repeats, not a whole one (word-duplicated); the lane lags, it is not rotated
(lane-misaligned); one lane, not both at a regular interval (clock-drift).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.link_word import lone_word, seen
from freezeframe.analyzers.diagnosis.lone_receiver import LoneDamage
from freezeframe.analyzers.diagnosis.place import (
    Place,
    cause_evidence,
    place_of_pair,
    verdict_text,
    word_label,
    word_text,
)
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.capture.registers.layouts import Kind

__all__ = ["NAME", "diagnose", "lane_rows", "underflows"]

NAME = "sync-fifo-empty"
_ROWS = 6


def diagnose(facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]) -> Iterator[Finding]:
    """Yield a finding for every link on which one lane repeated a half and lagged."""
    for damage in damages:
        if len(damage.lanes) == 1 and damage.lanes[0] in damage.lags and not damage.hidden:
            lane = damage.lanes[0]
            if _decided(facts, damage, lane):
                yield _between_taps(facts, damage, lane)
    for case in lone:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def underflows(facts: Facts, receiver: str, lane: int) -> int | None:
    """Return how often a lane's synchronization FIFO was read while empty in this recording.

    None where that is not known: the register was not read, or counts since before the last arm.
    """
    count = facts.view.value(receiver, "frozen.lane.underflows", lane)
    first = facts.view.value(receiver, "ctl.generation") == 1
    return count if first or count == 0 else None


def lane_rows(facts: Facts, receiver: str, lane: int) -> tuple[Row, ...]:
    """Return the state of a lane at freeze as rows of evidence, where it was read."""
    rows = (
        facts.view.register_row(receiver, f"frozen.lane.{name}", lane)
        for name in ("sync_level", "underflows", "overflows", "comma_phase")
    )
    return tuple(row for row in rows if row.value is not None)


def _decided(facts: Facts, damage: LinkDamage, lane: int) -> bool:
    """Return whether a lag is more than one of several things that look the same."""
    few_bits = damage.differ.size == 1 and damage.bits(int(damage.differ[0])) <= 8
    if not few_bits and lane not in damage.phases:
        return True
    # One word that differs in a few bits may be flipped bits; the lane's own count decides.
    return bool(underflows(facts, damage.receiver, lane))


def _between_taps(facts: Facts, damage: LinkDamage, lane: int) -> Finding:
    lag = damage.lags[lane]
    first = damage.at(lag.start)
    certain = lag.first == lag.start
    place = place_of_pair(first.pair)
    t_ps, unc_ps = damage.diff.down.when(first.position)
    word = first.word if certain else None
    rows: list[Row] = []
    for i in range(
        max(lag.start - 1, 0), min(lag.end + 1, lag.start + _ROWS, len(damage.words.up))
    ):
        shown = damage.at(i)
        above = int(damage.words.up_at[i])
        rows.append(damage.diff.up.row(above, shown.label))
        rows.append(damage.diff.down.row(shown.position, shown.label, int(damage.words.up[i])))
    return Finding(
        diagnosis=NAME,
        text=(
            f"Lane {lane} into {damage.receiver} repeated its 32-bit half at {first.label} of "
            f"packet {place.packet} "
            f"({damage.direction}, flow {place.flow}) and then lagged by {_words(lag.repeats)} up "
            f"to {_until(damage, lag.end)}; the other lane "
            f"is right throughout. The lane's synchronization FIFO was read while it was empty."
        ),
        device=damage.receiver,
        tap="rx_enq",
        direction=damage.direction,
        flow=place.flow,
        packet=place.packet,
        word=word,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.98 if certain else 0.9,
        evidence=(
            Evidence(
                f"{damage.diff.up.source} and {damage.diff.down.source} differ on lane {lane} "
                f"only, in {damage.differ.size} words: each "
                f"half there is that of {_words(lag.repeats)} earlier.",
                damage.receiver,
                "rx_enq",
                tuple(rows),
            ),
            *_registers(facts, damage.receiver, lane),
            *cause_evidence(facts, damage.receiver),
        ),
    )


def _until(damage: LinkDamage, end: int) -> str:
    if end >= len(damage.words.up):
        return "the end of the recording"
    last = damage.at(end - 1)
    place = place_of_pair(last.pair)
    return f"{last.label} of packet {place.packet}"


def _words(count: int) -> str:
    return "one word" if count == 1 else f"{count} words"


def _registers(facts: Facts, receiver: str, lane: int) -> tuple[Evidence, ...]:
    rows = lane_rows(facts, receiver, lane)
    count = underflows(facts, receiver, lane)
    if not rows or count is None:
        return ()
    return (
        Evidence(
            f"{receiver}, lane {lane}: its synchronization FIFO was read while empty {count} "
            "times.",
            receiver,
            rows=rows,
        ),
    )


def _one_tap(facts: Facts, case: LoneDamage) -> Finding | None:
    packet, stream = case.first, case.stream
    if packet.length_ok is False or case.flips or case.phase is not None:
        return None
    if len(case.repeats) != 1:
        return None
    lane, position = case.repeats[0]
    if (
        not underflows(facts, case.receiver, lane)
        or underflows(facts, case.receiver, 1 - lane) != 0
    ):
        return None  # without the lanes' own counts a repeated half may be the data's
    body = stream.kind[position] == Kind.BODY
    word = position - packet.start - packet.heads if body and packet.has_head else None
    seq = packet.seq if packet.header_ok else case.expected_seq
    text = (
        f"At {stream.source} lane {lane} has the same 32-bit half twice at {word_text(word, None)} "
        f"of packet {seq} ({case.direction}), the other lane has not, the packet's CRC is bad, and "
        "the lane counted reads of its empty synchronization FIFO."
    )
    shown = seen(
        case,
        f"{stream.source}: {verdict_text(packet)}; half repeated on lane {lane}.",
        _around(stream, packet, position),
    )
    return lone_word(
        facts,
        NAME,
        case,
        text,
        Place(packet.flow if packet.header_ok else None, seq),
        at=position,
        word=word,
        confidence=0.85,
        evidence=(shown, *_registers(facts, case.receiver, lane)),
    )


def _around(stream: Stream, packet: Packet, position: int) -> tuple[Row, ...]:
    return tuple(
        stream.row(at, word_label(stream, packet, at))
        for at in range(max(position - 2, packet.start), min(position + 3, packet.end))
    )
