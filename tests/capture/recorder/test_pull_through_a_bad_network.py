"""Pulls through a real UDP proxy: 5 % lost, 2 % doubled, reordered, altered, and a target that restarts.

``make campaign-pull`` runs two hundred of the pulls that are run here a few times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers import names
from freezeframe.capture.targets.base import open_target
from freezeframe.capture.targets.etherbone import open_etherbone
from tests.capture.recorder.bad_network import BadNetwork, Fates, one_pull
from tests.capture.recorder.fake_recorder import FakeRecorder

SEEDS_KEPT = (0, 1, 3, 4)  # both restarts come back with the recording
SEEDS_LOST = (2, 5)  # the second restart is a power cycle


@pytest.mark.parametrize("seed", SEEDS_KEPT)
def test_a_pull_through_a_bad_network_is_identical_to_a_clean_one(
    tmp_path: Path, seed: int
) -> None:
    outcome = one_pull(seed, tmp_path / "x.ff", depth=600)
    assert outcome.restarts >= 1
    assert outcome.wrong_words == 0
    assert outcome.identical, outcome


@pytest.mark.parametrize("seed", SEEDS_LOST)
def test_what_a_power_cycle_took_is_a_stated_gap_and_the_rest_is_right(
    tmp_path: Path, seed: int
) -> None:
    outcome = one_pull(seed, tmp_path / "x.ff", depth=1200)
    assert outcome.restarts == 2
    assert outcome.wrong_words == 0
    assert outcome.missing_slots > 0 or outcome.identical, outcome


def test_heavy_corruption_costs_readings_and_never_a_word(tmp_path: Path) -> None:
    fates = Fates(lost=0.05, doubled=0.05, delayed=0.1, altered=0.08)
    outcome = one_pull(6, tmp_path / "x.ff", depth=300, fates=fates)
    assert outcome.altered > 5
    assert outcome.retries > 0
    assert outcome.honest, outcome


def test_the_proxy_really_does_what_it_says() -> None:
    recorder = FakeRecorder(depth=600)
    window = names.window("trace_tx_enq").address
    bad = Fates(lost=0.1, doubled=0.2, delayed=0, altered=0.1)
    with BadNetwork(recorder, 1, bad) as network:
        # Patient: on a busy machine the proxy itself may be silent for half a second.
        target = open_etherbone(network.url.replace("timeout=0.5", "timeout=10"))
        for _ in range(10):
            target.read(range(window, window + 4 * 2400, 4))
        target.close()
        assert network.altered > 5
    assert target.stats.retries > 5
    assert target.stats.unmatched > 5


def test_a_quiet_network_needs_no_second_reading(tmp_path: Path) -> None:
    quiet = Fates(lost=0, doubled=0, delayed=0, altered=0)
    with BadNetwork(FakeRecorder(depth=600), 1, quiet) as network:
        target = open_target(network.url)
        report = pull(target, tmp_path / "x.ff")
        target.close()
    assert report.complete
    assert (report.retries, report.outages) == (0, 0)
