"""A link that came up anew while it was recorded: what stands before is of another link, and is left out.

Source: docs/formats.md section 3, "Loop-back".
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import Pair
from tests.analyzers.conftest import Explain, View
from tests.analyzers.cutting import ALL, cut
from tests.analyzers.diagnosis.test_credit_faults import T0, US, waiting
from tests.analyzers.diagnosis.test_word_faults import only


def rewired(path: Path, seed: int, fault: str = "none") -> CaptureFolder:
    """Return a capture of a pair that was looped back 100 us after power-up, and frozen 200 us later."""
    target = EmulatorTarget("forth", fault, seed)
    target.advance(100 * US)
    open_devices(target)[0].write("provoke.link", 1)
    target.advance(200 * US)
    pull(target, path / "run.ff", freeze=True)
    return CaptureFolder.open(path / "run.ff")


@pytest.mark.parametrize("seed", range(1, 8))
def test_a_clean_pair_that_was_looped_back_while_it_ran_has_no_finding(
    tmp_path: Path, seed: int
) -> None:
    folder = rewired(tmp_path, seed)
    explanation = explain(folder)
    assert explanation.findings == []
    assert any("its link came up anew at" in note for note in explanation.notes)
    for ends in (["A"], ["B"]):
        assert all(f.diagnosis == "undetermined" for f in explain(folder, ends).findings)


@pytest.mark.parametrize("seed", [1, 5, 6])
def test_without_the_event_log_the_sequence_numbers_tell_that_it_came_up_anew(
    tmp_path: Path, seed: int
) -> None:
    folder = cut(rewired(tmp_path, seed), {(end, "event_log"): (0, ALL) for end in "AB"})
    assert all(f.diagnosis == "undetermined" for f in explain(folder).findings)


def test_a_pair_that_stayed_as_it_was_loses_nothing(viewed: View) -> None:
    pair = Pair()
    pair.traffic(10)
    for end, out, into in (("A", 10, 0), ("B", 0, 10)):
        numbers(pair, end, out, into, out, into)
        pair.event(end, 55 * US, "LINK", "trained", 0, 0, 3)
    view = viewed(pair)
    assert view.since_ps == {}
    assert len(view.streams["A", "tx_enq"].packets) == 10


def numbers(pair: Pair, end: str, out: int, into: int, packets_out: int, packets_in: int) -> None:
    pair.set(end, "frozen.next_seq_out", value=out)
    pair.set(end, "frozen.next_seq_in", value=into)
    pair.counter(end, "tx_enq_packets", packets_out)
    pair.counter(end, "rx_enq_packets", packets_in)


def test_what_was_recorded_before_the_link_came_up_anew_is_left_out(viewed: View) -> None:
    pair = Pair()
    pair.traffic(10)
    pair.write_times()
    at_ps = pair.times[6, "tx_enq"] - 20_000
    for end, out, into in (("A", 4, 0), ("B", 0, 4)):
        numbers(pair, end, out, into, 10 if out else 0, 10 if into else 0)
        pair.event(end, at_ps, "LINK", "trained", 0, 0, 3)
        pair.event(end, at_ps - US, "STATE", "tx_dma", 0)
    view = viewed(pair)
    assert list(view.since_ps) == ["A", "B"]
    assert [packet.seq for packet in view.streams["A", "tx_enq"].packets] == [106, 107, 108, 109]
    assert [packet.seq for packet in view.streams["B", "rx_enq"].packets][-4:] == [
        106,
        107,
        108,
        109,
    ]
    assert view.logs["A"].kind.tolist()[0] == "LINK"


def test_credits_sent_before_the_link_came_up_anew_are_not_lost(explained: Explain) -> None:
    pair = waiting(25, 9)
    assert only(explained(pair).findings).diagnosis == "credit-lost"
    for end, out, into in (("A", 4, 0), ("B", 0, 4)):
        numbers(pair, end, out, into, 14 if out else 0, 14 if into else 0)
        pair.event(end, T0 + 30 * US, "LINK", "trained", 0, 0, 3)
    assert all(f.diagnosis != "credit-lost" for f in explained(pair).findings)
