"""The faults by name."""

from __future__ import annotations

from freezeframe.capture.errors import InputError
from freezeframe.capture.nearest import no_such
from freezeframe.capture.time_text import parse_time
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

_LATEST_PS, _LATEST_TEXT = 1000 * 3600 * 10**12, "1000h"  # picoseconds of 64 bits reach 2562 h

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


def make_fault(text: str) -> Fault:
    """Return a fault by its name, or several in one by their names joined with ``+``, the first to strike first.

    One of the open world (docs/open-world-faults.md) comes alone, and so does one of `PART_FAULTS`. A name may be
    followed by when the fault begins, from the start of a run: ``lane-misaligned:after=1h``.

    Raises:
        InputError: there is none of a name (the message lists them), or one is given twice or beside "none", or what
            follows it is no time, or it cannot begin at one.
    """
    parts = [part.partition(":") for part in text.split("+")]
    names = [name for name, _, _ in parts]
    faults = [_named(name, text, names) for name in names]
    for fault, (_, colon, said) in zip(faults, parts, strict=True):
        if colon:
            fault.after_ps = _after_ps(fault, said, text)
    return faults[0] if len(faults) == 1 else Together(faults)


def _named(name: str, text: str, names: list[str]) -> Fault:
    if len(names) == 1 and name in ENTRIES:
        return make_unlisted(name)
    if len(names) == 1 and name in PART_FAULTS:
        return PART_FAULTS[name]()
    if name not in FAULTS:
        listed = (*FAULTS, *PART_FAULTS)
        alone = f"and alone the {len(ENTRIES)} of docs/open-world-faults.md"
        there = f"there is {', '.join(listed)}, {alone}"
        raise InputError(no_such("fault", name, (*listed, *ENTRIES), there))
    if names.count(name) > 1 or (name == "none" and len(names) > 1):
        raise InputError(
            f"fault {text!r}: {name} cannot be one of several; join different faults with +"
        )
    return FAULTS[name]()


def _after_ps(fault: Fault, said: str, text: str) -> int:
    key, equals, value = said.partition("=")
    if key != "after" or not equals:
        raise InputError(
            f"fault {text!r}: {said!r} is not after=TIME, which is when {fault.name} begins; for instance after=1h"
        )
    reason = "a clean run has none" if fault.name == "none" else fault.no_begin
    if reason:
        raise InputError(
            f"fault {text!r}: {fault.name} cannot begin at a time: {reason}; leave out :{said}"
        )
    after_ps = parse_time(f"fault {text!r}: after", value)
    if after_ps > _LATEST_PS:
        raise InputError(
            f"fault {text!r}: after {value} is more than the {_LATEST_TEXT} that a run may take"
        )
    return after_ps
