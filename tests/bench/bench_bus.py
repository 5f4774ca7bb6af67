"""PCI and PCI-X: 100 million samples in memory to tables, in CPU seconds of one core.

There is no other decoder of these buses, so what they give is compared with what the bus model of the tests did, and
the speed with that of copying the samples.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.decoders.bus.pci import PCI
from freezeframe.decoders.bus.pcix import PCIX
from freezeframe.decoders.contract import Decoder
from tests.bench.common import BenchResult, main, median_s
from tests.decoders.bus import pci_model, pcix_model
from tests.decoders.bus.lines import Capture, Lines

_SAMPLES = 100_000_000
_REPEATS = 3
_PIECE_B = 1 << 22  # samples at once, as the readers of files hand over
_EDGES_AT_ONCE = 1 << 16  # and edges, as `decode` does
_HALF = 4  # samples of half a clock

_EXTENSION = {"req64", "ack64", "par64"} | {f"cbe{bit}" for bit in range(4, 8)}
_EXTENSION |= {f"ad{bit}" for bit in range(32, 64)}


def run() -> list[BenchResult]:
    return [*_pci(), *_pci_with_waits(), *_pcix()]


def _pci() -> list[BenchResult]:
    """Bursts of 16 phases and single accesses, some with waits, 8 samples a clock."""
    bus = pci_model.PciBus(1)
    for number in range(400):
        size = 16 if number % 4 else 1
        request = pci_model.Request(
            0b0111 if number % 2 else 0b0110,
            0x1000 * number,
            [(0x0101_0101 * (number + at) & 0xFFFF_FFFF, 0xF) for at in range(size)],
            [0] * size,
        )
        bus.run(request, pci_model.Answer(2, [1] + [int(number % 8 == 0)] * (size - 1)))
        bus.idle(1)
    bus.idle(2)
    want = [(truth.address, truth.data) for truth in bus.truth]
    return _rates("PCI, bursts", PCI, bus.drawn(), want)


def _pci_with_waits() -> list[BenchResult]:
    """Bursts of 8 phases each of which the target or the initiator, or both, make wait."""
    bus = pci_model.PciBus(2)
    for number in range(400):
        data = [(0x1234_5678 ^ number << at, 0xF) for at in range(8)]
        waits = [(number + at) % 3 for at in range(8)]
        request = pci_model.Request(0b0110, 0x1000 * number, data, waits)
        bus.run(request, pci_model.Answer(2, [2, *([1, 0] * 4)[1:]]))
        bus.idle(1)
    bus.idle(2)
    want = [(truth.address, truth.data) for truth in bus.truth]
    return _rates("PCI, waits in each phase", PCI, bus.drawn(), want, asked=None)


def _pcix() -> list[BenchResult]:
    """Split reads and their completions of 64 B, and writes of 256 B, 8 samples a clock."""
    bus = pcix_model.PcixBus(1)
    for number in range(200):
        tag = (number % 32) << 24
        read = pcix_model.Plan(0b1110, 0x80 * number, tag | 0x0100 | 64, 0, (), 2, ends="split")
        data = range(number, number + 16)
        answer = pcix_model.Plan(0b1100, tag | 0x0100, 0x0200 | 64, 0, data, 2)
        write = pcix_model.Plan(0b1111, 0x100 * number, tag | 0x0100, 1, range(64), 2)
        for plan in (read, replace(answer, address=answer.address | read.address & 0x7F), write):
            first, _, end = bus.run(plan)
            bus.truth.append(_truth(plan, first, end))
    bus.idle(3)
    want = [(truth.address, truth.data) for truth in bus.truth]
    return _rates("PCI-X", PCIX, bus.drawn(), want)


def _truth(plan: pcix_model.Plan, first: int, end: int) -> pcix_model.Truth:
    address = plan.address & 0x7F if plan.command == 0b1100 else plan.address
    none = ("", 0, "", 0)
    return pcix_model.Truth(
        "",
        address,
        False,
        False,
        *none[:2],
        *none[2:],
        list(plan.data),
        0,
        "",
        "",
        0,
        first,
        end,
        -1,
    )


def _rates(
    name: str,
    decoder: Decoder,
    clocks: Sequence[Lines],
    want: list[tuple[int, list[int]]],
    asked: float | None = 200.0,
) -> list[BenchResult]:
    """Measure over the same traffic again and again, once it is right: from samples, from edges."""
    channels = [channel.id for channel in decoder.channels]
    # A block begins and ends idle, so one can follow the other.
    block = Capture(clocks, half=_HALF).edges(channels, sorted(_EXTENSION))
    one = _samples(block)
    options = decoder.option_values()
    tables = decoder.decode(block, options, decoder.new_state(options), True)
    rows = tables[f"{decoder.id}.transactions"].to_pylist()
    assert [(row["address"], row["data"]) for row in rows] == want, f"{decoder.id}: values differ"
    assert {row["kind"] for row in rows} == {"transaction"}
    assert decoder.decode_samples is not None
    straight = decoder.decode_samples(one, options, decoder.new_state(options), True)
    assert all(straight[kind].equals(tables[kind]) for kind in tables), (
        f"{decoder.id}: forms differ"
    )

    blocks = -(-_SAMPLES // len(one))
    samples = replace(one, units=np.tile(one.data, blocks))
    limit = len(samples) / _copy_s(samples.data)
    results = []
    forms: tuple[tuple[str, Callable[[], float]], ...] = (
        ("samples", lambda: _samples_s(decoder, samples)),
        ("edges", lambda: _edges_s(decoder, block, blocks)),
    )
    for form, used_s in forms:
        used_s()  # compiles, and touches the memory for the first time
        rate = len(samples) / statistics.median(used_s() for _ in range(_REPEATS))
        results.append(
            BenchResult(
                f"{name}, 8 samples a clock, {form} to tables",
                rate / 1e6,
                "Msample/s",
                rate / limit,
                "memory copy of the samples, 8 B each (limit)",
                asked,
                asked_of="value",
            )
        )
    return results


def _copy_s(data: npt.NDArray[Any]) -> float:
    room = np.empty_like(data)
    return median_s(lambda: np.copyto(room, data), _REPEATS, time.process_time)


def _samples(edges: Edges) -> Samples:
    """Return the capture as it would be recorded, the lines that are there side by side."""
    levels = np.repeat(edges.value, np.diff(np.append(edges.sample, edges.end_sample)))
    there = [place for place, channel in enumerate(edges.channels) if channel]
    data: npt.NDArray[np.uint64] = np.zeros(len(levels), dtype=np.uint64)
    bits = [-1] * len(edges.channels)
    for bit, place in enumerate(there):
        data |= (levels >> np.uint64(place) & np.uint64(1)) << np.uint64(bit)
        bits[place] = bit
    return Samples(data, edges.channels, tuple(bits), edges.samplerate_hz, 0)


def _samples_s(decoder: Decoder, samples: Samples) -> float:
    """Return the CPU seconds of decoding samples in pieces."""
    assert decoder.decode_samples is not None
    options = decoder.option_values()
    state = decoder.new_state(options)
    at_once = _PIECE_B // samples.data.itemsize
    start = time.process_time()
    for begin in range(0, len(samples), at_once):
        piece = samples.cut(begin, begin + at_once)
        decoder.decode_samples(piece, options, state, piece.end_sample == len(samples))
    return time.process_time() - start


def _edges_s(decoder: Decoder, block: Edges, blocks: int) -> float:
    """Return the CPU seconds of decoding the edges of so many blocks, without making them."""
    options = decoder.option_values()
    state = decoder.new_state(options)
    together = max(1, _EDGES_AT_ONCE // len(block))
    seconds = 0.0
    for first in range(0, blocks, together):
        count = min(together, blocks - first)
        offsets = (first + np.arange(count, dtype=np.int64)) * block.end_sample
        piece = replace(
            block,
            sample=(offsets[:, None] + block.sample).reshape(-1),
            value=np.tile(block.value, count),
            begin_sample=first * block.end_sample,
            end_sample=(first + count) * block.end_sample,
        )
        start = time.process_time()
        decoder.decode(piece, options, state, first + count == blocks)
        seconds += time.process_time() - start
    return seconds


if __name__ == "__main__":
    main(run)
