"""Twenty cards read twenty times a second for hours by ``freezeframe serve --record``: memory, descriptors, samples.

``make soak``. Each card stands behind UDP in this process and numbers the readings that it answers, in a register that
every sample holds. So the recording shows which of them it has, and what it lacks must be what it says it lost. A
request that comes again because its answer was late is the same reading, and is answered as before.

Source: docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.reading import read_card
from freezeframe.capture.card.shipped import card_place
from freezeframe.capture.counters.recorded import Recorded
from freezeframe.capture.targets.base import Words
from freezeframe.capture.targets.server import EtherboneServer, poll_any
from freezeframe.emulator.card_image import CardImage, empty_recording
from tests.processes import cpu_used_s
from tests.threads import beside

CARD = "ethernet-8"
PAGE, MARK = Path("docs/reliability.md"), "<!-- soak -->"
MOST_SLOPE_MB = 1.0  # an hour
_SNAPSHOT_S = 1.0  # between two snapshots of a card's counters
_LOOK_S = 5.0  # between two looks at the process, and two scrapes
_WARM_S, _WARM_SHARE = 600.0, 0.25  # not counted in the slope: the lesser of the two
_START_S = 60.0
_AGAIN = 64  # requests that may come again


class Producer(CardImage):
    """A card that records, whose count of stored records is the number of the reading that asks for it."""

    def __init__(self, nonce: int) -> None:
        super().__init__(
            [empty_recording(elaborate(read_card(card_place(CARD))))], boot_nonce=nonce
        )
        self.produced = 0
        card = self.device(0)
        self._stored = card.map.offset("tap.stored", 0)
        key = (0x4152 ^ card.get("id.boot_nonce") & 0xFFF) << 16
        self.write(card.map.offset("ctl.arm"), [key | card.get("id.generation") + 1])
        self._counter = next(iter(card.map.counters))
        self._snapshot_s = time.monotonic()

    def read(self, addresses: Words | Sequence[int]) -> Words:
        card = self.device(0)
        if (np.asarray(addresses) == self._stored).any():
            self.produced += 1
            card.set("tap.stored", self.produced, 0)
        return super().read(addresses)

    def move(self) -> None:
        """Make a new snapshot of the counters where it is time."""
        if time.monotonic() - self._snapshot_s < _SNAPSHOT_S:
            return
        self._snapshot_s += _SNAPSHOT_S
        card = self.device(0)
        seq = card.get("ctl.snapshot_seq") + 1
        card.set(f"snapshot.{self._counter}.lo", self.produced, seq & 1)
        card.set("ctl.snapshot_seq", seq)


class OnceServer(EtherboneServer):
    """Answers a request that comes again as it did before: it is one reading."""

    again = 0

    def __init__(self, card: Producer) -> None:
        super().__init__(card, "127.0.0.1")
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()

    def _answer(self, packet: memoryview) -> bytes:
        asked = bytes(packet)
        known = self._answers.get(asked)
        if known is not None:
            self.again += 1
            return known
        answer = super()._answer(packet)
        self._answers[asked] = answer
        if len(self._answers) > _AGAIN:
            self._answers.popitem(last=False)
        return answer


@dataclass(frozen=True, slots=True)
class Look:
    """The process at one moment: seconds since it was ready, resident bytes, open descriptors."""

    t_s: float
    resident_B: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Account:
    """Of one target: readings it answered, samples in the recording, samples stated as lost, and what is wrong."""

    produced: int
    received: int
    lost: int
    again: int
    wrong: str

    @property
    def adds_up(self) -> bool:
        return not self.wrong and self.received + self.lost == self.produced


@dataclass(frozen=True, slots=True)
class Soak:
    """What a soak has shown."""

    minutes: float
    every_s: float
    looks: Sequence[Look]
    accounts: Sequence[Account]
    cpu_s: float
    recorded_B: int

    @property
    def warm(self) -> list[Look]:
        """The looks after the warm-up."""
        whole_s = self.looks[-1].t_s
        after_s = min(_WARM_S, _WARM_SHARE * whole_s)
        return [look for look in self.looks if look.t_s >= after_s]

    @property
    def slope_MB(self) -> float:
        """Resident memory gained in an hour: least squares over the looks after the warm-up."""
        t_s = [look.t_s for look in self.warm]
        return float(np.polyfit(t_s, [look.resident_B for look in self.warm], 1)[0]) * 3600 / 1e6

    @property
    def descriptors(self) -> tuple[int, int]:
        """The fewest and the most after the warm-up."""
        counts = [look.descriptors for look in self.warm]
        return min(counts), max(counts)

    @property
    def is_met(self) -> bool:
        fewest, most = self.descriptors
        return (
            self.slope_MB < MOST_SLOPE_MB
            and fewest == most
            and all(account.adds_up and account.produced for account in self.accounts)
        )

    def lines(self) -> list[str]:
        """What there is to print."""
        first, last = self.warm[0], self.warm[-1]
        due = round(self.minutes * 60 / self.every_s)
        shown = [
            f"{len(self.accounts)} targets, {1 / self.every_s:g} Hz, {self.minutes:g} minutes, "
            f"{self.cpu_s / self.looks[-1].t_s:.0%} of a core, {self.recorded_B / 1e6:,.1f} MB recorded",
            f"memory after the warm-up: {first.resident_B / 1e6:.2f} MB at {first.t_s / 60:.1f} min, "
            f"{last.resident_B / 1e6:.2f} MB at {last.t_s / 60:.1f} min, slope {self.slope_MB:+.3f} MB an hour",
            f"descriptors after the warm-up: first {first.descriptors}, last {last.descriptors}, "
            "fewest {} and most {}".format(*self.descriptors),
            f"target: produced (of {due:,} due), received, lost, asked again",
        ]
        for number, of in enumerate(self.accounts):
            verdict = of.wrong or ("" if of.adds_up else "DOES NOT ADD UP")
            shown.append(
                f"  {number:2}: {of.produced:,}, {of.received:,}, {of.lost:,}, {of.again} {verdict}"
            )
        produced, received, lost = (
            sum(getattr(of, name) for of in self.accounts)
            for name in ("produced", "received", "lost")
        )
        shown.append(
            f"all: produced {produced:,}, received {received:,}, lost {lost:,}: "
            + ("adds up" if all(of.adds_up for of in self.accounts) else "DOES NOT ADD UP")
        )
        return shown

    def row(self) -> str:
        """The row of the table in docs/reliability.md."""
        produced, received, lost = (
            sum(getattr(of, name) for of in self.accounts)
            for name in ("produced", "received", "lost")
        )
        share = produced * self.every_s / (self.minutes * 60 * len(self.accounts))
        fewest, most = self.descriptors
        held = (
            f"{fewest} descriptors all the time"
            if fewest == most
            else f"{fewest} to {most} descriptors"
        )
        return (
            f"| `serve --record`, {len(self.accounts)} cards over UDP at {1 / self.every_s:g} Hz for {self.minutes:g} "
            "minutes, `/metrics` every 5 s | memory less than 1 MB an hour, descriptors constant, received + lost = "
            f"produced | {self.slope_MB:+.2f} MB an hour at {self.warm[-1].resident_B / 1e6:.0f} MB; {held}; "
            f"{received:,} + {lost:,} = {produced:,} ({share:.1%} of what was due) | `make soak` |"
        )


def soak(minutes: float, targets: int, every_s: float, folder: Path) -> Soak:
    """Run ``freezeframe serve`` for so long and look at it; ``folder`` gets the recording."""
    cards = [Producer(0x50A00000 + number) for number in range(targets)]
    place = folder / "soak.ffrec"
    with _answering(cards) as servers, (folder / "errors").open("w+") as errors:
        urls = [f"etherbone://127.0.0.1:{server.port}" for server in servers]
        command = [sys.executable, "-m", "freezeframe", "serve", *urls, "--every", str(every_s)]
        command += ["--listen", "127.0.0.1:0", "--record", str(place)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True
        ) as process:
            try:
                looks = _look_at(process, minutes * 60)
                cpu_s = cpu_used_s(process.pid)
            finally:
                process.send_signal(signal.SIGTERM)
                code = process.wait(60)
        errors.seek(0)
        said = errors.read().strip()
    if code or said:
        raise RuntimeError(f"serve ended with {code}: {said}")
    size_B = sum(path.stat().st_size for path in place.iterdir())
    accounts = _accounts(place, urls, cards, servers)
    return Soak(minutes, every_s, looks, accounts, cpu_s, size_B)


@contextmanager
def _answering(cards: Sequence[Producer]) -> Iterator[list[OnceServer]]:
    servers = [OnceServer(card) for card in cards]

    def answer(ended: Callable[[], bool]) -> None:
        while not ended():
            poll_any(servers, 0.05)
            for card in cards:
                card.move()

    with beside(answer):
        yield servers
    for server in servers:
        server.close()


def _look_at(process: subprocess.Popen[str], seconds: float) -> list[Look]:
    page = _ready(process)
    begun_s = time.monotonic()
    looks = []
    while (t_s := time.monotonic() - begun_s) < seconds:
        with urllib.request.urlopen(page, timeout=30) as answer:
            if not answer.read():
                raise RuntimeError(f"{page}: is empty")
        looks.append(_look(process.pid, t_s))
        time.sleep(max(0.0, min(_LOOK_S, seconds - (time.monotonic() - begun_s))))
        if process.poll() is not None:
            raise RuntimeError(f"serve has ended by itself after {t_s:.0f} s")
    return looks


def _ready(process: subprocess.Popen[str]) -> str:
    out: IO[str] | None = process.stdout
    assert out is not None
    if not select.select([out], [], [], _START_S)[0]:
        raise RuntimeError(f"serve was silent for {_START_S:g} s")
    words = out.readline().split()
    if words[:1] != ["ready"]:
        raise RuntimeError("serve did not become ready")
    return words[1]


def _look(pid: int, t_s: float) -> Look:
    # The connection of the scrape before may be closing still: the fewest of some looks is what is held.
    held = []
    for _ in range(5):
        held.append(len(list(Path(f"/proc/{pid}/fd").iterdir())))
        time.sleep(0.02)
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Look(t_s, pages * os.sysconf("SC_PAGE_SIZE"), min(held))


def _accounts(
    place: Path, urls: Sequence[str], cards: Sequence[Producer], servers: Sequence[OnceServer]
) -> list[Account]:
    recorded = Recorded(place)
    numbers: dict[str, list[int]] = {url: [] for url in urls}
    column: dict[str, int] = {}
    for event in recorded.events():
        url = str(event.source)
        if url not in column:
            names = [name for name, *_ in event.columns]
            column[url] = next(n for n, name in enumerate(names) if name.endswith(".stored"))
        numbers[url].append(event.values[column[url]])
    no_room = recorded.lost
    known = [line for line in recorded.missing if "not taken in time" not in line]
    found = []
    for url, card, server in zip(urls, cards, servers, strict=True):
        mine = numbers[url]
        wrong = "; ".join(known[:3])
        if sorted(set(mine)) != mine:
            wrong = "readings come twice or out of order"
        elif mine and not (mine[0] >= 1 and mine[-1] <= card.produced):
            wrong = f"readings {mine[0]} to {mine[-1]} of {card.produced}"
        elif no_room:
            wrong = f"{no_room} lost for want of room, it is not known of which target"
        lost = recorded.missed.get(url, 0)
        found.append(Account(card.produced, len(mine), lost, server.again, wrong))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak, print what it showed; return 1 where less than what is asked was shown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0)
    parser.add_argument("--targets", type=int, default=20)
    parser.add_argument("--every", type=float, default=0.05, metavar="SECONDS")
    parser.add_argument("--write", action="store_true", help=f"the row into {PAGE}")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        shown = soak(asked.minutes, asked.targets, asked.every, Path(folder))
    print("\n".join(shown.lines()), f"\n{shown.row()}", flush=True)
    if asked.write:
        begin, _, end = PAGE.read_text().split(MARK)
        head = "| what | asked | measured | command |\n|---|---|---|---|"
        PAGE.write_text(f"{begin}{MARK}\n\n{head}\n{shown.row()}\n\n{MARK}{end}")
    return 0 if shown.is_met else 1


if __name__ == "__main__":
    sys.exit(main())
