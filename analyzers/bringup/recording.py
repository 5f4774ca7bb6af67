"""A short recording of all cards under pattern traffic, pulled, decoded and explained, for a stage to look at."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure, NotPossible
from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.capture.errors import TargetError
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.provoke import Traffic, set_loopback, set_traffic
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device
from freezeframe.capture.registers.layouts import PacketFlag
from freezeframe.decoders.trace.decode import Trace

PATTERN_WORDS = 64
_GAP_CYCLES = 50
_SEED = 0x5E1F7E57
_SELECT = 0  # id.trace.mode: one memory serves one selected tap
_FEW_WORDS = 1024
_LIMIT_S = 20.0
_PAUSE_S = 0.002
_CLOSING_S = 30.0  # a simulated card on a busy computer is slow
_TRIES = 4
_MOST_RECORDINGS = 64
_NO_FAULT = "none"  # among the candidates: what was seen fits a card without a fault as well
_LOG_AND_TAP = 2  # memories of a card that records one tap at a time


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded. ``before`` holds each device's counters from before the recording, by device name."""

    devices: tuple[DeviceCapture, ...]
    explanation: Explanation
    before: dict[str, dict[str, int]]

    @property
    def trace(self) -> Trace:
        return self.explanation.trace

    def growth(self, device: DeviceCapture, counter: str) -> int:
        """Return by how much a counter grew until the freeze; 0 where it was not read."""
        frozen = device.counter(counter)
        return 0 if frozen is None else frozen - self.before[device.name][counter]


def pattern_seed(index: int) -> int:
    """Return the seed of the pattern that device ``index`` sends: each its own, so that none is taken for another's."""
    return _SEED ^ index


@contextmanager
def under_traffic(devices: Sequence[Device], arms: Evidence, *, loop: bool) -> Iterator[None]:
    """Let every card send pattern packets on flow 0, in loop-back or not; put all back afterwards.

    The cards are armed then, and not looped back; but the recording of a failure that is kept nowhere stands in them
    as it was made (`Evidence.undone`).

    Raises:
        NotPossible: the cards have no loop-back.
        TargetError: a card does not take a write.
    """

    def undo() -> None:
        for device in devices if loop else ():
            set_loopback(device, on=False)
        arms.arm()

    with arms.undone(devices, undo):
        try:
            if loop:
                _loop(devices)
            for device in devices:
                traffic = Traffic(0, PATTERN_WORDS, _GAP_CYCLES, pattern_seed(device.index))
                set_traffic(device, traffic)
            yield
        finally:
            for device in devices:
                set_traffic(device, None)


def record(devices: Sequence[Device], arms: Evidence, tap: str) -> Recording:
    """Record until the tap of every card has seen a few patterns, freeze, pull, decode and explain.

    A card that freezes without a fault, or may have, because a host did not receive for long, is recorded again.

    Raises:
        Failure: a card froze by itself and the recording says why, or nothing crosses the tap.
        TargetError: a card does not answer.
    """
    with ExitStack() as stack:
        for device in devices:
            stack.enter_context(_selected(device, devices, arms, tap))
        return _record(devices, arms, tap)


def _record(devices: Sequence[Device], arms: Evidence, tap: str) -> Recording:
    for left in reversed(range(_TRIES)):
        before = counts_before(devices)
        arms.arm()
        by_itself = wait_for_words(devices, tap)
        folder = arms.pulled(devices)
        recording = Recording(tuple(folder.devices), explain(folder), before)
        _check_findings(recording.explanation)
        if not by_itself and (not left or _shows_patterns(recording, tap)):
            return recording  # without a pattern, whoever looks for one says so
        if by_itself and not left:
            raise Failure(
                f"the cards froze by themselves in each of {_TRIES} recordings ({by_itself}), and "
                "the recording does not say why: freezeframe pull and explain tell more"
            )
    raise AssertionError("unreachable: the last try returns or raises")


