"""The loop over a tap's records that makes packets of them, at memory speed.

Source: docs/card-map.md section 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.card.elaborated import SUMMARY_CYCLES
from freezeframe.decoders.tap.kinds import BITS, Bit, Packet, TapKind

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

MOST_SUM_CYCLES = 4095  # "that or more"
MOST_SUM_B = 65535

_WORD, _LAST, _USER, _MASKED = int(Bit.WORD), int(Bit.LAST), int(Bit.USER), int(Bit.MASKED)
_HEAD, _BODY, _PART = int(TapKind.HEAD), int(TapKind.BODY), int(TapKind.PART)
_SUM, _MARK, _TIME = int(TapKind.SUM), int(TapKind.MARK), int(TapKind.TIME)
_CUT_BEGIN, _CUT_END, _VOID = int(Packet.CUT_BEGIN), int(Packet.CUT_END), int(Packet.VOID)
_USER_END, _USER_ANY = int(Packet.USER_END), int(Packet.USER_ANY)
_IRREGULAR, _NULL_BEAT = int(Packet.IRREGULAR), int(Packet.NULL_BEAT)
_SUMMARY, _SHORTENED = int(Packet.SUMMARY), int(Packet.SHORTENED)
_LOST_END, _BYTE_7 = int(Packet.LOST_END), int(Packet.BYTE_7)
_FULL = 0xFF


class Columns(NamedTuple):
    """Packets in columns, each ``(n,)`` int64.

    ``begin`` and ``end``: cycles of the first and the last beat in the tap register, each at most its slack too late
    (slack -1: not even that is known). ``first_row``, ``end_row``: records, half-open. ``offset``, ``stored_B``: of the
    bytes in the buffer; ``length``: of the packet, a SUM's as recorded. ``gap``: the longest run of cycles without a
    beat inside, -1 where it is not known, and ``gap_row`` the record after it. ``digest``: of a SUM, else -1.
    """

    first_row: Int64
    end_row: Int64
    begin: Int64
    begin_slack: Int64
    end: Int64
    end_slack: Int64
    offset: Int64
    stored_B: Int64
    length: Int64
    beats: Int64
    flags: Int64
    gap: Int64
    gap_row: Int64
    digest: Int64


@njit(cache=True, nogil=True)
def _bits_of(mask):  # type: ignore[no-untyped-def]
    count = 0
    while mask:
        count += mask & 1
        mask >>= 1
    return count


@njit(cache=True, nogil=True)
def _mask_top(mask):  # type: ignore[no-untyped-def]
    """Return the number of the highest bit that is on, plus one."""
    top = 0
    while mask:
        top += 1
        mask >>= 1
    return top


@njit(cache=True, nogil=True)
def _put_masked(data, mask, buffer, at):  # type: ignore[no-untyped-def]
    """Write the bytes of lane 0's masked word that are on; return the place behind them."""
    seventh = -1
    if mask & 0x80:
        for place in range(7):
            if not mask >> place & 1:
                seventh = place
                break
    for place in range(7):
        if mask >> place & 1:
            buffer[at] = data >> np.uint64(8 * place) & np.uint64(0xFF)
            at += 1
    if seventh >= 0:
        buffer[at] = data >> np.uint64(8 * seventh) & np.uint64(0xFF)
        at += 1
    return at


