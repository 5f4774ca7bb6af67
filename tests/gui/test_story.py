"""The story of a finding: each step is made from evidence and rows, in the order in which they are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import explain
from freezeframe.capture.folder import CaptureFolder
from freezeframe.gui.moments import Freeze, freezes
from freezeframe.gui.tracks.story import MOST_STEPS, Step, story_of
from tests.gui.desktop.captures import emulated


def told(place: Path, fault: str) -> list[Step]:
    folder = CaptureFolder.open(emulated(place / f"{fault}.ff", fault))
    explanation = explain(folder)
    (finding,) = explanation.findings
    return story_of(finding, explanation.trace, freezes(folder, explanation.trace))


def test_a_packet_goes_in_whole_comes_out_short_and_a_card_freezes(tmp_path: Path) -> None:
    steps = told(tmp_path, "word-omitted")
    words = [step.text for step in steps]
    went_in = words.index("Packet 69, 6 of 6 words, all checks good, at A.tx_enq")
    came_out = words.index(
        "Packet 69, 5 of 6 words, bad payload CRC and length, at A.tx_deq, B.rx_enq"
    )
    froze = words.index("B froze: pay-crc, length")
    assert went_in < came_out < froze == len(steps) - 1
    assert not any("ctl.causes" in text or "bus cycle" in text for text in words)
    spans = [step.span_ps for step in steps if step.span_ps is not None]
    assert len(spans) == len(steps) and all(begin < end for begin, end in spans)
    place = steps[went_in].place
    assert place is not None and place[0] == "packets"


def test_a_lost_credit_is_told_by_its_evidence_the_wait_and_the_freeze(tmp_path: Path) -> None:
    sent, waits, froze = told(tmp_path, "credit-lost")
    assert sent.text.startswith("B sent ") and sent.place is not None and sent.place[0] == "events"
    assert waits.text.startswith("Flow 0 of A waits for credit: ")
    assert waits.text.endswith(", and had not ended")
    assert froze.text == "A froze: credit-stall" and froze.place is None


def finding(*evidence: Evidence) -> Finding:
    return Finding("any-name", "What it is.", evidence=evidence, t_ps=1000)


def test_what_has_no_time_comes_first_and_moves_no_view() -> None:
    row = Row("words", "A.tap", "word 7", value=1, expected=2, row=7, t_ps=900)
    other = Row("words", "A.tap", "word 6", value=1, row=6, t_ps=800)
    counted = Evidence("the books differ.", rows=(Row("registers", "A", "count", value=3),))
    steps = story_of(finding(Evidence("it differs.", rows=(other, row)), counted), None, [])
    assert steps == [Step("The books differ"), Step("It differs", (800, 901), ("words", 7))]


def test_evidence_far_from_the_finding_does_not_widen_its_step() -> None:
    far = Row("words", "A.tap", "the first packet", row=1, t_ps=5 * 10**9)
    near = Row("words", "A.tap", "the last packet", row=2, t_ps=1100)
    (step,) = story_of(finding(Evidence("both.", rows=(far, near))), None, [])
    assert step == Step("Both", (1100, 1101), ("words", 2))


@pytest.mark.parametrize(("causes", "steps"), [(("crc",), 1), (("cross",), 0)])
def test_a_card_that_another_one_froze_is_no_step(causes: tuple[str, ...], steps: int) -> None:
    assert (
        len(story_of(finding(Evidence("it.")), None, [Freeze("A", causes, 1, 2000, 0, "cross")]))
        == 1 + steps
    )


def test_a_finding_on_a_thousand_sentences_has_as_many_steps_as_there_are_digits() -> None:
    many = [Evidence(f"sentence {n}.") for n in range(1000)]
    assert len(story_of(finding(*many), None, [])) == MOST_STEPS
