"""The demo's last step: what was injected against what was explained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.gui.cli.work.truth import compare_to_truth, read_truth


def injection(**changes: Any) -> dict[str, Any]:
    one = {
        "generation": 1,
        "device": "A",
        "tap": "tx_deq",
        "direction": "A->B",
        "flow": 1,
        "packet": 35,
        "word": 117,
        "t_ps": 5,
        "detail": {},
    }
    return {**one, **changes}


def finding(**changes: Any) -> dict[str, Any]:
    return {"diagnosis": "word-omitted", **injection(), **changes}


def truth(*injections: dict[str, Any], fault: str = "word-omitted") -> dict[str, Any]:
    return {"fault": fault, "seed": 1, "profile": "forth", "injections": list(injections)}


def test_the_right_name_and_place_is_right() -> None:
    verdict = compare_to_truth(truth(injection()), 1, [finding()])
    assert verdict.right
    assert verdict.rows[0] == ("fault", "word-omitted", "word-omitted", True)
    assert ("word", "117", "117", True) in verdict.rows


@pytest.mark.parametrize(
    "changes",
    [
        {"diagnosis": "word-duplicated"},
        {"device": "B"},
        {"tap": "rx_deq"},
        {"flow": 2},
        {"packet": 36},
        {"word": 116},
        {"word": None},
    ],
    ids="-".join,
)
def test_anything_wrong_in_name_or_place_is_wrong(changes: dict[str, Any]) -> None:
    verdict = compare_to_truth(truth(injection()), 1, [finding(**changes)])
    assert not verdict.right
    assert sum(not agrees for *_, agrees in verdict.rows) == 1


def test_a_place_that_the_truth_leaves_open_is_not_held_against_the_explanation() -> None:
    assert compare_to_truth(truth(injection(word=None)), 1, [finding(word=3)]).right


def test_only_the_injections_of_this_recording_count() -> None:
    earlier = injection(generation=1, packet=7)
    now = injection(generation=2, packet=9)
    assert compare_to_truth(truth(earlier, now), 2, [finding(packet=9)]).right
    assert not compare_to_truth(truth(earlier, now), 2, [finding(packet=7)]).right


def test_only_the_best_finding_counts() -> None:
    wrong = finding(diagnosis="header-corrupted")
    assert not compare_to_truth(truth(injection()), 1, [wrong, finding()]).right


def test_no_finding_is_right_only_without_a_fault() -> None:
    assert compare_to_truth(truth(fault="none"), 1, []).right
    assert not compare_to_truth(truth(fault="none"), 1, [finding()]).right
    assert not compare_to_truth(truth(injection()), 1, []).right


@pytest.mark.parametrize("text", ["", "{", "[]", '{"fault": "none"}'])
def test_what_is_not_a_truth_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "truth.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is not a truth file"):
        read_truth(path)


def test_a_truth_file_that_is_not_there_says_what_that_may_mean(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="wrote no truth file"):
        read_truth(tmp_path / "truth.json")


def test_a_truth_file_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    path.write_text(json.dumps(truth(injection())))
    assert read_truth(path)["injections"][0]["packet"] == 35
