"""Faults of one word on the link: payload-bit-flip and header-corrupted.

payload-bit-flip: one or two bits of one payload word changed on the link.

tx_deq and rx_enq differ in one or two bits, the length is the same, and it happens once. From the
receiver alone the bits are found by the CRC's syndrome.

header-corrupted: one to eight bits of one header word changed on the link.

One header is bad and its neighbours are good. What distinguishes it: the freeze cause is a header's CRC, not a
payload's (payload-bit-flip); the damage does not persist (lane-misaligned).
"""

from __future__ import annotations

from collections.abc import Iterator

from freezeframe.analyzers.contract import Finding, Ground
from freezeframe.analyzers.diagnosis.damaged_lanes import underflows
from freezeframe.analyzers.diagnosis.link_damage import (
    LinkDamage,
    LoneDamage,
    altered_word,
    at_receiver,
    flipped_bits,
)
from freezeframe.analyzers.evidence import Place, amount, verdict_text
from freezeframe.analyzers.facts import Facts

PAYLOAD_BIT_FLIP = "payload-bit-flip"
_MOST_PAYLOAD_BITS = 2


def flipped_payload_bits(
    facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]
) -> Iterator[Finding]:
    """Yield a finding for every link on which exactly one payload word lost one or two bits."""
    for damage in damages:
        if damage.differ.size != 1 or damage.hidden:
            continue
        index = int(damage.differ[0])
        hit = damage.at(index)
        if hit.label.startswith("payload") and damage.bits(index) <= _MOST_PAYLOAD_BITS:
            lane = damage.lanes[0]
            if lane in damage.lags and underflows(facts, damage.receiver, lane) != 0:
                continue  # the half is also that of the word before: the lane may have lagged
            yield altered_word(
                facts, PAYLOAD_BIT_FLIP, damage, index, _payload_rest(damage), Ground.COMPARED
            )
    for case in lone:
        yield from _payload_at_one_tap(facts, case)


def _payload_rest(damage: LinkDamage) -> str:
    return (
        f"{damage.diff.up.source} and {damage.diff.down.source} agree in all other "
        f"{amount(damage.diff.words_compared - 1, 'word')} that both recorded"
    )


def _payload_at_one_tap(facts: Facts, case: LoneDamage) -> Iterator[Finding]:
    packet, stream = case.first, case.stream
    if not case.alone or packet.header_ok is not True or len(case.flips) != 1:
        return
    if case.repeats or case.phase is not None:
        return
    flip = case.flips[0]
    if flip.word is None:
        return
    position = packet.start + packet.heads + flip.word
    value = int(stream.data[position])
    bits = flipped_bits(flip.mask)
    text = (
        f"Packet {packet.seq} ({case.direction}, flow {packet.flow}) has the right length and a bad "
        f"payload CRC at {stream.source}; with {bits} of payload word {flip.word} flipped back the "
        "CRC is right, and no other such flip does that."
    )
    yield at_receiver(
        facts,
        PAYLOAD_BIT_FLIP,
        case,
        text,
        Place(packet.flow, packet.seq),
        at=position,
        word=flip.word,
        ground=Ground.CONFIRMED if flip.mask.bit_count() == 1 else Ground.INFERRED,
        shown=(
            f"{stream.source}: {verdict_text(packet)}; the CRC's syndrome is that of "
            f"{flip.mask:#018x} in payload word {flip.word}."
        ),
        rows=(
            stream.row(packet.start, "header"),
            stream.row(position, f"payload word {flip.word}", value ^ flip.mask),
            stream.row(packet.end - 1, "tail"),
        ),
    )


HEADER_CORRUPTED = "header-corrupted"
_MOST_HEADER_BITS = 8


def corrupted_headers(
    facts: Facts, damages: list[LinkDamage], lone: list[LoneDamage]
) -> Iterator[Finding]:
    """Yield a finding for every link on which exactly one header word was altered in a few bits."""
    for damage in damages:
        if damage.differ.size != 1 or not damage.header_words or damage.hidden:
            continue
        index = int(damage.differ[0])
        if damage.bits(index) <= _MOST_HEADER_BITS and not _may_be_lane(facts, damage, index):
            yield altered_word(
                facts, HEADER_CORRUPTED, damage, index, _header_rest(damage), Ground.COMPARED
            )
    for case in lone:
        yield from _header_at_one_tap(facts, case)


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


def _header_rest(damage: LinkDamage) -> str:
    return (
        f"the words before and after it are equal at {damage.diff.up.source} and "
        f"{damage.diff.down.source}"
    )


def _header_at_one_tap(facts: Facts, case: LoneDamage) -> Iterator[Finding]:
    packet, stream = case.first, case.stream
    if not case.alone or packet.header_ok is not False or not packet.has_head:
        return
    if packet.payload_ok is False or case.phase is not None:
        return
    if any(underflows(facts, case.receiver, lane) != 0 for lane in range(case.bonded)):
        return  # a lane that lagged within the header looks the same
    later = stream.packets[packet.index + 1 :]
    confirmed = packet.payload_ok is True or any(other.header_ok for other in later)
    if not confirmed or case.expected_seq is None:
        return
    text = (
        f"The header of packet {case.expected_seq} ({case.direction}) is bad at {stream.source}, "
        "what follows it is good and no lane underflowed: bits of its header changed on the link."
    )
    yield at_receiver(
        facts,
        HEADER_CORRUPTED,
        case,
        text,
        Place(None, case.expected_seq),
        at=packet.start,
        word=None,
        ground=Ground.INFERRED,
        shown=f"{stream.source}: {verdict_text(packet)}; its number follows from its neighbours.",
        rows=(stream.row(packet.start, "header"), stream.row(packet.start + 1, "address")),
    )
