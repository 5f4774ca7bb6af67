"""The analysis pressure: waits, what they were spent on by the emulator's own account, and finer credits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.credits.sent_counts import Loaded
from freezeframe.analyzers.declarations import PRESSURE, THROUGHPUT
from freezeframe.analyzers.pressure.model import Path as Speeds
from freezeframe.analyzers.pressure.model import fitted, run_again
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.decoders.trace.encode import desc_value
from freezeframe.emulator.credit import Flow
from freezeframe.emulator.link import TxLink
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import Pair
from tests.analyzers.emulated import pulled, varied_profile
from tests.emulator.reading import Card

LIMIT_PS = 400_000_000


class Watched:
    """What really happened in an emulated pair: when each count was freed, when each wait began and ended."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, seed: int, path: Path, profile: str = "forth"
    ) -> None:
        self.freed: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
        self.waits: list[tuple[int, int, int, int]] = []  # begin, end, flow, critical count
        self._open: dict[str, tuple[int, int]] = {}
        self._watch(monkeypatch, TxLink, "_block", self._block)
        self._watch(monkeypatch, TxLink, "_unblock", self._unblock)
        free_run = Flow.free_run

        def freeing(flow: Flow, cycle: int, words: int) -> list[int]:
            owner = next(n for n in self.target.pair.nics if flow in n.flows)
            begin = owner.bus.clock.edge_ps(cycle)
            runs = self.freed.setdefault((owner.name, flow.number), [])
            runs.append((flow.freed.entered, words, begin))
            return free_run(flow, cycle, words)

        monkeypatch.setattr(Flow, "free_run", freeing)
        self.target = EmulatorTarget(profile, "none", seed)
        self.target.run_until_frozen(LIMIT_PS)
        pull(self.target, path / "x.ff", freeze=True)
        self.view = CaptureView(CaptureFolder.open(path / "x.ff"))

    def _watch(
        self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str, seen: Callable[..., None]
    ) -> None:
        original = getattr(owner, name)

        def watching(link: TxLink, cycle: int, flow: Flow) -> None:
            seen(link, cycle, flow)
            original(link, cycle, flow)

        monkeypatch.setattr(owner, name, watching)

    def _block(self, link: TxLink, cycle: int, flow: Flow) -> None:
        if link is self.target.pair.nics[0].tx_link and link._blocked is None:
            critical = flow.sent.entered + link.queue[0].room - flow.limit
            self._open["A"] = (link.link.edge_ps(cycle), critical)

    def _unblock(self, link: TxLink, cycle: int, flow: Flow) -> None:
        if link is self.target.pair.nics[0].tx_link and link._blocked is not None:
            begin, critical = self._open.pop("A")
            self.waits.append((begin, link.link.edge_ps(cycle), flow.number, critical))

    def freed_at(self, device: str, flow: int, count: int) -> int:
        """Return when the word that makes ``count`` had left the FIFO."""
        for before, words, begin in self.freed[device, flow]:
            if before < count <= before + words:
                return begin + (count - before) * 10_000
        raise AssertionError(f"{count} was never freed")


def test_waits_are_those_that_happened_and_what_was_freed_late_is_never_overstated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Against the emulator's own account, which shares nothing with the analysis."""
    watched = Watched(monkeypatch, 4, tmp_path)
    result = PRESSURE.run(watched.view)
    table = result.tables["waits"]
    found = table[(table["direction"] == "A->B") & (table["packet_words"] > 0)].to_dict("records")
    assert len(found) >= 15
    origin = min(
        (row["t_ps"] - begin for row in found for begin, *_ in watched.waits),
        key=lambda shift: (
            sum(
                any(abs(b + shift - row["t_ps"]) < 60_000 for b, *_ in watched.waits)
                for row in found
            )
            * -1
        ),
    )
    right = 0
    for row in found:
        near = [w for w in watched.waits if abs(w[0] + origin - row["t_ps"]) < 60_000]
        assert len(near) == 1, row
        begin, end, flow, critical = near[0]
        assert abs(end + origin - row["t_end_ps"]) < 60_000
        assert flow == row["flow"]
        waiting = max(0, min(watched.freed_at("B", flow, critical), end) - begin)
        after = end - begin - waiting
        held = row["granularity_ps"] + row["round_trip_ps"]
        assert held <= after + 700_000, (row, after)
        right += (row["receiver_fifo_ps"] > held) == (waiting > after)
    assert right >= 0.8 * len(found)


