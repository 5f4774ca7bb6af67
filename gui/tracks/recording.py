"""The tracks of a decoded recording: packets and words of each tap, events, states, back-pressure."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.contract import Finding
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.registers.layouts import DOMAIN_NAMES, MACHINE_STATE_NAMES, Domain, Kind
from freezeframe.decoders.trace.coverage import EVER_PS, Hole
from freezeframe.decoders.trace.decode import Trace
from freezeframe.decoders.trace.schema import ERROR
from freezeframe.decoders.trace.views import event_texts
from freezeframe.gui.tracks.lanes import split_lanes
from freezeframe.gui.tracks.slices import (
    MOST_CLASSES,
    TapPlace,
    packets_of_rows,
    rows_by_time,
    slices_of_rows,
    words_of_rows,
)
from freezeframe.gui.tracks.topics import WAITS
from freezeframe.gui.tracks.tracks import (
    IntervalTrack,
    MarkTrack,
    SliceTrack,
    StateTrack,
    Track,
    roles_of,
    state_roles,
)

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Made = tuple[Track, str | None]
"""A track, and the name of the table that it shows."""

_PS_PER_S = 10**12
VERDICTS = (("header_ok", "header CRC"), ("payload_ok", "payload CRC"), ("length_ok", "length"))
"""Columns of packets with the verdict of a check, and what is checked."""

_WORD_ROLES = ("b", "a", "c")  # HEAD, BODY, TAIL


def recording_tracks(key: str, name: str, folder: CaptureFolder, trace: Trace) -> Iterator[Made]:
    """Yield the tracks with the tables that they show, in the order of the window."""
    # The words of a tap are drawn under its packets.
    taps = [*packet_tracks(key, name, trace), *_words(key, name, folder, trace)]
    sources = list(dict.fromkeys(track.key.rpartition("/")[2] for track, _ in taps))
    yield from sorted(taps, key=lambda one: sources.index(one[0].key.rpartition("/")[2]))
    shown = [track.key.rpartition("/")[2] for track, _ in taps if "/packets/" in track.key]
    for track in silent_tracks(key, name, trace, shown):
        yield track, "packets"
    yield from wait_tracks(key, name, trace)
    yield from state_tracks(key, name, trace)
    yield from event_tracks(key, name, trace)


def finding_track(key: str, name: str, findings: Sequence[Finding]) -> MarkTrack:
    """Return the findings that have a time as marks; ``rows`` are their places in the list."""
    dated = [(f.t_ps, at, f) for at, f in enumerate(findings) if f.t_ps is not None]
    dated.sort(key=lambda one: one[:2])
    return MarkTrack(
        key=f"{key}/findings",
        name="findings",
        source=name,
        t_ps=np.array([t for t, _, _ in dated], np.int64),
        rows=np.array([at for _, at, _ in dated], np.int64),
        text=tuple(f.diagnosis for _, _, f in dated),
        role=("error",) * len(dated),
        unc_ps=np.array([f.t_uncertainty_ps or 0 for _, _, f in dated], np.int64),
        note="What is wrong, by 'explain'. The band is the uncertainty of the time.",
    )


def packet_tracks(key: str, name: str, trace: Trace) -> Iterator[Made]:
    table = trace.packets
    kinds = [str(kind) for kind in table["kind"].cat.categories]
    codes = table["kind"].cat.codes.to_numpy()
    kind_codes = codes.astype(np.uint8)
    seq, flow = table["seq"].to_numpy(), table["flow"].to_numpy()
    wrong = {
        what: (table[verdict] == False).fillna(False).to_numpy(dtype=np.bool_)  # noqa: E712
        for verdict, what in VERDICTS
    }
    bad = np.logical_or.reduce(list(wrong.values()))
    whole = table["whole"].to_numpy(dtype=np.bool_)
    named = kinds[: MOST_CLASSES - 1]
    classes, roles = (*named, "not all recorded"), (*roles_of(len(named), ()), "idle")
    kind_codes[~whole] = len(classes) - 1
    length, words = table["length"].to_numpy(), table["body_words"].to_numpy()
    starts, ends = table["t_ps"].to_numpy(), table["t_end_ps"].to_numpy()

    def label(row: int) -> str:
        # The number first: it is what is left where there is little room.
        known = seq[row] >= 0
        return f"{seq[row]} {kinds[codes[row]]} f{flow[row]}" if known else "unknown"

    def tip(row: int) -> str:
        lacks = "" if whole[row] else "; not all recorded"
        said = ", ".join(what for what, there in wrong.items() if there[row])
        return f"{words[row]} of {length[row]} words{lacks}{f'; bad {said}' if said else ''}"

    for source, rows in by_source(table):
        at = TapPlace(key, name, source, trace.coverage.words(source))
        yield (
            packets_of_rows(
                at,
                starts,
                ends,
                rows,
                bad=bad,
                colour=kind_codes,
                classes=classes,
                roles=roles,
                label=label,
                tip=tip,
            ),
            "packets",
        )


def _words(key: str, name: str, folder: CaptureFolder, trace: Trace) -> Iterator[Made]:
    table = trace.words
    kinds = [str(kind) for kind in table["kind"].cat.categories]
    colour = table["kind"].cat.codes.to_numpy().astype(np.uint8)
    starts = table["t_ps"].to_numpy()
    for source, rows in by_source(table):
        yield (
            words_of_rows(
                TapPlace(key, name, source, trace.coverage.words(source)),
                starts,
                starts + _cycle_ps(folder, source),
                rows,
                data=table["data"].to_numpy(),
                colour=colour,
                classes=tuple(kinds),
                roles=_WORD_ROLES[: len(kinds)] if len(kinds) == len(_WORD_ROLES) else (),
                note=f"Every word that was recorded at {source}, as read.",
            ),
            "words",
        )


def event_tracks(key: str, name: str, trace: Trace) -> Iterator[Made]:
    """One track for each kind of a device's events that no other track shows."""
    table = trace.events
    skipped = (Kind.STATE.name, Kind.PRESSURE.name, Kind.TIME.name, Kind.MARK.name)
    kinds, starts = _texts(table["kind"]), table["t_ps"].to_numpy()
    codes, flow, value = _texts(table["code"]), table["flow"].to_numpy(), table["value"].to_numpy()
    closed = np.flatnonzero(kinds == Kind.MARK.name).astype(np.int64)
    if len(closed):
        tap = _texts(table["source"])
        yield (
            slices_of_rows(
                SliceTrack,
                starts,
                rows=closed,
                key=f"{key}/events/closed",
                name="recording closed",
                source=name,
                label=lambda row: f"{tap[row]} {codes[row]}",
                note="When each memory stopped recording, and the causes.",
            ),
            "events",
        )

    decoded, index = event_texts(table), table.index.to_numpy()

    def label(row: int) -> str:
        text = decoded.get(int(index[row]))
        if text is not None:
            return text
        of = f" f{flow[row]}" if flow[row] >= 0 else ""
        return f"{codes[row]}{of} {value[row]}"

    classes_of = {kind: _classes(codes[kinds == kind]) for kind in dict.fromkeys(kinds.tolist())}
    for source, rows in by_source(table):
        for kind in dict.fromkeys(kinds[rows].tolist()):
            if kind in skipped:
                continue
            order = rows_by_time(starts, rows[kinds[rows] == kind])
            classes = classes_of[kind]  # of all cards: a code has one colour
            known = {name: number for number, name in enumerate(classes)}
            other = len(classes) - 1
            colour = np.array([known.get(code, other) for code in codes[order].tolist()], np.uint8)
            lost = kind in (ERROR, Kind.LOSS.name)
            error = np.char.startswith(codes[order], "refused") | lost
            yield (
                slices_of_rows(
                    SliceTrack,
                    starts,
                    rows=order,
                    key=f"{key}/events/{source}/{kind}",
                    name=f"{source} {kind}",
                    source=name,
                    colour=colour,
                    classes=classes,
                    error=error if error.any() else None,
                    label=label,
                    note=f"Events of kind {kind}; an event is a moment.",
                    coverage=trace.coverage.of(source, *_kinds(kind)),
                ),
                "events",
            )


