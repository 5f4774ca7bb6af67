"""The analysis ``pressure``: when senders waited for credit, for what, and what finer credits would gain.

Source: FORTH 4.3: back-pressure events on the time line of throughput; a finer estimate of free space gave fewer of
them and 10 to 15 % more throughput.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from freezeframe.analyzers.analysis import (
    AnalysisResult,
    Figure,
    Intervals,
)
from freezeframe.analyzers.credits.ledger import FlowAccount, credit_accounts
from freezeframe.analyzers.credits.sent_counts import Loaded, loaded_packets, seen_unit, sent_counts
from freezeframe.analyzers.pressure.blame import (
    GRANULARITY,
    LOST,
    RECEIVER,
    ROUND_TRIP,
    UNKNOWN,
    Blame,
    blame,
    standing,
)
from freezeframe.analyzers.pressure.model import fitted, measured_path, run_again
from freezeframe.analyzers.result_parts import interval_track, joined_notes
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.card.roles import EVENT_LOG
from freezeframe.capture.time_text import format_ps
from freezeframe.capture.timebase import PS_PER_S

_SMALLEST_UNIT = 8
_OFF_PERCENT = 30  # beyond it the model misses what matters, and its gain means nothing
_KINDS = (RECEIVER, GRANULARITY, ROUND_TRIP, LOST, UNKNOWN)
_MEANING = {
    RECEIVER: "the receiver's FIFO had not been emptied far enough",
    GRANULARITY: "room had been freed, and the credit was not yet due",
    ROUND_TRIP: "words or the credit were on their way, or waited for the link back",
    LOST: "a credit that would have ended the wait was never taken",
    UNKNOWN: "the recording does not hold both ends of the wait",
}


def run(view: CaptureView) -> AnalysisResult:
    """Return the waits of every sender, what each was spent on, and what another credit unit would do."""
    accounts = credit_accounts(view)
    figures: list[Figure] = []
    notes: list[str] = []
    tracks: list[Intervals] = []
    tables: dict[str, list[dict[str, Any]]] = {"waits": [], "credit_units": []}
    for sender, receiver in view.directions:
        if view.device(sender) is None:
            continue
        direction = f"{sender}->{receiver}"
        log = view.flow_log(sender)
        if log is None or not len(log):
            notes.append(f"{direction}: the event log of {sender} holds no back-pressure events.")
            figures += _counted(view, sender, direction)
            continue
        packets = loaded_packets(log)
        mine = [a for a in accounts if a.sender == sender and a.receiver == receiver]
        waits = _blamed(view, mine, packets)
        span_ps = int(log.t_ps[-1] - log.t_ps[0])
        figures += _figures(direction, waits, span_ps)
        figures += _counted(view, sender, direction)
        tracks.append(_track(view, sender, direction, waits))
        tables["waits"] += [_row(direction, wait) for wait in waits]
        estimates, finer_notes = _finer(view, mine, packets, direction)
        figures += estimates
        notes += finer_notes
        tables["credit_units"] += [
            {"direction": direction, "credit_unit_words": int(f.name.rsplit(".", 2)[1]), "gain_percent": f.value,
             "uncertainty_percent": f.uncertainty}
            for f in estimates
        ]  # fmt: skip
        if view.device(receiver) is None:
            notes.append(
                f"{direction}: without {receiver}'s recording nothing tells what a wait was for; pull both ends."
            )
        if log.gaps or len(log.select("LOSS")):
            notes.append(
                f"{direction}: the event log of {sender} has gaps; waits inside them are missing."
            )
    if view.directions:
        notes.append("No switch stands between the two cards, so no wait is due to a crossbar.")
    return AnalysisResult(
        "pressure",
        tuple(figures),
        intervals=tuple(track for track in tracks if len(track.t_ps)),
        tables=_frames(tables),
        notes=joined_notes([*notes, *view.switched_off]),
    )


def _blamed(
    view: CaptureView, accounts: Sequence[FlowAccount], packets: Sequence[Loaded]
) -> list[Blame]:
    """Return the waits of a sender in order of time, those that are not whole without a cause."""
    blames: list[Blame] = []
    table = view.trace.intervals
    for account in accounts:
        mine = table[(table["device"] == account.sender) & (table["flow"] == account.flow)]
        whole = mine[~mine["open_start"] & ~mine["open_end"]]
        times = list(zip(whole["t_ps"].tolist(), whole["t_end_ps"].tolist(), strict=True))
        blames += blame(view, sent_counts(view, account, packets), times)
        cut = mine[mine["open_start"] | mine["open_end"]]
        columns = (cut[name].tolist() for name in ("t_ps", "t_end_ps", "open_start"))
        newest = max((wait.end_ps for wait in blames), default=0)
        for begin, end, headless in zip(*columns, strict=True):
            if headless or end < newest:
                blames.append(Blame(begin, end, account.flow, UNKNOWN, unknown_ps=end - begin))
            else:
                blames.append(standing(view, account, begin, end))
    return sorted(blames, key=lambda wait: (wait.begin_ps, wait.flow))


def _figures(direction: str, waits: Sequence[Blame], span_ps: int) -> Iterator[Figure]:
    name = f"{direction}.pressure"
    total = sum(wait.wait_ps for wait in waits)
    over = f"in the {_us(span_ps)} that the event log reaches back"
    yield Figure(f"{name}.count", f"{direction}, waits for credit", len(waits), note=over)
    yield Figure(f"{name}.total", f"{direction}, time waited", total, "ps")
    longest = max((wait.wait_ps for wait in waits), default=0)
    yield Figure(f"{name}.longest", f"{direction}, longest wait", longest, "ps")
    if span_ps:
        yield Figure(
            f"{name}.share", f"{direction}, share of time", 100 * total / span_ps, "%", note=over
        )
    for flow in sorted({wait.flow for wait in waits}):
        mine = [wait for wait in waits if wait.flow == flow]
        lasted_ps = [wait.wait_ps for wait in mine]
        note = f"{format_ps(sum(lasted_ps))} in all, longest {format_ps(max(lasted_ps))}"
        yield Figure(
            f"{name}.flow{flow}.count", f"{direction}, waits of flow {flow}", len(mine), note=note
        )
    for kind in _KINDS:
        spent = sum(_part(wait, kind) for wait in waits)
        count = sum(wait.kind == kind for wait in waits)
        if not waits or (not spent and not count):
            continue
        note = f"{count} {'wait' if count == 1 else 'waits'} mostly so: {_MEANING[kind]}"
        if kind == ROUND_TRIP:
            queued = sum(wait.queued_ps for wait in waits)
            note += f"; {_us(queued)} of it a credit that was due waited for a packet to pass"
        share = 100 * spent / total if total else 0.0
        yield Figure(
            f"{name}.{kind}",
            f"{direction}, of this {kind.replace('-', ' ')}",
            share,
            "%",
            note=note,
        )


def _counted(view: CaptureView, sender: str, direction: str) -> Iterator[Figure]:
    """Yield the counter of the freeze bank: link cycles since power-up."""
    cycles = view.count(sender, "blocked-cycles")
    capture = view.device(sender)
    if cycles is None or capture is None:
        return
    freeze = (
        view.value(sender, "frozen.freeze_cycle_lo"),
        view.value(sender, "frozen.freeze_cycle_hi"),
    )
    note = f"since power-up, by the counter {view.roles.counter('blocked-cycles')}"
    if None not in freeze:
        ran_s = ((freeze[1] or 0) << 32 | (freeze[0] or 0)) / capture.identity.clk_bus
        if ran_s:
            note += f": {100 * cycles / capture.identity.clk_link / ran_s:.2f} % of {ran_s:.6f} s"
    yield Figure(
        f"{direction}.pressure.counted",
        f"{direction}, link cycles waited",
        cycles,
        "cycles",
        note=note,
    )


def _us(t_ps: int) -> str:
    return f"{t_ps / 1e6:,.3f} us"


def _part(wait: Blame, kind: str) -> int:
    return {
        RECEIVER: wait.receiver_ps,
        GRANULARITY: wait.granularity_ps,
        ROUND_TRIP: wait.round_trip_ps,
        LOST: wait.lost_ps,
        UNKNOWN: wait.unknown_ps,
    }[kind]


def _track(view: CaptureView, sender: str, direction: str, waits: Sequence[Blame]) -> Intervals:
    table = view.trace.intervals
    mine = table[table["device"] == sender]
    keys = zip(mine["t_ps"].tolist(), mine["flow"].tolist(), strict=True)
    opened = dict(
        zip(
            keys,
            zip(mine["open_start"].tolist(), mine["open_end"].tolist(), strict=True),
            strict=True,
        )
    )
    rows = []
    for wait in waits:
        size = f"{wait.packet} words of " if wait.packet else ""
        text = f"{size}flow {wait.flow} waited for credit: {_MEANING[wait.kind]}"
        start, end = opened.get((wait.begin_ps, wait.flow), (False, False))
        rows.append((wait.begin_ps, wait.end_ps, wait.kind, text, wait.flow, start, end))
    log = f"{sender}.{EVENT_LOG}"
    return interval_track(f"{direction}.pressure", f"{direction}, waiting for credit", rows, (log,))


def _row(direction: str, wait: Blame) -> dict[str, Any]:
    return {
        "direction": direction,
        "t_ps": wait.begin_ps,
        "t_end_ps": wait.end_ps,
        "flow": wait.flow,
        "kind": wait.kind,
        "receiver_fifo_ps": wait.receiver_ps,
        "granularity_ps": wait.granularity_ps,
        "round_trip_ps": wait.round_trip_ps,
        "queued_ps": wait.queued_ps,
        "lost_ps": wait.lost_ps,
        "unknown_ps": wait.unknown_ps,
        "packet_words": wait.packet or 0,
    }


def _finer(
    view: CaptureView, accounts: Sequence[FlowAccount], packets: Sequence[Loaded], direction: str
) -> tuple[list[Figure], list[str]]:
    """Return what finer credit units would gain, by the model, and what keeps it from telling."""
    limits = {a.flow: a.limit for a in accounts if a.limit}
    whole = [p for p in packets if p.started_ps is not None and p.flow in limits]
    unit = max((seen_unit(a) or 0 for a in accounts), default=0) or None
    if unit is None or not whole or view.device(accounts[0].receiver) is None:
        return [], []
    largest = max(p.words for p in whole)
    if any(limit - unit + 1 < largest for limit in limits.values()):
        return [], [
            f"{direction}: a credit unit of {unit} words in a limit of {min(limits.values())} can leave a packet of "
            f"{largest} words without credit for ever; no estimate of finer credits."
        ]
    path = measured_path(view, accounts, whole)
    if isinstance(path, str):
        return [], [f"{path} No estimate of finer credits."]
    span_ps = whole[-1].done_ps - whole[0].done_ps
    words_per_s = sum(p.words for p in whole[1:]) * PS_PER_S / span_ps
    as_is = run_again(path, whole, limits, unit)
    off = 100 * (as_is.words_per_s / words_per_s - 1)
    if abs(off) > _OFF_PERCENT:
        return [], [
            f"{direction}: a model of the transfers is {off:+.0f} % off what was recorded, because it knows neither a "
            "bus that others use nor pauses of the hosts; no estimate of finer credits."
        ]
    note = (
        f"{direction}: with the card's own unit the model of finer credits is {off:+.0f} % off what was recorded; "
        "it knows neither a bus that others use nor pauses of the hosts."
    )
    bound = fitted(path, whole, limits, unit, words_per_s)
    bound_as_is = run_again(bound, whole, limits, unit)
    figures = []
    finer = unit // 2
    while finer >= _SMALLEST_UNIT:
        rate = run_again(path, whole, limits, finer).words_per_s
        gain = 100 * (rate / as_is.words_per_s - 1)
        if (
            off < 0
        ):  # too slow at something: what it says of the recorded rate is less, and never overstated
            other = max(0.0, 100 * (rate / words_per_s - 1))
            gain, other = other, gain
        else:
            slowed = run_again(bound, whole, limits, finer).words_per_s
            other = 100 * (slowed / bound_as_is.words_per_s - 1)
        figures.append(
            Figure(
                f"{direction}.credit_unit.{finer}.gain",
                f"{direction}, credits every {finer} instead of {unit} words",
                gain,
                "%",
                abs(gain - other),
                "more throughput, by a model of the transfers in the event log",
            )
        )
        finer //= 2
    return figures, [note] if figures else []


def _frames(tables: dict[str, list[dict[str, Any]]]) -> dict[str, pd.DataFrame]:
    return {name: pd.DataFrame(rows) for name, rows in tables.items() if rows}