@pytest.fixture(scope="module")
def seed4(tmp_path_factory: pytest.TempPathFactory) -> AnalysisResult:
    result: AnalysisResult = PRESSURE.run(pulled(tmp_path_factory.mktemp("pressure"), 4))
    return result


def test_the_parts_of_every_wait_add_up_to_it(seed4: AnalysisResult) -> None:
    for row in seed4.tables["waits"].to_dict("records"):
        parts = ("receiver_fifo_ps", "granularity_ps", "round_trip_ps", "lost_ps", "unknown_ps")
        assert sum(row[part] for part in parts) == row["t_end_ps"] - row["t_ps"]
        assert all(row[part] >= 0 for part in parts)


def test_counts_total_and_longest_are_those_of_the_intervals(seed4: AnalysisResult) -> None:
    (track,) = [t for t in seed4.intervals if t.name == "A->B.pressure"]
    lengths = track.t_end_ps - track.t_ps
    assert seed4.figure("A->B.pressure.count").value == len(lengths)
    assert seed4.figure("A->B.pressure.total").value == int(lengths.sum())
    assert seed4.figure("A->B.pressure.longest").value == int(lengths.max())
    flows = [f.value for f in seed4.figures if f.name.startswith("A->B.pressure.flow")]
    assert sum(int(f or 0) for f in flows) == len(lengths)


def test_no_wait_is_blamed_on_a_crossbar_because_there_is_none(seed4: AnalysisResult) -> None:
    assert any("no wait is due to a crossbar" in note for note in seed4.notes)


def test_without_the_receiver_nothing_is_blamed(tmp_path: Path) -> None:
    whole = pulled(tmp_path, 4)
    result = PRESSURE.run(CaptureView(whole.folder, ["A"]))
    assert set(result.tables["waits"]["kind"]) == {"unknown"}
    assert any("without B's recording nothing tells what a wait was for" in n for n in result.notes)


def waiting_pair(*, lost: bool) -> Pair:
    """A waits from 60 us on until 619 words are freed. B tells 640 at 62 us, or that is lost, and 704 at 79 us."""
    pair = Pair()
    pair.traffic(3)
    for i, t_us in enumerate((52, 54, 56), start=1):
        pair.credit(t_us * 1_000_000, 64 * i)
    pair.event("A", 59_000_000, "DESC", "done", desc_value(512, 1, 0, 900))
    pair.event("A", 60_000_000, "PRESSURE", "begin", 300)
    pair.credit(62_000_000, 640, arrives=not lost)
    if lost:
        pair.credit(79_000_000, 704)
    end_ps, credited = (79_500_000, 704) if lost else (62_500_000, 640)
    sent = 1128  # words before the packet: 1128 + 515 - 619 is the limit, 1024
    pair.event("A", end_ps, "PRESSURE", "end", 1024 - (sent - credited))
    for device in "AB":
        pair.event(device, 90_000_000, "LINK", "idle_inserted")
    pair.account(
        "A",
        0,
        sent=1643,
        credited=credited,
        limit=1024,
        received=1643,
        freed=1643,
        reported=credited,
    )
    return pair


def test_a_wait_that_a_lost_credit_would_have_ended_is_blamed_on_it(tmp_path: Path) -> None:
    result = PRESSURE.run(CaptureView(waiting_pair(lost=True).write(tmp_path / "lost.ff")))
    (row,) = result.tables["waits"].to_dict("records")
    assert (row["kind"], row["packet_words"]) == ("credit-lost", 515)
    assert row["lost_ps"] == pytest.approx(17_000_000, abs=20_000)
    assert row["round_trip_ps"] == pytest.approx(500_000, abs=20_000)


