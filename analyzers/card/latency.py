"""The analysis ``latency`` of a described card: how long packets took from tap to tap, along each path.

From a packet's first beat at one tap to its first beat at the other, and last to last. Between taps of two clocks both
times count with the uncertainty of their time pairs, within one clock only its rate does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import AnalysisResult, Figure, Series
from freezeframe.analyzers.card.beside import LinkView
from freezeframe.analyzers.card.phases import phase_figures
from freezeframe.analyzers.card.view import CardView
from freezeframe.analyzers.result_parts import distribution_figures, joined_notes
from freezeframe.analyzers.time_alignment import Moments, alignment_notes, span_uncertainty_ps
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.tap.checked import CheckedStream

Int64 = npt.NDArray[np.int64]
Way = tuple[str, CheckedStream, CheckedStream, Int64]
"""Name, both taps, and ``(n, 2)`` the packets that stand at both."""

_ENDS = (("begin", "first beat to first beat"), ("end", "last beat to last beat"))


def run(card: CardView) -> AnalysisResult:
    """Return least, median and most of each stretch and each path, every packet, and their course."""
    figures: list[Figure] = []
    series: list[Series] = []
    frames: list[pd.DataFrame] = []
    for name, first, second, pairs in ways(card):
        figures.append(Figure(f"{name}.packets", f"{name}, packets at both taps", len(pairs)))
        for which, label in _ENDS:
            spans = spans_of(card, first, second, pairs, which)
            known = spans[spans["unc_ps"] >= 0]
            unc = int(known["unc_ps"].max()) if len(known) else None
            values = known["latency_ps"].to_numpy()
            note = _note(first, second, len(pairs), spans)
            title = f"{name}, {label}"
            figures += distribution_figures(
                f"{name}.latency.{which}", title, values, "ps", unc, note
            )
            if which == "begin" and len(known):
                frames.append(known.assign(path=name))
                series.append(_course(name, known))
    for link in card.beside.departures if card.beside else ():
        figures += _of_link(link)
    tables = {"packets": pd.concat(frames, ignore_index=True)} if frames else {}
    of_ways, phases, limits = phase_figures(card)
    figures += of_ways
    if phases:
        tables["phases"] = pd.concat(phases, ignore_index=True)
    limits += [card.beside.note] if card.beside else []
    notes = joined_notes([*_lacks(card), *limits, *alignment_notes(card.times)])
    return AnalysisResult("latency", tuple(figures), tuple(series), tables=tables, notes=notes)


def _of_link(link: LinkView) -> Iterator[Figure]:
    """Yield how long packets took over a link, first beat to first beat, with what the two clocks leave open."""
    if link.needs:
        return
    name = "->".join(link.where)
    yield Figure(f"{name}.packets", f"{name}, packets at both ends", len(link.pairing.pairs))
    spans, most = [], None
    for i, j in link.pairing.pairs:
        (a, unc_a), (b, unc_b) = link.at(link.first, i), link.at(link.second, j)
        if a is None or b is None or min(unc_a or 0, unc_b or 0) < 0:
            continue
        spans.append(b - a)
        most = max(most or 0, (unc_a or 0) + (unc_b or 0))
    yield from distribution_figures(
        f"{name}.latency.begin", f"{name}, first beat to first beat", np.array(spans, np.int64), "ps", most,
        "" if spans else "the clocks of the two cards have no known relation",
    )  # fmt: skip


def _lacks(card: CardView) -> Iterator[str]:
    if not card.recording.card.said.path:
        yield f"{card.device}: could not be asked: needs a [path] of two taps"
    for stretch in card.recording.card.stretches:
        absent = [
            tap.name for tap in (stretch.first, stretch.second) if tap.name not in card.streams
        ]
        if absent:
            ends = f"{stretch.first.name} -> {stretch.second.name}"
            yield f"{ends}: could not be asked: {', '.join(absent)} was not read"
    for view in card.stretches:
        if view.needs:
            yield f"could not be asked: {view.needs}"


def ways(card: CardView) -> Iterator[Way]:
    """Yield each stretch that can be paired, and each path of several from its first tap to its last."""
    seen: dict[tuple[str, str], Way] = {}
    for view in card.stretches:
        if view.needs or view.where in seen:
            continue
        seen[view.where] = _way(card, view.first, view.second, view.pairing.pairs)
    for path in card.recording.card.said.path.values():
        steps = [seen.get(step) for step in zip(path.taps, path.taps[1:], strict=False)]
        whole = [step for step in steps if step is not None]
        if len(steps) > 1 and len(whole) == len(steps):
            through = {int(a): int(b) for a, b in whole[0][3]}
            for step in whole[1:]:
                after = {int(a): int(b) for a, b in step[3]}
                through = {a: after[b] for a, b in through.items() if b in after}
            seen[path.taps[0], path.taps[-1]] = _way(
                card, whole[0][1], whole[-1][2], sorted(through.items())
            )
    yield from seen.values()


def _way(
    card: CardView, first: CheckedStream, second: CheckedStream, pairs: Sequence[tuple[int, int]]
) -> Way:
    name = f"{card.device}.{first.tap.name}->{second.tap.name}"
    return name, first, second, np.array(pairs, np.int64).reshape(-1, 2)


def spans_of(
    card: CardView, first: CheckedStream, second: CheckedStream, pairs: Int64, which: str
) -> pd.DataFrame:
    """Return a row for each packet whose cycle is known exactly at both taps; ``unc_ps`` -1: not known."""
    columns = first.stream.packets, second.stream.packets
    cycles, exact = [], np.ones(len(pairs), np.bool_)
    for place, column in enumerate(columns):
        cycles.append(getattr(column, which)[pairs[:, place]])
        exact &= getattr(column, f"{which}_slack")[pairs[:, place]] == 0
    moments = []
    for end, cycle in zip((first, second), cycles, strict=True):
        t_ps, unc_ps = card.times_ps(end.tap, cycle[exact])
        moments.append(Moments(card.device, end.tap.clock.name, t_ps, unc_ps))
    unc_ps = span_uncertainty_ps(card.times, *moments)
    frame = pd.DataFrame(
        {
            "t_ps": moments[0].t_ps,
            "t_end_ps": moments[1].t_ps,
            "latency_ps": moments[1].t_ps - moments[0].t_ps,
            "unc_ps": unc_ps,
            "packet": pairs[exact, 0],
            "packet_there": pairs[exact, 1],
            "length_B": first.length_B[pairs[exact, 0]],
        }
    )
    if first.tap.clock == second.tap.clock:
        frame["cycles"] = (cycles[1] - cycles[0])[exact]
    frame["text"] = [
        f"packet {n}: {format_ps(t)}"
        for n, t in zip(frame["packet"], frame["latency_ps"], strict=True)
    ]
    return frame


def _note(first: CheckedStream, second: CheckedStream, pairs: int, spans: pd.DataFrame) -> str:
    if not pairs:
        return "no packet stands at both taps"
    if not len(spans):
        return "no packet has a time at both taps that is sharp to a cycle"
    if not (spans["unc_ps"] >= 0).any():
        return (
            f"the clocks {first.tap.clock.name} and {second.tap.clock.name} have no known relation"
        )
    rests = f"{len(spans):,} packets"
    if "cycles" in spans:
        middle = int(np.sort(spans["cycles"])[(len(spans) - 1) // 2])
        rests += f"; {middle:,} cycles of {first.tap.clock.name}, which both taps count"
    return rests


def _course(name: str, spans: pd.DataFrame) -> Series:
    order = np.argsort(spans["t_ps"].to_numpy(), kind="stable")
    return Series(
        f"{name}.latency",
        f"{name}, first beat to first beat",
        "ns",
        spans["t_ps"].to_numpy()[order],
        spans["latency_ps"].to_numpy()[order] / 1000,
        step=False,
    )
