"""Header, payload and length verdicts of every packet at every tap, and the first tap that is bad.

The hardware checks at rx_enq and rx_deq only; here every tap is checked, so that the first bad one
names the stretch of the path between it and the tap before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from freezeframe.analyzers.streams import Packet
from freezeframe.analyzers.taps.tap_diff import path_of
from freezeframe.analyzers.view import CaptureView

__all__ = ["CrcVerdicts", "TapVerdicts", "first_bad_taps"]


@dataclass(slots=True)
class TapVerdicts:
    """Counts at one tap. ``unknown``: packets that are not wholly recorded, so a CRC cannot be checked.

    ``bad`` are the packets that fail any check, in order.
    """

    packets: int = 0
    unknown: int = 0
    header_bad: int = 0
    payload_bad: int = 0
    length_bad: int = 0
    bad: list[Packet] = field(default_factory=list)

    def add(self, packet: Packet) -> None:
        verdicts = (packet.header_ok, packet.payload_ok, packet.length_ok)
        self.packets += 1
        self.unknown += None in verdicts
        self.header_bad += packet.header_ok is False
        self.payload_bad += packet.payload_ok is False
        self.length_bad += packet.length_ok is False
        if packet.bad:
            self.bad.append(packet)

    def __iadd__(self, other: TapVerdicts) -> TapVerdicts:
        self.packets += other.packets
        self.unknown += other.unknown
        self.header_bad += other.header_bad
        self.payload_bad += other.payload_bad
        self.length_bad += other.length_bad
        self.bad += other.bad
        return self


Verdicts = dict[tuple[str, str], TapVerdicts]


class CrcVerdicts:
    """Verdicts by (device, tap). Counts may be merged in any grouping; ``bad`` keeps its order."""

    name = "crc-verdicts"

    def init(self) -> Verdicts:
        return {}

    def step(self, state: Verdicts, batch: CaptureView) -> Verdicts:
        for place, stream in batch.streams.items():
            counts = state.setdefault(place, TapVerdicts())
            for packet in stream.packets:
                counts.add(packet)
        return state

    def merge(self, states: Sequence[Verdicts]) -> Verdicts:
        merged = self.init()
        for state in states:
            for place, counts in state.items():
                total = merged.setdefault(place, TapVerdicts())
                total += counts
        return merged

    def finish(self, state: Verdicts) -> Verdicts:
        return state


def first_bad_taps(view: CaptureView, verdicts: Verdicts) -> list[str]:
    """Return one line for each direction in which packets fail checks: where first, and how many."""
    lines = []
    for sender, receiver in view.directions:
        before = None
        for device, tap in path_of(sender, receiver):
            counts = verdicts.get((device, tap))
            if counts is None:
                continue
            if counts.bad:
                good = f", all good at {before}" if before else ""
                lines.append(
                    f"{sender}->{receiver}: the first bad tap is {device}.{tap}: {len(counts.bad)} of "
                    f"{counts.packets} packets fail a check (header CRC {counts.header_bad}, "
                    f"payload CRC {counts.payload_bad}, length {counts.length_bad}){good}"
                )
                break
            before = f"{device}.{tap}"
    return lines
