"""The analysis ``throughput``: how fast words went, in each direction and flow, and how near to the limits.

Rates are in MiB/s, 2^20 bytes a second. The link's limit is one 64-bit word each link cycle, the bus's one each bus
cycle.

Source: FORTH 4.3 (throughput tracing); its limits, 596 and 762.9 MiB/s, follow from 78.125 and 100 MHz.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from freezeframe.analyzers.analysis import (
    AnalysisResult,
    Figure,
    Intervals,
    Series,
)
from freezeframe.analyzers.diagnosis.standstill import HOST, Stand, standing
from freezeframe.analyzers.facts import Facts
from freezeframe.analyzers.result_parts import interval_track, joined_notes
from freezeframe.analyzers.throughput.flows import FlowRates, flow_counts, flow_rates
from freezeframe.analyzers.throughput.sampled import CLOCK_PPM, Sampled, sampled
from freezeframe.analyzers.throughput.samples import SamplerAnalyzer, Way
from freezeframe.analyzers.throughput.shape import levels, ramps, silences
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.count_text import plural
from freezeframe.capture.registers.identity import Identity
from freezeframe.capture.timebase import PS_PER_S
from freezeframe.decoders.trace.coverage import SAMPLER

MB = 1 << 20
UNIT = "MiB/s"
"""Bytes of a megabyte, as the FORTH paper counts."""

_WORD_B = 8
_WAYS = ("out", "in")
_FULL = 0.97  # of the link's limit: the gap between packets of a few words takes about so much
_STALL_INTERVALS = 2

Int64 = npt.NDArray[np.int64]


def run(view: CaptureView) -> AnalysisResult:
    """Return rates, their series, and where they changed, from samples, traces and counters."""
    parts = _Parts(view)
    for device in view.devices:
        sampling = sampled(device, view.trace.timebase)
        if isinstance(sampling, str):
            parts.notes.append(sampling)
        else:
            parts.add_sampled(sampling, device.identity)
        for tap in (view.roles.tx.exit, view.roles.rx.entry):  # on the link, a word a cycle
            parts.add_traced(device.name, tap, device.identity)
    parts.add_counts()
    return AnalysisResult(
        "throughput",
        tuple(parts.figures),
        tuple(parts.series),
        tuple(track for track in parts.tracks if len(track.t_ps)),
        tables=parts.tables(),
        notes=joined_notes([*parts.notes, *view.switched_off]),
    )


class _Parts:
    """Collects what the result is made of."""

    def __init__(self, view: CaptureView) -> None:
        self.view = view
        self.figures: list[Figure] = []
        self.series: list[Series] = []
        self.tracks: list[Intervals] = []
        self.notes: list[str] = []
        self._samples: list[dict[str, Any]] = []
        self._flows: list[dict[str, Any]] = []

    def add_sampled(self, sampling: Sampled, identity: Identity) -> None:
        """Add what the sampler of one device counted."""
        analyzer = SamplerAnalyzer(full_words=max(1, int(_FULL * sampling.limit_words)))
        state = analyzer.init()
        for batch in sampling.batches():
            state = analyzer.step(state, batch)
        summary = analyzer.finish(state)
        words = sampling.words()
        most = sampling.limit_words * (1 + CLOCK_PPM / 1e6) + 2
        beyond = int((words > most).any(axis=1).sum())
        if beyond:
            self.notes.append(
                f"{sampling.device}: {beyond} of {len(words)} intervals of the sampler hold more words than the "
                f"link can carry in {sampling.period_cycles} bus cycles ({int(most)}): counts were cleared or the "
                "period was changed while it recorded; figures of the sampler mean nothing here."
            )
            return
        unknown = int((words < 0).any(axis=1).sum())
        if unknown:
            self.notes.append(
                f"{sampling.device}: {unknown} of {len(words)} intervals of the sampler lie beside samples that were "
                "not read; they count in no figure."
            )
        for column, way in enumerate(_WAYS):
            sums = (summary.out, summary.into)[column]
            ppm = self.view.trace.timebase.clocks[sampling.device, "bus"].own_ppm
            self.figures += _figures(sampling, identity, way, sums, summary.intervals, ppm)
            self._series(sampling, identity, way, words[:, column])
        self._samples.append(
            {
                "device": np.repeat(sampling.device, len(words)),
                "t_ps": sampling.t_ps[:-1],
                "t_end_ps": sampling.t_ps[1:],
                "words_out": words[:, 0],
                "words_in": words[:, 1],
            }
        )

    def _series(self, sampling: Sampled, identity: Identity, way: str, words: Int64) -> None:
        period_s = sampling.period_cycles / identity.clk_bus
        rate = np.where(words >= 0, words * _WORD_B / period_s / MB, np.nan)
        name, label = f"{sampling.device}.{way}", f"{sampling.device} {way}"
        self.series.append(
            Series(
                f"{name}.throughput",
                f"{label}, throughput",
                UNIT,
                sampling.t_ps,
                np.append(rate, rate[-1]),
                limit=_limit(identity.clk_link),
                limit_label="link: a word each cycle",
                rests_on=_sampler(sampling),
            )
        )
        one_word = _WORD_B / period_s / MB
        self.tracks.append(_shape_track(sampling, name, label, rate, one_word))
        self.tracks.append(self._stall_track(sampling, name, label, words))

    def _stall_track(self, sampling: Sampled, name: str, label: str, words: Int64) -> Intervals:
        stretches = silences(words, _STALL_INTERVALS)
        rows = []
        for start, end in stretches:
            begin_ps, end_ps = int(sampling.t_ps[start]), int(sampling.t_ps[end])
            last_ps = int(sampling.t_ps[end - 1])  # where its last interval begins
            kind, text = self._why_silent(sampling.device, name, begin_ps, last_ps, end_ps)
            rows.append((begin_ps, end_ps, kind, text, -1, start == 0, end == len(words)))
        waited = [row for row in rows if row[2] == "waiting-for-credit"]
        self.figures.append(
            Figure(f"{name}.stalls", f"{label}, stretches without a word", len(rows), note=(
                f"of {_STALL_INTERVALS} intervals of the sampler or more; {len(waited)} of them while a flow "
                "waited for credit"
            ))
        )  # fmt: skip
        return interval_track(
            f"{name}.stalls", f"{label}, without a word", rows, _sampler(sampling)
        )

    @cached_property
    def _stands(self) -> tuple[Stand, ...]:
        return standing(Facts(self.view))

    def _why_silent(
        self, device: str, name: str, begin_ps: int, last_ps: int, end_ps: int
    ) -> tuple[str, str]:
        if not name.endswith(".out"):
            return "silent", "nothing arrived"
        log = self.view.flow_log(device)
        if log is None or log.gaps or not len(log) or int(log.t_ps[0]) > begin_ps:
            return "silent", "nothing left; the event log does not reach back to say why"
        blocked = self.view.trace.intervals
        blocked = blocked[blocked["device"] == device]
        shared = np.minimum(blocked["t_end_ps"].to_numpy(), end_ps) - np.maximum(
            blocked["t_ps"].to_numpy(), begin_ps
        )
        covered = int(np.clip(shared, 0, None).sum())
        if 2 * covered >= end_ps - begin_ps:
            return "waiting-for-credit", "nothing left: a flow waited for credit"
        for stand in self._stands:
            own = stand.direction.startswith(f"{device}->") and stand.device == device
            if own and stand.part != HOST and 2 * (end_ps - stand.since_ps) >= end_ps - begin_ps:
                return "stopped", f"nothing left: {stand.text}"
        # The log closes some records after the cause, the sampler with the last memory.
        if int(log.t_ps[-1]) < last_ps:
            return "silent", "nothing left; the event log ended before, and does not say why"
        return "nothing-to-send", "nothing left, and no flow waited for credit: nothing to send"

    def add_traced(self, device: str, tap: str, identity: Identity) -> None:
        """Add what a tap's trace shows of its flows."""
        stream = self.view.stream(device, tap)
        period_ps = self.view.cycles_ps(device, link=1)
        rates = flow_rates(stream, period_ps) if stream is not None else None
        if rates is None:
            if stream is not None and len(stream):
                self.notes.append(
                    f"{device}.{tap}: the times of its words go back, so records are damaged; no rates of its flows."
                )
            return
        way = _WAYS[tap == self.view.roles.rx.entry]
        if rates.missing:
            self.notes.append(
                f"{device}.{tap}: words were not read, so rates of its flows are too low."
            )
        span_s = rates.span_ps / PS_PER_S
        limit = _limit(identity.clk_link)
        crowded = (
            rates.in_bin.sum(axis=0) * period_ps
            > np.diff(rates.edges_ps) * (1 + 2 * CLOCK_PPM / 1e6) + 1
        )
        if period_ps and crowded.any():
            self.notes.append(
                f"{device}.{tap}: in {crowded.sum()} of {len(crowded)} stretches the words stand closer than a cycle "
                "of the link, so records are damaged: the rates of its flows lie above the limit there."
            )
        word_rate = _WORD_B / span_s / MB
        # Words whose header is damaged may be anybody's.
        unknown = int(rates.words[rates.flows < 0].sum())
        ppm = self.view.trace.timebase.clocks[device, "link"].own_ppm
        for at, flow in enumerate(rates.flows.tolist()):
            words = int(rates.words[at])
            name, label = f"{device}.{way}.flow{flow}", f"{device} {way}, flow {flow}"
            if flow < 0:
                name, label = f"{device}.{way}.flow-unknown", f"{device} {way}, flow not known"
            mean = words * word_rate
            sharp = word_rate * (1 + unknown * (flow >= 0)) + mean * ppm / 1e6
            note = f"from {plural(words, 'word')} in {rates.span_ps // 1000:,} ns of {device}.{tap}"
            self.figures.append(
                Figure(f"{name}.traced", f"{label}, in the trace", mean, UNIT, sharp, note)
            )
            self.series.append(_flow_series(rates, at, name, label, limit, f"{device}.{tap}"))
            self._flows.append(
                {"device": device, "tap": tap, "flow": flow, "words": words, "t_ps": int(rates.edges_ps[0]),
                 "t_end_ps": int(rates.edges_ps[-1]), "MB_per_s": mean}
            )  # fmt: skip

    def add_counts(self) -> None:
        """Add the per-flow counters of the freeze banks."""
        counts = flow_counts(self.view)
        for device in self.view.names:
            mine = [count for count in counts if count.device == device]
            for way, column in (("out", "sent"), ("in", "received")):
                known = {
                    c.flow: int(getattr(c, column)) for c in mine if getattr(c, column) is not None
                }
                total = sum(known.values())
                roles = self.view.roles
                tap = roles.tx.exit if way == "out" else roles.rx.entry
                long = self.view.count(device, "words", tap) or 0
                wrapped = long >> 32 > 0
                for flow, words in known.items():
                    if not words:
                        continue
                    note = f"{100 * words / total:.1f} % of {device}'s words {way}" if total else ""
                    if wrapped:
                        note = "32 bits: it has wrapped, and how often is not known of one flow"
                    self.figures.append(
                        Figure(f"{device}.{way}.flow{flow}.words", f"{device} {way}, flow {flow}, counted",
                               words, "words", note=note)
                    )  # fmt: skip

    def tables(self) -> dict[str, pd.DataFrame]:
        frames = {}
        if self._samples:
            columns = self._samples[0].keys()
            frames["samples"] = pd.DataFrame(
                {key: np.concatenate([part[key] for part in self._samples]) for key in columns}
            )
        if self._flows:
            frames["flows"] = pd.DataFrame(self._flows)
        return frames


