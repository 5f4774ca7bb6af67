"""explain names the word that fired the trigger, as the recording has it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.control import arm_all
from freezeframe.capture.recorder.pull import pull
from freezeframe.capture.recorder.trigger import Trigger, parse_term, set_trigger
from freezeframe.capture.registers.access import open_devices
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text

US = 1_000_000


def caught(path: Path, trigger: Trigger) -> CaptureFolder:
    """Set a trigger on A of an emulated pair, arm, run until it froze, pull."""
    target = EmulatorTarget("forth", "none", 4)
    devices = open_devices(target)
    set_trigger(devices[0], trigger)
    arm_all(devices)
    target.run_until_frozen(3_000 * US)
    pull(target, path)
    return CaptureFolder.open(path)


@pytest.mark.parametrize(
    ("tap", "terms", "count"),
    [
        ("tx_enq", ("type=RDMA_WRITE",), 1),
        ("rx_deq", ("kind=TAIL",), 3),
        ("tx_deq", ("kind=HEAD", "kind=TAIL"), 1),
        ("rx_enq", ("kind=HEAD",), 2),
    ],
)
def test_the_word_that_fired_is_named(
    tap: str, terms: tuple[str, ...], count: int, tmp_path: Path
) -> None:
    wanted = tuple(map(parse_term, terms))
    capture = caught(tmp_path / "x.ff", Trigger(tap, wanted, count))
    explanation = explain(capture)
    (one,) = explanation_document(capture, explanation)["fired"]
    assert (one["device"], one["tap"], one["term"], one["count"]) == (
        "A",
        tap,
        len(terms) - 1,
        count,
    )
    assert len(one["words"]) >= 1
    word = one["words"][-1]
    rows = explanation.trace.words
    row = rows[(rows["source"] == f"A.{tap}") & (rows["cycle"] == word["cycle"])].iloc[0]
    data = int(word["data"], 16)
    assert (row["kind"], int(row["data"]) & (1 << 64) - 1) == (word["kind"], data)
    last = wanted[-1]
    assert (data ^ last.value) & last.mask == 0
    cause = capture.devices[0].registers.value64("ctl.cause_cycle_")
    assert cause is not None
    if tap in ("tx_enq", "rx_deq"):  # on the clock of the register bus
        assert [each["cycle"] for each in one["words"]] == [cause - 1]
    text = explanation_text(capture, explanation)
    assert f"A.{tap}: {word['kind']} {word['data']}" in " ".join(text.split())
    json.dumps(one)


def test_a_card_that_something_else_froze_has_nothing_that_fired(tmp_path: Path) -> None:
    target = EmulatorTarget("forth", "none", 4)
    set_trigger(open_devices(target)[0], Trigger("tx_enq", (parse_term("data=1/0xff,kind=TAIL"),)))
    pull(target, tmp_path / "y.ff", freeze=True)
    capture = CaptureFolder.open(tmp_path / "y.ff")
    explanation = explain(capture)
    assert explanation_document(capture, explanation)["fired"] == []
    assert "What fired" not in explanation_text(capture, explanation)
