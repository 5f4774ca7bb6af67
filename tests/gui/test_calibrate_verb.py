"""calibrate and what-if from a capture: what a capture alone foretells, held against the changed card."""

from __future__ import annotations

import json
from pathlib import Path

from tests.analyzers.calibrate.test_refusals import recorded
from tests.campaign.what_if import judge
from tests.gui.cli import run_inside


def test_foretold_gains_are_true_for_pairs_of_the_campaign() -> None:
    for number in (3, 8):  # saturated both ways, another link; paced, another bus
        for row in judge(number):
            assert row.good, row


def test_a_fitted_profile_is_written_and_read_back_with_its_intervals(tmp_path: Path) -> None:
    recorded(tmp_path)
    capture, profile = str(tmp_path / "card.ff"), tmp_path / "fit.toml"
    done = run_inside("calibrate", capture, "-o", str(profile), "--json")
    assert (done.code, done.err) == (0, "")
    split = json.loads(done.out)["parameters"]["split_cycles"]
    assert split["low"] < split["value"] < split["high"]
    told = [
        json.loads(run_inside("what-if", one, "--set", "split_cycles=10", "--json").out)
        for one in (str(profile), capture)
    ]
    assert told[0]["gain_percent"] == told[1]["gain_percent"]
    latency = told[0]["gain_percent"]["mean_latency"]
    assert latency["low"] < latency["value"] < latency["high"] < 0


def test_a_folder_that_is_no_capture_and_a_profile_of_another_ending_are_refused(
    tmp_path: Path,
) -> None:
    done = run_inside("what-if", str(tmp_path), "--set", "bus_MHz=133")
    assert done.code == 2 and "is a folder and no capture" in done.err
    done = run_inside("calibrate", str(tmp_path), "-o", str(tmp_path / "fit.txt"))
    assert done.code == 2 and "a profile is written as .toml" in done.err
