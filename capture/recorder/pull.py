"""The verified pull: what every recorder of a target holds, or a statement of what is missing.

Identity and generation first; then the registers, until two readings agree; then the trace memories
against the CRCs the device computed; then the throughput samples, read twice; and after every step
nonce, generation and state again. A pull writes nothing to the device, unless asked to freeze it.

Source: docs/formats.md, sections 1, 2 and 7.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from freezeframe.capture.errors import RecorderStateError, TargetTimeout
from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    RegisterImage,
)
from freezeframe.capture.recorder.agreed import Agreed, read_agreed
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.control import freeze as freeze_device
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.gathered import Gathered
from freezeframe.capture.recorder.patience import PatientTarget, Recording, RecordingLost
from freezeframe.capture.recorder.plan import memories_of, registers_of
from freezeframe.capture.recorder.state import RecorderState, read_state, read_steady
from freezeframe.capture.registers.access import ALL_ONES, Device, open_devices
from freezeframe.capture.targets.base import Target, Words

__all__ = ["Gathering", "Progress", "PullReport", "pull", "report_of"]

_CONTACT_S = 3.0
_SETTLE_S = 2.0  # a cause on one device freezes the other, and the records after it drain
_FREEZE_S = 10.0
_CRC_STALL_S = 5.0
_PAUSE_S = 0.001


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is. ``phase``: identity, freeze, crc, registers, memories, samples, writing;
    ``waiting`` while the target is gone. Words are 32-bit words that are verified."""

    phase: str
    words_done: int
    words_total: int
    retries: int
    outages: int
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class PullReport:
    """What a pull has brought home. ``lost`` has one line for each thing that is missing."""

    path: Path
    devices: tuple[str, ...]
    words: int
    words_total: int
    retries: int
    outages: int
    seconds: float
    lost: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether everything the recorders hold is in the capture.

        ``lost`` may still say what a recorder itself could not record.
        """
        return self.words == self.words_total


def pull(
    target: Target,
    path: Path | str,
    *,
    freeze: bool = False,
    wait_s: float = 30.0,
    progress: Callable[[Progress], None] | None = None,
    overwrite: bool = False,
    reopen: Callable[[], Target] | None = None,
) -> PullReport:
    """Pull all recorders of a target into one capture folder.

    Args:
        target: stays open, unless it had to be opened anew.
        path: the folder, ``NAME.ff``.
        freeze: freeze recorders that still run; without it they are refused.
        wait_s: how long a target that vanishes is waited for, seconds.
        progress: called often, from this thread.
        overwrite: replace a capture folder that stands at ``path``.
        reopen: opens the target anew after an outage, for a transport that does not mend itself.
    Returns:
        The report. A target that vanished for good, or came back without the recording, leaves a
        capture of what was verified until then, with the rest as stated gaps.
    Raises:
        InputError: the folder cannot be written; nothing is left behind.
        RecorderStateError: a recorder runs, or was armed during the pull; nothing is written.
        DeviceUnknownError: not our device, or one that contradicts itself.
        TargetError: no answer, or an outage before the registers were read; nothing is written.
    """
    writer = CaptureWriter(path, source=target.url, overwrite=overwrite)
    one = Gathering(target, progress, wait_s, reopen)
    for device in one.run(freeze):
        writer.add_device(device)
    return report_of(writer.commit(), [one])


def report_of(path: Path, gathered: Sequence[Gathering]) -> PullReport:
    """Return what a pull from one or several targets has written at ``path``."""
    folder = CaptureFolder.open(path)
    return PullReport(
        path=path,
        devices=tuple(device.name for device in folder.devices),
        words=sum(one.words_done for one in gathered),
        words_total=sum(one.words_total for one in gathered),
        retries=sum(one.retries for one in gathered),
        outages=sum(one.outages for one in gathered),
        seconds=time.monotonic() - min(one.started_s for one in gathered),
        lost=tuple(folder.lost),
    )


class Gathering:
    """What one target holds, read and verified step by step; nothing is written."""

    def __init__(
        self,
        target: Target,
        progress: Callable[[Progress], None] | None,
        wait_s: float,
        reopen: Callable[[], Target] | None,
    ) -> None:
        """Get ready; arguments as of `pull`."""
        self.started_s = time.monotonic()
        self.words_total = 0
        self._given = target
        self._target = PatientTarget(target, wait_s, reopen, lambda: self._tell(waiting=True))
        self._progress = progress
        self._phase = "identity"
        self._words = 0
        self._retries = 0
        self._memories: MemoryReader | None = None

    def run(self, freeze: bool) -> list[DeviceCapture]:
        """Return the devices, in the order of their index; raises as `pull`."""
        try:
            return self._run(freeze)
        finally:
            self._target.close()

    @property
    def words_done(self) -> int:
        """32-bit words that are verified."""
        return self._words + (self._memories.words_done if self._memories else 0)

    @property
    def retries(self) -> int:
        return self._retries + (self._memories.retries if self._memories else 0)

    @property
    def outages(self) -> int:
        return self._target.outages

    def _run(self, freeze: bool) -> list[DeviceCapture]:
        self._tell()
        self._contact()
        devices = open_devices(self._target)
        states = self._frozen_states(devices, freeze)
        recording = Recording.frozen(devices, [state.generation for state in states])
        self._target.returned = recording.confirm
        found = [Gathered(device, memories_of(device, _select_tap(device))) for device in devices]

        self._begin("crc")
        chunks_done = self._chunks_done(found)
        self._begin("registers")
        self._registers(found, recording)
        plans = [plan for one in found for plan in one.plans]
        self.words_total += sum(4 * plan.slots for plan in plans)
        self.words_total += sum(len(one.sample_addresses()) for one in found)
        memories = self._memories = MemoryReader(
            self._target, lambda: recording.confirm(self._target), plans, self._tell
        )
        try:
            self._begin("memories")
            memories.read(lambda chunk: chunk.number < chunks_done[chunk.device, chunk.memory])
            self._begin("samples")
            self._samples(found, recording)
        except RecordingLost as lost:
            # What was verified before is evidence all the same; the rest are gaps that say why.
            for one in found:
                one.lose_samples(lost.reason)
        self._begin("writing")
        return [one.capture(memories) for one in found]

    def _contact(self) -> None:
        """Raise when there is no device in the first place: only one that was seen is waited for."""
        end_s = time.monotonic() + _CONTACT_S
        while True:
            try:
                magic = int(self._given.read([0])[0])
                break
            except TargetTimeout:
                if time.monotonic() >= end_s:
                    raise
        if magic == ALL_ONES:
            open_devices(self._given)

    def _frozen_states(self, devices: Sequence[Device], freeze: bool) -> list[RecorderState]:
        """Return the states of all recorders, all frozen, or raise RecorderStateError."""
        states = [read_state(device) for device in devices]
        closing = any(state.state in ("triggered", "frozen") for state in states)
        end_s = time.monotonic() + _SETTLE_S
        while closing and not _all_frozen(states) and time.monotonic() < end_s:
            time.sleep(_PAUSE_S)
            states = [read_state(device) for device in devices]
        if _all_frozen(states):
            return states
        if not freeze:
            running = next(state for state in states if state.state != "frozen")
            raise RecorderStateError(
                f"{self._given.url}: device {running.device} is {running.state}, not frozen. "
                "Wait for its freeze, or freeze it now (--freeze)"
            )
        self._begin("freeze")
        for device in devices:
            freeze_device(device)
        return [wait_for(device, "frozen", _FREEZE_S) for device in devices]

    def _chunks_done(self, found: Sequence[Gathered]) -> dict[tuple[int, int], int]:
        """Wait until the devices have computed their CRCs; return chunks done by device, memory."""
        wanted = {(p.device, p.memory): len(p.chunks) for one in found for p in one.plans}
        done: dict[tuple[int, int], int] = {}
        grown_s = time.monotonic()
        while True:
            before = done
            done = {
                (one.device.index, memory): state.chunks_done
                for one in found
                for memory, state in enumerate(read_state(one.device).memories.values())
            }
            if done == before and all(done[key] >= chunks for key, chunks in wanted.items()):
                return done
            if done != before:
                grown_s = time.monotonic()
            elif time.monotonic() - grown_s > _CRC_STALL_S:
                return done
            time.sleep(_PAUSE_S)
            self._tell()

    def _registers(self, found: Sequence[Gathered], recording: Recording) -> None:
        entries = [registers_of(one.device) for one in found]
        addresses = [
            one.device.base + entry.offset
            for one, mine in zip(found, entries, strict=True)
            for entry in mine
        ]
        agreed = self._agree(found, np.array(addresses, np.uint32), recording)
        self.words_total += len(addresses)
        for one, mine, span in zip(found, entries, _spans(map(len, entries)), strict=True):
            one.take_registers(mine, agreed.words[span], agreed.good[span])

    def _samples(self, found: Sequence[Gathered], recording: Recording) -> None:
        addresses = [one.sample_addresses() for one in found]
        agreed = self._agree(found, np.concatenate(addresses), recording)
        for one, span in zip(found, _spans(map(len, addresses)), strict=True):
            one.take_samples(agreed.words[span], agreed.good[span])

    def _agree(self, found: Sequence[Gathered], addresses: Words, recording: Recording) -> Agreed:
        agreed = read_agreed(found[0].device.read_words, addresses)
        recording.confirm(self._target)
        self._words += int(agreed.good.sum())
        self._retries += agreed.again
        return agreed

    def _begin(self, phase: str) -> None:
        self._phase = phase
        self._tell()

    def _tell(self, waiting: bool = False) -> None:
        if self._progress is None:
            return
        self._progress(
            Progress(
                self._phase,
                self.words_done,
                self.words_total,
                self.retries,
                self._target.outages,
                waiting,
            )
        )


def _all_frozen(states: Sequence[RecorderState]) -> bool:
    return all(state.state == "frozen" for state in states)


def _select_tap(device: Device) -> int:
    (options,) = read_steady(device, ("ctl.options",))
    return (
        RegisterImage.from_values({"ctl.options": options}).field("ctl.options", "select_tap") or 0
    )


def _spans(lengths: Iterable[int]) -> list[slice]:
    ends = list(accumulate(lengths, initial=0))
    return [slice(start, end) for start, end in pairwise(ends)]