def counts_before(devices: Sequence[Device]) -> dict[str, dict[str, int]]:
    """Read the counters of all cards while none is about to freeze: until it is frozen it counts what is on its way."""
    while True:
        states = [read_state(device).state for device in devices]
        for device, state in zip(devices, states, strict=True):
            if state == "triggered":
                wait_for(device, "frozen", _CLOSING_S)
        before = {device.name: device.counters().values for device in devices}
        if states == [read_state(device).state for device in devices]:
            return before


def let_pass(devices: Sequence[Device], arms: Evidence, tap: str, words: int) -> None:
    """Let so many words pass the tap of every card, in as many recordings as a host that stops makes of it.

    Raises:
        Failure: a recording says that something went wrong, or nothing crosses the tap.
        TargetError: a card does not answer.
    """
    number = devices[0].roles.taps.index(tap)
    with ExitStack() as stack:
        for device in devices:
            stack.enter_context(_selected(device, devices, arms, tap))
        for _ in range(_MOST_RECORDINGS):
            arms.arm()
            wait_for_words(devices, tap, words)
            _check_findings(explain(arms.pulled(devices)))
            words -= min(device.read("memory.stored", number) for device in devices)
            if words <= 0:
                return


def _check_findings(explanation: Explanation) -> None:
    for finding in explanation.findings:
        if _NO_FAULT in finding.candidates:
            continue  # a stall whose beginning the recording does not hold, on a card in order
        raise Failure(
            f"{finding.diagnosis} ({finding.device}.{finding.tap or 'registers'}): {finding.text}"
        )


def _shows_patterns(recording: Recording, tap: str) -> bool:
    """Return whether a tap of every card holds a whole pattern packet; among the host's own there may be none."""
    packets = recording.trace.packets
    whole = packets[packets["whole"] & ((packets["flags"] & int(PacketFlag.PATTERN)) != 0)]
    seen = set(whole["source"].astype(str))
    return all(
        f"{device.name}.{name}" in seen
        for device in recording.devices
        for name in device.memories
        if name in device.roles.taps and (name == tap or len(device.memories) > _LOG_AND_TAP)
    )


@contextmanager
def _selected(
    device: Device, devices: Sequence[Device], arms: Evidence, tap: str
) -> Iterator[None]:
    """In a card with one memory, connect it to a tap from the next arm on; others have all taps."""
    if device.identity.trace_mode != _SELECT:
        yield
        return
    kept = device.field("ctl.options", "select_tap")
    device.modify("ctl.options", select_tap=device.roles.taps.index(tap))
    with arms.undone(devices, partial(device.modify, "ctl.options", select_tap=kept)):
        yield


def _loop(devices: Sequence[Device]) -> None:
    try:
        for device in devices:
            set_loopback(device, on=True)
    except TargetError as error:
        if any(device.read("provoke.link") for device in devices):
            raise
        raise NotPossible(f"no loop-back in these cards ({error})") from error


def wait_for_words(devices: Sequence[Device], tap: str, words: int = 0) -> str:
    """Wait for words at the tap, a few where none are said; return the causes of cards that froze by themselves."""
    number = devices[0].roles.taps.index(tap)
    end_s = time.monotonic() + _LIMIT_S
    while True:
        states = [read_state(device) for device in devices]
        frozen = [state for state in states if state.state in ("triggered", "frozen")]
        if frozen:
            return ", ".join(f"{state.device}: {' '.join(state.causes)}" for state in frozen)
        stored = [device.read("memory.stored", number) for device in devices]
        enough = [words or min(device.identity.tap_depth, _FEW_WORDS) for device in devices]
        if all(got >= want for got, want in zip(stored, enough, strict=True)):
            return ""
        if time.monotonic() >= end_s:
            slow = next(i for i, got in enumerate(stored) if got < enough[i])
            raise Failure(
                f"{devices[slow].name}.{tap}: {stored[slow]} records in {_LIMIT_S:g} s of pattern traffic; "
                f"{enough[slow]} were waited for"
            )
        time.sleep(_PAUSE_S)
