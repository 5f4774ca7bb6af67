"""latency and dma of recordings that are damaged, reordered, cut or lie: an answer or a note, never an exception."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.dma.analysis_code import dma
from freezeframe.analyzers.latency.analysis_code import latency
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder, CaptureWriter
from tests.analyzers.bench_pair import Pair
from tests.analyzers.latency.test_latency import post

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


def recording(tmp_path: Path, damage: Damage, seed: int, lost: bool) -> CaptureView:
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
    return CaptureView(CaptureFolder.open(writer.commit()))


def checked(result: AnalysisResult) -> None:
    """A result must go through JSON, its figures have a value or a reason."""
    json.dumps(result.to_json(), allow_nan=False)
    for figure in result.figures:
        assert figure.value is not None or figure.note, figure.name


@pytest.mark.parametrize("lost", [False, True], ids=["all registers", "registers lost"])
@pytest.mark.parametrize("damage", [flipped, reordered, noise, repeated, numbers])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_damaged_recording_gives_a_result(
    tmp_path: Path, damage: Damage, seed: int, lost: bool
) -> None:
    view = recording(tmp_path, damage, seed, lost)
    checked(latency(view))
    checked(dma(view))
