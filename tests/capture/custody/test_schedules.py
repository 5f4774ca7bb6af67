"""Two guards, an operator and power cycles on one card over UDP: no freeze goes without being kept or named."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.card.device import open_any
from freezeframe.capture.recorder.control import arm_all, wait_for
from freezeframe.capture.targets.base import open_target
from tests.capture.custody.freezing_card import FreezingCard, served
from tests.capture.custody.schedules import judge, run_killed, run_schedule


@pytest.mark.parametrize("seed", range(6))
def test_no_freeze_is_given_up_that_is_neither_kept_nor_named_in_a_log(
    seed: int, tmp_path: Path
) -> None:
    outcome = run_schedule(seed, tmp_path)
    assert outcome.silent == ()
    assert outcome.freezes > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_guard_that_is_killed_loses_nothing_and_its_log_has_every_capture(
    seed: int, tmp_path: Path
) -> None:
    found = run_killed(seed, tmp_path)
    assert (found.outcome.silent, found.wrong) == ((), ())
    assert found.outcome.kept > 0


def test_the_judge_finds_a_freeze_that_went_without_a_word(tmp_path: Path) -> None:
    card = FreezingCard(1)
    with served(card) as url:
        target = open_target(url)
        devices = open_any(target)
        wait_for(devices[0], "frozen", 10)
        frozen = card.key
        arm_all(devices)  # as a program that does not know of the policy
        target.close()
    assert judge(card, tmp_path, {tmp_path / "host-a"}, 0).silent == (frozen,)
