"""The recorder as a suspect: a word of one tap's memory that all other witnesses contradict.

What stands at a tap went on from there. So a packet that is wrong at one tap, and right at those behind it, was not
wrong when it crossed; one that is wrong at the last tap that holds it was right if the receiver's own checker, which
looked at it there, counted nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from freezeframe.analyzers.card.names import BITS_ALTERED, RECORDER_SUSPECT
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Ground, Says, Witness
from freezeframe.analyzers.crc.lone_payload import find_flips
from freezeframe.analyzers.evidence import verdict_text, word_label
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.witness.case import At, Bound, Case
from freezeframe.analyzers.witness.readings import read

_RECEIVES = (2, 3)
_FEW_BITS = 4  # what one upset of a memory changes at most
_MOST_SUSPICIOUS = 16  # packets of one direction: more that are wrong are no upset of a word


@dataclass(frozen=True, eq=False)
class _Odd:
    """A packet and a tap at which it is not as at the others.

    ``at``: position of the word in the stream, ``right``: what it was; None where that is not known.
    ``sure``: nothing else explains it.
    """

    bound: Bound
    tap: int
    here: At
    at: int | None
    right: int | None
    why: str
    sure: bool
    seen_by: tuple[str, ...] = ()


def suspects(case: Case) -> list[Finding]:
    """Return each word of a tap's memory that others contradict; ``undetermined`` where it may be right."""
    found: list[Finding] = []
    for sender, receiver in case.facts.view.directions:
        if case.facts.overflowed(receiver):
            continue  # what a full FIFO cut its own checker does not count
        suspicious = list(islice(_suspicious(case, sender, receiver), _MOST_SUSPICIOUS + 1))
        if len(suspicious) <= _MOST_SUSPICIOUS:
            found += [_finding(odd) for bound in suspicious for odd in _odd_taps(bound)]
    return found


def _suspicious(case: Case, sender: str, receiver: str) -> Iterator[Bound]:
    """Yield each packet that differs between two taps in place, or that fails a check somewhere, once."""
    facts, seen = case.facts, set[int]()
    for tap in range(4):
        stream = facts.view.stream(*facts.view.path(sender, receiver)[tap])
        if stream is None:
            continue
        diff = facts.diff(sender, receiver, tap - 1) if tap else None
        differing = {} if diff is None else {id(p.down): p for p in diff.differing if p.in_place}
        for packet in stream.packets:
            if id(packet) in seen or not (packet.bad or id(packet) in differing):
                continue
            bound = _at(case, sender, receiver, tap, stream, packet)
            seen |= {id(at[1]) for at in bound.copies if at is not None}
            yield bound


def _at(case: Case, sender: str, receiver: str, tap: int, stream: Stream, packet: Packet) -> Bound:
    device, name = case.facts.view.path(sender, receiver)[tap]
    seen = Evidence(f"{stream.source}: {verdict_text(packet)}.", device, name)
    finding = Finding(
        RECORDER_SUSPECT, "", device, name, f"{sender}->{receiver}", packet=packet.seq,
        evidence=(seen,),
    )  # fmt: skip
    return Bound(case, finding, sender, receiver, tap, (stream, packet))


def _odd_taps(bound: Bound) -> Iterator[_Odd]:
    held = [n for n in range(4) if bound.copies[n] is not None]
    for tap in held:
        here = bound.copies[tap]
        assert here is not None
        behind = [at for n in held if n > tap and (at := bound.copies[n]) is not None]
        ahead = [at for n in held if n < tap and (at := bound.copies[n]) is not None]
        if behind:
            odd = _odd_beside(bound, tap, here, behind, ahead)
        elif not any(at[1].bad for at in ahead):
            odd = _odd_at_last(bound, tap, here, ahead)
        else:
            odd = None
        if odd is not None:
            yield odd


def _odd_beside(
    bound: Bound, tap: int, here: At, behind: Sequence[At], ahead: Sequence[At]
) -> _Odd | None:
    """Return the tap as odd where the packet is otherwise behind it, and as it was there ahead of it or right."""
    word = _one_word(here, (*behind, *ahead))
    if word is None:
        return None
    after = [other for other in behind if _covers(here, other, word[0])]
    before = [other for other in ahead if _covers(here, other, word[0])]
    if not after:
        return _odd_at_last(bound, tap, here, before)
    names = " and ".join(other[0].source for other in (*before, *after))
    good = [other[0].source for other in after if other[1].good]
    if not before and here[1].good and any(other[1].bad for other in after) and not good:
        return None  # it was right here, and came out wrong
    if before:
        why = f"{names}, before and behind it, agree on what the word is"
        return _Odd(bound, tap, here, *word, why, sure=True, seen_by=("tap_before", "tap_after"))
    if good and not here[1].good:
        why = f"behind it, at {' and '.join(good)}, the packet passes its checks with another word there"
        return _Odd(bound, tap, here, *word, why, sure=True, seen_by=("tap_after",))
    taken = _taken_well(bound)
    if taken:
        why = f"{_others(after)} another word there, and {taken}"
        return _Odd(bound, tap, here, *word, why, sure=True, seen_by=("tap_after", "checker"))
    why = f"{_others(after)} another word there"
    return _Odd(bound, tap, here, *word, why, sure=False)


