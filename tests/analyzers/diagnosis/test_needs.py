"""A diagnosis is asked where the card has what it rests on; where not, that is said in a line, and it is not named."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from freezeframe.analyzers.explain import explain
from freezeframe.analyzers.witness.declared import not_asked, shipped
from freezeframe.capture.card.elaborated import ElaboratedCard, elaborate
from freezeframe.capture.card.finding import FoundCard
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.shipped import shipped_cards
from tests.analyzers.bench_pair import Pair

TEXT = shipped_cards()["forth"].read_text("utf-8")


def _card(pattern: str, new: str) -> ElaboratedCard:
    text, changed = re.subn(pattern, new, TEXT)
    assert changed
    return elaborate(parse_card(text))


def test_every_fault_of_the_example_card_declares_its_needs_and_the_card_meets_them() -> None:
    assert all(fault.needs for fault in shipped().values())
    assert not_asked(elaborate(parse_card(TEXT))) == {}


@pytest.mark.parametrize(
    ("pattern", "new", "off", "said"),
    [
        (
            'scheme = "cumulative-credits"', 'scheme = "ready-valid"',
            {"credit-corrupted", "credit-lost", "wrap-unhandled", "credit-start-too-large", "credit-too-coarse",
             "credit-too-optimistic", "header-miscounted"},
            'credit-lost: the card has not flow_control "cumulative-credits" (it is "ready-valid")',
        ),
        (
            'means = "idles-removed", ', "", {"clock-drift"},
            "clock-drift: the card has not a counter that means idles-removed",
        ),
        (
            r"irq_\w+ = .*\n", "", {"interrupt-storm", "interrupt-lost"},
            "interrupt-lost: the card has not events irq in its log",
        ),
        (
            r'level = "([tr]x)_level"', r'level = "\1_level"\nreorders = true', {"word-omitted", "word-duplicated"},
            "word-omitted: the card has not a FIFO between two taps that neither drops nor changes words",
        ),
    ],
)  # fmt: skip
def test_what_a_card_has_not_switches_off_what_rests_on_it(
    pattern: str, new: str, off: set[str], said: str
) -> None:
    missing = not_asked(_card(pattern, new))
    assert missing.keys() == off
    assert said in missing.values()


def test_what_could_not_be_asked_is_neither_named_nor_a_candidate_and_is_listed(
    tmp_path: Path,
) -> None:
    pair = Pair()
    hit = pair.traffic(20)[11]
    for words in hit.from_tap("tx_deq"):
        del words[9]
    capture = pair.write(tmp_path / "pair.ff")
    assert explain(capture).findings[0].diagnosis == "word-omitted"
    card = _card(r'level = "([tr]x)_level"', r'level = "\1_level"\nreorders = true')
    found = FoundCard(card, card.text, "test")
    capture.devices[:] = [replace(device, found=found) for device in capture.devices]
    explained = explain(capture)
    assert all(finding.diagnosis != "word-omitted" for finding in explained.findings)
    assert all("word-omitted" not in finding.candidates for finding in explained.findings)
    assert [line.partition(":")[0] for line in explained.not_asked] == [
        "word-duplicated",
        "word-omitted",
    ]
    assert explained.to_json()["not_asked"] == list(explained.not_asked)
