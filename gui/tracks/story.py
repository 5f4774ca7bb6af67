"""A finding as a story in steps: where its packet was whole and where not, what its evidence shows, what froze.

Every step is made from the finding's own evidence and from rows of the recording; none is written for one diagnosis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Evidence, Finding
from freezeframe.capture.count_text import plural
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.moments import Freeze
from freezeframe.gui.tracks.recording import VERDICTS

MOST_STEPS = 9
"""One has a digit for a name; what comes later than the ninth is in the evidence."""

SAME_PACKET_PS = 10**9
"""Sequence numbers come round: 65,536 packets last longer than 1 ms."""

_CAUSES = (
    "ctl.causes"  # the register that says what froze a device: a step of its own, with its time
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what happened, when it can be seen, and the row of a table that shows it; None where there is none."""

    text: str
    span_ps: tuple[int, int] | None = None
    place: tuple[str, int] | None = None


def story_of(finding: Finding, trace: Trace | None, frozen: Sequence[Freeze]) -> list[Step]:
    """Return the steps in the order in which they are seen; what has no time, a count in a register say, comes first.

    Args:
        trace: the recording; None where packets and waits are not known by tap and flow.
        frozen: when devices froze.
    """
    steps = [step for evidence in finding.evidence for step in _of_evidence(evidence, finding)]
    if trace is not None:
        steps += _of_packet(finding, trace)
    # Each when it has been seen whole; the wait and the freeze follow from it.
    steps.sort(key=lambda step: -1 if step.span_ps is None else step.span_ps[1])
    if trace is not None:
        steps += _of_wait(finding, trace)
    for freeze in sorted(frozen, key=lambda one: one.t_ps):
        if not freeze.is_cross:
            text = f"{freeze.device} froze: {', '.join(freeze.causes)}"
            steps.append(Step(text, (freeze.t_ps, freeze.t_ps + 1)))
    told = dict.fromkeys(replace(step, text=_sentence(step.text)) for step in steps)
    return list(told)[:MOST_STEPS]


def _of_evidence(evidence: Evidence, finding: Finding) -> Iterator[Step]:
    """Yield what the rows near the finding show; a freeze is told by its own step."""
    if evidence.rows and all(row.label == _CAUSES for row in evidence.rows):
        return
    dated = [row for row in evidence.rows if row.t_ps is not None]
    near = [
        row
        for row in dated
        if finding.t_ps is None or abs((row.t_ps or 0) - finding.t_ps) < SAME_PACKET_PS
    ]
    if not near:
        yield Step(evidence.text)
        return
    wrong = [row for row in near if row.expected not in (None, row.value)]
    shown = (wrong or near)[0]
    times = [row.t_ps for row in near if row.t_ps is not None]
    place = None if shown.row is None else (shown.table, shown.row)
    yield Step(evidence.text, (min(times), max(times) + 1), place)


def _of_packet(finding: Finding, trace: Trace) -> Iterator[Step]:
    """Yield a step for the taps at which the packet looks as at the tap before, and one for each change."""
    if finding.packet is None or finding.direction is None or not len(trace.packets):
        return
    packets = trace.packets
    at_tap: dict[str, tuple[int, pd.Series[Any]]] = {}
    for row in rows_of_packet(finding, packets).tolist():
        at_tap.setdefault(str(packets["source"].iloc[row]), (row, packets.iloc[row]))
    sender, _, receiver = finding.direction.partition("->")
    taps = [(sender, tap) for tap in trace.taps[:2]] + [(receiver, tap) for tap in trace.taps[2:]]
    step, look, last_ps = None, "", None
    for source in (f"{device}.{tap}" for device, tap in taps):
        if source not in at_tap:
            covered = trace.coverage.words(source)
            if last_ps is not None and covered.reason_at(last_ps) is None:
                if step is not None:
                    yield step
                text = f"no packet {finding.packet} was seen at {source}, which was recorded then"
                step, look = Step(text, (last_ps, last_ps + 1)), ""
            continue
        number, packet = at_tap[source]
        begin, last_ps = int(packet["t_ps"]), int(packet["t_end_ps"])
        seen = _look(packet)
        if step is not None and seen == look and step.span_ps is not None:
            step = replace(step, text=f"{step.text}, {source}", span_ps=(step.span_ps[0], last_ps))
            continue
        if step is not None:
            yield step
        text = f"packet {finding.packet}, {seen}, at {source}"
        step, look = Step(text, (begin, max(last_ps, begin + 1)), ("packets", number)), seen
    if step is not None:
        yield step


def rows_of_packet(finding: Finding, packets: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Return the rows of a finding's packet, at every tap and near its time; none of a finding without a packet."""
    if finding.packet is None or "seq" not in packets:
        return np.empty(0, np.int64)
    mine = packets["seq"].to_numpy() == finding.packet
    if finding.direction is not None:
        mine &= (packets["direction"] == finding.direction).to_numpy(np.bool_)
    if finding.t_ps is not None:
        mine &= np.abs(packets["t_ps"].to_numpy() - finding.t_ps) < SAME_PACKET_PS
    return np.flatnonzero(mine).astype(np.int64)


def _look(row: pd.Series[Any]) -> str:
    """Return what is seen of a packet at one tap: its words, and what its checks say."""
    wrong = [what for column, what in VERDICTS if not pd.isna(row[column]) and not row[column]]
    checks = f"bad {' and '.join(wrong)}" if wrong else "all checks good"
    if not row["whole"]:
        checks = "not all recorded" if not wrong else f"{checks}, not all recorded"
    return f"{row['body_words']} of {plural(int(row['length']), 'word')}, {checks}"


def _of_wait(finding: Finding, trace: Trace) -> Iterator[Step]:
    """Yield the first wait of the finding's flow that lasts beyond the finding."""
    if finding.flow is None or not len(trace.intervals):
        return
    waits = trace.intervals
    sender = (finding.direction or finding.device or "").partition("->")[0]
    mine = (waits["flow"] == finding.flow) & (waits["device"] == sender)
    if finding.t_ps is not None:
        mine &= waits["t_end_ps"] > finding.t_ps
        mine &= waits["t_ps"] < finding.t_ps + SAME_PACKET_PS
    rows = np.flatnonzero(mine.to_numpy(np.bool_))
    if not len(rows):
        return
    row = int(rows[waits["t_ps"].to_numpy()[rows].argmin()])
    begin, end = int(waits["t_ps"].iloc[row]), int(waits["t_end_ps"].iloc[row])
    last = ", and had not ended" if bool(waits["open_end"].iloc[row]) else ""
    text = f"flow {finding.flow} of {sender} waits for credit: {format_ps(end - begin)}{last}"
    yield Step(text, (begin, max(end, begin + 1)), ("intervals", row))


def _sentence(text: str) -> str:
    """Return a step as a sentence without its full stop: a headline."""
    return text[:1].upper() + text[1:].rstrip(".")
