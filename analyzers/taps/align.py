"""Which packets and words of two taps belong together.

Pair the packets of two taps: the same packet, upstream and downstream, whatever happened to it.

Packets whose two HEAD words agree are anchors, as long as their order agrees; those between anchors
are paired by likeness. Linear in the packets for a healthy link.

Align the words of one packet at two taps: which were omitted, repeated, put in, or altered.

Common beginning and end are cut off first, so the cost is linear in the words and only what differs
between them is searched, by `edit_script`. For word lists that are not packets see `word_diff`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.edit_script import edit_script

_BOTH = (1 << 64) - 1
_LANE0 = 0x00FF00FF00FF00FF
_LANE1 = _BOTH ^ _LANE0
_LIKE = 0.4  # share of 32-bit halves that must agree before two packets count as the same one
_EDGE_WORDS = 16  # words compared from either end of a packet
_SEARCH = 4096  # pairs tried; beyond that each is compared with the one at its own place, so that the cost stays linear


@dataclass(frozen=True, slots=True)
class Match:
    """How two packet lists go together; numbers index the lists.

    ``missing``: upstream only, with matched packets on both sides of it; ``extra``: downstream only,
    likewise; ``reordered``: pairs that stand in another order.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]
    reordered: tuple[tuple[int, int], ...]


def match_packets(up: Stream, down: Stream) -> Match:
    """Pair the packets of two streams of one direction."""
    anchors = _common_keys(up.packets, down.packets, _BOTH)
    # A lane that is damaged throughout leaves the other lane's halves of the headers to go by. Half of a header may
    # be that of another packet by chance, the halves after it are not.
    for lane in (_LANE0, _LANE1):
        halves = [] if anchors else _common_keys(up.packets, down.packets, lane)
        anchors = anchors or [(i, j) for i, j in halves if _likeness(up, i, down, j) >= _LIKE]
    kept = _longest_rising(anchors)
    moved = sorted(set(anchors) - set(kept))
    moved_up, moved_down = {i for i, _ in moved}, {j for _, j in moved}
    pairs: list[tuple[int, int]] = []
    missing: list[int] = []
    extra: list[int] = []
    before = (-1, -1)
    for i, j in [*kept, (len(up.packets), len(down.packets))]:
        ups = [k for k in range(before[0] + 1, i) if k not in moved_up]
        downs = [k for k in range(before[1] + 1, j) if k not in moved_down]
        leading, trailing = before == (-1, -1), i == len(up.packets)
        if ups or downs:
            broken = _broken(up, before[0], i) or _broken(down, before[1], j)
            if broken:  # a gap of the pull may have taken packets anywhere in between
                matched = _most_alike(up, down, ups, downs)
            else:
                matched = _by_order(up, down, ups, downs, leading=leading, trailing=trailing)
            pairs += matched
            if not leading and not trailing and not broken:
                missing += sorted(set(ups) - {u for u, _ in matched})
                extra += sorted(set(downs) - {d for _, d in matched})
        if not trailing:
            pairs.append((i, j))
            before = (i, j)
    return Match(tuple(pairs), tuple(missing), tuple(extra), tuple(moved))


def _broken(stream: Stream, before: int, after: int) -> bool:
    """Return whether the pull left a gap between two packets of a stream."""
    begin = stream.packets[before].end if before >= 0 else 0
    end = stream.packets[after].start if after < len(stream.packets) else len(stream)
    return any(begin <= at <= end for at in stream.breaks)


