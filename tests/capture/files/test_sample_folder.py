"""Capture folders of samples (docs/formats.md section 7): evidence unaltered, a recipe applied on reading."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.files import edge_table
from freezeframe.capture.files.edge_table import read_edge_table, write_edge_table
from freezeframe.capture.files.edges import Edges, join
from freezeframe.capture.files.importer import Imported, import_captures
from freezeframe.capture.files.merge import Alignment
from freezeframe.capture.files.open import is_samples, read_edges, read_header
from freezeframe.capture.files.source import ReadSettings
from freezeframe.capture.files.threshold import Threshold
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.folder.manifest import manifest_digest, manifest_text
from freezeframe.capture.folder.samples import SampleFolder, SampleSource
from tests.capture.files.test_vcd import pairs

PULSES = "time [us],a,b\n0,0,0\n10,1,0\n20,1,1\n30,0,1\n45,1,0\n60,0,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "pulses.csv"
    path.write_text(PULSES)
    return path


def stored(files: list[SampleSource], place: Path, **more: object) -> Imported:
    return import_captures(files, place, **more)  # type: ignore[arg-type] # as the test says


def edges_of(folder: Path, probes: list[str] | None = None, **settings: object) -> Edges:
    return join(list(read_edges(folder, probes, ReadSettings(**settings))))  # type: ignore[arg-type]


def steps(edges: Edges) -> list[tuple[int, int]]:
    """Return the edges without those that repeat the value before, as pieces may begin with."""
    found = pairs(edges)
    return [
        now for now, before in zip(found, [(-1, -1), *found], strict=False) if now[1] != before[1]
    ]


def changed(folder: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Alter a manifest and give it the digest that it then should have."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest)
    manifest["digest"] = manifest_digest(manifest)
    path.write_bytes(manifest_text(manifest))


def test_the_file_stands_in_raw_byte_for_byte_with_its_hash(table: Path, tmp_path: Path) -> None:
    done = stored([SampleSource(str(table))], tmp_path / "a.ff")
    copy = tmp_path / "a.ff/raw/1/pulses.csv"
    assert copy.read_bytes() == table.read_bytes()
    manifest = json.loads((tmp_path / "a.ff/manifest.json").read_text())
    assert manifest["format"] == ["freezeframe-samples", 1, 0]
    digest = hashlib.sha256(PULSES.encode()).hexdigest()
    assert manifest["raw"] == {
        "raw/1/pulses.csv": {
            "sha256": digest,
            "bytes": len(PULSES),
            "chunk_bytes": 1 << 20,
            "chunks": [digest],
        }
    }
    assert manifest["channels"] == ["a", "b"]
    assert (done.header.channels, done.edges) == (("a", "b"), 6)
    assert str(tmp_path) not in (tmp_path / "a.ff/manifest.json").read_text()


def test_the_same_import_gives_the_same_bytes(table: Path, tmp_path: Path) -> None:
    places = [tmp_path / name / "x.ff" for name in ("one", "two")]
    for place in places:
        place.parent.mkdir()
        stored([SampleSource(str(table))], place)
    names = ("manifest.json", "tables/edges.parquet", "raw/1/pulses.csv")
    assert all((places[0] / n).read_bytes() == (places[1] / n).read_bytes() for n in names)


@pytest.mark.parametrize("tables", [True, False], ids=["table", "raw"])
def test_reading_gives_what_the_file_gives(table: Path, tmp_path: Path, tables: bool) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    if not tables:
        (tmp_path / "a.ff/tables/edges.parquet").unlink()
    assert is_samples(tmp_path / "a.ff")
    want = join(list(read_edges(table)))
    assert pairs(edges_of(tmp_path / "a.ff")) == pairs(want)
    assert pairs(edges_of(tmp_path / "a.ff", ["b"])) == pairs(want.select(["b"]))
    found = edges_of(tmp_path / "a.ff")
    assert (found.begin_sample, found.end_sample) == (0, want.end_sample)


def test_a_table_in_many_pieces_gives_the_same(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_table, "_EDGES_AT_ONCE", 2)
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    found = list(read_edges(tmp_path / "a.ff"))
    assert len(found) >= 3
    want = join(list(read_edges(table)))
    assert (pairs(join(found)), found[-1].end_sample) == (pairs(want), want.end_sample)


def test_a_cut_a_name_and_thresholds_are_a_recipe_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "scope.csv"
    path.write_text("time [us],D\n0,0.1\n10,1.0\n20,1.5\n30,0.9\n40,0.4\n50,2.0\n")
    file = SampleSource(
        str(path), channels=("line=D",), thresholds=("D=1.4/0.5",), samplerate_hz=10**6
    )
    stored([file], tmp_path / "a.ff", cut_ps=(15_000_000, None))
    assert (tmp_path / "a.ff/raw/1/scope.csv").read_bytes() == path.read_bytes()
    assert read_header(tmp_path / "a.ff").channels == ("line",)
    want = [(0, 0), (5, 1), (25, 0), (35, 1)]  # from 15 us on: up at 20, down at 40, up at 50
    assert pairs(edges_of(tmp_path / "a.ff")) == want
    (tmp_path / "a.ff/tables/edges.parquet").unlink()
    assert pairs(edges_of(tmp_path / "a.ff")) == want


def test_a_threshold_said_on_reading_is_used_instead_of_the_recipes(tmp_path: Path) -> None:
    path = tmp_path / "scope.csv"
    path.write_text("time [us],D\n0,0.1\n10,1.0\n20,2.5\n30,0.2\n")
    file = SampleSource(str(path), thresholds=("D=0.5",), samplerate_hz=10**6)
    stored([file], tmp_path / "a.ff")
    assert pairs(edges_of(tmp_path / "a.ff")) == [(0, 0), (10, 1), (30, 0)]
    higher = edges_of(tmp_path / "a.ff", thresholds={"D": Threshold(2.0, 2.0)})
    assert pairs(higher) == [(0, 0), (20, 1), (30, 0)]


def test_analog_alone_is_stored_and_read_when_a_threshold_is_said(tmp_path: Path) -> None:
    path = tmp_path / "scope.csv"
    path.write_text("time [us],D\n0,0.1\n10,1.0\n20,0.2\n")
    notes: list[str] = []
    stored([SampleSource(str(path))], tmp_path / "a.ff", settings=ReadSettings(note=notes.append))
    assert "no channel can be read yet. D: it is analog; give --threshold" in notes[0]
    found = edges_of(tmp_path / "a.ff", thresholds={"": Threshold(0.5, 0.5)}, samplerate_hz=10**6)
    assert pairs(found) == [(0, 0), (10, 1), (20, 0)]


def test_two_files_lie_on_the_time_base_of_the_first(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("time [us],b,c\n0,1,0\n5,0,1\n10,0,0\n")
    files = [
        SampleSource(str(table), samplerate_hz=10**6),
        SampleSource(str(other), samplerate_hz=10**6, placement=Alignment(20_000_000)),
    ]
    done = stored(files, tmp_path / "both.ff")
    assert done.header.channels == ("a", "b", "2.b", "c")
    # c is high from 20 + 5 to 20 + 10 us; 2.b is high until 25 us.
    assert steps(edges_of(tmp_path / "both.ff", ["c", "2.b"])) == [(0, 2), (25, 1), (30, 0)]
    (tmp_path / "both.ff/tables/edges.parquet").unlink()
    assert steps(edges_of(tmp_path / "both.ff", ["c", "2.b"])) == [(0, 2), (25, 1), (30, 0)]


def shifted(offset_us: int, ppm: int, count: int = 60) -> tuple[str, str]:
    """Two tables of one irregular signal, the second with another zero and a faster clock."""
    steps = np.random.default_rng(1).integers(200, 9000, count).cumsum() + 50_000
    first = ["time [ns],sync", "0,0", *(f"{t},{n + 1 & 1}" for n, t in enumerate(steps))]
    there = [round((int(t) - offset_us * 1000) / (1 + ppm / 1e6)) for t in steps]
    second = ["time [ns],s2,data", "0,0,0"]
    second += [f"{t},{n + 1 & 1},{n & 1}" for n, t in enumerate(there)]
    return "\n".join(first) + "\n", "\n".join(second) + "\n"


def test_offset_and_drift_are_estimated_with_their_uncertainty_and_kept(tmp_path: Path) -> None:
    for name, text in zip(("a.csv", "b.csv"), shifted(17, 40), strict=True):
        (tmp_path / name).write_text(text)
    files = [
        SampleSource(str(tmp_path / "a.csv"), samplerate_hz=10**9),
        SampleSource(str(tmp_path / "b.csv"), samplerate_hz=10**9, shared="sync=s2"),
    ]
    (at,) = stored(files, tmp_path / "both.ff").placements
    assert at.shared >= 55
    assert abs(at.offset_ps - 17_000_000) <= max(at.offset_unc_ps, 500)
    assert abs(at.drift_ppm - 40) <= at.drift_unc_ppm
    assert 0 < at.offset_unc_ps < 1_000
    (kept,) = [s.placement for s in SampleFolder.open(tmp_path / "both.ff").sources if s.placement]
    assert kept == at
    assert SampleFolder.open(tmp_path / "both.ff").sources[1].shared == "sync=s2"


def test_a_folder_can_be_imported_again_and_its_own_recipe_holds(
    table: Path, tmp_path: Path
) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff", cut_ps=(10_000_000, 50_000_000))
    stored([SampleSource(str(tmp_path / "a.ff"))], tmp_path / "b.ff", cut_ps=(5_000_000, None))
    assert (tmp_path / "b.ff/raw/1/a.ff/raw/1/pulses.csv").read_text() == PULSES
    found = edges_of(tmp_path / "b.ff")
    us = 10**6  # CSV without a rate is read in picoseconds
    assert pairs(found) == [(0, 1), (5 * us, 3), (15 * us, 2), (30 * us, 1)]


def test_a_recording_of_a_card_is_told_apart(table: Path, tmp_path: Path) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    with pytest.raises(CaptureFormatError, match="holds samples of a logic analyzer, not the rec"):
        CaptureFolder.open(tmp_path / "a.ff")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "raw/1/pulses.csv").write_text(PULSES[:-2]), "cut: "),
        (
            lambda f: (f / "raw/1/pulses.csv").write_text(PULSES.replace("10,1", "11,1")),
            "altered: SHA-256",
        ),
        (lambda f: (f / "raw/1/pulses.csv").unlink(), "missing; copy the folder again"),
        (lambda f: (f / "raw/1/more.csv").write_text("x"), "more.csv: is not in the manifest"),
        (lambda f: (f / "raw/2").symlink_to("/"), "raw/2: is not in the manifest"),
        (lambda f: os.truncate(f / "manifest.json", 200), "is not a manifest"),
        (lambda f: changed(f, lambda m: m.update(sources=[{}])), "'path' is missing"),
        (
            lambda f: changed(f, lambda m: m.update(raw={"raw/1/../../x": {}})),
            "is not the name, size",
        ),
        (lambda f: changed(f, lambda m: m.update(cut_ps=[1])), "cut_ps is"),
    ],
    ids=["cut", "altered", "missing", "extra", "link", "manifest", "no-path", "outside", "cut_ps"],
)
def test_a_folder_that_was_altered_is_refused(
    table: Path, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    damage(tmp_path / "a.ff")
    with pytest.raises(CaptureFormatError, match=message):
        edges_of(tmp_path / "a.ff")


def test_a_newer_version_is_refused(table: Path, tmp_path: Path) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    changed(tmp_path / "a.ff", lambda m: m.update(format=["freezeframe-samples", 1, 1]))
    with pytest.raises(CaptureVersionError, match=r"version 1\.1, this program reads 1\.0"):
        edges_of(tmp_path / "a.ff")


@pytest.mark.parametrize("how", ["other digest", "damaged", "no parquet"])
def test_a_table_that_is_not_of_this_evidence_is_not_used(
    table: Path, tmp_path: Path, how: str
) -> None:
    stored([SampleSource(str(table))], tmp_path / "a.ff")
    cached = tmp_path / "a.ff/tables/edges.parquet"
    if how == "other digest":
        (tmp_path / "b.csv").write_text(PULSES.replace("45,1,0", "45,0,0"))
        stored([SampleSource(str(tmp_path / "b.csv"))], tmp_path / "b.ff")
        cached.write_bytes((tmp_path / "b.ff/tables/edges.parquet").read_bytes())
    elif how == "no parquet":
        cached.write_bytes(b"PAR1")
    else:
        data = bytearray(cached.read_bytes())
        column = parquet.read_metadata(cached).row_group(0).column(3)  # sample
        data[column.data_page_offset + column.total_compressed_size - 2] ^= 0xFF
        cached.write_bytes(data)
        with pytest.raises(CaptureFormatError, match="delete it, it is not needed"):
            edges_of(tmp_path / "a.ff")
        return
    assert pairs(edges_of(tmp_path / "a.ff")) == pairs(join(list(read_edges(table))))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("time [us],a\n0,0\n5,1\n4,0\n", "earlier than that of the row before"),
        ("time [us],a\n0,0\n5,x1\n", "line 3: a is 'x1', not a number"),
    ],
)
def test_a_damaged_file_is_not_imported_and_nothing_is_left(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        stored([SampleSource(str(tmp_path / "a.csv"))], tmp_path / "a.ff")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_a_decimal_drift_survives_the_manifest(table: Path, tmp_path: Path) -> None:
    drift = Fraction("-3.217000001")
    files = [SampleSource(str(table)), SampleSource(str(table), placement=Alignment(-5, drift))]
    stored(files, tmp_path / "a.ff")
    assert '"drift_ppm": "-3.217000001"' in (tmp_path / "a.ff/manifest.json").read_text()
    placed = SampleFolder.open(tmp_path / "a.ff").sources[1].placement
    assert placed == Alignment(-5, drift)


@pytest.mark.parametrize(
    "about",
    [
        pytest.param(5, id="a number"),
        pytest.param([], id="a list"),
        pytest.param({"channels": 3}, id="channels that are no list"),
        pytest.param({"channels": ["a", "a"]}, id="a channel twice"),
        pytest.param({"channels": []}, id="no channel"),
        pytest.param({"samplerate_hz": -1}, id="a rate below 0"),
        pytest.param({"samplerate_hz": None}, id="no rate"),
        pytest.param({"end_sample": 1 << 70}, id="an end that no number holds"),
        pytest.param({"end_sample": "9"}, id="an end that is a text"),
        pytest.param({"buses": [["b", ["c"]]]}, id="a bus of a channel that is not there"),
        pytest.param({"buses": [5]}, id="a bus that is a number"),
    ],
)
def test_a_table_of_edges_that_says_what_cannot_be_is_not_used(tmp_path: Path, about: Any) -> None:
    path = tmp_path / "edges.parquet"
    sample, value = np.array([0, 3], np.int64), np.array([1, 2], np.uint64)
    edges = Edges(sample, value, ("a", "b"), 10**6, 0, 9)
    write_edge_table([edges], path, source="x", digest="d")
    assert read_edge_table(path, "d", ["a"]) is not None
    rows = parquet.read_table(path)
    said = json.loads(parquet.read_metadata(path).metadata[b"freezeframe"])
    other = {**said, **about} if isinstance(about, dict) else about
    rows = rows.replace_schema_metadata({b"freezeframe": json.dumps(other).encode()})
    parquet.write_table(rows, path)
    assert read_edge_table(path, "d", ["a"]) is None


@pytest.mark.parametrize("samples", [[3, 2], [2, 2], [-1, 2], [0, 9]])
def test_a_table_of_edges_whose_samples_are_in_no_order_is_refused(
    tmp_path: Path, samples: list[int]
) -> None:
    path = tmp_path / "edges.parquet"
    edges = Edges(np.array([0, 3]), np.array([1, 2], np.uint64), ("a", "b"), 10**6, 0, 9)
    write_edge_table([edges], path, source="x", digest="d")
    rows = parquet.read_table(path)
    at = rows.schema.get_field_index("sample")
    field = rows.schema.field(at)
    rows = rows.set_column(at, field, pa.array(samples, pa.int64()))
    said = parquet.read_metadata(path).metadata[b"freezeframe"]
    parquet.write_table(rows.replace_schema_metadata({b"freezeframe": said}), path)
    found = read_edge_table(path, "d", ["a"])
    assert found is not None
    with pytest.raises(
        CaptureFormatError, match=r"not in their order; delete it, it is not needed"
    ):
        list(found[1])
