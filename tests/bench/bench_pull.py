"""A full verified pull over UDP, against LiteX's client at its default of one word a request.

Both read from the same server in the same run; the server is the emulated pair in a process of its own, frozen.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.pull import PullReport, pull
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.targets.base import Words, open_target
from freezeframe.gui.cli.card_process import card_process
from tests.bench.common import BenchResult, main, median_s

LITEX_WORDS = 3_000
TAPS = ("tx_enq", "tx_deq", "rx_enq", "rx_deq")


def run() -> list[BenchResult]:
    """Pull both devices of a frozen pair; compare words a second, after comparing the words."""
    with (
        tempfile.TemporaryDirectory() as folder,
        card_process("emulate", "word-omitted", 1, Path(folder) / "truth.json", 0) as (url, _),
    ):
        target = open_target(url)
        devices = open_devices(target)
        for device in devices:
            wait_for(device, "frozen", 60.0)
        reports: list[PullReport] = []

        def pull_all() -> None:
            reports.append(pull(target, Path(folder) / f"{len(reports)}.ff"))

        pull_s = median_s(pull_all, 7)
        capture = CaptureFolder.open(Path(folder) / "0.ff")
        words = sum(
            3 * len(memory.records) for d in capture.devices for memory in d.memories.values()
        )
        taps = np.concatenate([_window(devices[0], name) for name in TAPS])
        taps_s = median_s(lambda: target.read(taps), 7)
        ours = target.read(taps)
        litex_words_s, theirs = _litex(url, taps[:LITEX_WORDS])
        assert theirs == [int(w) for w in ours[:LITEX_WORDS]], (
            "the two clients read different words"
        )
        target.close()
    return [
        BenchResult(
            "four trace memories of 2048 records, words read over UDP Etherbone",
            len(taps) / taps_s,
            "words/s",
            len(taps) / taps_s / litex_words_s,
            f"LiteX CommUDP, one word a request ({litex_words_s:,.0f} words/s)",
            30,
        ),
        BenchResult(
            "full verified pull of both devices into a synced capture folder",
            words / pull_s,
            "words/s",
            words / pull_s / litex_words_s,
            f"LiteX CommUDP, words only, nothing checked or written; {pull_s * 1e3:.0f} ms a pull",
            30,
        ),
    ]


def _window(device: Device, tap: str) -> Words:
    start = np.uint32(device.window(f"trace_{tap}"))
    every = np.arange(4 * device.identity.tap_depth, dtype=np.uint32)
    read: Words = every[every % 4 != 3]  # the fourth word of a record is always 0
    return np.asarray(start + np.uint32(4) * read, np.uint32)


def _litex(url: str, addresses: Words) -> tuple[float, list[int]]:
    from litex.tools.remote.comm_udp import CommUDP

    host, _, port = url.removeprefix("etherbone://").partition(":")
    comm = CommUDP(server=host, port=0)  # it binds the port it sends to, which our server has
    comm.open(probe=False)
    comm.port = int(port)
    try:
        values = [comm.read(int(a)) for a in addresses]
        rates = []
        for _ in range(3):
            start = time.perf_counter()
            for address in addresses:
                comm.read(int(address))
            rates.append(len(addresses) / (time.perf_counter() - start))
    finally:
        comm.close()
    return sorted(rates)[1], values


if __name__ == "__main__":
    main(run)