def state_tracks(key: str, name: str, trace: Trace) -> Iterator[Made]:
    events = trace.events
    view = trace.states()
    if not len(view):
        return
    place = events.index.get_indexer(view.index)
    sources = _texts(events["source"])[place]
    machines, new = view["machine"].to_numpy().astype(np.str_), view["new"].to_numpy()
    last_ps = int(events["t_ps"].max())
    names = tuple(dict.fromkeys((*MACHINE_STATE_NAMES, *(str(n) for n in new))))[:MOST_CLASSES]
    number = {text: code for code, text in enumerate(names)}
    t_ps = view["t_ps"].to_numpy()
    for source in dict.fromkeys(sources.tolist()):
        for machine in dict.fromkeys(machines[sources == source].tolist()):
            mine = np.flatnonzero((sources == source) & (machines == machine))
            mine = mine[np.argsort(t_ps[mine], kind="stable")]
            yield (
                StateTrack(
                    key=f"{key}/state/{source}/{machine}",
                    name=f"{source.partition('.')[0]} {machine}",
                    source=name,
                    t_ps=t_ps[mine],
                    rows=place[mine].astype(np.int64),
                    colour=np.array(
                        [number.get(str(n), len(names) - 1) for n in new[mine]], np.uint8
                    ),
                    classes=names,
                    roles=state_roles(names),
                    end_ps=last_ps,
                    note=f"State machine {machine}; before its first change the state is not known.",
                    coverage=trace.coverage.of(source, Kind.STATE).less(
                        [
                            Hole(
                                -EVER_PS,
                                int(t_ps[mine[0]]),
                                "no change of state was recorded before",
                            )
                        ]
                    ),
                ),
                "events",
            )


