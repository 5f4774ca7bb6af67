"""Kernel of PCI: clocks of the bus to phases and transactions.

Source: PCI Local Bus Specification 3.0, chapter 3; the clause stands beside each rule.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_burst_kernels import CONTROLS, TRANSFER, burst
from freezeframe.decoders.bus.pci_lines import (
    BAD,
    UNKNOWN,
    ad,
    ad_high,
    asserted,
    cbe,
    cbe_high,
    high_parity,
    parities,
    parity,
    put_data,
    put_phase,
)
from freezeframe.decoders.bus.pci_row_kernels import (
    abandon,
    begin,
    finish,
    next_phase,
    outside,
    tell,
    tell_parity,
)
from freezeframe.decoders.bus.pci_rows import COMMANDS, DEVSELS, PHASES, TERMINATIONS, error

__all__ = ["ROWS_A_CLOCK", "transactions"]

ROWS_A_CLOCK = 16  # more than one clock can give

_SYNC, _IDLE, _SECOND_ADDRESS, _DATA = 0, 1, 2, 3
_SPECIAL, _DUAL, _INVALIDATE = 1, 13, 15
# Bit c: command c is reserved, reads, is of memory (3.1.1).
_RESERVED, _READS, _MEMORY = 0x0330, 0x5445, 0xD0C0

_KIND, _NO_COMMAND = PHASES.index("data"), len(COMMANDS)
_TO_PERR = 2  # clocks from a data phase to its PERR# (3.7.4.1)

_COMPLETION = TERMINATIONS.index("completion")
_RETRY = TERMINATIONS.index("retry")
_WITH_DATA = TERMINATIONS.index("disconnect-with-data")
_WITHOUT_DATA = TERMINATIONS.index("disconnect-without-data")
_TARGET_ABORT = TERMINATIONS.index("target-abort")
_MASTER_ABORT = TERMINATIONS.index("master-abort")
_SUBTRACTIVE = DEVSELS.index("subtractive")

_INITIAL_CLOCKS = 16  # 3.5.1.1
_CLOCKS = 8  # 3.5.1.2, 3.5.2

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
    count = 0
    steady = False
    last = s.last
    zero = np.uint64(0)
    following = first
    while following < stop and count + ROWS_A_CLOCK <= len(rows):
        if steady:
            # The usual clocks of a burst: data goes over as at the clock before.
            lanes = np.uint64(0xFF if t.wide else 0xF)
            run, disabled_B = burst(
                clocks,
                (following, min(stop, real - _TO_PERR)),
                (absent, t.wide, has_par, has_par64),
                (lanes, lanes if t.command == _INVALIDATE else zero, _TO_PERR, _KIND, _NO_COMMAND),
                t.number,
                phases,
                (made, taken),
            )
            if run > 0:
                following += run
                made += run
                taken += run
                s.clock += run
                s.phase_clock = s.clock
                s.phase_at = sample[following]
                s.data_phases += run
                t.data_phases += run
                t.size_B += run * (8 if t.wide else 4) - disabled_B
                last = low[following - 1] | absent
                if following == stop:
                    break
        i = following
        following += 1
        now = low[i] | absent
        top = high[i] if wide else zero
        frame = asserted(now, at.FRAME)
        irdy = asserted(now, at.IRDY)
        before = last
        last = now
        transfer = steady and now & CONTROLS == TRANSFER
        if transfer:
            s.clock += 1
        else:
            steady = False
            if asserted(now, at.RST):
                if s.mode >= _SECOND_ADDRESS:
                    count = abandon(current, sample[i], _RESET, rows, count)
                s.mode = _SYNC
                continue
            if s.mode == _IDLE and not frame and not irdy:
                if asserted(now, at.DEVSEL) or asserted(now, at.TRDY) or asserted(now, at.STOP):
                    # 3.3.1: driven inactive in the clock after the last data phase.
                    if not s.told_idle:
                        count = outside(sample[i], sample[i + 1], _TARGET_IDLE, rows, count)
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
                    count = outside(sample[i], sample[i + 1], _IRDY_WITHOUT_FRAME, rows, count)
                    s.mode = _SYNC
                    continue
                begin(s, t, sample[i], now)
                if irdy:
                    count = tell(current, sample[i], sample[i + 1], _IRDY_IN_ADDRESS, rows, count)
            elif s.mode == _SECOND_ADDRESS:
                if not frame:
                    count = tell(current, sample[i], sample[i + 1], _CUT_DUAL, rows, count)
                    count = abandon(current, sample[i], _BROKEN, rows, count)
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
                    t.number,
                    (0, 0),
                    (0, np.int64(cbe(now)), verdict),
                    (0, 0),
                )
                made += 1
                if verdict == BAD:
                    t.parity_errors += 1
                    known = has_par, wide and has_par64 and s.req64 != 0
                    said = parities(now, top, after, known)
                    span = sample[i], sample[i + 2]
                    count = tell_parity(current, span, _ADDRESS_PARITY, said, rows, count)
                t.serr |= asserted(now, at.SERR)
                s.phase_at = sample[i + 1]
                if s.mode == _IDLE and t.command == _DUAL:
                    s.mode = _SECOND_ADDRESS
                    continue
                s.mode = _DATA
                if _RESERVED >> t.command & 1 or t.command == _DUAL:
                    count = tell(current, sample[i], sample[i + 1], _RESERVED_COMMAND, rows, count)
                elif _MEMORY >> t.command & 1 and t.address & 1:
                    count = tell(current, sample[i], sample[i + 1], _RESERVED_ORDER, rows, count)
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
                        count = tell(current, sample[i], sample[i + 1], _EARLY_ABORT, rows, count)
                    t.termination = _COMPLETION if special else _MASTER_ABORT
                    t.preempted = 0
                    t.serr |= asserted(now, at.SERR)
                    count = finish(s, current, sample[i], pending, rows, count)
                    s.mode = _IDLE
                else:
                    if frame_before:  # 3.3.1 rule 3
                        count = tell(
                            current, sample[i], sample[i + 1], _FRAME_WITHOUT_IRDY, rows, count
                        )
                    count = abandon(current, sample[i], _BROKEN, rows, count)
                    s.mode = _IDLE
                continue
            if not frame:
                if not s.frame_gone:
                    t.preempted = not asserted(before, at.GNT)
                    if waiting and irdy_before and frame_before and s.selected:  # rule 4
                        count = tell(current, sample[i], sample[i + 1], _FRAME_CHANGED, rows, count)
                s.frame_gone = 1
            elif s.frame_gone and not frame_before:  # rule 2
                count = tell(current, sample[i], sample[i + 1], _FRAME_AGAIN, rows, count)
            if waiting and irdy_before and not irdy:  # rule 4
                count = tell(current, sample[i], sample[i + 1], _IRDY_DROPPED, rows, count)
            if waiting and asserted(before, at.TRDY) and not trdy:  # 3.3.1, target rules
                count = tell(current, sample[i], sample[i + 1], _TRDY_DROPPED, rows, count)
            if (
                clock > 1 and frame_before and asserted(before, at.STOP) and not stopping
            ):  # 3.3.3.2.1
                count = tell(current, sample[i], sample[i + 1], _STOP_DROPPED, rows, count)
            if devsel and not s.selected:
                s.selected = 1
                t.devsel = min(clock, _SUBTRACTIVE)  # 3.6.1
                if clock > _SUBTRACTIVE:
                    count = tell(current, sample[i], sample[i + 1], _LATE_DEVSEL, rows, count)
                t.wide = wide and asserted(now, at.ACK64)
                if t.wide and not s.req64:
                    t.wide = 0
                    count = tell(current, sample[i], sample[i + 1], _ACK64, rows, count)
            elif not devsel and s.selected and not stopping and asserted(before, at.DEVSEL):
                count = tell(current, sample[i], sample[i + 1], _DEVSEL_DROPPED, rows, count)
            if trdy and not devsel and not (waiting and asserted(before, at.TRDY)):
                count = tell(current, sample[i], sample[i + 1], _TRDY_WITHOUT_DEVSEL, rows, count)
            if trdy and clock == 1 and _READS >> t.command & 1:  # 3.3.1: turnaround of AD
                count = tell(current, sample[i], sample[i + 1], _NO_TURNAROUND, rows, count)
            if stopping and not devsel and s.stop != _TARGET_ABORT:  # 3.3.3.2.1
                if not s.selected:
                    count = tell(
                        current, sample[i], sample[i + 1], _STOP_WITHOUT_DEVSEL, rows, count
                    )
                s.stop = _TARGET_ABORT

            if not irdy:
                s.initiator_waits += 1
                if since == _CLOCKS and not s.told_initiator:  # 3.5.2
                    s.told_initiator = 1
                    count = tell(current, sample[i], sample[i + 1], _INITIATOR_LATENCY, rows, count)
            if not trdy and not stopping:
                s.target_waits += 1
                if s.selected and not s.told_target:
                    if t.data_phases == 0 and clock + t.dual == _INITIAL_CLOCKS:
                        s.told_target = 1
                        count = tell(
                            current, sample[i], sample[i + 1], _TARGET_INITIAL, rows, count
                        )
                    elif t.data_phases > 0 and since == _CLOCKS:
                        s.told_target = 1
                        count = tell(
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
                    count = tell(current, sample[i], sample[i + 1], _FRAME_STAYS, rows, count)
        if transfer:
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
            put_phase(
                phases,
                made,
                (s.phase_at, sample[i + 1]),
                value,
                t.number,
                (s.initiator_waits, s.target_waits),
                (_KIND, _NO_COMMAND, verdict),
                (enables, t.wide),
            )
            put_data(phases, taken, value, enables)
            made += 1
            taken += 1
            if t.data_phases == 0:
                t.data_sample = sample[i]
            t.data_phases += 1
            s.data_phases += 1
            t.size_B += count_ones(enables)
            if verdict == BAD:
                t.parity_errors += 1
                said = parities(now, top, after, (has_par, t.wide != 0 and has_par64))
                span = s.phase_at, sample[i + 2]
                count = tell_parity(current, span, _DATA_PARITY, said, rows, count)
            if i + _TO_PERR < real and asserted(low[i + _TO_PERR] | absent, at.PERR):
                t.perr = 1
                count = tell(current, s.phase_at, sample[i + 2], _REPORTED, rows, count)
            full = np.uint64(0xFF if t.wide else 0xF)
            if t.command == _INVALIDATE and enables != full:  # 3.1.1
                count = tell(current, s.phase_at, sample[i + 1], _PARTIAL_LINE, rows, count)
        if s.phase_done:
            next_phase(s, t, sample[i + 1])
            if not frame:
                if s.stop == _WITHOUT_DATA and t.data_phases == 0:
                    s.stop = _RETRY
                t.termination = s.stop if s.stop else _COMPLETION
                t.preempted &= t.termination == _COMPLETION
                if i + 1 < real:
                    t.serr |= asserted(low[i + 1] | absent, at.SERR)
                count = finish(s, current, sample[i + 1], pending, rows, count)
                s.mode = _IDLE
            steady = frame and s.stop == 0
    s.last = last
    return following, count, made, taken
