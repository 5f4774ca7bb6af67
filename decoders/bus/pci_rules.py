"""The rules of conventional PCI: a clock of a data phase, and the end of a phase.

Source: PCI Local Bus Specification 3.0, chapter 3; the clause stands beside each rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import asserted, cbe
from freezeframe.decoders.bus.pci_names import PCI_NAMES
from freezeframe.decoders.bus.pci_retries import follow_retries
from freezeframe.decoders.bus.pci_row_kernels import abandon, error, give, tell
from freezeframe.decoders.bus.pci_rows import IDLE

_SPECIAL, _DUAL = 1, 13
# Bit c: command c is reserved, reads, is of memory (3.1.1).
_RESERVED, _READS, _MEMORY = 0x0330, 0x5445, 0xD0C0

_COMPLETION = PCI_NAMES.terminations.index("completion")
_RETRY = PCI_NAMES.terminations.index("retry")
_WITH_DATA = PCI_NAMES.terminations.index("disconnect-with-data")
_WITHOUT_DATA = PCI_NAMES.terminations.index("disconnect-without-data")
_TARGET_ABORT = PCI_NAMES.terminations.index("target-abort")
_MASTER_ABORT = PCI_NAMES.terminations.index("master-abort")
_SUBTRACTIVE = PCI_NAMES.devsels.index("subtractive")

_INITIAL_CLOCKS = 16  # 3.5.1.1
_CLOCKS = 8  # 3.5.1.2, 3.5.2

_BROKEN = error("broken-transaction")
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
_RESERVED_COMMAND = error("reserved-command")
_RESERVED_ORDER = error("reserved-order")
_ACK64 = error("ack64-without-req64")


@njit(cache=True, nogil=True)
def check_command(m: Any, span: tuple[int, int]) -> None:
    """Judge command and address once the last address phase is over."""
    t = m.current
    if _RESERVED >> t.command & 1 or t.command == _DUAL:
        tell(m, span, _RESERVED_COMMAND)
    elif _MEMORY >> t.command & 1 and t.address & 1:
        tell(m, span, _RESERVED_ORDER)


@njit(cache=True, nogil=True)
def data_clock(m: Any) -> Any:
    """Follow a clock after the address phase; return whether data goes over at it.

    ``phase_done`` of the state becomes 1 where it ends a data phase, with data or without.
    """
    s = m.state
    t = m.current
    span = m.clock.sample, m.clock.end
    now, before = m.clock.low, m.clock.before
    frame, irdy = asserted(now, at.FRAME), asserted(now, at.IRDY)
    trdy, stopping = asserted(now, at.TRDY), asserted(now, at.STOP)
    frame_before, irdy_before = asserted(before, at.FRAME), asserted(before, at.IRDY)
    s.clock += 1
    clock = s.clock
    waiting = s.phase_done == 0 and clock > 1  # the phase was open at the clock before
    s.phase_done = 0
    t.serr |= asserted(now, at.SERR)
    if clock == 1:
        t.locked = asserted(now, at.LOCK)
    if not frame and not irdy:
        _end_without_data(m, span, frame_before, irdy_before)
        return False
    if not frame:
        if not s.frame_gone:
            t.preempted = not asserted(before, at.GNT)
            if waiting and irdy_before and frame_before and s.selected:  # 3.3.1 rule 4
                tell(m, span, _FRAME_CHANGED)
        s.frame_gone = 1
    elif s.frame_gone and not frame_before:  # rule 2
        tell(m, span, _FRAME_AGAIN)
    if waiting and irdy_before and not irdy:  # rule 4
        tell(m, span, _IRDY_DROPPED)
    if waiting and asserted(before, at.TRDY) and not trdy:  # 3.3.1, target rules
        tell(m, span, _TRDY_DROPPED)
    if clock > 1 and frame_before and asserted(before, at.STOP) and not stopping:  # 3.3.3.2.1
        tell(m, span, _STOP_DROPPED)
    _select(m, span, waiting)
    _count_waits(m, span, irdy, trdy or stopping)
    if s.enables < 0 and (irdy or stopping):
        # 3.3.3.2.2: a transaction is repeated with the byte enables of its first data phase.
        s.enables = np.int64(cbe(now))
    # Nobody answers a special cycle; its message stands with the first IRDY#.
    message = t.command == _SPECIAL and irdy and t.data_phases == 0
    s.phase_done = irdy and (trdy or stopping)
    ending = s.phase_done or message
    if ending and stopping:
        if s.asked == 0:
            s.asked = _WITH_DATA if trdy else _WITHOUT_DATA
        s.stopped += 1
        if s.stopped > 1 and frame:
            tell(m, span, _FRAME_STAYS)
    return ending and (trdy or message)


@njit(cache=True, nogil=True)
def _end_without_data(m: Any, span: tuple[int, int], frame_before: bool, irdy_before: bool) -> None:
    """The bus is idle without a last data phase: nobody was selected, or the transaction is broken."""
    s = m.state
    t = m.current
    if not frame_before and irdy_before and not s.selected:
        if s.clock < _SUBTRACTIVE + 1:  # 3.3.3.1: four clocks to be selected
            tell(m, span, _EARLY_ABORT)
        t.termination = _COMPLETION if t.command == _SPECIAL else _MASTER_ABORT
        t.preempted = 0
        _finish(m, span[0])
    else:
        if frame_before:  # 3.3.1 rule 3
            tell(m, span, _FRAME_WITHOUT_IRDY)
        abandon(m, span[0], _BROKEN)
    s.mode = IDLE


@njit(cache=True, nogil=True)
def _select(m: Any, span: tuple[int, int], waiting: bool) -> None:
    """Follow DEVSEL#, and what the target may assert with it alone."""
    s = m.state
    t = m.current
    now, before = m.clock.low, m.clock.before
    devsel, trdy = asserted(now, at.DEVSEL), asserted(now, at.TRDY)
    stopping = asserted(now, at.STOP)
    if devsel and not s.selected:
        s.selected = s.clock
        t.devsel = min(s.clock, _SUBTRACTIVE)  # 3.6.1
        if s.clock > _SUBTRACTIVE:
            tell(m, span, _LATE_DEVSEL)
        t.wide = m.bus.wide and asserted(now, at.ACK64)
        if t.wide and not s.req64:
            t.wide = 0
            tell(m, span, _ACK64)
    elif not devsel and s.selected and not stopping and asserted(before, at.DEVSEL):
        tell(m, span, _DEVSEL_DROPPED)
    if trdy and not devsel and not (waiting and asserted(before, at.TRDY)):
        tell(m, span, _TRDY_WITHOUT_DEVSEL)
    if trdy and s.clock == 1 and _READS >> t.command & 1:  # 3.3.1: turnaround of AD
        tell(m, span, _NO_TURNAROUND)
    if stopping and not devsel and s.asked != _TARGET_ABORT:  # 3.3.3.2.1
        if not s.selected:
            tell(m, span, _STOP_WITHOUT_DEVSEL)
        s.asked = _TARGET_ABORT


