"""Kernels of PCI and PCI-X that write phases down: a single one, and the data phases of a burst.

Source: PCI Local Bus Specification 3.0, 3.2.3 (basic transfer control), 3.7 (parity).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import (
    GOOD,
    UNKNOWN,
    ad,
    ad_high,
    asserted,
    cbe,
    cbe_high,
    high_parity,
    low_parity,
)

INVALIDATE = 15  # the command of PCI; of PCI-X it is another, and all its bursts are alike

# The lines that the control of a burst takes, and how they are while data goes over.
CONTROLS = np.uint64(
    1 << at.FRAME
    | 1 << at.IRDY
    | 1 << at.TRDY
    | 1 << at.DEVSEL
    | 1 << at.STOP
    | 1 << at.SERR
    | 1 << at.RST
)
TRANSFER = np.uint64(1 << at.STOP | 1 << at.SERR | 1 << at.RST)

_PAR, _PAR64 = np.uint64(at.PAR), np.uint64(at.PAR64)
_NONE, _ONE, _FOUR, _32 = np.uint64(0), np.uint64(1), np.uint64(4), np.uint64(32)


@njit(inline="always")
def put_phase(phases: Any, place: Any, phase: Any) -> None:
    """Write a phase down, at an unsigned place: numba looks whether a signed one counts from the end."""
    longs, codes, small = phases.longs, phases.codes, phases.small
    longs[0, place], longs[1, place] = phase.sample, phase.end_sample
    longs[2, place], longs[3, place] = np.int64(phase.value), phase.transaction
    codes[0, place], codes[1, place] = phase.initiator_waits, phase.target_waits
    codes[2, place], codes[3, place] = phase.kind, phase.command
    codes[4, place] = phase.parity
    small[0, place], small[1, place] = phase.enables, phase.wide


@njit(inline="always")
def put_data(phases: Any, place: Any, value: Any, enables: Any) -> None:
    """Write the data of a phase down."""
    phases.data[place] = np.int64(value)
    phases.data_enables[place] = enables


@njit(inline="always")
def burst(clocks: Any, span: Any, phases: Any, m: Any) -> tuple[int, int]:
    """Write down the data phases from a clock on, up to the first at which there is more to do.

    Each lasts one clock. There is more to do at a clock with other controls, wrong parity, a
    PERR# for it, or other byte enables than there must be.

    Args:
        span: the clocks ``[first, stop)``, at most; after ``stop`` there are as many more as PERR#
            comes late.
    Returns:
        Data phases, and how many lines of C/BE# were 1 in them: bytes that were not enabled.
    """
    sample, low, high = clocks
    longs, codes, small, data, data_enables = phases
    bus = m.bus
    absent, number = bus.absent, m.current.number
    has_par, wide = bus.has_par != 0, m.current.wide != 0
    has_par64 = wide and bus.has_par64 != 0
    kind, no_command = bus.data_kind, bus.no_command
    verdict = GOOD if has_par or has_par64 else UNKNOWN
    # Of PCI byte enables are 1 where they are asserted, and all of them must be in some bursts.
    lanes = _NONE if bus.extended else np.uint64(0xFF if wide else 0xF)
    needed = lanes if m.current.command == INVALIDATE else _NONE
    to_perr = np.uint64(bus.to_perr)
    first, stop = np.uint64(span[0]), np.uint64(max(span[0], span[1]))
    # Indices are unsigned: numba looks whether a signed one counts from the end.
    place, data_place = np.uint64(m.state.phases), np.uint64(m.state.data_phases)
    disabled_B = 0
    i = first
    while i < stop:
        now = low[i] | absent
        if now & CONTROLS != TRANSFER or asserted(low[i + to_perr] | absent, at.PERR):
            break
        levels = cbe(now)
        value = ad(now)
        if has_par and low_parity(now) != low[i + _ONE] >> _PAR & _ONE:
            break
        if wide:
            if has_par64 and high_parity(now, high[i]) != low[i + _ONE] >> _PAR64 & _ONE:
                break
            levels |= cbe_high(now) << _FOUR
            value |= ad_high(now, high[i]) << _32
        if levels & needed:
            break
        enables = levels ^ lanes
        longs[0, place], longs[1, place] = sample[i], sample[i + _ONE]
        longs[2, place], longs[3, place] = np.int64(value), number
        codes[0, place] = codes[1, place] = 0
        codes[2, place], codes[3, place], codes[4, place] = kind, no_command, verdict
        small[0, place], small[1, place] = enables, wide
        data[data_place], data_enables[data_place] = np.int64(value), enables
        disabled_B += count_ones(levels)
        place += _ONE
        data_place += _ONE
        i += _ONE
    run: Any = np.int64(i - first)  # for mypy: numba's int64 is an int
    return run, disabled_B
