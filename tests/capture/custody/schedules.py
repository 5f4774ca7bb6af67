"""Schedules of guards, an operator, power cycles and kill -9 on one card, over real UDP: nothing goes without a word.

``python -m tests.capture.custody.schedules 200`` runs so many of two guards and an operator, and so many of one guard
that is killed again and again, and prints what came of them (``make campaign-guard``).
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.card.device import open_any
from freezeframe.capture.custody.giving_up import arm_over
from freezeframe.capture.custody.guard_log import read_log
from freezeframe.capture.custody.ledger import GIVEN_UP, KEPT, Ledger
from freezeframe.capture.custody.store import captures_in, keys_of
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.guard import guard
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.targets.base import open_target
from tests.capture.custody.freezing_card import FreezingCard, served

_LONG_S = 0.9  # of a schedule


@dataclass(frozen=True)
class Outcome:
    """What a card and its keepers say in the end. ``silent``: given up, kept nowhere, named in no log."""

    freezes: int
    kept: int
    given_up: int
    named: int
    lost_by_power: int
    silent: tuple[tuple[int, int], ...]
    refused: int


def run_schedule(seed: int, place: Path) -> Outcome:
    """Run one schedule: which guards there are, whether they share a host, what the operator does and when, by seed."""
    draw = random.Random(seed)
    card = FreezingCard(seed)
    stop = threading.Event()
    one_host = draw.random() < 0.3
    homes = [place / "host-a", place / ("host-a" if one_host else "host-b")]
    operator_home = place / draw.choice(["host-a", "host-b", "host-c"])
    refused: list[str] = []
    with served(card) as url:
        threads = [
            threading.Thread(target=_guard, args=(url, place / name, home, stop, refused))
            for name, home in zip(("ga", "gb"), homes, strict=True)
        ]
        threads.append(
            threading.Thread(
                target=_operator, args=(url, place, operator_home, stop, draw, refused)
            )
        )
        for thread in threads:
            thread.start()
            time.sleep(draw.uniform(0, 0.1))
        end_s = time.monotonic() + _LONG_S
        while time.monotonic() < end_s:
            time.sleep(draw.uniform(0.05, 0.6))
            if draw.random() < 0.6:
                card.asked_power.set()
        stop.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
    return judge(card, place, {*homes, operator_home}, len(refused))


@dataclass(frozen=True)
class Killed:
    """What is left of a guard that was killed: the outcome, how often it was, and what its log does not have."""

    outcome: Outcome
    kills: int
    wrong: tuple[str, ...]


def run_killed(seed: int, place: Path, kills: int = 5) -> Killed:
    """Kill a guard with -9 at random instants while the card freezes and is switched off; the last one ends well."""
    draw = random.Random(f"killed/{seed}")
    card = FreezingCard(seed)
    home, directory = place / "host-a", place / "ga"
    with served(card) as url:
        for _ in range(kills):
            child = os.fork()
            if not child:
                try:
                    _guard(url, directory, home, threading.Event(), [])
                finally:
                    os._exit(1)
            time.sleep(draw.uniform(0.01, 0.4))
            if draw.random() < 0.3:
                card.asked_power.set()
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        stop = threading.Event()
        timer = threading.Timer(0.4, stop.set)
        timer.start()
        _guard(url, directory, home, stop, [])
        timer.join()
    log = read_log(directory)
    told = {each.get("capture") for each in log.accounts}
    wrong = [
        f"{path.name} is in no account" for path in captures_in(directory) if path.name not in told
    ]
    left = [path.name for path in directory.iterdir() if ".partial-" in path.name]
    return Killed(
        judge(card, place, {home}, 0),
        kills,
        (*wrong, *log.missing, *(f"{name} is left" for name in left)),
    )


def _guard(url: str, place: Path, home: Path, stop: threading.Event, refused: list[str]) -> None:
    try:
        guard(url, 1000, place, stop=stop.is_set, poll_s=0.02, wait_s=0.3, home=home)
    except FreezeframeError as error:  # the second guard of one host
        refused.append(str(error))


def _operator(
    url: str,
    place: Path,
    home: Path,
    stop: threading.Event,
    draw: random.Random,
    refused: list[str],
) -> None:
    ledger = Ledger(home)
    number = 0
    while not stop.wait(draw.uniform(0.01, 0.25)):
        number += 1
        what = draw.choice(["arm", "arm", "pull", "discard"])
        try:
            target = open_target(url)
            try:
                if what == "pull":
                    pull(target, place / f"operator-{number}.ff", wait_s=0.2, ledger=ledger)
                else:
                    devices = open_any(target)
                    arm_over(devices, by="arm", discard=what == "discard", ledger=ledger)
            finally:
                target.close()
        except FreezeframeError as error:
            refused.append(str(error))


def judge(card: FreezingCard, place: Path, homes: set[Path], refused: int) -> Outcome:
    """Hold what the card lost against what stands on disks and in logs."""
    kept = set()
    captures = [path for name in ("ga", "gb") for path in captures_in(place / name)]
    for path in (*captures, *place.glob("operator-*.ff")):
        CaptureFolder.open(path)  # every byte of it
        kept |= {(key.nonce, key.generation) for key in keys_of(path)}
    named = set()
    for home in homes:
        for file in (home / "cards").glob("*.jsonl"):
            for entry in Ledger(home).acts(int(file.stem, 16)):
                if entry["what"] in (GIVEN_UP, KEPT):
                    named |= {(key.nonce, key.generation) for key in entry["parsed"]}
    for name in ("ga", "gb"):
        named |= {(line["nonce"], line["generation"]) for line in read_log(place / name).accounts}
    written = [gone for gone in card.gone if not gone.by_power]
    lost = [(gone.nonce, gone.generation) for gone in written]
    return Outcome(
        freezes=len(card.frozen_ever),
        kept=len(kept),
        given_up=len(written),
        named=sum(key in named for key in lost if key not in kept),
        lost_by_power=len(card.gone) - len(written),
        silent=tuple(key for key in lost if key not in kept and key not in named),
        refused=refused,
    )


def main(count: int) -> int:
    """Run schedules and print what came of them; return 1 where a freeze went without a word."""
    total: Counter[str] = Counter()
    silent: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    began_s = time.monotonic()
    for seed in range(count):
        with tempfile.TemporaryDirectory(prefix="freezeframe-guard-") as place:
            outcome = run_schedule(seed, Path(place))
        for name in ("freezes", "kept", "given_up", "named", "lost_by_power", "refused"):
            total[name] += getattr(outcome, name)
        if outcome.silent:
            silent.append((seed, outcome.silent))
            print(f"seed {seed}: given up without a word: {outcome.silent}", flush=True)
    print(
        f"{count} schedules in {time.monotonic() - began_s:.0f} s: {total['freezes']} freezes, {total['kept']} kept, "
        f"{total['given_up']} armed over, of which {total['named']} were kept nowhere and are named in a log, "
        f"{sum(len(keys) for _, keys in silent)} without a word; {total['lost_by_power']} were lost by power; "
        f"{total['refused']} acts refused"
    )
    return 1 if _killed(count) or silent else 0


def _killed(count: int) -> bool:
    """Run schedules of a guard that is killed and print what came of them; return whether something went wrong."""
    total: Counter[str] = Counter()
    wrong = []
    began_s = time.monotonic()
    for seed in range(count):
        with tempfile.TemporaryDirectory(prefix="freezeframe-guard-") as place:
            found = run_killed(seed, Path(place))
        total["kills"] += found.kills
        for name in ("freezes", "kept", "given_up", "named", "lost_by_power"):
            total[name] += getattr(found.outcome, name)
        if found.wrong or found.outcome.silent:
            wrong.append(seed)
            print(f"killed, seed {seed}: {found.outcome.silent} {found.wrong}", flush=True)
    print(
        f"{count} schedules with {total['kills']:,} kill -9 in {time.monotonic() - began_s:.0f} s: "
        f"{total['freezes']} freezes, {total['kept']} kept, {total['given_up']} armed over, of which {total['named']} "
        f"were kept nowhere; {len(wrong)} schedules went without a word or lack something in the log; "
        f"{total['lost_by_power']} were lost by power"
    )
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
