"""One run of the diagnosis campaign: a card, a fault, a load and a seed, through pull and explanation.

Each run is an emulated pair (or the simulated board) behind a real UDP Etherbone server; the recording is pulled over
the socket, written to a capture folder, and explained from that folder alone. Only then is the truth file opened.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.emulator.faults.registry import FAULTS as REGISTERED

FAULTS = tuple(name for name in REGISTERED if name != "none")
"""The emulated pair and the simulated board have all of them."""

LOADS = ("light", "medium", "saturating")

CLEAN_RUN_PS = 400_000_000  # how long a clean run goes on before the host freezes it: 400 us
CLEAN_SNAPSHOTS = 4  # the same on the board, in counter snapshots of 164 us
BOARD_LIMIT_S = 120.0
LIMIT_PS = 40_000_000_000  # a run that has not shown its fault after 40 ms never will
SETTLE_PS = 2_000_000_000  # after a freeze, until the CRC tables are ready


class Job(NamedTuple):
    """``load`` is one of `LOADS`, or empty: by the seed. ``ends``: explain from each end alone as well.

    ``fault`` may be two, joined by ``+``. ``profile``: of the emulated pair, ``through``: of the switch in between.
    """

    on: str  # "emulator" or "board"
    fault: str
    load: str
    seed: int
    ends: bool = True
    profile: str = "forth"
    through: str = ""


@dataclass
class Run:
    """What was injected, and what the explanation said of both ends and of each alone."""

    fault: str
    seed: int
    truth: dict[str, Any]
    causes: dict[str, list[str]]
    said: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # "both", "A", "B"
    error: str = ""
    load: str = ""
    emulate_s: float = 0.0
    pull_s: float = 0.0
    explain_s: float = 0.0


def run_one(job: Job) -> Run:
    """Run a card until its fault shows, pull over UDP, explain from the folder, and only then read the truth."""
    with tempfile.TemporaryDirectory(prefix="ff-campaign-") as folder:
        try:
            return _run_in(Path(folder), job)
        # One broken run must not end the campaign; it is counted as wrong.
        except Exception as error:
            return Run(
                job.fault, job.seed, {}, {}, error=f"{type(error).__name__}: {error}", load=job.load
            )


def _run_in(folder: Path, job: Job) -> Run:
    from freezeframe.analyzers.explain import explain
    from freezeframe.capture.folder import CaptureFolder
    from freezeframe.capture.recorder.pull import pull
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices
    from freezeframe.capture.targets.base import open_target

    truth_path = folder / "truth.json"
    start = time.perf_counter()
    card = _simulated if job.on == "board" else _emulated
    with card(job, truth_path) as url:
        emulated = time.perf_counter()
        capture = folder / "run.ff"
        target = open_target(url)
        pull(target, capture, freeze=job.on == "board")
        causes = {d.name: list(read_state(d).causes) for d in open_devices(target)}
        target.close()
    pulled = time.perf_counter()
    opened = CaptureFolder.open(capture)
    said = {"both": explain(opened)}
    if job.ends:
        said |= {end: explain(opened, devices=[end]) for end in "AB"}
    explained = time.perf_counter()
    truth = json.loads(truth_path.read_text()) if truth_path.exists() else {}
    return Run(
        job.fault, job.seed, truth, causes,
        {end: [f.to_json() for f in e.findings] for end, e in said.items()}, load=job.load,
        emulate_s=emulated - start, pull_s=pulled - emulated, explain_s=explained - pulled,
    )  # fmt: skip


@contextmanager
def _emulated(job: Job, truth: Path) -> Iterator[str]:
    """Yield the URL of an emulated pair that has frozen: by itself, or by its host once the fault had time to show."""
    from freezeframe.capture.recorder.control import freeze
    from freezeframe.capture.registers.access import open_devices
    from freezeframe.emulator.target import EmulatorTarget
    from tests.capture.serving import serving

    # A host that freezes in time is near: what it reads and writes costs it no simulated time.
    emulator = EmulatorTarget(
        job.profile, job.fault, job.seed, truth, load=job.load or None, access_ps=0,
        through=job.through or None,
    )  # fmt: skip
    if job.fault == "none":
        emulator.run_until_frozen(CLEAN_RUN_PS)
    elif not emulator.run_until_evident(LIMIT_PS):
        raise RuntimeError("the fault did not show")
    if not emulator.frozen:
        for device in open_devices(emulator):
            freeze(device)
        emulator.run_until_frozen(SETTLE_PS)
    emulator.advance(SETTLE_PS)
    with serving(emulator) as url:
        yield url


@contextmanager
def _simulated(job: Job, truth: Path) -> Iterator[str]:
    """Yield the URL of a simulated board, the same way."""
    from freezeframe.capture.recorder.control import wait_for
    from freezeframe.capture.recorder.state import read_state
    from freezeframe.capture.registers.access import open_devices
    from freezeframe.capture.targets.base import open_target
    from tests.board.boards import running

    # A host that freezes in time is near the card, here as well; over the socket it comes some 100 us late.
    with running(
        "--fault", job.fault, "--seed", str(job.seed), "--truth", str(truth), "--freeze-when-evident"
    ) as board:  # fmt: skip
        target = open_target(board.url)
        devices = open_devices(target)
        if job.fault == "none":
            while devices[0].read("ctl.snapshot_seq") < CLEAN_SNAPSHOTS:
                if read_state(devices[0]).state == "frozen":
                    break
                time.sleep(0.005)
        else:
            for device in devices:
                wait_for(device, "frozen", BOARD_LIMIT_S)
        target.close()
        yield board.url
