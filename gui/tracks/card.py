"""The tracks of cards that are described by files: packets and words of each tap, waits, and what was logged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from freezeframe.analyzers.card.frames import packets_frame, words_frame
from freezeframe.analyzers.card.pressure import run as pressure_of
from freezeframe.analyzers.card.view import CardView
from freezeframe.decoders.tap.event_log import decode_log, entry_text, log_table
from freezeframe.gui.moments import card_freeze
from freezeframe.gui.tracks.analysis import intervals_tracks
from freezeframe.gui.tracks.recording import Made, by_source
from freezeframe.gui.tracks.slices import (
    TapPlace,
    classes_by_appearance,
    packets_of_rows,
    rows_by_time,
    slices_of_rows,
    words_of_rows,
)
from freezeframe.gui.tracks.tracks import IntervalTrack, SliceTrack, StateTrack, Track, state_roles

_NOT_WORDS = ("SUM", "MARK", "TIME", "reserved")
_VERDICTS = ("good", "fails a check", "no verdict", "not all recorded")
_ROLES = ("a", "error", "b", "idle")


def card_frames(cards: Sequence[CardView]) -> dict[str, pd.DataFrame]:
    """Return the tables of cards by name: packets, words, and events where a card has a log."""
    packets, words, base = [], [], 0
    for card in cards:
        mine = packets_frame(card)
        if len(mine):
            mine[["first_row", "end_row"]] += base
        packets.append(mine)
        words.append(words_frame(card))
        base += len(words[-1])
    frames = {"packets": _joined(packets), "words": _joined(words)}
    events = [
        log_table(card.recording, decode_log(card.recording, card.times)).to_pandas()
        for card in cards
        if card.recording.log is not None
    ]
    return frames | ({"events": _joined(events)} if events else {})


def card_tracks(
    key: str, name: str, cards: Sequence[CardView], frames: Mapping[str, pd.DataFrame]
) -> Iterator[Made]:
    """Yield the tracks of cards with the name of the table of each, among those of `card_frames`."""
    for card in cards:
        below = {
            made[0].key.rpartition("/")[2]: made
            for made in word_tracks(key, name, card, frames["words"])
        }
        for tap, track in packet_tracks(key, name, card, frames["packets"]):
            yield track, "packets"
            under = below.get(card.source(card.streams[tap].tap))
            if under is not None:
                yield under
    if "events" in frames:
        yield from logged_tracks(key, name, list(cards), frames["events"])


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


def packet_tracks(
    key: str, name: str, card: CardView, packets: pd.DataFrame
) -> Iterator[tuple[str, Track]]:
    """Yield tap and track of each tap of a card that has a place on its time line.

    Args:
        packets: those of `packets_frame`, of this card or of several.
    """
    for tap, end in card.streams.items():
        if card.placed(end.tap):
            source = card.source(end.tap)
            said = end.tap.said
            note = said.doc or f"{said.kind} of {said.bits} bits, clock {said.clock}"
            yield tap, _packets(_place(key, name, card, source), packets, note)


def word_tracks(key: str, name: str, card: CardView, words: pd.DataFrame) -> Iterator[Made]:
    """Yield the words of each tap of a card that has a place on its time line."""
    for end in card.streams.values():
        if card.placed(end.tap):
            yield from _words(_place(key, name, card, card.source(end.tap)), words)


def wait_tracks(key: str, name: str, card: CardView) -> Iterator[IntervalTrack]:
    """Yield where streams of a card stand still, and cycles without a beat inside packets."""
    for _, track in intervals_tracks(key, name, pressure_of(card)):
        yield track


def logged_tracks(
    key: str, name: str, cards: list[CardView], events: pd.DataFrame
) -> Iterator[Made]:
    """Yield a track for each event and each state machine of the logs; a last state holds to the freeze at least."""
    ends = [freeze.t_ps for card in cards if (freeze := card_freeze(card)) is not None]
    yield from _logged(key, name, events, max(ends, default=0))


def _place(key: str, name: str, card: CardView, source: str) -> TapPlace:
    return TapPlace(key, name, source, card.coverage.of(source))


def _packets(at: TapPlace, table: pd.DataFrame, doc: str) -> SliceTrack:
    rows = np.flatnonzero((table["source"] == at.source).to_numpy()).astype(np.int64)
    if not len(rows):
        return at.empty(doc)
    verdict = table["verdict"].astype(str).to_numpy()
    error = table["error"].astype(str).to_numpy()
    bad = verdict == "bad"
    number, size_B = table["number"].to_numpy(), table["wire_B"].to_numpy()
    return packets_of_rows(
        at,
        table["t_ps"].to_numpy(),
        table["t_end_ps"].to_numpy(),
        rows[table["t_unc_ps"].to_numpy()[rows] >= 0],
        bad=bad,
        colour=np.select([bad, verdict == "good", error != ""], [1, 0, 3], 2).astype(np.uint8),
        classes=_VERDICTS,
        roles=_ROLES,
        label=lambda row: f"{number[row]} {size_B[row]} B",
        tip=lambda row: error[row] or verdict[row],
        note=doc,
    )


def _words(at: TapPlace, table: pd.DataFrame) -> Iterator[Made]:
    kinds = table["kind"].astype(str).to_numpy()
    mine = (table["source"] == at.source).to_numpy() & ~np.isin(kinds, _NOT_WORDS)
    mine &= table["t_unc_ps"].to_numpy() >= 0
    if not mine.any():
        return
    classes, colour = classes_by_appearance(kinds)
    yield (
        words_of_rows(
            at,
            table["t_ps"].to_numpy(),
            table["t_end_ps"].to_numpy(),
            np.flatnonzero(mine).astype(np.int64),
            data=table["data"].to_numpy(),
            colour=colour,
            classes=classes,
            note=f"Every record of a word at {at.source}, lane 0, as read.",
        ),
        "words",
    )


def _logged(key: str, name: str, table: pd.DataFrame, end_ps: int) -> Iterator[Made]:
    starts = table["t_ps"].to_numpy()
    kinds, names = table["kind"].astype(str).to_numpy(), table["name"].astype(str).to_numpy()
    sources, states = table["source"].astype(str).to_numpy(), table["state"].astype(str).to_numpy()
    value = table["value"].to_numpy()

    def said(row: int) -> str:
        columns: dict[str, Any] = {str(name): table[name].iloc[row] for name in table.columns}
        return entry_text(columns)

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
                        tip=said,
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
                        colour=colour,
                        classes=classes,
                        roles=state_roles(classes),
                        end_ps=max(int(starts.max()), end_ps),
                        note=f"State machine {what}; before its first entry the state is not known.",
                    ),
                    "events",
                )
