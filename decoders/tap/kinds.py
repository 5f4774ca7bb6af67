"""The kinds of record in the memory of a card's tap; the event log has another enumeration.

Source: docs/card-map.md section 5.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np
import numpy.typing as npt


class TapKind(IntEnum):
    """What a record of lane 0 is."""

    HEAD = 1
    BODY = 2
    TAIL = 3
    PART = 4
    END = 5
    PART_USER = 6
    END_USER = 7
    SUM = 8
    BODY_USER = 10
    TAIL_USER = 11
    MARK = 13
    TIME = 15


class Bit(IntFlag):
    """What a kind says of a beat; 0 for records that hold none."""

    WORD = 1
    LAST = 2
    USER = 4
    MASKED = 8


class Packet(IntFlag):
    """What is known of a packet beyond its bytes.

    CUT_BEGIN, CUT_END: the memory, a gap or a missing end hides its beginning or end. VOID: bytes of it were not read.
    IRREGULAR: a byte was off elsewhere than at its end. NULL_BEAT: a beat without any byte. SUMMARY: one record
    stands for it. SHORTENED: the memory keeps its first bytes alone. LOST_END: another one began inside it.
    """

    CUT_BEGIN = 1 << 0
    CUT_END = 1 << 1
    VOID = 1 << 2
    USER_END = 1 << 3
    USER_ANY = 1 << 4
    IRREGULAR = 1 << 5
    NULL_BEAT = 1 << 6
    SUMMARY = 1 << 7
    SHORTENED = 1 << 8
    LOST_END = 1 << 9
    BYTE_7 = 1 << 10


PARTIAL = Packet.CUT_BEGIN | Packet.CUT_END | Packet.VOID
"""A packet with any of these is not there as it was: no check and no comparison rests on it."""

BITS: npt.NDArray[np.uint8] = np.zeros(16, np.uint8)
for _kind in TapKind:
    _bits = Bit.WORD if _kind not in (TapKind.SUM, TapKind.MARK, TapKind.TIME) else Bit(0)
    if _bits and _kind & 1 and _kind != TapKind.HEAD:
        _bits |= Bit.LAST
    if _kind in (TapKind.PART_USER, TapKind.END_USER, TapKind.BODY_USER, TapKind.TAIL_USER):
        _bits |= Bit.USER
    if _kind in (TapKind.PART, TapKind.END, TapKind.PART_USER, TapKind.END_USER):
        _bits |= Bit.MASKED
    BITS[_kind] = _bits
