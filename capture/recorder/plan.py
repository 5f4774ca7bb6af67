"""What there is to read of a device, from what it says of itself: memories, chunks, registers.

Source: docs/formats.md, sections 1 and 2; firmware-hooks/registers/freezeframe.rdl.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from freezeframe.capture.card.device import CardDevice
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.card.registers import CRC_WORDS
from freezeframe.capture.errors import DeviceUnknownError
from freezeframe.capture.folder.content import RegisterImage
from freezeframe.capture.folder.records import WINDOW_WORDS
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.recorder.state import read_state, read_steady
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import Device, Recorder, RegisterAt
from freezeframe.capture.registers.layouts import Memory
from freezeframe.capture.registers.register_map import RegisterMap

ChunksDone = dict[tuple[int, int], int]
"""By (device, memory): the chunks of which the device has computed the CRC, from the first on."""

_CRC_STALL_S = 5.0
_PAUSE_S = 0.001
_CRC_ENTRIES_A_MEMORY = 64
_SELECT = 0

_LIVE = (
    "id.bus_errors",
    "id.bus_error_addr",
    "ctl.snapshot_seq",
    "ctl.index",
    "provoke.inject_count",
    "snapshot.",
)
"""Registers that may change after the freeze: with time, or by accesses of any program."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Slots of one memory under one entry of the device's CRC table. Addresses of the target.

    ``crc`` is None of a device without a table: two readings in place of it must agree.
    """

    device: int
    memory: int
    number: int
    first_slot: int
    slots: int
    window: int
    crc: int | None


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """One trace memory of a device, and its chunks in slot order."""

    device: int
    memory: int
    name: str
    slots: int
    chunks: tuple[Chunk, ...]
    place: int  # of its pointers among those of the device


def all_memories(devices: Sequence[Device] | Sequence[CardDevice]) -> list[MemoryPlan]:
    """Return the trace memories of all devices; raises what `memories_of` does."""
    plans = []
    for device in devices:
        if isinstance(device, CardDevice):
            plans += memories_of_card_device(device)
        else:
            plans += memories_of(device, _select_tap(device))
    return plans


def memories_of_card_device(device: CardDevice) -> list[MemoryPlan]:
    """Return the trace memories of a card, in the order of its CRC table.

    Raises:
        DeviceUnknownError: it has a CRC table that is too small for its memories.
    """
    where = f"{device.target.url}: device {device.name}"
    with_crc = Feature.CRC_TABLE in device.identity.built
    each = device.identity.chunk
    entry = 0
    plans = []
    for memory in device.memories:
        window = device.window(f"trace.{memory.name}")
        table = device.window("crc_table") if with_crc else 0
        chunks = tuple(
            Chunk(
                device=device.index,
                memory=memory.number,
                number=number,
                first_slot=first,
                slots=min(each, memory.depth - first),
                window=window + 4 * WINDOW_WORDS * first,
                crc=table + 4 * (entry + number) if with_crc else None,
            )
            for number, first in enumerate(range(0, memory.depth, each))
        )
        entry += len(chunks)
        if with_crc and entry > CRC_WORDS:
            raise DeviceUnknownError(
                f"{where}: a chunk of {each} records makes more than the {CRC_WORDS} entries of the "
                "CRC table; the device contradicts itself"
            )
        plans.append(
            MemoryPlan(
                device.index, memory.number, memory.name, memory.depth, chunks, memory.tap.number
            )
        )
    return plans


def memories_of(device: Device, select_tap: int) -> list[MemoryPlan]:
    """Return the trace memories that a device has.

    Args:
        select_tap: the tap recorded, where one memory serves one selected tap (mode SELECT).
    Raises:
        DeviceUnknownError: the sizes the device states do not fit its own register map.
    """
    identity = device.identity
    taps = [select_tap] if identity.trace_mode == _SELECT else range(Memory.EVENT_LOG)
    # A device may be built without an event log (id.event_depth 0), but not without a tap.
    logs = [Memory.EVENT_LOG] if identity.event_depth else []
    return [_memory(device, memory) for memory in (*taps, *logs)]


def _memory(device: Device, memory: int) -> MemoryPlan:
    identity, name = device.identity, device.roles.memories[memory]
    slots, each = identity.depth(memory), identity.chunk
    room = device.map.window(f"trace_{name}").words // WINDOW_WORDS
    if not 0 < slots <= room:
        raise DeviceUnknownError(
            f"{device.target.url}: device {device.name}: {name} has {slots} records, and the map "
            f"has room for 1..{room}; the device contradicts itself"
        )
    if each < 1 or -(-slots // each) > _CRC_ENTRIES_A_MEMORY:
        raise DeviceUnknownError(
            f"{device.target.url}: device {device.name}: a chunk of {each} records, and {name} has "
            f"{slots}: the CRC table has {_CRC_ENTRIES_A_MEMORY} entries for a memory"
        )
    window, table = device.window(f"trace_{name}"), device.window("crc_table")
    chunks = tuple(
        Chunk(
            device=device.index,
            memory=memory,
            number=number,
            first_slot=first,
            slots=min(each, slots - first),
            window=window + 4 * WINDOW_WORDS * first,
            crc=table + 4 * (memory * _CRC_ENTRIES_A_MEMORY + number),
        )
        for number, first in enumerate(range(0, slots, each))
    )
    return MemoryPlan(device.index, memory, name, slots, chunks, memory)


def wait_for_crcs(
    devices: Sequence[Recorder], plans: Sequence[MemoryPlan], tally: Tally
) -> ChunksDone:
    """Wait until the devices have computed the CRCs of all chunks, or do not go on with it.

    All of a device without a CRC table are done: it computes none.
    """
    wanted = {(plan.device, plan.memory): len(plan.chunks) for plan in plans}
    none = {
        (c.device, c.memory): wanted[c.device, c.memory]
        for p in plans
        for c in p.chunks
        if c.crc is None
    }
    done: ChunksDone = {}
    grown_s = time.monotonic()
    while True:
        before = done
        done = {
            (device.index, memory): state.chunks_done
            for device in devices
            for memory, state in enumerate(read_state(device).memories.values())
        } | none
        if done == before and all(done[key] >= chunks for key, chunks in wanted.items()):
            return done
        if done != before:
            grown_s = time.monotonic()
        elif time.monotonic() - grown_s > _CRC_STALL_S:
            return done
        time.sleep(_PAUSE_S)
        tally.tell()


def registers_of(device: Device | CardDevice) -> tuple[RegisterAt, ...]:
    """Return the registers that stand still at freeze, in address order.

    Left out: what the map marks as unsafe, what goes on changing, and flows the device has not got.
    """
    if isinstance(device, CardDevice):
        return tuple(e for e in device.dump_registers() if not e.name.startswith(_LIVE))
    return _still(device.map, device.identity.flows_count)


def _select_tap(device: Device) -> int:
    (options,) = read_steady(device, ("ctl.options",))
    image = RegisterImage.from_values({"ctl.options": options})
    return image.field("ctl.options", "select_tap") or 0


@cache
def _still(map: RegisterMap, flows: int) -> tuple[RegisterAt, ...]:
    still = [
        RegisterAt(info.name, indices, map.offset(info.name, *indices))
        for info in map.registers
        if "r" in info.access and not info.skip_dump and not info.name.startswith(_LIVE)
        for indices in names.elements(info)
        if not (info.name.startswith("frozen_flow.") and indices[0] >= flows)
    ]
    return tuple(sorted(still, key=lambda entry: entry.offset))
