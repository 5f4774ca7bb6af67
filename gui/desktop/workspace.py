"""What is open, and everything that opens, decodes, notes and saves it, without a window.

All work that may take long runs in jobs; what they give is taken here, in the thread of the window.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PyQt6.QtCore import QObject, QTimer, pyqtSignal

from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.capture.code import code
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.files.choice import SourceChoice
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.decoders.registry import Registry, load_decoders
from freezeframe.gui.desktop.notes import NoteBook, notes_path, read_notes, write_notes
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.beside import place_by_clock
from freezeframe.gui.desktop.sources.capture import load_capture
from freezeframe.gui.desktop.sources.choice import kind_of
from freezeframe.gui.desktop.sources.opened import Opened, Part
from freezeframe.gui.desktop.workers import Job, Jobs, delayed
from freezeframe.gui.text import printable
from freezeframe.gui.told_freeze import told

if TYPE_CHECKING:
    from freezeframe.gui.desktop.sources.live import LiveSource  # readers, monitors

# What is not needed for the first picture of a capture is loaded when it is asked for, by the worker that needs it.
_SOURCES = "freezeframe.gui.desktop.sources"
_open_live = code(f"{_SOURCES}.live:open_live")
_load_card = code(f"{_SOURCES}.card:load_card")
_load_packets = code(f"{_SOURCES}.packets:load_packets")
_load_recording = code(f"{_SOURCES}.recorded:load_recording")
_load_samples = code(f"{_SOURCES}.samples:load_samples")
_decode_samples = code(f"{_SOURCES}.samples:decode_samples")
_guess = code("freezeframe.decoders.guess.propose:guess")

_POLL_MS = 200
_SAVE_MS = 400  # after the last change of a note


class Workspace(QObject):
    """The open sources.

    Signals: ``added``, ``removed`` a key; ``changed`` a key and what has changed ("all", "live",
    "findings", "notes"); ``trouble`` a line to show; ``said`` a line for the status bar.
    """

    added = pyqtSignal(str)
    changed = pyqtSignal(str, str)
    removed = pyqtSignal(str)
    trouble = pyqtSignal(str)
    said = pyqtSignal(str)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        period_s: float = 0.5,
        into: Path | None = None,
        choice: SourceChoice | None = None,
        registry: Registry | None = None,
        analyses: AnalysisRegistry | None = None,
    ) -> None:
        """``into``: where pulled captures go; ``choice``: how files of samples are read.

        ``registry`` and ``analyses``: the decoders and analyses; by default all that are installed.
        """
        super().__init__(parent)
        self.jobs = Jobs(self)
        self.sources: dict[str, Opened] = {}
        self.books: dict[str, NoteBook] = {}
        self.live: dict[str, LiveSource] = {}
        self._opening: dict[str, Job] = {}
        self.choice = choice
        self._registry = registry
        self._analyses = analyses
        self._period_s = period_s
        self._into = into or Path()
        self._count = 0
        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self._poll_live)
        self._pulled: dict[
            str, str
        ] = {}  # a capture that is being explained -> the card it was pulled from
        self._unsaved: set[str] = set()
        self._saving: Job | None = None
        self._save_soon = delayed(self, _SAVE_MS, self._save)

    # Opening and closing

    def open(self, what: str, specs: tuple[str, ...] = ()) -> str | None:
        """Begin to open a path or URL; return the key it will have. What cannot be opened is reported as trouble."""
        try:
            kind = kind_of(what)
        except FreezeframeError as error:
            self.trouble.emit(printable(str(error)))
            return None
        self._count += 1
        key = str(self._count)
        if kind == "live":
            job = self.jobs.start(
                f"open {what}",
                lambda progress: _open_live(key, what, self._period_s, progress),
                self._live_opened,
            )
        else:
            path = Path(what)
            job = self.jobs.start(
                f"open {path.name}",
                lambda progress: self._load(kind, key, path, progress),
                lambda _: self._loaded(key, specs),
            )
            job.part.connect(lambda part: self._take(key, part))
        self._opening[key] = job
        job.failed.connect(lambda line: self._failed(key, line))
        job.ended.connect(lambda: self._ended(key))
        return key

    def close_source(self, key: str) -> None:
        """Take a source out; its work ends."""
        job = self._opening.pop(key, None)
        if job is not None:
            job.cancel()
        live = self.live.pop(key, None)
        if live is not None:
            live.close()
        if not self.live:
            self._poll.stop()
        if self.sources.pop(key, None) is not None:
            self.removed.emit(key)

    @property
    def opening(self) -> bool:
        """Whether something is still being opened."""
        return bool(self._opening)

    def stop(self) -> None:
        """End all work: notes that are not saved yet are saved first."""
        self._save_soon.stop()
        if self._saving is not None:
            self._saving.wait(5.0)
        for key in sorted(self._unsaved):
            try:
                write_notes(self.books[key])
            except FreezeframeError as error:
                self.trouble.emit(printable(str(error)))
        self._unsaved.clear()
        self._poll.stop()
        for live in self.live.values():
            live.close()
        self.live.clear()
        self.jobs.stop()

    # Decoding, offsets

    def registry(self) -> Registry:
        """Return the decoders that are installed; costly the first time."""
        if self._registry is None:
            self._registry = load_decoders()
        return self._registry

    def propose(self, key: str, use: Callable[[list[Any], str], None]) -> Job | None:
        """Look in a worker which decoders fit a source of samples; ``use`` gets them, or why there are none."""
        opened = self.sources[key]
        path = opened.path
        if path is None:
            return None

        def work(progress: Progress) -> list[Any]:
            progress.report(0, 0, "looking at the signals")
            source = (self.choice or SourceChoice()).open(
                path, ReadSettings(progress=progress.counted)
            )
            return list(_guess(source, self.registry()).proposals)

        return self.jobs.start(
            f"propose decoders for {opened.name}",
            work,
            lambda found: use(found, ""),
            lambda why: use([], why),
        )

    def decode(self, key: str, specs: tuple[str, ...]) -> Job:
        """Decode a source of samples in a worker."""
        opened = self.sources[key]
        return self.jobs.start(
            f"decode {opened.name}",
            lambda progress: _decode_samples(opened, specs, progress, self.registry(), self.choice),
            lambda part: self._take(key, part),
            self.trouble,
        )

    def add_part(self, key: str, part: Part) -> None:
        """Add what was made of a source: tables, tracks, remarks."""
        self._take(key, part)

    def set_offset(self, key: str, offset_ps: int) -> None:
        """Put a source elsewhere on the time base of the window."""
        opened = self.sources.get(key)
        if opened is not None and opened.offset_ps != offset_ps:
            opened.offset_ps = offset_ps
            self.changed.emit(key, "all")

    # Live

    def act(self, key: str, what: str) -> None:
        """Arm, freeze or pull a live card; the answer is shown when it comes."""
        live = self.live.get(key)
        if live is None:
            return
        self.said.emit(f"{what}: asked")
        live.ask(what, self._into)
        self.changed.emit(key, "live")

    def _live_opened(self, live: LiveSource) -> None:
        key = live.opened.key
        self.live[key] = live
        self._put(live.opened)
        self.books[key] = NoteBook(None)
        self._poll.start()
        self.added.emit(key)

    def _poll_live(self) -> None:
        for key, live in list(self.live.items()):
            for event in live.poll():
                self.said.emit(printable(f"{event.source}: {event.text}"))
                if event.kind == "note" and event.text.startswith("failed: "):
                    self.trouble.emit(printable(event.text))
            for pulled in live.taken():
                opened = self.open(str(pulled))
                if opened is not None:
                    self._pulled[opened] = key
            part = live.part()
            if part is not None:
                live.opened.absorb(part)
            self.changed.emit(key, "live")

    # What jobs give

    def _load(self, kind: str, key: str, path: Path, progress: Progress) -> None:
        book = _read_book(path)
        opened: Opened
        if kind == "capture":
            progress.give(book)
            load = _load_card if is_card_folder(path) else load_capture
            load(key, path, progress, self._analyses)
            return
        if kind == "packets":
            opened = _load_packets(
                key, path, progress, None if self.choice is None else self.choice.cut_ps
            )
        elif kind == "recording":
            opened = _load_recording(key, path, progress)
        else:
            opened = _load_samples(key, path, progress, self.choice)
        progress.give(book)
        progress.give(opened)

    def _take(self, key: str, part: Opened | Part | NoteBook) -> None:
        if isinstance(part, NoteBook):
            self.books[key] = part
        elif isinstance(part, Opened):
            place_by_clock(part, list(self.sources.values()))
            self._put(part)
            self.books.setdefault(key, NoteBook(None))
            self.added.emit(key)
        elif key in self.sources:
            self.sources[key].absorb(part)
            self.changed.emit(key, "all" if part.tracks or part.tables else "findings")

    def _put(self, opened: Opened) -> None:
        """Take a source in, in the order of opening: a small one is there before a large one named first."""
        both = {**self.sources, opened.key: opened}
        self.sources = dict(sorted(both.items(), key=lambda one: int(one[0])))

    def _loaded(self, key: str, specs: tuple[str, ...]) -> None:
        if key in self.sources:
            self.sources[key].loaded = True
            self.changed.emit(key, "findings")
            self._tell_freeze(key)
            if specs and self.sources[key].kind == "samples":
                self.decode(key, specs)

    def _tell_freeze(self, key: str) -> None:
        """Say in place of a card's freeze what explains it, where this capture was pulled from one."""
        live = self.live.get(self._pulled.pop(key, ""))
        if live is not None:
            opened = self.sources[key]
            live.tell(told([finding.to_json() for finding in opened.findings], opened.answer))

    def _failed(self, key: str, line: str) -> None:
        if key in self.sources:
            self.sources[key].absorb(Part(remarks=[line]))
            self.changed.emit(key, "findings")
        self.trouble.emit(line)

    def _ended(self, key: str) -> None:
        job = self._opening.pop(key, None)
        opened = self.sources.get(key)
        if job is not None and job.progress.cancelled and opened is not None and not opened.loaded:
            opened.absorb(Part(remarks=["was not analysed to the end: it was cancelled"]))
            self.changed.emit(key, "findings")

    # Notes

    def notes_changed(self, key: str) -> None:
        """Save the notes of a source soon, in a worker."""
        self.changed.emit(key, "notes")
        if self.books[key].path is None:
            self.said.emit("a live source has no file of notes: these are kept in this window only")
            return
        self._unsaved.add(key)
        self._save_soon.start()

    @property
    def unsaved(self) -> bool:
        """Whether notes are still on their way to the disk."""
        return bool(self._unsaved) or self._saving is not None

    def _save(self) -> None:
        if self._saving is not None:
            self._save_soon.start()
            return
        if not self._unsaved:
            return
        key = self._unsaved.pop()
        book = self.books[key]
        # A copy: the notes may change while they are written.
        held = NoteBook(
            book.path, list(book.notes), copy.deepcopy(book.views), book.digest, book.trouble
        )

        def work(progress: Progress) -> str:
            write_notes(held)
            return held.digest

        def done(digest: str) -> None:
            book.digest = digest
            self.said.emit(printable(f"notes saved: {book.path}"))

        def ended() -> None:
            self._saving = None
            if self._unsaved:
                self._save_soon.start()

        self._saving = self.jobs.start("save notes", work, done, self.trouble)
        self._saving.ended.connect(ended)


def _read_book(path: Path) -> NoteBook:
    """Return the notes of a source; what is wrong with them must not keep the capture from opening."""
    place = notes_path(path)
    try:
        return read_notes(place)
    except FreezeframeError as error:
        return NoteBook(place, trouble=str(error))
