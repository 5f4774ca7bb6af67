"""The verified pull: what every recorder of a target holds, or a statement of what is missing.

Identity and generation first; then the registers, until two readings agree; then the trace memories
against the CRCs the device computed; then the throughput samples, read twice; and after every step
nonce, generation and state again. A pull writes nothing to the device, unless asked to freeze it.

Source: docs/formats.md, sections 1, 2 and 7.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from freezeframe.capture.errors import RecorderStateError, TargetError
from freezeframe.capture.folder import (
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.recorder.agreed import Agreed, read_agreed
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.control import freeze as freeze_device
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.patience import PatientTarget, Recording, RecordingLost
from freezeframe.capture.recorder.plan import (
    Chunk,
    MemoryPlan,
    memories_of,
    registers_of,
    sample_addresses,
)
from freezeframe.capture.recorder.state import RecorderState, read_state
from freezeframe.capture.registers.access import Device, RegisterAt, open_devices
from freezeframe.capture.registers.layouts import MEMORY_NAMES
from freezeframe.capture.targets.base import Target, Words

__all__ = ["Progress", "PullReport", "pull"]

_SETTLE_S = 2.0  # a cause on one device freezes the other, and the records after it drain
_FREEZE_S = 10.0
_CRC_STALL_S = 5.0
_CRC_PAUSE_S = 0.001


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
        """Whether everything the recorders hold is in the capture."""
        return self.words == self.words_total and not self.lost


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
        target: stays open.
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
    return _Pull(target, Path(path), wait_s, progress, overwrite, reopen).run(freeze)


class _Pull:
    """One pull, step by step."""

    def __init__(
        self,
        target: Target,
        path: Path,
        wait_s: float,
        progress: Callable[[Progress], None] | None,
        overwrite: bool,
        reopen: Callable[[], Target] | None,
    ) -> None:
        self._started_s = time.monotonic()
        self._writer = CaptureWriter(path, source=target.url, overwrite=overwrite)
        self._given = target
        self._target = PatientTarget(target, wait_s, reopen, lambda: self._tell(waiting=True))
        self._progress = progress
        self._phase = "identity"
        self._words = 0
        self._words_total = 0
        self._retries = 0
        self._memories: MemoryReader | None = None

    def run(self, freeze: bool) -> PullReport:
        try:
            return self._run(freeze)
        finally:
            self._target.close()

    def _run(self, freeze: bool) -> PullReport:
        self._tell()
        devices = [
            Device(self._target, device.index, device.base, device.identity)
            for device in open_devices(self._given)
        ]
        states = self._frozen_states(devices, freeze)
        recording = Recording.frozen(devices, [(s.nonce, s.generation) for s in states])
        self._target.returned = recording.confirm

        self._phase = "crc"
        chunks_done = self._chunks_done(devices)
        self._phase = "registers"
        registers = self._registers(devices, recording)
        plans = [
            plan
            for device, regs in zip(devices, registers, strict=True)
            for plan in memories_of(device, _select_tap(regs))
        ]
        samples = [_samples_plan(d, r) for d, r in zip(devices, registers, strict=True)]
        memories = MemoryReader(
            self._target, lambda: recording.confirm(self._target), plans, self._tell
        )
        self._memories = memories
        self._words_total += sum(4 * plan.slots for plan in plans)
        self._words_total += sum(len(s.addresses) for s in samples if s)
        images = [_images(d, r, plans) for d, r in zip(devices, registers, strict=True)]
        try:
            self._phase = "memories"
            memories.read(lambda chunk: _ready(chunk, chunks_done))
            self._phase = "samples"
            self._samples(devices, samples, recording)
        except RecordingLost as lost:
            # What was verified before is still evidence; the rest becomes gaps that say why.
            for of_device in samples:
                if of_device is not None and not of_device.words.size:
                    of_device.gaps = _whole_gap(of_device, str(lost))
        self._phase = "writing"
        self._tell()
        for device, regs, sample, image in zip(devices, registers, samples, images, strict=True):
            self._writer.add_device(_capture(device, regs, sample, image, memories))
        return self._report(self._writer.commit(), devices)

    def _report(self, path: Path, devices: Sequence[Device]) -> PullReport:
        from freezeframe.capture.folder import CaptureFolder

        return PullReport(
            path=path,
            devices=tuple(device.name for device in devices),
            words=self._words_done(),
            words_total=self._words_total,
            retries=self._all_retries(),
            outages=self._target.outages,
            seconds=time.monotonic() - self._started_s,
            lost=tuple(CaptureFolder.open(path).lost),
        )

    def _frozen_states(self, devices: Sequence[Device], freeze: bool) -> list[RecorderState]:
        """Return the states of all recorders, all frozen, or raise RecorderStateError."""
        states = [read_state(device) for device in devices]
        closing = any(state.state in ("triggered", "frozen") for state in states)
        end_s = time.monotonic() + _SETTLE_S
        while closing and not _all_frozen(states) and time.monotonic() < end_s:
            time.sleep(_CRC_PAUSE_S)
            states = [read_state(device) for device in devices]
        if _all_frozen(states):
            return states
        if not freeze:
            running = next(state for state in states if state.state != "frozen")
            raise RecorderStateError(
                f"{self._given.url}: device {running.device} is {running.state}: it still records. "
                "Wait for its freeze, or freeze it now (--freeze)"
            )
        self._phase = "freeze"
        self._tell()
        for device in devices:
            freeze_device(device)
        return [wait_for(device, "frozen", _FREEZE_S) for device in devices]

    def _chunks_done(self, devices: Sequence[Device]) -> dict[tuple[int, int], int]:
        """Wait until the devices have computed their CRCs; return chunks done by device, memory."""
        done: dict[tuple[int, int], int] = {}
        grown_s = time.monotonic()
        while True:
            self._tell()
            before = done
            states = [read_state(device) for device in devices]
            done = {
                (device.index, memory): state.memories[name].chunks_done
                for device, state in zip(devices, states, strict=True)
                for memory, name in enumerate(MEMORY_NAMES)
            }
            wanted = {
                (device.index, plan.memory): len(plan.chunks)
                for device in devices
                for plan in memories_of(device, 0)
            }
            if all(done[key] >= chunks for key, chunks in wanted.items()):
                return done
            if done != before:
                grown_s = time.monotonic()
            elif time.monotonic() - grown_s > _CRC_STALL_S:
                return done
            time.sleep(_CRC_PAUSE_S)

    def _registers(self, devices: Sequence[Device], recording: Recording) -> list[_DeviceRegisters]:
        self._tell()
        entries = [(device, entry) for device in devices for entry in registers_of(device)]
        addresses = np.array([d.base + e.offset for d, e in entries], np.uint32)
        agreed = read_agreed(devices[0].read_words, addresses)
        recording.confirm(self._target)
        self._count(agreed)
        found = []
        for device in devices:
            mine = [
                (entry, int(word), bool(good))
                for (owner, entry), word, good in zip(
                    entries, agreed.words, agreed.good, strict=True
                )
                if owner is device
            ]
            found.append(_device_registers(mine))
        return found

    def _samples(
        self, devices: Sequence[Device], samples: Sequence[_Samples | None], recording: Recording
    ) -> None:
        self._tell()
        wanted = [s for s in samples if s is not None]
        addresses = [s.addresses for s in wanted]
        if not wanted:
            return
        agreed = read_agreed(devices[0].read_words, np.concatenate(addresses))
        recording.confirm(self._target)
        self._count(agreed)
        at = 0
        for one in wanted:
            span = slice(at, at + len(one.addresses))
            at = span.stop
            good = agreed.good[span].reshape(-1, 2).all(axis=1)
            one.words = np.where(np.repeat(good, 2), agreed.words[span], 0).astype(np.uint32)
            one.gaps = [
                Gap(int(slot), 1, "never read the same twice") for slot in np.flatnonzero(~good)
            ]

    def _count(self, agreed: Agreed) -> None:
        self._words += int(agreed.good.sum())
        if self._phase == "registers":
            self._words_total += len(agreed.good)
        self._retries += agreed.again
        self._tell()

    def _words_done(self) -> int:
        return self._words + (self._memories.words_done if self._memories else 0)

    def _all_retries(self) -> int:
        return self._retries + (self._memories.retries if self._memories else 0)

    def _tell(self, waiting: bool = False) -> None:
        if self._progress is None:
            return
        self._progress(
            Progress(
                self._phase,
                self._words_done(),
                self._words_total,
                self._all_retries(),
                self._target.outages,
                waiting,
            )
        )


def _all_frozen(states: Sequence[RecorderState]) -> bool:
    return all(state.state == "frozen" for state in states)


def _ready(chunk: Chunk, chunks_done: dict[tuple[int, int], int]) -> bool:
    return chunk.number < chunks_done[chunk.device, chunk.memory]
