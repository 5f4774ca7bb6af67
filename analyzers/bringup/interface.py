"""Stage 1: registers read what they hold, writes change what they name and nothing else, errors are reported.

Only registers whose value moves nothing are written: the terms of a trigger that is off, and the inject buffer. They
get their old values back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.capture.errors import BusError
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import Device
from freezeframe.capture.registers.identity import IDENTITY_REGISTERS
from freezeframe.capture.targets.base import Words

_READINGS = 4
_AT_ONCE = 32  # words a write
_TERM = ("value_lo", "value_hi", "mask_lo", "mask_hi")


def interface(devices: Sequence[Device], arms: Evidence) -> Iterator[str]:
    """Yield what holds, device by device; raise `Failure` with address, value written and value read."""
    arms.arm()  # the memories must record for the last of the checks
    for device in devices:
        yield _identity(device)
        yield _bursts(device)
        yield _registers(device)
        yield _buffer(device)
        yield _refusals(device)


def _identity(device: Device) -> str:
    registers = [(register.name,) for register in IDENTITY_REGISTERS]
    first = device.read_many(registers)
    for _ in range(_READINGS - 1):
        for (name,), was, now in zip(registers, first, device.read_many(registers), strict=True):
            if was != now:
                raise Failure(_differs(device, name, device.address(name), was, now, "read first"))
    identity = device.identity
    return (
        f"{device.name}: identity reads the same {_READINGS} times; {identity.trace_taps} taps of "
        f"{identity.tap_depth} records, {identity.flows_count} flows"
    )


def _bursts(device: Device) -> str:
    """Hold every register read on its own against the same read in one request."""
    asked = np.array(
        [device.address(register.name) for register in IDENTITY_REGISTERS], dtype=np.uint32
    )
    together = device.read_words(asked)
    for address, word in zip(asked.tolist(), together.tolist(), strict=True):
        alone = int(device.read_words([address])[0])
        if alone != word:
            name = names.describe(address - device.base)
            raise Failure(_differs(device, name, address, word, alone, "read in a burst"))
    return f"{device.name}: {len(asked)} registers read alone as in one burst"


def _registers(device: Device) -> str:
    """Walk a one, all ones, all zeros and their own addresses through the terms of the trigger."""
    if device.field("trigger.config", "enable"):
        return f"{device.name}: write and read back left out: a trigger is set (trigger.config)"
    places = [(f"trigger.term.{part}", term) for part in _TERM for term in (0, 1)]
    kept = device.read_many(places)
    try:
        for pattern in (*(1 << bit for bit in range(32)), 0, 0xFFFFFFFF, None):
            wrote = [
                device.address(*place) ^ 0xA5A50000 if pattern is None else pattern
                for place in places
            ]
            for (name, term), word in zip(places, wrote, strict=True):
                device.write(name, word, term)
            for place, word, now in zip(places, wrote, device.read_many(places), strict=True):
                if now != word:
                    label = names.label(place[0], place[1:])
                    raise Failure(_differs(device, label, device.address(*place), word, now))
    finally:
        for (name, term), word in zip(places, kept, strict=True):
            device.write(name, word, term)
    return f"{device.name}: {len(places)} registers hold a walking one, zeros, ones, own address"


def _buffer(device: Device) -> str:
    """Fill the inject buffer with words that differ everywhere, then with their complements."""
    words = names.window("inject_buffer").words
    start = device.window("inject_buffer")
    addresses = start + 4 * np.arange(words, dtype=np.uint32)
    kept = device.read_words(addresses)
    wrote: Words = np.arange(words, dtype=np.uint32) * np.uint32(0x9E3779B1)
    try:
        for pattern in (wrote, ~wrote):
            _fill(device, start, pattern)
            read = device.read_words(addresses)
            wrong = np.flatnonzero(read != pattern)
            if len(wrong):
                at = int(wrong[0])
                text = _differs(
                    device,
                    f"inject_buffer[{at}]",
                    int(addresses[at]),
                    int(pattern[at]),
                    int(read[at]),
                )
                raise Failure(f"{text}; {len(wrong)} of {words} words differ")
    finally:
        _fill(device, start, kept)
    return f"{device.name}: {words} words of the inject buffer hold a pattern and its complement"


def _refusals(device: Device) -> str:
    """Read where nothing is, and a trace memory that is not frozen: an error each, counted."""
    _refused(device, device.base + device.identity.stride_B - 4, "outside the map")
    trace = device.window("trace_event_log")
    if device.identity.event_depth and _records_on(device, trace):
        return (
            f"{device.name}: reads outside the map and of a running memory are refused and counted"
        )
    return f"{device.name}: a read outside the map is refused and counted (the recorder froze meanwhile)"


def _records_on(device: Device, trace: int) -> bool:
    """Return whether the read of a memory was refused; False where the recorder froze before that."""
    try:
        _refused(device, trace, "of a memory that still records")
    except Failure:
        if read_state(device).state == "frozen":
            return False
        raise
    return True


def _refused(device: Device, address: int, what: str) -> None:
    before = device.read("id.bus_errors")
    try:
        word = int(device.read_words([address])[0])
    except BusError:
        if device.read("id.bus_errors") != before:
            return
        raise Failure(
            f"{device.name}: the read of {address:#010x}, {what}, was an error that id.bus_errors did not count"
        ) from None
    raise Failure(
        f"{device.name}: the read of {address:#010x}, {what}, gave {word:#010x} and no error"
    )


def _fill(device: Device, start: int, words: Words) -> None:
    for first in range(0, len(words), _AT_ONCE):
        device.target.write(start + 4 * first, words[first : first + _AT_ONCE])


def _differs(
    device: Device, name: str, address: int, expected: int, read: int, how: str = "written"
) -> str:
    return (
        f"{device.name}: {name} at {address:#010x} reads {read:#010x}, {how} {expected:#010x} "
        f"(bits {expected ^ read:#010x} differ)"
    )
