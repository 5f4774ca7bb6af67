"""The account of every flow, and when the sender's packets left it.

The account of every flow: words sent, credited, received, freed; what is outstanding and allowed.

All counts are modulo 2^credit_w, and differences are taken modulo that: two bits more than the
receiver's FIFO needs, so a difference is never ambiguous in a healthy link.

Source: docs/formats.md section 3; frozen_flow of the register map.

Which packets left a sender, when, and how large they were: its tx_deq, and what its event log adds.

The memory of tx_deq may begin in the middle of a packet, shortly after the moment of interest. DESC
events tell flow and length of packets that are not recorded any more, and a link that is busy leaves no
doubt when they started: one right before the other.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.streams import EventLog, Packet, Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.registers.layouts import (
    CREDIT_FREED_LSB,
    CREDIT_FREED_MASK,
    DESC_VALUE_LENGTH_LSB,
    DESC_VALUE_LENGTH_MASK,
    DESC_VALUE_SEQ_LSB,
    DESC_VALUE_SEQ_MASK,
    STATE_VALUE_NEW_MASK,
    Kind,
    MachineState,
)

Int64 = npt.NDArray[np.int64]


def freed_of(value: int) -> int:
    """Return ``freed`` of a CREDIT event's value (bits 0-39 of the credit word)."""
    return value >> CREDIT_FREED_LSB & CREDIT_FREED_MASK


@dataclass(frozen=True, slots=True, eq=False)
class CreditTimes:
    """Credits of one flow in one event log: positions in the log, times, and the words they tell."""

    positions: Int64
    t_ps: Int64
    freed: Int64

    def __len__(self) -> int:
        return len(self.positions)


_EMPTY = np.empty(0, np.int64)
_NONE = CreditTimes(_EMPTY, _EMPTY, _EMPTY)


@dataclass(frozen=True, slots=True)
class FlowAccount:
    """One flow of one direction as both freeze banks tell it; None where a bank may not be read.

    ``sent``, ``credited``, ``limit`` are the sender's; ``received``, ``freed``, ``reported`` and
    ``depth`` (of the FIFO that all flows share) the receiver's. Words.
    """

    sender: str
    receiver: str
    flow: int
    modulus: int | None
    sent: int | None = None
    credited: int | None = None
    limit: int | None = None
    received: int | None = None
    freed: int | None = None
    reported: int | None = None
    depth: int | None = None
    credit_unit: int | None = None
    sent_credits: CreditTimes = field(default_factory=lambda: _NONE)
    taken_credits: CreditTimes = field(default_factory=lambda: _NONE)

    @property
    def direction(self) -> str:
        return f"{self.sender}->{self.receiver}"

    @property
    def outstanding(self) -> int | None:
        """Words sent for which no credit has come back, by the sender's own books."""
        return self._difference(self.sent, self.credited)

    @property
    def free(self) -> int | None:
        """Words the sender may still send; negative when it is beyond its limit."""
        if self.limit is None or self.outstanding is None:
            return None
        return self.limit - self.outstanding

    @property
    def withheld(self) -> int | None:
        """Words freed at the receiver that the sender was not credited."""
        return self._difference(self.freed, self.credited)

    @property
    def untold(self) -> int | None:
        """Words that the receiver told it had freed, and the sender was not credited."""
        return self._difference(self.reported, self.credited)

    @property
    def waiting(self) -> int | None:
        """Words received and not freed: they are in the receiver's FIFO."""
        return self._difference(self.received, self.freed)

    @property
    def on_the_way(self) -> int | None:
        """Words sent and not received."""
        return self._difference(self.sent, self.received)

    @property
    def sent_has_wrapped(self) -> bool:
        """The sender's count has passed zero and the credited count has not followed yet."""
        return self.sent is not None and self.credited is not None and self.sent < self.credited

    @property
    def used(self) -> bool:
        """Anything was ever counted on this flow."""
        counts = (self.sent, self.credited, self.received, self.freed)
        return any(counts) or len(self.sent_credits) > 0 or len(self.taken_credits) > 0

    def _difference(self, ahead: int | None, behind: int | None) -> int | None:
        if ahead is None or behind is None or self.modulus is None:
            return None
        return (ahead - behind) % self.modulus


