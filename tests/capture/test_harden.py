"""The short form of ``make harden``: no parser of bytes or text crashes, hangs, or refuses in more than a line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.campaign.harden import NOW, attack, mutated, short, signature
from tests.campaign.harden_parsers import PARSERS, Parser


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


def test_what_a_process_died_of_is_kept_whole(tmp_path: Path) -> None:
    """The present input stands in memory that outlives the process."""

    def dies(data: bytes) -> object:
        if not data.startswith(b"abc"):
            os._exit(7)
        return 0

    child = os.fork()
    if not child:
        attack(Parser("dies", lambda: (b"abc" * 99,), dies, ()), 10_000, 0, tmp_path)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    raw = (tmp_path / "dies" / NOW).read_bytes()
    size_B = int.from_bytes(raw[:8], "little")
    assert 0 <= size_B < 5000
    assert not raw[8 : 8 + size_B].startswith(b"abc")


@pytest.mark.parametrize("name", [name for name, parser in PARSERS.items() if parser.structured])
def test_inputs_that_keep_their_structure_can_be_made_of_those_made_before(name: str) -> None:
    rng, structured = random.Random(name), PARSERS[name].structured
    assert structured is not None
    data = PARSERS[name].seeds()[0]
    for _ in range(60):
        data = structured(rng, data, lambda base: mutated(rng, base, b"xyz"))[: 1 << 16]
