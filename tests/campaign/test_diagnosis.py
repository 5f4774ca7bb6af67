"""A few runs of the campaign in the suite; ``make campaign`` makes seven thousand."""

from __future__ import annotations

from itertools import cycle

import pytest

from tests.campaign.judge import PairVerdict, judge, judge_pair
from tests.campaign.runs import FAULTS, LOADS, Job, Run, run_one
from tests.campaign.table import report

SEED = 11
TRUTH = {
    "injections": [
        {
            "device": "A",
            "tap": "tx_deq",
            "direction": "A->B",
            "flow": 3,
            "packet": 7,
            "word": 5,
        }
    ]
}
RIGHT = {"diagnosis": "word-omitted", **TRUTH["injections"][0]}
UNDETERMINED = {**RIGHT, "diagnosis": "undetermined"}


@pytest.mark.parametrize(("fault", "load"), list(zip(FAULTS, cycle(("light", "saturating")))))
def test_the_fault_and_its_place_are_named_and_one_end_alone_is_never_wrong(
    fault: str, load: str
) -> None:
    run = run_one(Job("emulator", fault, load, SEED))
    verdict = judge(run)
    assert (run.error, verdict.first, verdict.placed) == ("", fault, True)
    assert verdict.one_end_wrong == []


@pytest.mark.parametrize("seed", range(4))
def test_a_clean_run_has_no_finding(seed: int) -> None:
    run = run_one(Job("emulator", "none", LOADS[seed % 3], seed))
    assert (run.error, run.said["both"], judge(run).one_end_wrong) == ("", [], [])


def test_the_judge_takes_no_other_word_and_no_other_device() -> None:
    def verdict(**changed: object) -> tuple[bool, bool | None]:
        said = [{**RIGHT, **changed}]
        judged = judge(Run("word-omitted", 1, TRUTH, {}, {"both": said, "A": [], "B": []}))
        return judged.named, judged.placed

    assert verdict() == (True, True)
    assert verdict(word=6) == (True, False)
    assert verdict(device="B") == (True, False)
    assert verdict(diagnosis="word-duplicated") == (False, False)


def test_one_end_may_be_undetermined_or_leave_out_the_word_but_not_name_another() -> None:
    def wrong(*said: dict[str, object]) -> list[str]:
        return judge(
            Run("word-omitted", 1, TRUTH, {}, {"both": [RIGHT], "A": list(said), "B": []})
        ).one_end_wrong

    assert wrong(UNDETERMINED) == []
    assert wrong({**RIGHT, "word": None}) == []
    assert wrong({**RIGHT, "word": 4}) == ["A"]
    assert wrong(UNDETERMINED, {**RIGHT, "diagnosis": "credit-lost"}) == ["A"]


def test_a_broken_run_counts_as_wrong() -> None:
    verdict = judge(Run("word-omitted", 1, {}, {}, error="TargetTimeout: gone"))
    assert (verdict.named, verdict.placed) == (False, False)


def test_two_faults_in_one_run_are_both_named() -> None:
    run = run_one(Job("emulator", "header-miscounted+word-omitted", "medium", SEED, ends=False))
    verdict = judge_pair(run)
    assert (run.error, verdict.counts, verdict.both) == ("", True, True)


def test_a_second_fault_that_came_after_the_freeze_does_not_count() -> None:
    def pair(before: bool, *said: str) -> tuple[bool, bool]:
        truth = {
            "injections": [
                {"fault": "a", "generation": 1, "before_freeze": True},
                {"fault": "b", "generation": 1, "before_freeze": before},
            ],
            "freezes": [{"generation": 1}],
        }
        findings: list[dict[str, object]] = [{"diagnosis": name} for name in said]
        verdict = judge_pair(Run("a+b", 1, truth, {}, {"both": findings}))
        return verdict.counts, verdict.both

    assert pair(True, "b", "c", "a") == (True, True)
    assert pair(True, "b", "c", "d", "a") == (True, False)
    assert pair(False, "a") == (False, False)


def test_the_table_lists_what_of_two_faults_was_not_named() -> None:
    truth = {
        "injections": [
            {"fault": name, "generation": 1, "before_freeze": True} for name in ("a", "b")
        ],
        "freezes": [{"generation": 1}],
    }
    said: list[dict[str, object]] = [{"diagnosis": "a"}, {"diagnosis": "c"}]
    run = Run("a+b", 7, truth, {}, {"both": said}, load="light")
    assert judge_pair(run) == (PairVerdict(True, False, ("a", "c"), ("b",), ("c",)))
    table, good = report([run], 1.0, "emulator")
    assert "| a+b | light | 7 | b | a, c |" in table
    assert "| a name of neither, in all 1 runs with two faults | 1 | |" in table
    assert not good
