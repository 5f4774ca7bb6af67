"""What the entries of the menus do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QPoint, Qt
from PyQt6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget

from freezeframe.capture.code import code
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.time_text import format_ps
from freezeframe.gui.desktop.compare import Compare
from freezeframe.gui.desktop.menu_table import ENTRIES, PANELS
from freezeframe.gui.desktop.notes import Note
from freezeframe.gui.desktop.panels.choices import (
    ask_place,
    ask_text,
    ask_time,
    show_text,
    sure,
)
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.opened import ARM_OVER, Opened
from freezeframe.gui.desktop.timeline.keys import key_help
from freezeframe.gui.desktop.timeline.view import Selection
from freezeframe.gui.desktop.views import Views
from freezeframe.gui.desktop.widgets import add_entry
from freezeframe.gui.text import printable

if TYPE_CHECKING:
    from freezeframe.gui.export.run import Exported  # every format there is

# Loaded when they are asked for.
ask_decoder = code("freezeframe.gui.desktop.panels.decoder_dialog:ask_decoder")
export_stretch = code("freezeframe.gui.desktop.export_selection:export_stretch")

_EXPORT = "freezeframe.gui.desktop.view_export"
_VIEW = {form: code(f"{_EXPORT}:write_{form}") for form in ("png", "svg", "csv")}
_PROOF = {form: code(f"{_EXPORT}:proof_{form}") for form in ("png", "svg")}


class Commands(QObject):
    """Every command of a window, by name; `menu_table.ENTRIES` says under which key."""

    def __init__(self, window: Views) -> None:
        super().__init__(window)
        self._window = window
        self._compare = Compare(window)

    # File

    def open_file(self) -> None:
        """Ask for files."""
        paths, _ = QFileDialog.getOpenFileNames(
            self._window,
            "Open",
            "",
            "Captures (*.sr *.vcd *.fst *.ghw *.csv *.bin *.json *.dsl *.isf *.wav *.gz *.xz *.zst);;All files (*)",
        )
        for path in paths:
            self._window.open(path)

    def open_folder(self) -> None:
        """Ask for a capture folder."""
        path = QFileDialog.getExistingDirectory(self._window, "Open capture folder")
        if path:
            self._window.open(path)

    def open_target(self) -> None:
        """Ask for the URL of a card."""
        text = ask_text(
            self._window,
            "Open target",
            "A card (etherbone://192.0.2.7), netdev:eth0, rdma:mlx5_0/1:",
        )
        if text:
            self._window.open(text)

    def close_current(self) -> None:
        """Close the chosen source."""
        key = self._window.sources.current
        if key is not None:
            self._window.workspace.close_source(key)

    def export_view(self, form: str) -> None:
        """Ask for a file, and write what is seen."""
        place = ask_place(
            self._window, f"Export what is seen as {form.upper()}", f"view.{form}", form
        )
        if place is not None:
            self.write_view(form, place)

    def write_view(self, form: str, place: Path) -> None:
        """Write what is seen of the time line to a file."""
        self._write(place, lambda: _VIEW[form](self._window.timeline, place))

    def export_proof(self, form: str) -> None:
        """Ask for a file, and write the pictures of the chosen finding."""
        if self._window.proof.pages.proof is None:
            self._window.show_panel("Proof")
            self._window.say("there are no pictures yet: choose a finding, and wait for them here")
            return
        place = ask_place(self._window, f"Export proof as {form.upper()}", f"proof.{form}", form)
        if place is not None:
            self.write_proof(form, place)

    def write_proof(self, form: str, place: Path) -> None:
        """Write the pictures that are shown to a file."""
        self._write(place, lambda: _PROOF[form](self._window.proof.pages, place))

    def _write(self, place: Path, write: Callable[[], str]) -> None:
        try:
            written = write()
        except FreezeframeError as error:
            self._window.report_error(error)
        else:
            self._window.say(f"{place}: {written}")

    def export_as(self, form: str, suffix: str) -> None:
        """Ask for a file, and export the chosen stretch of the chosen source."""
        opened = self.current()
        if opened is None:
            return
        place = ask_place(
            self._window, f"Export as {form}", f"selection{suffix}", suffix.lstrip(".")
        )
        if place is not None:
            self.write_export(opened, form, place)

    def write_export(self, opened: Opened, form: str, place: Path) -> Any:
        """Export a source in a worker; return the job."""
        window = self._window
        stretch = window.timeline.time_selection()
        own = (
            None
            if stretch is None
            else (stretch[0] - opened.offset_ps, stretch[1] - opened.offset_ps)
        )
        specs = tuple(opened.specs) if form not in ("vcd", "sr") else ()
        registry = window.workspace.registry() if opened.kind == "samples" else None

        def work(progress: Progress) -> Exported:
            exported: Exported = export_stretch(
                opened,
                form,
                place,
                own,
                progress,
                registry=registry,
                specs=specs,
                choice=window.workspace.choice,
            )
            return exported  # fmt: skip

        def done(exported: Exported) -> None:
            counts = ", ".join(f"{count:,} {what}" for what, count in exported.wrote.counts.items())
            files = ", ".join(str(path) for path in exported.files)
            window.say(f"{files}: {counts}. {' '.join(exported.wrote.notes)}")

        title = f"export {opened.name} as {form}"
        return window.workspace.jobs.start(title, work, done, window.say_trouble)

    # Edit

    def add_note(self) -> None:
        """Ask for a note on the chosen event, the chosen stretch, or the middle of what is seen."""
        timeline = self._window.timeline
        chosen, stretch = timeline.selection(), timeline.time_selection()
        if stretch is not None:
            self._ask_note(stretch[0], stretch[1], None)
        elif chosen is not None:
            self._ask_note(chosen.t_ps, None, chosen)
        else:
            self.add_note_at(sum(timeline.range()) // 2)

    def add_note_at(self, t_ps: object) -> None:
        """Ask for a note at a time."""
        if isinstance(t_ps, int):
            self._ask_note(t_ps, None, self._window.timeline.selection())

    def _ask_note(self, t_ps: int, t_end_ps: int | None, chosen: Selection | None) -> None:
        window = self._window
        place = None if chosen is None or chosen.t_ps != t_ps else window.choosing.place_of(chosen)
        opened = self.current()
        key = place.source if place is not None else None if opened is None else opened.key
        if key is None:
            window.say("nothing is open that could be noted")
            return
        text = ask_text(window, "Note", f"Note at {format_ps(t_ps)}:", several_lines=True)
        if text:
            offset = window.workspace.sources[key].offset_ps
            note = Note.new(
                t_ps - offset, text, None if t_end_ps is None else t_end_ps - offset,
                "" if place is None else place.table, None if place is None else place.row,
            )  # fmt: skip
            window.notes.add(key, note)
            window.show_panel("Notes")

    def copy_row(self) -> None:
        """Copy the chosen row as names and values."""
        shown, row = self._window.table.shown, self._window.table.current_row()
        clipboard = QApplication.clipboard()
        if shown is None or row is None or clipboard is None:
            return
        model = self._window.table.model
        names = model.column_names()
        clipboard.setText(
            "\n".join(f"{name}: {model.cell(row, n)}" for n, name in enumerate(names))
        )
        self._window.say("row copied")

    # View

    def go_to_time(self) -> None:
        """Ask for a time and show it."""
        t_ps = ask_time(self._window, "Go to time", "Time (12.5us):")
        if t_ps is not None:
            self._window.timeline.show_time(t_ps)

    def choose_stretch(self) -> None:
        """Ask for a beginning and an end."""
        begin = ask_time(self._window, "Choose a stretch", "From:")
        end = None if begin is None else ask_time(self._window, "Choose a stretch", "To:")
        if begin is not None and end is not None:
            self._window.timeline.set_time_selection((min(begin, end), max(begin, end)))

    def preset(self, name: str) -> None:
        """Show the tracks of a preset."""
        self._window.control.take_preset(name)

    def other_legend(self) -> None:
        """Show the legend where it was hidden, and the other way round."""
        self._window.show_legend(not self._window.legend_on)

    def save_view(self) -> None:
        """Ask for a name, and keep what is seen under it."""
        name = ask_text(self._window, "Save view", "Name of the view:")
        if name:
            self.keep_view(name)

    def keep_view(self, name: str) -> None:
        """Keep what is seen under a name, beside the first source that has a file."""
        work = self._window.workspace
        key = next(
            (k for k, book in work.books.items() if k in work.sources and book.path is not None),
            None,
        )
        if key is None:
            self._window.say("a view is kept beside a capture or file; none is open")
            return
        work.books[key].views[name] = self._window.view_state()
        work.notes_changed(key)

    def show_view(self, key: str, name: str) -> None:
        """Show a view that was kept."""
        self._window.restore_view(self._window.workspace.books[key].views[name])

    def forget_view(self, key: str, name: str) -> None:
        """Take a kept view away."""
        if sure(self._window, "Forget view", f"Forget the view {printable(name)}?"):
            del self._window.workspace.books[key].views[name]
            self._window.workspace.notes_changed(key)

    def other_theme(self) -> None:
        """Dark where it was light, light where it was dark."""
        self._window.set_theme("light" if self._window.theme == "dark" else "dark")

    def full_screen(self) -> None:
        """Full screen and back."""
        if self._window.isFullScreen():
            self._window.showNormal()
        else:
            self._window.showFullScreen()

    # Find, cursors

    def focus_filter(self) -> None:
        """Put the keyboard into the filter line."""
        self._window.focus_line(self._window.table.filter_edit)

    def clear_search(self) -> None:
        """Show everything again."""
        table = self._window.table
        table.find_edit.clear()
        table.filter_edit.clear()
        table.search()
        table.apply_filter()

    def add_cursor(self) -> None:
        """Ask for a time and put a cursor there."""
        t_ps = ask_time(self._window, "Add cursor", "Time (12.5us):")
        if t_ps is not None:
            self._window.timeline.add_cursor(t_ps)

    # Sources

    def source_asked(self, what: str, key: str) -> None:
        """Do what was asked of a source."""
        window = self._window
        opened = window.workspace.sources.get(key)
        if opened is None:
            return
        if what == "close":
            window.workspace.close_source(key)
        elif what == "decode":
            if opened.kind != "samples":
                window.say(f"{opened.name}: is decoded already; this is for signals")
            else:
                ask_decoder(window, window.workspace, opened)
        elif what == "offset":
            t_ps = ask_time(
                window, "Offset", f"Where does {opened.name} begin on the time base of the first?"
            )
            if t_ps is not None:
                window.workspace.set_offset(key, t_ps)
        elif what == "align":
            self._compare.align(key)

    def compare(self) -> None:
        """Compare the first two captures."""
        self._compare.compare()

    def live_asked(self, what: str, key: str) -> None:
        """Do what was asked of a live card; what destroys a recording is asked again."""
        window = self._window
        if not window.allow_write:
            window.say_trouble(f"{what}: this window only reads; start it with --allow-write")
            return
        live = window.workspace.live.get(key)
        frozen = live is not None and any(s.state == "frozen" for s in live.watched.recorders)
        if what == "arm" and frozen:
            if not sure(
                window,
                "Arm",
                "The card holds a frozen recording. Arming it makes that recording be lost.",
            ):
                return
            what = ARM_OVER
        window.workspace.act(key, what)

    def ask_of_current(self, what: str) -> None:
        """Do what was asked of the chosen source."""
        key = self._window.sources.current
        if key is None:
            self._window.say("nothing is open")
        else:
            self.source_asked(what, key)

    def current(self) -> Opened | None:
        work = self._window.workspace
        key = self._window.sources.current
        return work.sources.get(key) if key is not None else next(iter(work.sources.values()), None)

    # Panels, help

    def go_to_panel(self, title: str) -> None:
        """Show a panel and put the keyboard into it."""
        self._window.show_panel(title)
        widget = self._window.docks[title].widget()
        if widget is not None:
            widget.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def step_panel(self, by: int) -> None:
        """Put the keyboard into the next panel; the time line is one of them."""
        docks = self._window.docks
        open_titles = [t for t in PANELS if docks[t].isVisible()]
        middle = self._window.timeline
        stops: list[QWidget] = [middle if middle.isVisible() else self._window.welcome]
        stops += [w for t in open_titles if (w := docks[t].widget()) is not None]
        now = QApplication.focusWidget()
        at = next(
            (
                n
                for n, stop in enumerate(stops)
                if now is not None and (stop is now or stop.isAncestorOf(now))
            ),
            0,
        )
        chosen = stops[(at + by) % len(stops)]
        if chosen is stops[0]:
            chosen.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        title = next(t for t in open_titles if docks[t].widget() is chosen)
        self.go_to_panel(title)

    def show_keys(self) -> None:
        """Show all keys."""
        lines = [
            f"{entry.key:<18}{entry.text.replace('&', '').rstrip('.')}"
            for entry in ENTRIES
            if entry.key
        ]
        own = [f"{keys:<18}{what}" for keys, what in key_help()]
        text = "\n".join(["In the time line", "", *own, "", "Everywhere", "", *lines])
        show_text(self._window, "Keys", text)

    def context(self, selection: Selection | None, t_ps: object, at: QPoint) -> None:
        """Show what can be done at a place of the time line."""
        menu = QMenu(self._window)
        entries: list[tuple[str, Callable[[], object]]] = []
        if isinstance(t_ps, int):
            entries.append(("&Note here...", lambda: self.add_note_at(t_ps)))
            entries.append(("&Cursor here", lambda: self._window.timeline.add_cursor(t_ps)))
        if selection is not None:
            key = selection.key
            entries.append(("&Hide track", lambda: self._window.control.show([key], False)))
            pinned = key in self._window.control.choice.pins
            text = "Let the track &go" if pinned else "&Pin track"
            entries.append((text, lambda: self._window.control.pin(key, not pinned)))
            entries.append(("&Show row in the table", lambda: self.go_to_panel("Events")))
        entries.append(("&Fit everything", self._window.timeline.zoom_fit))
        for text, act in entries:
            add_entry(menu, text, act)
        menu.popup(at)

    def cancel_all(self) -> None:
        self._window.workspace.jobs.cancel_all()
        self._window.timeline.cancel_build()

    def focus_timeline(self) -> None:
        self._window.timeline.setFocus(Qt.FocusReason.ShortcutFocusReason)
