"""Recordings of a card that is provoked: held, running, its receive DMA stopped, an error sent on purpose."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from freezeframe.analyzers.bringup.crystals import pause
from freezeframe.analyzers.bringup.evidence import Evidence
from freezeframe.analyzers.bringup.failure import Failure
from freezeframe.analyzers.bringup.recording import wait_for_words
from freezeframe.analyzers.card.names import LAW_BROKEN, RECORDER_SUSPECT
from freezeframe.analyzers.explain import Explanation, explain
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.provoke import inject, set_rx_dma, write_fields
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import Device
from freezeframe.capture.registers.layouts import HEADER, PacketFlag, PacketType
from freezeframe.decoders.trace.encode import header_words, tail_word

CHECKS = ("bad-header", "bad-payload", "bad-length")
_PAYLOAD = (0x0123456789ABCDEF, 0xFEDCBA9876543210, 0x5555AAAA5555AAAA, 0xAAAA5555AAAA5555)
_LIMIT_S = 5.0
_PAUSE_S = 0.002
_STILL = 16  # looks at a counter that must not have moved between them
_TRIES = 4
_NO_FAULT = "none"
_OF_RECORDING = (RECORDER_SUSPECT, LAW_BROKEN)


@dataclass(frozen=True, eq=False)
class Take:
    """One recording.

    Attributes:
        held: the cards stood still from the freeze on.
        before: what was recorded at the freeze before: nothing was counted between that and the arm, if it was held,
            and the FIFOs were empty then.
    """

    folder: CaptureFolder
    held: bool
    before: Take | None

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.folder)

    @cached_property
    def facts(self) -> Facts:
        return Facts(CaptureView(self.folder))

    @property
    def wrong(self) -> str:
        """What is wrong with the card by this recording, beside its recorder and its laws; empty where nothing is."""
        for finding in self.explanation.findings:
            if _NO_FAULT not in finding.candidates and finding.diagnosis not in _OF_RECORDING:
                return f"{finding.diagnosis} ({finding.device}.{finding.tap or 'registers'}): {finding.text}"
        return ""


@contextmanager
def as_found(devices: Sequence[Device]) -> Iterator[None]:
    """Give back what a qualification sets: options, causes that freeze, the trigger, the receive DMA."""
    registers = ("ctl.options", "ctl.cause_mask", "trigger.config", "provoke.rx_dma")
    kept = [device.read_many([(name,) for name in registers]) for device in devices]
    try:
        for device in devices:
            write_fields(device, "trigger.config", enable=0)
        yield
    finally:
        for device, words in zip(devices, kept, strict=True):
            for name, word in zip(registers, words, strict=True):
                device.write(name, word)


class Bench:
    """Cards under traffic that are recorded again and again, each recording with the one before it."""

    def __init__(self, devices: Sequence[Device], arms: Evidence) -> None:
        self.devices = devices
        self._arms = arms
        self.last: Take | None = None

    def take(self, *, held: bool = True) -> Take:
        """Record under the traffic that runs, and freeze."""
        for device in self.devices:
            write_fields(device, "ctl.options", hold=int(held))
        self._arms.arm()
        wait_for_words(self.devices, self.devices[0].roles.rx.exit)
        return self._taken(held)

    def clean(self) -> Take:
        """Record, held, on cards that nothing but their host froze.

        Raises:
            Failure: they freeze by themselves again and again.
        """
        for _ in range(_TRIES):
            taken = self.take()
            view = taken.facts.view
            causes = {name: view.causes(name) for name in view.names}
            if all({*found} <= {"host", view.roles.card.peer_cause} for found in causes.values()):
                return taken
        said = "; ".join(f"{name}: {', '.join(found)}" for name, found in causes.items())
        raise Failure(
            f"the cards froze by themselves in each of {_TRIES} recordings ({said}): pull and explain that first"
        )

    def stopped(self, receiver: Device) -> Take:
        """Record while a card's receive DMA is stopped, until nothing enters its FIFO any more."""
        self._arm_for(0)  # that it waits for credit is meant
        set_rx_dma(receiver, stopped=True)
        try:
            entry = receiver.roles.taps.index(receiver.roles.rx.entry)
            end_s, last, still = time.monotonic() + _LIMIT_S, -1, 0
            while still < _STILL and time.monotonic() < end_s:
                pause(receiver, _PAUSE_S)
                now = receiver.read("memory.stored", entry)
                still, last = (still + 1 if now == last else 0), now
            return self._taken(held=True)
        finally:
            set_rx_dma(receiver, stopped=False)

    def spoiled(self, sender: Device, receiver: Device, check: str) -> Take:
        """Record while one packet with that error is sent; the receiver freezes for it, or the host after a while."""
        bits = {cause.name: cause.bit for cause in receiver.found.card.causes}
        cause = receiver.roles.cause(check)
        self._arm_for(1 << bits[cause] if cause else 0)
        wait_for_words(self.devices, receiver.roles.rx.exit)
        for _ in range(
            _STILL
        ):  # for two toggles of the time line, which alone relate the clocks of a recording
            receiver.read("ctl.state")
        inject(sender, spoiled(check))
        end_s = time.monotonic() + _LIMIT_S
        while time.monotonic() < end_s and read_state(receiver).state not in (
            "triggered",
            "frozen",
        ):
            pause(receiver, _PAUSE_S)
        return self._taken(held=True)

    def watched(self, watch: Callable[[], None]) -> Take:
        """Record while something is watched that reads alone."""
        self._arm_for(0)
        watch()
        return self._taken(held=True)

    def _arm_for(self, causes: int) -> None:
        for device in self.devices:
            write_fields(device, "ctl.options", hold=1)
            write_fields(device, "ctl.cause_mask", value=causes)
        self._arms.arm()

    def _taken(self, held: bool) -> Take:
        self.last = Take(self._arms.pulled(self.devices), held, self.last)
        return self.last


def spoiled(check: str) -> list[int]:
    """Return the words of a packet that fails one check alone: its header's CRC, its payload's, or its length."""
    payload = () if check == "bad-header" else _PAYLOAD
    length = len(payload) + (check == "bad-length")
    header, address = header_words(
        PacketType.RDMA_WRITE, 0, length, 0, 0, flags=int(PacketFlag.INJECTED)
    )
    if check == "bad-header":
        header ^= HEADER.pack(crc=1)
    return [header, address, *payload, tail_word(payload) ^ (check == "bad-payload")]
