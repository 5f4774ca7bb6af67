"""Two captures, of a good run and a bad one: first divergence, changed distributions, counters, events, settings."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from freezeframe.analyzers.run_diff.packets import TapRuns, align_taps
from freezeframe.analyzers.run_diff.statistics import (
    RateChange,
    SampleChange,
    compare_rates,
    compare_samples,
)
from freezeframe.analyzers.streams import Stream
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import DeviceCapture
from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.timebase import PS_PER_S

Int64 = npt.NDArray[np.int64]

_NOT_SETTINGS = ("boot_nonce", "devices_index", "build_hash")
_CLUMP = 512  # words of the longest packet: as many may come, or wait, at a time
_OWN = (Kind.TIME.name, Kind.MARK.name)  # of the recorder, not of the card


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter, a configuration register or the freeze cause that is not the same in both runs."""

    name: str
    a: str
    b: str


class TapInRuns(Protocol):
    """What a comparison says of one tap; of the built-in card `TapRuns`, of others `CardTapRuns`."""

    @property
    def source(self) -> str: ...

    @property
    def packets(self) -> tuple[int, int]: ...

    @property
    def outside(self) -> tuple[int, int]:
        """How many packets of run A and of run B cannot be compared, as the other recording does not reach there."""
        ...

    @property
    def altered(self) -> Sized: ...

    @property
    def missing(self) -> Sized: ...

    @property
    def extra(self) -> Sized: ...

    @property
    def equal(self) -> int: ...

    @property
    def differing(self) -> int: ...

    @property
    def first_ps(self) -> int | None: ...

    def first_text(self) -> str: ...

    def to_json(self) -> dict[str, Any]: ...


Tap_co = TypeVar("Tap_co", bound=TapInRuns, covariant=True)


@dataclass(frozen=True, eq=False, slots=True)
class RunDiff(Generic[Tap_co]):
    """Everything that differs between two runs; empty where nothing does.

    Attributes:
        taps: packets tap by tap; settings: what was set, or froze, otherwise.
        samples: distributions; counters, events: rates, those that changed most first.
        notes: what could not be compared.
    """

    taps: tuple[Tap_co, ...]
    settings: tuple[Setting, ...]
    samples: tuple[SampleChange, ...]
    counters: tuple[RateChange, ...]
    events: tuple[RateChange, ...]
    notes: tuple[str, ...]

    @property
    def first(self) -> Tap_co | None:
        """The tap that shows the first divergence in time."""
        divergences = [
            (tap.first_ps, n) for n, tap in enumerate(self.taps) if tap.first_ps is not None
        ]
        return self.taps[min(divergences)[1]] if divergences else None

    @property
    def different(self) -> bool:
        """Whether anything differs that chance does not explain."""
        return (
            any(tap.differing for tap in self.taps)
            or bool(self.settings)
            or any(sample.changed for sample in self.samples)
            or any(change.changed for change in (*self.counters, *self.events))
        )

    @property
    def compared(self) -> bool:
        """Whether a single packet occurs in both runs, or a distribution had enough values."""
        return any(tap.equal or tap.differing for tap in self.taps) or bool(self.samples)

    def to_json(self) -> dict[str, Any]:
        first = self.first
        return {
            "different": self.different,
            "compared": self.compared,
            "first_divergence": None
            if first is None
            else {"tap": first.source, "t_ps": first.first_ps, "text": first.first_text()},
            "taps": [tap.to_json() for tap in self.taps],
            "settings": [{"name": s.name, "a": s.a, "b": s.b} for s in self.settings],
            "distributions": [sample.to_json() for sample in self.samples],
            "counters": [change.to_json() for change in self.counters],
            "events": [change.to_json() for change in self.events],
            "notes": list(self.notes),
        }


def diff_runs(a: CaptureView, b: CaptureView) -> RunDiff[TapRuns]:
    """Compare two captures, device by device of the same name.

    Raises (from the views): what opening and decoding a capture raise.
    """
    views = a, b
    notes = [
        f"only run {run} has {', '.join(missing)}"
        for run, missing in (
            ("A", sorted(set(views[0].names) - set(views[1].names))),
            ("B", sorted(set(views[1].names) - set(views[0].names))),
        )
        if missing
    ]
    taps = tuple(align_taps(*views))
    strange = [tap.source for tap in taps if not tap.equal and min(tap.packets)]
    if strange:
        notes.append(f"no packet of run A carries what one of run B does at {', '.join(strange)}")
    if not taps:
        notes.append("no tap was recorded in both runs")
    for run, view in (("A", a), ("B", b)):
        lost = view.folder.lost
        if lost:
            notes.append(
                f"run {run} is incomplete ({len(lost)} statements of what is missing): {lost[0]}"
            )
    if a.folder.manifest["digest"] == b.folder.manifest["digest"]:
        notes.append("both are the same recording")
    pairs = [
        (device, other)
        for device in views[0].devices
        if (other := views[1].device(device.name)) is not None
    ]
    return RunDiff(
        taps=taps,
        settings=tuple(setting for pair in pairs for setting in _settings(views, *pair)),
        samples=tuple(_samples(*views)),
        counters=tuple(ordered(change for pair in pairs for change in _counters(*pair))),
        events=tuple(ordered(_events(*views))),
        notes=tuple(notes),
    )


def ordered(changes: Iterator[RateChange]) -> list[RateChange]:
    """Sort by relative change; of equal ones the surest first."""
    return sorted(changes, key=lambda c: (not c.changed, -abs(c.relative), -abs(c.sigmas), c.name))


