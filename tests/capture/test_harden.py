"""The short form of ``make harden``: no parser of bytes or text crashes, hangs, or refuses in more than a line."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.campaign.harden import short
from tests.campaign.harden_attack import NOW, attack, mutated, signature
from tests.campaign.harden_page import merged
from tests.campaign.harden_parsers import ALLOWED, PARSERS, Parser


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


@pytest.mark.parametrize(
    "name", ["sr", "vcd", "csv", "litescope", "saleae", "wav", "isf", "binary"]
)
def test_of_every_seed_of_a_file_of_samples_a_channel_is_read(name: str) -> None:
    """Or the data are never reached, only the head."""
    for seed in PARSERS[name].seeds():
        pieces = PARSERS[name].run(seed)
        assert isinstance(pieces, int)
        assert pieces > 0


@pytest.mark.parametrize("name", ["litescope", "saleae", "wav", "isf"])
def test_many_inputs_that_keep_the_structure_of_a_file_are_read(name: str) -> None:
    rng, parser = random.Random(name), PARSERS[name]
    assert parser.structured is not None
    read = 0
    for _ in range(60):
        data = parser.structured(rng, b"", lambda base: mutated(rng, base, b"xyz"))
        try:
            read += bool(parser.run(data))
        except ALLOWED:
            continue
    assert read > 15


def test_a_run_of_some_parsers_leaves_the_rows_of_the_others() -> None:
    page = (
        "| parser | executions | structure-aware | refused | corpus | branches | slow | crashes | most MB |\n"
        "|---|---|---|---|---|---|---|---|---|\n"
        "| etherbone | 10,000 | 0 | 9,394 | 12 | 68 % | 0 | 0 | 187 |\n"
        "| isf | 600 | 0 | 585 | 81 | not measured | 1 | 6 | 187 |\n"
        "| all | 10,600 | 0 | 9,979 | | | 1 | 6 | |\n"
    )
    head = "\n".join(page.splitlines()[:2])
    run = f"{head}\n| isf | 2,000 | 1,000 | 900 | 300 | 80 % | 0 | 0 | 200 |\n| all | 2,000 | ... |"
    assert merged(page, run).splitlines()[2:] == [
        "| etherbone | 10,000 | 0 | 9,394 | 12 | 68 % | 0 | 0 | 187 |",
        "| isf | 2,000 | 1,000 | 900 | 300 | 80 % | 0 | 0 | 200 |",
        "| all | 12,000 | 1,000 | 10,294 | | | 0 | 0 | |",
    ]


@pytest.mark.parametrize("name", [name for name, parser in PARSERS.items() if parser.structured])
def test_inputs_that_keep_their_structure_can_be_made_of_those_made_before(name: str) -> None:
    rng, structured = random.Random(name), PARSERS[name].structured
    assert structured is not None
    data = PARSERS[name].seeds()[0]
    for _ in range(60):
        data = structured(rng, data, lambda base: mutated(rng, base, b"xyz"))[: 1 << 16]
