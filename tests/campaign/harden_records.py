"""Records of a card for `tests.campaign.harden`: any memory of a small pair, with gaps, unpacked, dated and explained.

An input is a head of `_HEAD` and records of nine bytes. The head says which memory they are of, where the next record
would have gone, and what could not be read; numbers in it that do not fit are taken modulo what there is, so that
no input is refused. The other memories stay as they were.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder, DeviceCapture, Gap, MemoryImage
from freezeframe.capture.registers.layouts import EVENT, MARK, Kind
from freezeframe.capture.timebase import TimeBase
from freezeframe.decoders.trace.encode import record
from freezeframe.decoders.trace.memory import (
    Reading,
    at_earliest,
    check,
    read_memory,
    times_of,
)
from tests.campaign import harden_oracles as oracles
from tests.campaign.harden_files import Mutate, scratch
from tests.gui.made_capture import made_capture

_HEAD = struct.Struct("<BBHHHHH")  # memory, flags, write pointer; first slot and slots of two gaps
_WRAPPED, _SELECTS, _ALONE = 1, 2, 4
_RECORD_B = 9
_HELD = 4  # one in so many is held against Python's numbers
_CODES, _SOURCES = 9, 6  # that an event may have, and one more
_EDGES = (0, 1, 2, 255, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
_KINDS = tuple(int(kind) for kind in Kind)


@cache
def _capture() -> CaptureFolder:
    return made_capture(Path(scratch().name) / "records.ff")


@cache
def _memories() -> Sequence[tuple[int, str]]:
    """Return the memories that hold more than what closes them: (device, name)."""
    devices = enumerate(_capture().devices)
    held = [(at, name) for at, device in devices for name in device.memories]
    return [(at, name) for at, name in held if _image(at, name).write_ptr > 4]


def _image(device: int, name: str) -> MemoryImage:
    return _capture().devices[device].memories[name]


def seeds() -> Sequence[bytes]:
    """Return what each memory holds, whole; and one with gaps."""
    made = []
    for number, (device, name) in enumerate(_memories()):
        image = _image(device, name)
        head = _HEAD.pack(number, 0, image.write_ptr, 0, 0, 0, 0)
        made.append(head + image.records[: image.write_ptr].tobytes())
    head = _HEAD.pack(0, _ALONE, _image(*_memories()[0]).write_ptr, 20, 5, 60, 9)
    return [*made, head + made[0][_HEAD.size :]]


def _recorded(data: bytes) -> tuple[list[DeviceCapture], int, MemoryImage, int]:
    """Return the devices with the memory that an input is, which of them it is of, and the flags."""
    number, flags, pointer, *gaps = _HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0"))
    at, name = _memories()[number % len(_memories())]
    device = _capture().devices[at]
    old = device.memories[name]
    slots = len(old.records)
    bytes_ = data[_HEAD.size : _HEAD.size + old.records.size].ljust(old.records.size, b"\0")
    records = np.frombuffer(bytes_, np.uint8).reshape(-1, _RECORD_B).copy()
    stated, end = [], 0
    for first, count in zip(gaps[::2], gaps[1::2], strict=True):
        begin = end + first % slots
        end = min(slots, begin + count % slots)
        if begin < end:
            stated.append(Gap(begin, end - begin, "the link was gone"))
            records[begin:end] = 0
        end = max(begin, end)
    image = MemoryImage(name, records, pointer % (slots + 1), bool(flags & _WRAPPED), stated)
    identity = replace(device.identity, trace_mode=0) if flags & _SELECTS else device.identity
    devices = list(_capture().devices)
    devices[at] = replace(device, identity=identity, memories={**device.memories, name: image})
    return devices, at, image, flags


def read(data: bytes) -> object:
    """Unpack, date and check the records of a memory."""
    devices, at, image, _ = _recorded(data)
    reading = read_memory(devices[at], image)
    if zlib.crc32(data) % _HELD == 0:
        _hold(reading)
    problems, marks = check(reading)
    timebase = at_earliest(TimeBase.from_targets(devices, {}), [reading])
    t_ps, unc_ps = times_of(timebase, reading)
    if not len(t_ps) == len(unc_ps) == len(reading):
        raise AssertionError(f"{len(t_ps)} times of {len(reading)} records")
    return f"{len(marks) > 1} {'+'.join(sorted({str(problem.code) for problem in problems}))}"


def _hold(reading: Reading) -> None:
    """Compare the columns with the fields of each record, one number of Python (docs/formats.md, section 2)."""
    words = [int.from_bytes(record.tobytes(), "little") for record in reading.records]
    columns = reading.columns
    fields = ((columns.data, 0, 64), (columns.kind, 64, 4), (columns.dt, 68, 4))
    for column, lsb, bits in fields:
        mask = (1 << bits) - 1
        numbers = [number & mask for number in column.tolist()]
        oracles.held(numbers == [word >> lsb & mask for word in words])


def explained(data: bytes) -> object:
    """Explain a capture with such a memory, of both ends or one."""
    devices, at, _, flags = _recorded(data)
    folder = CaptureFolder(_capture().path, _capture().manifest, devices)
    alone = [devices[at].name] if flags & _ALONE else None
    told = explain(folder, alone)
    said = told.to_json()
    named = sorted({finding.diagnosis for finding in told.findings})
    return f"{said['stopped']} {'+'.join(named)}"


def changed(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Change whole records: their kinds, times, events, order; what is stated as not read; where the memory ends."""
    head = list(_HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0")))
    body = data[_HEAD.size :]
    records = [body[at : at + _RECORD_B] for at in range(0, len(body) - _RECORD_B + 1, _RECORD_B)]
    records = records or [bytes(_RECORD_B)]
    if rng.random() < 0.3:
        _other_head(rng, head, len(records))
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = int(rng.random() * len(records))
        match rng.randrange(7):
            case 0:
                records.insert(at, records[at])
            case 1 if len(records) > 1:
                del records[at : at + rng.choice((1, 1, 2, 30))]
                records = records or [bytes(_RECORD_B)]
            case 2:
                other = (at + rng.choice((1, 1, 2, 27))) % len(records)
                records[at], records[other] = records[other], records[at]
            case _:
                records[at] = _other_record(rng, records[at])
    if rng.random() < 0.8:
        head[2] = len(records)
    return _HEAD.pack(*head) + b"".join(records)


def _other_head(rng: random.Random, head: list[int], count: int) -> None:
    head[1] = rng.getrandbits(4)
    for place in range(3, 7, 2):
        head[place] = rng.randrange(count + 2)
        head[place + 1] = rng.choice((0, 1, 2, 9, 200))


def _other_record(rng: random.Random, old: bytes) -> bytes:
    """Return a record with one field changed to another that a card could have written, or nearly."""
    whole = int.from_bytes(old, "little")
    data, kind, dt = whole & (1 << 64) - 1, whole >> 64 & 15, whole >> 68 & 15
    match rng.randrange(7):
        case 0:
            kind = rng.choice(_KINDS)
        case 1:
            dt = rng.choice((0, 1, 2, 14, 15))
        case 2:
            data ^= 1 << rng.randrange(64)
        case 3:
            data = (data + rng.choice((-1, 1, 15, 16, 4096))) & (1 << 64) - 1
        case 4:
            data = rng.choice(_EDGES)
        case 5 if kind in (Kind.MARK, Kind.TIME):
            kind = int(Kind.MARK)
            data = MARK.pack(causes=rng.getrandbits(16), since_cycles=rng.getrandbits(8))
        case _:
            value = rng.choice((data & 0xFF, data & 0xFFFFFFFFFF, rng.getrandbits(40)))
            flow, source = rng.choice((0, 1, 2, 127)), rng.randrange(_SOURCES + 1)
            data = EVENT.pack(value=value, flow=flow, source=source, code=rng.randrange(_CODES))
    return record(data, kind, dt)
