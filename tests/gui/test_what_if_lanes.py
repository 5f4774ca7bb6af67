"""what-if --lanes: the map of failures as table, drawing and JSON, and bad input in one line each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.gui.cli import run_inside

SWEEPS = ("--sweep", "idle_every=0,1024", "--sweep", "ppm=200,1000", "--sweep", "fill=2,4")


def test_each_point_says_what_became_of_it_when_and_what_no_run_can_beat(tmp_path: Path) -> None:
    picture = tmp_path / "lanes.svg"
    done = run_inside("what-if", "forth", "--lanes", *SWEEPS, "-o", str(picture))
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "forth: the synchronization FIFOs of 2 lanes; skew 0, run_us 1,000,000"
    assert lines[2].split() == [
        "0",
        "200",
        "2",
        "both",
        "128",
        "us",
        "128",
        "us",
        "15,623",
        "slips",
    ]
    assert lines[6].split() == [
        "1,024",
        "200",
        "2",
        "holds",
        "-",
        "never",
        "0",
        "holds",
        "for",
        "ever",
    ]
    drawn = picture.read_text()
    assert drawn.startswith("<svg") and "fill = 4" in drawn and "runs empty" in drawn
    assert drawn.count(">holds<") == 1 + 2  # the key, and the cells that hold
    again = run_inside("what-if", "forth", "--lanes", *SWEEPS, "-o", str(picture))
    assert again.code == 2 and "--force" in again.err


def test_the_document_has_both_ends_of_each_point() -> None:
    sweeps = ("--sweep", "idle_every=0,1024", "--sweep", "fill=4,8")
    done = run_inside("what-if", "forth-x4", "--lanes", *sweeps, "--set", "run_us=5000", "--json")
    document = json.loads(done.out)
    assert [point["verdict"] for point in document["points"]] == ["both", "both", "full", "holds"]
    first = document["points"][0]
    assert first["settings"] == {"run_us": 5000, "idle_every": 0, "fill": 4}
    assert first["full"]["earliest_us"] == pytest.approx(32)  # one share above the skew, at 200 ppm
    assert first["empty"]["earliest_us"] == pytest.approx(128)
    assert document["settings"]["skew"] == 3 and document["settings"]["run_us"] == 5000
    assert (
        document["points"][2]["full"]["verdict"] == ""
    )  # one share of room, and a column of correction
    refused = run_inside("what-if", "forth-x4", "--lanes", "--sweep", "fill=2")
    assert refused.code == 2 and "skew = 3 is more than fill = 2" in refused.err


def test_without_a_sweep_there_is_the_whole_map() -> None:
    done = run_inside("what-if", "forth", "--lanes", "--set", "run_us=1000", "--json")
    points = json.loads(done.out)["points"]
    assert len(points) == 5 * 6 * 4
    assert {point["verdict"] for point in points} == {"holds", "both"}
    wide = run_inside("what-if", "forth-x4", "--lanes", "--set", "run_us=1000", "--json")
    fills = {point["settings"]["fill"] for point in json.loads(wide.out)["points"]}
    assert fills == {4, 16, 64}  # what holds lanes that are 3 columns apart


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("cim250", "--lanes"), "describes an adapter by its stages"),
        (("forth", "--lanes", "--sweep", "fill=4..2"), "--sweep fill: '4..2': its end is before"),
        (("forth", "--lanes", "--set", "idle=4"), "idle: the map of lanes has idle_every, ppm"),
        (("forth", "--lanes", "--scheduler", "tcp://x:1", "--sweep", "fill=2"), "is run here"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(arguments: tuple[str, ...], says: str) -> None:
    done = run_inside("what-if", *arguments)
    assert done.code == 2 and says in done.err
    assert len(done.err.strip().splitlines()) == 1
