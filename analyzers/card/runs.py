"""Two captures of one card, of a good run and a bad one: packets tap by tap, settings, counters, distributions.

Packets are aligned by content: one that is unlike all others in both runs is an anchor, and only between two anchors is
a packet that one run lacks known to be missing there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.card.differences import differences
from freezeframe.analyzers.card.latency import spans_of, ways
from freezeframe.analyzers.card.pairing import pair_packets
from freezeframe.analyzers.card.view import CardsView, CardView
from freezeframe.analyzers.run_diff.compare import RunDiff, Setting, ordered
from freezeframe.analyzers.run_diff.statistics import (
    RateChange,
    SampleChange,
    compare_rates,
    compare_samples,
)
from freezeframe.capture.errors import InputError
from freezeframe.capture.folder.card_content import CardCapture
from freezeframe.capture.registers.register_map import elements, label
from freezeframe.decoders.tap.checked import CheckedStream
from freezeframe.decoders.tap.kinds import Packet

Int64 = npt.NDArray[np.int64]

_CLUMPS = {"words": 512, "waits": 512, "bytes": 4096}  # so many of these may come at a time
_RUNS = ("A", "B")


@dataclass(frozen=True, slots=True)
class Divergence:
    """A packet that one run has otherwise, or alone: its number in run A and in run B, and how.

    ``t_ps``: in run B; of a packet that is missing there, when the one before it began.
    """

    packets: tuple[int | None, int | None]
    t_ps: int
    text: str

    def to_json(self) -> dict[str, Any]:
        return {"packet": list(self.packets), "t_ps": self.t_ps, "text": self.text}


@dataclass(frozen=True, slots=True)
class CardTapRuns:
    """One tap of a card in two runs; the attributes are those of `run_diff.packets.TapRuns`."""

    source: str
    packets: tuple[int, int]
    equal: int
    altered: tuple[Divergence, ...]
    missing: tuple[Divergence, ...]
    extra: tuple[Divergence, ...]
    outside: tuple[int, int]

    @property
    def _all(self) -> list[Divergence]:
        return sorted((*self.altered, *self.missing, *self.extra), key=lambda d: d.t_ps)

    @property
    def differing(self) -> int:
        return len(self._all)

    @property
    def first_ps(self) -> int | None:
        """Time in run B of the first packet that differs."""
        return self._all[0].t_ps if self._all else None

    def first_text(self) -> str:
        """Return the first difference in a sentence; empty where there is none."""
        return self._all[0].text if self._all else ""

    def to_json(self) -> dict[str, Any]:
        return {
            "tap": self.source,
            "packets": list(self.packets),
            "equal": self.equal,
            "altered": [each.to_json() for each in self.altered],
            "only_a": [each.to_json() for each in self.missing],
            "only_b": [each.to_json() for each in self.extra],
            "outside": list(self.outside),
            "first": self.first_text() or None,
            "first_t_ps": self.first_ps,
        }


def diff_cards(a: CardsView, b: CardsView) -> RunDiff[CardTapRuns]:
    """Compare two captures, device by device of the same name.

    Raises:
        InputError: a device is another card in the other capture; both hashes are named.
    """
    views = [{card.device: card for card in view.cards} for view in (a, b)]
    both = [name for name in views[0] if name in views[1]]
    pairs = [(views[0][name], views[1][name]) for name in both]
    for one, other in pairs:
        mine, theirs = one.recording.card, other.recording.card
        if mine.hash != theirs.hash:
            raise InputError(
                f"{b.folder.path}: its device {other.device} is card {theirs.name} with hash "
                f"{theirs.hash:016x}, that of {a.folder.path} is {mine.name} with {mine.hash:016x}: give "
                "two captures of one card ('freezeframe card diff' compares cards)"
            )
    notes = [
        f"only run {run} has {', '.join(alone)}"
        for run, mine, other in zip(_RUNS, views, views[::-1], strict=True)
        if (alone := sorted(set(mine) - set(other)))
    ]
    taps = [tap for pair in pairs for tap in _taps(*pair)]
    strange = [tap.source for tap in taps if not tap.equal and min(tap.packets)]
    if strange:
        notes.append(
            f"no packet that is unlike all others stands in both runs at {', '.join(strange)}"
        )
    for run, view in zip(_RUNS, (a, b), strict=True):
        lost = view.folder.lost
        if lost:
            notes.append(
                f"run {run} is incomplete ({len(lost)} statements of what is missing): {lost[0]}"
            )
    if a.folder.manifest["digest"] == b.folder.manifest["digest"]:
        notes.append("both are the same recording")
    devices = [(a.folder.device(name), b.folder.device(name)) for name in both]
    return RunDiff(
        taps=tuple(taps),
        settings=tuple(setting for pair in devices for setting in _settings(*pair)),
        samples=tuple(sample for pair in pairs for sample in _samples(*pair)),
        counters=tuple(ordered(change for pair in pairs for change in _counters(*pair))),
        events=(),
        notes=tuple(notes),
    )


def _taps(a: CardView, b: CardView) -> Iterator[CardTapRuns]:
    for name, end in a.streams.items():
        if name in b.streams and not (end.stream.filtered or b.streams[name].stream.filtered):
            yield _aligned((a, b), (end, b.streams[name]))


def _aligned(
    views: tuple[CardView, CardView], ends: tuple[CheckedStream, CheckedStream]
) -> CardTapRuns:
    keys = [
        [(n, end.content(n)) for n in np.flatnonzero(end.stream.whole).tolist()] for end in ends
    ]
    pairing = pair_packets(*keys)

    starts = [i for i, _ in pairing.pairs]

    def when(packet: int) -> int:
        end = ends[1]
        return int(views[1].times_ps(end.tap, end.stream.packets.begin[[packet]])[0][0])

    def place(run: int, packet: int) -> int:
        """Return the packet of run B that shows it; of one that is missing there, the one before it."""
        return packet if run else pairing.pairs[bisect_left(starts, packet) - 1][1]

    altered: list[Divergence] = []
    alone: tuple[list[Divergence], list[Divergence]] = ([], [])
    for i, j in pairing.moved:
        altered.append(Divergence((i, j), when(j), f"packet {j} ({i} in run A): in another order"))
    outside = [0, 0]
    for region in pairing.regions:
        if not (region.before and region.after):
            outside[0] += len(region.first)
            outside[1] += len(region.second)
            continue
        left, right = list(region.first), list(region.second)
        for i, j, text in _changed(ends, left, right):
            altered.append(Divergence((i, j), when(j), f"packet {j} ({i} in run A): {text}"))
            left.remove(i)
            right.remove(j)
        for run, packets in enumerate((left, right)):
            for n in packets:
                numbers = (n, None) if run == 0 else (None, n)
                size_B = int(ends[run].length_B[n])
                text = f"packet {n}, {size_B} B: only run {_RUNS[run]} has it"
                alone[run].append(Divergence(numbers, when(place(run, n)), text))
    counts = len(keys[0]), len(keys[1])
    source = views[0].source(ends[0].tap)
    return CardTapRuns(
        source, counts, len(pairing.pairs), tuple(sorted(altered, key=lambda d: d.t_ps)), tuple(alone[0]),
        tuple(alone[1]), (outside[0], outside[1]),
    )  # fmt: skip


def _changed(
    ends: tuple[CheckedStream, CheckedStream], left: list[int], right: list[int]
) -> list[tuple[int, int, str]]:
    """Return packets that are the same one changed: by a general name; of as many on either side by their place."""
    found = []
    rest = list(left)
    for j in right:
        for i in rest:
            names = differences(ends[0].content(i), ends[1].content(j), (ends[0].tap.stream_bytes,))
            if names:
                text = " or ".join(dict.fromkeys(each.name for each in names))
                found.append((i, j, f"{text} at beat {names[0].beat}"))
                rest.remove(i)
                break
    if not found and len(left) == len(right):
        return [(i, j, "its bytes differ") for i, j in zip(left, right, strict=True)]
    return found


def _settings(a: CardCapture, b: CardCapture) -> Iterator[Setting]:
    causes = [", ".join(device.recording().cause_names) or "none" for device in (a, b)]
    if causes[0] != causes[1]:
        yield Setting(f"{a.name} froze by", *causes)
    names: list[tuple[str, tuple[int, ...], str]] = [
        (name, (), name) for name in ("ctl.cause_mask", "ctl.options", "ctl.clocks_alive")
    ]
    names += [
        (info.name, at, label(info.name, at))
        for info in a.registers.map.registers
        if info.name.startswith("trigger.")
        and "w" in info.access
        and b.registers.map.has(info.name)
        for at in elements(info)
    ]
    names += [
        (f"tap.{what}", (tap.number,), f"{tap.name}.{what}")
        for tap in a.card.taps
        for what in ("post", "kinds")
    ]
    for name, at, shown in names:
        x, y = (device.registers.known(name, *at) for device in (a, b))
        if x is not None and y is not None and x != y:
            yield Setting(f"{a.name}.{shown}", f"{x:#x}", f"{y:#x}")


def _samples(a: CardView, b: CardView) -> Iterator[SampleChange]:
    """Compare lengths and gaps at every tap, and delays along paths."""
    for name, end in a.streams.items():
        other = b.streams.get(name)
        if other is None or end.tap.said.kind == "words":
            continue
        source = a.source(end.tap)
        lengths = [each.length_B[each.stream.whole] for each in (end, other)]
        yield compare_samples(f"{source}, packet length", "B", *lengths)
        yield compare_samples(f"{source}, gap between packets", "cycles", _gaps(end), _gaps(other))
    there = {way[0]: way for way in ways(b)}
    for way in ways(a):
        if way[0] in there:
            delays = [spans_of(card, *w[1:], "begin") for card, w in ((a, way), (b, there[way[0]]))]
            yield compare_samples(
                f"{way[0]}, delay", "ps", *(d["latency_ps"].to_numpy() for d in delays)
            )


def _gaps(end: CheckedStream) -> Int64:
    """Return the cycles between neighbouring packets of which both ends are known exactly."""
    columns = end.stream.packets
    sharp = (columns.end_slack[:-1] == 0) & (columns.begin_slack[1:] == 0)
    sharp &= (columns.flags[:-1] & int(Packet.CUT_END)) == 0
    sharp &= (columns.flags[1:] & int(Packet.CUT_BEGIN)) == 0
    gaps: Int64 = (columns.begin[1:] - columns.end[:-1] - 1)[sharp]
    return gaps


def _counters(a: CardView, b: CardView) -> Iterator[RateChange]:
    """Compare the counters at the freeze, which run since power-up as the bus cycle does."""
    seconds = [(card.recording.cause_cycle or 0) / card.recording.clocks[0].hz for card in (a, b)]
    for name, said in a.recording.card.counters:
        x, y = (card.recording.counters.get(name) for card in (a, b))
        if x is not None and y is not None:
            clump = _CLUMPS.get(said.counts or said.unit, 1)
            yield compare_rates(f"{a.device}.{name}", (x, seconds[0]), (y, seconds[1]), clump)