def _limit(clk_hz: int) -> float:
    """Return MiB/s of one 64-bit word each cycle."""
    return clk_hz * _WORD_B / MB


def _figures(
    sampling: Sampled, identity: Identity, way: str, sums: Way, intervals: int, ppm: int
) -> Iterator[Figure]:
    """Yield the figures of one direction; a count is sharp to one word at each end of what it spans, a second to the
    ``ppm`` of the crystal that counts it.
    """
    name, label = f"{sampling.device}.{way}", f"{sampling.device} {way}"
    if not intervals:
        yield Figure(f"{name}.throughput.mean", f"{label}, mean", None, UNIT, note=(
            "no two neighbouring samples were read"))  # fmt: skip
        return
    period_s = sampling.period_cycles / identity.clk_bus
    per_word = _WORD_B / period_s / MB
    link, bus = _limit(identity.clk_link), _limit(identity.clk_bus)
    mean, off = sums.words * per_word / intervals, ppm / 1e6
    sharp = per_word / intervals + mean * off
    over = f"over {plural(intervals, 'interval')} of {sampling.period_cycles:,} bus cycles"
    yield Figure(f"{name}.throughput.mean", f"{label}, mean", mean, UNIT, sharp, over)
    for key, text, words in (
        ("min", "slowest interval", sums.least),
        ("max", "fastest interval", sums.most),
    ):
        yield Figure(
            f"{name}.throughput.{key}", f"{label}, {text}", words * per_word, UNIT,
            per_word * (1 + words * off),
        )  # fmt: skip
    yield Figure(f"{name}.throughput.link_share", f"{label}, share of the link", 100 * mean / link, "%",
                 100 * sharp / link, _limit_text(link, identity.clk_link))  # fmt: skip
    yield Figure(f"{name}.throughput.bus_share", f"{label}, share of the bus", 100 * mean / bus, "%",
                 100 * sharp / bus, _limit_text(bus, identity.clk_bus))  # fmt: skip
    yield Figure(f"{name}.words", f"{label}, words in the samples", sums.words, "words")
    yield Figure(f"{name}.idle", f"{label}, intervals without a word", 100 * sums.idle / intervals, "%",
                 note=f"the most in a row: {sums.idle_longest}")  # fmt: skip
    yield Figure(f"{name}.full", f"{label}, intervals at {_FULL:.0%} of the link or more",
                 100 * sums.full / intervals, "%")  # fmt: skip


