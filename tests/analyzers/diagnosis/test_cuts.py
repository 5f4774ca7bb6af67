"""A capture with records missing never says more than the whole one: no fault from a clean run, no fault for another.

The emulated pair's captures of every fault, in turn with light, medium and saturating load, with the oldest records,
a stretch, or all of any memories not read, explained from both ends and from either. What was injected is read from
the truth for the comparison only.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from freezeframe.analyzers.contract import UNDETERMINED, Finding
from freezeframe.analyzers.explain import NAMES, explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import freeze
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.registers.access import open_devices
from freezeframe.capture.registers.layouts import MEMORY_NAMES
from freezeframe.emulator.target import EmulatorTarget
from tests.analyzers.cutting import ALL, Cut, cut

LOADS = ("light", "medium", "saturating")
CLEAN_PS = 400_000_000
LIMIT_PS = 40_000_000_000
FREEZE_PS = 2_000_000_000  # until the CRC tables are ready
RECORDS = 2048
EXAMPLES = 6

OLDEST = st.integers(1, RECORDS).map(lambda count: (0, count))
STRETCH = st.tuples(st.integers(0, RECORDS), st.sampled_from((1, 16, 256))).map(
    lambda place: (place[0], place[0] + place[1])
)
MEMORIES = [(device, memory) for device in "AB" for memory in MEMORY_NAMES[:5]]
CUTS = st.dictionaries(
    st.sampled_from(MEMORIES), st.one_of(OLDEST, OLDEST, STRETCH, st.just((0, ALL))), min_size=1
)
ENDS = st.sampled_from((None, None, ["A"], ["B"]))


def captured(path: Path, fault: str, load: str, seed: int) -> CaptureFolder:
    target = EmulatorTarget("forth", fault, seed, path / "truth.json", access_ps=0, load=load)
    if fault == "none":
        target.run_until_frozen(CLEAN_PS)
    else:
        assert target.run_until_evident(LIMIT_PS)
    if not target.frozen:
        for device in open_devices(target):
            freeze(device)
        target.run_until_frozen(FREEZE_PS)
    target.advance(FREEZE_PS)
    pull(target, path / "run.ff")
    return CaptureFolder.open(path / "run.ff")


@pytest.mark.parametrize(("number", "fault"), [*enumerate(NAMES)], ids=NAMES)
def test_a_cut_capture_of_a_fault_names_it_or_lists_it_or_says_nothing(
    tmp_path: Path, number: int, fault: str
) -> None:
    folder = captured(tmp_path, fault, LOADS[number % len(LOADS)], 1000 + number)
    truth = json.loads((tmp_path / "truth.json").read_text())["injections"][-1]

    @settings(max_examples=EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(cuts=CUTS, ends=ENDS)
    def never_another(cuts: Cut, ends: list[str] | None) -> None:
        for found in explain(cut(folder, cuts), ends).findings:
            if found.diagnosis == UNDETERMINED:
                assert fault in found.candidates, found.text
            else:
                assert found.diagnosis == fault, found.text
                assert_place(found, truth)

    never_another()


def assert_place(found: Finding, truth: dict[str, object]) -> None:
    """Assert that a finding of the fault that there was is not placed where it was not."""
    assert (found.device, found.packet, found.word) in (
        (truth["device"], truth["packet"], truth["word"]),
        (truth["device"], truth["packet"], None),
        (truth["device"], None, None),
    ), found.text


@pytest.mark.parametrize("load", LOADS)
def test_a_cut_capture_of_a_clean_run_names_nothing(tmp_path: Path, load: str) -> None:
    folder = captured(tmp_path, "none", load, 1042)

    @settings(max_examples=2 * EXAMPLES, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(cuts=CUTS, ends=ENDS)
    def nothing(cuts: Cut, ends: list[str] | None) -> None:
        for found in explain(cut(folder, cuts), ends).findings:
            assert found.diagnosis == UNDETERMINED
            assert "none" in found.candidates
            said = "The capture is incomplete" in found.text or "pull both ends" in found.text
            assert said or ends is not None, found.text

    nothing()
