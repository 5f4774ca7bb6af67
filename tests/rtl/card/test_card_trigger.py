"""A built card with trigger steps in a running simulation: frozen by its steps or its pin, pulled, explained.

The bench (bench_trigger.cpp) sends packets from rx_in to rx_out; each 64th does not come out.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.gui.cli import run_inside
from tests.rtl.card.test_card_device import bench_of, frozen, running, told

# The 6th packet that does not come out, some 130 us behind the arm: the time line has toggled twice by then.
SIXTH = ("--step", "a,count=6")
LOST = "kind=TAIL,data=0x0002/0x3fff"  # beat 2 of a packet whose number is a multiple of 64


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the bench of the card steps; return the program."""
    return bench_of("steps", "bench_trigger.cpp", tmp_path_factory.mktemp("trigger"))


def fired(bench: Path, capture: Path, *asked: str, discard: bool = True) -> list[dict[str, Any]]:
    """Set a trigger on a running card, arm it, pull what it froze; return what fired as explain says it."""
    with running(bench) as url:
        told(run_inside("trigger", url, *asked, "--arm", *(["--discard"] if discard else [])))
        frozen(url)
        told(run_inside("pull", url, "-o", str(capture)))
    (device,) = json.loads(told(run_inside("explain", str(capture), "--json")))["devices"]
    found: list[dict[str, Any]] = device["fired"]
    return found


def test_a_packet_that_does_not_come_out_in_time_fires_and_its_word_is_named(
    bench: Path, tmp_path: Path
) -> None:
    capture = tmp_path / "lost.ff"
    steps = (*SIXTH, "--step", "b,not-within=500")
    came, missed = fired(
        bench, capture, "--on", "rx_in", "--term", LOST, "--on", "rx_out", "--term", LOST, *steps
    )
    assert (came["step"], came["tap"], came["kind"], came["terms"]) == (0, "rx_in", "TAIL", ["a"])
    number, beat = int(came["data"], 16) >> 8, int(came["data"], 16) & 0xFF
    assert (number % 64, beat) == (0, 2)
    assert (missed["step"], missed["tap"], missed["kind"]) == (1, "", None)
    assert "500 bus cycles without a word like b" in missed["text"]
    # 500 cycles of 10 ns, from where the steps took the word: behind its record, across a clock
    assert 5_000_000 < missed["t_ps"] - came["t_ps"] < 5_200_000
    text = told(run_inside("explain", str(capture)))
    assert f"step 0: A.rx_in: TAIL {came['data']}, packet {came['packet']}" in text
    assert f"mark 0x{number // 64 & 0xFF:x}" in text  # what the bench says was lost


def test_steps_at_taps_of_two_clocks_and_in_the_event_log_are_each_named_with_their_word(
    bench: Path, tmp_path: Path
) -> None:
    terms = (
        *("--on", "rx_in", "--term", LOST),
        *("--on", "event_log", "--term", "kind=EVENT"),
        *("--on", "tx", "--term", "kind=END"),
    )
    steps = (*SIXTH, "--step", "b", "--step", "c,count=2,within=2000")
    found = fired(bench, tmp_path / "three.ff", *terms, *steps)
    assert [(one["step"], one["tap"], one["kind"], one["terms"]) for one in found] == [
        (0, "rx_in", "TAIL", ["a"]),
        (1, "event_log", "EVENT", ["b"]),
        (2, "tx", "END", ["c"]),
    ]
    assert "like c, the last of 2" in found[2]["text"]
    lost, marked, second = (one["t_ps"] for one in found)
    assert 900_000 < marked - lost < 1_200_000  # the mark is 100 bus cycles behind
    # the first of two tails, each 80 cycles of 25 ns behind the other
    assert 1_900_000 < second - marked < 4_200_000


def test_the_outer_pin_fires_without_any_step(bench: Path, tmp_path: Path) -> None:
    """It also rises between the setting and the arm, while the card records: that freezes nothing, or the arm would be
    refused without --discard."""
    found = fired(bench, tmp_path / "pin.ff", "--pin", "rising", discard=False)
    assert [(one["what"], one["text"]) for one in found] == [
        ("pin", "a rising edge of the pin trigger_pin")
    ]
