"""A decoder of sigrok on our SPI decoder, against sigrok-cli with its own below.

The same file and the same decoder on top; the annotations are compared before any time is quoted.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.spi_encode import SpiTransfer, encode_transfers
from tests.bench.bench_srd import seconds, sigrok_cli
from tests.bench.common import BenchResult, main

_SPEC = "spi+srd-spiflash"
_REPEATS = 5  # in turn, the best of each
_TRANSFERS, _WORDS = 200, 40
# Name, samples of a half bit: idle samples count for sigrok's own, and only words for ours.
_CAPTURES = (("100 samples a half bit", 100), ("4 samples a half bit", 4))


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        return [_against_cli(Path(folder), *capture) for capture in _CAPTURES]


def _against_cli(folder: Path, name: str, half_period_samples: int) -> BenchResult:
    path = folder / f"{half_period_samples}.sr"
    rng = np.random.default_rng(3)
    # READ (0x03), three bytes of address, data.
    transfers = [
        SpiTransfer([3, *sent], [0, *answer])
        for sent, answer in rng.integers(0, 256, (_TRANSFERS, 2, _WORDS - 1)).tolist()
    ]
    edges = encode_transfers(
        transfers, samplerate_hz=100_000_000, half_period_samples=half_period_samples
    )
    write_sr(edges, path)
    assert _ours(path) == _sigrok(path).splitlines(), "the annotations differ"
    ours, theirs = [], []
    for _ in range(_REPEATS):
        ours.append(seconds(lambda: decode_file(path, [_SPEC])))
        theirs.append(seconds(lambda: _sigrok(path)))
    return BenchResult(
        f"sigrok's spiflash on our SPI from .sr, {name}",
        edges.total_samples / min(ours) / 1e6,
        "Msample/s",
        min(theirs) / min(ours),
        "sigrok-cli -P spi,spiflash",
        1.0,
    )


def _ours(path: Path) -> list[str]:
    ((_, table),) = decode_file(path, [_SPEC])
    columns = (table[name].to_pylist() for name in ("sample", "end_sample", "source", "text"))
    return [
        f"{begin}-{end} {source}: {text}" for begin, end, source, text in zip(*columns, strict=True)
    ]


def _sigrok(path: Path) -> str:
    spi = "spi:clk=CLK:miso=MISO:mosi=MOSI:cs=CS,spiflash"
    return sigrok_cli(path, "-P", spi, "-A", "spiflash")


if __name__ == "__main__":
    main(run)
