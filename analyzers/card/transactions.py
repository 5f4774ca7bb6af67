"""Requests and answers that an ID ties together: each ID followed through both taps and the log, by the card file.

An ID is known from the first thing that shows it on; what was under way when the memories begin is told as such and is
no evidence. Rules of the log are silent where the log lost entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.card.beside import Beside
from freezeframe.analyzers.card.claims import Claim, findings_of
from freezeframe.analyzers.card.names import DROPPED, REFUSED, UNEXPECTED
from freezeframe.analyzers.card.state_order import log_row, state_order
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.contract import Row, Says, Witness
from freezeframe.analyzers.result_parts import distribution_figures
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.sequences import PEER
from freezeframe.capture.card.tables import Transactions
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.event_log import EventLog, decode_log

CONFUSED, MISSING, NOT_TAKEN = "answer-confused", "answer-missing", "answer-not-taken"
NO_ROOM = "receiver-without-room"
TAKEN_TWICE, RETURNED_TWICE, RETURNED_EARLY = (
    "id-taken-twice",
    "id-returned-twice",
    "id-returned-early",
)


class _Step(NamedTuple):
    """Something that happened to an ID: when, its order in a moment, what it does, and the row that shows it."""

    t_ps: int
    order: int
    act: Callable[[_Step], None]
    id: int
    kind: str
    status: str
    row: Row
    packet: int = -1
    unc_ps: int = 0


@dataclass(slots=True)
class Exchange:
    """One use of an ID; times in picoseconds, -1 where it is not known.

    ``arrived_ps`` and ``answered_ps`` are those of the request and its answer at the other end of the link; ``packet``
    and ``answer`` the numbers of both packets at this card's taps.
    """

    id: int
    kind: str = ""
    taken_ps: int = -1
    out_ps: int = -1
    answer_ps: int = -1
    returned_ps: int = -1
    arrived_ps: int = -1
    answered_ps: int = -1
    status: str = ""
    outcome: str = "open"
    row: Row | None = None
    answer_row: Row | None = None
    packet: int = -1
    answer: int = -1


@dataclass
class Tracked:
    """What was found of one ``[transactions]``: every use of an ID, claims, what limits them."""

    name: str
    said: Transactions
    exchanges: list[Exchange] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    most_out: int = 0
    refusals: int = 0
    no_room: set[int] = field(default_factory=set)
    """Packets of the first tap, by number, that found no room: they come again, and are not lost."""
    counts: Counter[str] = field(default_factory=Counter)


def tracked(card: CardView) -> list[Tracked]:
    """Return what became of the IDs of each ``[transactions]`` of the card."""
    log = decode_log(card.recording, card.times)
    return [
        _Tracker(card, name, said, log).run()
        for name, said in card.recording.card.said.transactions.items()
    ]


def with_transactions(card: CardView, others: Sequence[Claim]) -> list[Claim]:
    """Return what went wrong, with what the transactions and state machines add to it and take away.

    An answer that a stretch lost is the stretch's affair; a packet that found no room comes again, and is not lost.
    """
    kept = list(others)
    found: list[Claim] = []
    for each in tracked(card):
        lost = any(claim.name == DROPPED and claim.packet not in each.no_room for claim in kept)
        outs = (each.said.out,), (f"{card.device}.{each.said.out}",)  # on the card, over a link
        kept = [
            claim for claim in kept
            if not (claim.name == DROPPED and claim.where[:1] in outs and claim.packet in each.no_room)
        ]  # fmt: skip
        found += [claim for claim in each.claims if not (lost and claim.name == MISSING)]
    return [*kept, *found, *state_order(card)]


def run(card: CardView) -> AnalysisResult:
    """Return counts, times until the answer, the most that was out, every exchange; what went wrong are findings."""
    figures: list[Figure] = []
    frames: list[pd.DataFrame] = []
    notes: list[str] = []
    found: list[Claim] = []
    for each in tracked(card):
        name = f"{card.device}.{each.name}"
        for outcome, count in sorted(each.counts.items()):
            figures.append(
                Figure(f"{name}.{outcome.replace(' ', '-')}", f"{name}, {outcome}", count)
            )
        figures.append(
            Figure(
                f"{name}.most-out",
                f"{name}, IDs out at one time, most",
                each.most_out,
                note=f"of {each.said.ids}",
            )
        )
        if each.said.busy:
            figures.append(
                Figure(f"{name}.no-room", f"{name}, packets that found no room", each.refusals)
            )
        if card.beside is not None:
            for key, label, count in (
                ("arrived", "packets with an ID seen at the other end", sum(e.arrived_ps >= 0 for e in each.exchanges)),
                ("answered", "answers seen to leave there", sum(e.answered_ps >= 0 for e in each.exchanges)),
            ):  # fmt: skip
                figures.append(Figure(f"{name}.far-{key}", f"{name}, {label}", count))
        took = np.array(
            [e.answer_ps - e.out_ps for e in each.exchanges if e.answer_ps >= 0 and e.out_ps >= 0],
            np.int64,
        )
        figures += distribution_figures(
            f"{name}.answer", f"{name}, request to answer", took, "ps", None, ""
        )
        columns = (
            "id",
            "kind",
            "taken_ps",
            "out_ps",
            "answer_ps",
            "returned_ps",
            "status",
            "outcome",
            *(("arrived_ps", "answered_ps") if card.beside else ()),
        )
        rows = [{column: getattr(e, column) for column in columns} for e in each.exchanges]
        frames.append(pd.DataFrame(rows, columns=list(columns)).assign(transactions=name))
        notes += each.notes
        found += each.claims
    found += list(state_order(card))
    if not frames:
        notes.append(f"{card.device}: could not be asked: needs [transactions] in the card file")
    tables = {"exchanges": pd.concat(frames, ignore_index=True)} if frames else {}
    return AnalysisResult(
        "transactions", tuple(figures), findings=tuple(findings_of(found, card.device)),
        tables=tables, notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def of_the_built_in_card(view: CaptureView) -> AnalysisResult:
    """Return no figure, and a note that says why: the messages of a card with the built-in map have no IDs."""
    return AnalysisResult(
        "transactions",
        notes=(
            "could not be asked: needs a card file with [transactions]; the built-in map has no transaction IDs",
        ),
    )


class _Tracker:
    """Follows the IDs of one ``[transactions]`` from the oldest record to the newest."""

    def __init__(self, card: CardView, name: str, said: Transactions, log: EventLog) -> None:
        self.card, self.said = card, said
        self.found = Tracked(name, said)
        self.now: dict[int, Exchange] = {}
        """The use of an ID that is under way; of one that was seen to be free, none."""
        self.free: set[int] = set()
        self.confused: set[int] = set()
        """IDs of which another one's answer is known to have closed something, or theirs to have closed another."""
        self.answers: list[tuple[int, int]] = []
        self.last_out: dict[int, int] = {}
        self.busy: Counter[int] = Counter()
        """How often the packet of an ID found no room since it left."""
        self.log = log

    def run(self) -> Tracked:
        found = self.found
        steps = sorted(self._steps(), key=lambda step: (step.t_ps, step.order))
        for step in steps:
            step.act(step)
            found.most_out = max(
                found.most_out, sum(e.outcome == "open" for e in self.now.values())
            )
        found.counts.update(e.outcome for e in found.exchanges)
        if self.card.beside is not None:
            self._at_the_far_end(self.card.beside)
        return found

    def _at_the_far_end(self, far: Beside) -> None:
        """Put to each exchange when its packets were at the other end, by their pairs over the link."""
        there: dict[tuple[bool, int], int] = {}
        for link in (*far.departures, *far.arrivals):
            leaves = link.first.tap.name == self.said.out and link in far.departures
            comes = link.second.tap.name == self.said.in_ and link in far.arrivals
            if link.needs or not (leaves or comes):
                continue
            for i, j in link.pairing.pairs:
                end, number = (link.second, j) if leaves else (link.first, i)
                t_ps, unc_ps = link.at(end, number)
                if t_ps is not None and unc_ps is not None and unc_ps >= 0:
                    there[leaves, i if leaves else j] = t_ps
        for use in self.found.exchanges:
            use.arrived_ps = there.get((True, use.packet), -1)
            use.answered_ps = there.get((False, use.answer), -1)

    def _steps(self) -> Iterator[_Step]:
        for order, act, tap in ((-2, self._out, self.said.out), (-1, self._in, self.said.in_)):
            end = self.card.streams.get(tap)
            if end is None:
                self.found.notes.append(f"{self.found.name}: {tap} was not read")
            else:
                yield from self._packets(order, act, end)
        names = {
            self.said.taken: self._taken,
            self.said.returned: self._returned,
            self.said.timed_out: self._timed_out,
        }
        names |= dict.fromkeys(self.said.refused, self._refused) | {self.said.busy: self._busy}
        logged = [(entry.name, number, entry) for number, entry in enumerate(self.log.entries)]
        absent = [name for name in names if name.startswith(PEER)]
        if (far := self.card.beside) is not None:
            entries = decode_log(far.recording, far.times).entries
            logged += [
                (PEER + entry.name, number, entry)
                for number, entry in enumerate(entries)
                if entry.t_unc_ps >= 0
            ]
        elif absent:
            self.found.notes.append(
                f"{self.found.name}: {', '.join(absent)}: needs the card at the other end in the capture"
            )
        lost = sorted({name for name, _, entry in logged if entry.kind == "lost" and name in names})
        if lost:
            self.found.notes.append(
                f"{self.found.name}: the log lost entries of {', '.join(lost)}; they are not judged by"
            )
            names = {name: act for name, act in names.items() if name not in lost}
        for name, order, entry in logged:
            if entry.kind == "event" and name in names:
                there = far is not None and name.startswith(PEER)
                device = far.recording.device if far is not None and there else self.card.device
                row = log_row(device, order, entry)
                yield _Step(
                    entry.t_ps,
                    order,
                    names[name],
                    entry.value % self.said.ids,
                    f"{entry.name} at {device}" if there else entry.name,
                    "",
                    row,
                    unc_ps=entry.t_unc_ps,
                )

    def _packets(
        self, order: int, act: Callable[[_Step], None], end: CheckedStream
    ) -> Iterator[_Step]:
        fields = end.said.field if end.said is not None else {}
        kinds = {value: name for name, value in fields[self.said.kind].names.items()}
        states = (
            {v: n for n, v in fields[self.said.status].names.items()} if self.said.status else {}
        )
        aside = np.zeros(len(end), np.bool_)
        for name, said in self.said.apart.items():
            aside |= np.isin(end.columns[name], [fields[name].names[one] for one in said])
        for n in np.flatnonzero(end.stream.whole & ~aside & (end.wrong == 0)).tolist():
            t_ps, unc_ps = self.card.at(end, n)
            if t_ps is None or unc_ps is None or unc_ps < 0:
                continue
            kind = kinds.get(int(end.columns[self.said.kind][n]), "")
            status = (
                states.get(int(end.columns[self.said.status][n]), "?") if self.said.status else ""
            )
            row = self.card.row(end, n, f"{kind} with ID {int(end.columns[self.said.id][n])}")
            yield _Step(
                t_ps,
                order,
                act,
                int(end.columns[self.said.id][n]),
                kind,
                status,
                row,
                n,
            )

    def _claim(
        self, name: str, step: _Step, text: str, rows: Sequence[Row | None] = (), **more: str
    ) -> None:
        shown = tuple(row for row in (*rows, step.row) if row is not None)
        self.found.claims.append(
            Claim(
                name, text, (), t_ps=step.t_ps, t_unc_ps=step.unc_ps,
                witnesses=(Witness(Says.FOR, more.get("seen", text.rstrip(".")), shown),),
                falsifier=more.get("falsifier", ""),
            )
        )  # fmt: skip

    def _use(self, step: _Step) -> Exchange:
        use = self.now.get(step.id)
        if use is None:
            use = self.now[step.id] = Exchange(step.id)
            self.found.exchanges.append(use)
        self.free.discard(step.id)
        return use

    def _taken(self, step: _Step) -> None:
        use = self.now.pop(step.id, None)
        if use is not None and use.taken_ps >= 0 and use.returned_ps < 0:
            self._claim(
                TAKEN_TWICE,
                step,
                f"ID {step.id} was given out while it was in use.",
                [use.row],
                falsifier="its return in between",
            )
        self._use(step).taken_ps = step.t_ps

    def _out(self, step: _Step) -> None:
        if step.kind not in (*self.said.requests, *self.said.posted):
            return
        use = self.now.get(step.id)
        if (
            use is not None and use.out_ps >= 0
        ):  # a second one in the same use, or the log does not tell of IDs
            self.now.pop(step.id)
        use = self._use(step)
        self.busy.pop(step.id, None)
        self.last_out[step.id] = step.packet
        use.kind, use.out_ps, use.row = step.kind, step.t_ps, step.row
        use.packet = step.packet
        use.outcome = "open" if step.kind in self.said.requests else "posted"

    def _in(self, step: _Step) -> None:
        if step.kind not in self.said.answers:
            return
        use = self.now.get(step.id)
        if use is not None and use.answer_ps < 0 and not use.row:
            self.found.counts["began before"] += 1
            return
        waits = use is not None and use.kind in self.said.requests and use.answer_ps < 0
        if use is None or not waits:
            known = step.id in self.free or (use is not None and use.out_ps >= 0)
            if known and step.id not in self.confused:
                self._claim(
                    UNEXPECTED, step, f"An answer came for ID {step.id}, for which no request waits.",
                    [use.row if use is not None else None], falsifier="a request of that ID without an answer",
                )  # fmt: skip
            elif not known:
                self.found.counts["began before"] += 1
            return
        use.answer_ps, use.status, use.answer_row = step.t_ps, step.status, step.row
        use.answer = step.packet
        if use.outcome == "timed out":
            use.outcome = "answered late"
            return
        told = use.outcome == "refused"  # by an event of the card
        use.outcome = "answered"
        self.answers.append((step.t_ps, step.id))
        if self.said.good and step.status not in self.said.good:
            use.outcome = "refused"
            if not told:
                self._claim(
                    REFUSED,
                    step,
                    f"The {use.kind} with ID {step.id} was answered with status {step.status}.",
                    [use.row],
                    falsifier="a good status",
                )

    def _returned(self, step: _Step) -> None:
        if step.id in self.free:
            self._claim(
                RETURNED_TWICE,
                step,
                f"ID {step.id} came back, and it was free.",
                falsifier="that it was given out in between",
            )
            return
        use = self.now.pop(step.id, None)
        self.free.add(step.id)
        if use is None:
            return
        use.returned_ps = step.t_ps
        if use.outcome == "open" and use.kind in self.said.requests:
            self._early(step, use)
        elif use.outcome == "open" and not use.kind:
            use.outcome = "given back unsent"

    def _early(self, step: _Step, use: Exchange) -> None:
        """Tell of an ID that came back although its request is neither answered nor given up."""
        use.outcome = "closed without an answer"
        waiting = [
            id_ for t_ps, id_ in reversed(self.answers)
            if id_ in self.now and self.now[id_].answer_ps == t_ps and self.now[id_].returned_ps < 0
        ]  # fmt: skip
        if not waiting:
            self._claim(
                RETURNED_EARLY,
                step,
                f"ID {step.id} came back {format_ps(step.t_ps - use.out_ps)} after its {use.kind}, "
                "without an answer or a time-out.",
                [use.row],
                falsifier="its answer, or that it was given up",
            )
            return
        other = self.now[waiting[0]]
        self.confused |= {step.id, other.id}
        self._claim(
            CONFUSED, step,
            f"The answer for ID {other.id} closed the transaction of ID {step.id}: it came "
            f"{format_ps(step.t_ps - other.answer_ps)} before ID {step.id} "
            f"went back to the free ones, whose own {use.kind} has no answer yet.",
            [other.answer_row, use.row],
            seen=f"ID {other.id} has its answer and is still out; ID {step.id} is free and has none",
            falsifier=f"an answer for ID {step.id} before it came back",
        )  # fmt: skip

    def _timed_out(self, step: _Step) -> None:
        use = self.now.get(step.id)
        if use is None:
            return
        if use.answer_ps >= 0:
            use.outcome = "given up though answered"
            if not self.confused:  # else it is more of the same
                self._claim(
                    NOT_TAKEN,
                    step,
                    f"The {use.kind} with ID {step.id} was given up, although its answer had come "
                    f"{format_ps(step.t_ps - use.answer_ps)} before.",
                    [use.answer_row],
                    falsifier="no answer at the tap",
                )
            return
        use.outcome = "timed out"
        if use.out_ps >= 0 and step.id not in self.confused:
            times = self.busy[step.id]
            why = (
                f"it found no room {times} time{'s' * (times > 1)} and was sent again"
                if times
                else "no answer came"
            )
            self._claim(
                NO_ROOM if times else MISSING,
                step,
                f"The {use.kind} with ID {step.id} was given up {format_ps(step.t_ps - use.out_ps)} after it left: "
                f"{why}.",
                [use.row],
                falsifier="its answer at the tap",
            )

    def _refused(self, step: _Step) -> None:
        use = self.now.get(step.id)
        if use is not None:
            use.outcome = "refused"
        self._claim(
            REFUSED,
            step,
            f"{step.kind}: an access with ID {step.id} was not allowed.",
            falsifier="that it was carried out",
        )

    def _busy(self, step: _Step) -> None:
        self.busy[step.id] += 1
        self.found.refusals += 1
        if step.id in self.last_out:
            self.found.no_room.add(self.last_out[step.id])
