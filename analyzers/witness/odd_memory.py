"""A tap's memory that is otherwise than all other taps hold, in words, in their kinds or in their number.

What stands at a tap went on from there. So what is otherwise at one tap, and the same before and behind it, is not what
crossed it; nor is what fails its checks there and passes them behind it, or passed them before it while the receiver's
checkers counted fewer bad packets than it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from freezeframe.analyzers.card.names import BITS_ALTERED, RECORDER_SUSPECT
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Ground, Says, Witness
from freezeframe.analyzers.evidence import amount
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.memories import KIND
from freezeframe.analyzers.witness.side_by_side import Difference, SideBySide, laid
from freezeframe.capture.folder.records import RECORD_B
from freezeframe.decoders.trace.framing import frame_records

_CHECKS = ("bad-header", "bad-payload", "bad-length")
_SHOWN = 4
_RECEIVES = (2, 3)


@dataclass(frozen=True, slots=True)
class _Odd:
    """A place of a tap's memory that all others that hold it have otherwise, before it or behind it."""

    difference: Difference
    beside: SideBySide
    before: bool
    behind: bool

    @property
    def mask(self) -> int | None:
        """The bits of the record that differ; None where more than one record is concerned."""
        d = self.difference
        if d.end - d.start != 1 or d.last - d.first != 1:
            return None
        here, there = self.beside.here, self.beside.there
        data = int(here.data[d.start]) ^ int(there.data[d.first])
        return data | (int(here.kind[d.start]) ^ int(there.kind[d.first])) << KIND


def odd_memories(case: Case) -> Iterator[tuple[int, Finding]]:
    """Yield of each tap whose memory alone is otherwise in how many places it is, and the finding.

    It is ``undetermined`` where nothing decides whether the memory is upset or the words changed.
    """
    for sender, receiver in case.facts.view.directions:
        if case.facts.overflowed(receiver):
            continue  # what a full FIFO cut its own checker does not count
        streams = case.facts.streams(sender, receiver)
        sides = _sides(streams)
        for tap, stream in enumerate(streams):
            if stream is None:
                continue
            odd = [each for each in _odd_places(tap, sides) if _same_packet(stream, each)]
            if not odd:
                continue
            seen_by, why = _decided(case.facts, receiver, tap, stream, odd)
            finding = _finding(stream, f"{sender}->{receiver}", odd, seen_by, why)
            if not seen_by and _right_alone(stream, odd):
                continue
            stopped_ps = case.facts.frozen(stream.device)[0]
            if finding.t_ps is not None and stopped_ps is not None and finding.t_ps > stopped_ps:
                # What is wrong in every record of the memory is wrong in those of the time.
                finding = replace(finding, t_ps=None, t_uncertainty_ps=None)
            if seen_by or (_bits(stream, odd) and _unchecked(case.facts, receiver, tap)):
                yield len(odd), finding


def _right_alone(stream: Stream, odd: Sequence[_Odd]) -> bool:
    """Tell whether what a tap holds passes its checks, and with what the others have it would fail."""
    return not _failing_beside(stream, odd, mended=False) and bool(
        _failing_beside(stream, odd, mended=True)
    )


def _sides(streams: Sequence[Stream | None]) -> dict[tuple[int, int], SideBySide]:
    sides = {}
    for (n, here), (m, there) in combinations(enumerate(streams), 2):
        if here is not None and there is not None and (side := laid(here, there)) is not None:
            sides[n, m], sides[m, n] = side, side.mirrored()
    return sides


def _odd_places(tap: int, sides: dict[tuple[int, int], SideBySide]) -> Iterator[_Odd]:
    """Yield where a tap has something else than all others that hold the place, and these the same."""
    others = {m: side for (n, m), side in sides.items() if n == tap}
    told: set[tuple[int, int]] = set()
    for _, side in sorted(others.items(), key=lambda item: abs(item[0] - tap)):
        for difference in side.differences:
            place = difference.start, difference.end
            if place in told:
                continue
            told.add(place)
            holds = {n: each for n, each in others.items() if each.covers(*place)}
            said = [each.content(each.at[place]) for each in holds.values() if place in each.at]
            if len(said) == len(holds) and len(set(said)) == 1:
                behind = any(n > tap for n in holds)
                yield _Odd(difference, side, any(n < tap for n in holds), behind)


