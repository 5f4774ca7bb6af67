"""Conservation laws held against one capture: which hold, which are broken and by what, which cannot be checked.

The laws stand in the card file; `capture.counters.law_table` reads them, for the live dashboard, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure
from freezeframe.analyzers.conservation.terms import Subject, Terms
from freezeframe.analyzers.contract import UNDETERMINED, Evidence, Finding, Row
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.counters.law_table import CardLaw, laws_of, split_terms

State = Literal["holds", "broken", "not checkable"]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a law with its sign in the balance and its value; None where the capture lacks it."""

    name: str
    sign: int
    value: int | None


@dataclass(frozen=True, slots=True)
class Checked:
    """A law held against one subject.

    Attributes:
        law: what it says; subject: ``A``, ``A flow 3``, ``A.tx_enq``, ``A->B``.
        state: ``holds``, ``broken`` or ``not checkable``.
        balance, least, most: in the same unit; a bound is None where the law has none. All None
            where the law is not checkable.
        terms: those of the balance, then those of the bounds with sign 0.
        why: for ``not checkable`` what is missing, for ``broken`` the sum in words.
    """

    law: CardLaw
    subject: Subject
    state: State
    terms: tuple[Term, ...]
    balance: int | None = None
    least: int | None = None
    most: int | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "law": self.law.name,
            "text": self.law.text,
            "subject": self.subject.text,
            "state": self.state,
            "balance": self.balance,
            "least": self.least,
            "most": self.most,
            "terms": [{"name": t.name, "sign": t.sign, "value": t.value} for t in self.terms],
            "why": self.why,
        }


def check_laws(
    view: CaptureView, laws: Sequence[CardLaw] | None = None, facts: Facts | None = None
) -> list[Checked]:
    """Hold laws against everything in a capture they speak of: without ``laws`` those of its card, in their order.

    Args:
        facts: those of the capture's recording, where they are known already.
    """
    terms = Terms(view, facts)
    held = laws_of(view.roles.card) if laws is None else laws
    return [_checked(terms, law, subject) for law in held for subject in _subjects(view, law)]


def _subjects(view: CaptureView, law: CardLaw) -> Iterator[Subject]:
    for device in view.devices:
        name = device.name
        if law.scope == "device":
            yield Subject(name)
        elif law.scope in ("tap", "event-log"):
            for memory in device.memories:
                if (memory == EVENT_LOG) == (law.scope == "event-log"):
                    yield Subject(name, memory=memory)
        elif law.scope == "link":
            yield Subject(name, peer=view.peer(name) or "?")
        else:
            peer = (view.peer(name) or "?") if law.scope == "link-flow" else None
            for flow in range(device.identity.flows_count):
                yield Subject(name, flow=flow, peer=peer)


def _checked(terms: Terms, law: CardLaw, subject: Subject) -> Checked:
    values: list[Term] = []
    missing = [why for need in law.needs if (why := terms.need(subject, need))]

    def value(name: str, sign: int) -> int:
        number, why = terms.value(subject, name)
        values.append(Term(terms.label(subject, name), sign, number))
        if number is None:
            missing.append(why)
        return number or 0

    def bound(text: str) -> int | None:
        if not text:
            return None
        sign, name = (-1, text[1:]) if text.startswith("-") else (1, text)
        return sign * (value(name, 0) if "." in name else int(name))

    balance = sum(sign * value(name, sign) for sign, name in split_terms(law.balance))
    least, most = bound(law.least), bound(law.most)
    if missing:
        why = "; ".join(dict.fromkeys(missing))
        return Checked(law, subject, "not checkable", tuple(values), why=why)
    balance = _unwrapped(balance, law, terms.view, subject)
    low, high = least is not None and balance < least, most is not None and balance > most
    state: State = "broken" if low or high else "holds"
    why = _sum_text(values, balance, least, most) if low or high else ""
    return Checked(law, subject, state, tuple(values), balance, least, most, why)


def _unwrapped(balance: int, law: CardLaw, view: CaptureView, subject: Subject) -> int:
    """Return a difference of counts that wrap as the smallest number, of either sign, that it can stand for."""
    bits = width_of(law, view, subject)
    half = 1 << bits >> 1
    return (balance + half) % (1 << bits) - half if bits else balance


def width_of(law: CardLaw, view: CaptureView, subject: Subject) -> int:
    """Return after how many bits the counts of a law wrap; 0 where they never do."""
    if law.modulus == "credit" and (device := view.device(subject.device)) is not None:
        return device.identity.flows_credit_w
    return {"": 0, "sequence": 16}.get(law.modulus, 32)


def _sum_text(terms: Sequence[Term], balance: int, least: int | None, most: int | None) -> str:
    text = ""
    for term in (t for t in terms if t.sign):
        sign = ("" if term.sign > 0 else "-") if not text else (" + " if term.sign > 0 else " - ")
        text += f"{sign}{term.name} {term.value:,}"
    if least == most:
        allowed = f"must be {least:,}"
    elif least is None:
        allowed = f"may be {most:,} at most"
    elif most is None:
        allowed = f"must be {least:,} at least"
    else:
        allowed = f"must lie in {least:,} to {most:,}"
    bounds = [f"{t.name} {t.value:,}" for t in terms if not t.sign]
    return f"{text} = {balance:,}; {allowed}" + (f" ({', '.join(bounds)})" if bounds else "")


def _finding(broken: Checked) -> Finding:
    """Return a broken law as a finding: that it is broken is certain, by what is not known here."""
    said, subject = f"{broken.law.name}: {broken.law.text}", broken.subject
    rows = tuple(Row("registers", subject.device, t.name, t.value) for t in broken.terms)
    return Finding(
        UNDETERMINED,
        f"{subject.text}: the law of {said} {broken.why}.",
        device=subject.device,
        tap=subject.memory,
        flow=subject.flow,
        evidence=(Evidence(f"{said} {broken.why}.", subject.device, subject.memory, rows),),
    )


def run(view: CaptureView) -> AnalysisResult:
    checked = check_laws(view)
    counts = {
        state: sum(c.state == state for c in checked)
        for state in ("holds", "broken", "not checkable")
    }
    figures = tuple(
        Figure(f"laws.{state.replace(' ', '_')}", f"laws, {state}", count)
        for state, count in counts.items()
    )
    columns = ("law", "subject", "state", "balance", "least", "most", "why", "text")
    table = pd.DataFrame([{name: c.to_json()[name] for name in columns} for c in checked])
    for name in ("balance", "least", "most"):
        table[name] = table[name].astype("Int64")
    terms = pd.DataFrame(
        [
            {"law": c.law.name, "subject": c.subject.text, "term": t.name, "sign": t.sign, "value": t.value}
            for c in checked
            for t in c.terms
        ]
    )  # fmt: skip
    terms["value"] = terms["value"].astype("Int64")
    notes = [
        f"{c.subject.text}: {c.law.name}: {c.law.text} {c.why}."
        for c in checked
        if c.state == "broken"
    ]
    return AnalysisResult(
        "conservation",
        findings=tuple(_finding(c) for c in checked if c.state == "broken"),
        figures=figures,
        tables={"laws": table, "terms": terms},
        notes=tuple(notes or ["No law that can be checked is broken."]),
    )
