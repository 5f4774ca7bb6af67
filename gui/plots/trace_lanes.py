"""A decoded recording as lanes of the time line: packets at the taps, waits for credit, events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from freezeframe.capture.registers.layouts import Kind
from freezeframe.capture.time_text import format_ps
from freezeframe.decoders.trace.decode import Trace
from freezeframe.decoders.trace.views import event_texts
from freezeframe.gui.plots.timeline import Bar, Lane, Tick

LEGEND = (
    ("packet", "RDMA write, with its sequence number"),
    ("other", "notification or interrupt"),
    ("cut", "packet of which the recording holds only a part"),
    ("bad", "packet with a bad CRC or length"),
    ("hatch", "not recorded; the tip says why"),
    ("wait", "a flow waits for credit"),
    ("tick credit", "credit sent or taken"),
    ("tick refused", "credit refused"),
    ("tick note", "notification or interrupt event"),
    ("tick link", "link event"),
    ("tick plain", "descriptor or state event"),
)

_VERDICTS = (("header_ok", "header CRC"), ("payload_ok", "payload CRC"), ("length_ok", "length"))
_TICKS = {"CREDIT": "credit", "NOTE": "note", "IRQ": "note", "LINK": "link"}
_OF_TIME = ("MARK", "TIME")
_SHOWN_EVENTS = ("DESC", "NOTE", "IRQ", "STATE", "LINK", "USER")


def time_range(trace: Trace) -> tuple[int, int]:
    """Return the first and last time of what was recorded, ``(0, 1)`` for an empty recording.

    A card goes on writing time marks when nothing happens any more, so they count only where there
    is nothing else.
    """
    of_time = trace.events["kind"].isin(_OF_TIME)
    data = _extent(trace, trace.events[~of_time])
    return data or _extent(trace, trace.events) or (0, 1)


def _extent(trace: Trace, shown: pd.DataFrame) -> tuple[int, int] | None:
    starts, ends = [], []
    for table, end in (
        (trace.words, "t_ps"),
        (shown, "t_ps"),
        (trace.packets, "t_end_ps"),
        (trace.intervals, "t_end_ps"),
    ):
        if len(table):
            starts.append(int(table["t_ps"].min()))
            ends.append(int(table[end].max()))
    return (min(starts), max(*ends, min(starts) + 1)) if starts else None


def directions(devices: list[str]) -> list[tuple[str, str | None]]:
    """Return (sender, receiver) pairs of the devices; a lone device has no partner."""
    if len(devices) == 1:
        return [(devices[0], None)]
    return [(a, b) for a in devices for b in devices if a != b]


def trace_lanes(trace: Trace, devices: list[str], first: str | None) -> list[Lane]:
    """Return all lanes; the way of the words from sender to receiver is one group.

    A direction in which nothing was recorded has no lanes.

    Args:
        devices: names of the devices that were recorded.
        first: sender of the direction to show first, None for the order of the devices.
    """
    ways = sorted(directions(devices), key=lambda way: way[0] != first)
    lanes: list[Lane] = []
    for sender, receiver in ways:
        group = f"{sender} → {receiver}" if receiver else f"{sender} sends, {sender} receives"
        way: list[Lane] = []
        for tap, (end, meaning) in zip(trace.taps, _TAP_MEANING, strict=False):
            device = (receiver or sender) if end else sender
            packets = trace.packets[trace.packets["source"] == f"{device}.{tap}"]
            bars = [packet_bar(row) for row in plain_rows(packets)]
            covered = trace.coverage.words(f"{device}.{tap}")
            way.append(
                Lane(group, f"{device} {tap}", meaning.format(device), bars, coverage=covered)
            )
        if any(lane.bars for lane in way):
            lanes += way
    group = "Flow control and events"
    texts = event_texts(trace.events)
    for device in devices:
        waits = trace.intervals[trace.intervals["device"] == device]
        lanes.append(
            Lane(
                group,
                f"{device} waits",
                f"flows of {device} that wait for credit",
                [wait_bar(row) for row in plain_rows(waits)],
                coverage=trace.coverage.log(device, Kind.PRESSURE),
            )
        )
        events = trace.events[trace.events["device"] == device]
        credits = events[events["kind"] == "CREDIT"]
        lanes.append(
            Lane(
                group,
                f"{device} credits",
                f"credits that {device} sent, took or refused",
                ticks=event_ticks(credits, texts),
                coverage=trace.coverage.log(device, Kind.CREDIT),
            )
        )
        others = events[events["kind"].isin(_SHOWN_EVENTS)]
        lanes.append(
            Lane(
                group,
                f"{device} events",
                f"descriptors, notifications, interrupts, states and link events of {device}",
                ticks=event_ticks(others, texts),
                coverage=trace.coverage.log(device),
            )
        )
    return lanes


def packet_rows(trace: Trace, direction: str) -> list[dict[str, Any]]:
    """Return the packets of one direction tap by tap, in the order in which words pass the taps."""
    packets = trace.packets[trace.packets["direction"] == direction]
    rows = plain_rows(packets)
    order = trace.taps
    return sorted(rows, key=lambda row: (order.index(row["tap"]), row["t_ps"], row["first_row"]))


def verdict_text(row: dict[str, Any]) -> str:
    """Return what the checks say: ``good``, ``bad payload CRC``, ``not all recorded``."""
    wrong = [name for column, name in _VERDICTS if row[column] is False]
    if wrong:
        return f"bad {', '.join(wrong)}"
    return "good" if row["whole"] else "not all recorded"


def packet_bar(row: dict[str, Any]) -> Bar:
    """Return the bar of one row of ``packets``; a packet that fails a check is loud."""
    wrong = [name for column, name in _VERDICTS if row[column] is False]
    css = "packet" if row["kind"] == "RDMA_WRITE" else "other"
    if not row["whole"]:
        css = "cut"
    tip = (
        f"{row['source']}: seq {row['seq']}, flow {row['flow']}, {row['kind']}, "
        f"{row['body_words']} of {row['length']} words, {format_ps(row['t_ps'])} to "
        f"{format_ps(row['t_end_ps'])}"
    )
    if wrong:
        tip += f"; bad {', '.join(wrong)}"
    return Bar(
        row["t_ps"],
        max(row["t_end_ps"], row["t_ps"] + 1),
        "bad" if wrong else css,
        str(row["seq"]) if row["seq"] >= 0 else "?",
        tip,
        loud=bool(wrong),
    )


def wait_bar(row: dict[str, Any]) -> Bar:
    """Return the bar of one row of ``intervals``."""
    opened = " (began before the recording)" if row["open_start"] else ""
    closed = " (had not ended)" if row["open_end"] else ""
    tip = (
        f"{row['device']}: flow {row['flow']} waits for credit from {format_ps(row['t_ps'])}"
        f"{opened} to {format_ps(row['t_end_ps'])}{closed}"
    )
    return Bar(
        row["t_ps"], max(row["t_end_ps"], row["t_ps"] + 1), "wait", f"flow {row['flow']}", tip
    )


def event_ticks(events: pd.DataFrame, texts: Mapping[int, str]) -> list[Tick]:
    """Return a tick for each row of ``events``, with what `event_texts` says of it."""
    rows = zip(events.index, plain_rows(events), strict=True)
    return [_tick(row, texts.get(at, "")) for at, row in rows]


def _tick(row: dict[str, Any], text: str) -> Tick:
    refused = str(row["code"]).startswith("refused")
    css = "refused" if refused else _TICKS.get(row["kind"], "plain")
    flow = f", flow {row['flow']}" if row["flow"] >= 0 else ""
    said = f"{row['code']}{flow}, value {row['value']:#x}"
    return Tick(
        row["t_ps"],
        css,
        f"{row['kind']} {text or said}, {format_ps(row['t_ps'])}",
    )


_TAP_MEANING = (  # in the order of a packet; 0: at the sender, 1: the receiver
    (0, "into the outgoing FIFO of {}"),
    (0, "out of the outgoing FIFO of {}, onto the link"),
    (1, "from the link into the incoming FIFO of {}"),
    (1, "out of the incoming FIFO of {}"),
)


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows as dictionaries of plain Python values, null as None."""
    columns = {
        str(name): [
            None if missing else value for value, missing in zip(*_plain(column), strict=True)
        ]
        for name, column in table.items()
    }
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _plain(column: pd.Series[Any]) -> tuple[list[Any], list[bool]]:
    return column.tolist(), column.isna().tolist()
