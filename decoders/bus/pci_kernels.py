"""Kernel of PCI: clocks of the bus to phases and transactions.

Source: PCI Local Bus Specification 3.0, chapter 3; the clause stands beside each rule.
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
from freezeframe.decoders.bus.pci_rows import (
    COMMANDS,
    DEVSELS,
    PENDING_RETRIES,
    TERMINATIONS,
    error,
)

__all__ = ["ROWS_A_CLOCK", "close", "transactions"]

ROWS_A_CLOCK = 16  # more than one clock can give

_SYNC, _IDLE, _SECOND_ADDRESS, _DATA = 0, 1, 2, 3
_SPECIAL, _DUAL, _INVALIDATE = 1, 13, 15
# Bit c: command c is reserved, reads, is of memory (3.1.1).
_RESERVED, _READS, _MEMORY = 0x0330, 0x5445, 0xD0C0

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
_RETRY = TERMINATIONS.index("retry")
_WITH_DATA = TERMINATIONS.index("disconnect-with-data")
_WITHOUT_DATA = TERMINATIONS.index("disconnect-without-data")
_TARGET_ABORT = TERMINATIONS.index("target-abort")
_MASTER_ABORT = TERMINATIONS.index("master-abort")
_SUBTRACTIVE = DEVSELS.index("subtractive")

_INITIAL_CLOCKS = 16  # 3.5.1.1
_CLOCKS = 8  # 3.5.1.2, 3.5.2

_CUT = error("cut-transaction")
_RESET = error("reset-transaction")
_BROKEN = error("broken-transaction")
_ADDRESS_PARITY = error("address-parity")
_DATA_PARITY = error("data-parity")
_REPORTED = error("parity-reported")
_IRDY_WITHOUT_FRAME = error("irdy-without-frame")
_IRDY_IN_ADDRESS = error("irdy-in-address")
_FRAME_WITHOUT_IRDY = error("frame-without-irdy")
_FRAME_AGAIN = error("frame-again")
_FRAME_CHANGED = error("frame-changed")
_FRAME_STAYS = error("frame-stays")
_IRDY_DROPPED = error("irdy-dropped")
_TRDY_WITHOUT_DEVSEL = error("trdy-without-devsel")
_STOP_WITHOUT_DEVSEL = error("stop-without-devsel")
_DEVSEL_DROPPED = error("devsel-dropped")
_TRDY_DROPPED = error("trdy-dropped")
_STOP_DROPPED = error("stop-dropped")
_NO_TURNAROUND = error("no-turnaround")
_LATE_DEVSEL = error("late-devsel")
_EARLY_ABORT = error("early-abort")
_INITIATOR_LATENCY = error("initiator-latency")
_TARGET_INITIAL = error("target-initial-latency")
_TARGET_LATENCY = error("target-latency")
_TARGET_IDLE = error("target-idle")
_RESERVED_COMMAND = error("reserved-command")
_RESERVED_ORDER = error("reserved-order")
_CUT_DUAL = error("cut-dual-address")
_ACK64 = error("ack64-without-req64")
_PARTIAL_LINE = error("partial-line")
_NOT_REPEATED = error("retry-not-repeated")


@numba.njit(cache=True, nogil=True)
def transactions(
    clocks: Any, first: int, stop: int, bus: Any, state: Any, filled: Any, room: Any
) -> tuple[int, int, int, int]:
    """Decode the clocks ``[first, stop)`` until they or the room for rows are used up.

    Args:
        clocks: sample, low and high channels; one entry more than ``stop`` says where the last
            phase ends, and a second one has its PERR#.
        bus: lines that must be taken as 1, whether it is wide, whether PAR and PAR64 are there, and
            how many entries of ``clocks`` are real clocks.
        state: the records of STATE, TRANSACTION_ROW and PENDING.
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
    pending = state[2]
    rows, phases = room
    made, taken = filled
    begins, ends, values, numbers, initiator_waits, target_waits = phases[:6]
    kinds, commands, parities, enabled, wides, data, data_enabled = phases[6:]
    count = 0
    steady = False
    last = s.last
    zero = np.uint64(0)
    for i in range(first, stop):
        if count + ROWS_A_CLOCK > len(rows):
            s.last = last
            return i, count, made, taken
        now = low[i] | absent
        top = high[i] if wide else zero
        frame = asserted(now, at.FRAME)
        irdy = asserted(now, at.IRDY)
        before = last
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
                if asserted(now, at.DEVSEL) or asserted(now, at.TRDY) or asserted(now, at.STOP):
                    # 3.3.1: driven inactive in the clock after the last data phase.
                    if not s.told_idle:
                        count = _outside(sample[i], sample[i + 1], _TARGET_IDLE, rows, count)
                    s.told_idle = 1
                else:
                    s.told_idle = 0
                continue
            if s.mode == _SYNC:
                if not frame and not irdy:
                    s.mode = _IDLE
                continue
            if s.mode == _IDLE:
                if not frame:
                    # 3.3.3.1: IRDY# is deasserted in the clock after the last data phase.
                    count = _outside(sample[i], sample[i + 1], _IRDY_WITHOUT_FRAME, rows, count)
                    s.mode = _SYNC
                    continue
                _begin(s, t, sample[i], now)
                if irdy:
                    count = _tell(current, sample[i], sample[i + 1], _IRDY_IN_ADDRESS, rows, count)
            elif s.mode == _SECOND_ADDRESS:
                if not frame:
                    count = _tell(current, sample[i], sample[i + 1], _CUT_DUAL, rows, count)
                    count = _abandon(current, sample[i], _BROKEN, rows, count)
                    s.mode = _SYNC
                    continue
                t.dual = 1
                t.command = np.int64(cbe(now))
                # 3.9: the upper half comes second.
                t.address = t.address & 0xFFFF_FFFF | np.int64(ad(now) << np.uint64(32))
            if s.mode != _DATA:
                # An address phase.
                verdict = UNKNOWN
                if i + 1 < real:
                    after = low[i + 1] | absent
                    if has_par:
                        verdict = parity(now, after)
                    if wide and has_par64 and s.req64:
                        verdict = max(verdict, high_parity(now, top, after))
                put_phase(
                    phases,
                    made,
                    (sample[i], sample[i + 1]),
                    ad(now),
                    (t.number, 0, 0),
                    (0, np.int64(cbe(now)), verdict, 0, False),
                )
                made += 1
                if verdict == BAD:
                    t.parity_errors += 1
                    count = _tell(current, sample[i], sample[i + 2], _ADDRESS_PARITY, rows, count)
                t.serr |= asserted(now, at.SERR)
                s.phase_at = sample[i + 1]
                if s.mode == _IDLE and t.command == _DUAL:
                    s.mode = _SECOND_ADDRESS
                    continue
                s.mode = _DATA
                if _RESERVED >> t.command & 1 or t.command == _DUAL:
                    count = _tell(current, sample[i], sample[i + 1], _RESERVED_COMMAND, rows, count)
                elif _MEMORY >> t.command & 1 and t.address & 1:
                    count = _tell(current, sample[i], sample[i + 1], _RESERVED_ORDER, rows, count)
                continue

            # A clock of a data phase.
            s.clock += 1
            clock = s.clock
            since = clock - s.phase_clock
            trdy = asserted(now, at.TRDY)
            stopping = asserted(now, at.STOP)
            devsel = asserted(now, at.DEVSEL)
            special = t.command == _SPECIAL
            frame_before = asserted(before, at.FRAME)
            irdy_before = asserted(before, at.IRDY)
            waiting = s.phase_done == 0 and clock > 1  # the phase was open at the clock before
            t.serr |= asserted(now, at.SERR)
            if clock == 1:
                t.locked = asserted(now, at.LOCK)
            if not frame and not irdy:
                # Idle, without a last data phase.
                if not frame_before and irdy_before and not s.selected:
                    if clock < _SUBTRACTIVE + 1:  # 3.3.3.1: four clocks to be selected
                        count = _tell(current, sample[i], sample[i + 1], _EARLY_ABORT, rows, count)
                    t.termination = _COMPLETION if special else _MASTER_ABORT
                    t.preempted = 0
                    t.serr |= asserted(now, at.SERR)
                    count = _end(s, current, sample[i], pending, rows, count)
                    s.mode = _IDLE
                else:
                    if frame_before:  # 3.3.1 rule 3
                        count = _tell(
                            current, sample[i], sample[i + 1], _FRAME_WITHOUT_IRDY, rows, count
                        )
                    count = _abandon(current, sample[i], _BROKEN, rows, count)
                    s.mode = _IDLE
                continue
            if not frame:
                if not s.frame_gone:
                    t.preempted = not asserted(before, at.GNT)
                    if waiting and irdy_before and frame_before and s.selected:  # rule 4
                        count = _tell(
                            current, sample[i], sample[i + 1], _FRAME_CHANGED, rows, count
                        )
                s.frame_gone = 1
            elif s.frame_gone and not frame_before:  # rule 2
                count = _tell(current, sample[i], sample[i + 1], _FRAME_AGAIN, rows, count)
            if waiting and irdy_before and not irdy:  # rule 4
                count = _tell(current, sample[i], sample[i + 1], _IRDY_DROPPED, rows, count)
            if waiting and asserted(before, at.TRDY) and not trdy:  # 3.3.1, target rules
                count = _tell(current, sample[i], sample[i + 1], _TRDY_DROPPED, rows, count)
            if (
                clock > 1 and frame_before and asserted(before, at.STOP) and not stopping
            ):  # 3.3.3.2.1
                count = _tell(current, sample[i], sample[i + 1], _STOP_DROPPED, rows, count)
            if devsel and not s.selected:
                s.selected = 1
                t.devsel = min(clock, _SUBTRACTIVE)  # 3.6.1
                if clock > _SUBTRACTIVE:
                    count = _tell(current, sample[i], sample[i + 1], _LATE_DEVSEL, rows, count)
                t.wide = wide and asserted(now, at.ACK64)
                if t.wide and not s.req64:
                    t.wide = 0
                    count = _tell(current, sample[i], sample[i + 1], _ACK64, rows, count)
            elif not devsel and s.selected and not stopping and asserted(before, at.DEVSEL):
                count = _tell(current, sample[i], sample[i + 1], _DEVSEL_DROPPED, rows, count)
            if trdy and not devsel and not (waiting and asserted(before, at.TRDY)):
                count = _tell(current, sample[i], sample[i + 1], _TRDY_WITHOUT_DEVSEL, rows, count)
            if trdy and clock == 1 and _READS >> t.command & 1:  # 3.3.1: turnaround of AD
                count = _tell(current, sample[i], sample[i + 1], _NO_TURNAROUND, rows, count)
            if stopping and not devsel and s.stop != _TARGET_ABORT:  # 3.3.3.2.1
                if not s.selected:
                    count = _tell(
                        current, sample[i], sample[i + 1], _STOP_WITHOUT_DEVSEL, rows, count
                    )
                s.stop = _TARGET_ABORT

            if not irdy:
                s.initiator_waits += 1
                if since == _CLOCKS and not s.told_initiator:  # 3.5.2
                    s.told_initiator = 1
                    count = _tell(
                        current, sample[i], sample[i + 1], _INITIATOR_LATENCY, rows, count
                    )
            if not trdy and not stopping:
                s.target_waits += 1
                if s.selected and not s.told_target:
                    if t.data_phases == 0 and clock + t.dual == _INITIAL_CLOCKS:
                        s.told_target = 1
                        count = _tell(
                            current, sample[i], sample[i + 1], _TARGET_INITIAL, rows, count
                        )
                    elif t.data_phases > 0 and since == _CLOCKS:
                        s.told_target = 1
                        count = _tell(
                            current, sample[i], sample[i + 1], _TARGET_LATENCY, rows, count
                        )
            if s.enables < 0 and (irdy or stopping):
                # 3.3.3.2.2: a transaction is repeated with the byte enables of its first data phase.
                s.enables = np.int64(cbe(now))
            message = special and irdy and t.data_phases == 0
            s.phase_done = irdy and (trdy or stopping)
            ending = s.phase_done or message
            transfer = ending and (trdy or message)
            if ending and stopping:
                if s.stop == 0:
                    s.stop = _WITH_DATA if trdy else _WITHOUT_DATA
                s.stopped += 1
                if s.stopped > 1 and frame:
                    count = _tell(current, sample[i], sample[i + 1], _FRAME_STAYS, rows, count)
        if transfer:
            # Written here and not in a function: its columns would be counted in and out each time.
            verdict = UNKNOWN
            after = low[i + 1] | absent if i + 1 < real else zero
            if has_par and i + 1 < real:
                verdict = parity(now, after)
            enables = ~cbe(now) & np.uint64(0xF)
            value = ad(now)
            if t.wide:
                if has_par64 and i + 1 < real:
                    verdict = max(verdict, high_parity(now, top, after))
                enables |= (~cbe_high(now) & np.uint64(0xF)) << np.uint64(4)
                value |= ad_high(now, top) << np.uint64(32)
            begins[made] = s.phase_at
            ends[made] = sample[i + 1]
            values[made] = value
            numbers[made] = t.number
            initiator_waits[made] = s.initiator_waits
            target_waits[made] = s.target_waits
            kinds[made] = 1
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
            t.data_phases += 1
            s.data_phases += 1
            t.size_B += ones(enables)
            if verdict == BAD:
                t.parity_errors += 1
                count = _tell(current, s.phase_at, sample[i + 2], _DATA_PARITY, rows, count)
            # 3.7.4.1: two clocks after the data phase.
            if i + 2 < real and asserted(low[i + 2] | absent, at.PERR):
                t.perr = 1
                count = _tell(current, s.phase_at, sample[i + 2], _REPORTED, rows, count)
            full = np.uint64(0xFF if t.wide else 0xF)
            if t.command == _INVALIDATE and enables != full:  # 3.1.1
                count = _tell(current, s.phase_at, sample[i + 1], _PARTIAL_LINE, rows, count)
        if s.phase_done:
            _next_phase(s, t, sample[i + 1])
            if not frame:
                if s.stop == _WITHOUT_DATA and t.data_phases == 0:
                    s.stop = _RETRY
                t.termination = s.stop if s.stop else _COMPLETION
                t.preempted &= t.termination == _COMPLETION
                if i + 1 < real:
                    t.serr |= asserted(low[i + 1] | absent, at.SERR)
                count = _end(s, current, sample[i + 1], pending, rows, count)
                s.mode = _IDLE
            steady = frame and s.stop == 0
    s.last = last
    return stop, count, made, taken


