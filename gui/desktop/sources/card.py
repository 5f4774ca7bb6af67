"""Opening a capture of cards that are described by files: tables and tracks by the names of the card files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
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
from freezeframe.gui.desktop.sources.analysis_tracks import result_tables, result_tracks
from freezeframe.gui.desktop.sources.capture import facts_of
from freezeframe.gui.desktop.sources.capture_tracks import by_source, finding_track
from freezeframe.gui.desktop.sources.opened import Opened, Part, Table
from freezeframe.gui.desktop.sources.slices import (
    classes_by_appearance,
    rows_by_time,
    slices_of_rows,
)
from freezeframe.gui.desktop.timeline.tracks import SliceTrack, StateTrack, Track
from freezeframe.gui.moments import card_freeze
from freezeframe.gui.text import folder_title

Int64 = npt.NDArray[np.int64]
Made = tuple[Track, str | None]

_NOT_WORDS = ("SUM", "MARK", "TIME", "reserved")
_VERDICTS = ("good", "bad", "no verdict", "not all recorded")
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
        for end in card.streams.values():
            if not card.placed(end.tap):
                continue
            source = card.source(end.tap)
            doc = end.tap.said.doc
            covered = view.coverage.of(source)
            for track, table in (
                *_packets(key, name, source, packets, doc),
                *_words(key, name, source, words),
            ):
                yield replace(track, coverage=covered), table
    if "events" in tables:
        ends = [freeze.t_ps for card in view.cards if (freeze := card_freeze(card)) is not None]
        yield from _logged(key, name, tables["events"].frame, max(ends, default=0))


def _packets(key: str, name: str, source: str, table: pd.DataFrame, doc: str) -> Iterator[Made]:
    rows = np.flatnonzero((table["source"] == source).to_numpy()).astype(np.int64)
    if not len(rows):
        return
    verdict = table["verdict"].astype(str).to_numpy()
    error = table["error"].astype(str).to_numpy()
    bad = verdict == "bad"
    colour = np.select([bad, verdict == "good", error != ""], [1, 0, 3], 2).astype(np.uint8)
    number, size_B = table["number"].to_numpy(), table["wire_B"].to_numpy()
    known = rows[table["t_unc_ps"].to_numpy()[rows] >= 0]
    yield (
        slices_of_rows(
            SliceTrack,
            table["t_ps"].to_numpy(),
            table["t_end_ps"].to_numpy(),
            known,
            key=f"{key}/packets/{source}",
            name=f"{source} packets",
            source=name,
            columns={"colour": colour, "error": bad},
            classes=_VERDICTS,
            label=lambda row: f"{number[row]} {size_B[row]} B",
            note=f"Packets as they crossed {source}; one that fails a check is in error. {doc}".strip(),
        ),
        "packets",
    )


def _words(key: str, name: str, source: str, table: pd.DataFrame) -> Iterator[Made]:
    kinds = table["kind"].astype(str).to_numpy()
    mine = (table["source"] == source).to_numpy() & ~np.isin(kinds, _NOT_WORDS)
    mine &= table["t_unc_ps"].to_numpy() >= 0
    if not mine.any():
        return
    starts, data = table["t_ps"].to_numpy(), table["data"].to_numpy()
    order = rows_by_time(starts, np.flatnonzero(mine).astype(np.int64))
    begin = starts[order]
    end = np.maximum(table["t_end_ps"].to_numpy()[order], begin)
    # Where two are closer than they last (a clock that drifted), to the next.
    end[:-1] = np.maximum(begin[:-1], np.minimum(end[:-1], begin[1:]))
    classes, colour = classes_by_appearance(kinds[order])
    yield (
        SliceTrack(
            key=f"{key}/words/{source}",
            name=f"{source} words",
            source=name,
            t_ps=begin,
            t_end_ps=end,
            rows=order,
            colour=colour,
            classes=classes,
            label=lambda item: f"{int(data[order[item]]) & (1 << 64) - 1:016x}",
            note=f"Every record of a word at {source}, lane 0, as read.",
        ),
        "words",
    )


def _logged(key: str, name: str, table: pd.DataFrame, end_ps: int) -> Iterator[Made]:
    """One track for each event, and one for each state machine; its last state holds to ``end_ps`` at least."""
    starts = table["t_ps"].to_numpy()
    kinds, names = table["kind"].astype(str).to_numpy(), table["name"].astype(str).to_numpy()
    sources, states = table["source"].astype(str).to_numpy(), table["state"].astype(str).to_numpy()
    value = table["value"].to_numpy()
    for source, rows in by_source(table):
        for what in dict.fromkeys(names[rows].tolist()):
            mine = rows[(names[rows] == what) & (kinds[rows] != "state")]
            device = sources[rows[0]].partition(".")[0]
            if len(mine):
                yield (
                    slices_of_rows(
                        SliceTrack,
                        starts,
                        rows=mine,
                        key=f"{key}/events/{source}/{what}",
                        name=f"{device} {what or 'log'}",
                        source=name,
                        columns={"error": kinds != "event"},
                        label=lambda row: names[row] if value[row] < 0 else f"{value[row]:#x}",
                        note=f"When {what} was logged, with its value; what was lost is in error.",
                    ),
                    "events",
                )
            held = rows_by_time(starts, rows[(names[rows] == what) & (kinds[rows] == "state")])
            if len(held):
                classes, colour = classes_by_appearance(states[held])
                yield (
                    StateTrack(
                        key=f"{key}/state/{source}/{what}",
                        name=f"{device} {what}",
                        source=name,
                        t_ps=starts[held],
                        rows=held,
                        state=colour,
                        names=classes,
                        end_ps=max(int(starts.max()), end_ps),
                        note=f"State machine {what}; before its first entry the state is not known.",
                    ),
                    "events",
                )
