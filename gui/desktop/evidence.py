"""Where the evidence of a finding is: rows of tables, and the time to show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Finding
from freezeframe.gui.tracks.story import SAME_PACKET_PS, rows_of_packet

Int64 = npt.NDArray[np.int64]

AROUND_PS = 400_000  # beside the evidence of a finding, so that what came before is seen
_SUBJECT_PX = 48  # what a finding is about, on the time line; at least half of it where that shows its time as well
_NARROW_PX = 24
_BESIDE = 20  # so much of the view, a twentieth, lies beside the time of a finding


def evidence_rows(finding: Finding) -> dict[str, Int64]:
    """Return the rows of each table that a finding rests on, ascending."""
    numbers: dict[str, set[int]] = {}
    for row in finding.rows:
        if row.row is not None:
            numbers.setdefault(row.table, set()).add(row.row)
    return {table: np.array(sorted(rows), np.int64) for table, rows in numbers.items()}


def evidence_stretch(finding: Finding, around_ps: int = AROUND_PS) -> tuple[int, int] | None:
    """Return the time that shows the evidence of a finding, with ``around_ps`` before and after; None undated."""
    times = finding.times_ps
    if finding.t_ps is not None:
        times.append(finding.t_ps)
    if not times:
        return None
    # Evidence far from the symptom (the first packet of a flow) would make it too small to see; the list has it.
    around = finding.t_ps if finding.t_ps is not None else sorted(times)[len(times) // 2]
    near = [t for t in times if abs(t - around) < 100 * around_ps]
    first, last = min([*near, around]), max([*near, around])
    beside = max((last - first) // 4, around_ps)
    return first - beside, last + beside


def subject_of(finding: Finding, tables: Mapping[str, pd.DataFrame]) -> tuple[str, int] | None:
    """Return the table and row of what a finding is about and that lasts: its packet, else its wait; None for neither.

    Of the packet at several taps that at the finding's own; sequence numbers come round, so only what is near counts.
    """
    packets, waits = tables.get("packets"), tables.get("intervals")
    if packets is not None and len(mine := rows_of_packet(finding, packets)):
        here = mine[(packets["source"].iloc[mine] == f"{finding.device}.{finding.tap}").to_numpy()]
        return "packets", int((here if len(here) else mine)[0])
    for row in finding.rows:
        if row.row is not None and row.table in ("packets", "intervals") and row.table in tables:
            return row.table, row.row
    if waits is not None and len(waits) and finding.t_ps is not None:
        late = np.maximum(waits["t_ps"].to_numpy() - finding.t_ps, 0)
        late += np.maximum(finding.t_ps - waits["t_end_ps"].to_numpy(), 0)
        if finding.flow is not None:
            late = np.where(waits["flow"].to_numpy() == finding.flow, late, SAME_PACKET_PS)
        if late.min() < 100 * AROUND_PS:
            return "intervals", int(late.argmin())
    return None


def framed(
    stretch: tuple[int, int],
    subject: tuple[int, int],
    width_px: int,
    least_px: int = _SUBJECT_PX,
    moment_ps: int | None = None,
) -> tuple[int, int]:
    """Return as much of a stretch around its subject as leaves the subject ``least_px`` of ``width_px`` wide.

    ``moment_ps``: a time, that of the finding, which is in it too where that leaves the subject wide enough to be seen.
    """
    length = max(subject[1] - subject[0], 1)
    first, last = min(stretch[0], subject[0]), max(stretch[1], subject[1])
    most = max(length * width_px // least_px, 2 * length)
    if last - first <= most:
        return first, last
    middle = (subject[0] + subject[1]) // 2
    begin = min(max(middle - most // 2, first), last - most)
    if moment_ps is None or begin <= moment_ps < begin + most:
        return begin, begin + most
    beside = most // _BESIDE
    whole = min(subject[0], moment_ps) - beside, max(subject[1], moment_ps) + beside
    if whole[1] - whole[0] <= most:
        begin = min(max(begin, whole[1] - most), whole[0])
        return begin, begin + most
    if least_px > _NARROW_PX:
        narrow = framed(stretch, subject, width_px, _NARROW_PX, moment_ps)
        if narrow[0] <= moment_ps < narrow[1]:
            return narrow
    return begin, begin + most


def first_evidence(finding: Finding) -> tuple[str, int] | None:
    """Return the table and row that shows a finding best: what differs, what has its time, the first."""
    rows = [
        (row, row.row) for row in finding.rows if row.row is not None and row.table != "registers"
    ]
    wrong = [pair for pair in rows if pair[0].expected not in (None, pair[0].value)]
    dated = [pair for pair in rows if pair[0].t_ps is not None and pair[0].t_ps == finding.t_ps]
    for row, number in [*wrong, *dated, *rows]:
        return row.table, number
    return None
