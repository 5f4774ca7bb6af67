"""Whole packets that a stretch lost, repeated or moved, by what both taps hold and by the packets' numbers.

A packet that is the last of its tap may be on its way; on the link it is lost once it has had more time to arrive
than anything else needed in this capture. A number that does not follow the one before it tells the same where the tap
before does not hold the packet any more; the first tap that has it so is where it is first seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.card.names import DROPPED, REORDERED
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Ground, Row
from freezeframe.analyzers.evidence import cause_evidence
from freezeframe.analyzers.facts import LINK, Facts, doubt_ps, flight_ps
from freezeframe.analyzers.streams import Packet, Stream, numbered
from freezeframe.analyzers.taps.tap_diff import SegmentDiff

DUPLICATED = "packet-duplicated"
_SEQUENCE = 1 << 16
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Break:
    """A packet whose number is not the one that follows; ``expected`` is. ``before``: of its number, came before."""

    packet: Packet
    number: int
    expected: int
    before: Packet | None

    @property
    def ahead(self) -> bool:
        """Numbers were left out before it."""
        return 0 < (self.number - self.expected) % _SEQUENCE <= _SEQUENCE // 2


def packets_moved(facts: Facts, sender: str, receiver: str, stretch: int) -> Iterator[Finding]:
    """Yield what a stretch did to whole packets, by both of its taps."""
    diff = facts.diff(sender, receiver, stretch)
    if diff is None:
        return
    lost = [packet for packet in diff.missing if not packet.bad]
    if stretch == LINK:
        lost += overdue(facts, sender, receiver, diff)
    if lost or diff.extra or diff.reordered:
        yield _moved(facts, receiver, diff, lost)


def _moved(facts: Facts, receiver: str, diff: SegmentDiff, lost: list[Packet]) -> Finding:
    up, down = diff.up, diff.down
    rows: list[Row] = [up.row(p.start, "header, missing downstream") for p in lost[:_SHOWN]]
    rows += [down.row(p.start, "header, only here") for p in diff.extra[:_SHOWN]]
    rows += [down.row(q.start, "header, in another order") for _, q in diff.reordered[:_SHOWN]]
    counted = [
        (len(lost), "went in and did not come out"),
        (len(diff.extra), "came out and had not gone in"),
        (len(diff.reordered), "changed places"),
    ]
    said = [f"{_packets(count)} {what}" for count, what in counted if count]
    text = f"Between {up.source} and {down.source} {' and '.join(said)}."
    first, at = _first(diff, lost)
    stream = up if lost else down
    t_ps, unc_ps = stream.when(at)
    return Finding(
        diagnosis=_name(diff, lost),
        text=f"{text} The first is packet {first.seq} (flow {first.flow}).",
        device=down.device,
        tap=down.tap,
        direction=diff.direction,
        flow=first.flow,
        packet=first.seq,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.COMPARED,
        evidence=(
            Evidence(text, down.device, down.tap, tuple(rows)),
            *cause_evidence(facts, receiver),
        ),
    )


def _packets(count: int) -> str:
    return f"{count} packet{'s' * (count > 1)}"


def _first(diff: SegmentDiff, lost: list[Packet]) -> tuple[Packet, int]:
    packet = (lost or list(diff.extra) or [diff.reordered[0][1]])[0]
    return packet, packet.start


def _name(diff: SegmentDiff, lost: list[Packet]) -> str:
    """Return the one name that everything seen has; none where it is of several sorts."""
    if lost and not diff.extra and not diff.reordered:
        return DROPPED
    if diff.reordered and not lost and not diff.extra:
        return REORDERED
    again = all(_came_before(diff.down, packet) for packet in diff.extra)
    return DUPLICATED if again and diff.extra and not lost else UNDETERMINED


def _came_before(stream: Stream, packet: Packet) -> bool:
    """Tell whether the same packet, word by word, is at a tap twice."""
    return any(
        other is not packet
        and other.header == packet.header
        and np.array_equal(stream.words(other), stream.words(packet))
        for other in stream.packets
    )


def _differ(packet: Packet, other: Packet) -> bool:
    """Tell whether two packets of one number are not the same: their headers differ."""
    return packet.header != other.header


def overdue(facts: Facts, sender: str, receiver: str, diff: SegmentDiff) -> list[Packet]:
    """Return the last packets of the sender that the receiver, before it froze, had time to take and did not."""
    closed, caused = diff.down.end_ps, facts.caused(receiver)[0]
    account = next(
        (a for a in facts.accounts if {a.sender, a.receiver} == {sender, receiver}), None
    )
    if closed is None or caused is None or account is None or not diff.pairs or diff.down.breaks:
        return []
    flight, doubt = flight_ps(facts, account), doubt_ps(facts, account)
    if flight is None or doubt is None:
        return []
    last = max(diff.pairs, key=lambda pair: pair.up.index)
    if diff.down.packets[-1].index > max(pair.down.index for pair in diff.pairs):
        return []  # what came last may be these, damaged
    due_ps = min(closed, caused) - flight - doubt
    return [
        packet
        for packet in diff.up.packets[last.up.index + 1 :]
        if packet.whole and int(diff.up.t_ps[packet.end - 1]) < due_ps
    ]


def numbers_broken(facts: Facts) -> Iterator[Finding]:
    """Yield for each direction the first tap at which a packet's number does not follow the one before it."""
    for sender, receiver in facts.view.directions:
        for tap, stream in enumerate(facts.streams(sender, receiver)):
            if stream is None or (tap >= LINK and facts.overflowed(receiver)):
                continue
            found = next(_breaks(stream, from_zero=_from_power_up(facts, stream)), None)
            if found is not None:
                yield _out_of_order(facts, sender, receiver, tap, stream, found)
                break


