"""what-if: a described adapter beside its change, sweeps, drawings, bad input in one line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gui.cli import refusal, run_inside


def test_the_profiles_that_ship_are_listed() -> None:
    done = run_inside("what-if", "list")
    assert (done.code, done.err) == (0, "")
    assert "cim250-both" in done.out and "modern" in done.out and "forth" not in done.out
    assert "cim250" in json.loads(run_inside("what-if", "list", "--json").out)["profiles"]


def test_a_change_stands_beside_the_profile_with_bound_bottleneck_and_what_each_part_is_worth() -> (
    None
):
    done = run_inside("what-if", "cim250", "--set", "depth=2")
    assert (done.code, done.err) == (0, "")
    lines = {line.split("  ")[0]: line.split() for line in done.out.splitlines()}
    assert lines["throughput"] == ["throughput", "0.9026", "MB/s", "1.458", "MB/s", "+61.5", "%"]
    assert lines["bottleneck"] == ["bottleneck", "depth@0", "memory@0"]
    assert lines["memory"] == ["memory", "+0.999", "%", "-0.990", "%"]


def test_the_document_has_profile_change_and_worth() -> None:
    done = run_inside("what-if", "cim250", "--set", "depth=2", "--json")
    document = json.loads(done.out)
    assert document["settings"] == {"depth": 2}
    gain = document["changed"]["throughput_MBps"] / document["base"]["throughput_MBps"]
    assert gain == pytest.approx(1.615, abs=0.001)
    assert document["changed"]["bound_MBps"] >= document["changed"]["throughput_MBps"]
    assert {worth["part"] for worth in document["one_per_cent_faster"]} == {
        "memory", "dma", "host", "stage fc_setup",
    }  # fmt: skip


def test_a_sweep_prints_a_line_a_point_and_draws_it(tmp_path: Path) -> None:
    picture = tmp_path / "sweep.svg"
    sweeps = ("--sweep", "size_B=64..256", "--sweep", "depth=1,2")
    arguments = ("what-if", "cim250", *sweeps, "-o", str(picture))
    done = run_inside(*arguments)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines()[1:-2]]
    sizes = [str(size) for size in range(64, 257, 24)]
    assert [(row[0], row[1]) for row in rows] == [(size, depth) for size in sizes for depth in "12"]
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and "depth=2" in drawn and drawn.count("<polyline") == 4
    again = run_inside(*arguments)
    assert again.code == 2 and "--force" in again.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("nowhere",), "profile 'nowhere' does not exist"),
        (("forth", "--set", "flows.activ=3"), "profile forth: unknown key flows.activ; [flows] has count, active"),
        (("forth", "--set", "depth=3"), "--set depth=3: a card's profile has keys section.name"),
        (("forth", "--set", "workload=x"), "workload 'x' does not exist; there are single-8B"),
        (("forth", "--sweep", "flows.active=1,2", "-o", "x.svg"), "its points are not drawn"),
        (("cim250", "--set", "depth"), "--set 'depth': it must be KEY=VALUE"),
        (("cim250", "--set", "dept=2"), "did you mean depth?"),
        (("cim250", "--set", "depth=0"), "pool.depth.tokens: 0 is not a whole number"),
        (("cim250", "--set", "depth=-1"), "freezeframe: --set depth=-1: "),
        (("cim250", "--set", "depth=abc"), "freezeframe: --set depth=abc: parameter.depth: 'abc' is not a number"),
        (("cim250", "--set", "depth=true"), "freezeframe: --set depth=true: parameter.depth: True is not a number"),
        (("cim250", "--set", "pool.depth.tokens=[1 2]"), "freezeframe: --set pool.depth.tokens=[1 2]: pool.depth"),
        (("cim250", "--sweep", "depth=4..1"), "--sweep depth: '4..1': its end is before its beginning"),
        (("cim250", "--sweep", "dept=1,2"), "--sweep dept: there is no such parameter; did you mean depth?"),
        (("cim250", "--set", "size_B=64", "--sweep", "depth=0,1"), "pool.depth.tokens: 0 is not a whole number"),
        (("cim250", "--sweep", "depth=1,0"), "freezeframe: --sweep depth=0: /"),
        (("forth", "--sweep", "depth=3,4"), "--sweep depth=3: a card's profile has keys section.name"),
        (("cim250", "-o", "x.svg"), "-o: a drawing is made of a sweep"),
        (("cim250", "--sweep", "depth=1,2", "-o", "x.png"), "a drawing is written as .svg"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    assert says in refusal("what-if", *arguments)


@pytest.mark.slow
def test_finer_credits_of_the_forth_card_are_worth_what_its_paper_says() -> None:
    done = run_inside("what-if", "forth-coarse", "--set", "flows.credit_unit_words=64", "--json")
    assert (done.code, done.err) == (0, "")
    coarse, fine = json.loads(done.out)["points"]
    assert coarse["settings"] == {} and fine["settings"] == {"flows.credit_unit_words": 64}
    assert 10 <= 100 * (fine["throughput_MBps"] / coarse["throughput_MBps"] - 1) <= 15
    assert coarse["waits_per_ms"] > 10 and fine["waits_per_ms"] == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("cim250",), "--scheduler: one point is run here; add --sweep KEY=A..B"),
        (("forth", "--sweep", "flows.credit_unit_words=64,256"),
         "--scheduler: forth is a card down to its cycles; its points run here"),
    ],
)  # fmt: skip
def test_a_scheduler_is_for_sweeps_of_profiles_of_stages(
    arguments: tuple[str, ...], says: str
) -> None:
    done = run_inside("what-if", *arguments, "--scheduler", "tcp://127.0.0.1:1")
    assert (done.code, done.err.strip()) == (2, f"freezeframe: {says}")
