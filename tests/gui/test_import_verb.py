"""import: what it prints, what decode and export make of the folder, and wishes that cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.files.test_saleae import digital
from tests.capture.files.test_sample_folder import PULSES, shifted
from tests.decoders.test_adding_a_decoder import write_bus
from tests.gui.cli import refusal, run_inside


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pulses.csv"
    path.write_text(PULSES)
    return path


def test_decode_and_export_take_the_folder_as_they_take_the_file(tmp_path: Path) -> None:
    board, place = write_bus(tmp_path / "board.sr"), tmp_path / "board.ff"
    done = run_inside("import", str(board), "-o", str(place))
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{place}: 2 channels, ")
    want = run_inside("decode", str(board), "-d", "mdio")
    assert run_inside("decode", str(place), "-d", "mdio").out == want.out
    assert "1. mdio  (" in run_inside("decode", str(place)).out
    for source, name in ((board, "a.vcd"), (place, "b.vcd")):
        assert (
            run_inside("export", str(source), "--to", "vcd", "-o", str(tmp_path / name)).code == 0
        )
    dumps = [
        (tmp_path / name).read_text().partition("$timescale")[2] for name in ("a.vcd", "b.vcd")
    ]
    assert dumps[0] == dumps[1]


def test_the_estimate_and_its_uncertainty_are_printed(tmp_path: Path) -> None:
    for name, text in zip(("a.csv", "b.csv"), shifted(17, 40), strict=True):
        (tmp_path / name).write_text(text)
    files = (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))
    wish = ("--align", "sync=s2", "--samplerate", "1GHz", "-o")
    done = run_inside("import", *files, *wish, str(tmp_path / "c.ff"))
    assert (done.code, done.err) == (0, "")
    line = done.out.splitlines()[1]
    assert line.startswith(f"  {files[1]}: at 17.0")
    assert " us ± " in line
    assert "drift 40.0" in line or "drift 39.9" in line
    assert line.endswith("s off")
    document = json.loads(run_inside("import", *files, *wish, str(tmp_path / "d.ff"), "--json").out)
    (at,) = document["placements"]
    assert abs(at["offset_ps"] - 17_000_000) < 1000
    assert at["offset_unc_ps"] > 0
    assert document["channels"] == ["sync", "s2", "data"]


def test_an_offset_that_is_given_is_taken_as_it_is(table: Path, tmp_path: Path) -> None:
    wish = ("--offset", "-20us", "--drift", "-3.5", "-o", str(tmp_path / "c.ff"))
    done = run_inside("import", str(table), str(table), *wish)
    assert (done.code, done.err) == (
        0,
        "note: merge: the second capture begins 20 us before the first; what lies outside the first is left out\n",
    )
    assert done.out.splitlines()[1] == f"  {table}: at -20 us, drift -3.5 ppm, as given"


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ([], "1 further file, and 0 --offset; give one for each in order, or --align CHANNEL"),
        (
            ["--offset", "99999999999s"],
            "more than the 9,223,372,036,854,775,807 that can be counted",
        ),
        (["--offset", "20"], "'20' is not a time with h, min, s, ms, us, ns or ps"),
        (["--offset", "1us", "--align", "a"], "leave out --offset and --drift"),
        (["--offset", "1us", "--drift", "fast"], "not a number of parts per million"),
        (["--offset", "1us", "--drift", "1", "--drift", "2"], "2 --drift for 1 --offset"),
        (["--align", "nope"], "no channel nope to align by; there is a, b"),
        (["--align", "a"], "no 4 intervals in a row agree"),
        (["--offset", "1s"], "they do not overlap"),
    ],
)
def test_files_that_cannot_be_laid_over_each_other_are_one_line(
    table: Path, tmp_path: Path, wish: list[str], message: str
) -> None:
    said = refusal("import", str(table), str(table), *wish, "-o", str(tmp_path / "c.ff"))
    assert message in said
    assert not (tmp_path / "c.ff").exists()


def test_nothing_is_replaced_or_put_into_evidence(table: Path, tmp_path: Path) -> None:
    place = tmp_path / "a.ff"
    assert run_inside("import", str(table), "-o", str(place)).code == 0
    assert "exists already" in refusal("import", str(table), "-o", str(place))
    assert run_inside("import", str(table), "-o", str(place), "--force").code == 0
    assert "which is evidence" in refusal("import", str(table), "-o", str(place / "b.ff"))
    assert "is what is imported" in refusal("import", str(place), "-o", str(place), "--force")


def test_a_file_that_is_missing_is_one_line(tmp_path: Path) -> None:
    said = refusal("import", str(tmp_path / "no.sr"), "-o", str(tmp_path / "a.ff"))
    assert "no.sr: there is no such file or folder" in said


def test_a_damaged_file_is_told_by_the_name_that_was_given_and_nothing_is_left(
    tmp_path: Path,
) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("Time [s],A\n0,0\n0.1,1\n0.2,zz\n")
    said = refusal("import", str(bad), "-o", str(tmp_path / "a.ff"))
    assert said.startswith(f"freezeframe: {bad}: line 4: A is 'zz'")
    assert "partial" not in said
    assert [entry.name for entry in tmp_path.iterdir()] == ["bad.csv"]


def test_a_damaged_file_of_a_folder_is_told_by_its_own_name(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "digital_0.bin").write_bytes(digital(0, 0, 1e-3, [3e-6, 1e-6]))
    said = refusal("import", str(folder), "-o", str(tmp_path / "a.ff"))
    assert said.startswith(f"freezeframe: {folder}/digital_0.bin: ")