def _from_power_up(facts: Facts, stream: Stream) -> bool:
    """Tell whether a tap holds all packets of the link: nothing was overwritten, and the second is number 1.

    One that the tap had begun before it recorded is number 0 itself, and says nothing of what was before it. Or the
    card has recorded since its power-up, and says itself that a number was passed over.
    """
    view, card = facts.view, facts.view.device(stream.device)
    memory = card.memories.get(stream.tap) if card is not None else None
    if memory is None or memory.wrapped or memory.gaps or stream.device in view.since_ps:
        return False
    passed_over = view.roles.cause("out-of-sequence", view.roles.rx.entry)
    if view.value(stream.device, "ctl.generation") == 1 and passed_over in view.causes(
        stream.device
    ):
        return stream.tap == view.roles.rx.entry
    if len(stream.packets) < 2:
        return False
    first, second = stream.packets[:2]
    return not first.cut_start and second.header_ok is True and second.seq == 1


def _breaks(stream: Stream, *, from_zero: bool) -> Iterator[Break]:
    """Yield each packet whose number is not the next; one with a damaged header has some number."""
    seen: dict[int, Packet] = {}
    for number in numbered(stream, -1 if from_zero else None):
        seq = number.seq
        expected = None if number.before is None else (number.before + 1) % _SEQUENCE
        if expected is not None and (seq - expected) % _SEQUENCE > number.damaged:
            yield Break(number.packet, seq, expected, seen.get(seq))
        seen[seq] = number.packet


def _out_of_order(
    facts: Facts, sender: str, receiver: str, tap: int, stream: Stream, found: Break
) -> Finding:
    packet, number, expected = found.packet, found.number, found.expected
    what = f"packet {number} follows where packet {expected} is due"
    of = expected if found.ahead else number
    names: tuple[str, ...] = ()
    known = False
    if tap == 0:
        why = f"{sender} made it so: nothing lies before that tap"
    else:
        names = (DUPLICATED if found.before else DROPPED if found.ahead else REORDERED,)
        why = "the tap before it has them in order"
        above = facts.streams(sender, receiver)[tap - 1]
        held = {p.seq: p for p in above.packets if p.header_ok} if above is not None else {}
        known = of in held and number in held
        if not known:
            why = "the tap before it does not hold them, so where that happened is not known"
        if any(p is not None and _differ(p, packet) for p in (found.before, held.get(number))):
            names, known = (), False
            why = f"packet {number} of {sender} has another header, so this one is not from there"
    t_ps, unc_ps = stream.when(packet.start)
    text = f"At {stream.source} {what}: {why}."
    return Finding(
        diagnosis=names[0] if known else UNDETERMINED,
        candidates=() if known else names,
        text=text,
        device=stream.device,
        tap=stream.tap,
        direction=f"{sender}->{receiver}",
        packet=of,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        ground=Ground.CONFIRMED,
        evidence=(
            Evidence(
                text,
                stream.device,
                stream.tap,
                (stream.row(packet.start, f"header of packet {number}"),),
            ),
            *cause_evidence(facts, receiver),
        ),
    )
