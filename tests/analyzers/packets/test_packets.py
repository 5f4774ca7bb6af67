"""Packets surveyed and looked at over time: what is kept, what is summed, what is counted."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from freezeframe.analyzers.packets.activity import packet_activity
from freezeframe.analyzers.packets.latencies import ALL, Latencies
from freezeframe.analyzers.packets.reduced import Nearest, Reduced, Stretches
from freezeframe.analyzers.packets.survey import survey_packets
from tests.decoders.iwarp.breaches import break_stream
from tests.decoders.iwarp.make import make_stream


def _rows(*rows: tuple[int, int, str]) -> pa.Table:
    begin, end, kind = zip(*rows, strict=True)
    return pa.table(
        {
            "t_ps": pa.array(begin, pa.int64()),
            "t_end_ps": pa.array(end, pa.int64()),
            "kind": pa.array(kind).dictionary_encode(),
            "connection": pa.array([0] * len(rows), pa.int64()),
            "latency_ps": pa.array([b - a for a, b, _ in rows], pa.int64()),
            "size_B": pa.array([10] * len(rows), pa.int64()),
            "whole": pa.array([True] * len(rows)),
        }
    )


def test_few_rows_stay_one_by_one_in_order_of_time() -> None:
    kept = Reduced(Stretches(0, 100, 4), 2)
    kept.take(_rows((70, 80, "Write"), (10, 20, "Read")))
    rows = kept.rows()
    assert rows is not None
    assert (kept.whole, rows.column("t_ps").to_pylist(), list(kept.summed())) == (
        True,
        [10, 70],
        [],
    )


def test_more_rows_are_summed_by_the_stretches_through_which_they_last() -> None:
    kept = Reduced(Stretches(0, 100, 4), 2)
    kept.take(_rows((70, 80, "Write"), (10, 60, "Read")))
    kept.take(_rows((0, 5, "Write")))
    assert (kept.whole, kept.rows(), kept.count) == (False, None, 3)
    assert [(each.t_ps, each.t_end_ps, each.kinds) for each in kept.summed()] == [
        (0, 25, {"Read": 1, "Write": 1}),
        (25, 50, {"Read": 1}),
        (50, 75, {"Read": 1, "Write": 1}),
        (75, 100, {"Write": 1}),
    ]


def test_the_nearest_rows_of_a_connection_stay() -> None:
    near = Nearest(0, 50, 2)
    near.take(_rows((0, 5, "Write"), (40, 45, "Read")))
    near.take(_rows((20, 90, "Send"), (70, 80, "Write")))
    rows = near.rows()
    assert rows is not None
    assert rows.column("kind").to_pylist() == ["Send", "Read"]


def test_latencies_are_exact_at_the_ends_and_close_between() -> None:
    took = Latencies()
    took.take(_rows(*((0, 1000 * k, "Read") for k in range(1, 101)), (0, 7, "Write")))
    every, write = (row for row in took.rows() if row.connection == ALL)
    assert (every.kind, every.count, every.size_B) == ("Read", 100, 1000)
    assert (every.least_ps, every.most_ps) == (1000, 100_000)
    assert every.median_ps == pytest.approx(50_000, rel=0.012)
    assert every.p99_ps == pytest.approx(99_000, rel=0.012)
    assert (write.kind, write.median_ps) == ("Write", 7)


def test_the_connection_with_a_finding_comes_first_and_its_rows_are_there(tmp_path: Path) -> None:
    capture, truth = break_stream("rdmap-ord", 3)
    (tmp_path / "x.pcap").write_bytes(capture.pcap())
    made = survey_packets(tmp_path / "x.pcap")
    first = made.connections[0]
    assert (first.broken, first.number) == (True, truth.breaches[0].connection)
    assert made.connections_in_all == len(made.connections) == 2
    assert made.end_ps > made.begin_ps == 0
    activity = packet_activity(tmp_path / "x.pcap", made, [first.number], most=400, near=5)
    fpdus = None if activity.near_fpdus is None else activity.near_fpdus.rows()
    assert fpdus is not None
    assert len(fpdus) == 5
    assert made.explanation.findings[0].first.fpdu in fpdus.column("number").to_pylist()


def test_the_throughput_adds_up_to_the_bytes_of_the_streams(tmp_path: Path) -> None:
    (tmp_path / "x.pcap").write_bytes(make_stream(1)[0].pcap())
    made = survey_packets(tmp_path / "x.pcap")
    numbers = [each.number for each in made.connections]
    rates = packet_activity(tmp_path / "x.pcap", made, numbers, most=400, near=5).rates
    width_s = float(rates.all("", "").t_ps[1] - rates.all("", "").t_ps[0]) / 1e12
    for each in made.connections:
        sent = sum(rates.side(each.number, side, "", "").value[:-1].sum() for side in (0, 1))
        assert sent * 1e6 / 8 * width_s == pytest.approx(each.carried_B, rel=1e-9)
