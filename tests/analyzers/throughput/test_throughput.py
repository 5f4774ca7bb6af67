"""The analysis throughput, on captures of the emulated pair and on samplers made by hand."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.declarations import THROUGHPUT
from freezeframe.analyzers.throughput.analysis_code import MB
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder, CaptureWriter, DeviceCapture, Gap
from tests.analyzers.bench_pair import Pair
from tests.analyzers.emulated import pulled
from tests.gui.made_capture import made_capture

PERIOD = 1000  # bus cycles
PER_WORD = 8 / (PERIOD / 100e6) / MB


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> CaptureView:
    return pulled(tmp_path_factory.mktemp("throughput"), 4)


@pytest.fixture(scope="module")
def result(emulated: CaptureView) -> AnalysisResult:
    result: AnalysisResult = THROUGHPUT.run(emulated)
    return result


def sampler(
    path: Path, words: list[int], *, first: int = 0, depth: int = 64, newest: int | None = None,
    gaps: tuple[tuple[int, int], ...] = (), pointer: int | None = None, log_ends_ps: int | None = None,
) -> AnalysisResult:  # fmt: skip
    """Return the result for A's sampler with these words out in its intervals; nothing comes in."""
    pair = Pair()
    pair.traffic(2)
    if log_ends_ps is not None:
        for t_ps in (60_000_000, log_ends_ps):
            pair.event("A", t_ps, "IRQ", "raised")
        pair.cause_cycle["A"] = 6_000_000
    counts = (np.cumsum([first, *words], dtype=np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    n = len(counts)
    registers = {
        "ctl.sample_period": PERIOD,
        "sampler.write_ptr": n % depth if pointer is None else pointer,
        "sampler.status": int(n >= depth),
        "sampler.last_cycle_lo": 6_000_000 if newest is None else newest,
        "sampler.last_cycle_hi": 0,
    }
    for name, value in registers.items():
        pair.set("A", name, value=value)
    made = pair.write(path / "made.ff")
    slots = np.zeros((depth, 2), np.uint32)
    for i, count in enumerate(counts.tolist()):
        slots[i % depth, 0] = count
    for start, size in gaps:
        slots[start : start + size] = 0
    writer = CaptureWriter(path / "sampled.ff", source="emu:")
    a, b = made.devices
    found = [Gap(start, size, "not read") for start, size in gaps]
    identity = dataclasses.replace(a.identity, sampler_depth=depth)
    writer.add_device(
        DeviceCapture(a.index, a.base, identity, a.registers, a.memories, slots, found)
    )
    writer.add_device(b)
    result: AnalysisResult = THROUGHPUT.run(CaptureView(CaptureFolder.open(writer.commit())))
    return result


def test_the_limits_are_those_of_the_paper(result: AnalysisResult) -> None:
    """FORTH 2.6: 596 MB/s of the link pair, 762.9 MB/s of the bus, MB = 2^20."""
    (series,) = [s for s in result.series if s.name == "A.out.throughput"]
    assert series.limit == pytest.approx(596.05, abs=0.01)
    assert "762.9 MiB/s" in result.figure("A.out.throughput.bus_share").note


def test_what_one_end_sends_the_other_receives(result: AnalysisResult) -> None:
    for out, into in (("A.out", "B.in"), ("B.out", "A.in")):
        sent = result.figure(f"{out}.throughput.mean").value
        got = result.figure(f"{into}.throughput.mean").value
        assert sent is not None
        assert got is not None
        assert got == pytest.approx(sent, rel=0.01)


def test_the_mean_is_the_words_counted_from_the_first_sample_to_the_last_before_the_cause(
    emulated: CaptureView, result: AnalysisResult
) -> None:
    device = emulated.folder.device("A")
    assert device.samples is not None
    n = device.registers.value("sampler.write_ptr")
    newest = device.registers.value64("sampler.last_cycle_")
    cause = device.registers.value64("ctl.cause_cycle_")
    assert n is not None
    assert newest is not None
    assert cause is not None
    n -= sum(newest - 1024 * back > cause for back in range(n))
    words = int(device.samples[n - 1, 0]) - int(device.samples[0, 0])
    expected = words * 8 / ((n - 1) * 1024 / 100e6) / MB
    assert result.figure("A.out.throughput.mean").value == pytest.approx(expected)


def test_flows_of_a_trace_add_up_to_its_words_from_the_first_header_on(
    emulated: CaptureView, result: AnalysisResult
) -> None:
    for device, tap in (("A", "tx_deq"), ("B", "rx_enq")):
        table = result.tables["flows"]
        mine = table[(table["device"] == device) & (table["tap"] == tap)]
        stream = emulated.stream(device, tap)
        assert stream is not None
        begin = next(packet.start for packet in stream.packets if packet.has_head)
        assert int(mine["words"].sum()) == len(stream) - begin
        assert mine["flow"].min() >= 0


def test_no_stretch_of_a_trace_carries_more_than_a_word_each_cycle(
    emulated: CaptureView, result: AnalysisResult, tmp_path: Path
) -> None:
    """A word whose cycle lies on the edge of two stretches is in both by its share of time."""
    pair = Pair()
    pair.send(length=83)  # 86 words in 64 stretches: an edge in every second word
    full = THROUGHPUT.run(CaptureView(pair.write(tmp_path / "full.ff")))
    for made in (result, full):
        traced = [each for each in made.series if each.name.endswith(".traced")]
        assert traced
        for each in traced:
            assert each.limit is not None
            assert max(each.value) <= each.limit * (1 + 2 * 200e-6)
        assert not any("closer than a cycle" in note for note in made.notes)
    (alone,) = (each for each in full.series if each.name == "A.out.flow0.traced")
    assert alone.value == pytest.approx(np.full(len(alone.value), alone.limit), rel=1e-3)


def test_words_that_stand_closer_than_a_cycle_are_said_to_be_damage(tmp_path: Path) -> None:
    pair = Pair()
    pair.send(length=83)
    view = CaptureView(pair.write(tmp_path / "close.ff"))
    stream = view.stream("A", "tx_deq")
    assert stream is not None
    stream.t_ps = stream.t_ps[0] + (stream.t_ps - stream.t_ps[0]) // 2
    assert [note for note in THROUGHPUT.run(view).notes if note.startswith("A.tx_deq")] == [
        "A.tx_deq: in 43 of 43 stretches the words stand closer than a cycle of the link, so records are damaged: "
        "the rates of its flows lie above the limit there."
    ]


def test_counts_of_flows_are_those_of_the_freeze_bank(
    emulated: CaptureView, result: AnalysisResult
) -> None:
    for flow in range(8):
        counted = emulated.value("A", "frozen_flow.words_sent", flow)
        if counted:
            assert result.figure(f"A.out.flow{flow}.words").value == counted


def test_everything_is_json(result: AnalysisResult) -> None:
    text = json.dumps(result.to_json(), allow_nan=False)
    assert json.loads(text)["analysis"] == "throughput"


def test_a_rate_has_the_uncertainty_of_a_word_and_of_the_crystal_of_its_card(
    tmp_path: Path,
) -> None:
    result = sampler(tmp_path, [500] * 10)
    mean = result.figure("A.out.throughput.mean")
    assert mean.value == pytest.approx(500 * PER_WORD)
    crystal = 500 * PER_WORD * 100e-6  # 100 ppm by the description of the card
    assert mean.uncertainty == pytest.approx(PER_WORD / 10 + crystal)
    assert result.figure("A.out.throughput.max").uncertainty == pytest.approx(PER_WORD + crystal)


def test_counts_that_wrap_and_a_memory_that_wrapped_give_the_words_in_order(tmp_path: Path) -> None:
    words = list(range(100, 190))
    result = sampler(tmp_path, words, first=0xFFFF_F000, depth=64)
    table = result.tables["samples"]
    assert table["words_out"].tolist() == words[-63:]
    assert result.figure("A.out.throughput.max").value == pytest.approx(189 * PER_WORD)
    assert (np.diff(table["t_ps"]) == PERIOD * 10_000).all()


def test_a_sample_that_was_not_read_leaves_a_gap_in_the_series_and_in_no_figure(
    tmp_path: Path,
) -> None:
    result = sampler(tmp_path, [300] * 20, gaps=((5, 2),))
    (series,) = [s for s in result.series if s.name == "A.out.throughput"]
    assert [i for i, v in enumerate(series.value.tolist()) if math.isnan(v)] == [4, 5, 6]
    assert result.figure("A.out.throughput.mean").value == pytest.approx(300 * PER_WORD)
    assert any(
        "3 of 20 intervals of the sampler lie beside samples" in note for note in result.notes
    )
    assert (
        json.loads(json.dumps(result.to_json(), allow_nan=False))["series"][0]["value"][4] is None
    )


def test_a_stretch_without_a_word_is_a_stall_with_its_length(tmp_path: Path) -> None:
    result = sampler(tmp_path, [500] * 10 + [0] * 5 + [500] * 10)
    (track,) = [t for t in result.intervals if t.name == "A.out.stalls"]
    assert (track.t_end_ps - track.t_ps).tolist() == [5 * PERIOD * 10_000]
    assert result.figure("A.out.stalls").value == 1
    assert "the most in a row: 5" in result.figure("A.out.idle").note


@pytest.mark.parametrize(
    ("log_ends_ps", "kind"),
    [(59_700_000_000, "silent"), (59_885_000_000, "silent"), (59_890_000_000, "nothing-to-send")],
)
def test_why_nothing_left_is_not_said_of_a_time_that_the_event_log_does_not_hold(
    tmp_path: Path, log_ends_ps: int, kind: str
) -> None:
    """The last interval, of 10 us, begins 59.84 ms after the first record, at 50 us."""
    result = sampler(tmp_path, [500] * 10 + [0] * 5 + [500] * 10, log_ends_ps=log_ends_ps)
    (track,) = [t for t in result.intervals if t.name == "A.out.stalls"]
    assert track.t_end_ps.tolist() == [59_850_000_000]
    assert track.kind == (kind,)


def test_nothing_to_send_is_not_said_of_a_card_that_had_something_to_send(tmp_path: Path) -> None:
    result: AnalysisResult = THROUGHPUT.run(pulled(tmp_path, 3, fault="tx-empty-stuck"))
    (track,) = [t for t in result.intervals if t.name == "A.out.stalls"]
    assert track.kind[-1] == "stopped"
    assert track.text[-1].startswith("nothing left: A->B: A's link transmitter moved nothing since")


def test_a_rate_that_falls_has_two_levels(tmp_path: Path) -> None:
    words = [600 + i % 3 for i in range(30)] + [200 + i % 3 for i in range(30)]
    result = sampler(tmp_path, words)
    (track,) = [t for t in result.intervals if t.name == "A.out.shape"]
    assert track.kind == ("level", "level")
    assert track.open_start.tolist() == [True, False]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pointer": 65}, "pointer says slot 65, and it has 64"),
        ({"newest": 500}, "do not fit before cycle 500"),
        ({"pointer": 1}, "1 throughput samples were taken, and a rate needs two"),
    ],
    ids=["pointer", "time", "one"],
)
def test_a_sampler_whose_registers_contradict_each_other_gives_no_rate(
    tmp_path: Path, changes: dict[str, int], said: str
) -> None:
    result = sampler(tmp_path, [500] * 10, **changes)  # type: ignore[arg-type]
    assert any(said in note for note in result.notes)
    assert not [f for f in result.figures if f.name.startswith("A.out.throughput")]


def test_more_words_than_the_link_can_carry_are_no_rate(tmp_path: Path) -> None:
    result = sampler(tmp_path, [500] * 10 + [70_000] + [500] * 10)
    assert any(
        "1 of 21 intervals of the sampler hold more words than the link can carry" in n
        for n in result.notes
    )
    assert not [f for f in result.figures if f.name.startswith("A.out.throughput")]


def test_a_card_without_a_sampler_still_has_its_traces(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(5, flow=3)
    result = THROUGHPUT.run(CaptureView(pair.write(tmp_path / "x.ff")))
    assert any("A has no throughput sampler" in note for note in result.notes)
    assert result.figure("A.out.flow3.traced").value is not None


def test_a_capture_of_one_device_is_analysed_alone(tmp_path: Path) -> None:
    view = CaptureView(made_capture(tmp_path / "made.ff"), ["A"])
    assert {f.name.split(".")[0] for f in THROUGHPUT.run(view).figures} == {"A"}