@njit(cache=True, nogil=True)
def pack_packets(  # type: ignore[no-untyped-def]
    data, kind, dt, dated, missing, odd, side, side_keep, side_void, summed, beat_B, exact, keep_tail,
    buffer, words, columns
):  # fmt: skip
    """Make packets of records, oldest first.

    Args:
        data, kind, dt: of lane 0. dated: cycle, slack, flags, as `date_records` gives them.
        missing: records that were not read before each.
        odd: which records are not a full beat, dated, a cycle after the one before; ascending, then the record count.
        side, side_keep: ``(lanes - 1, n)``; side_void: ``(n,)``, a side lane was not read.
        summed: SUM stands for packets; in another memory it is damage.
        beat_B: bytes of a beat. exact: packed records end at a gap. keep_tail: bytes are off at a packet's end alone.
        buffer, words: one memory as bytes and as 64-bit words. columns: `Columns`, long enough.
    Returns:
        How many packets there are, how many bytes of the buffer they take, which kinds were met (a bit each), all flags
        of the dates joined by or, those joined by and, and whether a dt is 0.
    """
    first_row, end_row, begin, begin_slack, end, end_slack = columns[:6]
    offset, stored_B, length, beats, flags, gap, gap_row, digest = columns[6:]
    cycle, slack, known = dated
    lanes = side.shape[0] + 1
    per_record = max(1, 8 // beat_B)  # beats of a full record of a narrow stream
    packets = 0
    at = 0
    kinds = 0
    any_known, all_known = 0, 0xFF
    zero_dt = False
    opened = False
    after_end = False  # the next word is a packet's first, by its place
    holes = False  # a byte was off in the open packet: more bytes after it are irregular
    previous = np.int64(-1)  # cycle of the beat before, in the open packet; -1: not known
    plain = lanes == 1 and beat_B == 8
    next_odd = 0
    i = -1
    while i + 1 < kind.size:
        i += 1
        if plain and opened and not holes and at & 7 == 0:
            # Most of what a tap stores: full beats, one a cycle, in the middle of a packet.
            while odd[next_odd] < i:
                next_odd += 1
            here, i = i, odd[next_odd]
            if i > here:
                word = at >> 3
                for place in range(i - here):
                    words[word + place] = data[here + place]
                at += 8 * (i - here)
                kinds |= 1 << _BODY
                any_known |= 1
                all_known &= 1
                # The first of them may stand behind a TIME, and so behind a gap.
                if previous < 0:
                    gap[packets] = -1
                elif gap[packets] >= 0 and cycle[here] - previous - 1 > gap[packets]:
                    gap[packets] = cycle[here] - previous - 1
                    gap_row[packets] = here
                beats[packets] += i - here
                previous = cycle[i - 1]
                end[packets] = previous
                end_slack[packets] = 0
                end_row[packets] = i
                if i == kind.size:
                    break
        kinds |= 1 << kind[i]
        any_known |= known[i]
        all_known &= known[i]
        zero_dt |= dt[i] == 0
        if missing[i] > 0:
            after_end = False
            if opened:
                flags[packets] |= _CUT_END
                stored_B[packets] = length[packets] = at - offset[packets]
                packets += 1
                opened = False
        bits = BITS[kind[i]]
        if kind[i] == _MARK:  # the last thing a recorder stores: what follows is of another time
            after_end = False
            if opened:
                flags[packets] |= _CUT_END
                stored_B[packets] = length[packets] = at - offset[packets]
                packets += 1
                opened = False
            continue
        if kind[i] == _SUM and summed:
            value = data[i]
            length[packets] = np.int64(value >> np.uint64(32) & np.uint64(0xFFFF))
            lasted = np.int64(value >> np.uint64(48) & np.uint64(0xFFF))
            end[packets] = cycle[i] - SUMMARY_CYCLES
            end_slack[packets] = slack[i]
            digest[packets] = np.int64(value & np.uint64(0xFFFFFFFF))
            if opened and not flags[packets] & _CUT_BEGIN:
                flags[packets] = flags[packets] & ~_IRREGULAR | _SUMMARY | _SHORTENED
                stored_B[packets] = at - offset[packets]
            else:  # it tells all; of what may stand before it, nothing is a beginning
                if not opened:
                    at = (at + 7) >> 3 << 3
                    offset[packets] = at
                    first_row[packets] = i
                flags[packets] = _SUMMARY
                stored_B[packets] = 0
                begin[packets] = end[packets] - lasted
                begin_slack[packets] = -1 if lasted == MOST_SUM_CYCLES else slack[i]
                beats[packets] = -1
                gap[packets] = -1
                gap_row[packets] = -1
            if value >> np.uint64(60) & np.uint64(1):
                flags[packets] |= _USER_END
            if value >> np.uint64(61) & np.uint64(1):
                flags[packets] |= _USER_ANY
            if value >> np.uint64(62) & np.uint64(1):
                flags[packets] |= _IRREGULAR
            if value >> np.uint64(63):
                flags[packets] |= _CUT_BEGIN
            end_row[packets] = i + 1
            packets += 1
            opened = False
            after_end = True
            continue
        if not bits & _WORD:
            if kind[i] != _TIME:  # it was something else when it was stored
                after_end = False
                if opened:
                    flags[packets] |= _VOID
            continue
        if opened and kind[i] == _HEAD:
            flags[packets] |= _CUT_END | _LOST_END
            stored_B[packets] = length[packets] = at - offset[packets]
            packets += 1
            opened = False
            after_end = True

        # How many beats the record holds, and the cycles of its first and its last.
        held = per_record
        late = np.int64(0)
        mask = np.int64(_FULL)
        if bits & _MASKED:
            mask = np.int64(data[i] >> np.uint64(56))
            if lanes == 1 and per_record > 1:
                top = _mask_top(mask)
                held = max(1, (top + beat_B - 1) // beat_B)
                whole = top == held * beat_B and mask >> (held - 1) * beat_B == (1 << beat_B) - 1
                if exact and kind[i] == _PART and whole and mask:
                    late = np.int64(1)
        last_cycle = cycle[i] - late
        first_cycle = last_cycle - (held - 1)
        first_slack = np.int64(slack[i])
        if not exact and per_record > 1 and slack[i] >= 0:
            # A gap does not end a record: its bytes lie behind the previous word's cycle.
            first_slack = (
                slack[i] + max(np.int64(0), first_cycle - previous - 1)
                if previous >= 0
                else np.int64(-1)
            )

        if not opened:
            opened = True
            holes = False
            begun = kind[i] == _HEAD or (after_end and kind[i] != _BODY)
            flags[packets] = 0 if begun else _CUT_BEGIN
            at = (at + 7) >> 3 << 3
            offset[packets] = at
            first_row[packets] = i
            begin[packets] = first_cycle
            begin_slack[packets] = first_slack
            beats[packets] = 0
            gap[packets] = 0
            gap_row[packets] = -1
            digest[packets] = -1
        elif not exact and per_record > 1:
            gap[packets] = -1
        elif gap[packets] >= 0:
            if slack[i] != 0 or previous < 0:
                gap[packets] = -1
            elif first_cycle - previous - 1 > gap[packets]:
                gap[packets] = first_cycle - previous - 1
                gap_row[packets] = i
        beats[packets] += held
        previous = last_cycle if slack[i] == 0 else np.int64(-1)

        # The bytes that are on.
        on_before = at
        if not bits & _MASKED:
            if holes:
                flags[packets] |= _IRREGULAR
            if at & 7 == 0:
                words[at >> 3] = data[i]
            else:
                for place in range(8):
                    buffer[at + place] = data[i] >> np.uint64(8 * place) & np.uint64(0xFF)
            at += 8
        else:
            if holes and mask:
                flags[packets] |= _IRREGULAR
            if mask & (mask + 1):  # not a run from byte 0
                flags[packets] |= _IRREGULAR
            if keep_tail and mask & 0x80:
                flags[packets] |= _BYTE_7
            at = _put_masked(data[i], mask, buffer, at)
            # A narrow record that a gap ended is whole as far as it goes.
            if lanes > 1 or per_record == 1 or _bits_of(mask) != held * beat_B:
                holes = True
        for lane in range(lanes - 1):
            keep = side_keep[lane, i]
            if keep == _FULL and at & 7 == 0:
                words[at >> 3] = side[lane, i]
                at += 8
                if holes:
                    flags[packets] |= _IRREGULAR
                continue
            if keep and holes:
                flags[packets] |= _IRREGULAR
            if keep & (keep + 1):
                flags[packets] |= _IRREGULAR
            for place in range(8):
                if keep >> place & 1:
                    buffer[at] = side[lane, i] >> np.uint64(8 * place) & np.uint64(0xFF)
                    at += 1
            if keep != _FULL:
                holes = True
        if at == on_before:
            flags[packets] |= _NULL_BEAT
        if lanes > 1 and side_void[i]:
            flags[packets] |= _VOID
        end[packets] = last_cycle
        end_slack[packets] = slack[i]
        end_row[packets] = i + 1
        if bits & _USER:
            flags[packets] |= _USER_ANY
            if bits & _LAST:
                flags[packets] |= _USER_END
        if bits & _LAST:
            stored_B[packets] = length[packets] = at - offset[packets]
            packets += 1
            opened = False
            after_end = True
    if opened:
        flags[packets] |= _CUT_END
        stored_B[packets] = length[packets] = at - offset[packets]
        packets += 1
    return packets, at, kinds, any_known, all_known, zero_dt
