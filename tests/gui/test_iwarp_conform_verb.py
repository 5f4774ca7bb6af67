"""``freezeframe iwarp conform``: lines, files, exit codes, and bad input in one line each."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.gui.cli import refusal, run_inside
from tests.gui.test_iwarp_verb import running


def test_a_listener_of_ours_is_put_to_requirements_and_the_evidence_decodes(tmp_path: Path) -> None:
    junit, seen, page = tmp_path / "c.xml", tmp_path / "c.pcapng", tmp_path / "c.html"
    with running("listen", "--limit", "1") as (address, _):
        run_inside(
            "iwarp", "connect", address, "--send", "hello"
        )  # so that its kernels are compiled
        outcome = run_inside(
            "iwarp", "conform", address, "--only", "101", "--only", "207", "--only", "303", "--only", "409",
            "--junit", str(junit), "--evidence", str(seen), "--report", str(page),
        )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert (
        outcome.out.splitlines()[0]
        == "101  pass          a valid Request is answered by a Reply, with its key"
    )
    assert outcome.out.splitlines()[-1] == "3 pass, 0 fail, 1 inconclusive"
    assert ElementTree.fromstring(junit.read_bytes()).attrib["tests"] == "4"
    assert "a queue that does not exist is an error" in page.read_text("utf-8")
    decoded = run_inside("decode", str(seen), "-d", "iwarp")
    assert "ddp-queue" in decoded.out or "queue 77 does not exist" in decoded.out, decoded.err
    taken = run_inside("iwarp", "conform", address, "--junit", str(junit))
    assert taken.code == 2 and "c.xml" in taken.err


def test_a_peer_that_is_no_iwarp_fails() -> None:
    with running("listen", "--tcp") as (address, _):
        outcome = run_inside(
            "iwarp", "conform", address, "--only", "101", "--limit", "0.5", "--json"
        )
    assert outcome.code == 1
    told = json.loads(outcome.out)
    assert (told["pass"], told["fail"]) == (0, 1)
    assert told["requirements"][0]["seen"].startswith("no MPA frame")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give the peer's HOST:PORT, or --listen HOST:PORT where it connects to us"),
        (["127.0.0.1:1", "--listen", "127.0.0.1:0"], "give the peer's HOST:PORT"),
        (
            ["127.0.0.1:1", "--only", "9"],
            "--only 9: no requirement has that number; --list shows them",
        ),
        (["127.0.0.1:1", "--region", "0x101"], "write STAG:TO:LENGTH, for instance 0x101:0:65536"),
        (["nowhere"], "peer 'nowhere': write HOST:PORT"),
    ],
)
def test_bad_input_gets_one_line(arguments: list[str], said: str) -> None:
    assert said in refusal("iwarp", "conform", *arguments)


def test_the_requirements_are_listed() -> None:
    outcome = run_inside("iwarp", "conform", "--list", "--json")
    found = {r["number"]: r for r in json.loads(outcome.out)}
    assert (found[303]["role"], found[303]["clause"]) == ("any", "RFC 5041, 4.3; 7")