def _common_keys(up: list[Packet], down: list[Packet], mask: int) -> list[tuple[int, int]]:
    """Return the pairs whose HEAD words agree under a mask and stand once on each side."""

    def keys(packets: list[Packet]) -> dict[tuple[int, int], int]:
        common = [
            ((p.header & mask, p.address & mask), p.index)
            for p in packets
            if p.has_head and p.header is not None and p.address is not None
        ]
        count = Counter(key for key, _ in common)
        return {key: index for key, index in common if count[key] == 1}

    down_keys = keys(down)
    return [(i, down_keys[key]) for key, i in keys(up).items() if key in down_keys]


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of the pairs in which both numbers rise."""
    ordered = sorted(pairs)
    ends: list[int] = []  # smallest last number of a rising part of each length
    places: list[int] = []
    before = [-1] * len(ordered)
    for place, (_, j) in enumerate(ordered):
        length = bisect_left(ends, j)
        before[place] = places[length - 1] if length else -1
        if length == len(ends):
            ends.append(j)
            places.append(place)
        else:
            ends[length], places[length] = j, place
    kept = []
    place = places[-1] if places else -1
    while place >= 0:
        kept.append(ordered[place])
        place = before[place]
    return kept[::-1]


def _by_order(
    up: Stream, down: Stream, ups: list[int], downs: list[int], *, leading: bool, trailing: bool
) -> list[tuple[int, int]]:
    """Pair packets between two anchors, where both streams are whole.

    Before the first anchor the lists end together, after the last they begin together: what one
    side has more there was not recorded on the other.
    """
    if leading and trailing:
        return _most_alike(up, down, ups, downs)
    if leading:
        ups, downs = ups[-len(downs) :] if downs else [], downs[-len(ups) :] if ups else []
    elif trailing:
        ups, downs = ups[: len(downs)], downs[: len(ups)]
    if len(ups) != len(downs):
        return _most_alike(up, down, ups, downs)
    pairs = list(zip(ups, downs, strict=True))
    if leading or trailing:
        return [(i, j) for i, j in pairs if _likeness(up, i, down, j) >= _LIKE]
    # Between anchors an equal number on both sides are the same packets, however damaged.
    return pairs


def _most_alike(
    up: Stream, down: Stream, ups: list[int], downs: list[int]
) -> list[tuple[int, int]]:
    """Pair packets by likeness alone, keeping the order."""
    if not ups or not downs:
        return []
    if len(ups) * len(downs) > _SEARCH:
        # The same place alone proves nothing: two memories may hold stretches that have no packet in common.
        placed = zip(ups, downs, strict=False)
        return [(i, j) for i, j in placed if _likeness(up, i, down, j) >= _LIKE]
    like = np.array([[_likeness(up, i, down, j) for j in downs] for i in ups])
    return [(ups[i], downs[j]) for i, j in _best_path(like)]


def _best_path(like: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> list[tuple[int, int]]:
    n, m = like.shape
    best = np.zeros((n + 1, m + 1))
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            pair = like[i, j] + best[i + 1, j + 1] if like[i, j] >= _LIKE else 0.0
            best[i, j] = max(pair, best[i + 1, j], best[i, j + 1])
    pairs = []
    i = j = 0
    while i < n and j < m:
        if like[i, j] >= _LIKE and best[i, j] == like[i, j] + best[i + 1, j + 1]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i, j] == best[i + 1, j]:
            i += 1
        else:
            j += 1
    return pairs


def _likeness(up: Stream, i: int, down: Stream, j: int) -> float:
    """Return the share of 32-bit halves that agree, at the same distance from the nearer end."""
    p, q = up.packets[i], down.packets[j]
    words = min(p.end - p.start, q.end - q.start, _EDGE_WORDS)
    shares = []
    if p.has_head and q.has_head:
        shares.append(_share(up, p.start, down, q.start, words))
    if p.has_tail and q.has_tail:
        shares.append(_share(up, p.end - words, down, q.end - words, words))
    return max(shares, default=0.0)


def _share(up: Stream, i: int, down: Stream, j: int, words: int) -> float:
    """Return the share of equal lane halves among ``words`` words from two positions."""
    if not words:
        return 0.0
    differ = up.data[i : i + words] ^ down.data[j : j + words]
    equal = (differ & np.uint64(_LANE0) == 0).sum() + (differ & np.uint64(_LANE1) == 0).sum()
    return float(equal) / (2 * words)


Ids = npt.NDArray[np.int64]


class Op(StrEnum):
    """What happened to words between two taps.

    ``reordered``: they are elsewhere downstream. ``replaced``: a stretch of another length stands in
    their place, and which of its words were altered cannot be determined. `align` gives neither of these two.
    """

    OMITTED = "omitted"
    DUPLICATED = "duplicated"
    INSERTED = "inserted"
    ALTERED = "altered"
    REORDERED = "reordered"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference. ``up``, ``down`` are positions in the two word lists.

    For an omitted word ``down`` is where it should stand; for a word too many ``up`` is where the
    list goes on. Between equal neighbours the exact place is not known: it is one of
    ``[first, first + places)``, counted in ``up`` for an omitted word and in ``down`` for one too
    many; of a repeated word every place after the first copy.
    """

    op: Op
    up: int
    down: int
    first: int
    places: int = 1

    @property
    def certain(self) -> bool:
        return self.places == 1


@dataclass(frozen=True, slots=True)
class Alignment:
    """The differences in order; ``compared`` words stood on both sides."""

    edits: tuple[Edit, ...]
    compared: int


def align(up: Ids, down: Ids) -> Alignment:
    """Align two complete word lists.

    Args:
        up, down: ``(n,)``, ``(m,)`` int64; equal numbers are equal words (data and kind).
    """
    n, m = len(up), len(down)
    front = _common(up, down)
    if front == n == m:
        return Alignment((), n)
    if n == m:
        return Alignment(_altered(np.flatnonzero(up != down), 0, 0), n)
    back = _common(up[::-1], down[::-1])
    if front + back >= min(n, m) and abs(n - m) == 1:
        return Alignment((_one(up, down, front, back),), min(n, m))
    back = min(back, min(n, m) - front)
    script = edit_script(up[front : n - back], down[front : m - back])
    return Alignment(_group(script, up, down, front), min(n, m))


