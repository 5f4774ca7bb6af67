"""Opening a capture of cards that are described by files: tables and tracks by the names of the card files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.frames import in_frames
from freezeframe.analyzers.card.view import CardsView
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.registry import AnalysisRegistry
from freezeframe.analyzers.wall_clock import wall_clock_of
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.event_log import entry_text
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.analysis_tables import analysis_parts
from freezeframe.gui.desktop.sources.capture import facts_of
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.moments import card_freeze
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.card import card_frames, card_tracks
from freezeframe.gui.tracks.recording import finding_track

_DOCS = {
    "packets": "packets as they crossed each tap, with what their format says",
    "words": "every record of lane 0 of every tap, as read",
    "events": "the event logs",
    "counters": "counters and registers at the freeze",
    "laws": "laws of the cards, own and derived",
}


def load_card(
    key: str, path: Path, progress: Progress, registry: AnalysisRegistry | None = None
) -> Opened:
    """Return a capture as it can be shown at once; findings and analyses follow as `Part`. As `load_capture`."""
    progress.report(0, 0, "checking the evidence")
    folder = CardFolder.open(path)
    progress.report(0, 0, "decoding")
    view = CardsView(folder)
    progress.check()
    name = folder_title(path)
    frames = card_frames(view.cards)
    tables = {table.key: table for table in _tables(view, frames)}
    # Several cards have a time of their own each: no one moment is that of all.
    freeze = card_freeze(view.cards[0]) if len(view.cards) == 1 else None
    frozen_ps = None if freeze is None else freeze.t_ps
    remarks = list(folder.lost)
    if len(view.cards) > 1:
        remarks.append(
            "the times of each card are its own: nothing relates one card's to another's"
        )
    remarks += [
        f"{card.source(end.tap)} is on no track: its clock {end.tap.clock.name} has no known relation to the others"
        for card in view.cards
        for end in card.streams.values()
        if not card.placed(end.tap)
    ]
    opened = Opened(
        key,
        name,
        str(path),
        "capture",
        path,
        tables=tables,
        remarks=remarks,
        facts=_facts(folder),
        cards=view,
        wall_clock=wall_clock_of(folder.manifest.get("history", []), frozen_ps),
    )
    opened.absorb(Part(tracks=list(card_tracks(key, name, view.cards, frames))))
    progress.give(opened)
    progress.report(0, 0, "explaining")
    progress.give(_explained(key, name, view))
    for found in analysis_parts(key, name, view, registry, progress):
        progress.give(found)
    return opened


def _tables(view: CardsView, frames: Mapping[str, pd.DataFrame]) -> Iterator[Table]:
    for name, frame in frames.items():
        yield Table(name, frame, entry_text if name == "events" else None, doc=_DOCS[name])
    yield Table("counters", _counters(view), doc=_DOCS["counters"])
    laws = [
        {"device": card.device, "law": v.law.name, "state": _STATES[v.holds], "text": v.text}
        for card in view.cards
        for v in card.laws
    ]
    if laws:
        yield Table("laws", pd.DataFrame(laws), lambda row: str(row["text"]), doc=_DOCS["laws"])


_STATES = {True: "holds", False: "broken", None: "not checkable"}


def _counters(view: CardsView) -> pd.DataFrame:
    rows = []
    for card in view.cards:
        recording, said = card.recording, card.recording.card.said
        for kept, values in ((said.counter, recording.counters), (said.bank, recording.bank)):
            rows += [
                (card.device, name, values.get(name), one.what, one.doc)
                for name, one in kept.items()
            ]
        for name, bins in recording.histograms.items():
            rows += [
                (card.device, f"{name}[{n}]", count, "histogram", "")
                for n, count in enumerate(bins)
            ]
    frame = pd.DataFrame(rows, columns=["device", "name", "amount", "of", "meaning"])
    frame["amount"] = frame["amount"].astype("Int64")  # empty: not read
    return frame


def _facts(folder: CardFolder) -> dict[str, str]:
    facts = facts_of(folder)
    for device in folder.devices:
        card = f"card {device.card.name} {device.identity.card_hash:016x}"
        facts[f"device {device.name}"] = f"{card}; {facts[f'device {device.name}']}"
        frozen = ", ".join(device.recording().cause_names)
        facts[f"{device.name} frozen by"] = frozen or "nothing"
    return facts


def _explained(key: str, name: str, view: CardsView) -> Part:
    findings: list[Finding] = []
    remarks: list[str] = []
    answers = []
    base = 0
    for card in view.cards:
        explanation: CardExplanation = explain_card(card)
        findings += [in_frames(card, finding, base) for finding in explanation.findings]
        remarks += [
            *explanation.notes,
            *(f"could not be asked: {line}" for line in explanation.not_asked),
        ]
        remarks += [f"not seen: {line}" for line in explanation.not_seen]
        answers.append(explanation.answer)
        remarks += [*explanation.logged, *explanation.histograms]
        base += sum(len(end.stream.slots) for end in card.streams.values())
    placed = [f for f in findings if (f.t_uncertainty_ps or 0) >= 0]
    return Part(
        tracks=[(finding_track(key, name, placed), None)],
        findings=findings,
        remarks=remarks,
        answer="; ".join(answers),
    )
