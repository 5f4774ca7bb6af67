"""Samples and settings for decoders of sigrok, for `tests.campaign.harden`: through the jail, as users' go.

An input is a head of `_HEAD` and samples of eight lines, an octet each. The head says which decoder, which of its
options have which values (right ones, and such as it never heard of), which line is which channel, and the rate. All
installed decoders that take wires are asked. Each runs in a child of the worker, as those do that are tried for a
proposal; one input in `_STACKED` goes through the stream of a stack, whose worker is its own.
"""

from __future__ import annotations

import os
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.serial import i2c_encode, spi_encode, uart_encode
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from freezeframe.decoders.srd.adapter import SrdStep
from freezeframe.decoders.srd.catalogue import SrdDescription, read_catalogue
from freezeframe.decoders.srd.location import SrdLocation, find_sigrok
from freezeframe.decoders.srd.stream import SrdStream
from freezeframe.decoders.srd.trials import SrdTrial, SrdTrials
from tests.campaign.harden_files import Mutate

_HEAD = struct.Struct("<BHHB")  # decoder, seed of the options, seed of the channels, rate
_LINES = tuple("abcdefgh")
_RATES_HZ = (1, 9_600, 10**6, 24 * 10**6, 10**9, 10**12)
_STACKED = 64
_ODD: tuple[Any, ...] = (
    "",
    "x",
    "\x00",
    "é" * 300,
    -1,
    0,
    1 << 31,
    (1 << 63) - 1,
    -(1 << 63),
    0.0,
    1e300,
)
_TICKS_S = 1 / os.sysconf("SC_CLK_TCK")


@cache
def _sigrok() -> tuple[SrdLocation, Sequence[SrdDescription], Sequence[SrdDescription]]:
    location = find_sigrok()
    every = list(read_catalogue(location).decoders.values())
    wires = [d for d in every if d.inputs == ("logic",)]
    return location, wires, [d for d in every if d.inputs and d.inputs != ("logic",)]


@cache
def _trials() -> SrdTrials:
    return SrdTrials(_sigrok()[0])


