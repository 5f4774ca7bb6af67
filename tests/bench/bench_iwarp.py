"""Speed of iWARP out of packets: a file in the page cache to FPDUs and operations, beside tshark's plain summary of it.

What is asked is 3 million packets a second of 128 B and 2 GB/s of full frames, of a core on which a copy of memory far
larger than any cache runs at 20 GB/s, so as a ratio to that copy; and 25 times tshark. Of the whole process,
from a pcap of 1 GB to Parquet of operations, 15 times tshark writing its summary to a file.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from freezeframe.capture.packets.source import packet_blocks
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from tests.bench.common import FAST_COPY_B_S, BenchResult, copied_B_s, main, median_s
from tests.bench.iwarp_capture import FPDU_B, HEADERS_B, write_sends

core_s = partial(median_s, repeats=3, clock=time.process_time)
_OPTIONS = IWARP.option_values({})


def decoded(path: Path) -> tuple[int, int, int]:
    """Return FPDUs, operations and broken rules of a file."""
    state = IwarpState(_OPTIONS)
    counts = dict.fromkeys(("iwarp.fpdus", "iwarp.operations", "iwarp.events"), 0)
    for block, last in packet_blocks(path):
        tables = decode_iwarp(block, _OPTIONS, state, last)
        for kind in counts:
            counts[kind] += len(tables[kind])
    fpdus, operations, events = counts.values()
    return fpdus, operations, events


def children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tshark_s(path: Path, summary: Path) -> float:
    """Return the processor time of tshark's plain summary, after counting what it found."""
    before = children_cpu_s()
    with summary.open("wb") as out:
        subprocess.run(
            ["tshark", "-n", "-r", path], stdout=out, stderr=subprocess.DEVNULL, check=True
        )
    return children_cpu_s() - before


def whole_s(path: Path, place: Path) -> float:
    """Return the processor time of the program that writes operations as Parquet."""
    command = [sys.executable, "-m", "freezeframe", "decode", str(path), "-d", "iwarp:fpdus=no"]
    before = children_cpu_s()
    subprocess.run([*command, "-o", str(place), "--force"], stdout=subprocess.DEVNULL, check=True)
    return children_cpu_s() - before


def bench_file(
    folder: Path, packets: int, payload_B: int, asked_B_s: float, copied: float
) -> list[BenchResult]:
    """Sends of one size: rates in memory and of the whole process, beside tshark."""
    path, summary = folder / f"{payload_B}.pcap", folder / "summary.txt"
    write_sends(path, packets, payload_B)
    if decoded(path) != (packets, packets, 0):
        raise AssertionError(f"{decoded(path)}: not all FPDUs and operations, or a broken rule")
    ours = core_s(lambda: decoded(path))
    peer = tshark_s(path, summary)
    if (seen := summary.read_bytes().count(b"DDP/RDMA")) != packets:
        raise AssertionError(f"tshark shows {seen} packets of iWARP in place of {packets}")
    size_B = path.stat().st_size
    value, unit = (
        (packets / ours / 1e6, "Mpacket/s") if payload_B < 128 else (size_B / ours / 1e9, "GB/s")
    )
    whole_s(path, folder / "warm.parquet")
    whole = whole_s(path, folder / "operations.parquet")
    name = f"iWARP, a Send of {payload_B} B in each packet"
    return [
        BenchResult(
            name, value, unit, size_B / ours / copied, f"memory copy, {copied / 1e9:.1f} GB/s (limit)",
            asked_B_s / FAST_COPY_B_S,
        ),
        BenchResult(f"{name}: times tshark", value, unit, peer / ours, "tshark's summary", 25.0),
        BenchResult(
            f"{name}: whole process to Parquet of operations", size_B / whole / 1e9, "GB/s", peer / whole,
            "tshark's summary", 15.0,
        ),
    ]  # fmt: skip


def run() -> list[BenchResult]:
    copied = copied_B_s()
    with tempfile.TemporaryDirectory() as folder:
        return [
            *bench_file(Path(folder), 1_000_000, 48, 3e6 * (16 + HEADERS_B + FPDU_B + 48), copied),
            *bench_file(Path(folder), 700_000, 1436, 2e9, copied),
        ]


if __name__ == "__main__":
    main(run)
