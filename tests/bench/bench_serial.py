"""SPI, UART, I2C, JTAG and parallel buses on 100 million samples in memory, against libsigrokdecode in CPU seconds."""

from __future__ import annotations

import os
import random
import shutil
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.samples import Samples
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.bus.parallel import PARALLEL
from freezeframe.decoders.contract import Decoder, OptionValue
from freezeframe.decoders.serial import i2c_encode, jtag_encode, spi_encode, uart_encode
from freezeframe.decoders.serial.i2c import I2C
from freezeframe.decoders.serial.jtag import JTAG
from freezeframe.decoders.serial.spi import SPI
from freezeframe.decoders.serial.uart import UART
from tests.bench.common import BenchResult, main, median_s
from tests.processes import run_program

RATE_HZ = 100_000_000
_SAMPLES = 100_000_000
_CUT_SAMPLES = 2_000_000  # a long time for sigrok-cli: its start is a few percent
_PIECE_B = 1 << 22  # of a file, as the readers hand them on; 33 lines are 5 B a sample there
_REPEATS = 3


@dataclass(frozen=True)
class Case:
    """A bus, both readers of it, and how each says its values."""

    name: str
    decoder: Decoder
    bus: Callable[[int], Edges]  # about so many samples, beginning and ending idle
    sigrok: str
    rows: str  # what sigrok prints to be compared
    quiet: str  # a row of which it prints nothing
    values: Callable[[dict[str, Any]], list[str]]  # the same of our tables
    asked: float | None = None
    asked_rate: float | None = None  # Msample/s
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results = _wide_bus()
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for case in CASES:
            results += measure(case, Path(folder))
    return results


