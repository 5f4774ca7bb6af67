"""From a capture folder to an explanation: the one entry that faces and programs use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from freezeframe.analyzers.contract import Explanation, run_analyzer

if TYPE_CHECKING:
    from freezeframe.capture.folder import CaptureFolder

__all__ = ["explain"]


def explain(folder: CaptureFolder, devices: Sequence[str] | None = None) -> Explanation:
    """Return what went wrong in a capture, best finding first; no finding for a clean one.

    Args:
        folder: an opened capture.
        devices: names of the devices whose recordings may be used; all without. With one end only the
            answer is right or ``undetermined``.
    Raises:
        InputError: the capture has no such device.
        CaptureFormatError: a device states a clock of 0 Hz.
    """
    # numba and pandas take longer to import than a command line may take for its help.
    from freezeframe.analyzers.crc.verdicts import CrcVerdicts, first_bad_taps
    from freezeframe.analyzers.diagnosis.facts import Facts
    from freezeframe.analyzers.diagnosis.ranking import rank
    from freezeframe.analyzers.log_reach import log_reaches
    from freezeframe.analyzers.view import view_of
    from freezeframe.decoders.trace.decode import decode_capture

    trace = decode_capture(folder, devices)
    view = view_of(folder, trace, devices)
    findings, healthy = rank(Facts(view))
    first_bad = first_bad_taps(view, run_analyzer(CrcVerdicts(), [view]))
    own = tuple(f"{name}." for name in view.names)
    lost = [line for line in folder.lost if devices is None or line.startswith(own)]
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
