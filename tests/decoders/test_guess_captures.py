"""The identifier on real captures, one of each device; ``make campaign-guess`` takes all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import pytest

from freezeframe.decoders.guess.weigh import CALIBRATION
from tests.campaign.guess import KINDS, Looked, figures, judged, look
from tests.capture.files.captures import captures_folder


@pytest.fixture(scope="module")
def looked() -> Sequence[Looked]:
    folder = captures_folder() / "dumps"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there; FREEZEFRAME_CAPTURES names the folder above it")
    devices: set[PurePosixPath] = set()

    def first_of_its_device(path: str) -> bool:
        device = PurePosixPath(path).parent
        new = device not in devices
        devices.add(device)
        return new

    return look(folder, first_of_its_device)[0]


def test_what_can_be_decoded_is_proposed_first_and_nothing_else_is(
    looked: Sequence[Looked],
) -> None:
    verdicts = judged(looked, lambda folder: CALIBRATION)
    assert min(len(verdicts[kind]) for kind in KINDS) > 10
    right, wrong = figures(verdicts)
    assert right >= 0.9
    assert wrong <= 0.03


def test_each_proposal_says_its_evidence_and_each_silence_its_reason(
    looked: Sequence[Looked],
) -> None:
    for each in looked:
        for candidate in each.proposals():
            assert candidate.why, each.path
            assert 0.5 <= candidate.stated < 1, each.path
