"""What the taps say of a message's way behind the bus: to the link, over it, and into the receiver's memory."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.calibrate.refusals import CannotSay
from freezeframe.analyzers.calibrate.samples import Value, exact, low_half_of, mean_of
from freezeframe.analyzers.calibrate.sent import Sent
from freezeframe.analyzers.streams import Stream
from freezeframe.analyzers.view import CaptureView

_LEAST = 2  # packets that both ends of a stretch must hold
_LARGE = 1 << 16  # words: a burst that was never seen to end


@dataclass(frozen=True, slots=True)
class _Passed:
    """One good packet at one tap: first and last word in ps, words in all, payload, and words of its last burst."""

    first_ps: int
    last_ps: int
    words: int
    body: int
    bursts: tuple[int, ...]


def path_values(
    view: CaptureView, sent: Mapping[str, Sequence[Sent]], known: Sequence[Value]
) -> tuple[list[Value], dict[tuple[str, int], int]]:
    """Return the numbers of link and receiver, and when messages were written, by sender and number.

    Raises:
        CannotSay: no packet is recorded at both ends of a stretch.
    """
    bus_ps = 1e12 / view.devices[0].identity.clk_bus
    link_ps = 1e12 / view.devices[0].identity.clk_link
    overhead = next(value.value for value in known if value.name == "overhead_cycles")
    tx, rx = view.roles.ways
    starts: list[float] = []
    gaps: list[float] = []
    flights: list[float] = []
    writes: list[float] = []
    bursts: list[tuple[int, ...]] = []
    frames: list[int] = []
    written: dict[tuple[str, int], int] = {}
    for sender, receiver in view.directions:
        left, entered, gone = (
            _passed(view.stream(*place))
            for place in ((sender, tx.exit), (receiver, rx.entry), (receiver, rx.exit))
        )
        numbers = {m.number & 0xFFFF: m for m in sent[sender]}
        before: _Passed | None = None
        for seq, packet in left.items():
            m = numbers.get(seq)
            idle_ps = 0 if before is None else before.last_ps + 3 * link_ps
            if (
                m is not None
                and m.done_ps is not None
                and before is not None
                and m.done_ps > idle_ps
            ):
                starts.append((packet.first_ps - m.done_ps) / link_ps)
            if (
                before is not None
                and m is not None
                and m.done_ps is not None
                and m.done_ps + 3 * link_ps < before.last_ps
            ):
                gaps.append(round((packet.first_ps - before.last_ps) / link_ps) - 1)
            before = packet
            frames.append(packet.words - packet.body)
            if seq in entered:
                flights.append((entered[seq].last_ps - packet.last_ps) / 1000)
        free_ps: int | None = None
        for seq, packet in gone.items():
            bursts.append(packet.bursts)
            arrived = entered.get(seq)
            alone = arrived is not None and free_ps is not None and free_ps < arrived.last_ps
            free_ps = packet.last_ps
            if arrived is not None and alone and len(packet.bursts) == 1:
                took = (packet.last_ps - arrived.last_ps) / bus_ps
                writes.append(max(0.0, took - packet.words + 1 - overhead))
            if seq in numbers:
                written[sender, numbers[seq].number] = packet.last_ps
    if len(flights) < _LEAST or len(bursts) < _LEAST:
        what = "both ends of the link" if len(flights) < _LEAST else "the receiver's exit"
        raise CannotSay(
            f"{view.folder.path}: one end: {min(len(flights), len(bursts))} packets recorded at {what}, {_LEAST} are "
            "needed to know what it takes; record all kinds of words at all four taps"
        )
    start = (
        low_half_of("start_link_cycles", starts, "DESC done to the first word on an idle link")
        if starts
        else Value(
            "start_link_cycles",
            2.0,
            1.0,
            3.0,
            0,
            "no packet met an idle link: one to three cycles of crossing",
        )
    )
    return [
        exact("frame_words", min(frames), "words of a packet that are not payload"),
        start,
        mean_of("gap_link_cycles", gaps, "between two packets of which the second was ready, with credits") if gaps else
        Value("gap_link_cycles", 2.0, 0.0, 4.0, 0, "no packet was ready while another left: up to four cycles"),
        mean_of("flight_ns", flights, "last word at the sender's exit to the receiver's entry"),
        _burst(bursts),
        low_half_of("write_start_cycles", writes, "last word in the FIFO to the bus") if writes else
        Value("write_start_cycles", 1.0, 0.0, 2.0, 0, "no packet was written in one burst: two cycles at most"),
    ], written  # fmt: skip


def _burst(found: Sequence[tuple[int, ...]]) -> Value:
    """Return the words of a burst: the length of those with another behind them."""
    ended = [burst for packet in found for burst in packet[:-1]]
    if ended:
        return exact("burst_words", float(np.median(ended)), "words written in consecutive cycles")
    return exact("burst_words", _LARGE, "no packet was written in two bursts")


def _passed(stream: Stream | None) -> dict[int, _Passed]:
    """Return the good packets of a tap by sequence number, oldest first."""
    found: dict[int, _Passed] = {}
    for packet in stream.packets if stream is not None else ():
        if not packet.header_ok or not packet.whole or packet.seq is None or stream is None:
            continue
        cycle = stream.cycle[packet.start : packet.end]
        ends = np.flatnonzero(np.diff(cycle) != 1)
        edges = [0, *(ends + 1).tolist(), len(cycle)]
        lengths = tuple(b - a for a, b in itertools.pairwise(edges))
        found[int(packet.seq)] = _Passed(
            int(stream.t_ps[packet.start]), int(stream.t_ps[packet.end - 1]), len(cycle),
            int(packet.body_words), lengths,
        )  # fmt: skip
    return found