def test_a_wait_whose_credit_arrived_is_blamed_on_none_that_was_lost(tmp_path: Path) -> None:
    result = PRESSURE.run(CaptureView(waiting_pair(lost=False).write(tmp_path / "taken.ff")))
    (row,) = result.tables["waits"].to_dict("records")
    assert row["lost_ps"] == 0
    assert row["t_end_ps"] - row["t_ps"] == pytest.approx(2_500_000, abs=20_000)


def test_a_log_that_begins_within_a_wait_calls_it_unknown(tmp_path: Path) -> None:
    pair = waiting_pair(lost=False)
    pair.keep["A", "event_log"] = slice(5, None)
    (row,) = (
        PRESSURE.run(CaptureView(pair.write(tmp_path / "cut.ff")))
        .tables["waits"]
        .to_dict("records")
    )
    assert row["kind"] == "unknown"


def last_wait(view: CaptureView) -> dict[Any, Any]:
    """Return the wait of A that the freeze cut short."""
    table = PRESSURE.run(view).tables["waits"]
    mine: list[dict[Any, Any]] = table[table["direction"] == "A->B"].to_dict("records")
    return max(mine, key=lambda row: row["t_end_ps"])


def test_a_wait_for_credits_that_are_all_lost_is_blamed_on_them(tmp_path: Path) -> None:
    row = last_wait(pulled(tmp_path, 1, fault="credit-lost"))
    assert row["kind"] == "credit-lost"
    assert row["t_end_ps"] - row["t_ps"] > 100_000_000


def test_a_wait_for_a_receiver_that_was_stopped_is_blamed_on_it(tmp_path: Path) -> None:
    target = EmulatorTarget("forth", "none", 4, access_ps=0)
    target.advance(100_000_000)
    Card(target, 1).write("provoke.rx_dma", 1)
    assert target.run_until_frozen(2_000_000_000)  # A's credit-stall
    target.advance(3_000_000_000)
    pull(target, tmp_path / "stopped.ff")
    row = last_wait(CaptureView(CaptureFolder.open(tmp_path / "stopped.ff")))
    assert row["kind"] == "receiver-fifo"
    assert row["t_end_ps"] - row["t_ps"] > 100_000_000


# -- finer credits ---------------------------------------------------------------------------


def loaded(count: int, words: int = 131) -> list[Loaded]:
    return [Loaded(i, 0, words, 0, 0) for i in range(count)]


def speeds(count: int, **changes: Any) -> Speeds:
    values: dict[str, Any] = {
        "dma_ps": 600_000,
        "dma_word_ps": 10_000.0,
        "think_ps": (0,) * count,
        "link_word_ps": 12_800.0,
        "gap_ps": 12_800,
        "latency_ps": 320_000,
        "back_ps": 380_000,
        "first_ps": 0,
        "last_ps": 0,
        "drain_word_ps": 10_500.0,
        "tx_fifo": 1024,
    }
    values |= changes
    return Speeds(**values)


def test_with_room_enough_the_slowest_stage_gives_the_rate() -> None:
    run = run_again(speeds(400), loaded(400), {0: 1 << 20}, 64)
    slowest_ps = 600_000 + 131 * 10_000
    assert run.words_per_s == pytest.approx(131 * 1e12 / max(slowest_ps, 132 * 12_800), rel=0.02)
    assert run.waits == 0


def test_a_window_smaller_than_the_round_trip_gives_a_window_a_round_trip() -> None:
    far = speeds(400, latency_ps=20_000_000, back_ps=20_000_000)
    run = run_again(far, loaded(400), {0: 262}, 1)
    round_ps = 262 * 12_800 + 40_000_000
    assert run.words_per_s == pytest.approx(262 * 1e12 / round_ps, rel=0.05)


