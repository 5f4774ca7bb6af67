"""Kernel of PCI-X: clocks of the bus to phases, transactions and matched splits.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

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
from freezeframe.decoders.bus.pci_row_kernels import abandon, tell, tell_parity
from freezeframe.decoders.bus.pcix_row_kernels import (
    attributes,
    begin,
    finish,
    outside,
    set_needed,
    set_size,
)
from freezeframe.decoders.bus.pcix_rows import COMMANDS, PHASES, TERMINATIONS, error

__all__ = ["ROWS_A_CLOCK", "transactions"]

ROWS_A_CLOCK = 16

_SYNC, _IDLE, _SECOND_ADDRESS, _ATTRIBUTE, _DATA = 0, 1, 2, 3, 4
_SPECIAL, _DUAL = 1, 13
# Bit c: command c is reserved, a burst, a burst that brings data, posted.
_RESERVED, _BURSTS, _WRITES, _POSTED = 0x0030, 0xD380, 0x9280, 0x9280
_BOUNDARY_B = 128  # allowable disconnect boundary
_RESPONSE_CLOCKS = 16
_LAST_DEVSEL = 6  # clock of subtractive decoding

_KIND, _NO_COMMAND = PHASES.index("data"), len(COMMANDS)
_TO_PERR = 3  # clocks from a data phase to its PERR#, one more than in conventional PCI

_AT_ADB = TERMINATIONS.index("disconnect-at-adb")
_SINGLE = TERMINATIONS.index("single-data-disconnect")
_RETRY = TERMINATIONS.index("retry")
_SPLIT = TERMINATIONS.index("split")
_TARGET_ABORT = TERMINATIONS.index("target-abort")

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
    count = 0
    steady = False
    last = s.last
    zero = np.uint64(0)
    following = first
    while following < stop and count + ROWS_A_CLOCK <= len(rows):
        if steady:
            # The usual clocks of a burst: data goes over as at the clock before. There is more to
            # say of the last data phase.
            left = following + s.needed - 1 - t.data_phases
            run, _ = burst(
                clocks,
                (following, min(stop, real - _TO_PERR, left)),
                (absent, t.wide, has_par, has_par64),
                (zero, zero, _TO_PERR, _KIND, _NO_COMMAND),
                t.number,
                phases,
                (made, taken),
            )
            if run > 0:
                following += run
                made += run
                taken += run
                s.clock += run
                s.data_phases += run
                t.data_phases += run
                set_size(t)
                last = low[following - 1] | absent
                if following == stop:
                    break
        i = following
        following += 1
        now = low[i] | absent
        top = high[i] if wide else zero
        frame = asserted(now, at.FRAME)
        irdy = asserted(now, at.IRDY)
        frame_before = asserted(last, at.FRAME)
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
                continue
            if s.mode == _SYNC:
                if not frame and not irdy:
                    s.mode = _IDLE
                continue
            if s.mode == _IDLE:
                if not frame:
                    count = outside(sample[i], sample[i + 1], _IRDY_WITHOUT_FRAME, rows, count)
                    s.mode = _SYNC
                    continue
                begin(s, t, sample[i], now)
            t.serr |= asserted(now, at.SERR)
            if s.mode != _DATA:
                if not frame:
                    count = tell(current, sample[i], sample[i + 1], _CUT_HEADER, rows, count)
                    count = abandon(current, sample[i], _BROKEN, rows, count)
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
                    t.number,
                    (0, 0),
                    (np.int64(s.mode == _ATTRIBUTE), command, verdict),
                    (cbe(now), 0),
                )
                made += 1
                if verdict == BAD:
                    t.parity_errors += 1
                    what = _ATTRIBUTE_PARITY if s.mode == _ATTRIBUTE else _ADDRESS_PARITY
                    known = has_par, wide and has_par64 and s.req64 != 0
                    said = parities(now, top, after, known)
                    span = sample[i], sample[i + 2]
                    count = tell_parity(current, span, what, said, rows, count)
                if s.mode == _ATTRIBUTE:
                    attributes(s, t, ad(now), cbe(now))
                    s.clock = 1
                    s.mode = _DATA
                    if _RESERVED >> t.command & 1 or t.command == _DUAL:
                        count = tell(current, t.sample, sample[i], _RESERVED_COMMAND, rows, count)
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
                count = finish(s, current, sample[i], state, rows, count)
                s.mode = _IDLE
                continue
            if not frame:
                s.frame_gone = 1
            elif s.frame_gone and not frame_before:
                count = tell(current, sample[i], sample[i + 1], _FRAME_AGAIN, rows, count)
            # Of a special cycle nobody answers; the message stands with the first IRDY#.
            transfer = t.command == _SPECIAL and irdy and t.data_phases == 0 and not s.selected
            if not transfer and not s.selected:
                if (trdy or stopping) and not devsel:
                    count = tell(current, sample[i], sample[i + 1], _WITHOUT_DEVSEL, rows, count)
                if devsel:
                    s.selected = s.clock
                    t.devsel = 4 if s.clock > 4 else max(1, s.clock - 1)
                    if s.clock == 5 or s.clock > _LAST_DEVSEL:
                        count = tell(current, sample[i], sample[i + 1], _LATE_DEVSEL, rows, count)
                    t.wide = wide and asserted(now, at.ACK64) and _BURSTS >> t.command & 1
                    if wide and asserted(now, at.ACK64) and not s.req64:
                        t.wide = 0
                        count = tell(current, sample[i], sample[i + 1], _ACK64, rows, count)
                    set_needed(s, t)
                # The clock of DEVSEL# itself is the target response phase.
                continue
            if not transfer:
                if s.over:
                    if trdy and devsel and not stopping and irdy and s.signal == 0:
                        count = tell(current, sample[i], sample[i + 1], _AFTER_END, rows, count)
                    continue
                if not trdy and not stopping:
                    if not devsel:
                        count = tell(
                            current, sample[i], sample[i + 1], _DEVSEL_DROPPED, rows, count
                        )
                        s.over = 1
                    elif t.data_phases > 0:
                        count = tell(current, sample[i], sample[i + 1], _TARGET_WAIT, rows, count)
                    else:
                        t.target_waits += 1
                        if s.clock + t.dual >= _RESPONSE_CLOCKS and not s.told_late:
                            s.told_late = 1
                            count = tell(
                                current, sample[i], sample[i + 1], _LATE_RESPONSE, rows, count
                            )
                    continue
                if not s.answered:
                    s.answered = 1
                    if t.target_waits & 1 and (_WRITES >> t.command & 1):
                        count = tell(current, t.sample, sample[i], _ODD_WAITS, rows, count)
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
                        count = tell(
                            current, sample[i], sample[i + 1], _SPLIT_OF_WRITE, rows, count
                        )
                    continue
                if not irdy:
                    count = tell(current, sample[i], sample[i + 1], _INITIATOR_WAIT, rows, count)
                    continue
                if stopping:
                    s.signal = _AT_ADB if devsel else _SINGLE
                    s.over = not devsel
        verdict = UNKNOWN
        after = low[i + 1] | absent if i + 1 < real else zero
        if has_par and i + 1 < real:
            verdict = parity(now, after)
        enables = cbe(now)
        value = ad(now)
        if t.wide:
            if has_par64 and i + 1 < real:
                verdict = max(verdict, high_parity(now, top, after))
            enables |= cbe_high(now) << np.uint64(4)
            value |= ad_high(now, top) << np.uint64(32)
        put_phase(
            phases,
            made,
            (sample[i], sample[i + 1]),
            value,
            t.number,
            (0, 0),
            (_KIND, _NO_COMMAND, verdict),
            (enables, t.wide),
        )
        put_data(phases, taken, value, enables)
        made += 1
        taken += 1
        if t.data_phases == 0:
            t.data_sample = sample[i]
            s.low_data = ad(now)
        t.data_phases += 1
        s.data_phases += 1
        set_size(t)
        if verdict == BAD:
            t.parity_errors += 1
            said = parities(now, top, after, (has_par, t.wide != 0 and has_par64))
            span = sample[i], sample[i + 2]
            count = tell_parity(current, span, _DATA_PARITY, said, rows, count)
        if i + _TO_PERR < real and asserted(low[i + _TO_PERR] | absent, at.PERR):
            t.perr = 1
            count = tell(current, sample[i], sample[i + 3], _REPORTED, rows, count)
        at_boundary = (t.address + t.size_B) % _BOUNDARY_B == 0
        if t.data_phases >= s.needed or (s.signal == _AT_ADB and at_boundary):
            s.over = 1
        steady = frame and not s.over and s.signal == 0
    s.last = last
    return following, count, made, taken
