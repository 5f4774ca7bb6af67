"""Credits copied into payloads: a second witness of every credit, that the word taps record.

A card that copies credits puts each credit it sent or took into the payload of the next packet it sends: BODY words
at the payload's beginning, oldest first, each the credit word with bits 40-47 set to 0x43 instead of 0, parity and
CRC made again, and in its flags 1 for a credit sent and 2 for one taken.

Source: FORTH 3.5 (debug by payload); docs/analyzers.md gives the format; the credit word is docs/formats.md section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.streams import Stream
from freezeframe.capture.registers.layouts import (
    CREDIT_FLAGS_LSB,
    CREDIT_FLAGS_MASK,
    CREDIT_FLOW_LSB,
    CREDIT_FLOW_MASK,
    CREDIT_FREED_LSB,
    CREDIT_FREED_MASK,
    PacketType,
)
from freezeframe.decoders.trace.encode import (
    crc16_ibm3740,
    credit_crc_ok,
    credit_parity_ok,
    words_to_bytes,
)

COPY_MARK = 0x43
SENT_FLAG, TAKEN_FLAG = 1, 2

_MARK_LSB = 40
_FLAGS = {SENT_FLAG: "sent", TAKEN_FLAG: "taken"}


@dataclass(frozen=True, slots=True)
class CreditCopy:
    """A credit found in a payload: ``position`` in its stream, ``code`` ``sent`` or ``taken``."""

    position: int
    t_ps: int
    code: str
    flow: int
    freed: int


@dataclass(frozen=True, slots=True)
class Witness:
    """Copies of one flow's credits against an event log.

    ``only_copied``: values the log should hold and does not; ``only_logged``: values that should have been copied and
    are not. ``both``: how many agree.
    """

    both: int
    only_copied: tuple[int, ...]
    only_logged: tuple[int, ...]


def copy_word(flow: int, freed: int, flag: int) -> int:
    """Return the payload word that copies a credit.

    Raises:
        ValueError: a field does not fit.
    """
    if (
        not 0 <= flow <= CREDIT_FLOW_MASK
        or not 0 <= freed <= CREDIT_FREED_MASK
        or flag not in _FLAGS
    ):
        raise ValueError(f"flow {flow}, freed {freed} or flag {flag} does not fit a copied credit")
    low = PacketType.CREDIT | flag << CREDIT_FLAGS_LSB | flow << CREDIT_FLOW_LSB
    low |= freed << CREDIT_FREED_LSB | COPY_MARK << _MARK_LSB
    low |= (low.bit_count() & 1 ^ 1) << 15
    return low | crc16_ibm3740(words_to_bytes((low,))[:6]) << 48


def copies_of(stream: Stream) -> list[CreditCopy]:
    """Return the copied credits at the beginning of every payload whose header was recorded.

    A word that is none ends the copies of its packet. Words of chance pass with one in 2^29.
    """
    copies = []
    for packet in stream.packets:
        if not packet.has_head:
            continue
        first = packet.start + packet.heads
        for at in range(first, first + packet.body_words):
            word = int(stream.data[at])
            flag = word >> CREDIT_FLAGS_LSB & CREDIT_FLAGS_MASK
            if not _is_copy(word) or flag not in _FLAGS:
                break
            copies.append(
                CreditCopy(
                    at, int(stream.t_ps[at]), _FLAGS[flag], word >> CREDIT_FLOW_LSB & CREDIT_FLOW_MASK,
                    word >> CREDIT_FREED_LSB & CREDIT_FREED_MASK,
                )
            )  # fmt: skip
    return copies


def witness(copied: list[int], logged: list[int]) -> Witness:
    """Compare the values that were copied with those that were logged, both oldest first.

    The recordings begin and end at different times: what one has before the first or after the last value that both
    have says nothing.
    """
    pairs = _common(copied, logged)
    if not pairs:
        return Witness(0, (), ())
    (c0, l0), (c1, l1) = pairs[0], pairs[-1]
    in_copies, in_log = {c for c, _ in pairs}, {at for _, at in pairs}
    return Witness(
        len(pairs),
        tuple(copied[i] for i in range(c0, c1 + 1) if i not in in_copies),
        tuple(logged[i] for i in range(l0, l1 + 1) if i not in in_log),
    )


def _is_copy(word: int) -> bool:
    return (
        word & 0xF == PacketType.CREDIT
        and word >> _MARK_LSB & 0xFF == COPY_MARK
        and credit_parity_ok(word)
        and credit_crc_ok(word)
    )


def _common(a: list[int], b: list[int]) -> list[tuple[int, int]]:
    """Return the positions of a longest common subsequence."""
    lengths = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            same = a[i] == b[j]
            lengths[i, j] = (
                lengths[i + 1, j + 1] + 1 if same else max(lengths[i + 1, j], lengths[i, j + 1])
            )
    pairs, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1, j] >= lengths[i, j + 1]:
            i += 1
        else:
            j += 1
    return pairs
