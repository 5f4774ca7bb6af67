"""What ties the views together: tracks to tables, a chosen row to all views, filters and hits to tracks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from freezeframe.gui.desktop.inspection import Inspection, inspect_packet, inspect_row
from freezeframe.gui.desktop.notes import NoteBook
from freezeframe.gui.desktop.sources.filtering import filtered, rows_shown
from freezeframe.gui.desktop.sources.opened import Opened, Place, shifted
from freezeframe.gui.desktop.timeline.tracks import MarkTrack, Track

if TYPE_CHECKING:
    from freezeframe.analyzers.contract import Finding

__all__ = ["Shown", "evidence_rows", "evidence_stretch", "inspection_of", "note_track", "rank_of"]

Bools = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

_RANKS = (
    ("findings", "notes", "compare"),
    ("bus", "wave", "packets", "words", "table", "live", "live-log"),
    ("sampler",),
    ("intervals",),
    ("events",),
    ("state",),
)
_AROUND_PS = 400_000  # beside the evidence of a finding, so that what came before is seen
_PACKET_WORDS = 600  # a packet cannot have more; a table that lies is shown row by row


@dataclass(slots=True)
class Shown:
    """The tracks of one source as the time line has them, and what they were made from.

    ``matches`` are the filters of its tables. `prepare` may run in a worker: it changes nothing.
    """

    opened: Opened
    matches: dict[str, Bools]
    notes: NoteBook | None = None

    def prepare(self) -> Callable[[], list[Track]]:
        """Return what makes the tracks, from what the source holds now."""
        opened = self.opened
        tracks, shown_by = list(opened.tracks), dict(opened.shown_by)
        offset_ps, matches = opened.offset_ps, dict(self.matches)
        notes = None if self.notes is None else note_track(opened, self.notes)

        def make() -> list[Track]:
            made = []
            for track in tracks:
                match = matches.get(shown_by.get(track.key, ""))
                one = track if match is None else filtered(track, match)
                made.append(shifted(one, offset_ps))
            if notes is not None:
                made.append(shifted(notes, offset_ps))
            return sorted(made, key=rank_of)

        return make

    @property
    def costly(self) -> bool:
        """Whether making the tracks takes more than a moment."""
        if not self.opened.offset_ps and not self.matches:
            return False
        return sum(len(track) for track in self.opened.tracks) > _MOMENT

    def hits(self, table: str, rows: Int64) -> dict[str, Int64]:
        """Return the rows of a table that each of the tracks shows."""
        keys = set(self.opened.tracks_of(table))
        return {
            track.key: rows_shown(track, rows) for track in self.opened.tracks if track.key in keys
        }


_MOMENT = 200_000  # items that are filtered or moved within a few milliseconds


def rank_of(track: Track) -> int:
    """Return the place of a track among those of its source: findings first, analyses last.

    Tracks of one rank stay in the order in which they were made: the words of a tap under its packets.
    """
    part = track.key.split("/")[1] if "/" in track.key else ""
    return next((rank for rank, parts in enumerate(_RANKS) if part in parts), len(_RANKS))


def begins_thin(track: Track) -> bool:
    """Return whether a track is a thin strip until it is needed: single words, further lanes."""
    parts = track.key.split("/")
    further = parts[-1].isdigit() and int(parts[-1]) > 1 and track.name.endswith(f"({parts[-1]})")
    return parts[1] == "words" or further


def note_track(opened: Opened, book: NoteBook) -> MarkTrack | None:
    """Return the notes of a source as marks; ``rows`` count them in the book. None without any."""
    if not book.notes:
        return None
    return MarkTrack(
        key=f"{opened.key}/notes",
        name="notes",
        source=opened.name,
        t_ps=np.array([note.t_ps for note in book.notes], np.int64),
        text=tuple(note.text.split("\n", 1)[0] for note in book.notes),
        role=("note",) * len(book.notes),
        note="Your own notes: kept in notes.json, no evidence.",
    )


def inspection_of(opened: Opened, place: Place) -> tuple[Inspection, int | None]:
    """Return what the inspector shows of a row, and the row of the word that is chosen in it."""
    trace = opened.trace
    table = opened.tables[place.table]
    if trace is not None and place.table in ("packets", "words"):
        packet, word = place.row, None
        if place.table == "words":
            packet, word = int(trace.words["packet"].iloc[place.row]), place.row
        if 0 <= packet < len(trace.packets):
            said = trace.packets.iloc[packet]
            if int(said["end_row"]) - int(said["first_row"]) <= _PACKET_WORDS:
                return inspect_packet(trace, packet, opened.findings), word
    values = table.row(place.row)
    text = "" if table.text is None else table.text(values)
    return inspect_row(place.table, place.row, values, text), None


def evidence_rows(finding: Finding) -> dict[str, Int64]:
    """Return the rows of each table that a finding rests on, ascending."""
    found: dict[str, set[int]] = {}
    for evidence in finding.evidence:
        for row in evidence.rows:
            if row.row is not None:
                found.setdefault(row.table, set()).add(row.row)
    return {table: np.array(sorted(rows), np.int64) for table, rows in found.items()}


def evidence_stretch(finding: Finding) -> tuple[int, int] | None:
    """Return the time that shows the evidence of a finding with some before and after; None undated."""
    times = [row.t_ps for one in finding.evidence for row in one.rows if row.t_ps is not None]
    if finding.t_ps is not None:
        times.append(finding.t_ps)
    if not times:
        return None
    # What lies far from the symptom (the first packet of a flow) would hide it; it is in the list.
    around = finding.t_ps if finding.t_ps is not None else sorted(times)[len(times) // 2]
    near = [t for t in times if abs(t - around) < 100 * _AROUND_PS]
    first, last = min([*near, around]), max([*near, around])
    beside = max((last - first) // 4, _AROUND_PS)
    return first - beside, last + beside


def first_evidence(finding: Finding) -> tuple[str, int] | None:
    """Return the table and row that shows a finding best: what differs, what has its time, the first."""
    rows = [
        (row, row.row)
        for one in finding.evidence
        for row in one.rows
        if row.row is not None and row.table in ("words", "events")
    ]
    wrong = [one for one in rows if one[0].expected not in (None, one[0].value)]
    dated = [one for one in rows if one[0].t_ps is not None and one[0].t_ps == finding.t_ps]
    for row, number in [*wrong, *dated, *rows]:
        return row.table, number
    return None


def json_safe(value: Any) -> Any:
    """Return a view's state as JSON keeps it: tuples as lists, names as texts."""
    if isinstance(value, dict):
        return {str(key): json_safe(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [json_safe(one) for one in value]
    return value
