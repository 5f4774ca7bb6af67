"""Figures of a card's taps and stretches: packets, throughput, waits, latency.

Only beats that were accepted are recorded; whether a cycle without one was the source's or the receiver's is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freezeframe.analyzers.analysis import Figure
from freezeframe.analyzers.card.stretch import StretchView
from freezeframe.analyzers.result_parts import distribution_figures
from freezeframe.capture.card.recording import CardRecording
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.tap.checked import BAD, GOOD, CheckedStream
from freezeframe.decoders.tap.kinds import Packet


def tap_figures(recording: CardRecording, end: CheckedStream) -> Iterator[Figure]:
    """Yield what passed a tap while its memory reaches."""
    stream, name = end.stream, end.tap.name
    columns = stream.packets
    yield Figure(
        f"{name}.packets", f"{name}: packets", int(stream.whole.sum()), note="whole in the memory"
    )
    for verdict, word in ((GOOD, "good"), (BAD, "bad")):
        if end.is_checked:
            yield Figure(
                f"{name}.{word}",
                f"{name}: packets that are {word}",
                int((end.verdict == verdict).sum()),
            )
    first = columns.begin[:1]
    if not len(first) or stream.span is None or (columns.begin_slack[0] < 0):
        return
    cycles = int(columns.end[-1]) - int(first[0]) + 1
    hz = next(c.hz for c in recording.clocks if c.clock.name == end.tap.clock.name)
    carried = int(columns.length.sum())
    if cycles > 0 and carried:
        rate = carried * hz / cycles / 1e6
        label = f"{name}: bytes that passed, over {cycles:,} cycles"
        yield Figure(f"{name}.throughput", label, rate, "MB/s", note="of the nominal clock")
    told = columns.beats > 0
    if (
        told.any()
        and not (columns.flags & int(Packet.SUMMARY)).any()
        and end.tap.said.time == "exact"
    ):
        inside = int((columns.end - columns.begin + 1 - columns.beats)[told].sum())
        who = (
            "the source's"
            if not end.tap.said.ready
            else "source or receiver: ready is not recorded"
        )
        yield Figure(
            f"{name}.waits",
            f"{name}: cycles without a beat inside packets",
            inside,
            "cycles",
            note=who,
        )


def stretch_figures(view: StretchView) -> list[Figure]:
    """Return the latency of a stretch, from a packet's first beat to its first, and last to last."""
    pairs = np.array(view.pairing.pairs, np.int64).reshape(-1, 2)
    name = f"{view.where[0]}->{view.where[1]}"
    figures = [Figure(f"{name}.pairs", f"{name}: packets at both taps", len(pairs))]
    for which, label in (("begin", "first beat to first beat"), ("end", "last beat to last beat")):
        a = getattr(view.first.stream.packets, which)[pairs[:, 0]]
        b = getattr(view.second.stream.packets, which)[pairs[:, 1]]
        slack = [
            getattr(end.stream.packets, f"{which}_slack")[pairs[:, n]]
            for n, end in enumerate((view.first, view.second))
        ]
        exact = (slack[0] == 0) & (slack[1] == 0)
        clocks = view.first.tap.clock, view.second.tap.clock
        device = view.recording.device
        if clocks[0] == clocks[1]:
            hz = view.times.clocks[device, clocks[0].name].clk_hz
            values, unc = (b - a)[exact] * PS_PER_S // hz, None
        else:
            t_a, unc_a = view.times.times_ps(device, clocks[0].name, a[exact])
            t_b, unc_b = view.times.times_ps(device, clocks[1].name, b[exact])
            values = t_b - t_a
            known = (unc_a >= 0) & (unc_b >= 0)
            values = values[known]
            unc = int((unc_a + unc_b)[known].max()) if known.any() else None
        note = "" if len(values) else "no packet stands at both taps with a time of both"
        figures += distribution_figures(
            f"{name}.latency.{which}", f"{name}: latency, {label}", values, "ps", unc, note
        )
    return figures
