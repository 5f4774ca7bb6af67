"""The tracks of a recording for an export: those of its rows, what is wrong with it, and what the analyses measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.card.explain import explain_card
from freezeframe.analyzers.card.view import CardsView, run_analysis
from freezeframe.analyzers.contract import Finding
from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.registry import load_analyses
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.errors import FreezeframeError
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.decoders.run import Decoded
from freezeframe.decoders.trace.decode import Trace
from freezeframe.decoders.trace.schema import TABLES
from freezeframe.gui.text import folder_title
from freezeframe.gui.tracks.analysis import analysis_tracks, result_tracks
from freezeframe.gui.tracks.card import card_frames, card_tracks
from freezeframe.gui.tracks.recording import (
    Made,
    finding_track,
    recording_tracks,
)


def explained_tracks(folder: CaptureFolder, trace: Trace) -> list[Made]:
    """Return the tracks that the window shows of a recording: an analysis that cannot be asked has none."""
    view = CaptureView(folder, trace=trace)
    return list(capture_tracks(folder, trace, explain(folder).findings, _results(view)))


def explained_cards(folder: CardFolder) -> tuple[list[Made], list[Decoded]]:
    """Return the same of cards that are described by a file, and the tables that their tracks show."""
    view, name = CardsView(folder), folder_title(folder.path)
    frames = card_frames(view.cards)
    findings = [
        finding
        for card in view.cards
        for finding in explain_card(card).findings
        if (finding.t_uncertainty_ps or 0) >= 0  # the others are on no time line
    ]
    made = list(card_tracks("", name, view.cards, frames))
    for result in _results(view):
        made += [(track, None) for track, _ in result_tracks("", name, result)]
    if findings:
        made.append((finding_track("", name, findings), None))
    tables = [
        Decoded(each, pa.Table.from_pandas(frame, preserve_index=False))
        for each, frame in frames.items()
    ]
    return made, tables


def _results(view: CaptureView | CardsView) -> list[AnalysisResult]:
    """Return what each analysis measured; one that cannot be asked says why in the report and the window."""
    results = []
    for analysis in load_analyses().analyses.values():
        try:
            results.append(run_analysis(analysis, view))
        except FreezeframeError:
            continue
    return results


def capture_tracks(
    folder: CaptureFolder,
    trace: Trace,
    findings: Sequence[Finding] = (),
    results: Sequence[AnalysisResult] = (),
) -> Iterator[Made]:
    """Yield the tracks of a recording, each with the name of its table among those of `Trace.tables`."""
    name = folder_title(folder.path)
    if findings:
        yield finding_track("", name, findings), None
    made: dict[str, Made] = {
        track.key: (track, f"trace.{table}")
        for track, table in recording_tracks("", name, folder, trace)
    }
    for result in results:
        for track, _ in analysis_tracks("", name, trace, result):
            made[track.key] = track, made.get(track.key, (track, None))[1]
    yield from made.values()


def with_tables(trace: Trace, tables: Mapping[str, pa.Table]) -> Trace:
    """Return a recording of which only these rows are left: ``tables`` by their names in `Trace.tables`."""
    frames = {}
    for name in TABLES:
        before = getattr(trace, name)
        kept = before[:0] if name not in tables else tables[name].to_pandas()
        frames[name] = kept.astype(before.dtypes.to_dict())
    return replace(trace, **frames)
