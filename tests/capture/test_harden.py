"""The short form of ``make harden``: no parser of bytes or text crashes, hangs, or refuses in more than a line."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from freezeframe.capture.errors import CaptureFormatError
from freezeframe.capture.files.edges import Edges
from freezeframe.decoders.trace.memory import ProblemCode
from tests.campaign import harden_oracles as oracles
from tests.campaign.harden import short
from tests.campaign.harden_attack import NOW, attack, corpus_of, mutated, signature
from tests.campaign.harden_page import merged, still
from tests.campaign.harden_parsers import ALLOWED, PARSERS, Parser
from tests.campaign.harden_waves import FST


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
    "name", ["sr", "vcd", "csv", "litescope", "saleae", "wav", "isf", "binary", "fst", "ghw"]
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
    read = 0
    for _ in range(60):
        data = parser.structured(rng, b"", lambda base: mutated(rng, base, b"xyz"))
        try:
            read += bool(parser.run(data))
        except ALLOWED:
            continue
    assert read > 15


def test_a_card_file_with_one_value_changed_is_toml_and_often_a_card() -> None:
    """Or nothing behind the first thing that is looked at is ever reached."""
    rng, parser = random.Random(3), PARSERS["card file"]
    said = []
    for _ in range(80):
        data = parser.structured(rng, rng.choice(parser.seeds()), lambda base: base)
        try:
            said.append(str(parser.run(data)))
        except ALLOWED as error:
            said.append(str(error))
    assert not [line for line in said if "no TOML" in line]
    assert len([line for line in said if line.startswith("(")]) > 15
    assert len({signature(line) for line in said}) > 30


def test_records_that_are_changed_are_of_every_memory_with_gaps_and_everything_wrong() -> None:
    rng, parser = random.Random(3), PARSERS["records"]
    assert {parser.run(seed) for seed in parser.seeds()} == {"False ", "True not-read+undated"}
    said = ""
    for _ in range(1200):
        data = parser.structured(rng, rng.choice(parser.seeds()), lambda base: base)
        said += f"{parser.run(data)} "
    assert {str(code) for code in ProblemCode} <= {*said.replace("+", " ").split()}


@pytest.mark.parametrize(
    ("signals", "says"), [(1 << 60, "more than 448 MiB of memory"), ((1 << 64) - 1, "panic")]
)
def test_that_a_foreign_reader_dies_is_a_line_and_the_next_file_is_read(
    signals: int, says: str
) -> None:
    whole = FST[0]
    at = whole.index(b"\3" + (27).to_bytes(8, "big")) + 17  # how many signals the geometry has
    with pytest.raises(CaptureFormatError, match=f"(?i){says}"):
        PARSERS["fst"].run(whole[:at] + signals.to_bytes(8, "big") + whole[at + 8 :])
    assert PARSERS["fst"].run(whole) == 2


def test_a_run_of_some_parsers_leaves_the_rows_of_the_others() -> None:
    head = (
        "| parser | executions | structure-aware | refused | compared | CPU s | corpus | branches | slow "
        "| crashes | left | most MB |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    )
    page = (
        *head,
        "| etherbone | 10,000 | 0 | 9,394 | 0 | 1,200 | 12 | 35 of 52 (67 %) | 0 | 0 | 0 | 187 |",
        "| isf | 600 | 0 | 585 | 0 | 3 | 81 | not measured | 1 | 6 | 2 | 187 |",
        "| all | 10,600 | 0 | 9,979 | 0 | 1,203 | | | 1 | 6 | 2 | |",
    )
    run = (
        *head,
        "| isf | 2,000 | 1,000 | 900 | 7 | 9 | 300 | 8 of 9 (88 %) | 0 | 1 | 0 | 200 |",
        "| all | ... |",
    )
    assert merged("\n".join(page), "\n".join(run)).splitlines() == [
        *head,
        "| etherbone | 10,000 | 0 | 9,394 | 0 | 1,200 | 12 | 35 of 52 (67 %) | 0 | 0 | 0 | 187 |",
        "| isf | 2,000 | 1,000 | 900 | 7 | 9 | 300 | 8 of 9 (88 %) | 0 | 1 | 0 | 200 |",
        "| all | 12,000 | 1,000 | 10,294 | 7 | 1,209 | | | 0 | 1 | 0 | |",
    ]


def test_an_input_that_takes_a_way_of_its_own_joins_the_corpus(tmp_path: Path) -> None:
    """Whatever it answers: here always the same."""
    (tmp_path / "stepped.py").write_text(
        "def stepped(data):\n    if data[:1] != b'a':\n        return 1\n    return 1\n"
    )
    code: dict[str, Any] = {}
    file = tmp_path / "stepped.py"
    exec(compile(file.read_text(), file, "exec"), code)
    parser = Parser("ways", lambda: (b"abcabc",), code["stepped"], ("stepped.py",))
    attack(parser, 500, 0, tmp_path)
    found = corpus_of(parser, tmp_path)
    assert [data[:1] == b"a" for data in found] == [True, False]


def test_an_input_that_crashes_is_kept_once_of_its_kind_and_tried_again(tmp_path: Path) -> None:
    def crashes(data: bytes) -> object:
        if data[:1] != b"a":
            raise ZeroDivisionError(str(len(data)))
        return 1

    tally = attack(Parser("crashes", lambda: (b"abcabc",), crashes, ()), 500, 0, tmp_path)
    assert tally.crashed > 5
    assert len(tally.crashes) == 1
    (kept,) = (tmp_path / "crashes").glob("crash-*[0-9]")
    assert kept.read_bytes()[:1] != b"a"


def test_what_was_kept_of_a_parser_that_does_not_crash_any_more_is_not_left(tmp_path: Path) -> None:
    (tmp_path / "etherbone").mkdir()
    (tmp_path / "etherbone/crash-0-1").write_bytes(b"Nothing")
    assert still("etherbone", tmp_path) == []


def test_a_parser_that_stands_still_ends_the_process(tmp_path: Path) -> None:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # not the limit of this test
        attack(Parser("hangs", lambda: (b"abc",), _stands_still, ()), 999, 0, tmp_path, hung_s=0.2)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGALRM
    assert not (tmp_path / "hangs" / NOW).read_bytes()[8:].startswith(b"abc")


def _stands_still(data: bytes) -> object:
    while not data.startswith(b"abc"):
        time.sleep(0.01)
    return 0


@pytest.mark.parametrize("name", PARSERS)
def test_inputs_that_keep_their_structure_can_be_made_of_those_made_before(name: str) -> None:
    rng, structured = random.Random(name), PARSERS[name].structured
    data = PARSERS[name].seeds()[0]
    for _ in range(60):
        data = structured(rng, data, lambda base: mutated(rng, base, b"xyz"))[: 1 << 16]


@pytest.mark.parametrize("name", ["sr", "wav", "binary"])
def test_files_of_samples_are_held_against_a_reader_of_the_standard_library(name: str) -> None:
    before = oracles.compared
    seeds = PARSERS[name].seeds()
    for seed in seeds:
        PARSERS[name].run(seed)
    assert oracles.compared - before >= (2 if name == "wav" else len(seeds))  # floats: no verdict


def test_a_value_that_an_independent_reader_has_otherwise_is_a_crash() -> None:
    piece = _edges([0, 3], [1, 0], 5)
    oracles.hold([piece], [1, 1, 1, 0, 0])
    for values in ([1, 1, 0, 0, 0], [1, 1, 1, 0], [0, 1, 1, 0, 0]):
        with pytest.raises(AssertionError, match="other values than an independent reader"):
            oracles.hold([piece], values)


def _edges(sample: list[int], value: list[int], end_sample: int) -> Edges:
    return Edges(
        np.array(sample, np.int64), np.array(value, np.uint64), ("a",), 1000, 0, end_sample
    )
