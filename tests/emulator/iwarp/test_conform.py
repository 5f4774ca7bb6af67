"""Conformance: our own stack passes in both roles, the evidence reads as packets, verdicts come out for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from freezeframe.emulator.iwarp.conform import results
from freezeframe.emulator.iwarp.conform.evidence import write_evidence
from freezeframe.emulator.iwarp.conform.outcome import ANY, INITIATOR, PASS, RESPONDER
from freezeframe.emulator.iwarp.conform.requirement import REQUIREMENTS, Requirement
from freezeframe.emulator.iwarp.conform.suite import Results, collect, judge
from freezeframe.emulator.iwarp.conform.trial import Subject
from freezeframe.emulator.iwarp.mpa import Options
from tests.emulator.iwarp.ends import let_compile
from tests.emulator.iwarp.subject import initiator, responder

INITIATING = Options(startup_s=0.3, stall_s=2.0, markers=True, peer_to_peer=True)


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    let_compile()


def _of(*roles: str) -> list[Requirement]:
    return sorted((r for r in REQUIREMENTS if r.role in roles), key=lambda r: r.number)


@pytest.fixture(scope="module")
def listening() -> Iterator[Subject]:
    with responder() as subject:
        yield subject


@pytest.fixture(scope="module")
def calling() -> Iterator[Subject]:
    with initiator(INITIATING) as subject:
        yield subject


@pytest.mark.parametrize("requirement", _of(ANY, RESPONDER), ids=lambda r: str(r.number))
def test_our_responder_passes(requirement: Requirement, listening: Subject) -> None:
    verdict, _ = judge(requirement, listening)
    assert (verdict.outcome, verdict.seen) == (PASS, verdict.seen)


@pytest.mark.parametrize("requirement", _of(ANY, INITIATOR), ids=lambda r: str(r.number))
def test_our_initiator_passes(requirement: Requirement, calling: Subject) -> None:
    verdict, _ = judge(requirement, calling)
    assert (verdict.outcome, verdict.seen) == (PASS, verdict.seen)


def test_numbers_are_given_once_and_say_the_layer() -> None:
    numbers = [r.number for r in REQUIREMENTS]
    assert len(set(numbers)) == len(numbers)
    assert {n // 100 for n in numbers} == set(results.LAYERS)


def test_every_requirement_stands_in_the_docs_as_it_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "iwarp-conform.md").read_text("utf-8")
    for r in REQUIREMENTS:
        assert f"| {r.number} | {r.text} | {r.clause} | {r.done} | {r.role} | {r.needs} |" in page


def test_a_peer_that_is_not_there_is_inconclusive() -> None:
    (verdict,) = collect(Subject("127.0.0.1", 1, limit_s=0.2), [101]).verdicts
    assert verdict.outcome == "inconclusive"
    assert verdict.seen == "the peer cannot be reached: Connection refused"


@pytest.fixture(scope="module")
def short(listening: Subject) -> Results:
    """Three requirements: two that pass, and one that needs memory where none is known."""
    alone = Subject(listening.host, listening.port, limit_s=2.0, quiet_s=0.05)
    return collect(alone, [101, 303, 310])


def test_verdicts_come_out_as_junit(short: Results) -> None:
    suite = ElementTree.fromstring(results.junit(short, "127.0.0.1:4791"))
    assert suite.attrib["name"] == "iwarp conform 127.0.0.1:4791"
    assert [suite.attrib[k] for k in ("tests", "failures", "skipped")] == ["3", "0", "1"]
    cases = suite.findall("testcase")
    assert [case.attrib["classname"] for case in cases] == [
        "iwarp.startup",
        "iwarp.DDP",
        "iwarp.DDP",
    ]
    assert cases[1].findtext("system-out") == "Terminate (1, 2, 0x01)"
    skipped = cases[2].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"].startswith("no memory of the peer is known")


def test_verdicts_come_out_as_json(short: Results) -> None:
    told = json.loads(json.dumps(results.document(short, "127.0.0.1:4791", RESPONDER)))
    assert (told["pass"], told["fail"], told["inconclusive"]) == (2, 0, 1)
    assert [r["verdict"] for r in told["requirements"]] == ["pass", "pass", "inconclusive"]
    assert told["requirements"][1]["clause"] == "RFC 5041, 4.3; 7"


def test_the_evidence_holds_the_octets_of_every_connection(short: Results, tmp_path: Path) -> None:
    path = tmp_path / "evidence.pcapng"
    write_evidence(short.records, path, "a test")
    data = path.read_bytes()
    assert all(said.octets in data for record in short.records for said in record.said)
    assert b"303: pass: Terminate (1, 2, 0x01)" in data
