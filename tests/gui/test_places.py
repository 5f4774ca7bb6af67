"""Outputs: nothing is replaced unasked, nothing goes into the evidence, files come all or none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from freezeframe.capture.errors import InputError
from freezeframe.gui.export.formats import FORMATS
from freezeframe.gui.places import is_capture, refuse_evidence
from tests.gui.cli import refusal, run_inside
from tests.gui.made_capture import made_capture

TABLES = ["e.trace.events", "e.trace.intervals", "e.trace.packets", "e.trace.words"]


def test_a_folder_is_a_capture_by_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "manifest.json").write_text("{}")
    (tmp_path / "x.ff").mkdir()
    assert [is_capture(tmp_path / name) for name in ("web", "x.ff", "none")] == [False] * 3
    (tmp_path / "x.ff" / "manifest.json").write_text("{}")
    assert is_capture(tmp_path / "x.ff")


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "phy.sr"),
        ("console", "phy.sr"),
        ("pull", "emu:"),
        ("report", "made.ff"),
        ("plot", "made.ff"),
        ("guard", "emu:"),
        ("reproduce", "forth"),
        ("demo",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_standard_output_is_no_place_for_a_result(
    phy: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(phy.parent)
    made_capture(phy.parent / "made.ff")
    assert refusal(*arguments, "-o", "-") == (
        "freezeframe: -: results are not written to standard output; name a file or a folder\n"
    )
    assert sorted(entry.name for entry in phy.parent.iterdir()) == ["made.ff", "phy.sr"]


@pytest.mark.parametrize("place", ["x.ff", "x.ff/r.html", "x.ff/raw/deep/r.html", "link/r.html"])
def test_a_place_in_a_capture_is_refused_also_through_a_link(tmp_path: Path, place: str) -> None:
    (tmp_path / "x.ff" / "raw").mkdir(parents=True)
    (tmp_path / "x.ff" / "manifest.json").write_text("{}")
    (tmp_path / "link").symlink_to("x.ff/raw")
    with pytest.raises(InputError, match=r"in the capture folder x\.ff, which is evidence"):
        refuse_evidence(tmp_path / place)
    refuse_evidence(tmp_path / "x.html")


@pytest.mark.parametrize(
    "verb",
    [
        ("report", "{0}", "-o", "{0}/r.html"),
        ("decode", "{0}", "-d", "trace", "-o", "{0}/e.parquet"),
        ("demo", "-o", "{0}/demo"),
        ("guard", "etherbone://127.0.0.1:1", "-o", "{0}/caught"),
        ("pull", "etherbone://127.0.0.1:1", "-o", "{0}/y.ff"),
    ],
    ids=lambda verb: verb[0],
)
def test_no_verb_writes_into_a_capture(tmp_path: Path, verb: tuple[str, ...]) -> None:
    folder = made_capture(tmp_path / "made.ff").path
    before = sorted(path for path in folder.rglob("*") if "tables" not in path.parts)
    said = refusal(*(word.format(folder) for word in verb))
    assert "which is evidence and is only read" in said
    assert sorted(path for path in folder.rglob("*") if "tables" not in path.parts) == before


def test_decode_replaces_nothing_unless_told(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "e.parquet"
    out.write_text("mine")
    said = refusal("decode", str(phy), "-d", "mdio", "-o", str(out))
    assert "e.parquet: exists already" in said
    assert "--force" in said
    assert out.read_text() == "mine"
    assert run_inside("decode", str(phy), "-d", "mdio", "-o", str(out), "--force").code == 0
    assert read_table(out).num_rows == 2


def test_decode_never_writes_onto_what_it_reads(phy: Path, tmp_path: Path) -> None:
    before = phy.read_bytes()
    (tmp_path / "again.sr").symlink_to(phy)
    for name in ("phy.sr", "again.sr"):
        out = str(tmp_path / name)
        said = refusal("decode", str(phy), "-d", "mdio", "-o", out, "--force")
        assert "decode writes Parquet" in said
    assert phy.read_bytes() == before


def test_decode_refuses_a_name_that_ends_as_no_format_does(phy: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows.xyz"
    said = refusal("decode", str(phy), "-d", "mdio", "-o", str(out))
    assert f"-o {out}: decode writes Parquet, to a name in .parquet; " in said
    assert f"freezeframe export writes {', '.join(FORMATS)}\n" in said
    assert not out.exists()


def test_one_table_that_is_there_already_keeps_all_from_being_written(tmp_path: Path) -> None:
    folder = str(made_capture(tmp_path / "made.ff").path)
    (tmp_path / "e.trace.words.parquet").write_text("mine")
    out = str(tmp_path / "e.parquet")
    done = run_inside("decode", folder, "-d", "trace", "-o", out)
    assert done.code == 2
    assert [path.name for path in tmp_path.glob("e.*")] == ["e.trace.words.parquet"]
    assert run_inside("decode", folder, "-d", "trace", "-o", out, "--force").code == 0
    assert sorted(path.stem for path in tmp_path.glob("e.*")) == TABLES


def test_a_disk_that_fills_up_at_the_third_table_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(made_capture(tmp_path / "made.ff").path)
    out = tmp_path / "out"
    out.mkdir()
    whole = os.fsync
    calls: list[int] = []

    def full(descriptor: int) -> None:
        if out in Path(f"/proc/self/fd/{descriptor}").readlink().parents:
            calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    done = run_inside("decode", folder, "-d", "trace", "-o", str(out / "e.parquet"))
    assert len(calls) >= 3
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("place", [".", "/"])
def test_an_output_without_a_name_is_bad_input(phy: Path, place: str) -> None:
    done = run_inside("decode", str(phy), "-d", "mdio", "-o", place)
    assert done.code == 2
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("verb", "end"),
    [
        (("report", "made.ff"), ".html"),
        (("plot", "made.ff"), ".png"),
        (("bundle", "made.ff"), ".ff.zip"),
        (("guard", "emu:"), ""),
        (("pull", "emu:"), ".ff"),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
def test_a_name_that_is_too_long_is_one_line_that_names_what_was_asked_for(
    phy: Path, verb: tuple[str, ...], end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(phy.parent)
    made_capture(phy.parent / "made.ff")
    name = "n" * 300 + end
    said = refusal(*verb, "-o", name)
    assert said == f"freezeframe: {name}: the name is too long; choose a shorter one\n"
    assert sorted(path.name for path in phy.parent.iterdir()) == ["made.ff", "phy.sr"]


def test_a_name_that_leaves_no_room_for_the_temporary_one_is_refused_before_the_pull(
    tmp_path: Path,
) -> None:
    name = tmp_path / ("n" * 250 + ".ff")
    said = refusal("pull", "emu:", "-o", str(name))
    assert said == f"freezeframe: {name}: the name is too long; choose a shorter one\n"