def wait_tracks(
    key: str, name: str, trace: Trace, told: Mapping[tuple[str, int, int], str] | None = None
) -> Iterator[Made]:
    """Yield when each card waited for credit; ``told``: what a wait of a device, from a time, of a flow was for."""
    table = trace.intervals
    starts, flow = table["t_ps"].to_numpy(), table["flow"].to_numpy()
    devices, known = table["device"].astype(str).to_list(), told or {}
    for source, rows in by_source(table):
        whole = slices_of_rows(
            IntervalTrack,
            starts,
            table["t_end_ps"].to_numpy(),
            rows,
            key=f"{key}/intervals/{source}",
            name=f"{source.partition('.')[0]} blocked",
            source=name,
            columns={end: table[end].to_numpy() for end in ("open_start", "open_end")},
            classes=(WAITS,),
            roles=("warn",),
            label=lambda row: known.get(
                (devices[row], int(starts[row]), int(flow[row])), f"flow {flow[row]}"
            ),
            note="Times at which a flow had a packet to send and no credit for it.",
            coverage=trace.coverage.of(source, Kind.PRESSURE),
        )
        for lane in split_lanes(whole):
            yield lane, "intervals"


def silent_tracks(key: str, name: str, trace: Trace, shown: Container[str]) -> Iterator[SliceTrack]:
    """Yield an empty track for each tap that is not among the shown, so that it can be seen why there is none."""
    for device in trace.devices:
        for source in (f"{device}.{tap}" for tap in trace.taps):
            if source not in shown:
                at = TapPlace(key, name, source, trace.coverage.words(source))
                yield at.empty(f"No packet was recorded at {source}.")


def _kinds(name: str) -> tuple[Kind, ...]:
    """Return the kind of record by its name; none for rows that the decoder adds."""
    return (Kind[name],) if name in Kind.__members__ else ()


def _cycle_ps(folder: CaptureFolder, source: str) -> int:
    device, _, tap = source.partition(".")
    of = folder.device(device)
    on_bus = of.roles.domain_of[tap] == DOMAIN_NAMES[Domain.BUS]
    clk_hz = of.identity.clk_bus if on_bus else of.identity.clk_link
    return -(-_PS_PER_S // clk_hz)


def by_source(table: pd.DataFrame) -> Iterator[tuple[str, Int64]]:
    """Yield each source of a table with its rows, in order of first appearance."""
    if not len(table):
        return
    codes = table["source"].cat.codes.to_numpy()
    names = table["source"].cat.categories
    for code in dict.fromkeys(codes.tolist()):
        if code >= 0:
            yield str(names[code]), np.flatnonzero(codes == code).astype(np.int64)


def _texts(column: pd.Series[Any]) -> npt.NDArray[np.str_]:
    return column.astype(str).to_numpy().astype(np.str_)


def _classes(texts: npt.NDArray[np.str_]) -> tuple[str, ...]:
    """Return at most 16 classes; the rarest texts share the last one."""
    names, counts = np.unique(texts, return_counts=True)
    if len(names) <= MOST_CLASSES:
        return tuple(names.tolist())
    kept = names[np.argsort(-counts, kind="stable")[: MOST_CLASSES - 1]]
    return (*kept.tolist(), "other")