def _settings(
    views: tuple[CaptureView, CaptureView], a: DeviceCapture, b: DeviceCapture
) -> Iterator[Setting]:
    for name in a.identity.__slots__:
        x, y = getattr(a.identity, name), getattr(b.identity, name)
        if x != y and name not in _NOT_SETTINGS:
            yield Setting(f"{a.name}.{name}", f"{x:,}", f"{y:,}")
    causes = [", ".join(view.causes(a.name)) or "none" for view in views]
    if causes[0] != causes[1]:
        yield Setting(f"{a.name} froze by", causes[0], causes[1])
    for name, count in (
        ("ctl.cause_mask", 0), ("ctl.stall_limit", 0), ("ctl.options", 0), ("ctl.kinds", 5), ("ctl.post", 5),
        ("ctl.sample_period", 0), ("provoke.traffic", 0), ("provoke.rx_dma", 0), ("provoke.link", 0),
    ):  # fmt: skip
        for index in range(count) or (None,):
            at = () if index is None else (index,)
            x, y = a.registers.value(name, *at), b.registers.value(name, *at)
            if x is not None and y is not None and x != y:
                place = name if index is None else f"{name}[{index}]"
                yield Setting(f"{a.name}.{place}", f"{x:#x}", f"{y:#x}")
    for flow in range(min(a.identity.flows_count, b.identity.flows_count)):
        x, y = (d.registers.value("frozen_flow.limit", flow) for d in (a, b))
        if x is not None and y is not None and x != y:
            yield Setting(f"{a.name}.frozen_flow[{flow}].limit", f"{x:,}", f"{y:,}")


def _samples(a: CaptureView, b: CaptureView) -> Iterator[SampleChange]:
    """Compare lengths and gaps at every tap, and delays between taps, of each direction."""
    for place, stream in a.streams.items():
        other = b.streams.get(place)
        if other is None:
            continue
        yield compare_samples(
            f"{stream.source}, packet length", "words", _lengths(stream), _lengths(other)
        )
        yield compare_samples(
            f"{stream.source}, gap between packets", "ps", _gaps_ps(stream), _gaps_ps(other)
        )
    for direction in a.directions:
        if direction not in b.directions:
            continue
        path = a.path(*direction)
        for up, down in (*pairwise(path), (path[0], path[3])):
            taps = [(view.stream(*up), view.stream(*down)) for view in (a, b)]
            delays = [_delays_ps(x, y) for x, y in taps if x is not None and y is not None]
            if len(delays) == 2:
                name = f"{'.'.join(up)} to {'.'.join(down)}, delay"
                yield compare_samples(name, "ps", *delays)


def _lengths(stream: Stream) -> Int64:
    return np.array([p.body_words for p in stream.packets if p.whole], np.int64)


def _gaps_ps(stream: Stream) -> Int64:
    """Return the time from the last word of a packet to the first of the next, where nothing is missing between."""
    return np.array(
        [
            int(stream.t_ps[q.start]) - int(stream.t_ps[p.end - 1])
            for p, q in pairwise(stream.packets)
            if p.has_tail and not q.cut_start and q.start not in stream.breaks
        ],
        np.int64,
    )


def _delays_ps(up: Stream, down: Stream) -> Int64:
    """Return how long packets took from one tap's first word to the other's."""
    at = {(p.header, p.address): int(up.t_ps[p.start]) for p in up.packets if p.header_ok}
    return np.array(
        [
            int(down.t_ps[q.start]) - at[q.header, q.address]
            for q in down.packets
            if q.header_ok and (q.header, q.address) in at
        ],
        np.int64,
    )


def _counters(a: DeviceCapture, b: DeviceCapture) -> Iterator[RateChange]:
    """Compare the freeze banks' counters, which run since power-up as the cycle does."""
    counts = [device.registers.counters() for device in (a, b)]
    seconds = [_seconds(device) for device in (a, b)]
    for name in counts[0]:
        if name in counts[1]:
            yield compare_rates(
                f"{a.name}.{name}",
                (counts[0][name], seconds[0]),
                (counts[1][name], seconds[1]),
                _CLUMP if name.endswith(("_words", "_cycles")) else 1,
            )


def _seconds(device: DeviceCapture) -> float:
    cycle = device.registers.value64("frozen.freeze_cycle_")
    return cycle / device.identity.clk_bus if cycle and device.identity.clk_bus else 0.0


def _events(a: CaptureView, b: CaptureView) -> Iterator[RateChange]:
    """Compare how often each event happened in the time its log covers."""
    for name, log in a.logs.items():
        other = b.logs.get(name)
        if other is None:
            continue
        counts: list[dict[str, int]] = []
        seconds: list[float] = []
        for events in (log, other):
            own = ~np.isin(events.kind, _OWN)
            texts = np.char.add(np.char.add(events.kind[own], " "), events.code[own])
            keys, number = np.unique(texts, return_counts=True)
            counts.append(dict(zip(keys.tolist(), number.tolist(), strict=True)))
            covered = int(events.t_ps[-1] - events.t_ps[0]) if len(events) > 1 else 0
            seconds.append(covered / PS_PER_S)
        for key in sorted(counts[0].keys() | counts[1].keys()):
            x, y = counts[0].get(key, 0), counts[1].get(key, 0)
            yield compare_rates(f"{name} {key.strip()}", (x, seconds[0]), (y, seconds[1]))
