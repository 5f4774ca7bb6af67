"""The short form of ``make harden``: no parser of bytes or text crashes, hangs, or refuses in more than a line."""

from __future__ import annotations

import random

from tests.campaign.harden import mutated, short, signature


def test_no_parser_crashes_or_hangs_on_broken_input() -> None:
    tallies = short(400)
    assert {name: tally.crashes for name, tally in tallies.items() if tally.crashes} == {}
    assert {name for name, tally in tallies.items() if tally.executions < 3} == set()
    assert sum(tally.structured for tally in tallies.values()) > 100


def test_inputs_are_a_matter_of_their_seed() -> None:
    made = [mutated(random.Random(n), b"0123456789 abc", b"xyz") for n in range(50)]
    assert made == [mutated(random.Random(n), b"0123456789 abc", b"xyz") for n in range(50)]
    assert len(set(made)) > 40


def test_answers_that_differ_in_numbers_and_names_alone_are_one() -> None:
    assert signature("refused x.sr: byte 0x10: 'a' is 5") == signature(
        "refused x.sr: byte 0x9: 'b' is 7"
    )
