"""Each kind of target vanishes at a random place of a pull: what is kept is bit-identical, or states what is missing.

A wire is cut in the middle of an answer (Etherbone, UARTBone), a connection is closed in it (litex_server), a BAR reads
all ones from one moment on (PCI). Then, by turns, the target comes back as it was, comes back after a power cycle with
another recording, or stays away longer than is waited. ``make campaign-disconnects``.
"""

from __future__ import annotations

import argparse
import random
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from freezeframe.capture.custody.ledger import Ledger
from freezeframe.capture.errors import RecorderStateError, TargetError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.targets.base import Words, open_target
from freezeframe.capture.targets.uart_server import UartBoneServer
from tests.capture.recorder.bad_network import against, identical
from tests.capture.recorder.fake_recorder import FakeRecorder
from tests.capture.serving import line, serving
from tests.capture.targets.places import pci_tree
from tests.capture.targets.scripted_peer import honest
from tests.capture.targets.test_litex import request, stand_in
from tests.threads import beside

ASKED = 500
BACK, CYCLED, AWAY = "same recording", "power-cycled", "stays away"
_DEPTH, _WAIT_S, _SHORT_S = 300, 10.0, 0.3
_HOST = "127.0.0.1"
_STEP_S = 0.0005
_ONES = np.uint32(0xFFFFFFFF)


class Card:
    """A card that answers so many words, then is gone for a while, or for good."""

    def __init__(self, plan: random.Random, fate: str, span: tuple[int, int]) -> None:
        """Take a fate, and behind how many words, at least and at most, it vanishes."""
        self.truth = FakeRecorder(depth=_DEPTH, seed=7)
        other = FakeRecorder(depth=_DEPTH, seed=8, nonce=0x5EC00000)
        self.later = other if fate == CYCLED else self.truth
        self._left = plan.randrange(*span)
        self._away_s = 1e9 if fate == AWAY else plan.uniform(0.0, 0.15)
        self._back_at_s: float | None = None
        self.url = "fake:"

    @property
    def gone(self) -> bool:
        """Whether nothing answers now."""
        return self._back_at_s is not None and time.monotonic() < self._back_at_s

    @property
    def vanished(self) -> bool:
        """Whether it has been gone, or is."""
        return self._back_at_s is not None

    def held(self) -> FakeRecorder:
        """Return what answers while it is there."""
        return self.truth if self._back_at_s is None else self.later

    def passes(self, count: int) -> int:
        """Return how many of so many units of an answer still get through; it vanishes behind the last of them."""
        if self.gone:
            return 0
        if self._back_at_s is not None or count < self._left:
            self._left -= count
            return count
        self._back_at_s = time.monotonic() + self._away_s
        return self._left

    # As a target of the servers, which answer words.

    def read(self, addresses: Words | Sequence[int]) -> Words:
        if self.gone:
            raise TargetError("gone")
        return self.held().read(addresses)

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        if self.gone:
            raise TargetError("gone")
        self.held().write(address, words)

    def close(self) -> None:
        """There is nothing to free."""


class _Whole(Card):
    """For Etherbone: a datagram comes whole or not at all."""

    def read(self, addresses: Words | Sequence[int]) -> Words:
        if self.passes(len(addresses)) < len(addresses):
            raise TargetError("gone")
        return self.held().read(addresses)


@contextmanager
def etherbone(card: Card, place: Path) -> Iterator[str]:
    """Serve over UDP; what is gone does not answer."""
    with serving(card, poll_s=0.005) as url:
        yield f"{url}?timeout=0.1"


class _Line(UartBoneServer):
    """A line that is cut within a word of an answer."""

    def __init__(self, card: Card, descriptor: int) -> None:
        super().__init__(card, descriptor)
        self._card = card

    def _send(self, data: bytes) -> None:
        words = len(data) // 4
        passed = self._card.passes(words)
        super()._send(data if passed == words else data[: 4 * passed + 2])


@contextmanager
def uart(card: Card, place: Path) -> Iterator[str]:
    """Serve over a pseudo-terminal."""
    with line() as (master, path):
        server = _Line(card, master)
        with beside(partial(server.serve_forever, poll_s=0.005)):
            yield f"uart:{path}?timeout=0.1"


