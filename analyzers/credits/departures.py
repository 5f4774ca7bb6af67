"""Which packets left a sender, when, and how large they were: its tx_deq, and what its event log adds.

The memory of tx_deq may begin in the middle of a packet, shortly after the moment of interest. DESC
events tell flow and length of packets that are not recorded any more, and a link that is busy leaves no
doubt when they started: one right before the other.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from freezeframe.analyzers.streams import EventLog, Packet, Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import (
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    STATE_VALUE_NEW_MASK,
    Kind,
    MachineState,
)

__all__ = ["Departure", "departures", "described_packets"]

_FRAME_WORDS = 3  # two HEAD words and the TAIL
_SEQ_MASK = 0xFFFF
_MOST_BACK = 8
_SLACK_BUS, _SLACK_LINK = (
    4,
    2,
)  # an event is stamped 2 to 3 bus cycles after what it tells of the link
_CREDIT_CYCLES = 4  # a credit word and the idle around it
_NOT_SENDING = (MachineState.IDLE, MachineState.WAIT_CREDIT)


@dataclass(frozen=True, slots=True)
class Departure:
    """One packet leaving. ``position``: of its first recorded word in tx_deq, None when it has none."""

    seq: int
    flow: int
    words: int
    t_ps: int
    position: int | None


def departures(view: CaptureView, sender: str, *, extend: bool = False) -> tuple[Departure, ...]:
    """Return the packets of which flow, size and start are known, oldest first, none left out between.

    The stretch begins where a packet's header is not known; ``extend`` goes on before that with what
    the event log tells.
    """
    stream = view.stream(sender, "tx_deq")
    log = view.logs.get(sender)
    if stream is None or not stream.packets:
        return ()
    described = _described(log) if log is not None else {}
    recorded = _recorded(stream, described)
    if not recorded or log is None or not extend:
        return tuple(recorded)
    if not log.recorded(Kind.CREDIT, Kind.PRESSURE, Kind.STATE):
        return tuple(recorded)
    slack_ps = view.cycles_ps(sender, bus=_SLACK_BUS, link=_SLACK_LINK)
    return (*_before(stream, log, described, recorded, slack_ps), *recorded)


def described_packets(view: CaptureView, sender: str) -> dict[int, tuple[int, int]]:
    """Return ``{seq: (flow, words)}`` of the packets that a sender's descriptors and its tx_enq tell."""
    log, entered = view.logs.get(sender), view.stream(sender, "tx_enq")
    found = {} if log is None or log.gaps else _described(log)
    for packet in entered.packets if entered is not None else ():
        if packet.header_ok and packet.seq is not None and packet.flow is not None:
            found[packet.seq] = (packet.flow, (packet.length or 0) + _FRAME_WORDS)
    return found


def _described(log: EventLog) -> dict[int, tuple[int, int]]:
    """Return ``{seq: (flow, words)}`` of the packets that DESC events describe."""
    at = log.select("DESC")
    lengths = log.value[at] >> DESC_VALUE_LENGTH_LSB & DESC_VALUE_LENGTH_MASK
    seqs = log.value[at] >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK
    return {
        seq: (flow, length + _FRAME_WORDS)
        for seq, flow, length in zip(
            seqs.tolist(), log.flow[at].tolist(), lengths.tolist(), strict=True
        )
    }


def _recorded(stream: Stream, described: dict[int, tuple[int, int]]) -> list[Departure]:
    """Return the packets in tx_deq, from the last stretch without an unknown one."""
    found: list[Departure] = []
    packets = stream.packets
    for packet in packets:
        departure = _departure(stream, packet, packets, described)
        if departure is None and packet is packets[-1]:
            break  # the memory closed within its header
        if departure is None or (found and departure.seq != found[-1].seq + 1 & _SEQ_MASK):
            found.clear()  # a packet between may be missing, or have been injected
        if departure is not None:
            found.append(departure)
    return found


