"""Words by flow: from the traces of the taps at the link, and from the counters of the freeze bank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import Stream
from freezeframe.analyzers.view import CaptureView

Int64 = npt.NDArray[np.int64]

_BINS = 64


@dataclass(frozen=True, slots=True, eq=False)
class FlowRates:
    """Words of each flow at one tap, over the time its memory reaches back.

    Attributes:
        flows: ``(f,)`` int64, -1 for words whose header is not in the recording.
        words: ``(f,)`` int64; in_bin: ``(f, b)`` float64 in b bins of equal length, a word on an edge in both by how
            much of its cycle lies there; edges_ps: ``(b + 1,)`` int64.
        missing: words between were not read, so these are too few.

    A memory that begins inside a packet does not say whose words those are: the time begins with the first header.
    """

    device: str
    tap: str
    flows: Int64
    words: Int64
    in_bin: npt.NDArray[np.float64]
    edges_ps: Int64
    missing: bool

    @property
    def span_ps(self) -> int:
        return int(self.edges_ps[-1] - self.edges_ps[0])


@dataclass(frozen=True, slots=True)
class FlowCount:
    """Words of one flow since power-up or link start, 32 bits, as one card counted them."""

    device: str
    flow: int
    sent: int | None
    received: int | None


def flow_rates(stream: Stream, period_ps: int) -> FlowRates | None:
    """Return the words of each flow in a stream; None for one without words, or whose times go back.

    Args:
        period_ps: one cycle of the tap's clock: how long a word lasts.
    """
    period_ps = max(period_ps, 1)
    if not len(stream) or bool((np.diff(stream.t_ps) < 0).any()):
        return None
    begin = next((packet.start for packet in stream.packets if packet.has_head), 0)
    flow = np.full(len(stream), -1, np.int64)
    for packet in stream.packets:
        if packet.header is not None and packet.header_ok is not False and packet.flow is not None:
            flow[packet.start : packet.end] = packet.flow
    times_ps, flow = stream.t_ps[begin:], flow[begin:]
    first, end = int(times_ps[0]), int(stream.t_ps[-1]) + period_ps
    bins = max(1, min(_BINS, (end - first) // period_ps))
    edges = first + np.arange(bins + 1, dtype=np.int64) * (end - first) // bins
    place = np.clip(np.searchsorted(edges, times_ps, side="right") - 1, 0, bins - 1)
    flows = np.unique(flow)
    row = np.searchsorted(flows, flow)
    # Counted only where they begin, some bins would hold a word more than they have cycles.
    here = np.minimum(1.0, (edges[place + 1] - times_ps) / period_ps)
    in_bin = np.zeros((len(flows), bins))
    np.add.at(in_bin, (row, place), here)
    np.add.at(in_bin, (row, np.minimum(place + 1, bins - 1)), 1.0 - here)
    words = np.bincount(row, minlength=len(flows)).astype(np.int64)
    return FlowRates(stream.device, stream.tap, flows, words, in_bin, edges, bool(stream.breaks))


def flow_counts(view: CaptureView) -> list[FlowCount]:
    """Return the counts of every flow that any card of the view used."""
    counts = []
    for device in view.devices:
        for flow in range(device.identity.flows_count):
            sent = view.value(device.name, "frozen_flow.words_sent", flow)
            received = view.value(device.name, "frozen_flow.words_received", flow)
            if sent or received:
                counts.append(FlowCount(device.name, flow, sent, received))
    return counts
