"""The rules of PCI-X where it is not PCI: attributes, a clock of a data phase, the end of a transaction.

Source: PCI-X Addendum to the PCI Local Bus Specification 1.0b, chapter 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import asserted
from freezeframe.decoders.bus.pci_names import PCIX_NAMES
from freezeframe.decoders.bus.pci_row_kernels import abandon, error, give, tell
from freezeframe.decoders.bus.pci_rows import IDLE
from freezeframe.decoders.bus.pcix_splits import BURSTS, answer, request

_SPECIAL, _SPLIT_COMPLETION, _DUAL = 1, 12, 13
# Bit c: command c is reserved, a burst that brings data, posted.
_RESERVED, _WRITES, _POSTED = 0x0030, 0x9280, 0x9280
_BOUNDARY_B = 128  # allowable disconnect boundary
_RESPONSE_CLOCKS = 16
_LAST_DEVSEL = 6  # clock of subtractive decoding

_COMPLETION = PCIX_NAMES.terminations.index("completion")
_INITIATOR = PCIX_NAMES.terminations.index("initiator-disconnect")
_AT_ADB = PCIX_NAMES.terminations.index("disconnect-at-adb")
_SINGLE = PCIX_NAMES.terminations.index("single-data-disconnect")
_RETRY = PCIX_NAMES.terminations.index("retry")
_SPLIT = PCIX_NAMES.terminations.index("split")
_TARGET_ABORT = PCIX_NAMES.terminations.index("target-abort")
_MASTER_ABORT = PCIX_NAMES.terminations.index("master-abort")

_BROKEN = error("broken-transaction")
_NOT_AT_BOUNDARY = error("not-at-boundary")
_FRAME_AGAIN = error("frame-again")
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


@njit(cache=True, nogil=True)
def attributes(m: Any, end: int, word: Any, enables: Any) -> None:
    """Read the attribute phase: requester attributes, or completer attributes of a completion."""
    s = m.state
    t = m.current
    fields = np.int64(word)
    if t.command == _SPLIT_COMPLETION:
        t.relaxed = t.address >> 29 & 1
        t.tag = t.address >> 24 & 0x1F
        t.requester = t.address >> 8 & 0xFFFF
        t.address &= 0x7F
        t.completer = fields >> 8 & 0xFFFF
        t.modified = fields >> 31 & 1
        t.message = fields >> 29 & 1
    else:
        t.no_snoop = fields >> 30 & 1
        t.relaxed = fields >> 29 & 1
        t.tag = fields >> 24 & 0x1F
        t.requester = fields >> 8 & 0xFFFF
    if BURSTS >> t.command & 1:
        t.byte_count = np.int64(enables) << 8 | fields & 0xFF
        if t.byte_count == 0:
            t.byte_count = 4096
    else:
        # A DWORD transaction has its byte enables here.
        t.byte_count = count_ones(~enables & np.uint64(0xF))
    s.clock = 1
    if _RESERVED >> t.command & 1 or t.command == _DUAL:
        tell(m, (t.sample, end), _RESERVED_COMMAND)


@njit(cache=True, nogil=True)
def set_size(t: Any) -> None:
    """Set how much went over in the data phases so far."""
    if BURSTS >> t.command & 1:
        width_B = 8 if t.wide else 4
        t.size_B = min(t.byte_count, t.data_phases * width_B - t.address % width_B)
    else:
        t.size_B = t.byte_count


@njit(cache=True, nogil=True)
def data_clock(m: Any) -> Any:
    """Follow a clock after the attribute phase; return whether data goes over at it."""
    s = m.state
    t = m.current
    span = m.clock.sample, m.clock.end
    now, before = m.clock.low, m.clock.before
    frame, irdy = asserted(now, at.FRAME), asserted(now, at.IRDY)
    s.clock += 1
    if not frame and not irdy:
        _finish(m, span[0])
        return False
    if not frame:
        s.frame_gone = 1
    elif s.frame_gone and not asserted(before, at.FRAME):
        tell(m, span, _FRAME_AGAIN)
    if not s.selected:
        # Nobody answers a special cycle; the message stands with the first IRDY#.
        if t.command == _SPECIAL and irdy and t.data_phases == 0:
            return True
        _select(m, span)
        # The clock of DEVSEL# itself is the target response phase.
        return False
    return _target_signal(m, span)


@njit(cache=True, nogil=True)
def _select(m: Any, span: tuple[int, int]) -> None:
    """Follow DEVSEL#, and set how many data phases the byte count makes."""
    s = m.state
    t = m.current
    now = m.clock.low
    if not asserted(now, at.DEVSEL):
        if asserted(now, at.TRDY) or asserted(now, at.STOP):
            tell(m, span, _WITHOUT_DEVSEL)
        return
    burst = BURSTS >> t.command & 1
    s.selected = s.clock
    t.devsel = 4 if s.clock > 4 else max(1, s.clock - 1)
    if s.clock == 5 or s.clock > _LAST_DEVSEL:
        tell(m, span, _LATE_DEVSEL)
    t.wide = m.bus.wide and asserted(now, at.ACK64) and burst
    if m.bus.wide and asserted(now, at.ACK64) and not s.req64:
        t.wide = 0
        tell(m, span, _ACK64)
    if burst:
        width_B = 8 if t.wide else 4
        s.needed = (t.address % width_B + t.byte_count + width_B - 1) // width_B


