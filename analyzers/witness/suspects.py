"""The memories that are suspect: of those that tell of the same upset, the finding that says most of it.

A memory that holds something else than was stored is no witness of anything: the rest is judged without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from freezeframe.analyzers.card.names import RECORDER_SUSPECT
from freezeframe.analyzers.contract import Evidence, Finding, Ground, Row, Says, Witness
from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness import recorder
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.memories import (
    Contradiction,
    contradictions,
    odd_events,
    odd_samples,
)
from freezeframe.analyzers.witness.odd_memory import odd_memories
from freezeframe.capture.counters.law_table import split_terms
from freezeframe.capture.registers.layouts import Kind

Memory = tuple[str, str]
"""Device and memory."""

_SHOWN = 4
_OWN = ("memory.", "recorded.words", "recorded.events", "recorded.records")


def upset_memories(case: Case) -> tuple[dict[Memory, Finding], list[Finding]]:
    """Return each memory that is surely not as it was written, with its finding, and those that may be right."""
    found: dict[Memory, Finding] = {}
    unsure: dict[Memory, Finding] = {}
    for finding in recorder.suspects(case):
        into = found if finding.diagnosis == RECORDER_SUSPECT else unsure
        into.setdefault(_memory(finding), finding)
    for places, finding in odd_memories(case):
        into = found if finding.diagnosis == RECORDER_SUSPECT else unsure
        if places > 1 or _memory(finding) not in into:
            into[_memory(finding)] = finding
    view = case.facts.view
    for contradiction in chain(
        contradictions(view), odd_events(view), odd_samples(view), _own_sums(case)
    ):
        memory = contradiction.device, contradiction.memory
        if contradiction.upsets or memory not in found:
            found[memory] = _finding(case.facts.view, contradiction)
    return found, list(unsure.values())


def _own_sums(case: Case) -> Iterator[Contradiction]:
    """Yield the memories whose recorder counted otherwise than it stored: no card takes part in such a law."""
    for law in case.broken:
        terms = [term for _, term in split_terms(law.law.balance)]
        if law.subject.memory and all(term.startswith(_OWN) for term in terms):
            image = next(
                d for d in case.facts.view.devices if d.name == law.subject.device
            ).memories
            slots = image[law.subject.memory].slots_in_order()
            why = f"{law.law.name}: {law.why}"
            yield Contradiction(
                law.subject.device, law.subject.memory, int(slots[0]) if len(slots) else 0, why
            )


def _memory(finding: Finding) -> Memory:
    return finding.device or "", finding.tap or ""


def _finding(view: CaptureView, found: Contradiction) -> Finding:
    source = f"{found.device}.{found.memory}"
    text = f"{source} holds what no recorder stores: {found.why}. "
    if len(found.upsets) == 1:
        text += f"Were {found.upsets[0].text} another, it would be as it has to be. "
    elif found.upsets:
        bits = "; ".join(upset.text for upset in found.upsets)
        text += f"One bit alone would mend it, and which of these is not known: {bits}. "
    text += "The recorder's memory is suspect, not the card."
    rows = _rows(view, found)
    t_ps = next((row.t_ps for row in rows), None)
    evidence = Evidence(f"{source}: {found.why}.", found.device, found.memory, rows)
    return Finding(
        RECORDER_SUSPECT,
        text,
        found.device,
        found.memory,
        t_ps=t_ps,
        evidence=(evidence,),
        ground=Ground.CONFIRMED,
        witnesses=(Witness(Says.FOR, found.why, name="memory"),),
        falsifier="It would be wrong if the memory was read while it was still recording.",
    )


def _rows(view: CaptureView, found: Contradiction) -> tuple[Row, ...]:
    """Return what the tables show of the slots that are in question."""
    slots = [found.slot, *(slot for upset in found.upsets for slot in upset.slots)]
    source = f"{found.device}.{found.memory}"
    rows = []
    for name, table in (("words", view.trace.words), ("events", view.trace.events)):
        mine = table[(table["source"] == source) & table["slot"].isin(slots[:_SHOWN])]
        value = "data" if name == "words" else "value"
        for at, (_, row) in zip(mine.index.tolist(), mine.iterrows(), strict=True):
            number = int(row[value]) & (1 << 64) - 1
            rows.append(
                Row(name, source, str(row["kind"]), number, row=at, slot=int(row["slot"]),
                    cycle=int(row["cycle"]), t_ps=int(row["t_ps"]))
            )  # fmt: skip
    return tuple(rows[:_SHOWN])


def in_whole(view: CaptureView, findings: list[Finding]) -> Iterator[Finding]:
    """Yield findings that were made without some memories, their rows by the numbers of the whole tables."""
    for finding in findings:
        evidence = tuple(
            replace(each, rows=tuple(_in_whole(view, row) for row in each.rows))
            for each in finding.evidence
        )
        yield replace(finding, evidence=evidence)


def _in_whole(view: CaptureView, row: Row) -> Row:
    if row.table not in ("words", "events") or row.slot is None:
        return row
    table = getattr(view.trace, row.table)
    kinds = [kind.name for kind in Kind]
    mine = (table["source"] == row.source) & (table["slot"] == row.slot) & table["kind"].isin(kinds)
    at = table.index[mine]
    return replace(row, row=int(at[0]) if len(at) else None)
