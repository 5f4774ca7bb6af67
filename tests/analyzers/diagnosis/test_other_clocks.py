"""Nothing is measured against the clocks or the cable of one device: other rates, longer links.

Source: docs/diagnosis.md, credit-lost: as long as other credits needed in the same capture.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.facts import Facts, flight_ps
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.bench_pair import BUS_PS, Pair
from tests.analyzers.conftest import Explain, View
from tests.analyzers.diagnosis.test_credit_faults import STALL, waiting
from tests.analyzers.diagnosis.test_word_faults import candidates, only

US = 1_000_000
T0 = 60 * US


@dataclass
class LongPair(Pair):
    """A pair with a long link; on the bench's own packets take 0.4 us, and credits 0.5 us."""

    flight_ps: int = 50 * US
    link_ps: int = 50 * US

    def credit(
        self,
        t_ps: int,
        freed: int,
        *,
        sender: str = "A",
        flow: int = 0,
        arrives: bool = True,
        flip: int = 0,
    ) -> None:
        super().credit(t_ps, freed, sender=sender, flow=flow, arrives=arrives, flip=flip)
        if arrives:
            self.events[sender][-1].t_ps = t_ps + self.flight_ps


def long_link(sent: int, arrived: int, post_ps: int) -> LongPair:
    pair = LongPair(post_ps=post_ps)
    pair.traffic(10, flow=2)
    for n in range(sent):
        pair.credit(T0 + n * 10 * US, 64 * (n + 1), flow=2, arrives=n < arrived)
    books = {"sent": 64 * sent, "credited": 64 * arrived, "limit": 1024}
    pair.account("A", 2, **books, received=64 * sent, freed=64 * sent, reported=64 * sent)
    pair.causes = {"A": ["host"], "B": ["host"]}
    return pair


def test_credits_still_on_a_long_link_are_not_lost(explained: Explain) -> None:
    assert explained(long_link(10, 6, post_ps=20 * US)).findings == []


def test_credits_that_a_long_link_had_time_to_bring_are_lost(explained: Explain) -> None:
    pair = long_link(20, 6, post_ps=20 * US)
    pair.event("A", T0 + 250 * US, "LINK", "idle_inserted", 0, 0, 3)
    finding = only(explained(pair).findings)
    assert (finding.diagnosis, finding.flow) == ("credit-lost", 2)


def test_the_flight_is_the_largest_that_was_seen_and_room_for_one_packet(viewed: View) -> None:
    pair = long_link(10, 10, post_ps=20 * US)
    facts = Facts(viewed(pair))
    (account,) = (a for a in facts.accounts if a.flow == 2 and a.sender == "A")
    flight = flight_ps(facts, account)
    assert flight is not None
    assert 50 * US + 515 * 12_800 <= flight <= 50 * US + 550 * 12_800


def test_a_count_that_comes_again_after_a_wrap_is_not_taken_for_the_earlier_one(
    viewed: View,
) -> None:
    pair = LongPair(post_ps=20 * US)
    pair.traffic(3, flow=2)
    for n in range(300):  # 300 * 64 words: the count of 13 bits comes round twice
        pair.credit(T0 + n * US, 64 * (n + 1) % 8192, flow=2)
    pair.account("A", 2, sent=0, credited=0, limit=1024, received=0, freed=0, reported=0)
    facts = Facts(viewed(pair))
    (account,) = (a for a in facts.accounts if a.flow == 2 and a.sender == "A")
    flight = flight_ps(facts, account)
    assert flight is not None
    assert flight <= 58 * US


def test_where_no_credit_was_seen_to_arrive_nothing_is_called_lost(explained: Explain) -> None:
    pair = waiting(25, 0)
    pair.crossings.clear()
    finding = only(explained(pair).findings)
    assert finding.diagnosis == "undetermined"
    assert finding.candidates == ("credit-lost", "header-miscounted", "none")
    assert "how long a credit takes is not known" in finding.text


def test_credits_the_other_way_tell_the_length_of_the_cable(explained: Explain) -> None:
    pair = waiting(25, 0)
    pair.crossings.clear()
    pair.credit(T0, 64, sender="B", flow=4)
    assert only(explained(pair).findings).diagnosis == "credit-lost"


def test_packets_tell_the_length_of_the_cable_where_all_credits_are_lost(
    explained: Explain,
) -> None:
    assert (
        only(explained(waiting(16, 0, sent=1024, received=1024, freed=1024)).findings).diagnosis
        == "credit-lost"
    )


def test_a_wait_no_longer_than_the_flight_is_undetermined(explained: Explain) -> None:
    pair = long_link(10, 6, post_ps=20 * US)
    pair.event("A", T0 + 101 * US, "PRESSURE", "begin", 17, 2)
    pair.set("A", "frozen.stalled_flows", value=1 << 2)
    pair.causes = STALL
    pair.cause_cycle["A"] = (T0 + 110 * US) // BUS_PS
    assert "none" in candidates(explained(pair).findings)


# -- on the emulated pair --------------------------------------------------------------------------


def emulated(path: Path, changes: dict[str, int], fault: str, seed: int) -> CaptureFolder:
    text = (files("freezeframe.emulator") / "profiles" / "forth.toml").read_text()
    for name, value in changes.items():
        text, count = re.subn(rf"(?m)^{name} = \S+", f"{name} = {value}", text)
        assert count == 1
    profile = path / "other.toml"
    profile.write_text(text)
    target = EmulatorTarget(str(profile), fault, seed, truth_path=path / "truth.json")
    target.run_until_frozen(600 * US if fault == "none" else 20_000 * US)
    pull(target, path / "run.ff", freeze=True)
    return CaptureFolder.open(path / "run.ff")


OTHERS = {
    "bus 20 MHz": {"bus_hz": 20_000_000},
    "bus 33 MHz, link 31.25 MHz": {"bus_hz": 33_000_000, "link_hz": 31_250_000},
    "1 us": {"latency_ps": US},
    "50 us": {"latency_ps": 50 * US},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS)
def test_a_clean_run_at_other_clocks_and_lengths_has_no_finding(
    tmp_path: Path, changes: dict[str, int]
) -> None:
    assert explain(emulated(tmp_path, changes, "none", 3)).findings == []


@pytest.mark.parametrize("fault", ["credit-lost", "wrap-unhandled", "credit-start-too-large"])
@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS)
def test_a_fault_of_flow_control_at_other_clocks_is_right_or_undetermined(
    tmp_path: Path, changes: dict[str, int], fault: str
) -> None:
    found = explain(emulated(tmp_path, changes, fault, 7)).findings
    struck = json.loads((tmp_path / "truth.json").read_text())["injections"]
    assert bool(found) or not struck
    assert all(finding.diagnosis in (fault, "undetermined") for finding in found)


@pytest.mark.parametrize("fault", ["none", "credit-lost"])
def test_a_link_longer_than_the_stall_limit_is_never_given_a_wrong_name(
    tmp_path: Path, fault: str
) -> None:
    for finding in explain(emulated(tmp_path, {"latency_ps": 1000 * US}, fault, 4)).findings:
        assert finding.diagnosis in (fault, "undetermined")
        assert finding.diagnosis != "undetermined" or fault in finding.candidates
