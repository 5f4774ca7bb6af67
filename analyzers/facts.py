"""What all diagnoses start from: tap comparisons, verdicts and accounts of one capture, by direction."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.contract import run_analyzer
from freezeframe.analyzers.credits.ledger import CreditLedger, FlowAccount
from freezeframe.analyzers.streams import Packet, Stream
from freezeframe.analyzers.taps.tap_diff import SegmentDiff, TapDiff, path_of
from freezeframe.analyzers.view import CaptureView

__all__ = ["LINK", "RECEIVER_FIFO", "SENDER_FIFO", "Facts", "LinkWords", "Unplaced"]

SENDER_FIFO, LINK, RECEIVER_FIFO = 0, 1, 2
"""The stretches of a path between its four taps."""


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

    ``stretches``: where the damage can have happened; -1 is before the first tap.
    """

    sender: str
    receiver: str
    tap: int
    stream: Stream
    packet: Packet
    stretches: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Facts:
    """Everything a diagnosis looks at, computed once."""

    view: CaptureView

    @cached_property
    def diffs(self) -> dict[tuple[str, str], SegmentDiff]:
        found = run_analyzer(TapDiff(), [self.view])
        return {(diff.up.source, diff.down.source): diff for diff in found}

    @cached_property
    def accounts(self) -> tuple[FlowAccount, ...]:
        return run_analyzer(CreditLedger(), [self.view])

    def streams(self, sender: str, receiver: str) -> tuple[Stream | None, ...]:
        """Return the streams of the four taps of a direction."""
        return tuple(self.view.stream(*place) for place in path_of(sender, receiver))

    def diff(self, sender: str, receiver: str, stretch: int) -> SegmentDiff | None:
        """Return the comparison of a stretch; None when one of its taps may not be looked at."""
        (a, x), (b, y) = path_of(sender, receiver)[stretch : stretch + 2]
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
        found = []
        for sender, receiver in self.view.directions:
            for tap, stream in enumerate(self.streams(sender, receiver)):
                if stream is None:
                    continue
                before = self._explained(sender, receiver, tap)
                for packet in stream.packets:
                    if packet.bad and packet.index not in before:
                        found.append(self._unplaced(sender, receiver, tap, stream, packet))
        return tuple(found)

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
        if tap == 3 and self.froze_on(stream, packet):
            # rx_enq checks the same packet earlier; had it been bad there, that would be the cause.
            stretches = (RECEIVER_FIFO,)
        elif tap >= 2:
            # The CRCs are made before tx_enq, so a packet damaged there would pass them.
            stretches = tuple(s for s in stretches if s >= SENDER_FIFO)
        return Unplaced(sender, receiver, tap, stream, packet, stretches)

    def froze_on(self, stream: Stream, packet: Packet) -> bool:
        """Return whether the recorder's first cause came as this packet left the receiver's FIFO.

        Checks at rx_enq and rx_deq have the same causes; which of the two it was follows from the
        cycle, which rx_deq and the cause have in one clock domain, and from rx_enq being good.
        """
        device = self.view.device(stream.device)
        entered = self.view.stream(stream.device, "rx_enq")
        if device is None or stream.tap != "rx_deq" or entered is None or not len(entered):
            return False
        if entered.breaks or any(other.bad for other in entered.packets):
            return False
        if not {"hdr-crc", "pay-crc", "length"} & set(self.view.causes(stream.device)):
            return False
        cause_cycle = device.registers.value64("ctl.cause_cycle_")
        if cause_cycle is None:
            return False
        first, last = int(stream.cycle[packet.start]), int(stream.cycle[packet.end - 1])
        return first <= cause_cycle <= last + 3

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

    def overflowed(self, receiver: str) -> bool:
        """Return whether the receiver's FIFO lost words in this recording because it was full."""
        lost = self.view.counter(receiver, "rx_fifo_overflows") or 0
        # Counters go on over re-arms: what an earlier generation lost says nothing of this one.
        first = self.view.value(receiver, "ctl.generation") == 1
        return (first and lost > 0) or "rx-ovf" in self.view.causes(receiver)
