"""The iWARP paper's numbers as ratios to TCP in the same run, beside ours over loopback: absolute times mean nothing here.

Source: D. Dalessandro, A. Devulapalli, P. Wyckoff, "Design and Implementation of the iWarp Protocol in Software",
table 1, figure 2 and section 6.3. Rows with a hardware peer have none here, and no estimate stands in their place.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from freezeframe.gui.cli.output import progress_bar, table
from freezeframe.gui.cli.work.iwarp_compare import (
    GATHER,
    OFF,
    ON,
    TCP,
    Comparison,
    Measured,
    faster,
    middle,
    ratio,
)
from freezeframe.gui.text import printable

_NO_HARDWARE = "no hardware peer here"
_SMALL_B, _LARGE_B, _LOAD_SMALL_B = 4, 65_536, 4096
_FIGURE_2_B = (4, 64, 512, 1024, 4096, 16_384)  # the paper draws these, and prints no numbers
_ROUNDS = 9
_STREAM_B = 1 << 26  # octets of a round, at most
_MOST_MESSAGES = 4000
_LINE_MBIT = 940.0  # of gigabit Ethernet, less its framing and TCP's: "full line rate"

Found = Mapping[str, list[Measured]]


class Row(NamedTuple):
    """A number of the paper: ``paper`` is its ratio (None: drawn, not printed).

    ``measure`` gives ours from the runs, None where hardware is needed. ``bound``: ``most`` where less is better,
    ``least`` where more is.
    """

    key: str
    label: str
    paper: float | None
    measure: Callable[[Mapping[str, Found]], float] | None
    bound: str
    how: str


def _wall(run: str, name: str, against: str = TCP) -> Callable[[Mapping[str, Found]], float]:
    return lambda runs: ratio(runs[run], name, against)


def _rate(run: str, name: str) -> Callable[[Mapping[str, Found]], float]:
    return lambda runs: 1 / ratio(runs[run], name, faster(runs[run], TCP, GATHER))


def _load(run: str, name: str, *, sender: bool) -> Callable[[Mapping[str, Found]], float]:
    def of(measured: Measured) -> float:
        return measured.sender_ns if sender else measured.receiver_ns

    return lambda runs: ratio(runs[run], name, faster(runs[run], TCP, GATHER), of)


_PING = "half round trip by RDMA Writes, by TCP's"
_SPRAY = "RDMA Writes one way, by TCP's"
_CPU = "processor time a message, by TCP's"

ROWS: tuple[Row, ...] = (
    Row("latency-4-off", "table 1: 4 B, software, CRC off / TCP", 62.7 / 62.7, _wall("ping-4", OFF), "most", _PING),
    Row("latency-4-on", "table 1: 4 B, software, CRC on / TCP", 62.2 / 62.7, _wall("ping-4", ON), "most", _PING),
    Row("latency-64k-off", "table 1: 64 kB, software, CRC off / TCP", 687.5 / 624.5, _wall("ping-65536", OFF), "most", _PING),
    Row("latency-64k-on", "table 1: 64 kB, software, CRC on / TCP", 1401.9 / 624.5, _wall("ping-65536", ON), "most", _PING),
    Row("crc-cost-64k", "table 1: 64 kB, CRC on / CRC off", 1401.9 / 687.5, _wall("ping-65536", ON, OFF), "most", _PING),
    Row("hw-hw-4", "table 1: 4 B, hardware to hardware / TCP", 15.0 / 62.7, None, "most", ""),
    Row("hw-hw-64k", "table 1: 64 kB, hardware to hardware / TCP", 609.7 / 624.5, None, "most", ""),
    Row("hw-sw-4", "table 1: 4 B, hardware to software / TCP", 62.8 / 62.7, None, "most", ""),
    Row("hw-sw-64k", "table 1: 64 kB, hardware to software / TCP", 950.4 / 624.5, None, "most", ""),
    Row("sw-hw-4", "table 1: 4 B, software to hardware / TCP", 61.2 / 62.7, None, "most", ""),
    Row("sw-hw-64k", "table 1: 64 kB, software to hardware / TCP", 937.9 / 624.5, None, "most", ""),
    Row("throughput-off", "figure 2: 64 kB, CRC off / TCP (line rate)", 1.0, _rate("stream-65536", OFF), "least", _SPRAY),
    Row("throughput-on", "figure 2: 64 kB, CRC on / off (100 Mbit/s less)", (_LINE_MBIT - 100) / _LINE_MBIT,
        lambda runs: 1 / ratio(runs["stream-65536"], ON, OFF), "least", "RDMA Writes one way, CRC on by off"),
    Row("throughput-hw", "figure 2: hardware to hardware / TCP", None, None, "least", ""),
    *(
        Row(f"throughput-{size}", f"figure 2: {size:,} B, CRC off / TCP", None, _rate(f"stream-{size}", OFF), "least", _SPRAY)
        for size in _FIGURE_2_B
    ),
    Row("sender-off", "figure 3: sender's load, CRC off / TCP (50 / 35 %)", 50 / 35, _load("stream-65536", OFF, sender=True), "most", _CPU),
    Row("sender-on", "figure 3: sender's load, CRC on / TCP (70 / 35 %)", 70 / 35, _load("stream-65536", ON, sender=True), "most", _CPU),
    Row("receiver-off", "figure 3: receiver's load, CRC off / TCP (both 90 %)", 1.0, _load("stream-65536", OFF, sender=False), "most", _CPU),
    Row("sender-4k-off", "figure 4: sender's load, 4 kB, CRC off / TCP (+20 %)", 1.2, _load("stream-4096", OFF, sender=True), "most", _CPU),
    Row("sender-4k-on", "figure 4: sender's load, 4 kB, CRC on / TCP (+40 %)", 1.4, _load("stream-4096", ON, sender=True), "most", _CPU),
    Row("receiver-4k-off", "figure 4: receiver's load, 4 kB, CRC off / TCP (both 90 %)", 1.0, _load("stream-4096", OFF, sender=False), "most", _CPU),
    Row("sender-hw", "sender's load, hardware / TCP (5 / 35 %)", 5 / 35, None, "most", ""),
    Row("receiver-hw", "receiver's load, hardware / TCP (under 5 / 90 %)", 5 / 90, None, "most", ""),
)  # fmt: skip

_TOLERANCE = 0.05
"""A ratio comes out where it is no worse than the paper's by more than this share of it."""


