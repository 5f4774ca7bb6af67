"""Kernel of PCI and PCI-X: clocks of the bus to phases and transactions.

Both are one machine: address phases, data phases, what is wrong with them. PCI-X has an attribute phase
too and other rules for a clock of a data phase (`pcix_rules` in place of `pci_rules`).

Source: PCI Local Bus Specification 3.0, chapter 3; PCI-X Addendum to it 1.0b, chapter 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_rules, pcix_rules
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import BAD, ad, ad_high, asserted, cbe, cbe_high, parities
from freezeframe.decoders.bus.pci_phases import (
    CONTROLS,
    INVALIDATE,
    TRANSFER,
    burst,
    put_data,
    put_phase,
)
from freezeframe.decoders.bus.pci_retries import not_repeated
from freezeframe.decoders.bus.pci_row_kernels import abandon, error, outside, tell, tell_parity
from freezeframe.decoders.bus.pci_rows import (
    ATTRIBUTE,
    DATA,
    IDLE,
    ROWS,
    ROWS_A_CLOCK,
    SECOND_ADDRESS,
    SYNC,
)
from freezeframe.decoders.bus.pcix_splits import unanswered

_DUAL = 13
_ONE, _FOUR, _32 = np.uint64(1), np.uint64(4), np.uint64(32)
_NOTHING, _HEADER, _DATA = range(3)  # what a clock writes down

_CUT = error("cut-transaction")
_RESET = error("reset-transaction")
_BROKEN = error("broken-transaction")
_ADDRESS_PARITY = error("address-parity")
_ATTRIBUTE_PARITY = error("attribute-parity")
_DATA_PARITY = error("data-parity")
_REPORTED = error("parity-reported")
_IRDY_WITHOUT_FRAME = error("irdy-without-frame")
_IRDY_IN_ADDRESS = error("irdy-in-address")
_TARGET_IDLE = error("target-idle")
_CUT_DUAL = error("cut-dual-address")
_CUT_HEADER = error("cut-header")
_PARTIAL_LINE = error("partial-line")


@njit(cache=True, nogil=True)
def transactions(clocks: Any, machine: Any, phases: Any, first: int, stop: int) -> int:
    """Decode the clocks ``[first, stop)`` until they or the room for rows are used up.

    Args:
        clocks: sample, low and high channels; after ``stop`` there are so many more as PERR# comes
            after its data phase.
        machine: of `new_machine`; whoever calls takes its rows and its splits that ended.
        phases: `Phases`, with an entry for each clock.
    Returns:
        The first clock that is not decoded.
    """
    sample, low, high = clocks
    m = machine[0]
    s, bus, clock = m.state, m.bus, m.clock
    s.steady = 0
    i = first
    while i < stop and s.rows + ROWS_A_CLOCK <= ROWS:
        if s.steady:
            # The usual clocks of a burst, in which data goes over as at the clock before.
            limit = min(stop, bus.recorded - bus.to_perr)
            if bus.extended:
                # There is more to do at the last data phase.
                limit = min(limit, i + s.needed - 1 - m.current.data_phases)
            run, disabled_B = burst(clocks, (i, limit), phases, m)
            if run > 0:
                i += run
                _after_burst(m, run, disabled_B)
                s.phase_at = sample[i]
                clock.low = low[i - 1] | bus.absent
                if i == stop:
                    break
        clock.sample, clock.end, clock.parity_end = sample[i], sample[i + 1], sample[i + 2]
        clock.before = clock.low
        clock.low = low[i] | bus.absent
        if bus.wide:
            clock.high = high[i]
        clock.has_after = i + 1 < bus.recorded
        if clock.has_after:
            clock.after = low[i + 1] | bus.absent
        clock.perr_end = sample[i + bus.to_perr]
        clock.perr = 0
        if i + bus.to_perr < bus.recorded:
            clock.perr = asserted(low[i + bus.to_perr] | bus.absent, at.PERR)
        written = _decode_clock(m)
        if written:
            put_phase(phases, np.uint64(s.phases), m.phase)
            s.phases += 1
            if written == _DATA:
                put_data(phases, np.uint64(s.data_phases), m.phase.value, m.phase.enables)
                s.data_phases += 1
        i += 1
    return i


@njit(cache=True, nogil=True)
def _after_burst(m: Any, run: int, disabled_B: int) -> None:
    """Count so many data phases of a burst."""
    s, t = m.state, m.current
    s.clock += run
    s.phase_clock = s.clock
    s.phases += run
    s.data_phases += run
    t.data_phases += run
    if m.bus.extended:
        pcix_rules.set_size(t)
    else:
        t.size_B += run * (8 if t.wide else 4) - disabled_B


@njit(cache=True, nogil=True)
def _decode_clock(m: Any) -> int:
    """Decode a clock; return what it writes down."""
    s, clock, extended = m.state, m.clock, m.bus.extended
    if s.steady and clock.low & CONTROLS == TRANSFER:
        s.clock += 1
        data = True
    else:
        s.steady = 0
        if asserted(clock.low, at.RST):
            if s.mode >= SECOND_ADDRESS:
                abandon(m, clock.sample, _RESET)
            s.mode = SYNC
            return _NOTHING
        if s.mode <= IDLE and not _begins(m):
            return _NOTHING
        if extended:
            m.current.serr |= asserted(clock.low, at.SERR)
        if s.mode != DATA:
            return _header(m)
        data = pcix_rules.data_clock(m) if extended else pci_rules.data_clock(m)
    if data:
        _data(m)
    if extended:
        s.steady = data and pcix_rules.end_phase(m)
    else:
        s.steady = s.phase_done and pci_rules.end_phase(m)
    return _DATA if data else _NOTHING


@njit(cache=True, nogil=True)
def _begins(m: Any) -> bool:
    """Follow a clock outside transactions; return whether one begins, and then begin it."""
    s, now, extended = m.state, m.clock.low, m.bus.extended
    span = m.clock.sample, m.clock.end
    frame, irdy = asserted(now, at.FRAME), asserted(now, at.IRDY)
    if s.mode == SYNC:
        if not frame and not irdy:
            s.mode = IDLE
    elif frame:
        _begin(m)
        if irdy and not extended:
            tell(m, span, _IRDY_IN_ADDRESS)
        return True
    elif irdy:
        # 3.3.3.1: IRDY# is deasserted in the clock after the last data phase.
        outside(m, span, _IRDY_WITHOUT_FRAME)
        s.mode = SYNC
    elif not extended:
        # 3.3.1: driven inactive in the clock after the last data phase.
        driven = asserted(now, at.DEVSEL) or asserted(now, at.TRDY) or asserted(now, at.STOP)
        if driven and not s.told_idle:
            outside(m, span, _TARGET_IDLE)
        s.told_idle = driven
    return False


@njit(cache=True, nogil=True)
def _begin(m: Any) -> None:
    """Begin a transaction with its address phase."""
    now = m.clock.low
    m.current = m.blank
    s, t = m.state, m.current
    t.number = t.first_try = s.transactions
    s.transactions += 1
    t.sample = t.end_sample = m.clock.sample
    t.command = np.int64(cbe(now))
    t.address = np.int64(ad(now))
    t.idsel = np.int64(now >> np.uint64(at.IDSEL) & _ONE)
    s.req64 = asserted(now, at.REQ64)
    s.clock = s.phase_clock = s.initiator_waits = s.target_waits = 0
    s.phase_done = s.frame_gone = s.asked = s.stopped = s.selected = s.answered = s.over = 0
    s.told_initiator = s.told_target = s.told_idle = s.low_data = 0
    s.needed = 1
    s.enables = -1


@njit(cache=True, nogil=True)
def _header(m: Any) -> int:
    """Take an address or attribute phase, each of one clock; return what it writes down."""
    s, t, clock, bus, phase = m.state, m.current, m.clock, m.bus, m.phase
    now = clock.low
    attribute = s.mode == ATTRIBUTE
    span = clock.sample, clock.end
    if not asserted(now, at.FRAME):
        tell(m, span, _CUT_HEADER if bus.extended else _CUT_DUAL)
        abandon(m, clock.sample, _BROKEN)
        s.mode = SYNC
        return _NOTHING
    if s.mode == SECOND_ADDRESS and not bus.extended:
        _second_address(t, now)
    phase.sample, phase.end_sample = span
    phase.value = ad(now)
    phase.transaction = t.number
    phase.initiator_waits = phase.target_waits = phase.wide = 0
    phase.kind = attribute
    phase.command = bus.no_command if attribute else np.int64(cbe(now))
    phase.enables = cbe(now) if bus.extended else np.uint64(0)
    _judge_parity(
        m, clock.sample, s.req64 != 0, _ATTRIBUTE_PARITY if attribute else _ADDRESS_PARITY
    )
    if not bus.extended:
        t.serr |= asserted(now, at.SERR)
        s.phase_at = clock.end
        if s.mode == IDLE and t.command == _DUAL:
            s.mode = SECOND_ADDRESS
        else:
            s.mode = DATA
            pci_rules.check_command(m, span)
    elif attribute:
        pcix_rules.attributes(m, clock.sample, ad(now), cbe(now))
        s.mode = DATA
    elif s.mode == SECOND_ADDRESS:
        _second_address(t, now)
        s.mode = ATTRIBUTE
    else:
        s.mode = SECOND_ADDRESS if t.command == _DUAL else ATTRIBUTE
    return _HEADER


@njit(cache=True, nogil=True)
def _second_address(t: Any, now: Any) -> None:
    """Take the upper half of the address, which comes second (3.9), and the command with it."""
    t.dual = 1
    t.command = np.int64(cbe(now))
    t.address = t.address & 0xFFFF_FFFF | np.int64(ad(now) << _32)


@njit(cache=True, nogil=True)
def _data(m: Any) -> None:
    """Take a data phase in which data goes over, with its parity and its PERR#."""
    s, t, clock, bus, phase = m.state, m.current, m.clock, m.bus, m.phase
    now = clock.low
    # A phase of PCI begins with its first wait; of PCI-X it is one clock.
    begin = clock.sample if bus.extended else s.phase_at
    levels = cbe(now)
    value = ad(now)
    lanes = np.uint64(0xF)
    if t.wide:
        lanes = np.uint64(0xFF)
        levels |= cbe_high(now) << _FOUR
        value |= ad_high(now, clock.high) << _32
    phase.sample, phase.end_sample = begin, clock.end
    phase.value = value
    phase.transaction = t.number
    phase.initiator_waits, phase.target_waits = s.initiator_waits, s.target_waits
    phase.kind, phase.command = bus.data_kind, bus.no_command
    phase.enables = levels if bus.extended else levels ^ lanes
    phase.wide = t.wide
    if t.data_phases == 0:
        t.data_sample = clock.sample
        s.low_data = np.int64(ad(now))
    t.data_phases += 1
    if bus.extended:
        pcix_rules.set_size(t)
    else:
        t.size_B += count_ones(phase.enables)
    _judge_parity(m, begin, t.wide != 0, _DATA_PARITY)
    if clock.perr:
        t.perr = 1
        tell(m, (begin, clock.perr_end), _REPORTED)
    if not bus.extended and t.command == INVALIDATE and phase.enables != lanes:  # 3.1.1
        tell(m, (begin, clock.end), _PARTIAL_LINE)


@njit(cache=True, nogil=True)
def _judge_parity(m: Any, begin: int, wide: bool, what: int) -> None:
    """Judge the phase of this clock by the PAR of the next; tell error ``what`` where it is wrong."""
    clock, bus = m.clock, m.bus
    known = (
        clock.has_after and bus.has_par,
        clock.has_after and bus.wide and bus.has_par64 and wide,
    )
    expected, seen, m.phase.parity = parities(clock.low, clock.high, clock.after, known)
    if m.phase.parity == BAD:
        m.current.parity_errors += 1
        tell_parity(m, (begin, clock.parity_end), what, expected, seen)


@njit(cache=True, nogil=True)
def close(machine: Any, end: int) -> None:
    """End what is open at the end of the capture: the transaction, retries and splits."""
    m = machine[0]
    s = m.state
    if s.mode >= SECOND_ADDRESS:
        abandon(m, end, _CUT)
        s.mode = SYNC
    for place in range(s.retries):
        not_repeated(m, place)
    s.retries = 0
    while s.splits > 0:
        unanswered(m)
