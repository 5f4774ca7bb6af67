"""From a capture to an explanation: all diagnoses, the causes before their consequences, the surest first.

With it goes how much of the recording the answer rests on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from freezeframe.analyzers.card.names import LAW_BROKEN, NONE_KNOWN, RECORDER_SUSPECT
from freezeframe.analyzers.contract import UNDETERMINED, Finding
from freezeframe.analyzers.diagnosis import (
    access_refused,
    clock_drift,
    credit_words,
    damaged_lanes,
    damaged_words,
    fifo_words,
    miscounts,
    overflow,
    stall,
)
from freezeframe.analyzers.diagnosis.link_damage import link_damages, lone_damages
from freezeframe.analyzers.diagnosis.stall import Stall
from freezeframe.analyzers.diagnosis.standstill import Stand
from freezeframe.analyzers.diagnosis.symptoms import symptoms, undetermined
from freezeframe.analyzers.dma import findings as dma_faults
from freezeframe.analyzers.facts import Facts, first_bad_taps
from freezeframe.analyzers.view import CaptureView
from freezeframe.analyzers.witness.answers import (
    law_broken,
    open_answers,
    register_is_sure,
    register_suspect,
    unexplained,
)
from freezeframe.analyzers.witness.case import Case
from freezeframe.analyzers.witness.declared import Declared, not_asked
from freezeframe.analyzers.witness.gate import doubted, judged, vetoed_by_register
from freezeframe.analyzers.witness.gate import rank as sureness
from freezeframe.analyzers.witness.gate import told as answered
from freezeframe.analyzers.witness.looked import (
    LogReach,
    log_reaches,
    looked_at,
    next_command,
    not_seen,
)
from freezeframe.analyzers.witness.own_faults import matched, told_with
from freezeframe.analyzers.witness.suspects import in_whole, upset_memories
from freezeframe.analyzers.witness.told_twice import apart_finding, told_apart
from freezeframe.capture.card.roles import Roles
from freezeframe.capture.code import code
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.reader import CaptureFolder, as_recording
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.decoders.trace.decode import Trace

if TYPE_CHECKING:
    from freezeframe.capture.qualification import Qualification

# Loaded with a qualification alone, which few captures are explained with.
not_usable = code("freezeframe.analyzers.witness.qualified:not_usable")
told_of = code("freezeframe.analyzers.witness.qualified:told")

_CREDIT_FAULTS = (
    credit_words.CREDIT_CORRUPTED,
    stall.CREDIT_LOST,
    overflow.WRAP_UNHANDLED,
    overflow.CREDIT_START_TOO_LARGE,
    credit_words.CREDIT_TOO_COARSE,
    miscounts.CREDIT_TOO_OPTIMISTIC,
    miscounts.HEADER_MISCOUNTED,
)

NAMES: tuple[str, ...] = (
    fifo_words.WORD_OMITTED,
    fifo_words.WORD_DUPLICATED,
    damaged_lanes.SYNC_FIFO_EMPTY,
    damaged_lanes.LANE_MISALIGNED,
    damaged_words.PAYLOAD_BIT_FLIP,
    damaged_words.HEADER_CORRUPTED,
    credit_words.CREDIT_CORRUPTED,
    stall.CREDIT_LOST,
    overflow.WRAP_UNHANDLED,
    overflow.CREDIT_START_TOO_LARGE,
    clock_drift.CLOCK_DRIFT,
    credit_words.CREDIT_TOO_COARSE,
    miscounts.CREDIT_TOO_OPTIMISTIC,
    miscounts.HEADER_MISCOUNTED,
    dma_faults.INTERRUPT_STORM,
    dma_faults.INTERRUPT_LOST,
    dma_faults.SHORT_TRANSFERS,
    dma_faults.SPLIT_RETRY,
)
"""The faults that can be named."""

_OF_LINK = (
    damaged_lanes.empty_sync_fifos,
    damaged_lanes.misaligned_lanes,
    damaged_words.flipped_payload_bits,
    damaged_words.corrupted_headers,
)
"""What names words that the link damaged, where it damaged any."""

_NOT_DECIDED = (UNDETERMINED, NONE_KNOWN, LAW_BROKEN)
_SEEN_CYCLES = 8
_SYMPTOMS = 2  # the first may be explained by what else was found


@dataclass(frozen=True, slots=True)
class Explanation(ShownInNotebooks):
    """The findings of one capture, best first, and what else a reader must know.

    ``notes`` say what limits the answer: gaps, lost events, memories that do not reach back.
    ``looked_at``: what the answer rests on; ``not_seen``: why "no fault found" would not be true.
    ``waits``: who waited for credit of whom where that was no fault. ``stands``: the parts that stood still at the
    freeze, the first of which the others wait for.
    ``qualified``: which qualification of the card was used, and what is off by it; why one was not.
    ``trace`` is the decoded recording that the rows of the evidence point into. ``reaches``: how much of the
    recording each event log holds. ``not_asked``: a line for each diagnosis for which the card has no ground.
    """

    findings: list[Finding]
    notes: list[str]
    trace: Trace
    reaches: tuple[LogReach, ...] = ()
    not_asked: tuple[str, ...] = ()
    looked_at: tuple[str, ...] = ()
    not_seen: tuple[str, ...] = ()
    waits: tuple[Stall, ...] = ()
    stands: tuple[Stand, ...] = ()
    qualified: tuple[str, ...] = ()

    @property
    def stalls(self) -> tuple[str, ...]:
        """Who stopped, who waited for whom, and since when, a sentence each."""
        return (*(stand.text for stand in self.stands), *(wait.text for wait in self.waits))

    @property
    def stopped(self) -> str | None:
        """The card that all else waits for; None where nothing stood."""
        stood = [stand.device for stand in self.stands if not stand.idle]
        waits = [wait.account.receiver for wait in self.waits]
        return next(iter([*stood, *waits, *(stand.device for stand in self.stands)]), None)

    @property
    def answer(self) -> str:
        """The answer in a few words; that there is no fault is said of what was looked at whole alone."""
        if self.findings:
            return f"{len(self.findings)} finding{'s' * (len(self.findings) > 1)}"
        if self.waits or any(not stand.idle for stand in self.stands):
            return "stalled, and no fault found"
        return (
            "nothing found, and not all could be looked at" if self.not_seen else "no fault found"
        )

    @property
    def decided(self) -> bool:
        """Something was named: else what the logs do not hold any more may be what is missing."""
        return any(finding.diagnosis != UNDETERMINED for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "answer": self.answer,
            "findings": [f.to_json() for f in self.findings],
            "looked_at": list(self.looked_at),
            "not_seen": list(self.not_seen),
            "stalls": list(self.stalls),
            "stopped": self.stopped,
            "notes": list(self.notes),
            "event_logs": [reach.to_json() for reach in self.reaches],
            "not_asked": list(self.not_asked),
            "qualified": list(self.qualified),
        }


def explain(
    capture: CaptureFolder | Path | str,
    devices: Sequence[str] | None = None,
    own: Sequence[Declared] = (),
    qualified: Qualification | None = None,
    trace: Trace | None = None,
) -> Explanation:
    """Return what went wrong in a capture, best finding first; no finding for a clean one.

    Args:
        capture: the recording of a card, opened or by its path.
        devices: names of the devices whose recordings may be used; all without. With one end only the
            answer is right or ``undetermined``.
        own: faults of one's own, which are looked for as well.
        qualified: what was measured of these cards (`freezeframe.capture.qualification`).
        trace: what was decoded of these devices, where that is done already.
    Raises:
        InputError: the capture cannot be opened, has no such device, its card not what an own fault needs, or the
            qualification is of another card or build.
        CaptureFormatError: a device states a clock of 0 Hz.
    """
    folder = as_recording(capture)
    why_not = "" if qualified is None else not_usable(folder, qualified)
    if why_not:
        raise InputError(
            f"{qualified.path if qualified else ''}: says nothing of {folder.path}: {why_not}"
        )
    view = CaptureView(folder, devices, trace, qualified)
    trace = view.trace
    off = not_asked(view.roles.card)
    case = Case(Facts(view))
    findings, healthy = rank(case, off)
    if own:
        mine, findings = told_with(list(matched(case, own)), findings)
        open_ = not findings or findings[0].diagnosis in _NOT_DECIDED
        findings = [*mine, *findings] if open_ else [*findings, *mine]
    findings = [
        replace(
            answered(case, finding),
            place=place_text(view.roles, finding),
            next=next_command(case, finding) if finding.diagnosis in _NOT_DECIDED else "",
        )
        for finding in findings
    ]
    shown = tuple(f"{name}." for name in view.names)
    lost = [line for line in view.folder.lost if devices is None or line.startswith(shown)]
    notes = [
        *(wait.text for wait in healthy),
        *view.switched_off,
        *view.left_out,
        *first_bad_taps(view),
        *lost,
        *trace.notes,
        *(str(problem) for problem in trace.problems),
    ]
    reaches = tuple(log_reaches(view))
    return Explanation(
        findings,
        list(dict.fromkeys(notes)),
        trace,
        reaches,
        tuple(off.values()),
        tuple(looked_at(case)),
        tuple(not_seen(case)),
        tuple(healthy),
        case.stands,
        () if qualified is None else tuple(told_of(qualified)),
    )


def place_text(roles: Roles, finding: Finding) -> str:
    """Return what lies before a finding's tap, in words; empty without a tap of the path."""
    named = {
        roles.tx.entry: "{}'s DMA engine, before the outgoing FIFO",
        roles.tx.exit: "{}'s outgoing FIFO",
        roles.rx.entry: "the link into {}",
        roles.rx.exit: "{}'s incoming FIFO",
    }
    return named.get(finding.tap or "", "").format(finding.device) if finding.device else ""