def _one_word(here: At, others: Sequence[At]) -> tuple[int, int] | None:
    """Return position and right value of the one word that every other tap that holds it has otherwise."""
    laid = [each for other in others if (each := _laid(here, other)) is not None]
    words = {word for each in laid for word in each.changed}
    if len(words) != 1:
        return None
    at, right = words.pop()
    if any(each.first <= at < each.end and not each.changed for each in laid):
        return None
    changed = int(here[0].data[at]) ^ right
    return (at, right) if changed.bit_count() <= _FEW_BITS else None


@dataclass(frozen=True, slots=True)
class _Laid:
    """A packet's words at a tap, from position ``first`` to ``end``, laid beside those at another.

    ``changed``: positions of those that differ, with what they are at the other; not more than a few.
    """

    first: int
    end: int
    changed: list[tuple[int, int]]


def _covers(here: At, other: At, at: int) -> bool:
    laid = _laid(here, other)
    return laid is not None and laid.first <= at < laid.end


def _laid(here: At, other: At) -> _Laid | None:
    """Lay pieces of a packet together at its end or its beginning; None where the two have neither in common."""
    (stream, p), (there, q) = here, other
    count = min(p.end - p.start, q.end - q.start)
    whole = p.end - p.start == q.end - q.start
    if p.has_tail and q.has_tail and (whole or p.cut_start or q.cut_start):
        first, second = p.end - count, q.end - count
    elif not (p.cut_start or q.cut_start) and (p.cut_end or q.cut_end):
        first, second = p.start, q.start
    else:
        return None
    right = there.data[second : second + count]
    at = np.flatnonzero(stream.data[first : first + count] != right)
    changed = [(first + int(i), int(right[i])) for i in at[: _FEW_BITS + 1]]
    return _Laid(first, first + count, changed)


def _odd_at_last(bound: Bound, tap: int, here: At, ahead: Sequence[At]) -> _Odd | None:
    """Return the tap as odd where it is the last that holds the packet, and the receiver's checker counted nothing."""
    word = _one_word(here, ahead)
    ahead = [other for other in ahead if word is not None and _covers(here, other, word[0])]
    if word is None and not here[1].bad:
        return None
    why = ""
    if tap in _RECEIVES:
        whole = replace_tap(bound, tap, here)
        checker, cause = read("checker", whole), read("cause", whole)
        if checker.value == "counted" and _all_counted(bound, here[0]):
            return None  # it was wrong before it came to this memory
        if checker.value == "not-counted" and cause.value != "raised":
            why = f"{checker.text}, where it looked at the packet"
    else:
        why = _arrived_well(bound, here[1])
    at, right = word or _flip(here)
    if at is None:
        return None  # no word is known that would mend it
    if why:
        seen_by = ("tap_before", "checker") if ahead else ("checker",)
        return _Odd(bound, tap, here, at, right, why, sure=True, seen_by=seen_by)
    if not ahead:
        return None
    return _Odd(bound, tap, here, at, right, f"{_others(ahead)} another word there", sure=False)


def _others(taps: Sequence[At]) -> str:
    """Return taps with their verb: ``A.tx_enq has``, ``A.tx_enq and A.tx_deq have``."""
    return (
        f"{' and '.join(other[0].source for other in taps)} {'has' if len(taps) == 1 else 'have'}"
    )


def _all_counted(bound: Bound, stream: Stream) -> bool:
    """Tell whether the receiver counted as many packets as bad as are bad in a memory behind its checker."""
    counted = sum(count or 0 for count in _errors_counted(bound))
    return sum(packet.bad for packet in stream.packets) <= counted


def _errors_counted(bound: Bound) -> list[int | None]:
    """Return what each check of the receiver counted; None where that was not read."""
    view, checks = bound.facts.view, ("bad-header", "bad-payload", "bad-length")
    return [view.count(bound.receiver, name) for name in checks]


def _taken_well(bound: Bound) -> str:
    """Return how it is known that the receiver found the packet good, however little of it is recorded."""
    for tap in _RECEIVES:
        there = bound.copies[tap]
        if there is not None:
            checker = read("checker", replace_tap(bound, tap, there))
            if checker.value == "not-counted":
                return f"{checker.text}, where it looked at the packet"
    return ""


