"""Which tracks the time line shows: the choice of `track_tree`, brought to the time line and its panel."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import QObject, pyqtSignal

from freezeframe.gui.desktop.panels.tracks_panel import TracksPanel
from freezeframe.gui.desktop.timeline.layout import GroupLine
from freezeframe.gui.desktop.timeline.view import TimelineView
from freezeframe.gui.desktop.track_tree import MOST_OPEN, TrackChoice, offered
from freezeframe.gui.tracks.tracks import Track

_FAULT, _SIGNALS = "fault", "signals"  # of `PRESETS`
_LEAST_OPEN = 5  # of each source, where there are many


class TrackControl(QObject):
    """One choice of tracks for the whole window.

    Signals: ``changed`` when other tracks are open; ``offers`` with the presets that would show something.
    """

    changed = pyqtSignal()
    offers = pyqtSignal(object)

    def __init__(self, timeline: TimelineView, panel: TracksPanel, parent: QObject) -> None:
        super().__init__(parent)
        self.choice = TrackChoice()
        self._timeline = timeline
        self._panel = panel
        self.own_order = False  # the user has moved a track: what comes later is put at the end
        self._expects_faults = True
        self._in_place = False  # the preset of signals stands in place of the user's
        self._own = False  # a saved view is shown: nothing is opened or closed by itself
        timeline.group_clicked.connect(self._group)
        panel.shown.connect(self.show)
        panel.pinned.connect(self.pin)
        panel.searched.connect(self.search)
        panel.chosen.connect(self._to)

    def given(self) -> None:
        """Take the tracks that the time line has now."""
        self._apply()
        self.offers.emit(offered(self._timeline.tracks()))

    @property
    def own_preset(self) -> str:
        """The preset that is the user's."""
        return _FAULT if self._in_place else self.choice.preset

    def expect_faults(self, on: bool) -> None:
        """Show signals in place of "find the fault" while nothing is open in which one could be found."""
        if on == self._expects_faults:
            return
        self._expects_faults = on
        if self.own_preset == _FAULT:
            self._in_place = not on
            self.choice.preset = _FAULT if on else _SIGNALS
            self._apply()

    def take_preset(self, name: str) -> None:
        """Open the tracks of a preset. Raises: KeyError."""
        self.choice.take_preset(name)
        self._own = self._in_place = False
        self._panel.search.blockSignals(True)
        self._panel.search.clear()
        self._panel.search.blockSignals(False)
        self._apply()

    def show(self, keys: Sequence[str], on: bool) -> None:
        """Open or close tracks by hand."""
        self.choice.by_hand |= dict.fromkeys(keys, on)
        if on and self.choice.search:
            self._panel.search.clear()
        self._apply()

    def pin(self, key: str, on: bool) -> None:
        """Let a track stay open above the others, or not."""
        (self.choice.pins.add if on else self.choice.pins.discard)(key)
        self._apply()

    def pin_focused(self) -> None:
        """Pin the track that keys act on, or let it go."""
        key = self._timeline.focus_track()
        if key is not None:
            self.pin(key, key not in self.choice.pins)

    def search(self, words: str) -> None:
        """Show the tracks that hold these words; none: the choice of before."""
        self.choice.search = words
        self._apply()

    def set_evidence(self, keys: Sequence[str]) -> None:
        """Take the tracks that the chosen finding rests on."""
        if tuple(keys) != self.choice.evidence:
            self.choice.evidence = tuple(keys)
            self._apply()

    def reveal(self, key: str) -> None:
        """Open a track that something was chosen in."""
        if key in self._timeline.arranged.hidden:
            self.show([key], True)

    def restored(self) -> None:
        """Keep what a saved view shows."""
        self._own = True
        self.choice.by_hand.clear()
        self._apply()

    def _group(self, line: GroupLine) -> None:
        self.show(line.keys, line.shown < len(line.keys))

    def _to(self, key: str) -> None:
        if key not in self._timeline.arranged.hidden and key in self._timeline.arranged.order():
            self._timeline.set_focus_track(key)

    def _apply(self) -> None:
        tracks = self._timeline.tracks()
        sources: dict[str, list[Track]] = {}
        for track in tracks:
            sources.setdefault(track.key.split("/")[0], []).append(track)
        if not self.own_order:
            self._timeline.arranged.set_order(
                [t.key for mine in sources.values() for t in self.choice.order(mine)]
            )
        self._timeline.arranged.set_groups(self.choice.group_of(tracks))
        if self._own:
            self._timeline.arranged.set_hidden(
                {
                    k
                    for k in self._timeline.arranged.hidden
                    if self.choice.by_hand.get(k) is not True
                }
                | {k for k, on in self.choice.by_hand.items() if not on}
            )
        else:
            hidden: set[str] = set()
            for mine in sources.values():
                hidden |= self.choice.hidden(mine, max(MOST_OPEN // len(sources), _LEAST_OPEN))
            self._timeline.arranged.set_hidden(hidden)
        named = [(mine[0].source, mine) for mine in sources.values()]
        self._panel.set_tracks(named, self.choice, self._timeline.arranged.hidden)
        self.changed.emit()
