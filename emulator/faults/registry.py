"""The faults by name."""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.emulator.faults.base import Fault
from freezeframe.emulator.faults.clock_drift import ClockDrift
from freezeframe.emulator.faults.credit_corrupted import CreditCorrupted
from freezeframe.emulator.faults.credit_lost import CreditLost
from freezeframe.emulator.faults.credit_start_too_large import CreditStartTooLarge
from freezeframe.emulator.faults.credit_too_coarse import CreditTooCoarse
from freezeframe.emulator.faults.credit_too_optimistic import CreditTooOptimistic
from freezeframe.emulator.faults.header_corrupted import HeaderCorrupted
from freezeframe.emulator.faults.header_miscounted import HeaderMiscounted
from freezeframe.emulator.faults.interrupt_lost import InterruptLost
from freezeframe.emulator.faults.interrupt_storm import InterruptStorm
from freezeframe.emulator.faults.lane_misaligned import LaneMisaligned
from freezeframe.emulator.faults.payload_bit_flip import PayloadBitFlip
from freezeframe.emulator.faults.short_transfers import ShortTransfers
from freezeframe.emulator.faults.split_retry_mishandled import SplitRetryMishandled
from freezeframe.emulator.faults.switch import (
    SwitchCreditHeld,
    SwitchWordAltered,
    SwitchWordLost,
    SwitchWrongPort,
)
from freezeframe.emulator.faults.sync_fifo_empty import SyncFifoEmpty
from freezeframe.emulator.faults.together import Together
from freezeframe.emulator.faults.word_duplicated import WordDuplicated
from freezeframe.emulator.faults.word_omitted import WordOmitted
from freezeframe.emulator.faults.wrap_unhandled import WrapUnhandled
from freezeframe.emulator.faults.write_outside_region import WriteOutsideRegion
from freezeframe.emulator.open_world.table import ENTRIES, make_unlisted

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

PART_FAULTS: dict[str, type[Fault]] = {
    fault.name: fault
    for fault in (
        WriteOutsideRegion,
        SwitchWordLost,
        SwitchWordAltered,
        SwitchCreditHeld,
        SwitchWrongPort,
    )
}
"""Faults of a part that not every card has; a profile without it refuses them."""


def make_fault(name: str) -> Fault:
    """Return a fault by its name, or several in one by their names joined with ``+``, the first to strike first.

    One of the open world (docs/open-world-faults.md) comes alone, and so does one of `PART_FAULTS`.

    Raises:
        InputError: there is none of a name (the message lists them), or one is given twice or beside "none".
    """
    if name in ENTRIES:
        return make_unlisted(name)
    if name in PART_FAULTS:
        return PART_FAULTS[name]()
    names = name.split("+")
    for each in names:
        if each not in FAULTS:
            raise InputError(
                f"fault {each!r} does not exist; there are {', '.join((*FAULTS, *PART_FAULTS))}, "
                f"and alone the {len(ENTRIES)} of docs/open-world-faults.md"
            )
        if names.count(each) > 1 or (each == "none" and len(names) > 1):
            raise InputError(
                f"fault {name!r}: {each} cannot be one of several; join different faults with +"
            )
    faults = [FAULTS[each]() for each in names]
    return faults[0] if len(faults) == 1 else Together(faults)
