"""From a capture to an explanation: what went wrong, and how much of the recording the answer rests on.

An event log that has wrapped says nothing of what came before it. Since when a card has recorded is known from the
first toggle of the time line after its arm, to within one period of it.

Source: docs/formats.md: rules of the memories, and the pairs of the time line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.analyzers.contract import UNDETERMINED, Finding, run_analyzer
from freezeframe.analyzers.diagnosis.ranking import rank
from freezeframe.analyzers.facts import CrcVerdicts, Facts, first_bad_taps
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder.opening import as_recording
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.capture.registers.layouts import MEMORY_NAMES, Memory
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.trace.trace import Trace

__all__ = ["Explanation", "LogReach", "explain", "log_reaches"]


@dataclass(frozen=True, slots=True)
class Explanation(ShownInNotebooks):
    """The findings of one capture, best first, and what else a reader must know.

    ``notes`` say what limits the answer: gaps, lost events, memories that do not reach back.
    ``trace`` is the decoded recording that the rows of the evidence point into. ``reaches``: how much of the
    recording each event log holds.
    """

    findings: list[Finding]
    notes: list[str]
    trace: Trace
    reaches: tuple[LogReach, ...] = ()

    @property
    def decided(self) -> bool:
        """Something was named: else what the logs do not hold any more may be what is missing."""
        return any(finding.diagnosis != UNDETERMINED for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        return {
            "findings": [f.to_json() for f in self.findings],
            "notes": list(self.notes),
            "event_logs": [reach.to_json() for reach in self.reaches],
        }


def explain(
    capture: CaptureFolder | Path | str, devices: Sequence[str] | None = None
) -> Explanation:
    """Return what went wrong in a capture, best finding first; no finding for a clean one.

    Args:
        capture: the recording of a card, opened or by its path.
        devices: names of the devices whose recordings may be used; all without. With one end only the
            answer is right or ``undetermined``.
    Raises:
        InputError: the capture cannot be opened, or has no such device.
        CaptureFormatError: a device states a clock of 0 Hz.
    """
    view = CaptureView(as_recording(capture), devices)
    trace = view.trace
    findings, healthy = rank(Facts(view))
    first_bad = first_bad_taps(view, run_analyzer(CrcVerdicts(), [view]))
    own = tuple(f"{name}." for name in view.names)
    lost = [line for line in view.folder.lost if devices is None or line.startswith(own)]
    notes = [
        *healthy,
        *view.switched_off,
        *view.left_out,
        *first_bad,
        *lost,
        *trace.notes,
        *(str(problem) for problem in trace.problems),
    ]
    return Explanation(findings, list(dict.fromkeys(notes)), trace, tuple(log_reaches(view)))


_DIGITS = 3
_BUS = 0
_FIRST_VALID = 1


@dataclass(frozen=True, slots=True)
class LogReach:
    """What the event log of ``device`` holds.

    Attributes:
        held_ps: from its first event to its end.
        run_ps: from the arm to that end, at most ``run_uncertainty_ps`` too little; None where it is not known.
        overwritten: records that were stored before the oldest one; None where their number was not read.
        whole: it holds everything since the arm.
    """

    device: str
    held_ps: int
    run_ps: int | None
    run_uncertainty_ps: int
    overwritten: int | None
    whole: bool

    @property
    def text(self) -> str:
        """Return it as a sentence."""
        log = f"{self.device}'s event log"
        held = f"{_rounded(self.held_ps)}"
        if self.whole:
            return f"{log} holds everything since the recorder was armed, {held}."
        run = (
            ""
            if self.run_ps is None
            else f" of the {_rounded(self.run_ps)} since the recorder was armed"
        )
        before = (
            "how many records were overwritten before that is not known"
            if self.overwritten is None
            else f"{self.overwritten:,} records were overwritten before that"
        )
        return f"{log} holds the last {held}{run}; {before}."

    def to_json(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "memory": MEMORY_NAMES[Memory.EVENT_LOG],
            "held_ps": self.held_ps,
            "run_ps": self.run_ps,
            "run_uncertainty_ps": self.run_uncertainty_ps,
            "overwritten_records": self.overwritten,
            "whole": self.whole,
        }


def log_reaches(view: CaptureView) -> Iterator[LogReach]:
    """Yield what the event log of each device holds; nothing for a device without one."""
    for device in view.devices:
        memory = device.memories.get(MEMORY_NAMES[Memory.EVENT_LOG])
        log = view.logs.get(device.name)
        clk_hz = device.identity.clk_bus
        if memory is None or log is None or not len(log) or not clk_hz:
            continue
        end = int(log.cycle[-1])
        first = device.registers.value64("pair.first_", _BUS)
        valid = (device.registers.value("pair.status", _BUS) or 0) & _FIRST_VALID
        armed = first if valid and first is not None and first <= end else None
        period = device.identity.sync_period
        whole = not memory.wrapped and not memory.gaps and device.name not in view.since_ps
        stored = device.registers.value("memory.stored", Memory.EVENT_LOG)
        kept = len(memory.slots_in_order())
        begin = int(log.cycle[0])
        yield LogReach(
            device.name,
            held_ps=_ps(end - begin, clk_hz),
            run_ps=None if armed is None else _ps(end - min(armed, begin), clk_hz),
            run_uncertainty_ps=_ps(period, clk_hz),
            overwritten=None if stored is None else max(0, stored - kept),
            whole=whole,
        )


def _ps(cycles: int, clk_hz: int) -> int:
    return cycles * PS_PER_S // clk_hz


def _rounded(t_ps: int) -> str:
    """Return a time to three digits: the reader wants the share, not the picosecond."""
    scale = 10 ** max(0, len(str(t_ps)) - _DIGITS)
    return format_ps((t_ps + scale // 2) // scale * scale)
