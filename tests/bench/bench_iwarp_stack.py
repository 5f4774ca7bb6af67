"""iWARP in user space against bare TCP on loopback: both ends ours, the same threads and system calls a message.

Both are measured in turns within one run. The TCP program is the faster of one that calls ``sendall`` and one that
calls ``sendmsg`` with the pieces of a segment; a thread of its own receives and hands over through a queue, as here.
"""

from __future__ import annotations

from freezeframe.gui.cli.work.iwarp_compare import (
    GATHER,
    OFF,
    ON,
    TCP,
    Comparison,
    faster,
    middle,
    ratio,
)
from tests.bench.common import BenchResult, main

SIZE_B = 65_536
COUNT, ROUNDS = 250, 101
"""Short rounds, and many of them: what else the machine does meets all that is compared alike."""


def run() -> list[BenchResult]:
    """Measure streams of 64 KB RDMA Writes without and with CRC, and half round trips of 4 octets."""
    with Comparison() as comparison:
        streams = comparison.streams(SIZE_B, COUNT, ROUNDS)
        pings = comparison.pings(4, 75, ROUNDS)
    tcp = faster(streams, TCP, GATHER)
    results = [
        BenchResult(
            f"iWARP on loopback, 64 KB RDMA Writes, {name}",
            1000 * SIZE_B / middle(streams, name),
            "MB/s",
            1 / ratio(streams, name, tcp),
            f"{tcp}, the faster of two ({1000 * SIZE_B / middle(streams, tcp):,.0f} MB/s)",
            asked,
        )
        for name, asked in ((OFF, 0.95), (ON, 0.85))
    ]
    return results + [
        BenchResult(
            f"iWARP on loopback, 4-octet RDMA Writes there and back, {name}",
            1e9 / middle(pings, name) / 2,
            "round trips/s",
            1 / ratio(pings, name, TCP),
            f"bare TCP, 4 octets ({middle(pings, TCP) / 1000:.1f} us a half; ours {middle(pings, name) / 1000:.1f})",
            0.8,  # a half round trip of at most 1.25 times TCP's
        )
        for name in (OFF, ON)
    ]


if __name__ == "__main__":
    main(run)
