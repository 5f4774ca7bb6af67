"""All diagnoses over one capture, the causes before their consequences, the surest first."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis import (
    clock_drift,
    credit_corrupted,
    credit_lost,
    credit_start_too_large,
    credit_too_coarse,
    credit_too_optimistic,
    header_corrupted,
    header_miscounted,
    lane_misaligned,
    payload_bit_flip,
    short_transfers,
    split_retry_mishandled,
    sync_fifo_empty,
    word_duplicated,
    word_omitted,
    wrap_unhandled,
)
from freezeframe.analyzers.diagnosis.link_damage import link_damages
from freezeframe.analyzers.diagnosis.lone_receiver import lone_damages
from freezeframe.analyzers.diagnosis.overflow import sendings
from freezeframe.analyzers.diagnosis.stall import stalls
from freezeframe.analyzers.diagnosis.symptoms import symptoms, undetermined
from freezeframe.analyzers.dma import interrupt_findings
from freezeframe.analyzers.facts import Facts

__all__ = ["NAMES", "rank"]

NAMES: tuple[str, ...] = (
    word_omitted.NAME,
    word_duplicated.NAME,
    sync_fifo_empty.NAME,
    lane_misaligned.NAME,
    payload_bit_flip.NAME,
    header_corrupted.NAME,
    credit_corrupted.NAME,
    credit_lost.NAME,
    wrap_unhandled.NAME,
    credit_start_too_large.NAME,
    clock_drift.NAME,
    credit_too_coarse.NAME,
    credit_too_optimistic.NAME,
    header_miscounted.NAME,
    interrupt_findings.STORM,
    interrupt_findings.LOST,
    short_transfers.NAME,
    split_retry_mishandled.NAME,
)
"""The faults that can be named."""

_CREDIT_FAULTS = (
    credit_corrupted.NAME,
    credit_lost.NAME,
    wrap_unhandled.NAME,
    credit_start_too_large.NAME,
    credit_too_coarse.NAME,
    credit_too_optimistic.NAME,
    header_miscounted.NAME,
)


_SEEN_CYCLES = 8
_BEHIND_FIFO = "rx_deq"


def rank(facts: Facts) -> tuple[list[Finding], list[str]]:
    """Return the findings, best first, and notes on symptoms that turned out healthy.

    Nothing is named that the evidence does not decide: what is left over of the symptoms becomes one
    finding ``undetermined``, and only when nothing was named.
    """
    damages, lone = list(link_damages(facts)), list(lone_damages(facts))
    waits, sent = list(stalls(facts)), sendings(facts)
    miscounted = list(header_miscounted.miscounts(facts))
    found = [
        *word_omitted.diagnose(facts),
        *word_duplicated.diagnose(facts),
        *sync_fifo_empty.diagnose(facts, damages, lone),
        *lane_misaligned.diagnose(facts, damages, lone),
        *payload_bit_flip.diagnose(facts, damages, lone),
        *header_corrupted.diagnose(facts, damages, lone),
        *credit_corrupted.diagnose(facts),
        *credit_lost.diagnose(facts, waits),
        *wrap_unhandled.diagnose(facts, sent),
        *credit_start_too_large.diagnose(facts, sent),
        *clock_drift.diagnose(facts),
        *credit_too_coarse.diagnose(facts),
        *credit_too_optimistic.diagnose(facts, sent, miscounted),
        *header_miscounted.diagnose(facts, miscounted),
        *split_retry_mishandled.diagnose(facts),
        *interrupt_findings.diagnose(facts.view),
        *short_transfers.diagnose(facts),
    ]
    notes = [stall.text for stall in waits if stall.verdict == "healthy"]
    findings = sorted(_without_consequences(facts, found), key=_order)
    if not findings:
        unclear = next(iter(symptoms(facts, damages, waits, sent)), None)
        findings = [] if unclear is None else [undetermined(facts.view, unclear)]
    return findings, notes


def _without_consequences(facts: Facts, found: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those on words that only an overflow damaged.

    A word that finds the receiver's FIFO full is lost before rx_enq, so that what differs behind that tap has a
    cause of its own; so has damage from before the overflow. Where the overflow is not what froze the receiver,
    it came after the cause.
    """
    kept = []
    for finding in found:
        receiver = (finding.direction or "->").partition("->")[2]
        at_receiver = finding.device == receiver and finding.tap not in (None, _BEHIND_FIFO)
        suspect = at_receiver and finding.diagnosis not in _CREDIT_FAULTS
        if not suspect or not facts.overflowed(receiver) or _before_cause(facts, receiver, finding):
            kept.append(finding)
    return kept


def _before_cause(facts: Facts, receiver: str, finding: Finding) -> bool:
    """Return whether a finding is of a time before its receiver's FIFO can have lost anything."""
    capture = facts.view.device(receiver)
    cycle = capture.registers.value64("ctl.cause_cycle_") if capture is not None else None
    if cycle is None or finding.t_ps is None or finding.t_uncertainty_ps is None:
        return False
    cause_ps, unc_ps = facts.when(receiver, cycle)
    # A cause of the link's domain is seen a few cycles later in the bus's.
    margin_ps = facts.view.cycles_ps(receiver, bus=_SEEN_CYCLES, link=_SEEN_CYCLES)
    if "rx-ovf" not in facts.view.causes(receiver):
        margin_ps = -margin_ps
    return finding.t_ps + finding.t_uncertainty_ps + (unc_ps or 0) + margin_ps < cause_ps


def _order(finding: Finding) -> tuple[float, int]:
    """The surest first; of equally sure ones the first in time, which the others may follow from."""
    t_ps = finding.t_ps if finding.t_ps is not None else 1 << 62
    return -round(finding.confidence, 1), t_ps