@njit(cache=True, nogil=True)
def _count_waits(m: Any, span: tuple[int, int], ready: bool, answered: bool) -> None:
    """Count the clocks in which initiator and target wait, and tell which wait too long."""
    s = m.state
    t = m.current
    since = s.clock - s.phase_clock
    if not ready:
        s.initiator_waits += 1
        if since == _CLOCKS and not s.told_initiator:  # 3.5.2
            s.told_initiator = 1
            tell(m, span, _INITIATOR_LATENCY)
    if not answered:
        s.target_waits += 1
        if s.selected and not s.told_target:
            if t.data_phases == 0 and s.clock + t.dual == _INITIAL_CLOCKS:
                s.told_target = 1
                tell(m, span, _TARGET_INITIAL)
            elif t.data_phases > 0 and since == _CLOCKS:
                s.told_target = 1
                tell(m, span, _TARGET_LATENCY)


@njit(cache=True, nogil=True)
def end_phase(m: Any) -> Any:
    """End a data phase, and with the last one the transaction; return whether a burst goes on."""
    s = m.state
    t = m.current
    end = m.clock.end
    s.phase_clock = s.clock
    s.phase_at = end
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    s.initiator_waits = s.target_waits = 0
    s.told_initiator = s.told_target = 0
    if asserted(m.clock.low, at.FRAME):
        return s.asked == 0
    if s.asked == _WITHOUT_DATA and t.data_phases == 0:
        s.asked = _RETRY
    t.termination = s.asked if s.asked else _COMPLETION
    t.preempted &= t.termination == _COMPLETION
    if m.clock.has_after:
        t.serr |= asserted(m.clock.after, at.SERR)
    _finish(m, end)
    s.mode = IDLE
    return False


@njit(cache=True, nogil=True)
def _finish(m: Any, end: int) -> None:
    """Give the transaction, with the retries that it had."""
    s = m.state
    t = m.current
    t.end_sample = end
    t.initiator_waits += s.initiator_waits
    t.target_waits += s.target_waits
    follow_retries(m)
    give(m)
