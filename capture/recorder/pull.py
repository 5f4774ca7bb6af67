"""The verified pull: what every recorder of a target holds, or a statement of what is missing.

Identity and generation first; then the registers, until two readings agree; then the trace memories
against the CRCs the device computed; then the throughput samples, read twice; and after every step
nonce, generation and state again. A pull writes nothing to the device, unless asked to freeze it.

Source: docs/formats.md, sections 1, 2 and 7.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.card.device import CardDevice, open_any
from freezeframe.capture.custody.ledger import Ledger, RecordingKey, note_kept
from freezeframe.capture.custody.recordings import generations_of, recordings_in
from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    Gap,
    MemoryImage,
)
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.folder.card_folder import CardFolder, write_card_folder
from freezeframe.capture.folder.history import history_of
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.recorder.agreed import (
    Agreed,
    DeviceRegisters,
    Recording,
    RecordingLost,
    read_agreed,
    read_registers,
)
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.control import freeze_all
from freezeframe.capture.recorder.patience import PatientTarget
from freezeframe.capture.recorder.plan import all_memories, registers_of, wait_for_crcs
from freezeframe.capture.recorder.progress import Progress, Tally
from freezeframe.capture.recorder.state import (
    all_frozen,
    refuse_running,
    settled_states,
)
from freezeframe.capture.registers.access import Device
from freezeframe.capture.targets.base import Target, Words

__all__ = ["Progress", "PullReport", "cards_of", "gather", "pull", "report_of", "write_cards"]


Stands = Callable[[Path, Sequence[Sequence[RecordingKey]], Sequence[Tally]], None]
"""What is called as soon as a capture stands on the disk: its path, the recordings in it, how each target was read."""


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
    unchecked: tuple[str, ...] = ()
    """One line for each thing that was read twice alike, and that nothing of a device vouches for."""
    not_noted: str = ""
    """Why this host will not know that the recording is kept; empty where it does."""

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
    card: Path | None = None,
    armed: Mapping[str, Any] | None = None,
    ledger: Ledger | None = None,
    ran: datetime | None = None,
) -> PullReport:
    """Pull all recorders of a target into one capture folder.

    Args:
        target: stays open, unless it had to be opened again.
        path: the folder, ``NAME.ff``.
        freeze: freeze recorders that still run; without it they are refused.
        wait_s: how long a target that vanishes is waited for, seconds.
        progress: called often, from this thread.
        overwrite: replace a capture folder at ``path``.
        reopen: opens the target again after an outage, for a transport that does not mend itself.
        card: the card file, for devices of map 2 whose card is in no ROM and not known here.
        armed: what is known of the arming, as `freezeframe.capture.folder.card_folder.act` gives it; it is told of
            a recording of that generation alone. By default what this host has noted of it.
        ledger: where this host notes what is kept; by default the user's.
        ran: when the recorders were last seen running.
    Returns:
        The report. A target that vanished for good, or came back without the recording, leaves a
        capture of what was verified until then, with the rest as stated gaps.
    Raises:
        InputError: the folder cannot be written; nothing is left there.
        RecorderStateError: a recorder runs, or was armed during the pull; nothing is written.
        DeviceUnknownError: not our device, or one that contradicts itself.
        TargetError: no answer, or an outage before the registers were read; nothing is written.
    """
    writer = CaptureWriter(path, source=target.url, overwrite=overwrite)
    tally = Tally(progress)
    devices = gather(target, tally, freeze=freeze, wait_s=wait_s, reopen=reopen, card=card)
    book = ledger or Ledger()
    known = armed or armed_of([devices], book)
    if cards := cards_of(devices):
        return write_cards(
            path, cards, target.url, tally, book, overwrite=overwrite, armed=known, ran=ran
        )
    for device in devices:
        if isinstance(device, DeviceCapture):
            writer.add_device(device)
    generations = generations_of(devices)
    writer.tell(
        history_of(generations, tally.frozen, target.url, froze=tally.froze, armed=known, ran=ran)
    )
    return report_of(writer.commit(), [tally], [devices], book)


def cards_of(devices: Sequence[DeviceCapture] | Sequence[CardCapture]) -> list[CardCapture]:
    """Return those devices that are described by a card file: all of a target, or none."""
    return [device for device in devices if isinstance(device, CardCapture)]


def write_cards(
    path: Path | str,
    devices: Sequence[CardCapture],
    url: str,
    tally: Tally,
    ledger: Ledger,
    *,
    overwrite: bool,
    armed: Mapping[str, Any] | None = None,
    ran: datetime | None = None,
    stands: Stands | None = None,
) -> PullReport:
    """Write a capture of format 2.0 with what is known of how it came about; raises as `pull`."""
    place = Path(path)
    history = history_of(
        generations_of(devices), tally.frozen, url, froze=tally.froze, armed=armed, ran=ran
    )
    write_card_folder(place, devices, source=url, history=history, overwrite=overwrite)
    if stands is not None:
        stands(place, [recordings_in(devices)], [tally])
    return report_of(place, [tally], [devices], ledger)


def armed_of(
    of_targets: Sequence[Sequence[DeviceCapture] | Sequence[CardCapture]], ledger: Ledger
) -> Mapping[str, Any] | None:
    """Return what this host has noted of the arming of all these devices, as `act` gives it; None: not of all."""
    acts = [ledger.armed(recordings_in(devices)) for devices in of_targets if devices]
    if not acts or any(each is None for each in acts):
        return None
    last = max((each for each in acts if each is not None), key=lambda each: str(each["when"]))
    generations: dict[str, int | None] = {}
    for devices in of_targets:
        generations |= generations_of(devices)
    kept = {key: last.get(key) for key in ("what", "when", "who", "where", "by", "clock")}
    return {**kept, "generation": generations}


def gather(
    target: Target,
    tally: Tally,
    *,
    freeze: bool,
    wait_s: float,
    reopen: Callable[[], Target] | None,
    card: Path | None = None,
) -> list[DeviceCapture] | list[CardCapture]:
    """Return what all recorders of one target hold, in the order of their index; nothing is written.

    Args:
        tally: counts, and reports, how far it is.
        others: as of `pull`, as what it raises.
    """
    tally.begin("identity")
    patient = PatientTarget(target, wait_s, reopen, tally)
    try:
        patient.meet()
        devices = open_any(patient, card)
        states = settled_states(devices)
        if freeze and not all_frozen(states):
            tally.begin("freeze")
            states = freeze_all(devices)
            tally.froze = True
        refuse_running(devices, states)
        tally.frozen = datetime.now(UTC)
        recording = patient.recording = Recording(devices, states)
        plans = all_memories(devices)
        entries = [registers_of(device) for device in devices]

        tally.begin("crc")
        chunks_done = wait_for_crcs(devices, plans, tally)
        tally.begin("registers")
        registers = read_registers(recording, entries, plans, tally)
        addresses = [of_device.sample_addresses() for of_device in registers]

        memories = MemoryReader(patient, recording, plans, tally)
        samples: list[Agreed] | None = None
        missing = ""
        try:
            tally.begin("memories")
            memories.read(chunks_done)
            tally.begin("samples")
            samples = read_agreed(recording, addresses, tally)
        except RecordingLost as lost:
            # What was verified before is evidence all the same; the rest are gaps that say why.
            missing = lost.reason
        gaps = memories.gaps()
        tally.begin("writing")
        captures: list[DeviceCapture] = []
        cards: list[CardCapture] = []
        for n, of_device in enumerate(registers):
            if isinstance(of_device.device, CardDevice):
                cards.append(_card_capture(of_device.device, of_device, memories, gaps))
                continue
            sampled = samples[n] if samples else Gap(0, len(addresses[n]) // 2, missing)
            captures.append(_capture(of_device, memories, gaps, sampled))
        return cards or captures
    finally:
        if patient.inner is not target:
            patient.inner.close()  # it was opened again; the target that was given is its owner's


def is_whole(tallies: Sequence[Tally]) -> bool:
    """Return whether everything the recorders hold was read."""
    return all(tally.words_done == tally.words_total for tally in tallies)


def report_of(
    path: Path,
    tallies: Sequence[Tally],
    of_targets: Sequence[Sequence[DeviceCapture] | Sequence[CardCapture]],
    ledger: Ledger,
) -> PullReport:
    """Return what a pull from one or several targets has written at ``path``, and note that it is kept there."""
    folder = CardFolder.open(path) if is_card_folder(path) else CaptureFolder.open(path)
    return PullReport(
        path=path,
        not_noted=note_kept(ledger, path, map(recordings_in, of_targets), whole=is_whole(tallies)),
        devices=tuple(device.name for device in folder.devices),
        words=sum(tally.words_done for tally in tallies),
        words_total=sum(tally.words_total for tally in tallies),
        retries=sum(tally.retries for tally in tallies),
        outages=sum(tally.outages for tally in tallies),
        seconds=time.monotonic() - min(tally.started_s for tally in tallies),
        lost=tuple(folder.lost),
        unchecked=tuple(folder.unchecked) if isinstance(folder, CardFolder) else (),
    )


def _capture(
    registers: DeviceRegisters,
    memories: MemoryReader,
    gaps: Mapping[tuple[int, int], list[Gap]],
    samples: Agreed | Gap,
) -> DeviceCapture:
    """Return the capture of one device, with what is verified of its memories; ``samples`` are a gap
    where they were not read."""
    device = registers.device
    if not isinstance(device, Device):
        raise TypeError(f"{device.name} is a device of another map")
    table, sample_gaps = _sample_table(device.identity.sampler_depth, samples)
    return DeviceCapture(
        index=device.index,
        base=device.base,
        identity=device.identity,
        registers=registers.image,
        memories=_images(registers, memories, gaps),
        samples=table,
        sample_gaps=sample_gaps,
        not_read=registers.not_read,
        found=device.found,
    )


def _card_capture(
    device: CardDevice,
    registers: DeviceRegisters,
    memories: MemoryReader,
    gaps: Mapping[tuple[int, int], list[Gap]],
) -> CardCapture:
    return CardCapture(
        index=device.index,
        base=device.base,
        identity=device.identity,
        found=device.found,
        registers=registers.image,
        memories=_images(registers, memories, gaps),
        not_read=registers.not_read,
    )


def _images(
    registers: DeviceRegisters,
    memories: MemoryReader,
    gaps: Mapping[tuple[int, int], list[Gap]],
) -> dict[str, MemoryImage]:
    return {
        plan.name: MemoryImage(
            plan.name,
            memories.records[plan.device, plan.memory],
            *registers.end_of(plan),
            gaps[plan.device, plan.memory],
        )
        for plan in memories.plans
        if plan.device == registers.device.index
    }


def _sample_table(depth: int, samples: Agreed | Gap) -> tuple[Words | None, list[Gap]]:
    """Return the sampler's slots, ``(depth, 2)``, and its gaps; None without a sampler.

    Slots not written since arm are zeros, whatever the device's memory holds there.
    """
    if not depth:
        return None, []
    table = np.zeros((depth, 2), np.uint32)
    if isinstance(samples, Gap):
        return table, [samples] if samples.slots else []
    good = samples.good.reshape(-1, 2)
    whole = good[:, 0] & good[:, 1]
    table[: len(whole)][whole] = samples.words.reshape(-1, 2)[whole]
    return table, [
        Gap(int(slot), 1, "never read the same twice") for slot in np.flatnonzero(~whole)
    ]
