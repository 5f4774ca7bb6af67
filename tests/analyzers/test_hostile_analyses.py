"""Throughput, back-pressure and credits on recordings and registers that lie: an answer or a note, never a crash."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.credits.analysis import CREDITS
from freezeframe.analyzers.pressure.analysis import PRESSURE
from freezeframe.analyzers.throughput.analysis import THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import (
    CaptureFolder,
    CaptureWriter,
    DeviceCapture,
    MemoryImage,
    RegisterImage,
)
from freezeframe.capture.registers import names
from tests.analyzers.emulated import pulled

LIED_ABOUT = (
    "frozen_flow.",
    "sampler.",
    "frozen_counters.",
    "ctl.sample_period",
    "occupancy",
    "ctl.stall",
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> CaptureFolder:
    return pulled(tmp_path_factory.mktemp("hostile"), 4, limit_us=150).folder


def damaged(source: CaptureFolder, path: Path, seed: int, share: float) -> CaptureView:
    """Write the capture again with a share of its log, trace and sampler random, and registers of the books, too."""
    generator = np.random.default_rng(seed)
    offsets = {
        offset
        for offset, _ in source.devices[0].registers
        if names.describe(offset).startswith(LIED_ABOUT)
    }
    writer = CaptureWriter(path, source="emu:")
    for device in source.devices:
        memories = {}
        for name, memory in device.memories.items():
            records = memory.records.copy()
            hit = generator.random(len(records)) < share
            records[hit] = generator.integers(0, 256, (int(hit.sum()), 9), dtype=np.uint8)
            memories[name] = MemoryImage(name, records, memory.write_ptr, memory.wrapped)
        words = dict(device.registers)
        for offset in offsets & words.keys():
            if generator.random() < share:
                words[offset] = int(generator.integers(0, 1 << 32))
        assert device.samples is not None
        samples = device.samples.copy()
        hit = generator.random(len(samples)) < share
        samples[hit] = generator.integers(0, 1 << 32, (int(hit.sum()), 2), dtype=np.uint32)
        writer.add_device(
            DeviceCapture(
                device.index, device.base, device.identity, RegisterImage(words), memories, samples
            )
        )
    return CaptureView(CaptureFolder.open(writer.commit()))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("share", [0.02, 0.5, 1.0])
def test_whatever_was_recorded_there_is_a_result_that_is_json(
    source: CaptureFolder, tmp_path: Path, seed: int, share: float
) -> None:
    view = damaged(source, tmp_path / "damaged.ff", seed, share)
    for analysis in (THROUGHPUT, PRESSURE, CREDITS):
        result = analysis.run(view)
        assert json.loads(json.dumps(result.to_json(), allow_nan=False))["analysis"] == analysis.id
        for track in result.intervals:
            assert (track.t_end_ps >= track.t_ps).all()
        for series in result.series:
            assert (np.diff(series.t_ps) >= 0).all()
            assert len(series.t_ps) == len(series.value)
