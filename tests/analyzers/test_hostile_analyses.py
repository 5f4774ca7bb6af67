"""Analyses of recordings that are damaged, reordered, cut or lie: an answer or a note, never an exception."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from freezeframe.analyzers.contract import Analysis
from freezeframe.analyzers.declarations import CREDITS, DMA, LATENCY, PRESSURE, THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder, CaptureWriter, RegisterImage
from freezeframe.capture.registers import names
from tests.analyzers.bench_pair import Pair
from tests.analyzers.emulated import pulled
from tests.analyzers.latency.test_latency import post

LIED_ABOUT = (
    "frozen_flow.",
    "sampler.",
    "frozen_counters.",
    "ctl.sample_period",
    "occupancy",
    "ctl.stall",
)

Records = npt.NDArray[np.uint8]
Damage = Callable[[Records, random.Random], Records]


def flipped(records: Records, draw: random.Random) -> Records:
    """Bits of one record in ten."""
    for _ in range(len(records) // 10):
        records[draw.randrange(len(records)), draw.randrange(9)] ^= 1 << draw.randrange(8)
    return records


def reordered(records: Records, draw: random.Random) -> Records:
    order = list(range(len(records)))
    for _ in range(60):
        a, b = draw.randrange(len(order)), draw.randrange(len(order))
        order[a], order[b] = order[b], order[a]
    return records[order]


def noise(records: Records, draw: random.Random) -> Records:
    return np.frombuffer(draw.randbytes(records.size), np.uint8).reshape(records.shape).copy()


def repeated(records: Records, draw: random.Random) -> Records:
    """The same stretch of events and words, over and over: numbers that come again and again."""
    begin = draw.randrange(len(records) - 40)
    return np.tile(records[begin : begin + 37], (len(records) // 37 + 1, 1))[: len(records)]


def numbers(records: Records, draw: random.Random) -> Records:
    """Sequence numbers of headers and descriptors that lie."""
    chosen = np.flatnonzero((records[:, 8] & 15 == 5) | (records[:, 8] & 15 == 1))
    for row in chosen.tolist():
        records[row, 3:6] = [draw.randrange(256) for _ in range(3)]
    return records


def assert_told(analysis: Analysis, view: CaptureView) -> None:
    """Assert that a result goes through JSON, in order of time, and each figure has a value or a reason."""
    result = analysis.run(view)
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["analysis"] == analysis.id
    for track in result.intervals:
        assert (track.t_end_ps >= track.t_ps).all()
    for series in result.series:
        assert (np.diff(series.t_ps) >= 0).all()
        assert len(series.t_ps) == len(series.value)
    if analysis in (LATENCY, DMA):
        for figure in result.figures:
            assert figure.value is not None or figure.note, figure.name


@pytest.mark.parametrize("lost", [False, True], ids=["all registers", "registers lost"])
@pytest.mark.parametrize("damage", [flipped, reordered, noise, repeated, numbers])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_damaged_recording_gives_a_result(
    tmp_path: Path, damage: Damage, seed: int, lost: bool
) -> None:
    pair = Pair(seed=seed, depth=512)
    pair.traffic(30)
    pair.traffic(4, sender="B")
    post(pair)
    for number in range(20):
        pair.event("B", 62_000_000 + 400_000 * number, "NOTE", "remote", 100 + number)
        pair.event("B", 62_010_000 + 400_000 * number, "IRQ", "raised", 1)
        pair.event("B", 62_100_000 + 400_000 * number, "IRQ", "enabled", number % 3)
    if lost:
        pair.unread |= {("A", "pair.status", 1), ("B", "ctl.kinds", 4)}
    whole = pair.write(tmp_path / "whole.ff")
    draw = random.Random(seed)
    writer = CaptureWriter(tmp_path / "hurt.ff", source="emu:")
    for device in whole.devices:
        memories = {
            name: replace(memory, records=damage(np.array(memory.records), draw))
            for name, memory in device.memories.items()
        }
        writer.add_device(replace(device, memories=memories))
    view = CaptureView(CaptureFolder.open(writer.commit()))
    for analysis in (LATENCY, DMA):
        assert_told(analysis, view)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> CaptureFolder:
    return pulled(tmp_path_factory.mktemp("hostile"), 4, limit_us=150).folder


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_random_records_samples_and_registers_give_a_result(
    source: CaptureFolder, tmp_path: Path, seed: int, share: float
) -> None:
    generator = np.random.default_rng(seed)
    writer = CaptureWriter(tmp_path / "damaged.ff", source="emu:")
    for device in source.devices:
        memories = {}
        for name, memory in device.memories.items():
            records = memory.records.copy()
            hit = generator.random(len(records)) < share
            records[hit] = generator.integers(0, 256, (int(hit.sum()), 9), dtype=np.uint8)
            memories[name] = replace(memory, records=records)
        words = {
            offset: int(generator.integers(0, 1 << 32))
            if names.describe(offset).startswith(LIED_ABOUT) and generator.random() < share
            else word
            for offset, word in device.registers
        }
        assert device.samples is not None
        samples = device.samples.copy()
        hit = generator.random(len(samples)) < share
        samples[hit] = generator.integers(0, 1 << 32, (int(hit.sum()), 2), dtype=np.uint32)
        writer.add_device(
            replace(device, registers=RegisterImage(words), memories=memories, samples=samples)
        )
    view = CaptureView(CaptureFolder.open(writer.commit()))
    for analysis in (THROUGHPUT, PRESSURE, CREDITS):
        assert_told(analysis, view)
