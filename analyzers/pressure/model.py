"""A sender's transfers run again with another credit unit: what finer credits would have gained.

Three stages in a row, packet by packet: the transmit DMA fills the outgoing FIFO, the link carries a packet when its
credit is there, the receiver empties its FIFO and reports so every ``unit`` words. Every speed is measured in the
capture; the same model with the capture's own unit shows how far it is off.

It does not know that a faster flow meets a busier bus, nor pauses of the receiving host.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from freezeframe.analyzers.credits.flights import flights
from freezeframe.analyzers.credits.ledger import FlowAccount
from freezeframe.analyzers.credits.sent_counts import Loaded, loaded_packets
from freezeframe.analyzers.pressure.blame import latency_ps
from freezeframe.analyzers.result_parts import median
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import STATE_VALUE_NEW_MASK, MachineState

_CREDIT_CYCLES = 2  # of the way back that a credit takes: its word and the idle after it

_FIT_PS = 1000
_LONG = 0.9  # of the longest packet: what counts as long


@dataclass(frozen=True, slots=True)
class Path:
    """The speeds of one direction, measured.

    Attributes:
        dma_ps, dma_word_ps: of a transmit DMA, for each packet and word of it.
        think_ps: before each packet, how long the DMA had no descriptor.
        link_word_ps, gap_ps: of a word on the link and between packets.
        latency_ps: of a word from tx_deq to rx_enq; back_ps: of a credit, due to taken.
        first_ps, last_ps: the first and the last word of a long packet stay so long in the incoming FIFO at least;
            a DMA that moves whole bursts waits for the words of one. drain_word_ps: of each word out of it.
        tx_fifo: words of the outgoing FIFO.
    """

    dma_ps: int
    dma_word_ps: float
    think_ps: tuple[int, ...]
    link_word_ps: float
    gap_ps: int
    latency_ps: int
    back_ps: int
    first_ps: int
    last_ps: int
    drain_word_ps: float
    tx_fifo: int


@dataclass(frozen=True, slots=True)
class Run:
    """What the model says: words a second, waits for credit, and the time they took."""

    words_per_s: float
    waits: int
    wait_ps: int


def measured_path(
    view: CaptureView, accounts: Sequence[FlowAccount], packets: Sequence[Loaded]
) -> Path | str:
    """Return the speeds of a direction, or a sentence that says which one the capture does not hold."""
    sender, receiver = accounts[0].sender, accounts[0].receiver
    capture = view.device(sender)
    whole = [p for p in packets if p.started_ps is not None]
    theirs = view.logs.get(receiver)
    returning = loaded_packets(theirs) if theirs is not None else []
    if capture is None or len(whole) < 8:
        return f"{sender}: its event log holds {len(whole)} whole transfers; eight are needed to run them again."
    latency = latency_ps(view, sender, receiver)
    if latency is None:
        return f"{sender}->{receiver}: no packet is recorded at both ends of the link, so its latency is not known."
    back = [t - s for account in accounts for s, t in flights(view, account).pairs_ps]
    drain = _drain_word_ps(view, accounts)
    first, last = _stay_ps(view, receiver)
    if not back or drain is None:
        return (
            f"{sender}->{receiver}: too few credits are in both event logs to measure their way and "
            "the receiver's speed."
        )
    words = np.array([p.words for p in whole], np.float64)
    took = np.array([p.done_ps - (p.started_ps or 0) for p in whole], np.float64)
    slope, offset = (
        np.polyfit(words, took, 1)
        if len(set(words.tolist())) > 1
        else (took.mean() / words.mean(), 0.0)
    )
    think = _pauses(view, sender, whole)
    setup = sorted(
        max(0, (after.started_ps or 0) - before.done_ps - pause)
        for before, after, pause in zip(whole, whole[1:], think[1:], strict=False)
    )
    link_ps = view.cycles_ps(sender, link=1000) / 1000
    return Path(
        dma_ps=max(0, int(offset)) + setup[len(setup) // 4],  # the others wait for room, or the bus
        dma_word_ps=max(float(slope), 0.0),
        think_ps=tuple(think),
        link_word_ps=link_ps,
        gap_ps=round(link_ps),
        latency_ps=latency,
        back_ps=median(back) + _queue_ps(view, receiver, returning),
        first_ps=first,
        last_ps=last,
        drain_word_ps=drain,
        tx_fifo=capture.identity.tx_fifo,
    )


def run_again(path: Path, packets: Sequence[Loaded], limits: Mapping[int, int], unit: int) -> Run:
    """Run packets through the three stages with a credit unit.

    Args:
        limits: start-up credit of each flow.
        unit: words freed between two credits.
    Raises:
        ValueError: no packets, or a unit below 1.
    """
    if not packets or unit < 1:
        raise ValueError(
            f"nothing to run: {len(packets)} packets with a credit unit of {unit} words"
        )
    done_ps = link_ps = drain_ps = 0.0
    left: list[tuple[float, int]] = []  # when a packet began to leave, words in all after it
    loaded = gone = 0
    sent = dict.fromkeys(limits, 0)
    credited: dict[int, tuple[list[int], list[float]]] = {flow: ([], []) for flow in limits}
    due = dict.fromkeys(limits, unit)
    freed = dict.fromkeys(limits, 0)
    waits, wait_ps = 0, 0.0
    first_ps = None
    for packet, think_ps in zip(packets, path.think_ps, strict=True):
        start_ps = done_ps + think_ps
        need = loaded + packet.words - path.tx_fifo
        if need > 0:
            at = bisect_left(left, need, key=lambda pair: pair[1])
            before = left[at - 1][1] if at else 0
            start_ps = max(start_ps, left[at][0] + (need - before) * path.link_word_ps)
        done_ps = start_ps + path.dma_ps + packet.words * path.dma_word_ps
        loaded += packet.words
        ready_ps = max(done_ps, link_ps)
        critical = sent[packet.flow] + packet.words - limits[packet.flow]
        if critical > 0:
            counts, times = credited[packet.flow]
            at = bisect_left(counts, critical)
            if at < len(times) and times[at] > ready_ps:
                waits += 1
                wait_ps += times[at] - ready_ps
                ready_ps = times[at]
        first_ps = ready_ps if first_ps is None else first_ps
        sent[packet.flow] += packet.words
        gone += packet.words
        end_ps = ready_ps + packet.words * path.link_word_ps
        left.append((ready_ps, gone))
        link_ps = end_ps + path.gap_ps
        held_ps = min(path.first_ps, packet.words * path.link_word_ps + path.last_ps)
        begin_ps = max(ready_ps + path.latency_ps + held_ps, drain_ps)
        drain_ps = max(
            begin_ps + packet.words * path.drain_word_ps, end_ps + path.latency_ps + path.last_ps
        )
        before = freed[packet.flow]
        freed[packet.flow] = before + packet.words
        while due[packet.flow] <= freed[packet.flow]:
            share = (due[packet.flow] - before) / packet.words
            counts, times = credited[packet.flow]
            counts.append(due[packet.flow])
            times.append(begin_ps + share * (drain_ps - begin_ps) + path.back_ps)
            due[packet.flow] += unit
    span_ps = link_ps - path.gap_ps - (first_ps or 0.0)
    return Run(gone * 1e12 / span_ps if span_ps > 0 else 0.0, waits, round(wait_ps))


def fitted(
    path: Path, packets: Sequence[Loaded], limits: Mapping[int, int], unit: int, words_per_s: float
) -> Path:
    """Return the path with as much more time for each DMA as makes the model as slow as the capture was.

    That time is the wait for a bus that others use, which no event states. A model that is too slow already stays
    as it is.
    """
    low, high = 0, 1 << 24
    if run_again(path, packets, limits, unit).words_per_s <= words_per_s:
        return path
    while run_again(_slower(path, high), packets, limits, unit).words_per_s > words_per_s:
        low, high = high, 2 * high
    while high - low > _FIT_PS:
        middle = (low + high) // 2
        if run_again(_slower(path, middle), packets, limits, unit).words_per_s > words_per_s:
            low = middle
        else:
            high = middle
    return _slower(path, high)


def _slower(path: Path, more_ps: int) -> Path:
    return replace(path, dma_ps=path.dma_ps + more_ps)


def _drain_word_ps(view: CaptureView, accounts: Sequence[FlowAccount]) -> float | None:
    """Return picoseconds a word out of the incoming FIFO while the receive DMA has work, waiting for the bus with it.

    All flows together, between the first and the last credit that the receiver's log holds.
    """
    receiver = accounts[0].receiver
    log = view.flow_log(receiver)
    known = [a for a in accounts if len(a.sent_credits) > 1]
    if log is None or not known:
        return None
    at = log.select("STATE", "rx_dma")
    new, times = log.value[at] & STATE_VALUE_NEW_MASK, log.t_ps[at]
    begin = min(int(a.sent_credits.t_ps[0]) for a in known)
    end = max(int(a.sent_credits.t_ps[-1]) for a in known)
    moving = np.flatnonzero(new[:-1] == MachineState.DATA)
    shared = np.minimum(times[1:][moving], end) - np.maximum(times[:-1][moving], begin)
    busy_ps = int(np.clip(shared, 0, None).sum())
    words = sum(int((np.diff(a.sent_credits.freed) % (a.modulus or 1)).sum()) for a in known)
    return busy_ps / words if busy_ps and words else None


def _stay_ps(view: CaptureView, receiver: str) -> tuple[int, int]:
    """Return how long the first and the last word of a long packet stay in the incoming FIFO at least; 0 unknown."""
    into, out = (view.stream(receiver, tap) for tap in view.roles.rx.taps)
    if into is None or out is None:
        return 0, 0
    entered = {p.seq: p for p in into.packets if p.header_ok and p.whole}
    both = [
        (entered[p.seq], p) for p in out.packets if p.header_ok and p.whole and p.seq in entered
    ]
    longest = max((b.end - b.start for _, b in both), default=0)
    long = [(a, b) for a, b in both if b.end - b.start >= _LONG * longest]
    firsts = [int(out.t_ps[b.start]) - int(into.t_ps[a.start]) for a, b in long]
    lasts = [int(out.t_ps[b.end - 1]) - int(into.t_ps[a.end - 1]) for a, b in long]
    return max(0, min(firsts, default=0)), max(0, min(lasts, default=0))


def _queue_ps(view: CaptureView, receiver: str, packets: Sequence[Loaded]) -> int:
    """Return how long a credit waits on average for the packet that the receiver itself is sending.

    The share of time its transmitter is busy, times the mean rest of a packet that one meets at random.
    """
    if len(packets) < 2:
        return 0
    words = np.array([p.words for p in packets], np.float64)
    word_ps = view.cycles_ps(receiver, link=1000) / 1000
    span_ps = packets[-1].done_ps - packets[0].done_ps
    busy = min(1.0, float(words[1:].sum()) * word_ps / span_ps) if span_ps > 0 else 0.0
    return round(busy * word_ps * float((words**2).mean() / words.mean()) / 2)


def _pauses(view: CaptureView, sender: str, packets: Sequence[Loaded]) -> list[int]:
    """Return before each packet how long the transmit DMA was idle: it had no descriptor."""
    log = view.logs[sender]
    at = log.select("STATE", "tx_dma")
    new = log.value[at] & STATE_VALUE_NEW_MASK
    times = log.t_ps[at]
    idle = np.flatnonzero(new[:-1] == MachineState.IDLE)
    begins, ends = times[:-1][idle], times[1:][idle]
    pauses = [0]
    for before, after in itertools.pairwise(packets):
        shared = np.minimum(ends, after.started_ps or 0) - np.maximum(begins, before.done_ps)
        pauses.append(int(np.clip(shared, 0, None).sum()))
    return pauses
