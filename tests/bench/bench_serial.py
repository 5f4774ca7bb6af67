"""SPI, I2C and JTAG on 100 million samples in memory, against libsigrokdecode in CPU seconds."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.contract import Decoder
from freezeframe.decoders.serial import i2c_encode, jtag_encode, spi_encode
from freezeframe.decoders.serial.i2c import I2C
from freezeframe.decoders.serial.jtag import JTAG
from freezeframe.decoders.serial.spi import SPI

from tests.bench.common import BenchResult, main

__all__ = ["run"]

_RATE_HZ = 100_000_000
_SAMPLES = 100_000_000
_CUT_SAMPLES = 2_000_000  # a long time for sigrok-cli: its start is a few percent
_PIECE_SAMPLES = 1 << 21
_REPEATS = 3


@dataclass(frozen=True)
class _Case:
    """A bus, both readers of it, and how each says its values."""

    name: str
    decoder: Decoder
    bus: Callable[[int], Edges]  # about so many samples, beginning and ending idle
    sigrok: str
    rows: str  # what sigrok prints to be compared
    quiet: str  # a row of which it prints nothing
    values: Callable[[dict[str, Any]], list[str]]  # the same of our tables
    asked: float


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results = []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for case in _CASES:
            results += _measure(case, Path(folder))
    return results


def _measure(case: _Case, folder: Path) -> list[BenchResult]:
    cut = case.bus(_CUT_SAMPLES)
    path = folder / "cut.sr"
    write_sr(cut, path)
    said, _ = _sigrok(path, case.sigrok, case.rows)
    ours = case.values(_decode(case.decoder, _samples(cut), cut)[0])
    theirs = [line.split(": ", 1)[1] for line in said]
    assert ours == theirs, f"{case.name}: the values differ"
    _, sigrok_s = _sigrok(path, case.sigrok, case.quiet)
    # The same traffic again and again: a block of it begins and ends idle.
    samples = np.tile(_samples(cut), -(-_SAMPLES // cut.end_sample))
    times = [_decode(case.decoder, samples, cut)[1:] for _ in range(_REPEATS)]
    whole_s, decoder_s = (statistics.median(column) for column in zip(*times, strict=True))
    sigrok_rate = cut.end_sample / sigrok_s
    against = f"sigrok-cli, {sigrok_rate / 1e6:.2f} Msample/s of CPU"
    return [
        BenchResult(
            f"{case.name}, {what}",
            len(samples) / seconds / 1e6,
            "Msample/s",
            len(samples) / seconds / sigrok_rate,
            against,
            asked,
        )
        for what, seconds, asked in (
            ("samples to tables", whole_s, case.asked),
            ("edges to tables", decoder_s, None),
        )
    ]


def _decode(
    decoder: Decoder, samples: np.ndarray[Any, np.dtype[np.uint8]], bus: Edges
) -> tuple[dict[str, Any], float, float]:
    """Decode samples piece by piece; return the tables of a short capture, CPU seconds of all and
    of the decoder alone."""
    import pyarrow as pa

    options = decoder.option_values()
    state = decoder.new_state(options)
    reducer = EdgeReducer(1, range(len(bus.channels)))
    # Those of the decoder that the bus does not have are not there.
    channels = bus.channels + ("",) * (len(decoder.channels) - len(bus.channels))
    data = memoryview(samples.tobytes())
    made: list[dict[str, Any]] = []
    decoder_s = 0.0
    start = time.process_time()
    for begin in range(0, len(data), _PIECE_SAMPLES):
        end = min(begin + _PIECE_SAMPLES, len(data))
        sample, value = reducer.feed(data[begin:end])
        piece = Edges(sample, value, channels, _RATE_HZ, begin, end)
        before = time.process_time()
        tables = decoder.decode(piece, options, state, end == len(data))
        decoder_s += time.process_time() - before
        if len(data) < _SAMPLES:
            made.append(tables)
    whole_s = time.process_time() - start
    kinds = made[0] if made else {}
    return {k: pa.concat_tables(m[k] for m in made) for k in kinds}, whole_s, decoder_s


def _samples(edges: Edges) -> np.ndarray[Any, np.dtype[np.uint8]]:
    lengths = np.diff(np.append(edges.sample, edges.end_sample))
    return np.repeat(edges.value.astype(np.uint8), lengths)


def _sigrok(path: Path, decoder: str, rows: str) -> tuple[list[str], float]:
    """Return what sigrok-cli prints, and its CPU seconds."""
    before = os.times()
    done = subprocess.run(
        ["sigrok-cli", "-i", path, "-P", decoder, "-A", rows],
        capture_output=True,
        text=True,
        check=False,
    )
    after = os.times()
    # 134: libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, 134), done.stderr
    used_s = sum(after[2:4]) - sum(before[2:4])
    return done.stdout.splitlines(), used_s


def _spi_bus(samples: int) -> Edges:
    """Transfers of 1000 words, the clock at a quarter of the sample rate."""
    rng = np.random.default_rng(1)
    count = samples // 32_000
    words = rng.integers(0, 256, (count, 2, 1000))
    sent = [spi_encode.SpiTransfer(mosi, miso) for mosi, miso in words]
    return spi_encode.encode_transfers(sent, samplerate_hz=_RATE_HZ, half_period_samples=2)


def _spi_values(tables: dict[str, Any]) -> list[str]:
    return [f"{word:02X}" for word in tables["spi.words"]["mosi"].to_pylist()]


def _i2c_bus(samples: int) -> Edges:
    """Writes of 64 bytes without a pause, 16 samples a bit."""
    rng = random.Random(2)
    sent = [
        i2c_encode.I2cTransfer(rng.randrange(8, 0x70), False, rng.randbytes(64))
        for _ in range(samples // (65 * 9 * 16))
    ]
    return i2c_encode.encode_transfers(sent, samplerate_hz=_RATE_HZ, quarter_samples=4)


def _i2c_values(tables: dict[str, Any]) -> list[str]:
    rows = tables["i2c.bytes"]
    return [
        f"Data write: {data:02X}"
        for kind, data in zip(rows["kind"].to_pylist(), rows["data"].to_pylist(), strict=True)
        if kind == "data"
    ]


def _jtag_bus(samples: int) -> Edges:
    """Scans of 64 bits, the clock at a quarter of the sample rate."""
    rng = random.Random(3)
    sent = [
        jtag_encode.JtagScan(rng.random() < 0.3, 64, rng.getrandbits(64), rng.getrandbits(64))
        for _ in range(samples // (70 * 4))
    ]
    return jtag_encode.encode_scans(sent, samplerate_hz=_RATE_HZ, half_period_samples=2)


def _jtag_values(tables: dict[str, Any]) -> list[str]:
    rows = tables["jtag.scans"].to_pylist()
    values = [(row["register"], int.from_bytes(row["tdi"], "little")) for row in rows]
    return [f"{name} TDI: {tdi:064b} ({tdi:#x}), 64 bits" for name, tdi in values]


_CASES: Sequence[_Case] = (
    _Case(
        "SPI, clock at a quarter of the sample rate",
        SPI,
        _spi_bus,
        "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS",
        "spi=mosi-data",
        "spi=warnings",
        _spi_values,
        1000.0,
    ),
    _Case(
        "I2C, 16 samples a bit",
        I2C,
        _i2c_bus,
        "i2c:scl=SCL:sda=SDA",
        "i2c=data-write",
        "i2c=warnings",
        _i2c_values,
        300.0,
    ),
    _Case(
        "JTAG, clock at a quarter of the sample rate",
        JTAG,
        _jtag_bus,
        "jtag:tck=TCK:tms=TMS:tdi=TDI:tdo=TDO",
        "jtag=bitstring-tdi",
        "jtag=pause-ir",
        _jtag_values,
        300.0,
    ),
)


if __name__ == "__main__":
    main(run)
