"""Words that a counter of flow control slips: how many, how fast, and when that ends in an overflow or a stall.

A credit counter that skips a word of some packets drifts away from the words that really crossed its tap. Over a
whole run the per-flow counts of the freeze bank stand beside the tap counters, which count words, not packets; the
difference is the slip, exact, and the packets beside it make a rate. Slips are counted as independent events, so
the interval of the rate is that of a Poisson count.

Source: F. Garwood, Fiducial Limits for the Poisson Distribution, Biometrika 28 (1936); FORTH 3.5 (header or its CRC
miscounted: counters slip slowly and steadily until a buffer overflows).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from freezeframe.analyzers.view import CaptureView

_WRAP = 1 << 32
_BINS = 16


@dataclass(frozen=True, slots=True)
class Slip:
    """One card's counts of one direction against its tap.

    Attributes:
        side: ``sent`` or ``received``.
        counted: words by the flows' counts; crossed: by the tap's counter, both since power-up, 32 bits.
        packets: that crossed the tap. slipped: counted - crossed; negative where words were not counted.
        low, high: 95 % limits of the size of the slip, as a Poisson count.
        ran_s: since power-up by the bus clock.
    """

    device: str
    side: str
    counted: int
    crossed: int
    packets: int
    slipped: int
    low: float
    high: float
    ran_s: float

    @property
    def per_packet(self) -> tuple[float, float, float]:
        """Return the rate and its limits, in words a packet."""
        n = max(self.packets, 1)
        return abs(self.slipped) / n, self.low / n, self.high / n


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a slip leads to: ``overflow`` or ``stall``, after how many more words slipped, and in which time.

    ``low_s`` and ``high_s``: the time with the upper and the lower limit of the rate; high_s infinite where the rate
    may be 0.
    """

    what: str
    words_left: int
    seconds: float
    low_s: float
    high_s: float


def slips(view: CaptureView) -> tuple[list[Slip], list[str]]:
    """Compare the flows' counts with the taps' counters; return slips (also of 0) and why others are missing."""
    slips_seen: list[Slip] = []
    notes: list[str] = []
    for device in view.devices:
        name = device.name
        generation = view.value(name, "ctl.generation")
        if generation is None or generation > 1:
            notes.append(
                f"{name}: armed {generation or 'an unknown number of'} times since power-up, and bringing the link up "
                "clears the flows' counts but not the taps' counters: a slip over the whole run cannot be read."
            )
            continue
        freeze = device.registers.value64("frozen.freeze_cycle_")
        if view.count(name, "bad-header") or view.value(name, "provoke.inject_count"):
            notes.append(
                f"{name}: headers were damaged or packets injected. Words of a flow that the card does not have count "
                "for no flow, so a slip may be theirs."
            )
        tx, rx = view.roles.ways
        for side, register, tap, sequence, into in (
            ("sent", "frozen_flow.words_sent", tx.exit, "frozen.next_seq_out", tx.entry),
            ("received", "frozen_flow.words_received", rx.entry, "frozen.next_seq_in", rx.entry),
        ):
            flows = [
                view.value(name, register, flow) for flow in range(device.identity.flows_count)
            ]
            crossed, packets = (
                view.count(name, "words", tap),
                view.count(name, "packets", tap),
            )
            if None in flows or crossed is None or packets is None or freeze is None:
                notes.append(
                    f"{name}: counts of words {side} were not read, so their slip is not known."
                )
                continue
            if not _since_power_up(view, name, sequence, into):
                notes.append(
                    f"{name}: its sequence numbers do not fit its count of packets {side}: the link came up again "
                    "since power-up (loop-back changed?) or headers were lost, so a slip over the whole run cannot "
                    "be read."
                )
                continue
            counted = sum(flow or 0 for flow in flows)
            slipped = (counted - crossed + _WRAP // 2) % _WRAP - _WRAP // 2
            low, high = poisson_limits(abs(slipped))
            slips_seen.append(
                Slip(name, side, counted % _WRAP, crossed % _WRAP, packets, slipped, low, high,
                     freeze / device.identity.clk_bus)
            )  # fmt: skip
    return slips_seen, notes


def _since_power_up(view: CaptureView, device: str, sequence: str, tap: str) -> bool:
    """Return whether the link has been up since power-up: then the next sequence number is the count of packets.

    One packet may be on its way between the two. A register that was not read decides nothing.
    """
    number, packets = view.value(device, sequence), view.count(device, "packets", tap)
    if number is None or packets is None:
        return True
    return (number - packets + 1) % (1 << 16) <= 2


def outlook(slip: Slip, words_left: int) -> Outlook | None:
    """Return when a slip has used up some words; None without a slip, or a time in which it happened.

    A sender that counts too few words believes in room that is not there, and ends in an overflow. One that counts
    too many, or a receiver that counts too few, runs out of credit and stalls.
    """
    if not slip.slipped or slip.ran_s <= 0:
        return None
    left = max(0, words_left)
    rate = abs(slip.slipped) / slip.ran_s
    low, high = slip.low / slip.ran_s, slip.high / slip.ran_s
    return Outlook(
        "overflow" if slip.slipped < 0 and slip.side == "sent" else "stall",
        left,
        left / rate,
        left / high,
        left / low if low > 0 else math.inf,
    )


def fullest(view: CaptureView, device: str) -> int | None:
    """Return the most words that its incoming FIFO held when a sample was taken, rounded up to a sixteenth of it."""
    capture = view.device(device)
    if capture is None:
        return None
    bins = [view.value(device, "occupancy_histogram", i) for i in range(_BINS)]
    used = [i for i, count in enumerate(bins) if count]
    if None in bins or not used:
        return None
    depth = capture.identity.rx_fifo
    return min(depth, -(-(max(used) + 1) * depth // _BINS))


def poisson_limits(count: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact limits of the mean of a Poisson count.

    Raises:
        ValueError: a negative count, or a confidence outside (0, 1).
    """
    if count < 0 or not 0 < confidence < 1:
        raise ValueError(f"count {count} or confidence {confidence} is out of range")
    tail = (1 - confidence) / 2
    low = 0.0 if not count else _solve(lambda mean: 1 - _at_most(count - 1, mean), tail, count)
    return low, _solve(lambda mean: 1 - _at_most(count, mean), 1 - tail, count)


def _at_most(count: int, mean: float) -> float:
    """Return the chance of ``count`` or fewer events."""
    if mean <= 0:
        return 1.0
    if (
        count > 10_000
    ):  # Wilson and Hilferty: 10^-4 of the limits there, and no sum of a million terms
        z = 3 * math.sqrt(count + 1) * (1 - 1 / (9 * (count + 1)) - (mean / (count + 1)) ** (1 / 3))
        return 0.5 * math.erfc(-z / math.sqrt(2))
    logs = [-mean + k * math.log(mean) - math.lgamma(k + 1) for k in range(count + 1)]
    top = max(logs)
    return min(1.0, math.exp(top) * math.fsum(math.exp(value - top) for value in logs))


def _solve(chance: Callable[[float], float], wanted: float, count: int) -> float:
    """Return the mean at which a chance that grows with it reaches ``wanted``."""
    low, high = 0.0, count + 10 * math.sqrt(count + 1) + 10
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(middle) < wanted else (low, middle)
    return (low + high) / 2
