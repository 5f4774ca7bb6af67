"""Settings and edges for a kernel, the edges part by part, and the rows that it gave in one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges

Part = tuple[npt.NDArray[np.void], npt.NDArray[np.uint8]]  # rows, and the octets they point into


def record_of(kind: np.dtype[np.void], **fields: Any) -> np.void:
    """Return a record with these fields; others are 0."""
    record: np.void = np.zeros(1, dtype=kind)[0]
    for name, value in fields.items():
        record[name] = value
    return record


def edge_parts(
    edges: Edges, at_once: int
) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], int]]:
    """Yield samples and values of so many edges, and where the part ends: with its last edge, what
    follows is of the next part; there is one part at least."""
    for begin in range(0, max(len(edges.sample), 1), at_once):
        end = begin + at_once
        sample = edges.sample[begin:end]
        until = int(sample[-1]) if end < len(edges.sample) else edges.end_sample
        yield sample, edges.value[begin:end], until


def joined(parts: Sequence[npt.NDArray[np.void]], kind: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return the rows of all parts; each is ``(n,)`` of ``kind``, whose fields are all int64.

    As numbers: numpy compares all fields of each part before it joins records, 50 us a part.
    """
    if len(parts) == 1:
        return parts[0]
    numbers = [np.zeros(0, dtype=np.int64), *(part.view(np.int64) for part in parts)]
    return np.concatenate(numbers).view(kind)


def joined_with_octets(parts: Sequence[Part], kind: np.dtype[np.void]) -> Part:
    """Return the rows of all parts, ``first_byte`` moved to where their octets are among all."""
    before = 0
    for rows, octets in parts:
        rows["first_byte"] += before
        before += len(octets)
    all_octets = np.concatenate([np.zeros(0, np.uint8), *(octets for _, octets in parts)])
    return np.concatenate([np.zeros(0, dtype=kind), *(rows for rows, _ in parts)]), all_octets