def _spent_of(pid: int) -> float:
    """Return what a process and its children that have ended took of the processor, in seconds (proc(5), stat)."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) * _TICKS_S


def others_s() -> float:
    """Return the seconds of the processor that workers have taken so far."""
    worker = _trials()._worker
    return (
        os.times().children_user
        + os.times().children_system
        + (_spent_of(worker._process.pid) if worker is not None else 0.0)
    )


def seeds() -> Sequence[bytes]:
    """Return real signals for the decoders that know them; nothing where sigrok is not installed."""
    signals = {
        "i2c": i2c_encode.encode_transfers([i2c_encode.I2cTransfer(0x50, False, b"\x01\x02")], samplerate_hz=10**6),
        "spi": spi_encode.encode_transfers([spi_encode.SpiTransfer((0x9F, 1), (0, 0xEF))], samplerate_hz=10**6),
        "uart": uart_encode.encode_characters(b"Freeze", samplerate_hz=10**6, baud=115200),
        "mdio": encode_frames([MdioFrame(22, "read", 1, 1, 0x782D)], samplerate_hz=10**6),
    }  # fmt: skip
    names = [described.id for described in _sigrok()[1]]
    made = []
    for name, edges in signals.items():
        if name in names:
            samples = np.zeros(edges.end_sample, np.uint8)
            for begin, value in zip(edges.sample.tolist(), edges.value.tolist(), strict=True):
                samples[begin:] = value
            made.append(_HEAD.pack(names.index(name), 0, 0, 2) + samples.tobytes()[:6000])
    return made


def run(data: bytes) -> object:
    """Decode samples, and return how many rows came of it.

    Raises:
        InputError: the decoder failed, in its words.
    """
    number, options, channels, rate = _HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0"))
    location, wires, stackable = _sigrok()
    described = wires[number % len(wires)]
    samples = np.frombuffer(data[_HEAD.size :] or b"\0", np.uint8)
    changes = np.flatnonzero(np.diff(samples, prepend=~samples[:1]))
    rate_hz = _RATES_HZ[rate % len(_RATES_HZ)]
    edges = Edges(changes, samples[changes].astype(np.uint64), _LINES, rate_hz, 0, len(samples))
    given = _options(described, options)
    lines = _channels(described, channels)
    if zlib.crc32(data) % _STACKED == 0:
        above = [d for d in stackable if set(d.inputs) & set(described.outputs)][:1]
        steps = [
            SrdStep(described.id, given),
            *(SrdStep(d.id, _options(d, options)) for d in above),
        ]
        stream = SrdStream(location, steps, [channel for channel, _ in lines])
        piece = edges.select([line for _, line in lines])
        return (
            f"{'+'.join(step.id for step in steps)} {len(stream.feed(piece, last=True).start) > 0}"
        )
    (rows,) = _trials().run(edges, [SrdTrial(described.id, given, dict(lines))])
    if rows.error:
        raise InputError(f"{described.id}: {rows.error}")
    return f"{described.id} {len(rows.begin) > 0}"


def _options(described: SrdDescription, seed: int) -> dict[str, Any]:
    """Return values for the options of a decoder; those it declares for seed 0."""
    rng = random.Random(seed)
    given = {}
    for option in described.options:
        usual: tuple[Any, ...] = option.values or (option.default,)
        given[option.id] = option.default
        if seed and rng.random() < 0.5:
            same = [value for value in _ODD if type(value) is type(option.default)]
            given[option.id] = rng.choice([*usual, *same, *(_ODD if rng.random() < 0.1 else ())])
    return given


def _channels(described: SrdDescription, seed: int) -> list[tuple[str, str]]:
    """Return a line for each channel that has one: in order for seed 0, else any, also the same one twice."""
    rng = random.Random(seed)
    chosen = []
    for number, channel in enumerate(described.channels):
        line = _LINES[number % len(_LINES)] if not seed else rng.choice(_LINES)
        if (not seed or not channel.optional or rng.random() < 0.5) and (
            not seed or rng.random() < 0.98
        ):
            chosen.append((channel.id, line))
    return chosen or [(described.channels[0].id, "a")]


def changed(rng: random.Random, data: bytes, mutate: Mutate) -> bytes:
    """Return another decoder, its settings, and levels that go on as lines do."""
    head = list(_HEAD.unpack(data[: _HEAD.size].ljust(_HEAD.size, b"\0")))
    samples = bytearray(data[_HEAD.size :])
    for _ in range(rng.choice((1, 2, 3))):
        rng.choice(_CHANGES)(rng, head, samples)
    return _HEAD.pack(*head) + bytes(samples[:8192])


def _other_decoder(rng: random.Random, head: list[int], samples: bytearray) -> None:
    head[0] = rng.randrange(256)


def _other_settings(rng: random.Random, head: list[int], samples: bytearray) -> None:
    head[rng.choice((1, 2))] = rng.choice((0, rng.randrange(1 << 16)))


def _other_rate(rng: random.Random, head: list[int], samples: bytearray) -> None:
    head[3] = rng.randrange(len(_RATES_HZ))


def _noise(rng: random.Random, head: list[int], samples: bytearray) -> None:
    samples[:] = rng.randbytes(rng.choice((0, 1, 2, 100, 2000)))


def _stretches(rng: random.Random, head: list[int], samples: bytearray) -> None:
    stretch = rng.choice((1, 2, 8, 87))
    samples[:] = b"".join(bytes([level]) * stretch for level in rng.randbytes(2000 // stretch))


def _clocked(rng: random.Random, head: list[int], samples: bytearray) -> None:
    """Put a clock on a line, and noise that changes with it on the others."""
    clock = 1 << rng.randrange(8)
    samples[:] = b"".join(
        bytes([level & ~clock, level | clock]) for level in rng.randbytes(rng.choice((64, 1000)))
    )


def _upset(rng: random.Random, head: list[int], samples: bytearray) -> None:
    for _ in range(rng.choice((1, 4, 30))):
        if samples:
            samples[rng.randrange(len(samples))] ^= 1 << rng.randrange(8)


_CHANGES: Sequence[Callable[[random.Random, list[int], bytearray], None]] = (
    _other_decoder, _other_decoder, _other_settings, _other_settings, _other_rate, _noise, _stretches, _clocked,
    _upset, _upset,
)  # fmt: skip
