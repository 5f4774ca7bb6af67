"""Whole processes on 100 million dense samples of UART and SPI, from .sr and from raw samples to Parquet.

Against sigrok-cli's processor time on the same kind of file of 8 million samples, its values compared first; and the
writing of the rows against pyarrow writing the same table with the same recipe.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.parquet import read_table

from freezeframe.capture.files.edges import Edges
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.parquet import TableWriter
from tests.bench.bench_serial import CASES, RATE_HZ, Case, samples_of, sigrok_values
from tests.bench.common import BenchResult, main, median_s

_BLOCK_SAMPLES, _SIGROK_SAMPLES, _SAMPLES = 2_000_000, 8_000_000, 100_000_000
_ASKED, _WRITE_ASKED = 90.0, 1 / 1.1
_REPEATS = 3


def run() -> list[BenchResult]:
    """Measure; nothing where sigrok-cli is not installed."""
    if shutil.which("sigrok-cli") is None:
        return []
    results: list[BenchResult] = []
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as folder:
        for case in CASES:
            if case.decoder.id in ("uart", "spi"):
                results += _measure(case, Path(folder))
    return results


def _measure(case: Case, folder: Path) -> list[BenchResult]:
    block = case.bus(_BLOCK_SAMPLES)
    one = samples_of(block)
    cut = folder / "cut.sr"
    write_tiled(cut, block, one, -(-_SIGROK_SAMPLES // len(one)))
    theirs = [line.split(": ", 1)[1] for line in sigrok_values(cut, case.sigrok, case.rows)[0]]
    place = folder / "rows.parquet"
    _decode(cut, case, place)
    assert case.values(_tables(place, case)) == theirs, f"{case.name}: the values differ"
    sigrok_s = statistics.median(
        sigrok_values(cut, case.sigrok, case.quiet)[1] for _ in range(_REPEATS)
    )
    sigrok_rate = len(one) * -(-_SIGROK_SAMPLES // len(one)) / sigrok_s
    blocks = -(-_SAMPLES // len(one))
    whole, raw = folder / "whole.sr", folder / "whole.bin"
    write_tiled(whole, block, one, blocks)
    with raw.open("wb") as file:
        for _ in range(blocks):
            file.write(one.tobytes())
    results = []
    channels = "+".join(block.channels)
    for path, form in ((whole, ""), (raw, f"binary:channels={len(block.channels)},rate={RATE_HZ}")):
        names = () if not form else tuple(enumerate(block.channels))
        used_s = median_s(partial(_decode, path, case, place, form, names), _REPEATS, _children_s)
        rate = len(one) * blocks / used_s
        results.append(
            BenchResult(
                f"{case.name}: {path.suffix} of 100 M samples ({channels}) to Parquet, whole process",
                rate / 1e6,
                "Msample/s",
                rate / sigrok_rate,
                f"sigrok-cli from .sr, {sigrok_rate / 1e6:.2f} Msample/s of CPU",
                _ASKED,
            )
        )
    for name, table in _tables(place, case).items():
        if len(table) > 100_000:
            results.append(_writing(f"{case.name}: {name}", table, folder))
    return results


def write_tiled(path: Path, edges: Edges, one: npt.NDArray[Any], times: int) -> None:
    """Write a session whose samples are those of ``edges``, ``one`` as bytes, again and again."""
    write_sr(edges, path)
    with zipfile.ZipFile(path) as session:
        kept = {name: session.read(name) for name in session.namelist() if "logic" not in name}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as session:
        for name, content in kept.items():
            session.writestr(name, content)
        for number in range(times):
            session.writestr(f"logic-1-{number + 1}", one.tobytes())


def _decode(
    path: Path, case: Case, place: Path, form: str = "", names: tuple[tuple[int, str], ...] = ()
) -> None:
    options = ",".join(f"{key}={value}" for key, value in case.options.items())
    spec = f"{case.decoder.id}:{options}" if options else case.decoder.id
    command = [
        sys.executable,
        "-m",
        "freezeframe",
        "decode",
        str(path),
        "-d",
        spec,
        "-o",
        str(place),
        "--force",
    ]
    command += ["--format", form] if form else []
    for number, name in names:
        command += ["--channel", f"{name}={number}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _tables(place: Path, case: Case) -> dict[str, pa.Table]:
    several = {
        path.name.split(".", 1)[1].removesuffix(".parquet"): path
        for path in place.parent.glob(f"{place.stem}.{case.decoder.id}.*.parquet")
    }
    return {name: read_table(path) for name, path in (several or {case.decoder.id: place}).items()}


def _writing(name: str, table: pa.Table, folder: Path) -> BenchResult:
    """Write the rows by our writer and by pyarrow's, with one recipe, in row groups of the same size."""
    groups = [group.unify_dictionaries() for group in _groups(table)]

    def ours() -> None:
        with TableWriter(folder / "ours.parquet", table.schema) as writer:
            for group in groups:
                writer.write(group)

    recipe = TableWriter(folder / "ours.parquet", table.schema).recipe

    def theirs() -> None:
        with pq.ParquetWriter(folder / "theirs.parquet", table.schema, **recipe) as writer:
            for group in groups:
                writer.write_table(group)

    ours_s, theirs_s = (median_s(call, _REPEATS, _own_s) for call in (ours, theirs))
    assert (folder / "ours.parquet").read_bytes() == (folder / "theirs.parquet").read_bytes()
    return BenchResult(
        f"{name}, {len(table):,} rows written",
        len(table) / ours_s / 1e6,
        "Mrow/s",
        theirs_s / ours_s,
        "pyarrow with the same recipe",
        _WRITE_ASKED,
    )


def _groups(table: pa.Table, rows: int = 1 << 20) -> list[pa.Table]:
    return [table.slice(at, rows).combine_chunks() for at in range(0, len(table), rows)]


def _children_s() -> float:
    return sum(os.times()[2:4])


def _own_s() -> float:
    return sum(os.times()[:2])


if __name__ == "__main__":
    main(run)
