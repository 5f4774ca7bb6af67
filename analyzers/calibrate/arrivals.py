"""When the messages of a capture came to their hosts, and from when on that is known.

The log has when a host began to write a descriptor, not when the message was there: a host that was writing another,
or that found no room in the ring, began later. Such a message is taken to have been there with the one before it, where
that had waited, too; else at the middle of the time in which it can have come.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from freezeframe.analyzers.calibrate.refusals import CannotSay
from freezeframe.analyzers.calibrate.sent import Sent
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG

_AT_ONCE = 2  # bus cycles between a descriptor and the next one that was waiting


@dataclass(frozen=True, slots=True)
class Ring:
    """A host's ring of descriptors: its places where it was ever full, and how the host behaves then.

    Attributes:
        places: 0 where it was never full.
        blocked: numbers of the messages that waited for a place.
        delay: bus cycles from a free place to the writing.
        card_first: of a request and a descriptor of one cycle the card's request came first.
    """

    places: int
    blocked: frozenset[int]
    delay: int
    card_first: bool


@dataclass(frozen=True, slots=True)
class Arrival:
    """A message: when it came (ps since the window's begin), sender, flow and size, and when its read ended."""

    t_ps: int
    sender: str
    flow: int
    size_B: int
    number: int
    done_ps: int | None


def window_ps(view: CaptureView, sent: Mapping[str, Sequence[Sent]]) -> int:
    """Return the time from which on all arrivals are known, with nothing under way.

    Raises:
        CannotSay: an event log has begun anew and the cards were never idle since.
    """
    wrapped = [n for n in view.names if view.device(n).memories[EVENT_LOG].wrapped]  # type: ignore[union-attr]
    known_ps = max([int(view.logs[name].t_ps[0]) for name in wrapped], default=-(1 << 62))
    messages = [m for name in view.names for m in sent[name]]
    late = [m.done_ps for m in messages if m.posting is None and m.done_ps is not None]
    under_way_ps = max([known_ps, *late] if wrapped else [known_ps])
    begins = sorted(m.t_ps for m in messages if m.t_ps is not None)
    ends = sorted(m.done_ps for m in messages if m.t_ps is not None and m.done_ps is not None)
    for at, t_ps in enumerate(begins):
        if t_ps >= under_way_ps and (not wrapped or bisect_right(ends, t_ps) >= at):
            return t_ps
    where = " and ".join(f"{name}.{EVENT_LOG}" for name in wrapped)
    raise CannotSay(
        f"{view.folder.path}: wrapped memory: {where} no longer holds the beginning, never since were the cards idle: "
        "what was under way there is not known; freeze sooner, record fewer kinds of events, or take a deeper log"
    )


def ring_of(messages: Sequence[Sent]) -> Ring:
    """Return what is seen of a host's ring."""
    known = [m for m in messages if m.posting is not None and m.posted is not None]
    taken: list[int] = []
    for before, m in zip([None, *known], known, strict=False):
        free = before.done if before is not None and before.done is not None else 0
        asked = m.reads[0].asked if m.reads else None
        taken.append(max(m.posted or 0, free) if asked is not None else 1 << 62)
    levels = []
    for at, m in enumerate(known):
        levels.append(at - bisect_right(taken, m.posting or 0, 0, at))
    most = max(levels, default=0)
    blocked: list[int] = []
    delays: list[int] = []
    first: list[bool] = []
    for at in range(1, len(known)):
        m, before = known[at], known[at - 1]
        waited = (m.posting or 0) - (before.posted or 0) > _AT_ONCE
        place = bisect_right(taken, m.posting or 0, 0, at) - 1
        if levels[at] < most or not waited or place < 0:
            continue
        blocked.append(m.number)
        delays.append((m.posting or 0) - taken[place])
        first.append(known[place].reads[0].asked - taken[place] <= 1)
    full = len(blocked) >= 5 and sorted(delays)[len(delays) // 2] <= 200
    if not full:
        return Ring(0, frozenset(), 0, False)
    delay = sorted(delays)[len(delays) // 2]
    return Ring(most + 1, frozenset(blocked), delay, 2 * sum(first) > len(first))


def arrivals_of(
    view: CaptureView, sent: Mapping[str, Sequence[Sent]], rings: Mapping[str, Ring], begin_ps: int
) -> list[Arrival]:
    """Return the messages from a time on, in the order in which they came."""
    found: list[Arrival] = []
    for name in view.names:
        before: Sent | None = None
        waited = False
        came_ps = begin_ps
        for m in sent[name]:
            if m.t_ps is None or m.t_ps < begin_ps:
                continue
            if before is None or before.posted is None or m.posting is None:
                came_ps, waited = m.t_ps, False
            elif m.number in rings[name].blocked:
                waited = True
            elif m.posting - before.posted <= _AT_ONCE:
                if not waited and m.posting != before.posting:
                    came_ps = max(came_ps, ((before.t_ps or m.t_ps) + m.t_ps) // 2)
                waited = True
            else:
                came_ps, waited = m.t_ps, False
            found.append(
                Arrival(came_ps - begin_ps, name, m.flow, 8 * m.length_words, m.number, m.done_ps)
            )
            before = m
    return sorted(found, key=lambda one: (one.t_ps, one.sender, one.number))


def count_from(messages: Sequence[Sent], begin_ps: int) -> int:
    """Return how many messages are known from their posting to the end of their read."""
    begins = sorted(m.t_ps for m in messages if m.t_ps is not None and m.done is not None)
    return len(begins) - bisect_left(begins, begin_ps)