def rank(case: Case, off: Collection[str] = ()) -> tuple[list[Finding], list[Stall]]:
    """Return the findings, best first, and the stalls that turned out healthy.

    Args:
        off: diagnoses for which the card has no ground: neither named nor a candidate.

    Nothing is named that the evidence does not decide: what is left over of the symptoms becomes one
    finding ``undetermined``, and only when nothing was named.
    """
    upset, unsure = upset_memories(case)
    view = case.facts.view
    apart = [each for each in told_apart(view) if not any(each.device == name for name, _ in upset)]
    if not upset and not apart:
        return _ranked(case, off, unsure)
    right = case.with_registers({each.register: each.mask for each in apart if not each.other})
    rest, slow = _ranked(right.without(upset) if upset else right, off, [] if upset else unsure)
    told = (apart_finding(view, each) for each in apart)
    named = sorted([*upset.values(), *told, *in_whole(view, rest)], key=_order)
    return sorted(named, key=lambda finding: finding.diagnosis in _NOT_DECIDED), slow


def _ranked(
    case: Case, off: Collection[str], suspects: list[Finding]
) -> tuple[list[Finding], list[Stall]]:
    """Return the findings and healthy stalls where what is recorded is as it crossed, for all that is known.

    Args:
        suspects: words that may be upset, and of which that is not sure.
    """
    facts = case.facts
    damages, lone = list(link_damages(facts)), list(lone_damages(facts))
    of_link = _OF_LINK if damages or lone else ()
    waits, sent = list(stall.stalls(facts)), case.sendings
    miscounted = list(miscounts.miscounts(facts))
    named = [
        *fifo_words.omitted_words(facts),
        *fifo_words.duplicated_words(facts),
        *(found for fault in of_link for found in fault(facts, damages, lone)),
        *credit_words.corrupted_credits(facts),
        *stall.lost_credits(facts, waits),
        *overflow.unhandled_wraps(facts, sent),
        *overflow.too_large_starts(facts, sent),
        *clock_drift.clock_drifts(facts),
        *credit_words.coarse_credits(facts),
        *miscounts.optimistic_credits(facts, sent, miscounted),
        *miscounts.miscounted_headers(facts, miscounted),
        *dma_faults.mishandled_retries(facts),
        *dma_faults.interrupt_faults(facts.view),
        *dma_faults.short_transfers(facts),
        *access_refused.refused_writes(facts),
    ]
    contradicted = {stand.device for stand in case.stands if stand.contradicted}
    slow = [
        wait
        for wait in waits
        if wait.verdict == "healthy" and wait.account.receiver not in contradicted
    ]
    asked = (finding for finding in named if finding.diagnosis not in off)
    kept = _without_consequences(facts, asked)
    told = [doubted(judged(case, finding), suspects) for finding in kept]
    found = suspects if not told else []
    if any(vetoed_by_register(finding) for finding in told) and register_is_sure(case):
        told = [finding for finding in told if not vetoed_by_register(finding)]
        found.append(register_suspect(case))
    findings = sorted([*told, *found], key=_order)
    if not findings or all(f.diagnosis == UNDETERMINED and f.tap is None for f in findings):
        asked_for = (f for f in symptoms(facts, damages, waits, sent) if not findings or f.tap)
        most = 1 if findings else _SYMPTOMS
        unclear = [_grounded(facts.view, off, symptom) for symptom in islice(asked_for, most)]
        # What a tap itself shows is told before names that a witness is against.
        if not findings:
            return list(open_answers(case, unclear)), slow
        if unclear:
            findings = [*open_answers(case, unclear), *findings]
    if case.broken and not any(finding.diagnosis == RECORDER_SUSPECT for finding in found):
        left = unexplained(case, findings)
        if left:
            findings.append(law_broken(case, left))
    return findings, slow