def credit_accounts(view: CaptureView) -> tuple[FlowAccount, ...]:
    """Return the accounts of all flows that were used, of every direction."""
    flows = max((device.identity.flows_count for device in view.devices), default=0)
    accounts = (
        account_of(view, sender, receiver, flow)
        for sender, receiver in view.directions
        for flow in range(flows)
    )
    return tuple(account for account in accounts if account.used)


def account_of(view: CaptureView, sender: str, receiver: str, flow: int) -> FlowAccount:
    """Return the account of a flow; a device that may not be looked at gives None for its counts."""

    def register(device: str, name: str) -> int | None:
        capture = view.device(device)
        if capture is None or flow >= capture.identity.flows_count:
            return None
        return view.value(device, f"frozen_flow.{name}", flow)

    ends = [view.device(receiver), view.device(sender)]
    widths = [end.identity.flows_credit_w for end in ends if end is not None]
    behind = ends[0]
    return FlowAccount(
        sender=sender,
        receiver=receiver,
        flow=flow,
        modulus=1 << widths[0] if widths else None,
        sent=register(sender, "sent"),
        credited=register(sender, "credited"),
        limit=register(sender, "limit"),
        received=register(receiver, "received"),
        freed=register(receiver, "freed"),
        reported=register(receiver, "reported"),
        depth=behind.identity.rx_fifo if behind is not None else None,
        credit_unit=behind.identity.credit_unit if behind is not None else None,
        sent_credits=_credits(view, receiver, flow, "sent"),
        taken_credits=_credits(view, sender, flow, "taken"),
    )


def _credits(view: CaptureView, device: str, flow: int, code: str) -> CreditTimes:
    log = view.flow_log(device)
    if log is None:
        return _NONE
    at = log.select("CREDIT", code, flow=flow)
    freed = log.value[at] >> CREDIT_FREED_LSB & CREDIT_FREED_MASK
    return CreditTimes(at, log.t_ps[at], freed)


_FRAME_WORDS = 3  # two HEAD words and the TAIL
_SEQ_MASK = 0xFFFF
_MOST_BACK = 8
_SLACK_BUS, _SLACK_LINK = (
    4,
    2,
)  # an event is stamped 2 to 3 bus cycles after what it states the link
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
    the event log states.
    """
    stream = view.stream(sender, view.roles.tx.exit)
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


_DESCRIBED = (
    "posted",
    "started",
    "done",
)  # "posting" knows no flow yet on every card, "requested" what is still to be fetched


def described_packets(view: CaptureView, sender: str) -> dict[int, tuple[int, int]]:
    """Return ``{seq: (flow, words)}`` of the packets that a sender's descriptors and its tx_enq tell."""
    log, entered = view.logs.get(sender), view.stream(sender, view.roles.tx.entry)
    described = {} if log is None or log.gaps else _described(log)
    for packet in entered.packets if entered is not None else ():
        if packet.header_ok and packet.seq is not None and packet.flow is not None:
            described[packet.seq] = (packet.flow, (packet.length or 0) + _FRAME_WORDS)
    return described


def described_flows(view: CaptureView, sender: str) -> dict[int | None, set[int]]:
    """Return ``{seq: flows}`` of the packets that a sender's descriptors tell; nothing where its log has gaps."""
    log = view.logs.get(sender)
    described: dict[int | None, set[int]] = {}
    if log is None or log.gaps:
        return described
    at = log.select("DESC", *_DESCRIBED)
    seqs = log.value[at] >> DESC_VALUE_SEQ_LSB & DESC_VALUE_SEQ_MASK
    for seq, flow in zip(seqs.tolist(), log.flow[at].tolist(), strict=True):
        described.setdefault(seq, set()).add(flow)
    return described


def _described(log: EventLog) -> dict[int, tuple[int, int]]:
    """Return ``{seq: (flow, words)}`` of the packets that DESC events describe."""
    at = log.select("DESC", *_DESCRIBED)
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
    recorded: list[Departure] = []
    packets = stream.packets
    for packet in packets:
        departure = _departure(stream, packet, packets, described)
        if departure is None and packet is packets[-1]:
            break  # the memory closed within its header
        if departure is None or (recorded and departure.seq != recorded[-1].seq + 1 & _SEQ_MASK):
            recorded.clear()  # a packet between may be missing, or have been injected
        if departure is not None:
            recorded.append(departure)
    return recorded


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
    # A packet is whole in the FIFO before it leaves, so its words leave without a pause.
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