def _decided(
    facts: Facts, receiver: str, tap: int, stream: Stream, odd: Sequence[_Odd]
) -> tuple[tuple[str, ...], str]:
    """Return which witnesses decide that it is the memory, and how; none where nothing decides it."""
    if any(each.before and each.behind for each in odd):
        return ("tap_before", "tap_after"), "the taps before and behind it agree on what crossed"
    # A check that passes with either word, as of bits that it does not cover, decides nothing.
    good = [
        each.beside.there.source
        for each in odd
        if each.behind
        and _passes(each.beside.there, each.difference.first)
        and not _passes(stream, each.difference.start)
    ]
    if good and _bits(stream, odd):
        return ("tap_after",), f"at {good[0]} the packet passes its checks with other words there"
    wrong = _failing_beside(stream, odd, mended=False)
    if not wrong:
        return (), ""
    beside = odd[0].beside.there.source
    # A packet of which the others hold only a part stays as wrong as it was.
    right = _right_beside(stream, odd)
    if right and any(each.behind for each in odd):
        return ("tap_after",), (
            f"what it holds fails its checks, and with what went on from there, as {beside} has it, it does not"
        )
    if right and tap in _RECEIVES and (few := _counted_less(facts, receiver, stream, odd)):
        return ("tap_before", "checker"), (
            f"what it holds fails its checks, with what {beside} has it does not, and {receiver}, which looked at it "
            f"there, counted {few}"
        )
    return (), ""


def _same_packet(stream: Stream, odd: _Odd) -> bool:
    """Tell whether records that are otherwise lie in one packet at both taps, by good headers; else they may."""
    there, d = odd.beside.there, odd.difference
    if d.end - d.start != d.last - d.first:
        return True  # records that one tap has not at all
    packets = (
        _packet(stream, min(d.start, len(stream) - 1)),
        _packet(there, min(d.first, len(there) - 1)),
    )
    named = [(p.seq, p.flow) for p in packets if p is not None and p.header_ok]
    return len(named) < len(packets) or named[0] == named[1]


def _passes(stream: Stream, at: int) -> bool:
    """Tell whether the packet around a position is whole at a tap, and passes its checks there."""
    packet = _packet(stream, min(at, len(stream) - 1))
    return packet is not None and packet.good


def _counted_less(facts: Facts, receiver: str, stream: Stream, odd: Sequence[_Odd]) -> str:
    """Return how a receiver counted fewer bad packets than a tap holds, in words; empty where it did not.

    Of a packet without its TAIL the header is checked; after a bad header nothing is.
    """
    packets = _beside(stream, odd, mended=False)
    headers = sum(p["header_ok"] == 0 for p in packets)
    others = sum(p["tail_read"] and p["header_ok"] == 1 and 0 in _verdicts(p) for p in packets)
    # One that fails payload and length may be counted as either.
    for failing, names in ((headers, _CHECKS[:1]), (others, _CHECKS[1:])):
        counts = [facts.view.count(receiver, name) for name in names]
        known = [count for count in counts if count is not None]
        if len(known) == len(counts) and sum(known) < failing:
            return f"{sum(known)} of {amount(failing, 'packet')} as bad"
    return ""


def _unchecked(facts: Facts, receiver: str, tap: int) -> bool:
    """Tell whether the receiver's checkers, had they looked, found nothing of it."""
    counted = [facts.view.count(receiver, name) for name in _CHECKS]
    return tap not in _RECEIVES or counted == [0] * len(_CHECKS)


def _failing_beside(stream: Stream, odd: Sequence[_Odd], *, mended: bool) -> list[bool]:
    """Return of each packet that fails its checks, as recorded or with what the others have, whether it has a TAIL."""
    return [bool(p["tail_read"]) for p in _beside(stream, odd, mended=mended) if 0 in _verdicts(p)]


def _right_beside(stream: Stream, odd: Sequence[_Odd]) -> bool:
    """Tell whether a packet, or its header, passes its checks with what the others have there."""
    mended = _beside(stream, odd, mended=True)
    bad = [
        sum(p["header_ok"] == 0 for p in packets)
        for packets in (mended, _beside(stream, odd, mended=False))
    ]
    return bad[0] < bad[1] or any(p["tail_read"] and set(_verdicts(p)) == {1} for p in mended)


def _verdicts(packet: np.void) -> tuple[int, int, int]:
    return int(packet["header_ok"]), int(packet["payload_ok"]), int(packet["length_ok"])


