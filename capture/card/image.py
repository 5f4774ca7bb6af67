"""What the windows of a card show: words by address, from its text and its memories.

Source: docs/card-map.md, sections 1 and 4; docs/formats.md, section 2 (records in a window).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from freezeframe.capture.card.finding import rom_words
from freezeframe.capture.card.recording import Records
from freezeframe.capture.card.registers import CRC_ADDRESS, ROM_ADDRESS, CardMemory
from freezeframe.capture.folder.records import WINDOW_WORDS, chunk_crc, window_from_records


class Words(NamedTuple):
    """Words at ascending addresses from the start of the device, and whether they open at the freeze alone."""

    addresses: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint32]
    frozen_only: bool


def rom_image(text: str) -> Words:
    """Return the ROM of a card's text."""
    return _from(ROM_ADDRESS, np.array(rom_words(text), np.uint32), frozen_only=False)


def trace_images(
    memories: tuple[CardMemory, ...],
    records: Mapping[str, Records],
    unread: Mapping[str, npt.NDArray[np.bool_]],
    chunk: int,
    *,
    with_crc: bool,
) -> Iterator[Words]:
    """Give the windows of the memories, then the CRC table, where there is one.

    Args:
        records: by name of the memory, ``(depth, 9)``.
        unread: slots that are not known; they, and the CRC of their chunk, are not there.
        chunk: records an entry of the table covers.
    """
    places, crcs = [], []
    entry = CRC_ADDRESS
    for memory in memories:
        rows, lost = records[memory.name], unread[memory.name]
        window = _from(memory.address, window_from_records(rows), frozen_only=True)
        there = np.repeat(~lost, WINDOW_WORDS)
        yield Words(window.addresses[there], window.words[there], frozen_only=True)
        for first in range(0, memory.depth, chunk):
            if not lost[first : first + chunk].any():
                places.append(entry)
                crcs.append(chunk_crc(rows[first : first + chunk]))
            entry += 4
    if with_crc:
        yield Words(np.array(places, np.int64), np.array(crcs, np.uint32), frozen_only=True)


def _from(address: int, words: npt.NDArray[np.uint32], *, frozen_only: bool) -> Words:
    return Words(address + 4 * np.arange(len(words), dtype=np.int64), words, frozen_only)
