"""The faults by name."""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.faults.bits import HeaderCorrupted, PayloadBitFlip
from freezeframe.emulator.faults.credits import (
    CreditCorrupted,
    CreditLost,
    CreditStartTooLarge,
    WrapUnhandled,
)
from freezeframe.emulator.faults.fifo_words import WordDuplicated, WordOmitted
from freezeframe.emulator.faults.lanes import LaneMisaligned, SyncFifoEmpty

__all__ = ["FAULTS", "make_fault"]

FAULTS: dict[str, type[Fault]] = {
    fault.name: fault
    for fault in (
        Fault,
        WordOmitted,
        WordDuplicated,
        SyncFifoEmpty,
        LaneMisaligned,
        PayloadBitFlip,
        HeaderCorrupted,
        CreditCorrupted,
        CreditLost,
        WrapUnhandled,
        CreditStartTooLarge,
    )
}


def make_fault(name: str) -> Fault:
    """Return a fault by its name.

    Raises:
        InputError: there is none of that name; the message lists them.
    """
    if name not in FAULTS:
        raise InputError(f"fault {name!r} does not exist; there are {', '.join(FAULTS)}")
    return FAULTS[name]()