def measure(case: Case, folder: Path) -> list[BenchResult]:
    """Compare the values of both readers, then their rates."""
    cut = case.bus(_CUT_SAMPLES)
    path = folder / "cut.sr"
    write_sr(cut, path)
    said, _ = sigrok_values(path, case.sigrok, case.rows)
    one = samples_of(cut)
    theirs = [line.split(": ", 1)[1] for line in said]
    for straight in (True, False):
        ours = case.values(_decode(case, one, cut, straight=straight)[0])
        assert ours == theirs, f"{case.name}: the values differ"
    _, sigrok_s = sigrok_values(path, case.sigrok, case.quiet)
    sigrok_rate = cut.end_sample / sigrok_s
    # The same traffic again and again: a block of it begins and ends idle.
    samples = np.tile(one, -(-_SAMPLES // cut.end_sample))

    def rate(straight: bool) -> float:
        times = [_decode(case, samples, cut, straight=straight)[1] for _ in range(_REPEATS)]
        return len(samples) / statistics.median(times)

    against = f"sigrok-cli, {sigrok_rate / 1e6:.2f} Msample/s of CPU"
    found = rate(straight=True)
    results = [_row(f"{case.name}, samples to tables", found, sigrok_rate, against, case.asked)]
    if case.asked_rate is not None:
        name = f"{case.name}, the same as a rate"
        results.append(_row(name, found, sigrok_rate, against, case.asked_rate, asked_of="value"))
    if case.decoder.decode_samples is None:
        return results
    found = rate(straight=False)
    return [*results, _row(f"{case.name}, over edges", found, sigrok_rate, against)]


def _wide_bus() -> list[BenchResult]:
    """A bus that sigrok cannot decode: its values against those that were put on it.

    With its clock it has 33 lines: 5 B a sample, as they stand in an .sr file and come out of the
    reader, and in the next machine word.
    """
    case = Case("", PARALLEL, partial(_parallel_bus, 32), "", "", "", _parallel_values)
    cut = case.bus(_CUT_SAMPLES)
    one = samples_of(cut)
    put = [f"{value:02x}" for value in (cut.value[1::2] >> np.uint64(1)).tolist()][:-1]
    blocks = -(-_SAMPLES // cut.end_sample)
    packed = np.ascontiguousarray(one.view(np.uint8).reshape(-1, 8)[:, :5])
    results = []
    for form, units, asked in (("5", packed, 1000.0), ("8", one, None)):
        values = case.values(_decode(case, units, cut, straight=True)[0])
        assert values == put, f"the values differ, {form} B a sample"
        samples = np.concatenate([units] * blocks)
        times = [_decode(case, samples, cut, straight=True)[1] for _ in range(_REPEATS)]
        rate = len(samples) / statistics.median(times)
        room = np.empty_like(samples)
        copy_s = median_s(partial(np.copyto, room, samples), _REPEATS, time.process_time)
        results.append(
            BenchResult(
                f"32-bit parallel, {form} B a sample, clock at a quarter of the sample rate, samples to "
                "tables",
                rate / 1e6,
                "Msample/s",
                rate * copy_s / len(samples),
                f"memory copy of the samples, {form} B each (limit)",
                asked,
                asked_of="value",
            )
        )
    return results


def _row(
    name: str,
    rate: float,
    sigrok_rate: float,
    against: str,
    asked: float | None = None,
    asked_of: Literal["ratio", "value"] = "ratio",
) -> BenchResult:
    return BenchResult(name, rate / 1e6, "Msample/s", rate / sigrok_rate, against, asked, asked_of)


def _decode(
    case: Case, samples: npt.NDArray[np.unsignedinteger[Any]], bus: Edges, *, straight: bool
) -> tuple[dict[str, Any], float]:
    """Decode samples piece by piece, straight or by way of edges; return the tables of a short
    capture and the CPU seconds."""
    import pyarrow as pa

    decoder = case.decoder
    options = decoder.option_values(case.options)
    state = decoder.new_state(options)
    # Those of the decoder that the bus does not have are not there.
    places = [channel.id.upper() for channel in decoder.channels]
    bus_names = [name.upper() for name in bus.channels]
    bits = [bus_names.index(name) if name in bus_names else -1 for name in places]
    if len(bus.channels) == 1:
        bits = [0]
    names = tuple(bus.channels[bit] if bit >= 0 else "" for bit in bits)
    whole = Samples(samples, names, tuple(bits), bus.samplerate_hz, 0)
    made: list[dict[str, Any]] = []
    size = _PIECE_B // -(-len(bus.channels) // 8)
    start = time.process_time()
    for begin in range(0, len(whole), size):
        piece = whole.cut(begin, begin + size)
        last = piece.end_sample == len(whole)
        if straight and decoder.decode_samples is not None:
            tables = decoder.decode_samples(piece, options, state, last)
        else:
            tables = decoder.decode(piece.edges(), options, state, last)
        if len(whole) < _SAMPLES:
            made.append(tables if isinstance(tables, dict) else {decoder.id: tables})
    used_s = time.process_time() - start
    kinds = made[0] if made else {}
    return {kind: pa.concat_tables(m[kind] for m in made) for kind in kinds}, used_s


def samples_of(edges: Edges) -> npt.NDArray[np.unsignedinteger[Any]]:
    lengths = np.diff(np.append(edges.sample, edges.end_sample))
    width_B = next(width for width in (1, 2, 4, 8) if 8 * width >= len(edges.channels))
    return np.repeat(edges.value.astype(f"<u{width_B}"), lengths)


def sigrok_values(path: Path, decoder: str, rows: str) -> tuple[list[str], float]:
    """Return what sigrok-cli prints, and its CPU seconds."""
    before = os.times()
    done = run_program(["sigrok-cli", "-i", path, "-P", decoder, "-A", rows])
    after = os.times()
    # libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, -signal.SIGABRT), done.stderr
    used_s = sum(after[2:4]) - sum(before[2:4])
    return done.stdout.splitlines(), used_s


def _spi_bus(samples: int) -> Edges:
    """Transfers of 1000 words, the clock at a quarter of the sample rate."""
    rng = np.random.default_rng(1)
    count = samples // 32_000
    words = rng.integers(0, 256, (count, 2, 1000))
    sent = [spi_encode.SpiTransfer(mosi, miso) for mosi, miso in words]
    return spi_encode.encode_transfers(sent, samplerate_hz=RATE_HZ, half_period_samples=2)


def _spi_values(tables: dict[str, Any]) -> list[str]:
    return [f"{word:02X}" for word in tables["spi.words"]["mosi"].to_pylist()]


def _uart_bus(samples: int) -> Edges:
    """Characters without a pause between them."""
    characters = random.Random(4).randbytes(samples // 160)
    return uart_encode.encode_characters(
        characters, samplerate_hz=RATE_HZ, baud=RATE_HZ // 16, idle_bits=0
    )


def _uart_values(tables: dict[str, Any]) -> list[str]:
    return [f"{data:02X}" for data in tables["uart"]["data"].to_pylist()]


def _i2c_bus(samples: int) -> Edges:
    """Writes of 64 bytes without a pause, 16 samples a bit."""
    rng = random.Random(2)
    sent = [
        i2c_encode.I2cTransfer(rng.randrange(8, 0x70), False, rng.randbytes(64))
        for _ in range(samples // (65 * 9 * 16))
    ]
    return i2c_encode.encode_transfers(sent, samplerate_hz=RATE_HZ, quarter_samples=4)


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
    return jtag_encode.encode_scans(sent, samplerate_hz=RATE_HZ, half_period_samples=2)


def _jtag_values(tables: dict[str, Any]) -> list[str]:
    rows = tables["jtag.scans"].to_pylist()
    values = [(row["register"], int.from_bytes(row["tdi"], "little")) for row in rows]
    return [f"{name} TDI: {tdi:064b} ({tdi:#x}), 64 bits" for name, tdi in values]


def _parallel_bus(lines: int, samples: int) -> Edges:
    """A word with each falling edge of the clock, which is a quarter of the sample rate."""
    rng = np.random.default_rng(5)
    data = rng.integers(0, 1 << lines, samples // 4, dtype=np.uint64) << np.uint64(1)
    value = np.stack([data, data | np.uint64(1)], axis=1).reshape(-1)
    names = ("CLK", *(f"D{line}" for line in range(lines)))
    return Edges(np.arange(len(value)) * 2, value, names, RATE_HZ, 0, 2 * len(value))


def _parallel_values(tables: dict[str, Any]) -> list[str]:
    # sigrok says nothing of what stands until the capture ends.
    return [f"{value:02x}" for value in tables["parallel.items"]["value"].to_pylist()[:-1]]


CASES: Sequence[Case] = (
    Case(
        "SPI, clock at a quarter of the sample rate",
        SPI,
        _spi_bus,
        "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS",
        "spi=mosi-data",
        "spi=warnings",
        _spi_values,
        1000.0,
        asked_rate=1000.0,
    ),
    Case(
        "UART, saturated, 16 samples a bit",
        UART,
        _uart_bus,
        f"uart:rx=TX:baudrate={RATE_HZ // 16}:format=hex",
        "uart=rx-data",
        "uart=rx-warnings",
        _uart_values,
        300.0,
        asked_rate=1000.0,
        options={"baud": RATE_HZ // 16},
    ),
    Case(
        "I2C, 16 samples a bit",
        I2C,
        _i2c_bus,
        "i2c:scl=SCL:sda=SDA",
        "i2c=data-write",
        "i2c=warnings",
        _i2c_values,
        300.0,
    ),
    Case(
        "JTAG, clock at a quarter of the sample rate",
        JTAG,
        _jtag_bus,
        "jtag:tck=TCK:tms=TMS:tdi=TDI:tdo=TDO",
        "jtag=bitstring-tdi",
        "jtag=pause-ir",
        _jtag_values,
        300.0,
    ),
    Case(
        "8-bit parallel, clock at a quarter of the sample rate",
        PARALLEL,
        partial(_parallel_bus, 8),
        "parallel:clk=CLK:" + ":".join(f"d{line}=D{line}" for line in range(8)),
        "parallel=items",
        "parallel=words",
        _parallel_values,
        300.0,
    ),
)


if __name__ == "__main__":
    main(run)
