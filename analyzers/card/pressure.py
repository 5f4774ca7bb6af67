"""The analysis ``pressure`` of a described card: cycles in which a packet waited, and streams that stand still.

A tap records beats that were taken. A cycle without one inside a packet was its source's where the stream has no
ready; else source or receiver made it, and only a counter of waits or a checker of the card tells which.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Intervals
from freezeframe.analyzers.card.stall import stalled
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.result_parts import IntervalRow, interval_track
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.kernels import MOST_SUM_B
from freezeframe.decoders.tap.kinds import BITS, Bit, Packet

Int64 = npt.NDArray[np.int64]


def run(card: CardView) -> AnalysisResult:
    """Return waits as counted and as recorded, where they stood, and which stream stands still."""
    figures: list[Figure] = []
    tracks: list[Intervals] = []
    notes: list[str] = []
    counted = {
        counter.tap: name
        for name, counter in card.recording.card.counters
        if counter.counts == "waits"
    }
    for name, end in card.streams.items():
        source = card.source(end.tap)
        if name in counted:
            figures += _counted(card, end, counted[name])
        elif end.tap.said.ready:
            notes.append(
                f'{source}: who held it back could not be asked: needs a counter with counts = "waits" at it'
            )
        lack = _lack(end)
        if lack:
            notes.append(f"{source}: cycles without a beat could not be asked: {lack}")
            continue
        figures += _recorded(card, end)
        rows = list(_inside(card, end)) if card.placed(end.tap) else []
        if rows:
            tracks.append(interval_track(f"{source}.waits", f"{source} waits", rows, (source,)))
    rows = list(_still(card))
    if rows:
        tracks.append(interval_track(f"{card.device}.still", f"{card.device} stands still", rows))
    return AnalysisResult("pressure", tuple(figures), intervals=tuple(tracks), notes=tuple(notes))


def waits_of(end: CheckedStream) -> Int64:
    """Return ``(n,)``: cycles without a beat inside each packet, as far as it was recorded; -1: not known."""
    columns = end.stream.packets
    beats = columns.beats.copy()
    told = (columns.flags & int(Packet.SUMMARY)) != 0
    unclear = (columns.flags & int(Packet.IRREGULAR | Packet.NULL_BEAT)) != 0
    unclear |= columns.length >= MOST_SUM_B
    summed = -(-columns.length // end.tap.stream_bytes)
    beats[told] = np.where(unclear, -1, summed)[told]
    known = (beats > 0) & (columns.begin_slack == 0) & (columns.end_slack == 0)
    known &= (columns.flags & int(Packet.VOID)) == 0
    return np.where(known, np.maximum(0, columns.end - columns.begin + 1 - beats), -1)


def _lack(end: CheckedStream) -> str:
    if end.stream.filtered:
        return "not every kind of word was recorded"
    if end.tap.said.time != "exact":
        return 'needs time = "exact"'
    if end.tap.said.kind == "words":
        return "it has no packets"
    if not (waits_of(end) >= 0).any():
        return "no packet in its memory has a time and a number of beats"
    return ""


def _counted(card: CardView, end: CheckedStream, counter: str) -> Iterator[Figure]:
    source, values = card.source(end.tap), card.recording.counters
    value = values.get(counter)
    note = f"counter {counter}: valid without ready, since power-up"
    if value is None:
        note = f"counter {counter} was not built or not read"
    label = f"{source}, cycles in which its receiver held it back"
    yield Figure(f"{source}.held_back", label, value, "cycles", note=note)
    words = [
        name
        for name, c in card.recording.card.counters
        if (c.tap, c.counts) == (end.tap.name, "words")
    ]
    if (
        value is not None
        and words
        and values.get(words[0]) is not None
        and value + values[words[0]]
    ):
        share = 100 * value / (value + values[words[0]])
        note = f"of the cycles in which it had a word, by counter {words[0]}"
        yield Figure(f"{source}.held_back.share", f"{source}, held back", share, "%", note=note)


def _recorded(card: CardView, end: CheckedStream) -> Iterator[Figure]:
    source, columns = card.source(end.tap), end.stream.packets
    waits = waits_of(end)
    known = waits >= 0
    inside, lasted = int(waits[known].sum()), int((columns.end - columns.begin + 1)[known].sum())
    who = (
        "source or receiver: ready is not recorded"
        if end.tap.said.ready
        else "its source's: the stream has no ready"
    )
    yield Figure(f"{source}.waits", f"{source}, cycles without a beat inside packets", inside, "cycles",
                 note=f"in {int(known.sum()):,} packets; {who}")  # fmt: skip
    yield Figure(
        f"{source}.waits.share",
        f"{source}, share of its packets' cycles without a beat",
        100 * inside / lasted,
        "%",
    )


def _inside(card: CardView, end: CheckedStream) -> Iterator[IntervalRow]:
    """Yield each run of cycles without a beat inside a packet, where the words of the packet are there."""
    stream, columns = end.stream, end.stream.packets
    kind, dated = stream.records.columns.kind, stream.records.dated
    words = np.flatnonzero(BITS[kind] & Bit.WORD)
    packet = np.searchsorted(columns.first_row, words, "right") - 1
    first, last = stream.beats
    gap = first[words[1:]] - last[words[:-1]] - 1
    sharp = dated.slack[words] == 0
    sure = (packet[1:] == packet[:-1]) & sharp[1:] & sharp[:-1] & (waits_of(end)[packet[1:]] > 0)
    found = np.flatnonzero(sure & (gap > 0))
    after = first[words[1:]][found]
    begin_ps, _ = card.times_ps(end.tap, after - gap[found])
    end_ps, _ = card.times_ps(end.tap, after)
    name = "wait" if end.tap.said.ready else "source-waits"
    for at, (t_ps, t_end_ps) in enumerate(zip(begin_ps.tolist(), end_ps.tolist(), strict=True)):
        text = f"packet {packet[1:][found][at]}: {gap[found][at]} cycles"
        yield t_ps, t_end_ps, name, text, -1, False, False


def _still(card: CardView) -> Iterator[IntervalRow]:
    for view in card.stretches:
        claim = None if view.needs else stalled(view)
        if (
            not card.placed(view.second.tap)
            or claim is None
            or claim.t_ps is None
            or view.second.stream.span is None
        ):
            continue
        t_ps, _ = card.times_ps(view.second.tap, np.array([view.second.stream.span[1]], np.int64))
        yield claim.t_ps, int(t_ps[0]), "stands-still", claim.text, -1, False, True
