"""Which packet at one tap is which at the next: by content or fields, and only where that is proven.

A packet that is unlike every other at both taps, and stands at both, is an anchor; between two anchors that follow
each other everything at both taps is known to have been recorded. Equal packets are told apart by their place there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise

MOST_IN_REGION = 400  # packets between two anchors that are compared with each other

Key = Hashable


@dataclass(frozen=True, slots=True)
class Region:
    """What stands between two anchors and did not pair: packets of either tap, in order.

    ``before`` and ``after``: whether there is an anchor on that side; what is open there may be outside a memory.
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    before: bool
    after: bool


@dataclass(slots=True)
class Pairing:
    """Pairs of packets (number at the first tap, at the second), and what is left.

    ``moved``: unlike all others, at both taps, and not in the order of the rest.
    """

    pairs: list[tuple[int, int]] = field(default_factory=list)
    moved: list[tuple[int, int]] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    anchors: list[tuple[int, int]] = field(default_factory=list)


def pair_packets(
    first: Sequence[tuple[int, Key]],
    second: Sequence[tuple[int, Key]],
    *,
    impossible: Set[tuple[int, int]] = frozenset(),
) -> Pairing:
    """Pair the packets of two taps, each (number, key) in the order of its tap.

    Args:
        impossible: pairs of numbers that cannot be one packet, whatever their bytes.
    """
    at_first, at_second = ({n: at for at, (n, _) in enumerate(tap)} for tap in (first, second))
    single = [
        (at_first[i], at_second[j])
        for i, j in single_pairs(first, second)
        if (i, j) not in impossible
    ]
    chain = _rising(single)
    kept = set(chain)
    out = Pairing(anchors=[(first[i][0], second[j][0]) for i, j in chain])
    # Beyond the anchors a memory may hold another packet of the same bytes.
    moved = [
        (i, j)
        for i, j in single
        if (i, j) not in kept and chain[0][0] < i < chain[-1][0] and chain[0][1] < j < chain[-1][1]
    ]
    out.moved = [(first[i][0], second[j][0]) for i, j in moved]
    gone = {i for i, _ in moved}, {j for _, j in moved}
    ends = [(-1, -1), *chain, (len(first), len(second))]
    for number, ((i0, j0), (i1, j1)) in enumerate(pairwise(ends)):
        if number:
            out.pairs.append((first[i0][0], second[j0][0]))
        a = [first[i] for i in range(i0 + 1, i1) if i not in gone[0]]
        b = [second[j] for j in range(j0 + 1, j1) if j not in gone[1]]
        if a or b:
            _between(out, a, b, before=number > 0, after=number < len(chain))
    out.pairs.sort()
    return out


def single_pairs(
    first: Sequence[tuple[int, Key]], second: Sequence[tuple[int, Key]]
) -> list[tuple[int, int]]:
    """Return the numbers of packets that are unlike every other at both taps, and stand at both."""
    counts = Counter(key for _, key in first), Counter(key for _, key in second)
    place = {key: number for number, key in second}
    return [
        (number, place[key]) for number, key in first if counts[0][key] == 1 and counts[1][key] == 1
    ]


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of pairs, sorted by the first, whose second numbers rise."""
    tails: list[int] = []
    at: list[int] = []
    back: list[int] = []
    for number, (_, j) in enumerate(pairs):
        place = bisect_left(tails, j)
        back.append(at[place - 1] if place else -1)
        if place == len(tails):
            tails.append(j)
            at.append(number)
        else:
            tails[place] = j
            at[place] = number
    chain = []
    number = at[-1] if at else -1
    while number >= 0:
        chain.append(pairs[number])
        number = back[number]
    return chain[::-1]


def _between(
    out: Pairing,
    a: list[tuple[int, Key]],
    b: list[tuple[int, Key]],
    *,
    before: bool,
    after: bool,
) -> None:
    """Pair equal packets between two anchors; what is left over is a region.

    Where one side is open, equal packets pair only as long as they follow the anchor without a break: those beyond may
    be others of the same bytes.
    """
    if not (before and after):
        near = 0 if before else -1
        while (before or after) and a and b and a[near][1] == b[near][1]:
            out.pairs.append((a.pop(near)[0], b.pop(near)[0]))
        _leave(out, a, b, before=before, after=after)
        return
    if max(len(a), len(b)) > MOST_IN_REGION:
        _leave(out, a, b, before=before, after=after)
        return
    keys = [key for _, key in a], [key for _, key in b]
    left = right = 0
    for block in SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks():
        _leave(out, a[left : block.a], b[right : block.b], before=True, after=True)
        left, right = block.a + block.size, block.b + block.size
        equal = zip(a[block.a : left], b[block.b : right], strict=True)
        out.pairs += [(i, j) for (i, _), (j, _) in equal]


def _leave(
    out: Pairing,
    a: Sequence[tuple[int, Key]],
    b: Sequence[tuple[int, Key]],
    *,
    before: bool,
    after: bool,
) -> None:
    if a or b:
        numbers = tuple(i for i, _ in a), tuple(j for j, _ in b)
        out.regions.append(Region(*numbers, before, after))
