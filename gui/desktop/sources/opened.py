"""What is open: tables, tracks, findings and remarks of one source, whatever it was made from.

A source is put together in a worker and handed over whole; the window only reads it. Times are those
of the source itself; ``offset_ps`` is the time of its zero on the window's time base.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.wall_clock import WallClock
from freezeframe.capture.folder import CaptureFolder
from freezeframe.decoders.trace.coverage import Coverage
from freezeframe.decoders.trace.decode import Trace
from freezeframe.gui.desktop.evidence import AROUND_PS
from freezeframe.gui.moments import Freeze, card_freeze, freezes
from freezeframe.gui.tracks.story import Step, story_of
from freezeframe.gui.tracks.tracks import MarkTrack, Track

if TYPE_CHECKING:  # all analyses of a described card: not of the first picture of a capture
    from freezeframe.analyzers.card.view import CardsView

_FILE_ENDS = ("before the file begins", "the file ends here")
SourceKind = Literal["capture", "samples", "packets", "recording", "live"]


ARM_OVER = "arm anyway"
"""What is asked of a card to arm it although its recording is kept nowhere."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table of events as the window shows it.

    ``text`` puts a row (column -> value) into words; None where its columns say all. ``partner``: the
    source whose packets are listed beside those of the table's own (`Pairs.table`); empty for any other table.
    """

    key: str
    frame: pd.DataFrame
    text: Callable[[Mapping[str, Any]], str] | None = None
    doc: str = ""
    partner: str = ""

    def __len__(self) -> int:
        return len(self.frame)

    def row(self, number: int) -> dict[str, Any]:
        """Return a row as column -> value."""
        return {str(name): self.frame[name].iloc[number] for name in self.frame.columns}


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a table of a source: what table, time line and inspector select together."""

    source: str
    table: str
    row: int


@dataclass(slots=True, eq=False)
class Part:
    """What a worker adds to a source that is shown already. ``tracks`` go with their tables."""

    tables: list[Table] = field(default_factory=list)
    tracks: list[tuple[Track, str | None]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    analyses: list[AnalysisResult] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    specs: list[str] = field(default_factory=list)
    answer: str = ""


@dataclass(slots=True, eq=False)
class Opened:
    """A source that is open.

    Attributes:
        key: names it in the window, for good: ``1``, ``2``... by order of opening.
        name: what people call it; ``where`` is the path or URL that opens it again.
        tables: by key, in the order they are offered. ``shown_by`` says which table a track shows.
        remarks: what a reader should know: losses, doubts of times, what an analysis lacks.
        specs: the decoders that samples were decoded with.
        wall_clock: when its time 0 was; None where that is not known.
        around_ps: what is shown before and after the evidence of a finding.
        loaded: whether all of it is there; a capture is shown while its analyses still run.
    """

    key: str
    name: str
    where: str
    kind: SourceKind
    path: Path | None = None
    tables: dict[str, Table] = field(default_factory=dict)
    tracks: list[Track] = field(default_factory=list)
    shown_by: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    analyses: dict[str, AnalysisResult] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    specs: list[str] = field(default_factory=list)
    channels: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)
    folder: CaptureFolder | None = None
    trace: Trace | None = None
    cards: CardsView | None = None
    answer: str = "no finding: nothing in the recording contradicts a card without a fault"
    offset_ps: int = 0
    wall_clock: WallClock | None = None
    around_ps: int = AROUND_PS
    loaded: bool = False

    def story(self, finding: Finding) -> list[Step]:
        """Return the steps in which one of its findings is told."""
        frozen: list[Freeze] = []
        if self.folder is not None and self.trace is not None:
            frozen = freezes(self.folder, self.trace)
        elif self.cards is not None and len(self.cards.cards) == 1:
            freeze = card_freeze(self.cards.cards[0])
            frozen = [] if freeze is None else [freeze]
        return story_of(finding, self.trace, frozen)

    def absorb(self, part: Part) -> None:
        """Take what a worker has added; a track or table of a key that is there is replaced."""
        tracks = {track.key: track for track in self.tracks}
        for track, table in part.tracks:
            tracks[track.key] = track
            if table is not None:
                self.shown_by[track.key] = table
        self.tracks = list(tracks.values())
        if self.kind != "capture":
            self.tracks = [self._covered(track) for track in self.tracks]
        self.tables |= {table.key: table for table in part.tables}
        self.findings += part.findings
        self.analyses |= {result.name: result for result in part.analyses}
        self.specs += part.specs
        self.answer = part.answer or self.answer
        self.remarks = list(dict.fromkeys([*self.remarks, *part.remarks]))

    def _covered(self, track: Track) -> Track:
        """Return a track of a file with the stretch that the file has, one of a live source with what was read."""
        if (track.coverage.holes and self.kind != "live") or isinstance(track, MarkTrack):
            return track
        mine = [track] if self.kind == "live" else self.tracks
        spans = [span for one in mine if (span := one.extent_ps()) is not None]
        if not spans:
            return track
        what = ("not read yet", "not read since") if self.kind == "live" else _FILE_ENDS
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        return replace(track, coverage=Coverage.between(first, last, *what))

    def tracks_of(self, table: str) -> list[str]:
        """Return the keys of the tracks that show rows of a table."""
        return [track.key for track in self.tracks if self.shown_by.get(track.key) == table]


def reaches_of(sources: Sequence[Opened]) -> tuple[dict[str, Coverage], list[int]]:
    """Return what each memory of the open recordings covers, by name, and the times of all findings."""
    several = sum(source.kind == "capture" for source in sources) > 1
    memories: dict[str, Coverage] = {}
    findings: list[int] = []
    for source in sources:
        held = source.trace or source.cards
        memories_of = {} if held is None else held.coverage.memories
        for name, covered in memories_of.items():
            memories[f"{source.name}: {name}" if several else name] = covered.shifted(
                source.offset_ps
            )
        findings += [f.t_ps + source.offset_ps for f in source.findings if f.t_ps is not None]
    return memories, findings


def shifted(track: Track, offset_ps: int) -> Track:
    """Return a track with all its times later by so much; the track itself for 0."""
    if not offset_ps:
        return track
    times = {name: getattr(track, name, None) for name in ("t_ps", "t_end_ps", "end_ps")}
    moved = {name: at + offset_ps for name, at in times.items() if at is not None}
    return replace(track, coverage=track.coverage.shifted(offset_ps), **moved)