def _beside(stream: Stream, odd: Sequence[_Odd], *, mended: bool) -> list[np.void]:
    """Return the packets around the odd places, as recorded or with what the others have there."""
    records = np.zeros((len(stream), RECORD_B), np.uint8)
    records[:, :8] = stream.data.astype("<u8").view(np.uint8).reshape(-1, 8)
    records[:, 8] = stream.kind
    pieces, at, places = [], 0, []
    for each in sorted(odd, key=lambda o: o.difference.start):
        d, there = each.difference, each.beside.there
        if d.start < at:
            continue
        pieces.append(records[at : d.start])
        if mended:
            other = np.zeros((d.last - d.first, RECORD_B), np.uint8)
            other[:, :8] = there.data[d.first : d.last].astype("<u8").view(np.uint8).reshape(-1, 8)
            other[:, 8] = there.kind[d.first : d.last]
            pieces.append(other)
        else:
            pieces.append(records[d.start : d.end])
        places.append(sum(len(piece) for piece in pieces) - 1)
        at = d.end
    whole = np.ascontiguousarray(np.concatenate([*pieces, records[at:]]))
    return [
        p
        for p in frame_records(whole)
        if any(
            int(p["first_record"]) <= place + 1 and place - 1 <= int(p["last_record"])
            for place in places
        )
    ]


def _packet(stream: Stream, at: int) -> Packet | None:
    return next((p for p in stream.packets if p.start <= at < p.end), None)


def _finding(
    stream: Stream, direction: str, odd: Sequence[_Odd], seen_by: tuple[str, ...], why: str
) -> Finding:
    first = odd[0]
    d, side = first.difference, first.beside
    at = min(d.start, len(stream) - 1)
    slots = sorted({int(stream.slot[min(e.difference.start, len(stream) - 1)]) for e in odd})
    packet = _packet(side.there, min(d.first, len(side.there) - 1))
    bits = _bits(stream, odd)
    what = f"{bits} of {_records(slots)}" if bits else _moved(first, slots)
    if seen_by:
        text = f"is not what crossed it in {what}: {why}. The recorder's memory is suspect, not the card."
    else:
        why = f"{side.there.source} has it otherwise, and no check that looked at the packet decides which is right"
        text = (
            f"is not what its neighbours have in {what}: {why}. Either the recorder's memory is upset, or it changed "
            "on its way."
        )
    t_ps, unc_ps = stream.when(at)
    there = min(d.first, len(side.there) - 1)
    rows = [
        row
        for each in odd[:_SHOWN]
        for row in (
            stream.row(min(each.difference.start, len(stream) - 1), "as recorded"),
            each.beside.there.row(
                min(each.difference.first, len(each.beside.there) - 1), "as another tap has it"
            ),
        )
    ]
    return Finding(
        RECORDER_SUSPECT if seen_by else UNDETERMINED,
        f"What {stream.source} recorded {text}",
        stream.device,
        stream.tap,
        direction,
        packet=None if packet is None or not packet.header_ok else packet.seq,
        t_ps=t_ps,
        t_uncertainty_ps=unc_ps,
        evidence=(
            Evidence(
                f"{stream.source} and {side.there.source}, slot {int(stream.slot[at])} and slot "
                f"{int(side.there.slot[there])}: {why}.",
                stream.device,
                stream.tap,
                tuple(rows),
            ),
        ),
        candidates=() if seen_by else (RECORDER_SUSPECT, BITS_ALTERED),
        ground=Ground.COMPARED,
        witnesses=tuple(Witness(Says.FOR, why, name=name) for name in seen_by),
        falsifier="It would be wrong if another tap held the words so, or the receiver had counted a packet as bad.",
    )


def _bits(stream: Stream, odd: Sequence[_Odd]) -> str:
    """Return the bits that are wrong in every record, in words; empty where it is no matter of bits."""
    masks = [each.mask for each in odd]
    if None in masks or len(set(masks)) != 1 or not masks[0]:
        return ""
    which = [str(bit) for bit in range(72) if masks[0] >> bit & 1]
    text = f"bit{'s' * (len(which) > 1)} {', '.join(which)}"
    column = int(which[0])
    if len(which) == 1 and column < KIND and len(odd) > 1:
        held = stream.data >> np.uint64(column) & np.uint64(1)
        if len(set(held.tolist())) == 1:
            text += f", which is {int(held[0])} in every word of this memory,"
    return text


def _records(slots: Sequence[int]) -> str:
    if len(slots) == 1:
        return f"the word in slot {slots[0]}"
    return f"{len(slots)} words in slots {slots[0]} to {slots[-1]}"


def _moved(first: _Odd, slots: Sequence[int]) -> str:
    d = first.difference
    words, right = d.end - d.start, d.last - d.first
    if words == right:
        return _records(slots)
    more = f"{words} word{'s' * (words != 1)} where {right} crossed"
    return f"{more}, at slot {slots[0]}"
