"""The faults by name."""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.faults.bits import HeaderCorrupted, PayloadBitFlip
from freezeframe.emulator.faults.credit_size import CreditTooCoarse, CreditTooOptimistic
from freezeframe.emulator.faults.credits import (
    CreditCorrupted,
    CreditLost,
    CreditStartTooLarge,
    WrapUnhandled,
)
from freezeframe.emulator.faults.drift import ClockDrift
from freezeframe.emulator.faults.fifo_words import WordDuplicated, WordOmitted
from freezeframe.emulator.faults.interrupts import InterruptLost, InterruptStorm
from freezeframe.emulator.faults.lanes import LaneMisaligned, SyncFifoEmpty
from freezeframe.emulator.faults.miscount import HeaderMiscounted
from freezeframe.emulator.faults.short_transfers import ShortTransfers
from freezeframe.emulator.faults.split_retry import SplitRetryMishandled
from freezeframe.emulator.faults.together import Together

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
        ClockDrift,
        CreditTooCoarse,
        CreditTooOptimistic,
        InterruptStorm,
        InterruptLost,
        ShortTransfers,
        SplitRetryMishandled,
        HeaderMiscounted,
    )
}


def make_fault(name: str) -> Fault:
    """Return a fault by its name, or several in one by their names joined with ``+``, the first to strike first.

    Raises:
        InputError: there is none of a name (the message lists them), or one is given twice or beside "none".
    """
    names = name.split("+")
    for one in names:
        if one not in FAULTS:
            raise InputError(f"fault {one!r} does not exist; there are {', '.join(FAULTS)}")
        if names.count(one) > 1 or (one == "none" and len(names) > 1):
            raise InputError(
                f"fault {name!r}: {one} cannot be one of several; join different faults with +"
            )
    faults = [FAULTS[one]() for one in names]
    return faults[0] if len(faults) == 1 else Together(faults)