def align_cut(up: Ids, down: Ids, *, at_start: bool) -> Alignment:
    """Align two word lists of which one or both lack words at the start (or else at the end).

    What one side lacks there is no difference. Of the hypotheses "altered in place", "one omitted"
    and "one too many" that one is taken under which most of the following words agree.
    """
    if at_start:
        backward = align_cut(up[::-1], down[::-1], at_start=False)
        return Alignment(
            tuple(_mirrored(e, len(up), len(down)) for e in reversed(backward.edits)),
            backward.compared,
        )
    common = min(len(up), len(down))
    front = _common(up, down)
    if front == common:
        return Alignment((), common)
    same = _agree(up[front + 1 :], down[front + 1 :])
    omitted = _agree(up[front + 1 :], down[front:])
    too_many = _agree(up[front:], down[front + 1 :])
    if max(omitted, too_many) <= same or max(omitted, too_many) < 2:
        return Alignment(_altered(np.flatnonzero(up[:common] != down[:common]), 0, 0), common)
    if omitted >= too_many:
        first = front - _run(up[: front + 1][::-1]) + 1
        edit = Edit(Op.OMITTED, front, front, first, front - first + 1)
        rest_up, rest_down = front + 1, front
    else:
        edit = _too_many(down, front, front)
        rest_up, rest_down = front, front + 1
    length = min(len(up) - rest_up, len(down) - rest_down)
    wrong = np.flatnonzero(up[rest_up : rest_up + length] != down[rest_down : rest_down + length])
    return Alignment((edit, *_altered(wrong, rest_up, rest_down)), front + length)


def _one(up: Ids, down: Ids, front: int, back: int) -> Edit:
    """Return the one word more on one side; ``front`` and ``back`` words agree from either end."""
    first = max(len(up), len(down)) - 1 - back
    if len(up) > len(down):
        return Edit(Op.OMITTED, front, front, first, front - first + 1)
    return _too_many(down, front, front)


def _too_many(down: Ids, up_at: int, at: int) -> Edit:
    """Return the edit of a word too many at ``down[at]``, the last of its run of equal words."""
    run = _run(down[: at + 1][::-1])
    if run > 1:
        return Edit(Op.DUPLICATED, up_at, at, at - run + 2, run - 1)
    return Edit(Op.INSERTED, up_at, at, at)


def _altered(positions: Ids, up_at: int, down_at: int) -> tuple[Edit, ...]:
    return tuple(Edit(Op.ALTERED, up_at + i, down_at + i, up_at + i) for i in positions.tolist())


def _mirrored(edit: Edit, n: int, m: int) -> Edit:
    up, down = n - 1 - edit.up, m - 1 - edit.down
    if edit.op is Op.OMITTED:
        return Edit(edit.op, up, down + 1, n - edit.first - edit.places, edit.places)
    if edit.op is Op.ALTERED:
        return Edit(edit.op, up, down, up)
    # Seen from the end, the run's first copy was the one "after" the others.
    first = m - edit.first - edit.places
    return Edit(edit.op, up + 1, down, first + (edit.op is Op.DUPLICATED), edit.places)


def _common(a: Ids, b: Ids) -> int:
    length = min(len(a), len(b))
    differ = a[:length] != b[:length]
    return int(differ.argmax()) if differ.any() else length


def _agree(a: Ids, b: Ids) -> int:
    length = min(len(a), len(b))
    return int((a[:length] == b[:length]).sum())


def _run(a: Ids) -> int:
    """Return how many words at the beginning are equal to the first."""
    return _common(a, np.full(len(a), a[0]))


def _group(script: Ids, up: Ids, down: Ids, base: int) -> tuple[Edit, ...]:
    """Make edits of a script; words omitted and put in at one place were altered, pair by pair."""
    edits: list[Edit] = []
    i = j = base
    for omitted, inserted, equal in script.tolist():
        pairs = min(omitted, inserted)
        edits += _altered(np.arange(pairs), i, j)
        edits += [Edit(Op.OMITTED, i + k, j + pairs, i + k) for k in range(pairs, omitted)]
        for k in range(pairs, inserted):
            again = j + k > 0 and down[j + k] == down[j + k - 1]
            edits.append(Edit(Op.DUPLICATED if again else Op.INSERTED, i + pairs, j + k, j + k))
        i += omitted + equal
        j += inserted + equal
    return tuple(edits)