@njit(cache=True, nogil=True)
def _target_signal(m: Any, span: tuple[int, int]) -> Any:
    """Follow what the target signals once it is selected; return whether data goes over."""
    s = m.state
    t = m.current
    now = m.clock.low
    irdy, devsel = asserted(now, at.IRDY), asserted(now, at.DEVSEL)
    trdy, stopping = asserted(now, at.TRDY), asserted(now, at.STOP)
    if s.over:
        if trdy and devsel and not stopping and irdy and s.asked == 0:
            tell(m, span, _AFTER_END)
        return False
    if not trdy and not stopping:
        _wait(m, span, devsel)
        return False
    if not s.answered:
        s.answered = 1
        if t.target_waits & 1 and _WRITES >> t.command & 1:
            tell(m, (t.sample, span[0]), _ODD_WAITS)
    # Target data phase signaling: DEVSEL#, STOP# and TRDY# together.
    if not (trdy and (devsel or stopping)):
        s.over = 1
        if not devsel and not trdy:
            s.asked = _TARGET_ABORT
        elif devsel:
            s.asked = _RETRY
        else:
            s.asked = _SPLIT
            if _POSTED >> t.command & 1:
                tell(m, span, _SPLIT_OF_WRITE)
        return False
    if not irdy:
        tell(m, span, _INITIATOR_WAIT)
        return False
    if stopping:
        s.asked = _AT_ADB if devsel else _SINGLE
        s.over = not devsel
    return True


@njit(cache=True, nogil=True)
def _wait(m: Any, span: tuple[int, int], devsel: bool) -> None:
    """The target waits, which it may before its first answer alone."""
    s = m.state
    t = m.current
    if not devsel:
        tell(m, span, _DEVSEL_DROPPED)
        s.over = 1
    elif t.data_phases > 0:
        tell(m, span, _TARGET_WAIT)
    else:
        t.target_waits += 1
        if s.clock + t.dual >= _RESPONSE_CLOCKS and not s.told_target:
            s.told_target = 1
            tell(m, span, _LATE_RESPONSE)


@njit(cache=True, nogil=True)
def end_phase(m: Any) -> Any:
    """End a data phase; return whether a burst goes on."""
    s = m.state
    t = m.current
    at_boundary = (t.address + t.size_B) % _BOUNDARY_B == 0
    if t.data_phases >= s.needed or (s.asked == _AT_ADB and at_boundary):
        s.over = 1
    return asserted(m.clock.low, at.FRAME) and not s.over and s.asked == 0


@njit(cache=True, nogil=True)
def _finish(m: Any, end: int) -> None:
    """The bus is idle: give the transaction, and open or go on with a split."""
    s = m.state
    t = m.current
    t.end_sample = end
    s.mode = IDLE
    if not s.selected:
        t.termination = _COMPLETION if t.command == _SPECIAL else _MASTER_ABORT
    elif s.asked in (_TARGET_ABORT, _RETRY, _SPLIT):
        t.termination = s.asked
    elif t.data_phases >= s.needed:
        t.termination = _COMPLETION
    elif t.data_phases == 0:
        abandon(m, end, _BROKEN)
        return
    elif s.asked == _SINGLE:
        t.termination = _SINGLE
    else:
        t.termination = _AT_ADB if s.asked == _AT_ADB else _INITIATOR
        if BURSTS >> t.command & 1 and (t.address + t.size_B) % _BOUNDARY_B != 0:
            tell(m, (t.sample, end), _NOT_AT_BOUNDARY)
    what = 0
    if t.termination == _SPLIT:
        what = request(m)
    elif t.command == _SPLIT_COMPLETION and t.data_phases > 0:
        what = answer(m)
    if what:
        tell(m, (t.sample, end), what)
    give(m)
