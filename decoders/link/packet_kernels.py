"""Kernel of the link: words with their places in packets to packets and credits, with both CRCs of each.

Source: docs/formats.md sections 3 and 3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from freezeframe.capture.registers import layouts
from freezeframe.decoders.link.bonding_kernels import WORD_ERRORS, WORD_KINDS
from freezeframe.decoders.trace.crc_kernels import crc16_header, crc32

_HEAD, _BODY, _TAIL, _CREDIT, _STRAY, _ERROR = range(len(WORD_KINDS))
_NO_END, _CUT = WORD_ERRORS.index("no-end"), WORD_ERRORS.index("cut-packet")
_TRUE, _FALSE, _UNKNOWN = 1, 0, -1

LINK_ERRORS = (
    *WORD_ERRORS,
    "bad-header",
    "bad-payload",
    "bad-length",
    "sequence",
    "bad-parity",
    "bad-credit",
    "stray-words",
)
(_BAD_HEADER, _BAD_PAYLOAD, _BAD_LENGTH, _SEQUENCE, _BAD_PARITY, _BAD_CREDIT, _STRAY_WORDS) = range(
    len(WORD_ERRORS), len(LINK_ERRORS)
)

_INJECTED = int(layouts.PacketFlag.INJECTED)
_FLAGS_LSB, _FLAGS_MASK = layouts.HEADER_FLAGS_LSB, layouts.HEADER_FLAGS_MASK
_FLOW_LSB, _FLOW_MASK = layouts.HEADER_FLOW_LSB, layouts.HEADER_FLOW_MASK
_LENGTH_LSB, _LENGTH_MASK = layouts.HEADER_LENGTH_LSB, layouts.HEADER_LENGTH_MASK
_SEQ_LSB, _SEQ_MASK = layouts.HEADER_SEQ_LSB, layouts.HEADER_SEQ_MASK
_HEADER_CRC_LSB = layouts.HEADER_CRC_LSB
_TAIL_MASK = layouts.TAIL_CRC_MASK
_CREDIT_CRC_LSB = layouts.CREDIT_CRC_LSB
_CREDIT_FLOW_LSB, _CREDIT_FLOW_MASK = layouts.CREDIT_FLOW_LSB, layouts.CREDIT_FLOW_MASK
_PARITY_LSB = layouts.CREDIT_PARITY_LSB
_LOW_48 = (1 << 48) - 1

PACKET_ROW = np.dtype(
    [
        ("header", np.uint64),
        ("address", np.uint64),
        *(
            (name, np.int64)
            for name in (
                "t_ps", "t_end_ps", "heads", "body_words", "first_row", "end_row",
                "header_ok", "payload_ok", "length_ok", "whole",
            )
        ),
    ]
)  # fmt: skip
CREDIT_ROW = np.dtype(
    [("t_ps", np.int64), ("word", np.uint64), ("parity_ok", np.int64), ("crc_ok", np.int64)]
)
ERROR_ROW = np.dtype(
    [(name, np.int64) for name in ("t_ps", "code", "flow", "packet", "value", "expected", "seen")]
)

_NOTHING = (-1, -1)  # neither expected nor seen
_MOST_BODY = 1 << 10  # words kept for the CRC; the format allows 512, the field 1023
_STATE = np.dtype(
    [
        ("row", np.int64),  # words given so far
        ("packet", np.int64),  # packets begun so far
        ("open", np.int64),
        ("open_row", PACKET_ROW),
        ("t_last_ps", np.int64),  # of the latest word of the packet
        ("word_ps", np.int64),  # from word to word in packets
        ("stray", np.int64),  # stray words in a row
        ("t_stray_ps", np.int64),
        ("next_seq", np.int64),  # -1 while it is not known
        ("payload", np.uint64, _MOST_BODY),
    ]
)


def new_packet_state() -> npt.NDArray[np.void]:
    """Return the state at the start of a stream: one record."""
    state = np.zeros(1, dtype=_STATE)
    state["next_seq"] = -1
    return state


@njit(cache=True, nogil=True)
def packets(
    words: Any, state: Any, last: bool, places: Any, rows: Any
) -> tuple[int, int, int, int]:
    """Put words into packets and credits.

    Args:
        words: columns of time (int64, ps), data (uint64), kind (of WORD_KINDS), error (of WORD_ERRORS), first.
        state: from `new_packet_state`, changed.
        last: whether the stream ends with these.
        places: columns to be filled for each word that is not an error: its number in ``words``, its
            packet and its index in the payload, -1 where there is none (all int64).
        rows: packets, credits, errors: ``(m,)`` of their types; room for one, one and five rows a word, and one more.
    Returns:
        Words, packets, credits, errors filled.
    """
    t_ps, data, kind, error, first = words
    numbers, packet_of, index_of = places
    packet_rows, credit_rows, error_rows = rows
    s = state[0]
    row = s.open_row
    count = packet_count = credit_count = errors = 0
    for i in range(len(t_ps)):
        k = kind[i]
        if s.stray > 0 and k != _STRAY:
            errors = _wrong(
                error_rows, errors, s.t_stray_ps, _STRAY_WORDS, -1, -1, s.stray, _NOTHING
            )
            s.stray = 0
        if k == _ERROR:
            about = s.packet - 1 if s.open else -1
            errors = _wrong(error_rows, errors, t_ps[i], error[i], -1, about, 0, _NOTHING)
            if s.open:
                errors = _close(s, error[i], np.uint64(0), error_rows, errors)
                packet_rows[packet_count] = row
                packet_count += 1
            continue
        numbers[count] = i
        packet_of[count] = index_of[count] = -1
        if k == _CREDIT:
            word = data[i]
            credit = credit_rows[credit_count]
            credit_count += 1
            credit.t_ps = t_ps[i]
            credit.word = word
            credit.parity_ok = _ones(word & np.uint64(_LOW_48)) & 1
            crc = np.int64(_crc_of_six(word))
            seen_crc = np.int64(word >> np.uint64(_CREDIT_CRC_LSB))
            credit.crc_ok = crc == seen_crc
            flow = _field(word, _CREDIT_FLOW_LSB, _CREDIT_FLOW_MASK)
            if not credit.parity_ok:
                bit = _field(word, _PARITY_LSB, 1)
                compared = 1 - bit, bit
                errors = _wrong(error_rows, errors, t_ps[i], _BAD_PARITY, flow, -1, 0, compared)
            if not credit.crc_ok:
                crcs: Any = (crc, seen_crc)
                errors = _wrong(error_rows, errors, t_ps[i], _BAD_CREDIT, flow, -1, 0, crcs)
        elif k == _STRAY:
            if s.stray == 0:
                s.t_stray_ps = t_ps[i]
            s.stray += 1
        else:
            if first[i] or not s.open:
                s.open = 1
                s.packet += 1
                row.header = row.address = np.uint64(0)
                row.t_ps = t_ps[i]
                row.heads = row.body_words = 0
                row.first_row = s.row
            else:
                s.word_ps = t_ps[i] - s.t_last_ps
            s.t_last_ps = t_ps[i]
            packet_of[count] = s.packet - 1
            if k == _HEAD:
                if row.heads == 0:
                    row.header = data[i]
                else:
                    row.address = data[i]
                row.heads += 1
            elif k == _BODY:
                if row.body_words < _MOST_BODY:
                    s.payload[row.body_words] = data[i]
                index_of[count] = row.body_words
                row.body_words += 1
        count += 1
        s.row += 1
        if k == _TAIL:
            errors = _close(s, 0, data[i], error_rows, errors)
            packet_rows[packet_count] = row
            packet_count += 1
    if last and s.stray > 0:
        errors = _wrong(error_rows, errors, s.t_stray_ps, _STRAY_WORDS, -1, -1, s.stray, _NOTHING)
        s.stray = 0
    return count, packet_count, credit_count, errors


@njit(cache=True, nogil=True)
def _close(s: Any, ended: int, tail: Any, error_rows: Any, errors: int) -> int:
    """Give the verdicts on the packet; ``ended`` is an error of WORD_ERRORS, 0 for a TAIL."""
    row = s.open_row
    s.open = 0
    row.t_end_ps = s.t_last_ps + s.word_ps
    row.end_row = s.row
    row.whole = ended != _CUT
    flow = _field(row.header, _FLOW_LSB, _FLOW_MASK) if row.heads > 0 else -1
    length = _field(row.header, _LENGTH_LSB, _LENGTH_MASK)
    packet = s.packet - 1
    row.header_ok = _UNKNOWN
    header_said: Any = _NOTHING
    payload_said: Any = _NOTHING
    if row.heads == 2:
        header_said = (
            np.int64(crc16_header(row.header, row.address)),
            np.int64(row.header >> np.uint64(_HEADER_CRC_LSB)),
        )
        row.header_ok = _TRUE if header_said[0] == header_said[1] else _FALSE
    elif row.whole:
        row.header_ok = _FALSE
    row.payload_ok = _UNKNOWN
    if ended == 0:
        row.payload_ok = _FALSE
        if row.body_words <= _MOST_BODY:
            payload_said = (
                np.int64(crc32(s.payload[: row.body_words])),
                np.int64(tail & np.uint64(_TAIL_MASK)),
            )
            row.payload_ok = _TRUE if payload_said[0] == payload_said[1] else _FALSE
    row.length_ok = _UNKNOWN
    if row.heads > 0:
        if ended == 0:
            row.length_ok = _TRUE if length == row.body_words else _FALSE
        elif row.whole or row.body_words > length:
            row.length_ok = _FALSE
    t_ps = row.t_ps
    if row.header_ok == _FALSE:
        errors = _wrong(error_rows, errors, t_ps, _BAD_HEADER, flow, packet, 0, header_said)
    if row.payload_ok == _FALSE:
        errors = _wrong(error_rows, errors, t_ps, _BAD_PAYLOAD, flow, packet, 0, payload_said)
    if row.length_ok == _FALSE:
        words = row.body_words
        compared = length, words
        errors = _wrong(error_rows, errors, t_ps, _BAD_LENGTH, flow, packet, words, compared)
    if row.header_ok == _TRUE and not _field(row.header, _FLAGS_LSB, _FLAGS_MASK) & _INJECTED:
        seq = _field(row.header, _SEQ_LSB, _SEQ_MASK)
        if s.next_seq >= 0 and seq != s.next_seq:
            missing = (seq - s.next_seq) & _SEQ_MASK
            compared = s.next_seq, seq
            errors = _wrong(error_rows, errors, t_ps, _SEQUENCE, flow, packet, missing, compared)
        s.next_seq = (seq + 1) & _SEQ_MASK
    return errors


@njit(cache=True, nogil=True)
def _field(word: Any, lsb: int, mask: int) -> Any:
    return np.int64(word >> np.uint64(lsb) & np.uint64(mask))


@njit(cache=True, nogil=True)
def _crc_of_six(word: Any) -> Any:
    """Return the CRC-16/IBM-3740 of bytes 0-5 of a word, bit by bit: credits are few."""
    crc = np.uint64(0xFFFF)
    for k in range(6):
        crc ^= (word >> np.uint64(8 * k) & np.uint64(0xFF)) << np.uint64(8)
        for _ in range(8):
            crc <<= np.uint64(1)
            if crc & np.uint64(0x10000):
                crc ^= np.uint64(0x11021)
    return crc


@njit(cache=True, nogil=True)
def _ones(word: Any) -> int:
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@njit(cache=True, nogil=True)
def _wrong(
    rows: Any,
    count: int,
    t_ps: int,
    code: int,
    flow: int,
    packet: int,
    value: int,
    compared: tuple[int, int],
) -> int:
    """Give an error; ``compared`` is what was expected and what was seen."""
    row = rows[count]
    row.t_ps = t_ps
    row.code = code
    row.flow = flow
    row.packet = packet
    row.value = value
    row.expected, row.seen = compared
    return count + 1
