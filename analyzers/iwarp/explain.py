"""From packets to an explanation: which rule which end broke first, what followed, and how the peer answered.

A finding is a rule that one side of one connection broke. The first of a connection is its cause; those after it may be
its consequences, and are listed with it.

Source: RFC 5040, 5041, 5044; the rules are those of `freezeframe.decoders.iwarp.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.packets.source import packet_blocks
from freezeframe.decoders.iwarp.iwarp import IWARP
from freezeframe.decoders.iwarp.iwarp_code import IwarpState, decode_iwarp
from freezeframe.decoders.iwarp.rules import NOTE, RULE_OF, RULES, Terminate
from freezeframe.decoders.iwarp.words import terminate_words

_MOST_FINDINGS = 10_000
_NOTED = 20
_TERMINATED = "terminated"
_LOSSES = ("stream-gap", "not-decoded", "resynchronized", "closed-early")


@dataclass(slots=True)
class BrokenRule:
    """A rule that one side of a connection broke: where first, and how often.

    ``packet``, ``t_ps``, ``fpdu``: of the first time; ``fpdu`` None outside FPDUs. ``position``: in its side's stream.
    """

    rule: str
    source: str
    connection: int
    side: int
    packet: int
    t_ps: int
    position: int
    fpdu: int | None
    text: str
    count: int = 1

    @property
    def clause(self) -> str:
        return RULES[RULE_OF[self.rule]].clause

    @property
    def severity(self) -> str:
        return RULES[RULE_OF[self.rule]].severity

    @property
    def terminate(self) -> Terminate | None:
        """What a receiver by the RFC sends."""
        return RULES[RULE_OF[self.rule]].terminate


@dataclass(frozen=True, slots=True)
class Answer:
    """A Terminate: who sent it, in which packet, what it says. ``source``: its sender and receiver."""

    source: str
    side: int
    packet: int
    t_ps: int
    says: Terminate
    text: str


@dataclass(frozen=True, slots=True)
class PacketFinding:
    """The first rule that was broken on a connection, what was broken after it, and the peer's Terminate."""

    first: BrokenRule
    later: tuple[BrokenRule, ...] = ()
    answer: Answer | None = None

    @property
    def diagnosis(self) -> str:
        """The name of the rule that was broken first, as findings on cards have theirs."""
        return self.first.rule

    @property
    def answer_text(self) -> str:
        """Return how the peer answered, and whether as the RFC asks."""
        asked = self.first.terminate
        wanted = "" if asked is None else f"a Terminate ({terminate_words(*asked)})"
        if self.answer is None:
            return f"no Terminate was seen; the RFC asks for {wanted}" if wanted else ""
        said = f"packet {self.answer.packet}: {self.answer.text}"
        if asked is None or self.answer.says == asked:
            return f"{said}, as the RFC asks" if asked is not None else said
        return f"{said}; the RFC asks for {wanted}"

    def to_json(self) -> dict[str, Any]:
        return {
            **_plain(self.first),
            "clause": self.first.clause,
            "severity": self.first.severity,
            "answer": None
            if self.answer is None
            else {"packet": self.answer.packet, "t_ps": self.answer.t_ps, "text": self.answer.text},
            "answer_text": self.answer_text,
            "later": [_plain(each) for each in self.later],
        }


@dataclass(slots=True)
class PacketExplanation(ShownInNotebooks):
    """What went wrong in a capture of packets, connection by connection, in order of time.

    ``connections``: the negotiation of each in words, at most 1,000. ``notes``: what limits the answer. ``unlisted``:
    rules broken on more connections than are kept. ``terminates``: Terminates on connections where nothing is seen
    broken, as of an STag that is not valid, or where the capture lacks what they are about.
    """

    findings: list[PacketFinding] = field(default_factory=list)
    connections: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    packets: int = 0
    tcp_packets: int = 0
    iwarp_connections: int = 0
    fpdus: int = 0
    bad_crc: int = 0
    operations: dict[str, int] = field(default_factory=dict)
    unlisted: int = 0
    terminates: list[str] = field(default_factory=list)

    @property
    def nothing_broken(self) -> str:
        """Return what is said where there is no finding."""
        said = "No rule of MPA, DDP or RDMAP is broken in what the capture holds"
        if not self.terminates:
            return f"{said}."
        more = f", and {len(self.terminates) - 1:,} more" if self.terminates[1:] else ""
        return f"{said}, and yet there is a Terminate: {self.terminates[0]}{more}."

    def to_json(self) -> dict[str, Any]:
        return {
            "packets": self.packets,
            "tcp_packets": self.tcp_packets,
            "connections": self.iwarp_connections,
            "fpdus": self.fpdus,
            "bad_crc": self.bad_crc,
            "operations": self.operations,
            "findings": [finding.to_json() for finding in self.findings],
            "negotiations": self.connections,
            "notes": self.notes,
            "terminates": self.terminates,
            "unlisted": self.unlisted,
        }


def explain_packets(
    source: Path | str, progress: Callable[[int, int], None] | None = None
) -> PacketExplanation:
    """Explain what went wrong on the iWARP connections of a source of packets.

    Raises:
        InputError, TargetError: it cannot be opened, or is none.
    """
    options = IWARP.option_values({"fpdus": False})
    state = IwarpState(options)
    explaining = Explaining()
    notes: list[str] = []
    for block, last in packet_blocks(source, progress, notes.append):
        explaining.take(len(block), decode_iwarp(block, options, state, last))
    made = explaining.finish(notes)
    made.tcp_packets = state.streams.packets
    return made


