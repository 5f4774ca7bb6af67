"""The suite: all requirements that can be put to a peer, in order of their numbers."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

# Each of these enters its requirements.
from freezeframe.emulator.iwarp.conform import (
    extensions,
    fpdus,
    initiator_startup,
    messages,
    responder_startup,
    segments,
)
from freezeframe.emulator.iwarp.conform.link import Record
from freezeframe.emulator.iwarp.conform.outcome import (
    ANY,
    FAIL,
    INCONCLUSIVE,
    PASS,
    FailedError,
    UnclearError,
)
from freezeframe.emulator.iwarp.conform.requirement import REQUIREMENTS, Requirement, Verdict
from freezeframe.emulator.iwarp.conform.trial import Subject, Trial
from freezeframe.emulator.iwarp.errors import IwarpError

_ENTERED = (responder_startup, initiator_startup, fpdus, segments, messages, extensions)


@dataclass(slots=True)
class Results:
    """What came of a run; `records` holds the octets of every connection, which verdicts name by number."""

    verdicts: list[Verdict] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        """Return how many requirements came out so."""
        return sum(verdict.outcome == outcome for verdict in self.verdicts)


def chosen(role: str, numbers: Collection[int] = ()) -> list[Requirement]:
    """Return the requirements that can be put to a peer of a role, in order; of `numbers` alone, if any."""
    found = [
        r for r in REQUIREMENTS if r.role in (ANY, role) and (not numbers or r.number in numbers)
    ]
    return sorted(found, key=lambda r: r.number)


def run(subject: Subject, numbers: Collection[int] = ()) -> Iterator[tuple[Verdict, list[Record]]]:
    """Put requirements to a peer; yield each verdict with the connections that it rests on."""
    for requirement in chosen(subject.role, numbers):
        yield judge(requirement, subject)


def judge(requirement: Requirement, subject: Subject) -> tuple[Verdict, list[Record]]:
    """Put one requirement to a peer."""
    trial, begun = Trial(subject), time.monotonic()
    try:
        outcome, seen = PASS, requirement.judge(trial)
    except FailedError as error:
        outcome, seen = FAIL, str(error)
    except UnclearError as error:
        outcome, seen = INCONCLUSIVE, str(error)
    except IwarpError as error:  # the peer went away while it was spoken to
        outcome, seen = FAIL, f"the connection did not last: {error}"
    finally:
        trial.close()
    for record in trial.records:
        record.note = f"{requirement.number}: {outcome}: {seen}"
    verdict = Verdict(
        requirement, outcome, seen, tuple(range(len(trial.records))), time.monotonic() - begun
    )
    return verdict, trial.records


def collect(
    subject: Subject, numbers: Collection[int] = (), tell: Callable[[Verdict], None] | None = None
) -> Results:
    """Run the suite; `tell` is called with each verdict as it comes."""
    results = Results()
    for verdict, records in run(subject, numbers):
        first = len(results.records)
        results.records += records
        links = tuple(first + n for n in verdict.links)
        results.verdicts.append(
            Verdict(verdict.requirement, verdict.outcome, verdict.seen, links, verdict.duration_s)
        )
        if tell is not None:
            tell(verdict)
    return results