@numba.njit(cache=True, nogil=True)
def close(end: int, state: Any, rows: Any) -> int:
    """End the transaction that is open, and tell which were not repeated; return the rows filled.

    ``rows`` has room for one row more than `PENDING_RETRIES`.
    """
    s = state[0][0]
    count = 0
    if s.mode >= _SECOND_ADDRESS:
        count = _abandon(state[1], end, _CUT, rows, count)
        s.mode = _SYNC
    for k in range(s.pending):
        count = _not_repeated(state[2][k], rows, count)
    s.pending = 0
    return count


@numba.njit(cache=True, nogil=True)
def _begin(s: Any, t: Any, sample: int, now: Any) -> None:
    t.error = 0
    t.number = s.transactions
    s.transactions += 1
    t.sample = sample
    t.end_sample = sample
    t.command = np.int64(cbe(now))
    t.address = np.int64(ad(now))
    t.first_data = s.data_phases
    t.data_sample = -1
    t.first_try = t.number
    t.idsel = np.int64(now >> np.uint64(at.IDSEL) & np.uint64(1))
    t.dual = t.wide = t.data_phases = t.size_B = t.initiator_waits = t.target_waits = 0
    t.devsel = t.termination = t.parity_errors = t.perr = t.serr = t.locked = 0
    t.preempted = t.retries = 0
    s.req64 = asserted(now, at.REQ64)
    s.clock = s.phase_clock = s.initiator_waits = s.target_waits = 0
    s.phase_done = s.frame_gone = s.stop = s.stopped = s.selected = 0
    s.told_initiator = s.told_target = s.told_idle = 0
    s.enables = -1


