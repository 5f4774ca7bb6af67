"""All diagnoses over one capture, the causes before their consequences, the surest first."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis import (
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
from freezeframe.analyzers.diagnosis.symptoms import symptoms, undetermined
from freezeframe.analyzers.dma import findings as dma_faults
from freezeframe.analyzers.facts import Facts

__all__ = ["NAMES", "rank"]

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

_SEEN_CYCLES = 8
_AFTER_FIFO = "rx_deq"


def rank(facts: Facts) -> tuple[list[Finding], list[str]]:
    """Return the findings, best first, and notes on symptoms that turned out healthy.

    Nothing is named that the evidence does not decide: what is left over of the symptoms becomes one
    finding ``undetermined``, and only when nothing was named.
    """
    damages, lone = list(link_damages(facts)), list(lone_damages(facts))
    waits, sent = list(stall.stalls(facts)), overflow.sendings(facts)
    miscounted = list(miscounts.miscounts(facts))
    named = [
        *fifo_words.omitted_words(facts),
        *fifo_words.duplicated_words(facts),
        *damaged_lanes.empty_sync_fifos(facts, damages, lone),
        *damaged_lanes.misaligned_lanes(facts, damages, lone),
        *damaged_words.flipped_payload_bits(facts, damages, lone),
        *damaged_words.corrupted_headers(facts, damages, lone),
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
    ]
    notes = [wait.text for wait in waits if wait.verdict == "healthy"]
    findings = sorted(_without_consequences(facts, named), key=_order)
    if not findings:
        unclear = next(iter(symptoms(facts, damages, waits, sent)), None)
        findings = [] if unclear is None else [undetermined(facts.view, unclear)]
    return findings, notes


def _without_consequences(facts: Facts, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without those on words that only an overflow damaged.

    A word that finds the receiver's FIFO full is lost before rx_enq, so that what differs after that tap has a
    cause of its own; so has damage from before the overflow. Where the overflow is not what froze the receiver,
    it came after the cause.
    """
    kept = []
    for finding in findings:
        receiver = (finding.direction or "->").partition("->")[2]
        at_receiver = finding.device == receiver and finding.tap not in (None, _AFTER_FIFO)
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
