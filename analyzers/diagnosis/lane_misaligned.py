"""lane-misaligned: the byte phase of one lane shifted by 1 to 3 bytes at the receiver, and stays.

From one word on that lane's bytes are rotated, in every packet after. What tells it: rotation, not lag
(sync-fifo-empty); the damage persists, it is not one header (header-corrupted).
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
)
from freezeframe.analyzers.diagnosis.sync_fifo_empty import lane_rows, underflows
from freezeframe.analyzers.facts import Facts
from freezeframe.capture.registers.layouts import Kind

__all__ = ["NAME", "diagnose"]

NAME = "lane-misaligned"
_ROWS = 6
_HOW = {
    "rotated": "rotated by {k} within each half",
    "late": "{k} late",
    "early": "{k} early",
}


def diagnose(facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]) -> Iterator[Finding]:
    """Yield a finding for every link on which one lane's byte phase is wrong to the end."""
    for damage in damages:
        if len(damage.lanes) != 1 or damage.lanes[0] not in damage.phases:
            continue
        lane = damage.lanes[0]
        if lane not in damage.lags or underflows(facts, damage.receiver, lane) == 0:
            yield _between_taps(facts, damage, lane)
    for case in lone:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def _between_taps(facts: Facts, damage: LinkDamage, lane: int) -> Finding:
    phase = damage.phases[lane]
    first = damage.at(phase.start)
    # Unless the word before it was compared and right, the phase may have been lost earlier.
    hidden = damage.hidden or not bool(damage.words.joined[phase.start])
    certain = phase.first == phase.start and not hidden
    place = place_of_pair(first.pair)
    t_ps, unc_ps = damage.diff.down.when(first.position)
    rows: list[Row] = []
    for i in range(max(phase.start - 1, 0), min(phase.start + _ROWS, len(damage.words.up))):
        shown = damage.at(i)
        rows.append(damage.diff.up.row(int(damage.words.up_at[i]), shown.label))
        rows.append(damage.diff.down.row(shown.position, shown.label, int(damage.words.up[i])))
    packets = len({int(n) for n in damage.words.pair[damage.differ]})
    return Finding(
        diagnosis=NAME,
        text=(
            f"From {first.label} of packet {place.packet} ({damage.direction}, flow {place.flow}) "
            f"on, lane {lane} into "
            f"{damage.receiver} has its bytes {_HOW[phase.mode].format(k=phase.shift)}, in every "
            "word to the end of the recording "
            f"({packets} packets); the other lane is right. The lane lost its byte phase."
        ),
        device=damage.receiver,
        tap="rx_enq",
        direction=damage.direction,
        flow=None if hidden else place.flow,
        packet=None if hidden else place.packet,
        word=first.word if certain else None,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        confidence=0.98 if certain else 0.9,
        evidence=(
            Evidence(
                f"{damage.diff.up.source} and {damage.diff.down.source} differ on lane {lane} "
                f"only, in {damage.differ.size} of the "
                f"{phase.words} words from there on, always by the same byte phase.",
                damage.receiver,
                "rx_enq",
                tuple(rows),
            ),
            *_registers(facts, damage.receiver, lane),
            *cause_evidence(facts, damage.receiver),
        ),
    )


def _registers(facts: Facts, receiver: str, lane: int) -> tuple[Evidence, ...]:
    rows = lane_rows(facts, receiver, lane)
    if not rows:
        return ()
    phase = facts.view.value(receiver, "frozen.lane.comma_phase", lane)
    return (
        Evidence(f"{receiver}, lane {lane}: comma phase {phase} at freeze.", receiver, rows=rows),
    )


def _one_tap(facts: Facts, case: LoneDamage) -> Finding | None:
    phase = case.phase
    if phase is None:
        return None
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
    shown = seen(
        case,
        f"{stream.source}: {verdict_text(packet)}; with lane {phase.lane} undone {phase.checks} "
        "checks are right.",
        tuple(
            stream.row(at, word_label(stream, packet, at))
            for at in range(max(first - 1, packet.start), min(first + _ROWS, packet.end))
        ),
    )
    return lone_word(
        facts,
        NAME,
        case,
        text,
        Place(packet.flow if packet.header_ok else None, seq),
        at=first,
        word=word,
        confidence=0.95,
        evidence=(shown, *_registers(facts, case.receiver, phase.lane)),
    )
