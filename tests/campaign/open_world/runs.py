"""One run of the open world: a fault, a load and a seed on the usual card or on a random one, to the answers.

The recording is pulled in this process and explained from its folder, from both ends and from each alone; then the
truth is looked at. Each answer becomes one flat record, a line of JSON in the campaign's file.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.state import read_state
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.open_world.table import ENTRIES
from freezeframe.emulator.target import EmulatorTarget
from tests.campaign.open_world.decidable import UPSETS, decided_by
from tests.campaign.open_world.geometries import as_toml, geometry
from tests.campaign.open_world.held import held_at, reached
from tests.campaign.open_world.judge import judged

LISTED, UNLISTED, GEOMETRIES = 1, 2, 3
"""The three worlds."""

USUAL = "forth"
LIMIT_PS = (
    20_000_000_000  # a fault that has not shown itself after 20 ms is a run without an answer
)
CLEAN_PS = 300_000_000
POST_PS = (
    60_000_000_000  # from a host's freeze to standing still: a memory may wait for many records
)
SETTLE_PS = 10_000_000_000  # until the CRC tables of the largest memories are ready
SHIPPED = Path(__file__).parents[3] / "firmware-hooks" / "cards" / "forth.toml"
_SAID_PPM = 100
FOLDER = "/dev/shm" if Path("/dev/shm").is_dir() else None


class Job(NamedTuple):
    """``load`` is empty where the seed decides; ``card`` the seed of a random geometry, -1 for the usual card."""

    world: int
    fault: str
    load: str
    seed: int
    card: int = -1


@dataclass(frozen=True, slots=True)
class Taken:
    """A recording that was pulled, with its truth and how long each part took (processor seconds).

    ``reached``: the struck card's event log reaches back to the last injection; None without one.
    """

    folder: CaptureFolder
    truth: dict[str, Any]
    causes: dict[str, list[str]]
    reached: bool | None
    emulate_s: float
    pull_s: float


class NotShown(RuntimeError):
    """The fault did not come within the time that a run has."""


def take(job: Job, folder: Path) -> Taken:
    """Run a card until its fault has had time to show, and pull it.

    Raises:
        NotShown: the fault did not come.
    """
    start = time.process_time()
    card = powered_up(job, folder)
    run_to_freeze(card, job)
    emulated = time.process_time()
    truth = card.pair.truth
    if job.fault != "none" and not truth.injections:
        raise NotShown(f"{job.fault}, seed {job.seed}: the cards froze before it came")
    pull(card, folder / "run.ff", freeze=False, card=described(job, folder))
    causes = {device.name: list(read_state(device).causes) for device in open_devices(card)}
    pulled = CaptureFolder.open(folder / "run.ff")
    last = truth.to_json()["injections"][-1] if truth.injections else None
    buses = {nic.name: nic.clocks.bus for nic in card.pair.nics}
    return Taken(
        pulled,
        truth.to_json(),
        causes,
        None if last is None else reached(pulled, last, buses[last["device"]]),
        emulated - start,
        time.process_time() - emulated,
    )


def described(job: Job, folder: Path) -> Path | None:
    """Return the card file of a random card of which the crystals are worse than the one that ships says."""
    ppm = geometry(job.card)["clocks"]["deviation_ppm"] if job.card >= 0 else 0
    if ppm <= _SAID_PPM:
        return None
    path = folder / "described.toml"
    path.write_text(SHIPPED.read_text().replace(f"ppm = {_SAID_PPM}\n", f"ppm = {ppm}\n"))
    return path


def powered_up(job: Job, folder: Path) -> EmulatorTarget:
    """Return the pair of a job as it comes up; the profile of a random card is written to ``folder``."""
    profile = USUAL
    if job.card >= 0:
        path = folder / "card.toml"
        path.write_text(as_toml(geometry(job.card)))
        profile = str(path)
    return EmulatorTarget(
        profile, job.fault, job.seed, load=job.load or None, access_ps=0, nonce=job.seed & 0xFFFF
    )


def run_to_freeze(card: EmulatorTarget, job: Job) -> None:
    """Run a pair until its fault has had time to show; freeze it where nothing has.

    Raises:
        NotShown: the fault did not come.
    """
    if job.fault == "none":
        card.run_until_frozen(CLEAN_PS)
    elif not card.run_until_evident(LIMIT_PS):
        raise NotShown(f"{job.fault}, seed {job.seed}")
    if not card.frozen:
        for device in open_devices(card):
            freeze(device)
        card.run_until_frozen(POST_PS)
    card.advance(SETTLE_PS)


def answered(
    folder: CaptureFolder, fault: str, truth: dict[str, Any], same: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the records of a recording's answers, from both ends and from each alone; ``same`` is in each."""
    last = truth["injections"][-1] if truth["injections"] else None
    held = held_at(folder, last)
    if last is not None and fault in ENTRIES and ENTRIES[fault].kind in UPSETS:
        same = same | {"decided_by": decided_by(fault, last, folder)}
    records = []
    for ends in ("both", "A", "B"):
        start = time.process_time()
        # One broken explanation must not end the campaign; it stands in the report by its text.
        try:
            said = explain(folder, None if ends == "both" else [ends])
        except Exception as error:
            records.append(same | {"ends": ends, "name": "(error)", "error": _text(error)})
            continue
        used_s = round(time.process_time() - start, 4)
        for answer in judged(said, fault, truth, ends, held):
            records.append(same | {"ends": ends, "explain_s": used_s} | answer)
    return records


def run_job(job: Job) -> list[dict[str, Any]]:
    """Return the records of a run: one an answer, at least one for both ends and for each end alone."""
    same: dict[str, Any] = {
        "world": job.world, "fault": job.fault, "load": job.load, "seed": job.seed, "card": job.card,
    }  # fmt: skip
    with (
        tempfile.TemporaryDirectory(prefix="ff-open-", dir=FOLDER) as folder,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        try:
            taken = take(job, Path(folder))
        except NotShown:
            return [same | {"ends": "both", "name": "(not shown)"}]
        # One broken run must not end the campaign; it stands in the report by its text.
        except Exception as error:
            return [same | {"ends": "both", "name": "(error)", "error": _text(error)}]
        same |= {"reached": taken.reached}
        records = answered(taken.folder, job.fault, taken.truth, same)
        records[0] |= {
            "causes": taken.causes,
            "emulate_s": round(taken.emulate_s, 4),
            "pull_s": round(taken.pull_s, 4),
        }
        return records


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
