"""Packets from a file in the page cache: read, streams of TCP rebuilt, tables written; against memory and tshark."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from freezeframe.capture.packets.source import packet_blocks
from freezeframe.decoders.net.packets import ETHERNET_PACKETS
from freezeframe.decoders.net.packets_code import decode_packets
from freezeframe.decoders.net.tcp_streams import TcpStreams
from tests.bench.common import FAST_COPY_B_S, BenchResult, copied_B_s, main, median_s
from tests.capture.packets import build

_CONNECTIONS = 100
_SMALL_B, _FULL_B = 128, 1514  # frames
_FILE_B = 100_000_000
_ASKED_PACKETS, _ASKED_B = (
    3e6,
    2e9,
)  # a second into a protocol over TCP, where memory copies at 20 GB/s
_TIMES_TSHARK = 25


def _file(path: Path, frame_B: int) -> int:
    """Write a pcap of some size, of connections that take turns; return its packets."""
    payload = bytes(frame_B - 54)
    rounds = _FILE_B // ((frame_B + 16) * _CONNECTIONS)
    parts = [build.pcap([])]
    for turn in range(rounds):
        segments = [
            build.tcp((f"10.0.0.{n + 1}", 5), ("10.1.0.1", 80), turn * len(payload), payload)
            for n in range(_CONNECTIONS)
        ]
        frames = [(turn * 1_000_000 + n, build.ethernet(s)) for n, s in enumerate(segments)]
        parts.append(build.pcap(frames)[24:])
    path.write_bytes(b"".join(parts))
    return rounds * _CONNECTIONS


def _read(path: Path) -> int:
    return sum(len(block) for block, _ in packet_blocks(path))


def _streams(path: Path) -> int:
    streams = TcpStreams()
    return sum(int(streams.feed(block, last).length.sum()) for block, last in packet_blocks(path))


def _table(path: Path) -> int:
    options = ETHERNET_PACKETS.option_values()
    return sum(
        len(decode_packets(block, options, None, last)) for block, last in packet_blocks(path)
    )


def _process(*command: str) -> float:
    """Return the wall time of a program, the least of three."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return min(times)


def run() -> list[BenchResult]:
    """Measure; what is read is counted before a time is taken."""
    results = []
    copy_B_s = copied_B_s()
    with TemporaryDirectory() as place:
        for name, frame_B in (("128 B", _SMALL_B), ("1,514 B", _FULL_B)):
            path = Path(place) / f"{frame_B}.pcap"
            count = _file(path, frame_B)
            assert _read(path) == count
            assert _streams(path) == count * (frame_B - 54)
            assert _table(path) == count
            size_B = count * frame_B
            for what, call in (("read", _read), ("TCP streams", _streams), ("ethernet table", _table)):  # fmt: skip
                seconds = median_s(lambda c=call, p=path: c(p), clock=time.process_time)  # type: ignore[misc]
                against = f"memory copy, {copy_B_s / 1e9:.1f} GB/s (limit)"
                ratio, asked = size_B / seconds / copy_B_s, None
                value, unit = count / seconds / 1e6, "Mpackets/s"
                if frame_B == _FULL_B:
                    value, unit = size_B / seconds / 1e9, "GB/s"
                if what == "TCP streams":
                    least_B_s = _ASKED_PACKETS * frame_B if frame_B == _SMALL_B else _ASKED_B
                    asked = least_B_s / FAST_COPY_B_S
                results.append(
                    BenchResult(f"{what}, frames of {name}", value, unit, ratio, against, asked)
                )
            tshark = shutil.which("tshark")
            if tshark is None or frame_B != _SMALL_B:
                continue
            theirs = _process(tshark, "-n", "-r", str(path))
            ours = _process(
                sys.executable, "-m", "freezeframe", "decode", str(path), "-d", "tcp",
                "-o", f"{place}/o.parquet", "--force",
            )  # fmt: skip
            what = f"whole process, TCP to Parquet, frames of {name}"
            against = "tshark's summary of the same file"
            rate = count / ours / 1e6
            results.append(
                BenchResult(what, rate, "Mpackets/s", theirs / ours, against, _TIMES_TSHARK)
            )
    return results


if __name__ == "__main__":
    main(run)
