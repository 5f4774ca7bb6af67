"""PCI and PCI-X: 100 million samples from edges in memory to tables, in CPU seconds of one core.

There is no other decoder of these buses, so what they give is compared with what the bus model of the tests did.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from freezeframe.decoders.bus.pci import PCI
from freezeframe.decoders.bus.pcix import PCIX
from freezeframe.decoders.contract import Decoder

from tests.bench.common import BenchResult, main
from tests.decoders.bus import pci_model, pcix_model
from tests.decoders.bus.lines import Capture, Lines

__all__ = ["run"]

_SAMPLES = 100_000_000
_REPEATS = 3
_HALF = 4  # samples of half a clock

_EXTENSION = {"req64", "ack64", "par64"} | {f"cbe{bit}" for bit in range(4, 8)}
_EXTENSION |= {f"ad{bit}" for bit in range(32, 64)}


def run() -> list[BenchResult]:
    return [_pci(), _pcix()]


def _pci() -> BenchResult:
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
    rate = _edges_rate(PCI, bus.drawn(), "pci.transactions", want)
    return _asked("PCI, 8 samples a clock, edges to tables", rate, 200.0)


def _pcix() -> BenchResult:
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
    rate = _edges_rate(PCIX, bus.drawn(), "pcix.transactions", want)
    return _asked("PCI-X, 8 samples a clock, edges to tables", rate, 200.0)


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


def _edges_rate(
    decoder: Decoder, clocks: Sequence[Lines], kind: str, want: list[tuple[int, list[int]]]
) -> float:
    """Return samples a CPU second over the same traffic again and again, once it is right."""
    capture = Capture(clocks, half=_HALF)
    channels = [channel.id for channel in decoder.channels]
    # A block begins and ends idle, so one can follow the other.
    block = capture.edges(channels, sorted(_EXTENSION))
    options = decoder.option_values()
    rows = decoder.decode(block, options, decoder.new_state(options), True)[kind].to_pylist()
    assert [(row["address"], row["data"]) for row in rows] == want, f"{decoder.id}: values differ"
    assert {row["kind"] for row in rows} == {"transaction"}
    blocks = -(-_SAMPLES // block.end_sample)
    # About as many edges at once as `decode` hands over.
    together = max(1, (1 << 16) // len(block))
    times = []
    for _ in range(_REPEATS):
        state = decoder.new_state(options)
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
        times.append(seconds)
    return blocks * block.end_sample / statistics.median(times)


def _asked(name: str, rate: float, asked: float) -> BenchResult:
    rate /= 1e6
    against = f"{asked:.0f} Msample/s asked"
    return BenchResult(name, rate, "Msample/s", rate / asked, against, asked, "value")


if __name__ == "__main__":
    main(run)