def test_finer_credits_never_slow_the_model_down() -> None:
    far = speeds(200, latency_ps=6_000_000, back_ps=7_000_000)
    rates = [run_again(far, loaded(200), {0: 1024}, unit).words_per_s for unit in (8, 64, 256, 512)]
    assert all(a >= b for a, b in itertools.pairwise(rates))
    assert rates[0] > 1.05 * rates[-1]


def test_a_model_that_is_too_fast_is_slowed_to_what_was_recorded_and_one_too_slow_is_left() -> None:
    packets = loaded(100)
    fast = run_again(speeds(100), packets, {0: 4096}, 64).words_per_s
    slower = fitted(speeds(100), packets, {0: 4096}, 64, 0.7 * fast)
    assert run_again(slower, packets, {0: 4096}, 64).words_per_s == pytest.approx(
        0.7 * fast, rel=0.01
    )
    assert fitted(speeds(100), packets, {0: 4096}, 64, 2 * fast) == speeds(100)


def test_no_packets_and_a_unit_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing to run: 0 packets"):
        run_again(speeds(0), [], {0: 100}, 64)
    with pytest.raises(ValueError, match="credit unit of 0 words"):
        run_again(speeds(1), loaded(1), {0: 1024}, 0)


@pytest.mark.parametrize(
    ("seed", "latency_ps", "message"),
    [(7, 10_000_000, 128), (7, 6_000_000, 512), (4, 6_000_000, 512)],
)
def test_what_finer_credits_gain_by_the_estimate_they_gain_when_the_card_is_run_so(
    tmp_path: Path, seed: int, latency_ps: int, message: int
) -> None:
    """FORTH 4.3: a finer estimate of free space, fewer back-pressure events, more throughput."""
    runs = {}
    for unit in (512, 64):
        profile = varied_profile(
            tmp_path / f"unit{unit}.toml", credit_unit_words=unit, active=1, rx_words=1088,
            latency_ps=latency_ps, message_words=message,
        )  # fmt: skip
        runs[unit] = pulled(tmp_path, seed, profile=profile, limit_us=250)
    rate = {u: THROUGHPUT.run(m).figure("A.out.throughput.mean").value for u, m in runs.items()}
    assert rate[512] is not None
    assert rate[64] is not None
    gained = 100 * (rate[64] / rate[512] - 1)
    coarse, fine = PRESSURE.run(runs[512]), PRESSURE.run(runs[64])
    estimate = coarse.figure("A->B.credit_unit.64.gain")
    assert estimate.value is not None
    assert gained > 5
    assert abs(estimate.value - gained) <= 5
    waited = [r.figure("A->B.pressure.counted").value for r in (coarse, fine)]
    assert waited[1] is not None
    assert waited[0] is not None
    assert waited[1] < waited[0]


def test_the_paper_s_gain_of_finer_credits_is_foretold_from_the_coarse_run(tmp_path: Path) -> None:
    """FORTH 4.3: +10 to 15 %; here foretold from a capture with coarse credits, and found in one with finer ones."""
    coarse = streamed(tmp_path, "forth-coarse")
    fine = streamed(tmp_path, "forth-fine")
    before = THROUGHPUT.run(coarse).figure("A.out.throughput.mean").value
    after = THROUGHPUT.run(fine).figure("A.out.throughput.mean").value
    assert before is not None
    assert after is not None
    estimate = PRESSURE.run(coarse).figure("A->B.credit_unit.63.gain")
    assert estimate.value is not None
    assert abs(estimate.value - 100 * (after / before - 1)) <= 3
    assert estimate.value > 5
    assert PRESSURE.run(fine).figure("A->B.pressure.count").value == 0


def streamed(path: Path, profile: str) -> CaptureView:
    """A sends whole messages back to back for 400 us."""
    target = EmulatorTarget(profile, "none", 1, workload="stream-4KiB")
    target.run_until_frozen(LIMIT_PS)
    pull(target, path / f"{profile}.ff", freeze=True)
    return CaptureView(CaptureFolder.open(path / f"{profile}.ff"))
