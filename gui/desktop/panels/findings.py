"""What went wrong: the findings of every capture, and for the chosen one the evidence it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from PyQt6.QtCore import Qt, pyqtSignal
from PyQt6.QtGui import QResizeEvent, QTextDocument
from PyQt6.QtWidgets import QListWidget, QSplitter, QTreeWidgetItem, QWidget

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.capture.time_text import format_doubt, format_ps
from freezeframe.gui.desktop.panels.fitted import FittedTree, row_of
from freezeframe.gui.desktop.sources.opened import Opened, Place
from freezeframe.gui.desktop.widgets import fill_panel, fill_tree, named, text_box
from freezeframe.gui.desktop.workers import delayed
from freezeframe.gui.text import confidence_digits, printable

_MASK = (1 << 64) - 1
_PLACE = Qt.ItemDataRole.UserRole
_COLUMNS = ("evidence", "where", "time", "recorded", "expected")
_BELOW = (3, 4), 0  # the values go below the first column where they have no room


class FindingsPanel(QWidget):
    """Findings above, their text and evidence below.

    Signals: ``chosen`` (source, number of the finding) and ``evidence_chosen`` a `Place`; ``shown``
    (source, number), however it came to be: empty and -1 for none.
    """

    chosen = pyqtSignal(str, int)
    shown = pyqtSignal(str, int)
    evidence_chosen = pyqtSignal(object)

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[tuple[str, int, Finding | None]] = []
        self.list = named(QListWidget(), "findings", "Choose one to see its evidence in all views.")
        self.list.setWordWrap(True)
        self.text = text_box("finding in words")
        self.text.setPlaceholderText("What went wrong is said here.")
        self.evidence = FittedTree("evidence", _COLUMNS, *_BELOW)
        split = QSplitter(Qt.Orientation.Vertical)
        for widget in (self.list, self.text, self.evidence):
            split.addWidget(widget)
        split.setSizes([90, 110, 220])
        split.setChildrenCollapsible(False)
        # What a window gains or loses in height is the evidence's.
        for number, takes in enumerate((0, 0, 1)):
            split.setStretchFactor(number, takes)
        self._split = split
        self._own_sizes = False
        split.splitterMoved.connect(self._sized)
        self.evidence.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.list.setMinimumHeight(2 * self.list.fontMetrics().lineSpacing())
        self._soon = delayed(self, 0, self._share)
        bar = self.list.verticalScrollBar()
        assert bar is not None, "every list has one"
        bar.rangeChanged.connect(
            lambda *_: self._soon.start()
        )  # its lines are as wide as the bar leaves
        fill_panel(self, split, focus=self.list)
        self.list.currentRowChanged.connect(self._chosen)
        self.list.itemActivated.connect(lambda _: self._chosen(self.list.currentRow()))
        self.evidence.currentItemChanged.connect(lambda now, _: self._evidence(now))
        self.evidence.itemActivated.connect(lambda now, _: self._evidence(now))

    def set_sources(self, sources: Sequence[Opened], working: bool) -> None:
        """Show the findings of these sources; ``working``: some are still being explained."""
        before = self._current()
        several = len(sources) > 1
        entries: list[tuple[str, int, Finding | None]] = []
        texts = []
        for source in sources:
            if source.kind not in ("capture", "packets"):
                continue
            for number, finding in enumerate(source.findings):
                entries.append((source.key, number, finding))
                texts.append(_title(finding, source.name if several else ""))
            if not source.findings:
                entries.append((source.key, -1, None))
                state = (
                    "is being explained"
                    if not source.loaded and working
                    else (source.answer if source.loaded else "was not explained to the end")
                )
                texts.append(f"{source.name}: {state}")
        if [(k, n) for k, n, _ in entries] == [
            (k, n) for k, n, _ in self._entries
        ] and texts == self._texts():
            self._entries = entries
            return
        self._entries = entries
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([printable(text) for text in texts])
        self.list.blockSignals(False)
        if before is not None and before[:2] in [(k, n) for k, n, _ in entries]:
            self.select(*before[:2])
        else:
            self._show(None)

    def select(self, source: str, number: int, *, tell: bool = False) -> None:
        """Show a finding; ``tell``: as if the user had chosen it."""
        for line, (key, at, _) in enumerate(self._entries):
            if (key, at) == (source, number):
                self.list.blockSignals(not tell)
                self.list.setCurrentRow(line)
                self.list.blockSignals(False)
                self._show(self._entries[line][2])

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Share the new height and width."""
        super().resizeEvent(event)
        self._soon.start()

    def _sized(self) -> None:
        self._own_sizes = True

    def _share(self) -> None:
        """Give the list and the text the height they need, the evidence the rest; what the user has set stands."""
        if self._own_sizes:
            return
        whole = sum(self._split.sizes())
        frame = 2 * self.list.frameWidth()
        first, last = self.list.item(0), self.list.item(self.list.count() - 1)
        lines = 0
        if first is not None and last is not None:
            rect = self.list.visualItemRect(first).united(self.list.visualItemRect(last))
            lines = rect.height()
        listed = max(min(lines + frame, whole // 4), self.list.minimumHeight())
        # Of the text alone and the width without a bar, not of what the box shows: that depends on what came before.
        said = QTextDocument(self.text.toPlainText())
        said.setDefaultFont(self.text.font())
        said.setTextWidth(self.text.contentsRect().width())
        line = (
            self.text.fontMetrics().lineSpacing()
        )  # one more: Qt scrolls a box that fits to the pixel
        told = min(int(said.size().height()) + line + frame, whole // 2)
        self._split.setSizes([listed, told, whole - listed - told])

    def _texts(self) -> list[str]:
        found = [self.list.item(line) for line in range(self.list.count())]
        return [one.text() for one in found if one is not None]

    def _current(self) -> tuple[str, int, Finding | None] | None:
        line = self.list.currentRow()
        return self._entries[line] if 0 <= line < len(self._entries) else None

    def _chosen(self, line: int) -> None:
        if not 0 <= line < len(self._entries):
            return
        source, number, finding = self._entries[line]
        self._show(finding)
        if finding is not None:
            self.chosen.emit(source, number)

    def _show(self, finding: Finding | None) -> None:
        self.evidence.blockSignals(True)
        self._soon.start()
        if finding is None:
            self.text.setPlainText("")
            fill_tree(self.evidence, [])
        else:
            self.text.setPlainText(_words(finding))
            fill_tree(self.evidence, [_of_evidence(one) for one in finding.evidence], expanded=True)
            for number in range(self.evidence.topLevelItemCount()):
                sentence = self.evidence.topLevelItem(number)
                if sentence is not None:
                    sentence.setFirstColumnSpanned(True)  # it needs the room of all columns
            self.evidence.fit()
        self.evidence.blockSignals(False)
        current = self._current()
        self.shown.emit(*(("", -1) if current is None else current[:2]))

    def _evidence(self, now: QTreeWidgetItem | None) -> None:
        current = self._current()
        if now is None or current is None:
            return
        held = now.data(0, _PLACE)
        if held is not None:
            table, row = held
            self.evidence_chosen.emit(Place(current[0], table, row))


def _title(finding: Finding, source: str) -> str:
    parts = [finding.diagnosis]
    if finding.device is not None:
        parts.append(f"{finding.device}.{finding.tap}" if finding.tap else finding.device)
    if finding.flow is not None:
        parts.append(f"flow {finding.flow}")
    if finding.packet is not None:
        parts.append(f"packet {finding.packet}")
    if finding.word is not None:
        parts.append(f"word {finding.word}")
    if finding.t_ps is not None:
        parts.append(format_ps(finding.t_ps))
    if finding.candidates:
        parts.append(f"one of {', '.join(finding.candidates)}")
    parts.append(_sure(finding))
    return (f"{source}: " if source else "") + ", ".join(parts)


def _sure(finding: Finding) -> str:
    """Return the confidence with what it was counted from; of a described card none was counted yet."""
    if not finding.confidence:
        return "confidence not counted yet"
    counted = f" ({finding.counted})" if finding.counted else ""
    return f"{100 * float(confidence_digits(finding.confidence)):.0f} % sure{counted}"


def _words(finding: Finding) -> str:
    when = "at no time that can be told"
    if finding.t_ps is not None:
        when = f"at {format_doubt(finding.t_ps, finding.t_uncertainty_ps)}"
    return f"{finding.diagnosis}, {when}, {_sure(finding)}.\n\n{finding.text}"


def _of_evidence(evidence: Evidence) -> QTreeWidgetItem:
    where = ".".join(part for part in (evidence.device, evidence.tap) if part)
    place = next(((row.table, row.row) for row in evidence.rows if row.row is not None), None)
    rows = [_of_row(row) for row in evidence.rows]
    return row_of([evidence.text, where, "", "", ""], rows, place)


def _of_row(row: Row) -> QTreeWidgetItem:
    def word(value: int | None) -> str:
        if value is None:
            return ""
        return f"{value & _MASK:#018x}" if row.table == "words" else f"{value} ({value:#x})"

    wrong = row.expected is not None and row.value != row.expected
    shown = row.row is not None and row.table != "registers"
    texts = (
        row.label,
        row.source,
        "" if row.t_ps is None else format_ps(row.t_ps),
        word(row.value),
        "" if row.expected is None else f"≠ {word(row.expected)}" if wrong else "the same",
    )
    return row_of(texts, data=(row.table, row.row) if shown else None)
