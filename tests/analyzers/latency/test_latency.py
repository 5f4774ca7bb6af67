"""latency: phases of messages across the taps of both cards, against the times at which they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freezeframe.analyzers.analysis import AnalysisResult
from freezeframe.analyzers.declarations import LATENCY
from freezeframe.analyzers.latency.analysis_code import latency
from freezeframe.analyzers.latency.messages import unwrapped
from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.code import Code
from tests.analyzers.bench_pair import BUS_PS, LINK_PS, Crossing, Pair, header

POSTING_PS, POSTED_PS = 900_000, 500_000  # before the first word of the packet
PERIOD_PS = {"tx_enq": BUS_PS, "tx_deq": LINK_PS, "rx_enq": LINK_PS, "rx_deq": BUS_PS}
ENDS = ("begun", "posted", "tx_enq", "tx_deq", "rx_enq", "rx_deq")
PHASES = ("send_initiation", "send_dma", "send_nic", "recv_nic", "recv_dma")


def post(pair: Pair) -> None:
    """Put the descriptor events of every packet into the sender's log."""
    pair.write_times()
    for number, crossing in enumerate(pair.crossings):
        length = len(crossing.tx_enq) - 3
        value = length | 1 << 10 | crossing.seq << 20
        begin_ps = pair.times[number, "tx_enq"]
        for code, before_ps in (("posting", POSTING_PS), ("posted", POSTED_PS)):
            pair.event(crossing.sender, begin_ps - before_ps, "DESC", code, value, crossing.flow, 0)


def truth_ps(pair: Pair, number: int) -> list[int]:
    """Return when a packet really met each event: the last word's cycle has passed."""
    crossing = pair.crossings[number]
    begin_ps = pair.times[number, "tx_enq"]
    return [
        begin_ps - POSTING_PS,
        begin_ps - POSTED_PS,
        *(pair.times[number, t] + PERIOD_PS[t] * len(getattr(crossing, t)) for t in PERIOD_PS),
    ]


def measure(pair: Pair, tmp_path: Path, devices: str = "AB") -> AnalysisResult:
    return latency(CaptureView(pair.write(tmp_path / "pair.ff", devices)))


def row_of(result: AnalysisResult, crossing: Crossing) -> dict[str, Any]:
    table = result.tables["messages"]
    found = table[table["seq"] == crossing.seq].to_dict("records")
    assert len(found) == 1
    return {str(key): value for key, value in found[0].items()}


@pytest.mark.parametrize("time_pairs", [1, 2])
def test_every_phase_of_every_message_is_right_within_the_stated_error(
    tmp_path: Path, time_pairs: int
) -> None:
    pair = Pair(seed=3, post_ps=60_000_000 * (time_pairs - 1) + 2_000_000)
    pair.traffic(8, flow=2)
    pair.send("B", length=40)
    post(pair)
    result = measure(pair, tmp_path)
    assert [n for n in result.notes if "one time pair" in n] == [
        f"{where}: one time pair only: its rate is taken as nominal, and times between it and another "
        "are as uncertain as stated"
        for where in ("A.link", "B.bus", "B.link")
        if time_pairs == 1
    ]
    assert result.figure("A->B.messages.complete").value == 8
    for number, crossing in enumerate(pair.crossings):
        row, real_ps = row_of(result, crossing), truth_ps(pair, number)
        assert row["direction"] == ("A->B" if crossing.sender == "A" else "B->A")
        assert (row["flow"], row["length_words"]) == (crossing.flow, len(crossing.tx_enq) - 3)
        for phase, begin, end in zip(PHASES, real_ps, real_ps[1:], strict=False):
            wrong_ps = abs(row[f"{phase}_ps"] - (end - begin))
            assert wrong_ps <= row[f"{phase}_unc_ps"], phase
        assert abs(row["whole_ps"] - (real_ps[-1] - real_ps[0])) <= row["whole_unc_ps"]


