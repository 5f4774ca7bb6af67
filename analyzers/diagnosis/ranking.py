"""All diagnoses over one capture, the causes before their consequences, the surest first."""

from __future__ import annotations

from collections.abc import Iterable

from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.diagnosis.clock_drift import CLOCK_DRIFT, clock_drifts
from freezeframe.analyzers.diagnosis.credit_words import (
    CREDIT_CORRUPTED,
    CREDIT_TOO_COARSE,
    coarse_credits,
    corrupted_credits,
)
from freezeframe.analyzers.diagnosis.damaged_lanes import (
    LANE_MISALIGNED,
    SYNC_FIFO_EMPTY,
    empty_sync_fifos,
    misaligned_lanes,
)
from freezeframe.analyzers.diagnosis.damaged_words import (
    HEADER_CORRUPTED,
    PAYLOAD_BIT_FLIP,
    corrupted_headers,
    flipped_payload_bits,
)
from freezeframe.analyzers.diagnosis.fifo_words import (
    WORD_DUPLICATED,
    WORD_OMITTED,
    duplicated_words,
    omitted_words,
)
from freezeframe.analyzers.diagnosis.link_damage import link_damages, lone_damages
from freezeframe.analyzers.diagnosis.miscounts import (
    CREDIT_TOO_OPTIMISTIC,
    HEADER_MISCOUNTED,
    miscounted_headers,
    miscounts,
    optimistic_credits,
)
from freezeframe.analyzers.diagnosis.overflow import (
    CREDIT_START_TOO_LARGE,
    WRAP_UNHANDLED,
    sendings,
    too_large_starts,
    unhandled_wraps,
)
from freezeframe.analyzers.diagnosis.stall import CREDIT_LOST, lost_credits, stalls
from freezeframe.analyzers.diagnosis.symptoms import symptoms, undetermined
from freezeframe.analyzers.dma.findings import (
    INTERRUPT_LOST,
    INTERRUPT_STORM,
    SHORT_TRANSFERS,
    SPLIT_RETRY,
    interrupt_faults,
    mishandled_retries,
    short_transfers,
)
from freezeframe.analyzers.facts import Facts

__all__ = ["NAMES", "rank"]

_CREDIT_FAULTS = (
    CREDIT_CORRUPTED,
    CREDIT_LOST,
    WRAP_UNHANDLED,
    CREDIT_START_TOO_LARGE,
    CREDIT_TOO_COARSE,
    CREDIT_TOO_OPTIMISTIC,
    HEADER_MISCOUNTED,
)

NAMES: tuple[str, ...] = (
    WORD_OMITTED,
    WORD_DUPLICATED,
    SYNC_FIFO_EMPTY,
    LANE_MISALIGNED,
    PAYLOAD_BIT_FLIP,
    HEADER_CORRUPTED,
    CREDIT_CORRUPTED,
    CREDIT_LOST,
    WRAP_UNHANDLED,
    CREDIT_START_TOO_LARGE,
    CLOCK_DRIFT,
    CREDIT_TOO_COARSE,
    CREDIT_TOO_OPTIMISTIC,
    HEADER_MISCOUNTED,
    INTERRUPT_STORM,
    INTERRUPT_LOST,
    SHORT_TRANSFERS,
    SPLIT_RETRY,
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
    waits, sent = list(stalls(facts)), sendings(facts)
    miscounted = list(miscounts(facts))
    findings_made = [
        *omitted_words(facts),
        *duplicated_words(facts),
        *empty_sync_fifos(facts, damages, lone),
        *misaligned_lanes(facts, damages, lone),
        *flipped_payload_bits(facts, damages, lone),
        *corrupted_headers(facts, damages, lone),
        *corrupted_credits(facts),
        *lost_credits(facts, waits),
        *unhandled_wraps(facts, sent),
        *too_large_starts(facts, sent),
        *clock_drifts(facts),
        *coarse_credits(facts),
        *optimistic_credits(facts, sent, miscounted),
        *miscounted_headers(facts, miscounted),
        *mishandled_retries(facts),
        *interrupt_faults(facts.view),
        *short_transfers(facts),
    ]
    notes = [stall.text for stall in waits if stall.verdict == "healthy"]
    findings = sorted(_without_consequences(facts, findings_made), key=_order)
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
