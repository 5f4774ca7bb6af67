"""CAN on 100 million samples in memory, by way of edges, against libsigrokdecode in CPU seconds."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.serial import can_encode
from freezeframe.decoders.serial.can import CAN
from tests.bench.bench_serial import RATE_HZ, Case, measure
from tests.bench.common import BenchResult, main


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results = []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for case in _CASES:
            results += measure(case, Path(folder))
    return results


def _can_bus(samples: int) -> Edges:
    """Frames of 8 octets as close as they may be, 16 samples a bit."""
    rng = random.Random(7)
    frames = [
        can_encode.CanFrame(rng.randrange(1 << 29), rng.randbytes(8), extended=True)
        for _ in range(samples // (16 * 150))
    ]
    return can_encode.encode_frames(
        frames, samplerate_hz=RATE_HZ, nominal_bitrate=RATE_HZ // 16, idle_bits=3
    )


def _can_values(tables: dict[str, Any]) -> list[str]:
    return [
        f"Data byte {place}: {octet:#04x}"
        for data in tables["can"]["data"].to_pylist()
        for place, octet in enumerate(data)
    ]


_CASES: Sequence[Case] = (
    Case(
        "CAN, saturated, 16 samples a bit",
        CAN,
        _can_bus,
        f"can:can_rx=CAN_RX:nominal_bitrate={RATE_HZ // 16}",
        "can=data",
        "can=warnings",
        _can_values,
        100.0,
        options={"nominal_bitrate": RATE_HZ // 16, "fast_bitrate": RATE_HZ // 16},
    ),
)


if __name__ == "__main__":
    main(run)
