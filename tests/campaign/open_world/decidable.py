"""By which witness an upset of a recorder or of a register can be told, by its mechanism and whatever was answered.

Nothing of the diagnosis is used: the upset is taken back in the raw records, and what the recorder's rules, the other
memories or the card's laws say of it is the witness. Empty: nothing that is recorded contradicts it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from freezeframe.analyzers.conservation.analysis_code import check_laws
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder, DeviceCapture, MemoryImage
from freezeframe.capture.registers.layouts import Kind
from freezeframe.decoders.trace.memory import ProblemCode, check, read_memory

UPSETS = ("recorder", "register")
"""The kinds of faults of which this is asked."""

ONE_LAW = "one law"
_PATH = (("tx_enq", "tx_deq"), ("rx_enq", "rx_deq"))
_WORDS = (Kind.HEAD, Kind.BODY, Kind.TAIL)
_RULES = {
    ProblemCode.TIME_DISAGREES,
    ProblemCode.BAD_TIME,
    ProblemCode.BROKEN_WALK,
    ProblemCode.ZERO_DT,
}
_RULES |= {ProblemCode.RESERVED_KIND, ProblemCode.MISPLACED_KIND}
_ALWAYS = {
    "trace-address-stuck": "slots that are one",
    "trace-bit-stuck": "other taps",
    "freeze-cycle-upset": "the memories' ends",
    "level-one-off": ONE_LAW,
    "crc-checker-refuses": "the packets",
}
"""Faults that one witness tells of wherever they strike."""

_COUNTED = (
    "cause-upset",
    "cause-spurious",
    "error-counter-upset",
)  # a cause and its counter, one for the other
_NUMBERED = ("sequence-upset",)
_LATE_UNDERFLOWS = 4  # that come between the end of the log and the moment the register is taken
_FEW_WORDS = 8  # in a level: so many may have been lost or repeated as well
_LEAST_PACKET = 3  # words
_SEQUENCE_CAUSE = 10  # has no counter: the headers around it tell


def decided_by(fault: str, injection: dict[str, Any], folder: CaptureFolder) -> str:
    """Return the witness that tells of an upset; empty where there is none."""
    if fault in _ALWAYS:
        return _ALWAYS[fault]
    device, detail = folder.device(injection["device"]), injection["detail"]
    image = device.memories.get(injection["tap"] or "")
    if "record" in detail and image is not None:
        number = device.roles.memories.index(image.name)
        stored = device.registers.value("memory.stored", number) or 0
        kept = detail["record"] >= stored - len(image.slots_in_order()) + 2
        return "other taps or the log's own count" if kept else ""
    if "slot" in detail and image is not None:
        return _of_record(fault, device, image, detail, folder)
    if fault == "sample-upset":
        return _of_sample(device, detail)
    return _of_register(fault, device, detail, folder)


def _of_record(
    fault: str,
    device: DeviceCapture,
    image: MemoryImage,
    detail: dict[str, Any],
    folder: CaptureFolder,
) -> str:
    if _breaks_rules(device, image):
        return "the memory's own rules"
    right = image.records.copy()
    for slot in range(detail["slot"], min(detail["slot"] + detail.get("records", 1), len(right))):
        for bit in (
            (detail["bit"], *((detail["bit"] + 1,) if "two-bits" in fault else ()))
            if "bit" in detail
            else ()
        ):
            right[slot, bit // 8] ^= 1 << bit % 8
    record = right[detail["slot"]]
    if image.name == "event_log" or record[8] & 15 not in _WORDS:
        return ""
    if detail.get("bit", 0) >= 68:  # its distance in time alone: the words are as they were
        return ""
    taps = [tap for side in _PATH for tap in side]
    at = taps.index(image.name)
    holders = {
        taps.index(name) < at
        for other in folder.devices
        for name, memory in other.memories.items()
        if name != image.name and name in taps
        # The tap's own card has the taps of its own side of the way, the other card those of the other.
        if (other.name == device.name) == (taps.index(name) // 2 == at // 2)
        if (memory.records[memory.slots_in_order(), :8] == record[:8]).all(axis=1).any()
    }
    if len(holders) == len({True, False}):
        return "taps before and behind"
    return "a whole packet" if _whole_around(image, right, detail["slot"]) else ""


def _breaks_rules(device: DeviceCapture, image: MemoryImage) -> bool:
    problems, _ = check(read_memory(device, image))
    kinds = image.records[image.slots_in_order(), 8]
    steps = (kinds & 15 == Kind.TIME) & (kinds >> 4 != 14)
    return bool({p.code for p in problems} & _RULES) or bool(steps[:-1].any())


def _whole_around(image: MemoryImage, right: Any, slot: int) -> bool:
    """Tell whether the packet around a slot stands whole in the memory, as it was before the upset."""
    order = image.slots_in_order()
    kinds = right[order, 8] & 15
    at = int(np.flatnonzero(order == slot)[0])
    heads = np.flatnonzero(kinds[: at + 1] == Kind.HEAD)
    tails = np.flatnonzero(kinds[at:] == Kind.TAIL)
    return (
        bool(len(heads))
        and bool(len(tails))
        and (len(heads) > 1 or heads[0] > 0 or kinds[0] == Kind.HEAD)
    )


def _of_sample(device: DeviceCapture, detail: dict[str, Any]) -> str:
    """Tell whether a sample's counts go back, or on by more than a word a cycle, where they did not."""
    samples = device.samples
    pointer, status = (
        device.registers.value(f"sampler.{name}") or 0 for name in ("write_ptr", "status")
    )
    if samples is None:
        return ""
    order = np.arange(pointer) if not status & 1 else np.roll(np.arange(len(samples)), -pointer)
    for column in range(2):
        counts = samples[order, column].astype(np.int64)
        step = np.diff(counts)
        period = device.registers.value("ctl.sample_period") or 1024
        if len(step) and (step.min() < 0 or step.max() > period):
            return "the samples beside it"
    return ""


