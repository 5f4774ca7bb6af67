"""From a capture to an explanation: the one entry that faces and programs use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freezeframe.analyzers.contract import UNDETERMINED, Finding, run_analyzer
from freezeframe.analyzers.crc.verdicts import CrcVerdicts, first_bad_taps
from freezeframe.analyzers.diagnosis.ranking import rank
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.log_reach import LogReach, log_reaches
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder.opening import as_recording
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.notebook import ShownInNotebooks
from freezeframe.decoders.trace.trace import Trace

__all__ = ["Explanation", "explain"]


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
