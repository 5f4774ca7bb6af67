"""What all diagnoses start from: comparisons of taps, verdicts of checks, accounts of flows, times on the link.

The hardware checks packets at rx_enq and rx_deq only; here every tap is checked, so that the first bad one names the
stretch of the path between it and the tap before.

A cable's length is nobody's constant: until a credit between the two devices was seen to arrive, nothing can be said
of one that was not. Where all credits of one direction are lost, those of the other tell, and the packets: the cable
is as long both ways and for both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.credits.ledger import FlowAccount, credit_accounts
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.tap_diff import SegmentDiff, tap_diffs
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.count_text import plural
from freezeframe.capture.registers.layouts import Kind

SENDER_FIFO, LINK, RECEIVER_FIFO = 0, 1, 2
"""The stretches of a path between its four taps."""
_RX_DEQ = 3  # the last tap of a path
_LATE = 3  # cycles by which a cause may follow the word that is checked


@dataclass(frozen=True, slots=True, eq=False)
class LinkWords:
    """Words that stood on both sides of a comparison in their places, in order.

    ``up``, ``down``: ``(n,)`` uint64; ``up_at``, ``down_at``: positions in the streams; ``joined``:
    whether word i followed word i - 1 directly on both sides; ``pair``: number of the packet pair.
    """

    up: npt.NDArray[np.uint64]
    down: npt.NDArray[np.uint64]
    up_at: npt.NDArray[np.int64]
    down_at: npt.NDArray[np.int64]
    joined: npt.NDArray[np.bool_]
    pair: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A packet that fails a check at ``tap`` (0-3 of the path) and was not recorded before it.

    ``stretches``: where the damage can have happened; -1 is before the first tap. ``entering``: the receiver's checker
    found it bad as it entered the incoming FIFO.
    """

    sender: str
    receiver: str
    tap: int
    stream: Stream
    packet: Packet
    stretches: tuple[int, ...]
    entering: bool = False


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything a diagnosis looks at, computed once. ``flights``: what `flight_ps` found, by the two devices."""

    view: CaptureView
    flights: dict[frozenset[str], int | None] = field(default_factory=dict)

    @cached_property
    def diffs(self) -> dict[tuple[str, str], SegmentDiff]:
        return {(diff.up.source, diff.down.source): diff for diff in tap_diffs(self.view)}

    @cached_property
    def accounts(self) -> tuple[FlowAccount, ...]:
        return credit_accounts(self.view)

    def streams(self, sender: str, receiver: str) -> tuple[Stream | None, ...]:
        """Return the streams of the four taps of a direction."""
        return tuple(self.view.stream(*place) for place in self.view.path(sender, receiver))

    def diff(self, sender: str, receiver: str, stretch: int) -> SegmentDiff | None:
        """Return the comparison of a stretch; None when one of its taps may not be looked at."""
        (a, x), (b, y) = self.view.path(sender, receiver)[stretch : stretch + 2]
        return self.diffs.get((f"{a}.{x}", f"{b}.{y}"))

    def differences(self) -> Iterator[tuple[str, str, int, SegmentDiff]]:
        """Yield ``(sender, receiver, stretch, diff)`` of every comparison, upstream first."""
        for sender, receiver in self.view.directions:
            for stretch in (SENDER_FIFO, LINK, RECEIVER_FIFO):
                diff = self.diff(sender, receiver, stretch)
                if diff is not None:
                    yield sender, receiver, stretch, diff

    @cached_property
    def unplaced(self) -> tuple[Unplaced, ...]:
        """The packets that are bad at a tap although nothing before it was recorded of the damage."""
        cases = []
        for sender, receiver in self.view.directions:
            for tap, stream in enumerate(self.streams(sender, receiver)):
                if stream is None:
                    continue
                before = self._explained(sender, receiver, tap)
                for packet in stream.packets:
                    if packet.bad and packet.index not in before:
                        cases.append(self._unplaced(sender, receiver, tap, stream, packet))
        return tuple(cases)

    def _explained(self, sender: str, receiver: str, tap: int) -> set[int]:
        """Return the packets at a tap whose damage the comparison with the tap before shows."""
        diff = self.diff(sender, receiver, tap - 1) if tap else None
        if diff is None:
            return set()
        moved = {packet.index for _, packet in diff.reordered}
        return moved | {
            pair.down.index for pair in diff.pairs if pair.edits or (pair.compared and pair.up.bad)
        }

    def _unplaced(
        self, sender: str, receiver: str, tap: int, stream: Stream, packet: Packet
    ) -> Unplaced:
        stretches = tuple(range(-1, tap))
        entering = tap == _RX_DEQ and self.froze_before(stream, packet)
        if tap == _RX_DEQ and self.froze_on(stream, packet):
            # rx_enq checks the same packet earlier; had it been bad there, that would be the cause.
            stretches = (RECEIVER_FIFO,)
        elif entering:
            good = self.good_until(sender, receiver, packet)
            stretches = tuple(range(max(SENDER_FIFO, good), RECEIVER_FIFO))
        elif tap >= 2:
            # The CRCs are made before tx_enq, so a packet damaged there would pass them.
            stretches = tuple(s for s in stretches if s >= SENDER_FIFO)
        return Unplaced(sender, receiver, tap, stream, packet, stretches, entering)

    def good_until(self, sender: str, receiver: str, packet: Packet) -> int:
        """Return the last tap of the sender that has this packet whole and good, by its number; -1 for none."""
        if packet.seq is None or packet.header_ok is not True:
            return -1
        found = -1
        for tap, stream in enumerate(self.streams(sender, receiver)[: LINK + 1]):
            same = [p for p in stream.packets if p.seq == packet.seq] if stream is not None else []
            if len(same) == 1 and same[0].whole and same[0].payload_ok and same[0].length_ok:
                found = tap
        return found

    def froze_before(self, stream: Stream, packet: Packet) -> bool:
        """Return whether the receiver froze for a bad packet while this one, the only bad one, was in its FIFO."""
        bad = [other for other in stream.packets if other.bad]
        cycle = self.view.cause_cycle(stream.device)
        return (
            len(bad) == 1
            and self.caught_entering(stream.device)
            and cycle is not None
            and cycle < int(stream.cycle[packet.start])
        )

    def left_well(self, sender: str) -> bool:
        """Return whether all that a sender put on its link is recorded there, without a gap, and good."""
        stream = self.view.stream(sender, self.view.roles.tx.exit)
        return (
            stream is not None
            and len(stream) > 0
            and not stream.breaks
            and not any(packet.bad for packet in stream.packets)
        )

    def caught_entering(self, receiver: str) -> bool:
        """Return whether a receiver froze for a bad packet that was not leaving its FIFO: it came in bad.

        Checks at rx_enq and rx_deq have the same causes and counters. What left the FIFO in the cycle of the cause is
        in its memory, whole; where that is good, or nothing left, it was the check of what enters. Needs a card that
        froze for its checks alone, so that the cycle is theirs, and whose counters have counted such a packet.
        """
        view, roles = self.view, self.view.roles
        stream, cycle = view.stream(receiver, roles.rx.exit), view.cause_cycle(receiver)
        means = ("bad-header", "bad-payload", "bad-length")
        causes = {*view.causes(receiver)}
        if stream is None or not len(stream) or stream.breaks or cycle is None or cycle >> 63:
            return False
        if not causes or not causes <= {*roles.causes(*means)}:
            return False
        if not any(view.count(receiver, each) for each in means):
            return False
        leaving = [
            packet
            for packet in stream.packets
            if int(stream.cycle[packet.start]) <= cycle <= int(stream.cycle[packet.end - 1]) + _LATE
        ]
        return all(packet.good for packet in leaving)

    def froze_on(self, stream: Stream, packet: Packet) -> bool:
        """Return whether the recorder's first cause came as this packet left the receiver's FIFO.

        Checks at rx_enq and rx_deq have the same causes; which of the two it was follows from the
        cycle, which rx_deq and the cause have in one clock domain, and from rx_enq being good.
        """
        into = self.view.roles.rx
        entered = self.view.stream(stream.device, into.entry)
        cause_cycle = self.view.cause_cycle(stream.device)
        if cause_cycle is None or stream.tap != into.exit or entered is None or not len(entered):
            return False
        if entered.breaks or any(other.bad for other in entered.packets):
            return False
        checks = self.view.roles.causes("bad-header", "bad-payload", "bad-length")
        if not set(checks) & set(self.view.causes(stream.device)):
            return False
        first, last = int(stream.cycle[packet.start]), int(stream.cycle[packet.end - 1])
        return first <= cause_cycle <= last + _LATE

    def link_words(self, diff: SegmentDiff) -> LinkWords:
        """Return the words of a comparison that stand side by side."""
        up_at: list[npt.NDArray[np.int64]] = []
        down_at: list[npt.NDArray[np.int64]] = []
        number: list[npt.NDArray[np.int64]] = []
        for i, pair in enumerate(diff.pairs):
            if pair.compared and pair.in_place:
                count = np.arange(pair.compared)
                up_at.append(pair.up.start + pair.up_skip + count)
                down_at.append(pair.down.start + pair.down_skip + count)
                number.append(np.full(pair.compared, i))
        empty = np.empty(0, np.int64)
        ups, downs = np.concatenate([empty, *up_at]), np.concatenate([empty, *down_at])
        joined = (np.diff(ups, prepend=-2) == 1) & (np.diff(downs, prepend=-2) == 1)
        joined &= ~np.isin(ups, diff.up.breaks) & ~np.isin(downs, diff.down.breaks)
        return LinkWords(
            up=diff.up.data[ups],
            down=diff.down.data[downs],
            up_at=ups,
            down_at=downs,
            joined=joined,
            pair=np.concatenate([empty, *number]),
        )

    def when(self, device: str, bus_cycle: int) -> tuple[int, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of a bus cycle of a device."""
        t_ps, unc_ps = self.view.trace.timebase.times_ps(
            device, "bus", np.array([bus_cycle], np.int64)
        )
        unc = int(unc_ps[0])
        return int(t_ps[0]), None if unc < 0 else unc

    def caused(self, device: str) -> tuple[int | None, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of a device's first freeze cause; None where it is not known."""
        cycle = self.view.cause_cycle(device)
        return (None, None) if cycle is None or cycle >> 63 else self.when(device, cycle)

    def first_caused(self) -> tuple[int | None, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of the first cause of all devices: what counters tell came before it."""
        known = [(t, unc) for t, unc in map(self.caused, self.view.names) if t is not None]
        return min(known, key=lambda each: each[0], default=(None, None))

    def frozen(self, device: str) -> tuple[int | None, int | None]:
        """Return ``(t_ps, t_uncertainty_ps)`` of when a device stood still; None where that was not read."""
        card = self.view.device(device)
        cycle = card.registers.value64("frozen.freeze_cycle_") if card is not None else None
        return (None, None) if cycle is None or cycle >> 63 else self.when(device, cycle)

    def overflowed(self, receiver: str) -> bool:
        """Return whether the receiver's FIFO lost words in this recording because it was full."""
        entry = self.view.roles.rx.entry
        lost = self.view.count(receiver, "overflow", entry) or 0
        # Counters go on over re-arms: what an earlier generation lost says nothing of this one.
        first = self.view.value(receiver, "ctl.generation") == 1
        return (first and lost > 0) or self.view.roles.cause("overflow", entry) in self.view.causes(
            receiver
        )


def first_bad_taps(view: CaptureView) -> Iterator[str]:
    """Yield one line for each direction in which packets fail checks: where first, and how many."""
    for sender, receiver in view.directions:
        before = ""
        for device, tap in view.path(sender, receiver):
            stream = view.stream(device, tap)
            packets = stream.packets if stream is not None else []
            bad = [packet for packet in packets if packet.bad]
            if bad:
                header, payload, length = (
                    sum(getattr(packet, verdict) is False for packet in bad)
                    for verdict in ("header_ok", "payload_ok", "length_ok")
                )
                yield (
                    f"{sender}->{receiver}: the first bad tap is {device}.{tap}: {len(bad)} of "
                    f"{plural(len(packets), 'packet', thousands='')} {'fails' if len(bad) == 1 else 'fail'} a check "
                    f"(header CRC {header}, payload CRC {payload}, length {length}){before}"
                )
                break
            checked = sum(packet.checked for packet in packets)
            if (
                checked
            ):  # of a tap that could not be read, or holds no whole packet, nothing is said
                which = "all" if checked == len(packets) else f"the {checked} that could be checked"
                before = f", {which} good at {device}.{tap}"


_AFTER_PACKET = 520
"""Link cycles a credit may wait after the longest packet, 515 words, where the measured ones did not."""
_TO_LOG = 16
"""Bus cycles more to reach either event log through its FIFO."""


def flight_ps(facts: Facts, account: FlowAccount) -> int | None:
    """Return how long a credit of a flow takes at the most; None when nothing was seen to arrive.

    The largest delay of the credits of all flows between the two devices, ``sent`` to ``taken``, and of
    the packets, tx_deq to rx_enq, with the doubt of both clocks and the time to send one packet that may
    have been in the way.
    """
    ends = frozenset((account.sender, account.receiver))
    if ends not in facts.flights:
        facts.flights[ends] = _flight_ps(facts, account)
    return facts.flights[ends]


def _flight_ps(facts: Facts, account: FlowAccount) -> int | None:
    doubt = doubt_ps(facts, account)
    if doubt is None:
        return None
    delays = [
        delay
        for other in facts.accounts
        if {other.sender, other.receiver} == {account.sender, account.receiver}
        for _, delay in credit_delays(other, doubt)
    ]
    delays += packets_ps(facts, account.sender, account.receiver)
    delays += packets_ps(facts, account.receiver, account.sender)
    if not delays:
        return None
    return max(0, *delays) + doubt + in_the_way_ps(facts, account)


def in_the_way_ps(facts: Facts, account: FlowAccount) -> int:
    """Return how much longer than another a credit may take for a packet that is in the way."""
    return max(
        facts.view.cycles_ps(device, bus=_TO_LOG, link=_AFTER_PACKET)
        for device in (account.sender, account.receiver)
    )


def credit_delays(account: FlowAccount, doubt: int) -> list[tuple[int, int]]:
    """Return the credits of one flow that are in both logs, newest first: which sent one it was, and its delay (ps).

    Counts wrap, so the logs are walked together from their ends: a sender has less than a quarter of
    the counters' range outstanding, and the last credit of that count is the one.
    """
    sent, taken = account.sent_credits, account.taken_credits
    places: dict[int, list[int]] = {}
    for i, freed in enumerate(sent.freed.tolist()):
        places.setdefault(freed, []).append(i)
    sent_ps = sent.t_ps.tolist()
    delays: list[tuple[int, int]] = []
    before = len(sent)
    for freed, t_ps in zip(taken.freed[::-1].tolist(), taken.t_ps[::-1].tolist(), strict=True):
        at = places.get(freed, [])
        n = min(
            bisect_right(at, before - 1),
            bisect_right(at, t_ps + doubt, key=sent_ps.__getitem__),
        )
        if n:
            before = at[n - 1]
            delays.append((before, t_ps - sent_ps[before]))
    return delays


def packets_ps(facts: Facts, sender: str, receiver: str) -> list[int]:
    """Return how long the packets of a direction were on the link, as far as both taps show them."""
    diff = facts.diff(sender, receiver, LINK)
    if diff is None:
        return []
    return [
        int(diff.down.t_ps[pair.down.start]) - int(diff.up.t_ps[pair.up.start])
        for pair in diff.pairs
        if pair.up.header_ok and pair.down.header_ok and pair.up.seq == pair.down.seq
    ]


def doubt_ps(facts: Facts, account: FlowAccount) -> int | None:
    """Return by how much times of the two logs may be off each other; None when that is not known."""
    doubt = 0
    for device in (account.sender, account.receiver):
        log = facts.view.flow_log(device)
        if log is None or not len(log) or bool((log.t_unc_ps < 0).any()):
            return None
        doubt += int(log.t_unc_ps.max())
    return doubt


def covers(facts: Facts, device: str, since_ps: int | None) -> bool:
    """Return whether a log holds every credit, wait and state since a time (None: since it was armed)."""
    log, capture = facts.view.flow_log(device), facts.view.device(device)
    if log is None or capture is None or log.gaps:
        return False
    losses = log.t_ps[log.select(Kind.LOSS.name)]
    reaches_back = since_ps is not None and len(log) > 0 and int(log.t_ps[0]) <= since_ps
    if capture.memories[EVENT_LOG].wrapped and not reaches_back:
        return False
    return not bool(len(losses)) if since_ps is None else not bool((losses >= since_ps).any())
