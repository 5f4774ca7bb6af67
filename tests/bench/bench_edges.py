"""Samples to edges, and MDIO, against sigrok-cli on the same capture, after both gave equal values."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from freezeframe.capture.files.edges import EdgeReducer, Edges
from freezeframe.capture.files.sigrok_sr import read_edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.bench.common import BenchResult, main, median_s
from tests.processes import run_program

_SAMPLES = 1 << 26
_PIECE_B = 1 << 22
_FRAMES = 2_000
_HALF_PERIOD_SAMPLES = 20  # 2.5 MHz MDC, the fastest of clause 22, at 100 Msample/s


def run() -> list[BenchResult]:
    """Measure; the parts that need sigrok-cli are left out where it is not installed."""
    results = [_reduction(1e-4), _reduction(1e-2)]
    if shutil.which("sigrok-cli"):
        with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
            results += _mdio(Path(folder))
    return results


def _reduction(share: float) -> BenchResult:
    """8-bit samples of which ``share`` differ from the one before."""
    rng = np.random.default_rng(1)
    samples = np.cumsum(rng.random(_SAMPLES) < share).astype(np.uint8)
    data = memoryview(samples.tobytes())

    def ours() -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]]:
        reducer = EdgeReducer(1, range(8))
        return [reducer.feed(data[at : at + _PIECE_B]) for at in range(0, len(data), _PIECE_B)]

    def numpy() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        at = np.flatnonzero(samples[1:] != samples[:-1]) + 1
        return at, samples[at]

    at, value = numpy()
    assert np.array_equal(np.concatenate([s for s, _ in ours()])[1:], at), "other samples"
    assert np.array_equal(np.concatenate([v for _, v in ours()])[1:], value), "other values"
    seconds = median_s(ours)
    return BenchResult(
        f"samples to edges, a change in {1 / share:,.0f}",
        _SAMPLES / seconds / 1e6,
        "Msample/s",
        median_s(numpy) / seconds,
        "numpy, all samples in memory",
    )


def _mdio(folder: Path) -> list[BenchResult]:
    path = folder / "mdio.sr"
    edges, frames = write_mdio(path, 2, _FRAMES, _HALF_PERIOD_SAMPLES)
    return [_decoded(path, edges, frames), _unpacked(path, edges)]


def write_mdio(
    path: Path, seed: int, count: int, half_period_samples: int
) -> tuple[Edges, list[MdioFrame]]:
    """Write a capture of random frames, back to back; return it and the frames."""
    rng = np.random.default_rng(seed)
    frames = [
        MdioFrame(22, ("read", "write")[int(op)], int(phy), int(reg), int(data))
        for op, phy, reg, data in zip(
            rng.integers(0, 2, count),
            rng.integers(0, 32, count),
            rng.integers(0, 32, count),
            rng.integers(0, 1 << 16, count),
            strict=True,
        )
    ]
    edges = encode_frames(
        frames, samplerate_hz=100_000_000, half_period_samples=half_period_samples
    )
    write_sr(edges, path)
    return edges, frames


def _decoded(path: Path, edges: Edges, frames: list[MdioFrame]) -> BenchResult:
    start = time.perf_counter()
    said = _sigrok(path, "-P", "mdio:mdc=MDC:mdio=MDIO", "-A", "mdio=decode")
    sigrok_s = time.perf_counter() - start
    theirs = [int(line.split("READ: ")[-1].split("WRITE: ")[-1].split()[0], 16) for line in said]
    ((_, table),) = decode_file(path, ["mdio"])
    assert table["data"].to_pylist() == theirs == [f.data for f in frames], "the frames differ"
    ours_s = median_s(lambda: decode_file(path, ["mdio"]), 3)
    return BenchResult(
        "MDIO from .sr, all frames",
        edges.total_samples / ours_s / 1e6,
        "Msample/s",
        sigrok_s / ours_s,
        "sigrok-cli -P mdio",
        10.0,
    )


def _unpacked(path: Path, edges: Edges) -> BenchResult:
    start = time.perf_counter()
    # sigrok-cli reading the file and writing nothing: the cost of unpacking alone.
    _sigrok(path, "-o", "/dev/null", "-O", "binary")
    sigrok_s = time.perf_counter() - start
    assert sum(map(len, read_edges(path))) == len(edges), "not the edges that were written"
    ours_s = median_s(lambda: [len(piece) for piece in read_edges(path)], 3)
    return BenchResult(
        ".sr to edges",
        edges.total_samples / ours_s / 1e6,
        "Msample/s",
        sigrok_s / ours_s,
        "sigrok-cli reading the file",
    )


def _sigrok(path: Path, *arguments: str) -> list[str]:
    done = run_program(["sigrok-cli", "-i", path, *arguments])
    # 134: libsigrokdecode 0.5.3 can abort at its end, after complete output.
    assert done.returncode in (0, 134), done.stderr
    return done.stdout.splitlines()


if __name__ == "__main__":
    main(run)
