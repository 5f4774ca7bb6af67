"""Sets of addresses as few masked comparisons, so that an address decoder stays small."""

from __future__ import annotations

from collections.abc import Iterable

Cube = tuple[int, int]


def cover(words: Iterable[int], bits: int) -> list[Cube]:
    """Return disjoint ``(mask, value)`` pairs; a word of the set has ``word & mask == value`` once.

    Args:
        words: word addresses, each below ``1 << bits``.
        bits: width of a word address.
    Raises:
        ValueError: an address needs more bits.
    """
    everything = (1 << bits) - 1
    left = set(words)
    if any(word & ~everything for word in left):
        raise ValueError(f"word {max(left):#x} does not fit {bits} address bits")
    cubes: set[Cube] = set()
    while left:
        start = min(left)
        size = 1
        while start % (2 * size) == 0 and all(start + n in left for n in range(size, 2 * size)):
            size *= 2
        left.difference_update(range(start, start + size))
        cubes.add((everything & ~(size - 1), start))
    return sorted(_merged(cubes), key=lambda cube: (cube[1], cube[0]))


def matches(cubes: Iterable[Cube], word: int) -> bool:
    """Return whether a word is in the set."""
    return any(word & mask == value for mask, value in cubes)


def _merged(cubes: set[Cube]) -> set[Cube]:
    """Join cubes that differ in one compared bit, until none do; an array becomes one cube."""
    while True:
        for mask, value in sorted(cubes):
            partner = next(
                (
                    (mask, value ^ bit)
                    for bit in (1 << n for n in range(mask.bit_length()))
                    if mask & bit and (mask, value ^ bit) in cubes
                ),
                None,
            )
            if partner is not None:
                bit = value ^ partner[1]
                cubes = cubes - {(mask, value), partner} | {(mask & ~bit, value & ~bit)}
                break
        else:
            return cubes