class Result(NamedTuple):
    """A row, our ratio (None: no hardware), and whether it is as good as the paper's (None: nothing to compare)."""

    row: Row
    ours: float | None
    comes_out: bool | None


def reproduce_iwarp(*, show: bool) -> tuple[dict[str, Any], bool]:
    """Measure; return the ratios beside the paper's as a document, and whether all that can be compared come out.

    ``show`` prints them as a table.

    Raises:
        TargetError: the other end cannot be started.
    """
    started = time.monotonic()
    runs = _measure()
    results = [_result(row, runs) for row in ROWS]
    if show:
        _print(results, runs, time.monotonic() - started)
    return _document(results, runs), all(result.comes_out is not False for result in results)


def _measure() -> dict[str, Found]:
    sizes = (*_FIGURE_2_B, _LARGE_B)
    runs: dict[str, Found] = {}
    with progress_bar("iwarp", "runs") as update, Comparison() as comparison:
        for size in (_SMALL_B, _LARGE_B):
            update(len(runs), len(sizes) + 2, f"round trips of {size:,} octets")
            runs[f"ping-{size}"] = comparison.pings(size, 100, _ROUNDS)
        for size in sizes:
            update(len(runs), len(sizes) + 2, f"streams of {size:,} octets")
            count = min(_STREAM_B // size, _MOST_MESSAGES)
            runs[f"stream-{size}"] = comparison.streams(size, count, _ROUNDS)
    return runs


def _result(row: Row, runs: Mapping[str, Found]) -> Result:
    if row.measure is None:
        return Result(row, None, None)
    ours = row.measure(runs)
    if row.paper is None:
        return Result(row, ours, None)
    worse = ours / row.paper if row.bound == "most" else row.paper / ours
    return Result(row, ours, worse <= 1 + _TOLERANCE)


def _print(results: list[Result], runs: Mapping[str, Found], took_s: float) -> None:
    rows = [
        (
            row.label,
            "drawn" if row.paper is None else f"{row.paper:.2f}",
            "-" if ours is None else f"{ours:.2f}",
            "" if came is not False else "<-",
            row.how or _NO_HARDWARE,
        )
        for row, ours, came in results
    ]
    print(table(("quantity", "paper", "ours", "", "how measured"), rows, right=(1, 2)))
    compared = [result.comes_out for result in results if result.comes_out is not None]
    print(
        f"\n{sum(compared)} of {len(compared)} ratios are no worse than the paper's by more than "
        f"{100 * _TOLERANCE:.0f} %, all of them emerge, in {took_s:.0f} s; {_absolute(runs)}"
    )


def _absolute(runs: Mapping[str, Found]) -> str:
    half_us = {name: middle(runs[f"ping-{_SMALL_B}"], name) / 1000 for name in (TCP, ON)}
    rates = {name: 1000 * _LARGE_B / middle(runs[f"stream-{_LARGE_B}"], name) for name in (TCP, ON)}
    return printable(
        f"here TCP takes {half_us[TCP]:.1f} us for 4 octets and carries {rates[TCP]:,.0f} MB/s, "
        f"iWARP with CRC {half_us[ON]:.1f} us and {rates[ON]:,.0f} MB/s."
    )


def _document(results: list[Result], runs: Mapping[str, Found]) -> dict[str, Any]:
    return {
        "paper": "iwarp",
        "ratios": [
            {
                "quantity": row.key, "label": row.label, "kind": "emerges", "paper": row.paper, "ours": ours,
                "better": "less" if row.bound == "most" else "more", "comes_out": came,
                "how": row.how, "remark": "" if row.measure else _NO_HARDWARE,
            }
            for row, ours, came in results
        ],
        "median_ns": {run: {name: middle(found, name) for name in found} for run, found in runs.items()},
    }  # fmt: skip