def _grounded(view: CaptureView, off: Collection[str], symptom: Finding) -> Finding:
    """Return a symptom without the candidates for which the card has no ground, and with what was not read."""
    candidates = tuple(name for name in symptom.candidates if name not in off)
    return undetermined(view, replace(symptom, candidates=candidates))


def _without_consequences(facts: Facts, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those on words that only an overflow damaged.

    A word that finds the receiver's FIFO full is lost before rx_enq, so that what differs after that tap has a
    cause of its own; so has damage from before the overflow. Where the overflow is not what froze the receiver,
    it came after the cause.
    """
    kept = []
    for finding in findings:
        receiver = (finding.direction or "->").partition("->")[2]
        at_receiver = finding.device == receiver and finding.tap not in (
            None,
            facts.view.roles.rx.exit,
        )
        suspect = at_receiver and finding.diagnosis not in _CREDIT_FAULTS
        if not suspect or not facts.overflowed(receiver) or _before_cause(facts, receiver, finding):
            kept.append(finding)
    return kept


def _before_cause(facts: Facts, receiver: str, finding: Finding) -> bool:
    """Return whether a finding is of a time before its receiver's FIFO can have lost anything."""
    cause_ps, unc_ps = facts.caused(receiver)
    if cause_ps is None or finding.t_ps is None or finding.t_uncertainty_ps is None:
        return False
    # A cause of the link's domain is seen a few cycles later in the bus's.
    margin_ps = facts.view.cycles_ps(receiver, bus=_SEEN_CYCLES, link=_SEEN_CYCLES)
    roles = facts.view.roles
    if roles.cause("overflow", roles.rx.entry) not in facts.view.causes(receiver):
        margin_ps = -margin_ps
    return finding.t_ps + finding.t_uncertainty_ps + (unc_ps or 0) + margin_ps < cause_ps


def _order(finding: Finding) -> tuple[bool, int, int]:
    """Names first, and the surest; of equally sure ones the first in time, which the others may follow from."""
    t_ps = finding.t_ps if finding.t_ps is not None else 1 << 62
    return finding.diagnosis == UNDETERMINED, sureness(finding), t_ps