def test_within_one_clock_of_the_master_a_phase_is_exact(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(4)
    post(pair)
    result = measure(pair, tmp_path)
    found = result.figure("A->B.latency.send-initiation.mean")
    assert (found.value, found.unit, found.uncertainty) == (400.0, "ns", 0.0)


def test_phases_add_up_to_the_whole_and_shares_to_100_percent(tmp_path: Path) -> None:
    pair = Pair(seed=5)
    pair.traffic(12)
    post(pair)
    result = measure(pair, tmp_path)
    table = result.tables["messages"]
    phases_ps = table[[f"{phase}_ps" for phase in PHASES]].to_numpy()
    assert phases_ps.sum(axis=1).tolist() == table["whole_ps"].tolist()
    shares = [f.value for f in result.figures if ".latency." in f.name and f.name.endswith("share")]
    assert sum(share for share in shares if share is not None) == pytest.approx(100)


def test_percentiles_are_those_of_the_messages(tmp_path: Path) -> None:
    pair = Pair(seed=6)
    pair.traffic(10)
    post(pair)
    result = measure(pair, tmp_path)
    whole = sorted(result.tables["messages"]["whole_ps"])
    for percent, at in ((50, 4), (90, 8), (99, 9)):
        assert result.figure(f"A->B.latency.whole.p{percent}").value == whole[at] / 1000


def test_the_slowest_message_comes_first_with_the_rows_of_its_records(tmp_path: Path) -> None:
    pair = Pair(seed=2)
    pair.traffic(6)
    slow = pair.send(length=9)
    slow.lag_ps = 9_000_000
    post(pair)
    view = CaptureView(pair.write(tmp_path / "pair.ff"))
    first = latency(view).tables["slowest"].to_dict("records")[0]
    assert first["seq"] == slow.seq
    words, events = view.trace.words, view.trace.events
    for tap in ("tx_enq", "tx_deq", "rx_enq", "rx_deq"):
        word = words.iloc[first[f"{tap}_words_row"]]
        assert (word["kind"], word["data"]) == ("TAIL", slow.tx_enq[-1][1])
        assert word["source"] == ("A." if tap[0] == "t" else "B.") + tap
    posted = events.iloc[first["posted_events_row"]]
    assert (posted["code"], posted["value"] >> 20 & 0xFFFF) == ("posted", slow.seq)


def test_numbers_that_wrap_are_still_one_message_each(tmp_path: Path) -> None:
    pair = Pair()
    pair._seq["A"] = 65_533
    pair.traffic(6)
    post(pair)
    result = measure(pair, tmp_path)
    assert result.figure("A->B.messages.complete").value == 6
    assert result.tables["messages"]["seq"].tolist() == [65_533, 65_534, 65_535, 0, 1, 2]


def test_one_end_alone_tells_its_own_phases_and_says_which_it_cannot(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(5)
    post(pair)
    result = measure(pair, tmp_path, devices="A")
    assert result.figure("A->B.latency.send-DMA.mean").value is not None
    assert {f.name.split(".")[2] for f in result.figures if ".latency." in f.name} == {
        "whole", "send-initiation", "send-DMA", "send-NIC",
    }  # fmt: skip
    assert any("A->B: recv-NIC cannot be told: rx_enq" in note for note in result.notes)


def test_a_device_that_saw_no_toggle_is_not_compared_with_another_clock(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(5)
    post(pair)
    for domain in (0, 1):
        pair.set("B", "pair.status", domain, value=0)
    result = measure(pair, tmp_path)
    assert any("recv-NIC, recv-DMA cannot be told" in note for note in result.notes)
    whole = result.figure("A->B.latency.whole.mean")
    why = "not measurable: the clocks of the two ends have no known relation"
    assert (whole.value, whole.note) == (None, why)
    assert {f.name.split(".")[2] for f in result.figures if ".latency." in f.name} == {
        "whole", "send-initiation", "send-DMA", "send-NIC",
    }  # fmt: skip


def test_a_packet_with_a_bad_header_is_not_believed(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(4)
    bad = pair.send(length=5)
    for words in bad.from_tap("rx_enq"):
        words[0] = (1, words[0][1] ^ 1 << 33)  # a bit of its number
    pair.traffic(4)
    post(pair)
    result = measure(pair, tmp_path)
    assert result.figure("A->B.messages.complete").value == 8
    assert bad.seq not in result.tables["messages"]["seq"].tolist()


def test_an_injected_packet_has_no_number_of_its_own(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(3)
    other = pair.send(length=2)
    word = header(0, 2, pair.crossings[0].seq, other.tx_enq[1][1], flags=8)
    for words in other.from_tap("tx_enq"):
        words[0] = (1, word)
    pair.traffic(3)
    post(pair)
    result = measure(pair, tmp_path)
    assert result.figure("A->B.messages.complete").value == 6


def test_numbers_that_begin_anew_are_not_taken_for_the_old_ones(tmp_path: Path) -> None:
    pair = Pair()
    pair._seq["A"] = 40
    pair.traffic(5)
    pair._seq["A"] = 40
    fresh = pair.traffic(5)
    post(pair)
    result = measure(pair, tmp_path)
    assert any("from before the link came up anew" in note for note in result.notes)
    assert result.figure("A->B.messages.complete").value == 5
    for crossing in fresh:
        row = row_of(result, crossing)
        real_ps = truth_ps(pair, pair.crossings.index(crossing))
        assert abs(row["whole_ps"] - (real_ps[-1] - real_ps[0])) <= row["whole_unc_ps"]


def test_without_descriptor_events_the_way_begins_at_the_outgoing_fifo(tmp_path: Path) -> None:
    pair = Pair()
    pair.traffic(4)
    result = measure(pair, tmp_path)
    assert result.figure("A->B.messages.complete").note == "from tx_enq to rx_deq"
    assert any("send-initiation cannot be told: begun and posted" in n for n in result.notes)
    whole = result.figure("A->B.latency.whole.mean")
    assert (whole.value, whole.note) == (None, "not measurable: begun was not recorded")


def test_the_sum_of_some_phases_is_no_latency(tmp_path: Path) -> None:
    """Nothing of B->A arrived: its messages were posted, and that is all that is known."""
    pair = Pair()
    pair.traffic(3)
    post(pair)
    pair.event("B", 4_000_000, "DESC", "posting", 2 | 1 << 10, 0, 0)
    pair.event("B", 5_520_000, "DESC", "posted", 2 | 1 << 10, 0, 0)
    result = measure(pair, tmp_path)
    whole = result.figure("B->A.latency.whole.mean")
    assert (whole.value, whole.uncertainty) == (None, None)
    assert whole.note == "not measurable: rx_deq was not recorded"
    known = [f.name for f in result.figures if f.name.startswith("B->A.latency.")]
    assert [n for n in known if "whole" in n or "share" in n] == ["B->A.latency.whole.mean"]
    begun = result.figure("B->A.latency.send-initiation.mean")
    assert (begun.value, begun.note) == (1520.0, "begun to posted")
    assert [each.name for each in result.series] == ["A->B.latency"]
    table = result.tables["messages"]
    there = table["direction"] == "A->B"
    assert table["whole_ps"].notna().tolist() == there.tolist() == [True] * 3 + [False]
    assert table["whole_unc_ps"].notna().tolist() == there.tolist()
    phases = result.tables["phases"]
    assert phases[phases["direction"] == "B->A"]["phase"].tolist() == ["send-initiation"]
    assert set(result.tables["by_length"]["direction"]) == {"A->B"}
    document = json.loads(json.dumps(result.to_json()))
    assert document["tables"]["messages"][-1]["whole_ps"] is None


def test_a_capture_without_packets_gives_notes_and_no_figures(tmp_path: Path) -> None:
    result = measure(Pair(), tmp_path)
    assert result.figures == ()
    assert "A->B: nothing was recorded of this direction" in result.notes


def test_words_that_a_pull_did_not_bring_home_make_messages_incomplete_not_wrong(
    tmp_path: Path,
) -> None:
    pair = Pair(seed=8)
    pair.traffic(10)
    post(pair)
    pair.gaps["B", "rx_deq"] = [(30, 60)]
    result = measure(pair, tmp_path)
    complete = result.figure("A->B.messages.complete").value
    assert complete is not None
    assert 0 < complete < 10
    for row in result.tables["messages"].to_dict("records"):
        number = next(i for i, c in enumerate(pair.crossings) if c.seq == row["seq"])
        real_ps = truth_ps(pair, number)
        assert abs(row["whole_ps"] - (real_ps[-1] - real_ps[0])) <= row["whole_unc_ps"]


def test_unwrapping_takes_the_nearer_way() -> None:
    seq = np.array([65_534, 65_535, 0, 1, 65_535, 3], np.int64)
    assert unwrapped(seq).tolist() == [65_534, 65_535, 65_536, 65_537, 65_535, 65_539]
    assert unwrapped(np.empty(0, np.int64)).tolist() == []


def test_the_analysis_is_what_the_entry_point_says() -> None:
    assert LATENCY.id == "latency"
    assert isinstance(LATENCY.run, Code)
    assert LATENCY.run.loaded is latency


def test_messages_posted_in_one_burst_are_also_measured_as_one(tmp_path: Path) -> None:
    """The second descriptor's first store comes before the first descriptor has gone to the card."""
    pair = Pair(seed=4, post_ps=60_000_000)
    pair.traffic(8)
    pair.write_times()
    begins_ps = [pair.times[number, "tx_enq"] for number in range(8)]
    for number, crossing in enumerate(pair.crossings):
        first = number - number % 2
        value = (len(crossing.tx_enq) - 3) | 1 << 10 | crossing.seq << 20
        stored_ps = begins_ps[first] - 900_000 + 20_000 * (number - first)
        pair.event("A", stored_ps, "DESC", "posting", value, 0, 0)
        pair.event("A", begins_ps[first] - 790_000, "DESC", "posted", value, 0, 0)
    result = measure(pair, tmp_path)
    assert result.figure("A->B.burst.2.count").value == 4
    assert result.figure("A->B.burst.2.send-initiation.mean").value == 110.0
    ends_ps = [truth_ps(pair, number)[-1] for number in (1, 3, 5, 7)]
    real_ns = sum(
        end - (begins_ps[number] - 900_000) for number, end in zip((0, 2, 4, 6), ends_ps, strict=True)
    ) / 4000  # fmt: skip
    whole = result.figure("A->B.burst.2.whole.mean")
    assert whole.value is not None
    assert whole.uncertainty is not None
    assert abs(whole.value - real_ns) <= whole.uncertainty


def test_messages_posted_one_after_the_other_are_no_burst(tmp_path: Path) -> None:
    pair = Pair()
    for _ in range(5):
        pair.send(length=60)
    post(pair)
    assert not [f for f in measure(pair, tmp_path).figures if ".burst." in f.name]
