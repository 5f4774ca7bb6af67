"""A recorder that freezes again and again, for the tests of the guard, and what they ask of a guard's directory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from freezeframe.capture.custody.guard_log import read_log
from freezeframe.capture.errors import TargetError, TargetTimeout
from freezeframe.capture.recorder.guard import guard
from freezeframe.capture.targets.base import Target
from tests.capture.recorder.fake_recorder import ARMED, FROZEN, BadWay, FakeRecorder

NONCE = "0b000000"


def logged(directory: Path) -> str:
    """Return the lines of a guard's log."""
    return "\n".join(line for _, line in read_log(directory).lines)


class Card:
    """A recorder behind a way that can be cut; freezes again a few reads after it was armed."""

    def __init__(self, *, refreeze: bool = True) -> None:
        self.recorder = FakeRecorder(depth=300, sampler_depth=0)
        self.way = BadWay(self.recorder)
        self.way.before = self.before
        self.refreeze = refreeze
        self.armed_reads = 0
        self.opened = 0
        self.armed_when: Callable[[], None] = lambda: None
        self.armed_at = 1

    def open(self, url: str) -> Target:
        assert url == "card:"
        self.opened += 1
        if self.way.dead:
            raise TargetError("card: cannot be opened")
        way = BadWay(self.recorder)  # its own, so that closing it leaves the card alone
        way.before = lambda reads: self.on_read(way)
        return way

    def on_read(self, way: BadWay) -> None:
        if self.way.dead:
            raise TargetTimeout("card: no answer")
        self.before(way.reads)

    def before(self, reads: int) -> None:
        if all(self.recorder.get(i, "ctl.state") & 3 == ARMED for i in range(2)):
            self.armed_reads += 1
            if self.armed_reads == self.armed_at:
                self.armed_when()
            if self.refreeze and self.armed_reads > 12:
                self.freeze()

    def freeze(self, cause: int = 2) -> None:
        self.armed_reads = 0
        for index in range(2):
            self.recorder.set(index, "ctl.state", FROZEN | 0x1F << 8)
            self.recorder.set(index, "ctl.causes", 1 << (cause if index else 11))


def until(captures: int, directory: Path) -> Callable[[], bool]:
    """Stop after so many captures, or after ten thousand looks: a test must end."""
    enough = looks(10_000)
    last: set[str] = set()

    def stop() -> bool:
        last.update(p.name for p in directory.glob("*.ff"))
        return len(last) >= captures or enough()

    return stop


def looks(count: int) -> Callable[[], bool]:
    """Stop after so many looks."""
    left = iter(range(count))
    return lambda: next(left, None) is None


def folders(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("*.ff"))


def run(card: Card, directory: Path, captures: int, keep: int = 50) -> int:
    return guard("card:", keep, directory, stop=until(captures, directory), poll_s=0, wait_s=0.2)