class Explaining:
    """An explanation in the making, fed with the tables of the decoder ``iwarp`` block by block."""

    def __init__(self) -> None:
        self._made = PacketExplanation()
        self._gathered = _Gathered()

    def take(self, packets: int, tables: Mapping[str, pa.Table]) -> None:
        """Take the tables of a block of so many packets."""
        made = self._made
        made.packets += packets
        for row in tables["iwarp.events"].to_pylist():
            self._gathered.take(row)
        for kind in tables["iwarp.operations"].column("kind").value_counts().to_pylist():
            name = kind["values"]
            made.operations[name] = made.operations.get(name, 0) + kind["counts"]
        for row in tables["iwarp.connections"].to_pylist():
            _take_connection(made, row)

    @property
    def broken(self) -> Set[int]:
        """Numbers of the connections on which a rule was broken so far."""
        return self._gathered.connections

    def finish(self, notes: Sequence[str]) -> PacketExplanation:
        """Return the explanation; ``notes`` are those of the source."""
        made, gathered = self._made, self._gathered
        made.findings, made.unlisted = gathered.findings(), gathered.unlisted
        made.terminates = gathered.unexplained()
        made.notes += notes
        if made.findings:
            made.notes += [
                f"nothing is seen broken before {each}" for each in made.terminates[:_NOTED]
            ]
        lost = ", ".join(f"{name} {count:,} times" for name, count in gathered.losses.items())
        if lost:
            made.notes.append(
                f"not all of the streams is in the capture ({lost}): what was broken there cannot be seen, and what "
                "depends on it is not judged"
            )
        return made


def _take_connection(made: PacketExplanation, row: Mapping[str, Any]) -> None:
    made.iwarp_connections += 1
    made.fpdus += row["initiator_fpdus"] + row["responder_fpdus"]
    made.bad_crc += row["initiator_bad_crc"] + row["responder_bad_crc"]
    if len(made.connections) < 1000:
        made.connections.append(f"{row['source']}: {row['text']}")


def packet_events(
    source: Path | str, progress: Callable[[int, int], None] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield every event of the decoder ``iwarp``, columns as `freezeframe.decoders.iwarp.tables.event_schema` has them.

    Raises:
        InputError, TargetError: as `explain_packets`.
    """
    options = IWARP.option_values({"fpdus": False})
    state = IwarpState(options)
    for block, last in packet_blocks(source, progress):
        yield from decode_iwarp(block, options, state, last)["iwarp.events"].to_pylist()


class _Gathered:
    """Events by connection, side and rule, in bounded memory."""

    def __init__(self) -> None:
        self._broken: dict[tuple[int, int, str], BrokenRule] = {}
        self._answers: dict[int, list[Answer]] = {}
        self.connections: set[int] = set()
        self.losses: dict[str, int] = {}
        self.unlisted = 0

    def take(self, row: Mapping[str, Any]) -> None:
        rule = row["error"]
        if rule in _LOSSES:
            self.losses[rule] = self.losses.get(rule, 0) + 1
        if rule == _TERMINATED and len(self._answers) < _MOST_FINDINGS:
            says = Terminate(row["value"], row["expected"] >> 8, row["expected"] & 0xFF)
            answer = Answer(
                row["source"], row["side"], row["packet"], row["t_ps"], says, row["text"]
            )
            self._answers.setdefault(row["connection"], []).append(answer)
        if row["kind"] == NOTE:
            return
        key = (row["connection"], row["side"], rule)
        if key in self._broken:
            self._broken[key].count += 1
        elif len(self._broken) >= _MOST_FINDINGS:
            self.unlisted += 1
        else:
            self.connections.add(row["connection"])
            self._broken[key] = BrokenRule(
                rule, row["source"], row["connection"], row["side"], row["packet"], row["t_ps"],
                row["position"], row["fpdu"], row["text"],
            )  # fmt: skip

    def findings(self) -> list[PacketFinding]:
        """Return a finding for each connection on which something was broken, in order of time."""
        by_connection: dict[int, list[BrokenRule]] = {}
        for broken in self._broken.values():
            by_connection.setdefault(broken.connection, []).append(broken)
        found = []
        for connection, broken_rules in by_connection.items():
            # An error before a warning of the same packet; else the order of the capture.
            ordered = sorted(broken_rules, key=lambda each: (each.packet, each.severity != "error"))
            answers = self._answers.get(connection, ())
            answer = next((each for each in answers if each.side != ordered[0].side), None)
            found.append(PacketFinding(ordered[0], tuple(ordered[1:]), answer))
        return sorted(found, key=lambda finding: finding.first.packet)

    def unexplained(self) -> list[str]:
        """Return the first Terminate of each connection on which nothing is broken, in words."""
        return [
            f"{answers[0].text.removeprefix('Terminate: ')}, by {answers[0].source} in packet {answers[0].packet}"
            for connection, answers in self._answers.items()
            if connection not in self.connections
        ]


def _plain(broken: BrokenRule) -> dict[str, Any]:
    names = ("rule", "source", "connection", "packet", "t_ps", "position", "fpdu", "count", "text")
    return {name: getattr(broken, name) for name in names}
