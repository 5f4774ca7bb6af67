"""Schedules of two guards, an operator and power cycles on one card, over real UDP: nothing goes without a word.

``python -m tests.capture.custody.schedules 200`` runs so many and prints what came of them (``make campaign-guard``).
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from freezeframe.capture.card.device import open_any
from freezeframe.capture.custody.accounts import accounts_in
from freezeframe.capture.custody.giving_up import arm_over
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
        named |= {(line["nonce"], line["generation"]) for line in accounts_in(place / name)}
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
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