@contextmanager
def litex(card: Card, place: Path) -> Iterator[str]:
    """Serve as litex_server does; the connection ends within a word of an answer, and no other is taken meanwhile."""

    def talk(connection: socket.socket, _number: int) -> None:
        if card.gone:
            return
        connection.sendall(b"CommUDP:localhost:1234")
        while packet := request(connection):
            reads = packet[11]
            if not reads or card.gone:
                return
            answer = honest(card.held())(packet)
            passed = card.passes(reads)
            connection.sendall(answer if passed == reads else answer[: 16 + 4 * passed + 2])
            if passed < reads:
                return

    with stand_in(talk) as (url, _):
        yield f"{url}?timeout=0.3"


@contextmanager
def pci(card: Card, place: Path) -> Iterator[str]:
    """Lay the registers out as a BAR, which reads all ones from some moment on; the magic goes first and comes last."""
    device = pci_tree(place, card.truth)
    bar = np.memmap(device / "resource0", "<u4", "r+")
    later = np.fromfile(pci_tree(place / "later", card.later) / "resource0", "<u4")

    def run(ended: Callable[[], bool]) -> None:
        while not ended():
            time.sleep(_STEP_S)
            was = card.vanished
            card.passes(1)
            if card.gone:
                bar[:] = _ONES
            elif was and bar[0] == _ONES:
                bar[1:] = later[1:]
                bar[0] = later[0]

    with beside(run):
        yield f"pci:0000:03:00.0?sysfs={place}"


Kind = Callable[[Card, Path], AbstractContextManager[str]]
# Each with its card, and after how many words of answers, or steps of time, it vanishes.
KINDS: dict[str, tuple[Kind, type[Card], tuple[int, int]]] = {
    "etherbone": (etherbone, _Whole, (40, 13_000)),
    "litex": (litex, Card, (40, 13_000)),
    "uart": (uart, Card, (40, 13_000)),
    "pci": (pci, Card, (2, 30)),
}


def one(kind: str, number: int, place: Path) -> tuple[str, str]:
    """Pull from a card that vanishes once; return how that was to end, and how it ended."""
    plan = random.Random(f"{kind}/{number}")
    fate = (BACK, CYCLED, AWAY)[number % 3]
    serve, made, span = KINDS[kind]
    card = made(plan, fate, span)
    folder = place / "pulled.ff"
    with serve(card, place / "served") as url:
        target = open_target(url)
        try:
            pull(
                target,
                folder,
                wait_s=_SHORT_S if fate == AWAY else _WAIT_S,
                reopen=partial(open_target, url),
                ledger=Ledger(place / "ledger"),
            )
        except (TargetError, RecorderStateError) as error:
            return fate, "nothing kept, and a reason" if str(error) else "WRONG: no reason"
        finally:
            target.close()
    if not card.vanished:
        fate = "over before"
    # A card that was power-cycled before the pull knew which recording it has to do with is pulled as it is then.
    nonce = CaptureFolder.open(folder).devices[0].identity.boot_nonce
    truth = card.truth if nonce == card.truth.nonce else card.later
    wrong, missing = against(folder, truth)
    if wrong:
        return fate, f"WRONG: {wrong} words"
    if missing:
        return fate, "gaps stated"
    if not identical(folder, truth):
        return fate, "WRONG: not identical, not said"
    return fate, "identical" if truth is card.truth else "the later recording, identical"


def main() -> int:
    """Disconnect each kind so often, print what became of the pulls; 1 where one is wrong."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; all by default")
    arguments.add_argument("--each", type=int, default=ASKED)
    asked = arguments.parse_args()
    bad = 0
    for kind in asked.kinds or KINDS:
        ended: Counter[tuple[str, str]] = Counter()
        for number in range(asked.each):
            with tempfile.TemporaryDirectory(prefix="disconnect-") as place:
                told = one(kind, number, Path(place))
            ended[told] += 1
            if told[1].startswith("WRONG"):
                print(f"{kind} {number}: {told}", file=sys.stderr)
                bad += 1
        print(f"{kind}: {sum(ended.values())} pulls", flush=True)
        for (fate, end), count in sorted(ended.items()):
            print(f"  {fate}: {end}: {count}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
