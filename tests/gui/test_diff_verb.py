"""``freezeframe diff``: text, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.analyzers.bench_pair import Pair
from tests.analyzers.run_diff.test_run_diff import workload
from tests.gui.cli import run_inside


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Paths of a good run and of one in which a bit of one packet flips on the link."""
    path = tmp_path_factory.mktemp("runs")
    workload()[0].write(path / "good.ff")
    bad, sent = workload()
    for words in sent[17].from_tap("rx_enq"):
        words[6] = (2, words[6][1] ^ 8)
    bad.causes["B"] = ["pay-crc"]
    bad.write(path / "bad.ff")
    return str(path / "good.ff"), str(path / "bad.ff")


def test_the_first_divergence_stands_on_top(runs: tuple[str, str]) -> None:
    done = run_inside("diff", *runs)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[:3] == [f"A {runs[0]}", f"B {runs[1]}", "they differ"]
    assert lines[4].startswith("First divergence: B.rx_enq, ")
    assert lines[4].endswith("flow 1, packet 117: word 4 altered")
    assert "B.rx_enq    30  30     29        1          0          0           0 / 0" in done.out
    assert "B froze by           host  pay-crc" in done.out


def test_packets_of_runs_with_nothing_in_common_are_not_comparable(
    runs: tuple[str, str], tmp_path: Path
) -> None:
    other = Pair(seed=9)
    for _ in range(6):
        other.send(length=11)
    other.write(tmp_path / "other.ff")
    lines = run_inside("diff", runs[0], str(tmp_path / "other.ff")).out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("packets at"))
    assert lines[head].split("  ")[-1].strip() == "not comparable"
    assert lines[head + 1].split() == ["A.tx_enq", "30", "6", "0", "0", "0", "0", "30", "/", "6"]


def test_equal_runs_are_said_to_be_equal_and_exit_0(runs: tuple[str, str]) -> None:
    done = run_inside("diff", runs[0], runs[0], "--fail-on-difference")
    assert done.code == 0
    assert "no difference beyond chance" in done.out
    assert "Every packet that both runs recorded is the same in both." in done.out


def test_a_difference_exits_1_only_where_that_is_asked(runs: tuple[str, str]) -> None:
    assert run_inside("diff", *runs).code == 0
    assert run_inside("diff", *runs, "--fail-on-difference").code == 1
    assert run_inside("diff", *runs, "--json", "--fail-on-difference").code == 1


def test_json_holds_everything(runs: tuple[str, str]) -> None:
    document = json.loads(run_inside("diff", *runs, "--json").out)
    assert document["different"] is True
    assert document["first_divergence"]["tap"] == "B.rx_enq"
    taps = {one["tap"]: one for one in document["taps"]}
    assert taps["B.rx_enq"]["altered"] == [
        {"flow": 1, "packet": [117, 117], "words_differing": 1, "changes": ["word 4 altered"]}
    ]
    assert {"distributions", "counters", "events", "settings", "notes"} <= document.keys()


def test_all_lists_what_did_not_change_too(runs: tuple[str, str]) -> None:
    assert "A.tx_enq, packet length" not in run_inside("diff", *runs).out
    assert "A.tx_enq, packet length" in run_inside("diff", *runs, "--all").out


def test_a_path_that_is_no_capture_is_refused_in_one_line(
    runs: tuple[str, str], tmp_path: Path
) -> None:
    done = run_inside("diff", runs[0], str(tmp_path / "nothing.ff"))
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1


def test_a_capture_in_one_file_is_named_as_it_was_given(
    runs: tuple[str, str], tmp_path: Path
) -> None:
    packed = tmp_path / "bad.ff.zip"
    assert run_inside("bundle", runs[1], "-o", str(packed)).code == 0
    lines = run_inside("diff", runs[1], str(packed)).out.splitlines()
    assert lines[:2] == [f"A {runs[1]}", f"B {packed}"]
