"""Where the evidence of a finding is: rows of tables, and the time to show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import Finding

Int64 = npt.NDArray[np.int64]

AROUND_PS = 400_000  # beside the evidence of a finding, so that what came before is seen


def evidence_rows(finding: Finding) -> dict[str, Int64]:
    """Return the rows of each table that a finding rests on, ascending."""
    numbers: dict[str, set[int]] = {}
    for evidence in finding.evidence:
        for row in evidence.rows:
            if row.row is not None:
                numbers.setdefault(row.table, set()).add(row.row)
    return {table: np.array(sorted(rows), np.int64) for table, rows in numbers.items()}


def evidence_stretch(finding: Finding, around_ps: int = AROUND_PS) -> tuple[int, int] | None:
    """Return the time that shows the evidence of a finding, with ``around_ps`` before and after; None undated."""
    times = [
        row.t_ps for evidence in finding.evidence for row in evidence.rows if row.t_ps is not None
    ]
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


def first_evidence(finding: Finding) -> tuple[str, int] | None:
    """Return the table and row that shows a finding best: what differs, what has its time, the first."""
    rows = [
        (row, row.row)
        for evidence in finding.evidence
        for row in evidence.rows
        if row.row is not None and row.table != "registers"
    ]
    wrong = [pair for pair in rows if pair[0].expected not in (None, pair[0].value)]
    dated = [pair for pair in rows if pair[0].t_ps is not None and pair[0].t_ps == finding.t_ps]
    for row, number in [*wrong, *dated, *rows]:
        return row.table, number
    return None