@numba.njit(cache=True, nogil=True)
def _next_phase(s: Any, t: Any, sample: int) -> None:
    s.phase_clock = s.clock
    s.phase_at = sample
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    s.initiator_waits = s.target_waits = 0
    s.told_initiator = s.told_target = 0


@numba.njit(cache=True, nogil=True)
def _end(s: Any, current: Any, end: int, pending: Any, rows: Any, count: int) -> int:
    """Give the transaction, with the retries that it had."""
    t = current[0]
    t.end_sample = end
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    place = 0
    # 3.3.3.2.2: a repeated transaction has the same address, command and byte enables.
    while place < s.pending and not (
        pending[place].command == t.command
        and pending[place].address == t.address
        and pending[place].enables == s.enables
    ):
        place += 1
    found = place < s.pending
    if found:
        t.retries = pending[place].count
        t.first_try = pending[place].number
    if t.termination == _RETRY:
        if not found:
            if s.pending == PENDING_RETRIES:
                count = _not_repeated(pending[0], rows, count)
                _forget(s, pending, 0)
                place -= 1
            s.pending += 1
            pending[place].command = t.command
            pending[place].address = t.address
            pending[place].enables = s.enables
            pending[place].count = 0
            pending[place].number = t.number
            pending[place].sample = t.sample
        pending[place].count += 1
        pending[place].end_sample = end
    elif found:
        _forget(s, pending, place)
    rows[count] = t
    return count + 1


@numba.njit(cache=True, nogil=True)
def _forget(s: Any, pending: Any, place: int) -> None:
    s.pending -= 1
    for k in range(place, s.pending):
        pending[k] = pending[k + 1]


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
    r.number = r.command = r.address = r.data_sample = r.first_try = -1
    r.dual = r.wide = r.first_data = r.data_phases = r.size_B = 0
    r.initiator_waits = r.target_waits = r.devsel = r.termination = 0
    r.parity_errors = r.perr = r.serr = r.locked = r.idsel = r.preempted = r.retries = 0
    return count + 1


@numba.njit(cache=True, nogil=True)
def _not_repeated(pending: Any, rows: Any, count: int) -> int:
    count = _outside(pending.sample, pending.end_sample, _NOT_REPEATED, rows, count)
    r = rows[count - 1]
    r.number = r.first_try = pending.number
    r.command = pending.command
    r.address = pending.address
    r.retries = pending.count
    return count
