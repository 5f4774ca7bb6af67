"""The emulated PCI-SCI bridge by the command line: served over UDP, pulled, explained, checked, armed again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gui.cli import run_inside
from tests.gui.test_emulate_verb import emulating


def test_a_bridge_is_served_pulled_and_explained(tmp_path: Path) -> None:
    capture, truth = str(tmp_path / "sci.ff"), tmp_path / "truth.txt"
    url = f"emu:?profile=pci-sci&fault=nwrite-response-confused&seed=7&truth={truth}"
    assert run_inside("pull", url, "-o", capture).code == 0
    explained = json.loads(run_inside("explain", capture, "--json").out)
    assert truth.read_text().splitlines()[0] == "run 1: the response of transaction 19 closed 20"
    assert "The answer for ID 19 closed the transaction of ID 20" in json.dumps(explained)
    assert run_inside("check", capture).out == "sci.ff: 0 laws broken, 6 hold, 0 not checkable\n"
    found = run_inside("analyze", capture, "transactions", "--fail-on-findings")
    assert found.code == 1 and "answer-confused" in found.out


def test_over_udp_each_arm_is_another_run_with_a_generation_of_its_own(tmp_path: Path) -> None:
    hashes = []
    with emulating(
        "--listen", "127.0.0.1:0", "--profile", "pci-sci", "--fault", "response-lost"
    ) as (_, line):
        url = line.split()[1]
        assert line.endswith("profile pci-sci fault response-lost seed 0\n")
        for number in (1, 2):
            path = tmp_path / f"{number}.ff"
            assert run_inside("pull", url, "-o", str(path)).code == 0
            hashes.append(json.loads((path / "manifest.json").read_text())["digest"])
            assert run_inside("arm", url).code == 0
        status = json.loads(run_inside("status", url, "--json").out)
    assert len(set(hashes)) == 2
    assert status["state"] == "frozen" and "timed_out" in json.dumps(status)


def test_phases_of_a_single_write_are_printed(tmp_path: Path) -> None:
    capture = str(tmp_path / "one.ff")
    assert (
        run_inside(
            "pull", "emu:?profile=pci-sci&workload=single-4B", "-o", capture, "--freeze"
        ).code
        == 0
    )
    printed = run_inside("analyze", capture, "latency").out
    lines = {
        line.rsplit(":", 1)[1].split()[0]: line.split()[-2:]
        for line in printed.splitlines()
        if "host bus:" in line
    }
    assert lines["D"] == ["630", "ns"] and lines["whole"] == ["2.67", "µs"]


def test_two_nodes_are_pulled_together_and_each_says_what_it_knows_of_the_other(
    tmp_path: Path,
) -> None:
    capture = str(tmp_path / "two.ff")
    url = "emu:?profile=pci-sci-pair&fault=page-not-exported&seed=3"
    assert run_inside("pull", url, "-o", capture).code == 0
    a, b = json.loads(run_inside("explain", capture, "--json").out)["devices"]
    assert (a["device"], a["card"]["name"], a["answer"]) == ("A", "pci-sci-node", "1 finding")
    assert a["findings"][0]["text"].startswith("up_refused at B: an access with ID 3 was not ")
    assert (b["device"], b["answer"]) == ("B", "no fault found")
    assert run_inside("check", capture).out == "two.ff: 0 laws broken, 14 hold, 0 not checkable\n"
    shown = run_inside("analyze", capture, "transactions", "latency").out
    assert "A.remote, packets with an ID seen at the other end" in shown
    assert "A.blink_out->B.blink_in, first beat to first beat, least" in shown
    alone = json.loads(run_inside("explain", capture, "--json", "--device", "A").out)["devices"]
    assert alone[0]["findings"] == a["findings"]  # the other one is in the capture all the same
    for made in (("report", capture, "-o", "r.html"), ("plot", capture, "-o", "p.svg")):
        assert run_inside(*made[:-1], str(tmp_path / made[-1])).code == 0


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("emu:?profile=pci-sci&fault=word-omitted", "profile pci-sci: there is no fault 'word-omitted'; there is none"),
        ("emu:?profile=pci-sci&load=light", "profile pci-sci has workloads and no load"),
    ],
)  # fmt: skip
def test_what_a_bridge_does_not_have_is_one_line(url: str, says: str, tmp_path: Path) -> None:
    done = run_inside("pull", url, "-o", str(tmp_path / "x.ff"))
    assert done.code == 2 and says in done.err and done.err.count("\n") == 1
