"""All tracks in a tree by device and topic: shown or not, pinned, searched, or chosen by a preset."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtWidgets import QLineEdit, QToolButton, QTreeWidgetItem, QWidget

from freezeframe.gui.desktop.track_tree import Branch, TrackChoice, tree_of
from freezeframe.gui.desktop.widgets import fill_panel, item, named, tree
from freezeframe.gui.tracks.tracks import Track

_KEY = Qt.ItemDataRole.UserRole
_SHOWN, _PINNED = 0, 1
_ON, _OFF, _SOME = (
    Qt.CheckState.Checked,
    Qt.CheckState.Unchecked,
    Qt.CheckState.PartiallyChecked,
)


class TracksPanel(QWidget):
    """A line to search in, and the tree with two boxes for each track.

    Signals: ``shown`` (keys, on) and ``pinned`` (key, on) by the user's hand; ``searched`` the words; ``chosen`` a key.
    """

    shown = pyqtSignal(object, bool)
    pinned = pyqtSignal(str, bool)
    searched = pyqtSignal(str)
    chosen = pyqtSignal(str)

    def __init__(self) -> None:
        super().__init__()
        self.search = named(QLineEdit(), "search tracks", "Shows the tracks that hold all words.")
        self.search.setPlaceholderText("Search tracks: words of a name, a device, a topic")
        self.search.setClearButtonEnabled(True)
        for clear in self.search.findChildren(QToolButton):
            named(clear, "clear search of tracks")
        self.tree = tree("tracks", ("track", "pinned"))
        fill_panel(self, self.search, (self.tree, 1), focus=self.search)
        self._filled: list[tuple[str, frozenset[str]]] = []
        self._leaves: dict[str, QTreeWidgetItem] = {}
        self.search.textChanged.connect(self.searched)
        self.tree.itemChanged.connect(self._changed)
        self.tree.currentItemChanged.connect(lambda now, _: self._current(now))

    def set_tracks(
        self,
        sources: Sequence[tuple[str, Sequence[Track]]],
        choice: TrackChoice,
        hidden: set[str],
    ) -> None:
        """Show the tracks of each source by its name; the branches that are open stay so."""
        filled = [(name, frozenset(t.key for t in tracks)) for name, tracks in sources]
        self.tree.blockSignals(True)
        if filled != self._filled:
            self._filled, self._leaves = filled, {}
            self.tree.clear()
            several = len(sources) > 1
            for name, tracks in sources:
                branches = [self._branch(branch) for branch in tree_of(tracks)]
                if several:
                    branches = [item([name, ""], branches)]
                self.tree.addTopLevelItems(branches)
            self.tree.expandToDepth(1 if several else 0)
        for key, leaf in self._leaves.items():
            leaf.setCheckState(_SHOWN, _OFF if key in hidden else _ON)
            leaf.setCheckState(_PINNED, _ON if key in choice.pins else _OFF)
        for number in range(self.tree.topLevelItemCount()):
            _summed(self.tree.topLevelItem(number))
        self.tree.setColumnWidth(0, max(self.tree.width() - 90, 200))
        self.tree.blockSignals(False)

    def _branch(self, branch: Branch) -> QTreeWidgetItem:
        leaves = [self._leaf(track) for track in branch.tracks]
        below = [self._branch(one) for one in branch.branches]
        return item([branch.title, ""], [*below, *leaves])

    def _leaf(self, track: Track) -> QTreeWidgetItem:
        made = item([track.name, ""], data=track.key)
        made.setToolTip(0, f"{made.text(0)}")
        self._leaves[track.key] = made
        return made

    def _changed(self, changed: QTreeWidgetItem | None, column: int) -> None:
        if changed is None:
            return
        on = changed.checkState(column) == _ON
        keys = _keys(changed)
        if column == _PINNED and len(keys) == 1:
            self.pinned.emit(keys[0], on)
        elif column == _SHOWN:
            self.shown.emit(keys, on)

    def _current(self, now: QTreeWidgetItem | None) -> None:
        key = None if now is None else now.data(0, _KEY)
        if isinstance(key, str):
            self.chosen.emit(key)


def _keys(branch: QTreeWidgetItem) -> list[str]:
    """Return the keys of a track, or of all tracks below a branch."""
    own = branch.data(0, _KEY)
    if isinstance(own, str):
        return [own]
    below = [branch.child(number) for number in range(branch.childCount())]
    return [key for one in below if one is not None for key in _keys(one)]


def _summed(branch: QTreeWidgetItem | None) -> Qt.CheckState:
    """Set the box of a branch to what those below it have in common; return it."""
    if branch is None:
        return _OFF
    if branch.childCount():
        states = {_summed(branch.child(number)) for number in range(branch.childCount())}
        branch.setCheckState(_SHOWN, states.pop() if len(states) == 1 else _SOME)
    return branch.checkState(_SHOWN)
