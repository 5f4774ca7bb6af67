"""The tracks of a source as the time line shows them: filtered, moved in time, with notes, in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.gui.desktop.notes import NoteBook
from freezeframe.gui.desktop.sources.filtering import filtered, rows_shown
from freezeframe.gui.desktop.sources.opened import Opened, shifted
from freezeframe.gui.tracks.topics import is_further_lane, rank
from freezeframe.gui.tracks.tracks import MarkTrack, Track

Bools = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

_MOMENT = 200_000  # items that are filtered or moved within a few milliseconds


@dataclass(slots=True)
class ShownTracks:
    """The tracks of one source as the time line has them, and what they are made from.

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
        notes = None if self.notes is None else _note_track(opened, self.notes)

        def make() -> list[Track]:
            shown = []
            for track in tracks:
                match = matches.get(shown_by.get(track.key, ""))
                kept = track if match is None else filtered(track, match)
                shown.append(shifted(kept, offset_ps))
            if notes is not None:
                shown.append(shifted(notes, offset_ps))
            return sorted(shown, key=rank)

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


def begins_thin(track: Track) -> bool:
    """Return whether a track is a thin strip until it is needed: single words, further lanes."""
    return track.key.split("/")[1] == "words" or is_further_lane(track)


def _note_track(opened: Opened, book: NoteBook) -> MarkTrack | None:
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
