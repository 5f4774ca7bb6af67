"""Opening a capture of cards that are described by files: tables and tracks by the names of the card files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from freezeframe.analyzers.card.explain import CardExplanation, explain_card
from freezeframe.analyzers.card.frames import in_frames, packets_frame, words_frame
from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.registry import AnalysisRegistry, load_analyses
from freezeframe.analyzers.wall_clock import wall_clock_of
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.tap.event_log import EventLog, decode_log, entry_text, log_table
from freezeframe.gui.desktop.progress import Progress
from freezeframe.gui.desktop.sources.analysis_tables import result_tables
from freezeframe.gui.desktop.sources.capture import facts_of
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.moments import card_freeze
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.analysis import result_tracks
from freezeframe.gui.tracks.card import logged_tracks, packet_tracks, word_tracks
from freezeframe.gui.tracks.recording import Made, finding_track

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
    logs = [decode_log(card.recording, card.times) for card in view.cards]
    tables = {table.key: table for table in _tables(view, logs)}
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
    opened.absorb(Part(tracks=list(_tracks(key, name, view, tables))))
    progress.give(opened)
    progress.report(0, 0, "explaining")
    progress.give(_explained(key, name, view))
    known = load_analyses() if registry is None else registry
    progress.give(
        Part(remarks=[f"analysis {n} does not load: {why}" for n, why in known.broken.items()])
    )
    for number, analysis in enumerate(known.analyses.values()):
        progress.report(number, len(known.analyses), f"analysis {analysis.id}")
        try:
            result = run_analysis(analysis, view)
        except FreezeframeError as error:
            progress.give(Part(remarks=[f"analysis {analysis.id}: {error}"]))
            continue
        progress.give(
            Part(
                tables=list(result_tables(result)),
                tracks=list(result_tracks(key, name, result)),
                analyses=[result],
                remarks=[f"{analysis.id}: {note}" for note in result.notes],
            )
        )
    return opened


def _tables(view: CardsView, logs: list[EventLog]) -> Iterator[Table]:
    packets, words, base = [], [], 0
    for card in view.cards:
        mine = packets_frame(card)
        if len(mine):
            mine[["first_row", "end_row"]] += base
        packets.append(mine)
        words.append(words_frame(card))
        base += len(words[-1])
    yield Table("packets", _joined(packets), doc=_DOCS["packets"])
    yield Table("words", _joined(words), doc=_DOCS["words"])
    events = [
        log_table(card.recording, log).to_pandas()
        for card, log in zip(view.cards, logs, strict=True)
        if card.recording.log is not None
    ]
    if events:
        yield Table("events", _joined(events), entry_text, doc=_DOCS["events"])
    yield Table("counters", _counters(view), doc=_DOCS["counters"])
    laws = [
        {"device": card.device, "law": v.law.name, "state": _STATES[v.holds], "text": v.text}
        for card in view.cards
        for v in card.laws
    ]
    if laws:
        yield Table("laws", pd.DataFrame(laws), lambda row: str(row["text"]), doc=_DOCS["laws"])


_STATES = {True: "holds", False: "broken", None: "not checkable"}


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """Return frames as one, the columns of few values as categories."""
    joined = (
        frames[0].reset_index(drop=True)
        if len(frames) == 1
        else pd.concat(frames, ignore_index=True)
    )
    for column in ("source", "kind", "verdict"):
        if column in joined and not isinstance(joined[column].dtype, pd.CategoricalDtype):
            joined[column] = pd.Categorical(joined[column])
    return joined


def _counters(view: CardsView) -> pd.DataFrame:
    rows = []
    for card in view.cards:
        recording, said = card.recording, card.recording.card.said
        for name, counter in said.counter.items():
            what = (
                f"{counter.counts} at {counter.tap}"
                if counter.counts
                else f"{counter.unit or 'pulses'} of wire {counter.wire}"
            )
            rows.append((card.device, name, recording.counters.get(name), what, counter.doc))
        for name, kept in said.bank.items():
            rows.append(
                (
                    card.device,
                    name,
                    recording.bank.get(name),
                    kept.unit or f"wire {kept.wire}",
                    kept.doc,
                )
            )
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


def _tracks(key: str, name: str, view: CardsView, tables: dict[str, Table]) -> Iterator[Made]:
    packets, words = tables["packets"].frame, tables["words"].frame
    for card in view.cards:
        below = {
            made[0].key.rpartition("/")[2]: made for made in word_tracks(key, name, card, words)
        }
        for tap, track in packet_tracks(key, name, card, packets):
            yield track, "packets"
            under = below.get(card.source(card.streams[tap].tap))
            if under is not None:
                yield under
    if "events" in tables:
        yield from logged_tracks(key, name, view.cards, tables["events"].frame)
