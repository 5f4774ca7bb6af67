"""Speed of iWARP out of packets: a file in the page cache to FPDUs and operations, beside tshark's plain summary of it.

What is asked is 3 million packets a second of 128 B and 2 GB/s of full frames on one core, and 25 times tshark; of the
whole process, from pcap to Parquet of operations, 15 times tshark writing its summary to a file.
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
from tests.bench.common import BenchResult, main, median_s
from tests.bench.iwarp_capture import write_sends

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
    folder: Path, packets: int, payload_B: int, asked: float, unit: str
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
    value = packets / ours / 1e6 if unit == "Mpacket/s" else size_B / ours / 1e9
    whole_s(path, folder / "warm.parquet")
    whole = whole_s(path, folder / "operations.parquet")
    name = f"iWARP, a Send of {payload_B} B in each packet"
    return [
        BenchResult(name, value, unit, peer / ours, "tshark's summary", asked, "value"),
        BenchResult(f"{name}: times tshark", value, unit, peer / ours, "tshark's summary", 25.0),
        BenchResult(
            f"{name}: whole process to Parquet of operations", size_B / whole / 1e9, "GB/s", peer / whole,
            "tshark's summary", 15.0,
        ),
    ]  # fmt: skip


def run() -> list[BenchResult]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            *bench_file(Path(folder), 1_000_000, 48, 3.0, "Mpacket/s"),
            *bench_file(Path(folder), 300_000, 1436, 2.0, "GB/s"),
        ]


if __name__ == "__main__":
    main(run)