def _of_errors(device: DeviceCapture, counter: str) -> str:
    """Tell what contradicts a count of damaged packets: that its cause did not come, if no such packet can be missed.

    A card counts on until its counters are frozen, when its memories are closed and a cause is latched already; and
    one packet is open where the peer stood still first.
    """
    tap = _PATH[1][0]
    after = (device.counter(f"{tap}_words") or 0) - (
        device.registers.value("memory.offered", device.roles.memories.index(tap)) or 0
    )
    count = device.counter(counter) or 0
    if count <= 1:
        return ""
    return "a cause and its counter" if count > -(-after // _LEAST_PACKET) else ONE_LAW


def _never_counted(device: DeviceCapture, bit: int) -> bool:
    """Tell whether what a cause stands for was counted never."""
    means = next(c.said.means for c in device.found.card.causes if c.bit == bit and c.said)
    counter = device.roles.counter(means, _PATH[1][0]) or device.roles.counter(means)
    return not counter or device.counter(counter) == 0


def _recording(device: DeviceCapture, folder: CaptureFolder) -> bool:
    """Tell whether the memory of what comes in was still recording when the cause of the freeze came."""
    view = CaptureView(folder)
    last, cycle = view.last_times.get(f"{device.name}.{_PATH[1][0]}"), view.cause_cycle(device.name)
    if last is None or last[2] < 0 or cycle is None:
        return False
    return last[1] > int(view.trace.timebase.times_ps(device.name, "bus", np.array([cycle]))[0][0])


def _of_register(
    fault: str, device: DeviceCapture, detail: dict[str, Any], folder: CaptureFolder
) -> str:
    if fault in _COUNTED and detail["register"] not in ("drops", "parity_errors"):
        if fault == "error-counter-upset":
            return _of_errors(device, detail["register"])
        if detail["bit"] == _SEQUENCE_CAUSE:
            return "the headers" if _recording(device, folder) else ""
        return "a cause and its counter" if _never_counted(device, detail["bit"]) else ""
    if fault in _NUMBERED and detail["bit"] > 3:
        return "the last header"  # the lower bits are those of packets on their way
    if fault == "underflows-upset":
        lane = int(detail["register"][-2])
        value = device.registers.value("frozen.lane.underflows", lane) or 0
        late = value >> detail["bit"] & 1 and 1 << detail["bit"] <= _LATE_UNDERFLOWS
        return "" if device.memories["event_log"].wrapped or late else "the event log"
    if fault == "level-upset" and 1 << detail["bit"] <= _FEW_WORDS:
        return ONE_LAW  # as many words lost or repeated in the FIFO look the same to every law
    # The card is sound but for the register: a law that is broken is broken by it.
    laws = sum(law.state == "broken" for law in check_laws(CaptureView(folder)))
    return "" if not laws else ONE_LAW if laws == 1 else "several laws"
