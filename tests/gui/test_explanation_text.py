"""An explanation in the terminal: what, where, when, the words side by side, and what to do next."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.contract import Evidence, Finding, Row
from freezeframe.analyzers.explain import Explanation
from freezeframe.analyzers.witness.looked import LogReach
from freezeframe.capture.folder import CaptureFolder
from freezeframe.emulator.faults.registry import FAULTS as REGISTERED
from freezeframe.gui.cli.explanation_text import explanation_document, explanation_text
from freezeframe.gui.moments import first_freeze, freezes
from freezeframe.gui.report.advice import ADVICE, headline, next_steps
from freezeframe.gui.report.comparison import compare, difference_text, differing_digits
from tests.gui.made_capture import made_capture, made_explanation

FAULTS = tuple(sorted(REGISTERED.keys() - {"none"}))


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> CaptureFolder:
    return made_capture(tmp_path_factory.mktemp("made") / "made.ff")


def word(
    source: str, label: str, value: int, expected: int | None = None, table: str = "words"
) -> Row:
    return Row(table, source, label, value, expected)


def test_the_whole_text_of_a_finding(capture: CaptureFolder) -> None:
    text = explanation_text(capture, made_explanation(capture))
    assert text.split("\n") == [
        "made.ff: 1 finding, frozen by pay-crc at B",
        "",
        "word-omitted: a 64-bit word was lost in A's outgoing FIFO",
        "",
        "  where       A.tx_deq, A->B, flow 2, packet 7, word 3",
        "  when        6.56 µs ± 6.402 ns, 5.275 µs before the cause of the freeze",
        "  confidence  0.97 (99 of 100)",
        "  in general  beat-omitted",
        "",
        "  The words differ.",
        "",
        "  Evidence",
        "  1. Up to here the words are equal, then one is missing.",
        "                         A.tx_enq            A.tx_deq",
        "     payload word 2      0xad5ba0d0769cc0e4  0xad5ba0d0769cc0e4",
        "     payload word 3      0x367a8fbf9e7528f3  -                   <- not at A.tx_deq",
        "     payload word 4 / 3  0x16b2d74a49b0c8e7  0x16b2d74a49b0c8e7",
        "  2. The counter of bad payloads stands at 1.",
        "",
        "  What to do next",
        "  - Look at the write side of that FIFO: write enable, almost-full, and what holds them"
        " off when a",
        "    transfer stops and is retried.",
        "  - Set a trigger on the first word of the packet at the tap before, and capture again.",
        "",
        "Limits of this answer",
        "  - The event log of A begins 3 us after its taps.",
    ]


def test_no_line_of_running_text_is_wider_than_a_terminal_and_no_candidate_is_torn(
    capture: CaptureFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_explanation(capture)
    finding = replace(made.findings[0], diagnosis="undetermined", candidates=FAULTS)
    explanation = Explanation([finding], made.notes, made.trace)
    for columns, is_terminal, width in ((80, True, 80), (200, True, 100), (80, False, 100)):
        monkeypatch.setattr("sys.stdout.isatty", lambda is_terminal=is_terminal: is_terminal)
        monkeypatch.setenv("COLUMNS", str(columns))
        text = explanation_text(capture, explanation)
        words = [line for line in text.split("\n") if "  0x" not in line]
        assert width - 12 < max(len(line) for line in words) <= width
        candidates = text.split("  candidates  ")[1].split("\n\n")[0]
        assert candidates.replace(",", " ").split() == list(FAULTS)


def test_a_clean_capture_says_that_nothing_was_found(capture: CaptureFolder) -> None:
    explanation = Explanation([], [], made_explanation(capture).trace)
    text = explanation_text(capture, explanation)
    assert text.startswith("made.ff: no fault found, frozen by pay-crc at B")
    assert explanation_document(capture, explanation)["findings"] == []


def test_beside_no_fault_stands_how_much_of_the_recording_the_event_logs_hold(
    capture: CaptureFolder,
) -> None:
    reach = LogReach("A", 2_077_460_000, 9_205_260_000, 40_960_000, 6847, whole=False)
    made = made_explanation(capture)
    clean = Explanation([], [], made.trace, (reach,))
    text = explanation_text(capture, clean)
    assert (
        "What the event logs hold\n"
        "  - A's event log holds the last 2.08 ms of the 9.21 ms since the recorder was armed; 6,847 records\n"
        "    were overwritten before that."
    ) in text
    assert explanation_document(capture, clean)["event_logs"][0]["overwritten_records"] == 6847
    named = Explanation(made.findings, [], made.trace, (reach,))
    assert "What the event logs hold" not in explanation_text(capture, named)


def test_the_document_has_the_keys_that_a_machine_may_rely_on(capture: CaptureFolder) -> None:
    document = explanation_document(capture, made_explanation(capture))
    assert list(document) == [
        "answer", "findings", "looked_at", "not_seen", "stalls", "stopped", "notes", "event_logs", "not_asked",
        "qualified", "lost", "freeze", "fired", "history",
    ]  # fmt: skip
    (finding,) = document["findings"]
    asked = (
        "diagnosis device tap direction flow packet word t_ps t_uncertainty_ps confidence"
        " candidates evidence"
    )
    assert set(asked.split()) <= set(finding)
    assert (finding["packet"], finding["word"]) == (7, 3)
    assert document["freeze"]["device"] == "B"
    assert document["freeze"]["causes"] == ["pay-crc"]
    assert json.loads(json.dumps(document)) == document


def test_what_the_card_gives_no_ground_for_is_listed(capture: CaptureFolder) -> None:
    trace = made_explanation(capture).trace
    lacks = ("credit-lost: the card has not events credit in its log",)
    text = explanation_text(capture, Explanation([], [], trace, not_asked=lacks))
    assert "What could not be asked\n  - credit-lost: the card has not events credit" in text
    assert "What could not be asked" not in explanation_text(capture, Explanation([], [], trace))


def test_control_characters_of_a_capture_are_made_visible(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff")
    text = explanation_text(folder, made_explanation(folder, text="\x1b]0;owned\x07 done"))
    assert "\x1b" not in text
    assert r"\x1b]0;owned\x07 done" in text


def test_the_device_that_froze_first_is_not_the_one_that_was_told_to(
    capture: CaptureFolder,
) -> None:
    trace = made_explanation(capture).trace
    assert [f.device for f in freezes(capture, trace)] == ["B", "A"]
    first = first_freeze(capture, trace)
    assert first is not None
    assert (first.device, first.causes, first.is_cross) == ("B", ("pay-crc",), False)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("tap", ["tx_deq", "rx_enq", "rx_deq", None])
def test_every_fault_has_a_headline_and_something_to_do(fault: str, tap: str | None) -> None:
    seen = (Evidence("seen"),)
    finding = Finding(fault, "text", device="B", tap=tap, evidence=seen, place="the link into B")
    assert headline(finding).startswith(f"{fault}: ")
    assert "the link into B" in headline(finding)
    assert "{" not in headline(finding)
    assert next_steps(finding)
    assert next_steps(finding) != next_steps(replace(finding, diagnosis="of-a-plug-in"))


def test_a_diagnosis_of_another_package_has_a_headline_too() -> None:
    finding = Finding("link-on-fire", "text", device="A", evidence=(Evidence("smoke"),))
    assert "link-on-fire" not in ADVICE
    assert headline(finding) == "link-on-fire at A"
    assert next_steps(finding)


def test_rows_with_the_same_label_stand_beside_each_other() -> None:
    found = compare([word("A", "header", 1), word("B", "header", 3), word("A", "tail", 5)])
    assert found is not None
    assert found.sources == ("A", "B")
    assert [line.label for line in found.lines] == ["header", "tail"]
    assert [found.note(line) for line in found.lines] == ["bit 1 differs", "not at B"]


def test_a_word_found_later_stands_beside_where_it_was_expected() -> None:
    found = compare([word("A", "payload word 4", 7), word("B", "payload word 3", 7, expected=7)])
    assert found is not None
    (line,) = found.lines
    assert line.label == "payload word 4 / 3"
    assert found.note(line) == ""


def test_rows_of_one_tap_after_those_of_the_other_are_paired_by_label() -> None:
    rows = [
        word("A", "header", 1),
        word("A", "tail", 2),
        word("B", "header", 1),
        word("B", "tail", 3),
    ]
    found = compare(rows)
    assert found is not None
    assert [(line.label, found.note(line)) for line in found.lines] == [
        ("header", ""),
        ("tail", "bit 0 differs"),
    ]


def test_a_repeated_word_has_a_line_of_its_own() -> None:
    found = compare(
        [
            word("A", "payload word 1", 9),
            word("B", "payload word 1", 9, expected=9),
            word("B", "payload word 2 (only here)", 9),
            word("A", "payload word 2", 4),
            word("B", "payload word 3", 4, expected=4),
        ]
    )
    assert found is not None
    assert [found.note(line) for line in found.lines] == ["", "not at A", ""]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [word("A", "header", 1)],
        [word("A", "header", 1), word("A", "tail", 2)],
        [word("A", "limit", 1, table="registers"), word("B", "header", 2)],
        [word("A", "header", 1), word("B", "tail", 2)],
    ],
    ids=["none", "one", "one source", "two tables", "nothing in common"],
)
def test_rows_that_do_not_belong_together_are_listed(rows: list[Row]) -> None:
    assert compare(rows) is None


@pytest.mark.parametrize(
    ("value", "against", "text"),
    [
        (0, 0, "equal"),
        (1 << 63, 0, "bit 63 differs"),
        (0b1010, 0, "bits 1, 3 differ"),
        ((1 << 64) - 1, 0, "64 of 64 bits differ"),
    ],
)
def test_a_difference_is_told_by_bits_when_they_are_few(
    value: int, against: int, text: str
) -> None:
    assert difference_text(value, against) == text


def test_digits_that_differ_are_marked_from_the_left() -> None:
    assert differing_digits(0x12, 0x1A, bits=8) == [False, True]
    assert sum(differing_digits(1 << 63, 0)) == 1
    assert differing_digits(1 << 63, 0)[0]


def test_a_long_piece_of_evidence_is_cut_and_says_so(capture: CaptureFolder) -> None:
    rows = tuple(word("A.tx_enq", f"payload word {i}", i) for i in range(100))
    finding = Finding("word-omitted", "t", "A", "tx_deq", evidence=(Evidence("e", rows=rows),))
    trace = made_explanation(capture).trace
    text = explanation_text(capture, Explanation([finding], [], trace))
    assert "... and 76 more rows (--json has all)" in text


def test_register_values_are_counts_and_words_are_hex(capture: CaptureFolder) -> None:
    rows = (
        Row("registers", "A", "frozen_flow[0].limit", 4096, 2048),
        Row("words", "A.tx_enq", "header", 4096),
    )
    finding = Finding("credit-start-too-large", "t", "A", evidence=(Evidence("e", rows=rows),))
    trace = made_explanation(capture).trace
    text = explanation_text(capture, Explanation([finding], [], trace))
    assert "4,096" in text
    assert "<- expected 2,048" in text
    assert "0x0000000000001000" in text
