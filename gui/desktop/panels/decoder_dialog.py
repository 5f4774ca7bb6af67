"""The dialog that asks for a decoder: its channels and options are made from its declaration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PyQt6 import sip
from PyQt6.QtCore import Qt
from PyQt6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from freezeframe.capture.errors import FreezeframeError
from freezeframe.decoders.contract import Decoder, Option, OptionValue
from freezeframe.decoders.registry import Registry
from freezeframe.gui.desktop.decoder_choice import (
    bases_for,
    checked_spec,
    offered,
    proposed_probes,
    written_spec,
)
from freezeframe.gui.desktop.sources.opened import Opened
from freezeframe.gui.desktop.widgets import label_of, named, plain_label
from freezeframe.gui.desktop.workspace import Workspace
from freezeframe.gui.text import printable

if TYPE_CHECKING:
    from freezeframe.decoders.guess.candidate import Candidate

_NONE = "(none)"


class DecoderDialog(QDialog):
    """Proposals and decoders on the left, channels and options on the right, the spec below."""

    def __init__(
        self,
        registry: Registry,
        probes: Sequence[str],
        specs: Sequence[str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Decode")
        self._registry = registry
        self._probes = list(probes)
        self._specs = list(specs)
        self._decoders = offered(registry, specs)
        self._shown: list[Decoder] = []
        self._options: dict[str, Callable[[], str]] = {}
        self.channels: dict[str, QComboBox] = {}
        self._base: QComboBox | None = None
        self._decoder: Decoder | None = None
        self._proposals: list[str] = []
        self.proposals = named(
            QListWidget(), "proposed decoders", "Decoders that fit the signals, with the reasons."
        )
        self.proposals.addItem("looking at the signals...")
        self.proposals.setMaximumHeight(130)
        self.search = named(QLineEdit(), "search decoders")
        self.search.setPlaceholderText("Search")
        self.list = named(QListWidget(), "decoders")
        self.about = plain_label("what the decoder does")
        self.spec = named(
            QLineEdit(), "decoder spec", "As 'freezeframe decode -d' takes it; may be edited."
        )
        self.trouble = plain_label("what is missing")
        self._form_box = QWidget()
        self._form = QFormLayout(self._form_box)
        self._lay_out()
        self.search.textChanged.connect(lambda _: self._list())
        self.list.currentRowChanged.connect(self._choose)
        self.proposals.currentRowChanged.connect(self._propose)
        self.proposals.itemActivated.connect(lambda _: self.accept())
        self.spec.textChanged.connect(lambda _: self._check())
        self._list()

    def _lay_out(self) -> None:
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(self._form_box)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        boxes = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(boxes.Ok | boxes.Cancel)
        self.ok = self.buttons.button(boxes.Ok)
        if self.ok is not None:
            self.ok.setText("&Decode")
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        left, right = QVBoxLayout(), QVBoxLayout()
        for text, widget in (("&Proposed", self.proposals), ("All &decoders", self.list)):
            left.addWidget(label_of(text, widget))
            if widget is self.list:
                left.addWidget(self.search)
            left.addWidget(widget)
        right.addWidget(self.about)
        right.addWidget(scroll, 1)
        right.addWidget(label_of("&Spec", self.spec))
        right.addWidget(self.spec)
        right.addWidget(self.trouble)
        across = QHBoxLayout()
        across.addLayout(left, 2)
        across.addLayout(right, 3)
        whole = QVBoxLayout(self)
        whole.addLayout(across, 1)
        whole.addWidget(self.buttons)
        self.resize(860, 560)

    def set_proposals(self, proposals: Sequence[Candidate], said: str = "") -> None:
        """Show what fits the signals; ``said`` where nothing does."""
        self.proposals.clear()
        self._proposals = [one.spec for one in proposals]
        if not proposals:
            self.proposals.addItem(said or "no decoder fits the signals for certain")
            return
        for one in proposals:
            reasons = "; ".join(one.reasons)
            self.proposals.addItem(printable(f"{one.spec}   {100 * one.stated:.0f} %: {reasons}"))

    def choose(self, decoder: str) -> None:
        """Choose a decoder by its id."""
        self.search.clear()
        for row, one in enumerate(self._shown):
            if one.id == decoder:
                self.list.setCurrentRow(row)

    def _list(self) -> None:
        wanted = self.search.text().strip().lower()
        self._shown = [d for d in self._decoders if wanted in f"{d.id} {d.name} {d.doc}".lower()]
        self.list.blockSignals(True)
        self.list.clear()
        for decoder in self._shown:
            self.list.addItem(printable(f"{decoder.id}   {decoder.name}"))
        self.list.blockSignals(False)
        if self._shown:
            self.list.setCurrentRow(0)

    def _choose(self, row: int) -> None:
        if not 0 <= row < len(self._shown):
            return
        self._decoder = decoder = self._shown[row]
        self.about.setText(printable(decoder.doc))
        while self._form.rowCount():
            self._form.removeRow(0)
        self.channels, self._options, self._base = {}, {}, None
        bases = bases_for(decoder, self._registry, self._specs)
        if bases:
            self._base = named(QComboBox(), "decoder below")
            self._base.setEditable(True)
            self._base.addItems(bases)
            self._base.currentTextChanged.connect(lambda _: self._write())
            self._form.addRow("on top of", self._base)
        meant = proposed_probes(decoder, self._probes)
        for channel in decoder.channels:
            box = named(QComboBox(), f"channel {channel.id}", channel.doc)
            box.addItem(_NONE)
            box.addItems([printable(probe) for probe in self._probes])
            box.setCurrentIndex(
                self._probes.index(meant[channel.id]) + 1 if channel.id in meant else 0
            )
            box.currentIndexChanged.connect(lambda _: self._write())
            kind = " (may be left out)" if channel.optional else ""
            self._form.addRow(_row_label(f"{channel.id}{kind}", channel.doc), box)
            self.channels[channel.id] = box
        for option in decoder.options:
            control, value = self._control(option)
            unit = f", {option.unit}" if option.unit else ""
            self._form.addRow(_row_label(f"{option.id}{unit}", option.doc), control)
            self._options[option.id] = value
        self._write()

    def _control(self, option: Option) -> tuple[QWidget, Callable[[], str]]:
        """Return the control that fits an option's declaration, and how to read its text."""
        name = f"option {option.id}"
        if isinstance(option.default, bool):
            tick = named(QCheckBox(), name, option.doc)
            tick.setChecked(option.default)
            tick.toggled.connect(lambda _: self._write())
            return tick, lambda: "yes" if tick.isChecked() else "no"
        if option.choices:
            box = named(QComboBox(), name, option.doc)
            box.addItems([printable(choice) for choice in option.choices])
            box.setCurrentIndex(option.choices.index(option.default))
            box.currentIndexChanged.connect(lambda _: self._write())
            choices = option.choices
            return box, lambda: str(choices[box.currentIndex()])
        line = named(
            QLineEdit(str(option.default)), name, f"{option.doc} Allowed: {option.allowed}"
        )
        line.setPlaceholderText(option.allowed)
        line.textChanged.connect(lambda _: self._write())
        return line, line.text

    def _write(self) -> None:
        """Make the spec from the controls."""
        if self._decoder is None:
            return
        probes = {
            channel: self._probes[box.currentIndex() - 1]
            for channel, box in self.channels.items()
            if box.currentIndex() > 0
        }
        options: dict[str, OptionValue] = {}
        for option in self._decoder.options:
            text = self._options[option.id]()
            try:
                options[option.id] = option.parse(text)
            except FreezeframeError as error:
                self._refuse(str(error))
                return
        base = self._base.currentText().strip() if self._base is not None else ""
        self.spec.setText(written_spec(self._decoder, probes, options, base))
        self._check()

    def _propose(self, row: int) -> None:
        if 0 <= row < len(self._proposals):
            self.spec.setText(self._proposals[row])

    def _check(self) -> None:
        try:
            checked_spec(self.spec.text().strip(), self._registry, self._probes)
        except FreezeframeError as error:
            self._refuse(str(error))
        else:
            self.trouble.setText("")
            self._allow(True)

    def _refuse(self, why: str) -> None:
        self.trouble.setText(printable(why))
        self._allow(False)

    def _allow(self, allowed: bool) -> None:
        if self.ok is not None:
            self.ok.setEnabled(allowed)

    def accept(self) -> None:
        """Close with the spec, where it can be used."""
        if self.ok is not None and self.ok.isEnabled():
            super().accept()


def _row_label(text: str, doc: str) -> QLabel:
    label = QLabel(printable(text))
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setStatusTip(printable(doc))
    return label


def ask_decoder(parent: QWidget, workspace: Workspace, opened: Opened) -> None:
    """Ask for a decoder and begin to decode; the decoders are loaded and proposed in workers."""

    def show(registry: Registry) -> None:
        dialog = DecoderDialog(registry, opened.channels, opened.specs, parent)
        proposing = workspace.propose(opened.key, lambda found, why: _proposed(dialog, found, why))
        dialog.accepted.connect(lambda: workspace.decode(opened.key, (dialog.spec.text().strip(),)))
        if proposing is not None:
            dialog.finished.connect(lambda _: proposing.cancel())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    workspace.jobs.start("load decoders", lambda progress: workspace.registry(), show)


def _proposed(dialog: DecoderDialog, found: list[Any], why: str) -> None:
    if not sip.isdeleted(dialog):
        dialog.set_proposals(found, why)
