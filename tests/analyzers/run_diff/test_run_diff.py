"""Two runs: aligned packet by packet, the first that differs, and what changed in the numbers."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.run_diff.compare import RunDiff, diff_runs
from freezeframe.analyzers.run_diff.packets import TapRuns
from freezeframe.analyzers.run_diff.statistics import compare_rates, compare_samples
from freezeframe.analyzers.view import CaptureView
from tests.analyzers.bench_pair import Crossing, Pair
from tests.analyzers.emulated import pulled


def workload(seed: int = 5, first_seq: int = 100, skip: int = 0) -> tuple[Pair, list[Crossing]]:
    """Return a pair that sends thirty packets over two flows; ``skip`` the first so many of them."""
    pair = Pair(seed)
    pair._seq["A"] = first_seq
    lengths = [pair.random.randrange(1, 60) for _ in range(30)]
    sent = [pair.send(flow=number % 2, length=length) for number, length in enumerate(lengths)]
    for crossing in sent[:skip]:
        pair.crossings.remove(crossing)
    return pair, sent


def compared(tmp_path: Path, a: Pair, b: Pair) -> RunDiff[TapRuns]:
    return diff_runs(
        CaptureView(a.write(tmp_path / "a.ff")), CaptureView(b.write(tmp_path / "b.ff"))
    )


def tap(found: RunDiff[TapRuns], source: str) -> TapRuns:
    return next(one for one in found.taps if one.source == source)


def test_a_run_against_itself_has_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, workload()[0], workload()[0])
    assert not found.different
    assert found.first is None
    assert tap(found, "A.tx_enq").equal == 30
    assert all(one.effect == 0 for one in found.samples if one.effect is not None)


def test_the_first_packet_that_differs_is_named_with_what_happened_to_it(tmp_path: Path) -> None:
    bad, sent = workload()
    for words in sent[17].from_tap("rx_enq"):
        words[6] = (2, words[6][1] ^ 8)
    found = compared(tmp_path, workload()[0], bad)
    assert found.first is not None
    assert (found.first.source, found.first.first_text()) == (
        "B.rx_enq",
        "flow 1, packet 117: word 4 altered",
    )
    assert [len(one.altered) for one in found.taps if one.source.startswith("B.rx")] == [1, 1]
    assert tap(found, "A.tx_deq").differing == 0
    assert found.different


def test_sequence_numbers_may_begin_anywhere(tmp_path: Path) -> None:
    bad, sent = workload(first_seq=0xFFF5)
    for words in sent[17].from_tap("tx_deq"):
        del words[5]
    found = compared(tmp_path, workload()[0], bad)
    assert tap(found, "A.tx_deq").equal == 29
    assert found.first is not None
    assert found.first.first_text() == "flow 1, packet 6 (117 in run A): word 3 omitted"


def test_what_only_one_run_recorded_at_its_ends_is_no_difference(tmp_path: Path) -> None:
    found = compared(tmp_path, workload()[0], workload(skip=8)[0])
    assert tap(found, "A.tx_enq").outside == (8, 0)
    assert tap(found, "A.tx_enq").equal == 22
    assert not any(one.differing for one in found.taps)


def test_a_packet_that_never_came_in_one_run_is_missing_there(tmp_path: Path) -> None:
    bad, sent = workload()
    sent[12].rx_enq.clear()
    sent[12].rx_deq.clear()
    found = compared(tmp_path, workload()[0], bad)
    assert [p.seq for p in tap(found, "B.rx_enq").missing] == [112]
    assert found.first is not None
    assert found.first.first_text() == "flow 0, packet 112: only run A has it"


def test_runs_with_other_traffic_have_no_packet_in_common_and_that_is_said(tmp_path: Path) -> None:
    found = compared(tmp_path, workload(5)[0], workload(6)[0])
    assert tap(found, "A.tx_enq").equal == 0
    assert found.first is None
    assert found.notes[0].startswith(
        "no packet of run A carries what one of run B does at A.tx_enq"
    )


def test_a_longer_delay_is_a_changed_distribution_with_its_effect(tmp_path: Path) -> None:
    slow, sent = workload()
    for crossing in sent:
        crossing.lag_ps = 2_000_000
    found = compared(tmp_path, workload()[0], slow)
    changed = {one.name: one for one in found.samples if one.changed}
    delay = changed["B.rx_enq to B.rx_deq, delay"]
    assert delay.effect == pytest.approx(1.0)
    assert delay.median[1] - delay.median[0] == pytest.approx(1_800_000, abs=20_000)  # type: ignore[operator]
    assert "A.tx_enq, packet length" not in changed


def test_counters_are_compared_as_rates_sorted_by_their_change(tmp_path: Path) -> None:
    a, b = workload()[0], workload()[0]
    for pair, cycles, counts in ((a, 100_000, (500, 20, 0)), (b, 200_000, (1_000, 200, 90))):
        pair.set("A", "frozen.freeze_cycle_lo", value=cycles)
        pair.set("A", "frozen.freeze_cycle_hi", value=0)
        for name, count in zip(("descriptors", "interrupts", "bus_retries"), counts, strict=True):
            pair.counter("A", name, count)
    found = compared(tmp_path, a, b)
    rates = {one.name: one for one in found.counters}
    assert [one.name for one in found.counters][:2] == ["A.bus_retries", "A.interrupts"]
    assert rates["A.bus_retries"].relative == 1.0
    assert rates["A.interrupts"].relative == pytest.approx(0.8)
    assert rates["A.descriptors"].relative == 0
    assert [rates[f"A.{n}"].changed for n in ("bus_retries", "interrupts", "descriptors")] == [
        True, True, False,
    ]  # fmt: skip


def test_events_are_compared_over_the_time_their_log_covers(tmp_path: Path) -> None:
    a, b = workload()[0], workload()[0]
    for pair, period_ps in ((a, 1_000_000), (b, 250_000)):
        for t_ps in range(50_000_000, 60_000_000, period_ps):
            pair.event("A", t_ps, "LINK", "idle_inserted")
    found = compared(tmp_path, a, b)
    (link,) = [one for one in found.events if one.name.startswith("A LINK")]
    assert link.count == (10, 40)
    assert link.relative == pytest.approx(0.75, abs=0.05)


def test_what_was_set_otherwise_and_what_froze_it_stand_first(tmp_path: Path) -> None:
    a, b = workload()[0], workload()[0]
    b.causes["B"] = ["pay-crc"]
    a.set("A", "ctl.stall_limit", value=100)
    b.set("A", "ctl.stall_limit", value=200)
    b.rx_fifo = 4096
    said = {(s.name, s.a, s.b) for s in compared(tmp_path, a, b).settings}
    assert ("B froze by", "host", "pay-crc") in said
    assert ("A.ctl.stall_limit", "0x64", "0xc8") in said
    assert ("A.rx_fifo", "2,048", "4,096") in said


def test_a_good_and_a_bad_run_of_the_emulated_pair_diverge_where_the_fault_struck(
    tmp_path: Path,
) -> None:
    good = pulled(tmp_path, 1001, fault="payload-bit-flip", limit_us=20_000)
    bad = pulled(tmp_path, 1001, fault="word-omitted", limit_us=20_000)
    found = diff_runs(good, bad)
    common = [one for one in found.taps if one.equal]
    assert common, "the two faults of one seed share their traffic up to the fault"
    assert found.different
    found.to_json()


def test_of_different_devices_only_what_both_have_is_compared(tmp_path: Path) -> None:
    a, b = workload()[0], workload()[0]
    left = CaptureView(a.write(tmp_path / "a.ff", "A"))
    right = CaptureView(b.write(tmp_path / "b.ff", "AB"))
    found = diff_runs(left, right)
    assert {one.source[0] for one in found.taps} == {"A"}
    assert "only run B has B" in found.notes


# ---- the statistics, against brute force


values = st.lists(st.integers(0, 20), min_size=8, max_size=30)


@settings(max_examples=80, deadline=None)
@given(values, values)
def test_distance_and_effect_are_those_of_their_definitions(a: list[int], b: list[int]) -> None:
    found = compare_samples("x", "", np.array(a), np.array(b))
    steps = [
        abs(sum(v <= x for v in a) / len(a) - sum(v <= x for v in b) / len(b)) for x in (*a, *b)
    ]
    pairs = list(itertools.product(a, b))
    effect = (sum(x < y for x, y in pairs) - sum(x > y for x, y in pairs)) / len(pairs)
    assert found.distance == pytest.approx(max(steps))
    assert found.effect == pytest.approx(effect)


def test_the_chance_of_a_distance_is_that_seen_in_samples_of_one_distribution() -> None:
    rng = np.random.default_rng(3)
    chances = [
        compare_samples("x", "", *rng.integers(0, 1 << 40, (2, 60))).chance or 0.0
        for _ in range(2_000)
    ]
    for level in (0.05, 0.2, 0.5):
        share = float(np.mean(np.array(chances) < level))
        assert share == pytest.approx(level, abs=0.4 * level)


def test_too_few_values_say_nothing() -> None:
    found = compare_samples("x", "", np.arange(7), np.arange(100, 200))
    assert (found.distance, found.chance, found.effect, found.changed) == (None, None, None, False)
    assert found.median == (3.0, 149.5)
    empty = compare_samples("x", "", np.arange(0), np.arange(0))
    assert empty.median == (None, None)


def test_rates_are_compared_by_their_poisson_error() -> None:
    found = compare_rates("x", (100, 1.0), (200, 1.0))
    assert found.sigmas == pytest.approx(100 / math.sqrt(300))
    assert found.changed
    assert not compare_rates("x", (100, 1.0), (120, 1.0)).changed
    assert not compare_rates("x", (100, 1.0), (200, 1.0), clump=512).changed
    # Eight packets in either run are no rate, although one run was eight times as long.
    assert not compare_rates("packets", (8, 670e-6), (8, 85e-6)).changed
    assert compare_rates("packets", (800, 670e-6), (800, 85e-6)).changed
    unknown = compare_rates("x", (100, 0.0), (5, 1.0))
    assert (unknown.rate, unknown.relative, unknown.changed) == ((None, 5.0), 0.0, False)
