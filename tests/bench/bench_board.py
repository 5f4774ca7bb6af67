"""The simulated board: how long a verified pull takes, and how fast it simulates while somebody reads.

Cycles of the board are counted by its own counter snapshots, one every 2^14 bus cycles of card A, and its CPU seconds
by the kernel. The pull that is asked for is the fastest of several, in wall time: other programs only add to it.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from freezeframe.capture.recorder.agreed import Recording
from freezeframe.capture.recorder.chunks import MemoryReader
from freezeframe.capture.recorder.control import wait_for
from freezeframe.capture.recorder.patience import PatientTarget
from freezeframe.capture.recorder.plan import memories_of
from freezeframe.capture.recorder.progress import Tally
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers import names
from freezeframe.capture.registers.access import Device, open_devices
from freezeframe.capture.targets.base import open_target
from tests.bench.common import BenchResult, main, median_s
from tests.board.boards import program, running

PULL_MS = 40
PULLS = 10
LEAST_OF_FREE_RUN = 0.5
MEASURED_S = 4.0
SNAPSHOT_LOG2 = 14
SEQ_WRAP = 1 << 32


def run() -> list[BenchResult]:
    """Pull from a frozen board; then let a clean one run freely, and again while a client reads."""
    program()
    return [*_frozen(), *_running()]


def _frozen() -> list[BenchResult]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running("--fault", "word-omitted", "--seed", "1") as board,
    ):
        target = open_target(board.url)
        devices = open_devices(target)
        for device in devices:
            wait_for(device, "frozen", 120.0)
        numbers = count()

        def pull_all() -> None:
            pull(target, Path(folder) / f"{next(numbers)}.ff")

        pull_all()  # waits until the CRC tables are ready
        taps = memories_of(devices[0], 0)[:4]
        patient = PatientTarget(target, 5.0)

        def read_taps() -> None:
            tally = Tally()
            # No device whose recording is looked at again after each batch: only the memories count.
            reader = MemoryReader(patient, Recording([], []), taps, tally)
            reader.read({(plan.device, plan.memory): len(plan.chunks) for plan in taps})
            assert tally.retries == 0
            assert tally.words_done == sum(4 * plan.slots for plan in taps)

        board_s, client_s = _cpu_s(board.process.pid), time.process_time()
        taps_s = min(median_s(read_taps, 1) for _ in range(PULLS))
        board_s = (_cpu_s(board.process.pid) - board_s) / (
            2 * PULLS
        )  # of each two one is not counted
        client_s = (time.process_time() - client_s) / (2 * PULLS)
        pull_s = median_s(pull_all, 5)
        single_s = median_s(lambda: target.read([0]), 201)
        target.close()
    return [
        BenchResult(
            "sim-board: verified pull of four memories of 2048 records",
            1 / taps_s,
            "pulls/s",
            PULL_MS / 1e3 / taps_s,
            f"{PULL_MS} ms; {taps_s * 1e3:.0f} ms a pull; CPU: board {board_s * 1e3:.0f} ms, "
            f"client {client_s * 1e3:.0f} ms",
            1,
        ),
        BenchResult(
            "sim-board: full verified pull of both devices into a synced capture folder",
            1 / pull_s,
            "pulls/s",
            PULL_MS / 1e3 / pull_s,
            f"{PULL_MS} ms; {pull_s * 1e3:.0f} ms a pull of ten memories and all registers",
        ),
        BenchResult(
            "sim-board: one register, one request",
            1 / single_s,
            "reads/s",
            1.0,
            f"itself; {single_s * 1e6:.0f} us a read",
        ),
    ]


def _running() -> list[BenchResult]:
    with running("--fault", "none", "--seed", "1") as board:
        target = open_target(board.url)
        first, other = open_devices(target)
        for device in (first, other):
            _write(device, "ctl.cause_mask", 0)  # a clean run has stalls that would freeze it
            _write(device, "ctl.snapshot_log2", SNAPSHOT_LOG2)

        def nothing() -> None:
            time.sleep(0.02)

        def read() -> None:
            read_state(first)
            first.counters()

        time.sleep(0.5)
        rates: dict[str, list[float]] = {"free": [], "read": []}
        for _ in range(2):
            rates["free"].append(_cycles_a_cpu_s(board.process.pid, first, nothing))
            rates["read"].append(_cycles_a_cpu_s(board.process.pid, first, read))
        state = read_state(first).state
        assert state == "armed", f"the board was to run freely and is {state}"
        target.close()
    free, reading = sum(rates["free"]) / 2, sum(rates["read"]) / 2
    return [
        BenchResult(
            "sim-board: bus cycles simulated, running freely",
            free,
            "cycles/CPU s",
            1.0,
            "itself",
        ),
        BenchResult(
            "sim-board: bus cycles simulated while a client reads status and counters",
            reading,
            "cycles/CPU s",
            reading / free,
            "running freely",
            LEAST_OF_FREE_RUN,
        ),
    ]


def _cycles_a_cpu_s(process: int, device: Device, work: Callable[[], None]) -> float:
    began_s, began = _cpu_s(process), _snapshots(device)
    end_s = time.monotonic() + MEASURED_S
    while time.monotonic() < end_s:
        work()
    passed = (_snapshots(device) - began) % SEQ_WRAP
    return passed * (1 << SNAPSHOT_LOG2) / (_cpu_s(process) - began_s)


def _snapshots(device: Device) -> int:
    return int(device.target.read([device.base + names.offset("ctl.snapshot_seq")])[0])


def _write(device: Device, name: str, word: int) -> None:
    device.target.write(device.base + names.offset(name), [word])


def _cpu_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime, stime


if __name__ == "__main__":
    main(run)
