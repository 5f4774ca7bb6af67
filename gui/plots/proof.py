"""Which pictures prove which finding: the same in the window, in the report and by ``plot --what finding``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Series
from freezeframe.analyzers.card.view import CardView, run_analysis
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.credits.staircases import fifo_level, staircases
from freezeframe.analyzers.declarations import THROUGHPUT
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.moments import Freeze
from freezeframe.gui.plots.books import (
    books_drawing,
    books_span,
    level_within,
    series_drawing,
)
from freezeframe.gui.plots.figures import Drawing
from freezeframe.gui.plots.ladder import (
    RESTS_ON,
    card_ladder_drawing,
    evidence_lane,
    framed,
    ladder_drawing,
    seen_in,
)
from freezeframe.gui.plots.path_of import card_path_drawing, direction_of, path_drawing
from freezeframe.gui.plots.sizes import sizes_drawing
from freezeframe.gui.plots.time_lines import time_marks
from freezeframe.gui.plots.timeline import Lane, legend_of_lanes, timeline_sheet
from freezeframe.gui.plots.track_lanes import lane_of
from freezeframe.gui.tracks.recording import event_tracks, wait_tracks

PATH, LADDER, BOOKS, LEVEL, WAITS, RATE, THERE, LINE, SIZES = (
    "path", "ladder", "books", "level", "waits", "rate", "there", "interrupts", "sizes",
)  # fmt: skip

PROVES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "credit-corrupted", "credit-lost", "wrap-unhandled", "credit-start-too-large", "credit-too-optimistic",
            "header-miscounted", "credit-too-coarse", "stall",
        ),
        (PATH, BOOKS, LEVEL, WAITS, RATE, THERE),
    ),
    **dict.fromkeys(
        (
            "word-omitted", "word-duplicated", "sync-fifo-empty", "lane-misaligned", "payload-bit-flip",
            "header-corrupted", "split-retry-mishandled", "clock-drift", "packet-dropped", "packet-duplicated",
            "packets-reordered", "recorder-suspect",
        ),
        (PATH, LADDER),
    ),
    **dict.fromkeys(("interrupt-storm", "interrupt-lost"), (PATH, LINE)),
    "short-transfers": (PATH, SIZES, LADDER, RATE),
}  # fmt: skip
"""The pictures that prove what a finding of this name says. One without a line here has the way and the ladder."""

_OTHER = (PATH, BOOKS, LEVEL, WAITS, LADDER)
_MOST_PS = 60_000_000
_LINE_EVENTS = 10  # before the finding, in the picture of interrupts


def finding_drawings(
    view: CaptureView,
    finding: Finding,
    freezes: Sequence[Freeze],
    *,
    prefix: str = "proof-",
    throughput: AnalysisResult | None = None,
) -> list[Drawing]:
    """Return the pictures that prove a finding; never none.

    Those over time share one axis, but for the ladder, which shows single packets.

    Args:
        throughput: the result of that analysis, where it was run already.
    """
    made = _Proof(view, finding, freezes, prefix, throughput)
    return [one for what in PROVES.get(finding.diagnosis, _OTHER) for one in made.draw(what)]


def shows_rate(finding: Finding) -> bool:
    """Return whether the pictures of a finding show throughput, which one analysis gives for all of them."""
    return RATE in PROVES.get(finding.diagnosis, _OTHER)


def card_finding_drawings(
    card: CardView, finding: Finding, freezes: Sequence[Freeze], *, prefix: str = "proof-"
) -> list[Drawing]:
    """Return the pictures of a finding on a described card: its way through the card, and its packets."""
    marks = time_marks([finding], freezes)
    made = (
        card_path_drawing(card, finding, f"{prefix}path"),
        card_ladder_drawing(card, finding, marks, f"{prefix}ladder"),
    )
    return [one for one in made if one is not None]


class _Proof:
    """Draws one finding's pictures."""

    def __init__(
        self,
        view: CaptureView,
        finding: Finding,
        freezes: Sequence[Freeze],
        prefix: str,
        throughput: AnalysisResult | None,
    ) -> None:
        self._throughput = throughput
        self._view, self._finding, self._prefix = view, finding, prefix
        self._marks = time_marks([finding], freezes)
        self._sender, self._receiver = direction_of(view, finding)
        flow = finding.flow
        self._books = None if flow is None else staircases(view, self._sender, self._receiver, flow)
        self._level = fifo_level(view, self._receiver)
        span = None
        if self._books is not None:
            waits = self._flow_waits()
            pairs = list(zip(waits["t_ps"].tolist(), waits["t_end_ps"].tolist(), strict=True))
            span = books_span(self._books, finding, pairs)
        if span is None and finding.t_ps is not None:
            dated = [t for t in finding.times_ps if abs(t - finding.t_ps) < _MOST_PS]
            span = framed(min([*dated, finding.t_ps]), max([*dated, finding.t_ps]))
        self._span = span

    def draw(self, what: str) -> list[Drawing]:
        """Return the pictures of one kind; none where the recording holds nothing of it."""
        name, view = f"{self._prefix}{what}", self._view
        if what in (PATH, LADDER, SIZES):
            found = (
                path_drawing(view, self._finding, name)
                if what == PATH
                else ladder_drawing(view, self._finding, self._marks, name)
                if what == LADDER
                else sizes_drawing(view, self._sender, name)
            )
            return [found] if found else []
        draw = {
            BOOKS: self._staircases,
            LEVEL: self._levels,
            THERE: self._elsewhere,
            WAITS: self._waits,
            LINE: self._line,
            RATE: self._rates,
        }
        return [] if self._span is None else draw[what](name, self._span)

    def _staircases(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        if self._books is None or not self._books.series:
            return []
        return [books_drawing(self._books, span, self._marks, self._view.trace.coverage, name)]

    def _levels(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        if self._level is None or not level_within(self._level, span):
            return []
        return [series_drawing(self._level, span, self._marks, self._view.trace.coverage, name)]

    def _elsewhere(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        """Draw books, level and waits where the level was recorded, if that is not around the finding."""
        level = self._level
        if level is None or level_within(level, span):
            return []
        there = int(level.t_ps[0]), int(level.t_ps[-1]) + 1
        made = [
            *self._staircases(f"{name}-books", there),
            series_drawing(level, there, self._marks, self._view.trace.coverage, f"{name}-level"),
            *self._waits(f"{name}-waits", there),
        ]
        where = (
            f", {format_ps(there[0])} to {format_ps(there[1])}: where the FIFO's level was recorded"
        )
        return [replace(one, title=one.title + where) for one in made]

    def _flow_waits(self) -> pd.DataFrame:
        """Return the waits of the finding's flow, of all flows of its sender where it has none."""
        waits = self._view.trace.intervals
        mine = waits["device"] == self._sender
        if self._finding.flow is not None:
            mine &= waits["flow"] == self._finding.flow
        return waits[mine].sort_values("t_ps")

    def _waits(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        trace, flow, events = self._view.trace, self._finding.flow, self._view.trace.events
        of = "" if flow is None else f" of flow {flow}"
        waiting = wait_tracks("", "", replace(trace, intervals=self._flow_waits()))
        lanes = [lane_of(track) for track, _ in waiting] or [
            Lane(
                "",
                f"{self._sender} blocked",
                coverage=trace.coverage.log(self._sender, Kind.PRESSURE),
            )
        ]
        for device, codes, what in (
            (self._receiver, ("sent",), "credits told"),
            (self._sender, ("taken", "refused_parity", "refused_crc"), "credits taken"),
        ):
            mine = (events["device"] == device) & (events["kind"] == "CREDIT")
            mine &= events["code"].isin(codes)
            if flow is not None:
                mine &= events["flow"] == flow
            lanes.append(self._events(events[mine], f"{device} {what}", device, Kind.CREDIT))
        title = f"Back-pressure of {self._sender}{of}, and its credits"
        return [self._lanes(name, title, lanes, span)]

    def _line(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        """Draw completions and what became of the interrupt line of the finding's device."""
        trace, device = self._view.trace, self._finding.device or self._receiver
        events = trace.events
        mine = events[(events["device"] == device) & events["kind"].isin(("NOTE", "IRQ"))]
        by_code = [mine["kind"].astype(str), mine["code"].astype(str)]
        lanes = [
            self._events(group, f"{kind} {code}".lower(), device, Kind[str(kind)])
            for (kind, code), group in mine.groupby(by_code, sort=True)
        ]
        t_ps = mine["t_ps"].to_numpy()
        at = int(np.searchsorted(t_ps, self._finding.t_ps or 0))
        near = t_ps[max(0, at - _LINE_EVENTS) : at + 3 * _LINE_EVENTS]
        span = framed(int(near.min()), int(near.max())) if len(near) else span
        made = [self._lanes(name, f"Completions and the interrupt line of {device}", lanes, span)]
        raised = mine[(mine["kind"] == "IRQ") & (mine["code"] == "raised")]
        if len(raised):
            waiting = Series(
                f"{device}.waiting", f"completions waiting at {device} as its interrupt was raised", "",
                raised["t_ps"].to_numpy(), raised["value"].to_numpy(), rests_on=(f"{device}.{EVENT_LOG}",),
            )  # fmt: skip
            made.append(
                series_drawing(waiting, span, self._marks, trace.coverage, f"{name}-waiting")
            )
        return made

    def _events(self, events: pd.DataFrame, name: str, device: str, kind: Kind) -> Lane:
        """Return a lane of some events of one kind and device, an empty one where there are none."""
        trace = self._view.trace
        for track, _ in event_tracks("", "", replace(trace, events=events)):
            return replace(lane_of(track), name=name, legend=())  # its name says what it holds
        return Lane("", name, coverage=trace.coverage.log(device, kind))

    def _rates(self, name: str, span: tuple[int, int]) -> list[Drawing]:
        """Draw the sender's throughput against the link's limit, on the axis of its waits."""
        result = self._throughput or run_analysis(THROUGHPUT, self._view)
        mine = [
            one
            for one in result.series
            if one.name.startswith(f"{self._sender}.") and one.limit is not None and len(one.t_ps)
        ]
        return [
            series_drawing(one, span, self._marks, result.memories, f"{name}-{number}")
            for number, one in enumerate(mine[:1])
        ]

    def _lanes(
        self, name: str, title: str, lanes: Sequence[Lane], span: tuple[int, int]
    ) -> Drawing:
        shown = [*lanes, evidence_lane(self._finding)]
        caption = f"{title}; from {format_ps(span[0])} to {format_ps(span[1])}."
        sheet = timeline_sheet(name, shown, self._marks, *span, title=title, desc=caption)
        legend = seen_in(sheet, (*legend_of_lanes(shown, *span), RESTS_ON))
        return Drawing(name, title, caption, sheet.render(), legend, sheet=sheet, still=True)
