"""What an analysis is, and the findings that carry the rows they rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from typing import Any

from freezeframe.capture.notebook import ShownInNotebooks

UNDETERMINED = "undetermined"
"""The diagnosis of a symptom whose cause the recording does not decide."""


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that was recorded and can be looked up: a word, an event, or a register.

    Attributes:
        table: ``words``, ``events`` or ``registers``.
        source: ``A.tx_deq``, ``A.event_log``, or the device for a register.
        label: what it is: ``payload word 17``, ``credit taken``, ``frozen_flow[0].limit``.
        value: as recorded, up to 64 bits.
        expected: what should stand there, where that is known.
        row: number of the row in its table.
        slot, cycle, t_ps: place in the memory and time; None for a register.
        text: what the value says in the card's words, for people: the causes in a mask.
    """

    table: str
    source: str
    label: str
    value: int | None = None
    expected: int | None = None
    row: int | None = None
    slot: int | None = None
    cycle: int | None = None
    t_ps: int | None = None
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the row with its values as hex text, so that no reader rounds 64 bits."""
        values = plain_fields(self)
        del values["text"]
        return {**values, "value": _hex(self.value), "expected": _hex(self.expected)}


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation a finding rests on, in a sentence, with the rows that show it."""

    text: str
    device: str | None = None
    tap: str | None = None
    rows: tuple[Row, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return plain_fields(self)


class Ground(StrEnum):
    """What a rule rests a name on; the surest first."""

    COMPARED = "compared"  # both taps around the fault, or both ends' books
    CONFIRMED = "confirmed"  # one side, and a check or a refusal that confirms it; or a place that is a range
    INFERRED = "inferred"  # one end, and something else with it
    ELIMINATED = "eliminated"  # one end, by elimination; a level or a count without the packet
    LITTLE = "little"  # little was recorded


class Says(StrEnum):
    """What a witness says of a claim; silent: it could not have seen it."""

    FOR = "for"
    AGAINST = "against"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Witness:
    """One observation that a claim entails, and what was observed.

    ``name``: of the vocabulary of docs/fault-file.md; empty for one that is not in it.
    """

    says: Says
    text: str
    rows: tuple[Row, ...] = ()
    name: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"witness": self.name, "says": self.says.value, "text": self.text}


@dataclass(frozen=True, slots=True)
class Finding(ShownInNotebooks):
    """What went wrong, where, when, how sure, and on what evidence.

    Attributes:
        diagnosis: a name of docs/diagnosis.md, or ``undetermined``.
        device, tap: where it happened; for a damaged word the first tap that shows it.
        direction: of the traffic it happened to, ``A->B``.
        flow, packet, word: flow, sequence number, index in the payload (of the second copy of a
            repeated word); None where there is none or it cannot be known.
        t_ps, t_uncertainty_ps: of the first symptom, on the capture's time base.
        confidence: 0..1, from how often this name was right with this pattern of witnesses; 0 where not counted.
        counted: how often that was, ``300 of 300``; empty where it was never counted.
        ground: what the rule rests it on; empty for a finding that no rule made.
        witnesses: what each witness says of it; pattern: the same as one line, by which it is counted.
        falsifier: what would have shown it wrong; what was seen there, the witnesses say.
        next: the command whose answer would tell the candidates apart; empty where there is none.
        candidates: for ``undetermined`` the names that fit, likeliest first.
        text: one paragraph for people.
        place: what lies before ``tap``, in words; empty where only the device is known.
        general: the name that any card's damage of this kind has, of which ``diagnosis`` is a case; empty without one.
    """

    diagnosis: str
    text: str
    device: str | None = None
    tap: str | None = None
    direction: str | None = None
    flow: int | None = None
    packet: int | None = None
    word: int | None = None
    t_ps: int | None = None
    t_uncertainty_ps: int | None = None
    confidence: float = 0.0
    candidates: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = field(default=())
    place: str = ""
    general: str = ""
    counted: str = ""
    ground: str = ""
    pattern: str = ""
    witnesses: tuple[Witness, ...] = ()
    falsifier: str = ""
    next: str = ""

    def __post_init__(self) -> None:
        """Refuse what no reader could trust.

        Raises:
            ValueError: no evidence, a confidence outside 0..1, or candidates beside a name.
        """
        if not self.evidence:
            raise ValueError(f"finding {self.diagnosis}: without evidence it is no finding")
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"finding {self.diagnosis}: confidence {self.confidence} not in 0..1")
        if self.candidates and self.diagnosis != UNDETERMINED:
            raise ValueError(f"finding {self.diagnosis}: only {UNDETERMINED} has candidates")

    @property
    def rows(self) -> list[Row]:
        """All rows that it rests on, in the order of its evidence."""
        return [row for evidence in self.evidence for row in evidence.rows]

    @property
    def times_ps(self) -> list[int]:
        """The times of all rows that have one."""
        return [row.t_ps for row in self.rows if row.t_ps is not None]

    def to_json(self) -> dict[str, Any]:
        """Return the finding as plain JSON values; the keys are part of the command line's contract."""
        values = plain_fields(self)
        text = values.pop("text")
        del values["place"]
        return {**values, "text": text}


@dataclass(frozen=True, slots=True)
class Analysis:
    """The declaration of an analysis: what ``freezeframe analyze NAME`` runs.

    Attributes:
        id: the name of the entry point in the group ``freezeframe.analyzers``.
        title: a few words, for a heading.
        summary: one sentence: what it tells. docs/analyzers.md says what it cannot.
        run: from a `freezeframe.analyzers.view.CaptureView` to a
            `freezeframe.analyzers.analysis.AnalysisResult`; `freezeframe.capture.code.code` names it, so that
            listing analyses loads none. A capture that lacks what it needs gives a result without figures and
            a note that says what is missing; it does not raise.
        run_card: the same of a `freezeframe.analyzers.card.view.CardView`, one card that is described by a file;
            None where it cannot be asked of such a card, and ``card_lacks`` says what that would need.
        card_summary: as ``summary``, of such a card.
        draws: what of its result lies along time and can be drawn, in a few words; empty: never anything, None: not
            said.
    """

    id: str
    title: str
    summary: str
    run: Callable[..., Any]
    run_card: Callable[..., Any] | None = None
    card_lacks: str = "recordings of the built-in card"
    card_summary: str = ""
    draws: str | None = None


def plain_fields(thing: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, in their order, as plain JSON values."""
    return {field.name: _plain(getattr(thing, field.name)) for field in fields(thing)}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return value.to_json() if hasattr(value, "to_json") else plain_fields(value)
    return value


def _hex(value: int | None) -> str | None:
    return None if value is None else f"{value:#x}"
