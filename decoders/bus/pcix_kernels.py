"""Kernel of PCI-X: clocks of the bus to phases, transactions and matched splits.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import (
    BAD,
    UNKNOWN,
    ad,
    ad_high,
    asserted,
    cbe,
    cbe_high,
    high_parity,
    ones,
    parity,
    put_phase,
)
from freezeframe.decoders.bus.pcix_rows import COMMANDS, TERMINATIONS, error
from freezeframe.decoders.bus.pcix_splits import answer, request, unanswered

__all__ = ["ROWS_A_CLOCK", "close", "transactions"]

ROWS_A_CLOCK = 16

_SYNC, _IDLE, _SECOND_ADDRESS, _ATTRIBUTE, _DATA = 0, 1, 2, 3, 4
_SPECIAL, _SPLIT_COMPLETION, _DUAL = 1, 12, 13
# Bit c: command c is reserved, a burst, a burst that brings data, posted.
_RESERVED, _BURSTS, _WRITES, _POSTED = 0x0030, 0xD380, 0x9280, 0x9280
_BOUNDARY_B = 128  # allowable disconnect boundary
_RESPONSE_CLOCKS = 16
_LAST_DEVSEL = 6  # clock of subtractive decoding

_NO_COMMAND = len(COMMANDS)
# The lines that the control of a burst takes, and how they are while data goes over.
_CONTROLS = np.uint64(
    1 << at.FRAME
    | 1 << at.IRDY
    | 1 << at.TRDY
    | 1 << at.DEVSEL
    | 1 << at.STOP
    | 1 << at.SERR
    | 1 << at.RST
)
_TRANSFER = np.uint64(1 << at.STOP | 1 << at.SERR | 1 << at.RST)

_COMPLETION = TERMINATIONS.index("completion")
_INITIATOR = TERMINATIONS.index("initiator-disconnect")
_AT_ADB = TERMINATIONS.index("disconnect-at-adb")
_SINGLE = TERMINATIONS.index("single-data-disconnect")
_RETRY = TERMINATIONS.index("retry")
_SPLIT = TERMINATIONS.index("split")
_TARGET_ABORT = TERMINATIONS.index("target-abort")
_MASTER_ABORT = TERMINATIONS.index("master-abort")

_CUT = error("cut-transaction")
_RESET = error("reset-transaction")
_BROKEN = error("broken-transaction")
_ADDRESS_PARITY = error("address-parity")
_ATTRIBUTE_PARITY = error("attribute-parity")
_DATA_PARITY = error("data-parity")
_REPORTED = error("parity-reported")
_IRDY_WITHOUT_FRAME = error("irdy-without-frame")
_FRAME_AGAIN = error("frame-again")
_CUT_HEADER = error("cut-header")
_INITIATOR_WAIT = error("initiator-wait")
_TARGET_WAIT = error("target-wait")
_ODD_WAITS = error("odd-waits")
_LATE_DEVSEL = error("late-devsel")
_DEVSEL_DROPPED = error("devsel-dropped")
_WITHOUT_DEVSEL = error("signal-without-devsel")
_LATE_RESPONSE = error("late-response")
_AFTER_END = error("data-after-end")
_NOT_AT_BOUNDARY = error("not-at-boundary")
_RESERVED_COMMAND = error("reserved-command")
_SPLIT_OF_WRITE = error("split-of-write")
_ACK64 = error("ack64-without-req64")


@numba.njit(cache=True, nogil=True)
def transactions(
    clocks: Any, first: int, stop: int, bus: Any, state: Any, filled: Any, room: Any
) -> tuple[int, int, int, int]:
    """Decode the clocks ``[first, stop)`` until they or the room for rows are used up.

    Args:
        clocks: sample, low and high channels; three entries more than ``stop`` say where the last
            phase ends, and have its parity and PERR#.
        bus: lines that must be taken as 1, whether it is wide, whether PAR and PAR64 are there, and
            how many entries of ``clocks`` are real clocks.
        state: the records of STATE and TRANSACTION_ROW, and those of open and of ended splits; the
            caller takes the ended ones, two for each row at most, and sets ``ended`` to 0.
        filled: phases and data phases so far.
        room: transactions, ``(m,)``, m at least ROWS_A_CLOCK; `PhaseColumns`, one for each clock.
    Returns:
        Clocks consumed, transactions filled, phases and data phases filled.
    """
    sample, low, high = clocks
    absent, wide, has_par, has_par64, real = bus
    s = state[0][0]
    current = state[1]
    t = current[0]
    rows, phases = room
    made, taken = filled
    begins, ends, values, numbers, initiator_waits, target_waits = phases[:6]
    kinds, commands, parities, enabled, wides, data, data_enabled = phases[6:]
    count = 0
    steady = False
    last = s.last
    for i in range(first, stop):
        if count + ROWS_A_CLOCK > len(rows):
            s.last = last
            return i, count, made, taken
        now = low[i] | absent
        top = high[i] if wide else np.uint64(0)
        frame = asserted(now, at.FRAME)
        irdy = asserted(now, at.IRDY)
        frame_before = asserted(last, at.FRAME)
        last = now
        # The usual clock of a burst: data goes over as at the clock before.
        transfer = steady and now & _CONTROLS == _TRANSFER
        if transfer:
            s.clock += 1
        else:
            steady = False
            if asserted(now, at.RST):
                if s.mode >= _SECOND_ADDRESS:
                    count = _abandon(current, sample[i], _RESET, rows, count)
                s.mode = _SYNC
                continue
            if s.mode == _IDLE and not frame and not irdy:
                continue
            if s.mode == _SYNC:
                if not frame and not irdy:
                    s.mode = _IDLE
                continue
            if s.mode == _IDLE:
                if not frame:
                    count = _outside(sample[i], sample[i + 1], _IRDY_WITHOUT_FRAME, rows, count)
                    s.mode = _SYNC
                    continue
                _begin(s, t, sample[i], now)
            t.serr |= asserted(now, at.SERR)
            if s.mode != _DATA:
                if not frame:
                    count = _tell(current, sample[i], sample[i + 1], _CUT_HEADER, rows, count)
                    count = _abandon(current, sample[i], _BROKEN, rows, count)
                    s.mode = _SYNC
                    continue
                verdict = UNKNOWN
                if i + 1 < real:
                    after = low[i + 1] | absent
                    if has_par:
                        verdict = parity(now, after)
                    if wide and has_par64 and s.req64:
                        verdict = max(verdict, high_parity(now, top, after))
                command = _NO_COMMAND if s.mode == _ATTRIBUTE else np.int64(cbe(now))
                put_phase(
                    phases,
                    made,
                    (sample[i], sample[i + 1]),
                    ad(now),
                    (t.number, 0, 0),
                    (np.int64(s.mode == _ATTRIBUTE), command, verdict, cbe(now), False),
                )
                made += 1
                if verdict == BAD:
                    t.parity_errors += 1
                    what = _ATTRIBUTE_PARITY if s.mode == _ATTRIBUTE else _ADDRESS_PARITY
                    count = _tell(current, sample[i], sample[i + 2], what, rows, count)
                if s.mode == _ATTRIBUTE:
                    _attributes(s, t, ad(now), cbe(now))
                    s.clock = 1
                    s.mode = _DATA
                    if _RESERVED >> t.command & 1 or t.command == _DUAL:
                        count = _tell(current, t.sample, sample[i], _RESERVED_COMMAND, rows, count)
                elif s.mode == _SECOND_ADDRESS:
                    t.dual = 1
                    t.command = np.int64(cbe(now))
                    t.address = t.address & 0xFFFF_FFFF | np.int64(ad(now) << np.uint64(32))
                    s.mode = _ATTRIBUTE
                else:
                    s.mode = _SECOND_ADDRESS if t.command == _DUAL else _ATTRIBUTE
                continue

            s.clock += 1
            trdy = asserted(now, at.TRDY)
            stopping = asserted(now, at.STOP)
            devsel = asserted(now, at.DEVSEL)
            if not frame and not irdy:
                count = _finish(s, current, sample[i], state, rows, count)
                s.mode = _IDLE
                continue
            if not frame:
                s.frame_gone = 1
            elif s.frame_gone and not frame_before:
                count = _tell(current, sample[i], sample[i + 1], _FRAME_AGAIN, rows, count)
            # Of a special cycle nobody answers; the message stands with the first IRDY#.
            transfer = t.command == _SPECIAL and irdy and t.data_phases == 0 and not s.selected
            if not transfer and not s.selected:
                if (trdy or stopping) and not devsel:
                    count = _tell(current, sample[i], sample[i + 1], _WITHOUT_DEVSEL, rows, count)
                if devsel:
                    s.selected = s.clock
                    t.devsel = 4 if s.clock > 4 else max(1, s.clock - 1)
                    if s.clock == 5 or s.clock > _LAST_DEVSEL:
                        count = _tell(current, sample[i], sample[i + 1], _LATE_DEVSEL, rows, count)
                    t.wide = wide and asserted(now, at.ACK64) and _BURSTS >> t.command & 1
                    if wide and asserted(now, at.ACK64) and not s.req64:
                        t.wide = 0
                        count = _tell(current, sample[i], sample[i + 1], _ACK64, rows, count)
                    _size(s, t)
                # The clock of DEVSEL# itself is the target response phase.
                continue
            if not transfer:
                if s.over:
                    if trdy and devsel and not stopping and irdy and s.signal == 0:
                        count = _tell(current, sample[i], sample[i + 1], _AFTER_END, rows, count)
                    continue
                if not trdy and not stopping:
                    if not devsel:
                        count = _tell(
                            current, sample[i], sample[i + 1], _DEVSEL_DROPPED, rows, count
                        )
                        s.over = 1
                    elif t.data_phases > 0:
                        count = _tell(current, sample[i], sample[i + 1], _TARGET_WAIT, rows, count)
                    else:
                        t.target_waits += 1
                        if s.clock + t.dual >= _RESPONSE_CLOCKS and not s.told_late:
                            s.told_late = 1
                            count = _tell(
                                current, sample[i], sample[i + 1], _LATE_RESPONSE, rows, count
                            )
                    continue
                if not s.answered:
                    s.answered = 1
                    if t.target_waits & 1 and (_WRITES >> t.command & 1):
                        count = _tell(current, t.sample, sample[i], _ODD_WAITS, rows, count)
                # Target data phase signaling: DEVSEL#, STOP# and TRDY# together.
                if not devsel and not trdy:
                    s.signal, s.over = _TARGET_ABORT, 1
                    continue
                if devsel and stopping and not trdy:
                    s.signal, s.over = _RETRY, 1
                    continue
                if not devsel and not stopping:
                    s.signal, s.over = _SPLIT, 1
                    if _POSTED >> t.command & 1:
                        count = _tell(
                            current, sample[i], sample[i + 1], _SPLIT_OF_WRITE, rows, count
                        )
                    continue
                if not irdy:
                    count = _tell(current, sample[i], sample[i + 1], _INITIATOR_WAIT, rows, count)
                    continue
                if stopping:
                    s.signal = _AT_ADB if devsel else _SINGLE
                    s.over = not devsel
        # Written here and not in a function: its columns would be counted in and out each time.
        verdict = UNKNOWN
        after = low[i + 1] | absent if i + 1 < real else np.uint64(0)
        if has_par and i + 1 < real:
            verdict = parity(now, after)
        enables = cbe(now)
        value = ad(now)
        if t.wide:
            if has_par64 and i + 1 < real:
                verdict = max(verdict, high_parity(now, top, after))
            enables |= cbe_high(now) << np.uint64(4)
            value |= ad_high(now, top) << np.uint64(32)
        begins[made] = sample[i]
        ends[made] = sample[i + 1]
        values[made] = value
        numbers[made] = t.number
        initiator_waits[made] = 0
        target_waits[made] = 0
        kinds[made] = 2
        commands[made] = _NO_COMMAND
        parities[made] = verdict
        enabled[made] = enables
        wides[made] = t.wide != 0
        data[taken] = value
        data_enabled[taken] = enables
        made += 1
        taken += 1
        if t.data_phases == 0:
            t.data_sample = sample[i]
            s.low_data = ad(now)
        t.data_phases += 1
        s.data_phases += 1
        if _BURSTS >> t.command & 1:
            width_B = 8 if t.wide else 4
            t.size_B = min(t.byte_count, t.data_phases * width_B - t.address % width_B)
        else:
            t.size_B = t.byte_count
        if verdict == BAD:
            t.parity_errors += 1
            count = _tell(current, sample[i], sample[i + 2], _DATA_PARITY, rows, count)
        # Two clocks after PAR, one more than in conventional PCI.
        if i + 3 < real and asserted(low[i + 3] | absent, at.PERR):
            t.perr = 1
            count = _tell(current, sample[i], sample[i + 3], _REPORTED, rows, count)
        at_boundary = (t.address + t.size_B) % _BOUNDARY_B == 0
        if t.data_phases >= s.needed or (s.signal == _AT_ADB and at_boundary):
            s.over = 1
        steady = frame and not s.over and s.signal == 0
    s.last = last
    return stop, count, made, taken


@numba.njit(cache=True, nogil=True)
def close(end: int, state: Any, rows: Any) -> int:
    """End the transaction and the splits that are open; return the transactions filled."""
    s = state[0][0]
    count = 0
    if s.mode >= _SECOND_ADDRESS:
        count = _abandon(state[1], end, _CUT, rows, count)
        s.mode = _SYNC
    while s.splits > 0:
        unanswered(s, state[2], state[3])
    return count


@numba.njit(cache=True, nogil=True)
def _begin(s: Any, t: Any, sample: int, now: Any) -> None:
    t.error = 0
    t.number = s.transactions
    s.transactions += 1
    t.sample = t.end_sample = sample
    t.command = np.int64(cbe(now))
    t.address = np.int64(ad(now))
    t.first_data = s.data_phases
    t.requester = t.tag = t.completer = t.byte_count = t.split_of = -1
    t.message_class = t.message_index = t.data_sample = -1
    t.dual = t.wide = t.relaxed = t.no_snoop = t.modified = t.completion_error = t.message = 0
    t.data_phases = t.size_B = t.target_waits = t.devsel = t.termination = 0
    t.parity_errors = t.perr = t.serr = 0
    s.req64 = asserted(now, at.REQ64)
    s.clock = s.selected = s.answered = s.over = s.signal = s.frame_gone = s.told_late = 0
    s.needed = 1
    s.low_data = np.uint64(0)


@numba.njit(cache=True, nogil=True)
def _attributes(s: Any, t: Any, word: Any, enables: Any) -> None:
    """Read the attribute phase: requester attributes, or completer attributes of a completion."""
    fields = np.int64(word)
    if t.command == _SPLIT_COMPLETION:
        t.relaxed = t.address >> 29 & 1
        t.tag = t.address >> 24 & 0x1F
        t.requester = t.address >> 8 & 0xFFFF
        t.address &= 0x7F
        t.completer = fields >> 8 & 0xFFFF
        t.modified = fields >> 31 & 1
        t.completion_error = fields >> 30 & 1
        t.message = fields >> 29 & 1
    else:
        t.no_snoop = fields >> 30 & 1
        t.relaxed = fields >> 29 & 1
        t.tag = fields >> 24 & 0x1F
        t.requester = fields >> 8 & 0xFFFF
    if _BURSTS >> t.command & 1:
        t.byte_count = np.int64(enables) << 8 | fields & 0xFF
        if t.byte_count == 0:
            t.byte_count = 4096
    else:
        # A DWORD transaction has its byte enables here.
        t.byte_count = ones(~enables & np.uint64(0xF))


@numba.njit(cache=True, nogil=True)
def _size(s: Any, t: Any) -> None:
    """Set how many data phases the byte count makes."""
    if _BURSTS >> t.command & 1:
        width_B = 8 if t.wide else 4
        s.needed = (t.address % width_B + t.byte_count + width_B - 1) // width_B
    else:
        s.needed = 1


@numba.njit(cache=True, nogil=True)
def _finish(s: Any, current: Any, end: int, state: Any, rows: Any, count: int) -> int:
    """The bus is idle: give the transaction, and open or go on with a split."""
    t = current[0]
    t.end_sample = end
    burst = _BURSTS >> t.command & 1
    if not s.selected:
        t.termination = _COMPLETION if t.command == _SPECIAL else _MASTER_ABORT
    elif s.signal in (_TARGET_ABORT, _RETRY, _SPLIT):
        t.termination = s.signal
    elif t.data_phases >= s.needed:
        t.termination = _COMPLETION
    elif t.data_phases == 0:
        return _abandon(current, end, _BROKEN, rows, count)
    elif s.signal == _SINGLE:
        t.termination = _SINGLE
    else:
        t.termination = _AT_ADB if s.signal == _AT_ADB else _INITIATOR
        if burst and (t.address + t.size_B) % _BOUNDARY_B != 0:
            count = _tell(current, t.sample, end, _NOT_AT_BOUNDARY, rows, count)
    what = 0
    if t.termination == _SPLIT:
        what = request(s, t, state[2], state[3])
    elif t.command == _SPLIT_COMPLETION and t.data_phases > 0:
        what = answer(s, t, state[2], state[3])
    if what:
        count = _tell(current, t.sample, end, what, rows, count)
    rows[count] = t
    return count + 1


@numba.njit(cache=True, nogil=True)
def _tell(current: Any, sample: int, end: int, what: int, rows: Any, count: int) -> int:
    """Give an error of the open transaction, with what is known of it."""
    rows[count] = current[0]
    rows[count].error = what
    rows[count].sample = sample
    rows[count].end_sample = end
    rows[count].data_phases = 0  # the data stands in the row of the transaction
    return count + 1


@numba.njit(cache=True, nogil=True)
def _abandon(current: Any, end: int, what: int, rows: Any, count: int) -> int:
    """Give a transaction that did not end as an error, with the data so far."""
    rows[count] = current[0]
    rows[count].error = what
    rows[count].end_sample = end
    return count + 1


@numba.njit(cache=True, nogil=True)
def _outside(sample: int, end: int, what: int, rows: Any, count: int) -> int:
    """Give an error outside transactions."""
    r = rows[count]
    r.error = what
    r.sample = sample
    r.end_sample = end
    r.number = r.command = r.address = r.requester = r.tag = r.completer = r.byte_count = -1
    r.message_class = r.message_index = r.data_sample = r.split_of = -1
    r.dual = r.wide = r.relaxed = r.no_snoop = r.modified = r.completion_error = r.message = 0
    r.first_data = r.data_phases = r.size_B = r.target_waits = r.devsel = r.termination = 0
    r.parity_errors = r.perr = r.serr = 0
    return count + 1