def _departure(
    stream: Stream,
    packet: Packet,
    packets: list[Packet],
    described: dict[int, tuple[int, int]],
) -> Departure | None:
    if packet.header_ok and packet.seq is not None and packet.flow is not None:
        words = packet.end - packet.start
        if packet.cut_end and packet.length is not None:
            words = max(words, packet.length + _FRAME_WORDS)
        t_ps = int(stream.t_ps[packet.start])
        return Departure(packet.seq, packet.flow, words, t_ps, packet.start)
    follows = packets[packet.index + 1] if packet.index + 1 < len(packets) else None
    if not packet.cut_start or not packet.has_tail or follows is None or follows.seq is None:
        return None
    seq = follows.seq - 1 & _SEQ_MASK
    if seq not in described:
        return None
    flow, words = described[seq]
    # A packet stands whole in the FIFO before it leaves, so its words leave without a pause.
    t_ps = int(stream.t_ps[packet.end - 1]) - (words - 1) * _period_ps(stream)
    return Departure(seq, flow, words, t_ps, packet.start)


def _period_ps(stream: Stream) -> int:
    """Return the link's period on the capture's time base."""
    cycles = int(stream.cycle[-1] - stream.cycle[0])
    return round(int(stream.t_ps[-1] - stream.t_ps[0]) / cycles) if cycles else 0


def _before(
    stream: Stream,
    log: EventLog,
    described: dict[int, tuple[int, int]],
    recorded: list[Departure],
    slack_ps: int,
) -> list[Departure]:
    """Return packets before the recorded ones, back to the last end of back-pressure.

    They are believed only when, laid end to end, they begin just when that pressure ended, and the
    transmitter was not idle since.
    """
    period_ps, first = _period_ps(stream), recorded[0]
    ends = log.t_ps[log.select("PRESSURE", "end")].tolist()
    last = bisect_left(ends, first.t_ps - slack_ps) - 1
    if last < 0 or not period_ps:
        return []
    if _paused(log, ends[last] + slack_ps, first.t_ps):
        return []
    credits = log.t_ps[log.select("CREDIT", "sent")]
    between = int(((credits >= ends[last]) & (credits < first.t_ps)).sum())
    late_ps = between * _CREDIT_CYCLES * period_ps
    gap_ps = _gap_ps(recorded, period_ps)
    chain: list[Departure] = []
    seq, t_ps = first.seq, first.t_ps
    shortest_ps = first.words * period_ps
    for _ in range(_MOST_BACK):
        seq = seq - 1 & _SEQ_MASK
        if seq not in described:
            return []
        flow, words = described[seq]
        t_ps -= words * period_ps + gap_ps
        shortest_ps = min(shortest_ps, words * period_ps)
        chain.append(Departure(seq, flow, words, t_ps, None))
        if -slack_ps <= t_ps - ends[last] <= slack_ps + late_ps:
            # A packet shorter than the doubt may stand in the chain or not.
            return chain[::-1] if 2 * slack_ps + late_ps < shortest_ps else []
        if t_ps < ends[last]:
            return []
    return []


def _paused(log: EventLog, begin_ps: int, end_ps: int) -> bool:
    """Return whether the transmitter may have sent nothing for a while, by its state machine."""
    losses = log.t_ps[log.select("LOSS")]
    if bool(((losses >= begin_ps) & (losses < end_ps)).any()):
        return True
    at = log.select("STATE", "tx_link")
    at = at[(log.t_ps[at] >= begin_ps) & (log.t_ps[at] < end_ps)]
    return bool(np.isin(log.value[at] & STATE_VALUE_NEW_MASK, _NOT_SENDING).any())


def _gap_ps(recorded: list[Departure], period_ps: int) -> int:
    """Return the idle that the link keeps between two packets: the shortest seen."""
    gaps = [
        after.t_ps - before.t_ps - before.words * period_ps
        for before, after in itertools.pairwise(recorded)
    ]
    return max(0, int(np.min(gaps))) if gaps else period_ps
