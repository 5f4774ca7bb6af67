"""Kernel of bursts, of PCI and PCI-X: clock after clock in which data goes over and nothing else happens.

Source: PCI Local Bus Specification 3.0, 3.2.3 (basic transfer control), 3.7 (parity).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from freezeframe.capture.files.plane_kernels import count_ones
from freezeframe.decoders.bus import pci_signals as at
from freezeframe.decoders.bus.pci_lines import (
    BAD,
    GOOD,
    UNKNOWN,
    ad,
    ad_high,
    asserted,
    cbe,
    cbe_high,
    high_parity,
    parity,
    put_data,
    put_phase,
)

__all__ = ["CONTROLS", "TRANSFER", "burst"]

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

_ONE, _FOUR, _32 = np.uint64(1), np.uint64(4), np.uint64(32)


@numba.njit(inline="always")
def burst(
    clocks: Any, span: Any, bus: Any, rule: Any, number: int, phases: Any, filled: Any
) -> tuple[int, int]:
    """Write down the data phases from a clock on, up to the first at which there is more to say.

    Each lasts one clock. More to say there is at a clock with other controls, wrong parity, a
    PERR# for it, or other byte enables than there must be.

    Args:
        clocks: sample, low and high channels.
        span: the clocks ``[first, stop)``, at most; behind ``stop`` as many more as ``rule`` looks
            ahead for PERR#.
        bus: lines that must be taken as 1, whether 64 bits go over, whether PAR and PAR64 are there.
        rule: ones where byte enables are turned over, which of them must be asserted, clocks from
            a data phase to its PERR#, and the codes of kind and of no command.
        number: of the transaction.
        phases: the arrays of `PhaseColumns`.
        filled: phases and data phases so far.
    Returns:
        Data phases, and how many lines of C/BE# were 1 in them: bytes that were not enabled.
    """
    sample, low, high = clocks
    absent, wide, has_par, has_par64 = bus
    turned, needed, ahead, kind, no_command = rule
    first, stop = np.uint64(span[0]), np.uint64(max(span[0], span[1]))
    made, taken = np.uint64(filled[0]), np.uint64(filled[1])
    to_perr = np.uint64(ahead)
    checked = has_par or (wide and has_par64)
    verdict = GOOD if checked else UNKNOWN
    disabled_B = 0
    # Indices are unsigned: numba looks whether a signed one counts from the end.
    i = first
    while i < stop:
        now = low[i] | absent
        if now & CONTROLS != TRANSFER or asserted(low[i + to_perr] | absent, at.PERR):
            break
        levels = cbe(now)
        value = ad(now)
        if has_par and parity(now, low[i + _ONE]) == BAD:
            break
        if wide:
            if has_par64 and high_parity(now, high[i], low[i + _ONE]) == BAD:
                break
            levels |= cbe_high(now) << _FOUR
            value |= ad_high(now, high[i]) << _32
        if levels & needed:
            break
        enables = levels ^ turned
        put_phase(
            phases,
            made,
            (sample[i], sample[i + _ONE]),
            value,
            number,
            (0, 0),
            (kind, no_command, verdict),
            (enables, wide),
        )
        put_data(phases, taken, value, enables)
        disabled_B += count_ones(levels)
        made += _ONE
        taken += _ONE
        i += _ONE
    run: Any = np.int64(i - first)  # for mypy: numba's int64 is an int
    return run, disabled_B