def _shape_track(
    sampling: Sampled, name: str, label: str, rate: npt.NDArray[np.float64], one_word: float
) -> Intervals:
    """Return levels and ramps of a rate; unknown intervals part it."""
    rows = []
    known = np.flatnonzero(np.diff((~np.isnan(rate)).astype(np.int8), prepend=0, append=0))
    for start, end in zip(known[::2].tolist(), known[1::2].tolist(), strict=True):
        steady = levels(rate[start:end], noise=one_word)
        for level in steady:
            a, b = start + level.start, start + level.end
            rows.append((int(sampling.t_ps[a]), int(sampling.t_ps[b]), "level", f"{level.mean:.1f} MiB/s", -1,
                         a == 0, b == len(rate)))  # fmt: skip
        for ramp in ramps(steady):
            a, b = start + ramp.start, start + ramp.end
            kind = "ramp-up" if ramp.rises else "ramp-down"
            text = f"from {ramp.low:.1f} to {ramp.high:.1f} MiB/s"
            rows.append(
                (
                    int(sampling.t_ps[a]),
                    int(sampling.t_ps[b]),
                    kind,
                    text,
                    -1,
                    False,
                    b == len(rate),
                )
            )
    return interval_track(
        f"{name}.shape", f"{label}, levels and ramps", sorted(rows), _sampler(sampling)
    )


def _limit_text(rate: float, clk_hz: int) -> str:
    return f"limit {rate:.1f} {UNIT}: a word each cycle of {clk_hz:,} Hz"


def _sampler(sampling: Sampled) -> tuple[str]:
    return (f"{sampling.device}.{SAMPLER}",)


def _flow_series(
    rates: FlowRates, at: int, name: str, label: str, limit: float, source: str
) -> Series:
    lengths_s = np.diff(rates.edges_ps) / PS_PER_S
    value = rates.in_bin[at] * _WORD_B / lengths_s / MB
    return Series(
        f"{name}.traced", f"{label}, in the trace", UNIT, rates.edges_ps, np.append(value, value[-1]),
        limit=limit, limit_label="link: a word each cycle", rests_on=(source,),
    )  # fmt: skip
