"""header-corrupted: one to eight bits of one header word changed on the link.

One header is bad and its neighbours are good. What tells it: the freeze cause is a header's CRC, not a
payload's (payload-bit-flip); the damage does not persist (lane-misaligned).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis.lanes import LANES
from freezeframe.analyzers.diagnosis.link_damage import LinkDamage
from freezeframe.analyzers.diagnosis.link_word import altered_word, lone_word, seen
from freezeframe.analyzers.diagnosis.lone_receiver import LoneDamage
from freezeframe.analyzers.diagnosis.place import Place, verdict_text
from freezeframe.analyzers.diagnosis.sync_fifo_empty import underflows
from freezeframe.analyzers.facts import Facts

__all__ = ["NAME", "diagnose"]

NAME = "header-corrupted"
_MOST_BITS = 8


def diagnose(facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]) -> Iterator[Finding]:
    """Yield a finding for every link on which exactly one header word was altered in a few bits."""
    for damage in damages:
        if damage.differ.size != 1 or not damage.header_words or damage.hidden:
            continue
        index = int(damage.differ[0])
        if damage.bits(index) <= _MOST_BITS and not _may_be_lane(facts, damage, index):
            yield altered_word(facts, NAME, damage, index, _rest(damage), 0.98)
    for case in lone:
        finding = _one_tap(facts, case)
        if finding is not None:
            yield finding


def _may_be_lane(facts: Facts, damage: LinkDamage, index: int) -> bool:
    """Return whether a lane's fault explains the one differing word as well."""
    lane = damage.lanes[0]
    if len(damage.lanes) != 1:
        return False
    if lane in damage.lags and underflows(facts, damage.receiver, lane) != 0:
        return True
    # At the very end of the recording nothing shows whether the damage stays.
    return index >= len(damage.words.up) - 1 and bool(
        facts.view.value(damage.receiver, "frozen.lane.comma_phase", lane)
    )


def _rest(damage: LinkDamage) -> str:
    return (
        f"the words before and after it are equal at {damage.diff.up.source} and "
        f"{damage.diff.down.source}"
    )


def _one_tap(facts: Facts, case: LoneDamage) -> Finding | None:
    packet, stream = case.first, case.stream
    if not case.alone or packet.header_ok is not False or not packet.has_head:
        return None
    if packet.payload_ok is False or case.phase is not None:
        return None
    if any(underflows(facts, case.receiver, lane) != 0 for lane in LANES):
        return None  # a lane that lagged within the header looks the same
    later = stream.packets[packet.index + 1 :]
    confirmed = packet.payload_ok is True or any(other.header_ok for other in later)
    if not confirmed or case.expected_seq is None:
        return None
    text = (
        f"The header of packet {case.expected_seq} ({case.direction}) is bad at {stream.source}, "
        "what follows it is good and no lane underflowed: bits of its header changed on the link."
    )
    shown = seen(
        case,
        f"{stream.source}: {verdict_text(packet)}; its number follows from its neighbours.",
        (stream.row(packet.start, "header"), stream.row(packet.start + 1, "address")),
    )
    return lone_word(
        facts,
        NAME,
        case,
        text,
        Place(None, case.expected_seq),
        at=packet.start,
        word=None,
        confidence=0.85,
        evidence=(shown,),
    )
