"""What a requirement is, and what can come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freezeframe.emulator.iwarp.conform.outcome import ANY

if TYPE_CHECKING:
    from freezeframe.emulator.iwarp.conform.link import Link
    from freezeframe.emulator.iwarp.conform.trial import Trial
    from freezeframe.emulator.iwarp.layout import Segment


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement.

    Attributes:
        number: 1xx startup, 2xx MPA, 3xx DDP, 4xx RDMAP, 5xx its extensions; a number keeps its meaning.
        clause: where it stands.
        text: what is required, in one sentence.
        done: what is said to the peer, and what it must do.
        judge: puts it to the peer; returns what was seen where that is right, raises FailedError or UnclearError.
        role: the peer's: what it must be for this to be put to it.
        needs: "", "region": memory that may be read and written, "receives": that it awaits Sends.
    """

    number: int
    clause: str
    text: str
    done: str
    judge: Callable[[Trial], str]
    role: str = ANY
    needs: str = ""

    @property
    def name(self) -> str:
        return f"{self.number} {self.text}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a requirement: PASS, FAIL or INCONCLUSIVE, why, and the connections whose octets show it."""

    requirement: Requirement
    outcome: str
    seen: str
    links: tuple[int, ...]
    duration_s: float


REQUIREMENTS: list[Requirement] = []


def requirement(
    number: int, clause: str, text: str, done: str, role: str = ANY, needs: str = ""
) -> Callable[[Callable[[Trial], str]], Callable[[Trial], str]]:
    """Enter a judging function as a requirement."""

    def enter(judge: Callable[[Trial], str]) -> Callable[[Trial], str]:
        REQUIREMENTS.append(Requirement(number, clause, text, done, judge, role, needs))
        return judge

    return enter


def refused(
    number: int,
    clause: str,
    text: str,
    done: str,
    wrong: Callable[[Trial, Link], Segment],
    *causes: tuple[int, int, int],
    needs: str = "",
) -> None:
    """Enter a requirement that a segment, the first that is sent, is refused by a Terminate with one of the causes."""

    def judge(trial: Trial) -> str:
        link = trial.open()
        return link.refuses(wrong(trial, link), *causes)

    requirement(number, clause, text, done, needs=needs)(judge)