def replace_tap(bound: Bound, tap: int, here: At) -> Bound:
    """Return a bound packet as seen from another of its taps."""
    device, name = bound.facts.view.path(bound.sender, bound.receiver)[tap]
    finding = replace(bound.finding, device=device, tap=name)
    return Bound(bound.case, finding, bound.sender, bound.receiver, tap, here)


def _arrived_well(bound: Bound, packet: Packet) -> str:
    """Return how it is known that the receiver took a packet of which it recorded nothing without complaint."""
    view, receiver = bound.facts.view, bound.receiver
    stream = view.stream(receiver, view.roles.rx.entry)
    if stream is None or any(count != 0 for count in _errors_counted(bound)) or packet.seq is None:
        return ""
    later = [p for p in stream.packets if p.header_ok and p.seq is not None]
    if not later or not 0 < ((later[0].seq or 0) - packet.seq) % (1 << 16) < 1 << 15:
        return ""
    return f"{receiver}, which took it before packet {later[0].seq}, counted no error"


def _flip(here: At) -> tuple[int | None, int | None]:
    """Return position and right value of the one bit that makes a packet's checks pass; None where none is known."""
    stream, packet = here
    tail = stream.tail(packet)
    if packet.header_ok is not True or packet.length_ok is not True or tail is None:
        return None, None
    flips = [f for f in find_flips(stream.payload(packet), tail) if f.mask.bit_count() == 1]
    if len(flips) != 1:
        return None, None
    word = flips[0].word
    at = packet.end - 1 if word is None else packet.start + packet.heads + word
    return at, int(stream.data[at]) ^ flips[0].mask


def _finding(odd: _Odd) -> Finding:
    (stream, packet), facts = odd.here, odd.bound.facts
    at = odd.at if odd.at is not None else packet.end - 1
    label = word_label(stream, packet, at)
    t_ps, unc_ps = stream.when(at)
    word, number = None, _number(odd.bound, packet)
    if odd.at is not None and label.startswith("payload word") and packet.has_head:
        word = at - packet.start - packet.heads
    bits = ""
    if odd.at is not None and odd.right is not None:
        changed = int(stream.data[at]) ^ odd.right
        which = [str(bit) for bit in range(64) if changed >> bit & 1]
        bits = f"bit{'s' * (len(which) > 1)} {', '.join(which)} of "
    text = (
        f"What {stream.source} recorded of {bits}{label} of packet {number} ({odd.bound.sender}->"
        f"{odd.bound.receiver}), slot {int(stream.slot[at])}, "
    )
    text += (
        f"is not what crossed it: {odd.why}. The recorder's memory is suspect, not the card."
        if odd.sure
        else f"is not what its neighbours have: {odd.why}. Either the recorder's memory is upset, or it changed on its "
        "way; what is recorded does not tell which."
    )
    others = [
        other[0].row(other[1].end - packet.end + at, label)
        for n, other in enumerate(odd.bound.copies)
        if other is not None and n != odd.tap and _inside(other, packet, at)
    ]
    rows = (stream.row(at, label, odd.right), *others)
    name = RECORDER_SUSPECT if odd.sure else UNDETERMINED
    return Finding(
        name,
        text,
        stream.device,
        stream.tap,
        f"{odd.bound.sender}->{odd.bound.receiver}",
        packet.flow if packet.header_ok else None,
        number,
        word,
        t_ps,
        unc_ps,
        candidates=() if odd.sure else (RECORDER_SUSPECT, BITS_ALTERED),
        evidence=(
            Evidence(
                f"{stream.source}: {verdict_text(packet)}; {odd.why}.",
                stream.device,
                stream.tap,
                rows,
            ),
            *_errors(facts, odd.bound.receiver),
        ),
        ground=Ground.COMPARED if others else Ground.CONFIRMED,
        witnesses=tuple(Witness(Says.FOR, odd.why, name=name) for name in odd.seen_by),
        falsifier="It would be wrong if the receiver had counted the packet as bad, or another tap held the word so.",
    )


def _number(bound: Bound, packet: Packet) -> int | None:
    """Return the packet's number, from a tap whose header is good."""
    good = [at[1].seq for at in bound.copies if at is not None and at[1].header_ok]
    return good[0] if good else packet.seq


def _inside(other: At, packet: Packet, at: int) -> bool:
    there = other[1].end - packet.end + at
    return other[1].start <= there < other[1].end


def _errors(facts: Facts, receiver: str) -> tuple[Evidence, ...]:
    view = facts.view
    names = ("bad-header", "bad-payload", "bad-length")
    if view.device(receiver) is None or not all(view.roles.counter(name) for name in names):
        return ()
    rows = tuple(view.count_row(receiver, name) for name in names)
    return (Evidence(f"What {receiver} itself counted as bad.", receiver, rows=rows),)
