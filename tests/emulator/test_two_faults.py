"""Two faults in one run: each with its own random numbers and its own truth, and who struck before the freeze."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.emulator.faults.registry import FAULTS, make_fault
from freezeframe.emulator.target import EmulatorTarget
from tests.emulator.reading import Card, packets_of, run_to_evidence

LIMIT_PS = 40_000_000_000


def struck(fault: str, seed: int, load: str | None = None) -> dict[str, bool]:
    """Return the faults that struck, each with whether it did before the freeze."""
    target = EmulatorTarget("forth", fault, seed, load=load)
    assert target.run_until_evident(LIMIT_PS)
    truth = target.pair.truth.to_json()
    return {injection["fault"]: injection["before_freeze"] for injection in truth["injections"]}


@pytest.mark.parametrize(
    "fault",
    [
        "short-transfers+interrupt-storm",
        "credit-too-coarse+payload-bit-flip",
        "header-miscounted+header-corrupted",
        "split-retry-mishandled+payload-bit-flip",
        "header-miscounted+credit-start-too-large",
        "word-omitted+lane-misaligned",
    ],
)
def test_both_strike_and_the_second_sometimes_before_the_freeze(fault: str) -> None:
    runs = (struck(fault, seed, "saturating") for seed in range(5))
    assert any(run.keys() == {*fault.split("+")} and all(run.values()) for run in runs)


def test_one_that_strikes_after_the_first_cause_is_told_as_such() -> None:
    runs = [struck("payload-bit-flip+header-corrupted", seed) for seed in range(8)]
    assert any(False in run.values() for run in runs)
    assert all(True in run.values() for run in runs)


@pytest.mark.parametrize("seed", range(4))
def test_each_tells_the_truth_of_its_own_packet(seed: int) -> None:
    target, a, b = run_to_evidence("word-omitted+payload-bit-flip", seed)
    for injection in target.pair.truth.to_json()["injections"]:
        if injection["fault"] != "payload-bit-flip" or not injection["before_freeze"]:
            continue
        sent = [p for p in packets_of(a.words(1)) if p.seq == injection["packet"]]
        came = [p for p in packets_of(b.words(2)) if p.seq == injection["packet"]]
        for before, after in zip(sent, came, strict=False):
            pairs = enumerate(zip(before.payload, after.payload, strict=True))
            changed = [k for k, (x, y) in pairs if x != y]
            assert changed == [injection["word"]]


def test_the_first_strikes_when_it_would_alone() -> None:
    for seed in range(3):
        alone = EmulatorTarget("forth", "word-omitted", seed, load="light")
        both = EmulatorTarget("forth", "word-omitted+header-corrupted", seed, load="light")
        assert alone.run_until_evident(LIMIT_PS) and both.run_until_evident(LIMIT_PS)
        when = [
            injection.t_ps
            for target in (alone, both)
            for injection in target.pair.truth.injections
            if injection.fault == "word-omitted"
        ]
        assert len(set(when)) == 1


def test_the_same_two_are_the_same_run_and_another_order_is_another() -> None:
    def bits(fault: str) -> list[bytes]:
        _, a, b = run_to_evidence(fault, 3)
        return [card.memory_bytes(memory) for card in (a, b) for memory in range(5)]

    one = bits("sync-fifo-empty+credit-corrupted")
    assert one == bits("sync-fifo-empty+credit-corrupted")
    assert one != bits("credit-corrupted+sync-fifo-empty")


def test_the_truth_file_holds_both_and_when_the_cards_froze(tmp_path: Path) -> None:
    path = tmp_path / "truth.json"
    target = EmulatorTarget("forth", "short-transfers+payload-bit-flip", 1, path, load="medium")
    assert target.run_until_evident(LIMIT_PS)
    truth = json.loads(path.read_text())
    assert truth["fault"] == "short-transfers+payload-bit-flip"
    assert {i["fault"] for i in truth["injections"]} == {"short-transfers", "payload-bit-flip"}
    assert {stop["device"] for stop in truth["freezes"]} == {"A", "B"}


def test_faults_that_never_come_because_of_another_are_not_waited_for() -> None:
    # A handler that never ends cannot lose an interrupt when it does.
    found = struck("interrupt-storm+interrupt-lost", 0, "saturating")
    assert set(found) == {"interrupt-storm"}


@pytest.mark.parametrize("seed", range(3))
def test_any_two_run_to_their_end(seed: int) -> None:
    names = list(FAULTS)[1:]
    for step in (1, 5, 7):
        first = names[(seed * 5 + step) % len(names)]
        second = names[(seed * 11 + 3 * step + 2) % len(names)]
        if first != second:
            assert struck(f"{first}+{second}", seed, "medium")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word-omitted+word-omitted", r"word-omitted cannot be one of several"),
        ("none+word-omitted", r"none cannot be one of several; join different faults with \+"),
        ("word-omitted+", r"fault is missing; there is none, word-omitted,"),
        ("word-omitted+nothing", r"there is no fault 'nothing'"),
    ],
)
def test_what_cannot_be_joined_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_fault(text)


@pytest.mark.parametrize("plus", ["%2B", "+"])
def test_a_url_may_join_faults_with_a_plus_escaped_or_not(plus: str) -> None:
    from freezeframe.emulator.target import EmulatorTarget, open_emulator

    target = open_emulator(f"emu:?fault=clock-drift{plus}credit-lost&load=light&seed=2")
    assert isinstance(target, EmulatorTarget)
    assert target.pair.fault.name == "clock-drift+credit-lost"
    assert "load=light" in target.url and "%2B" in target.url
    assert Card(target, 0).read("id.magic") == 0x46525A46


def test_a_device_is_not_replaced_by_a_truth_file(tmp_path: Path) -> None:
    os.mkfifo(place := tmp_path / "truth.json")
    with pytest.raises(InputError, match=r"truth.json: is there and is not a file"):
        EmulatorTarget("forth", "none", 0, str(place))
    assert place.is_fifo()
