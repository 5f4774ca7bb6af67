"""generate.py writes the files, and tells when one of them is not what it would write."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.registers.sources import GENERATED, REGISTERS, REPOSITORY, exporter, generate

FILES = (
    "capture/registers/layouts.json",
    "capture/registers/layouts.py",
    "capture/registers/map.json",
    "firmware-hooks/registers/generated/ff_formats.h",
    "firmware-hooks/registers/generated/ff_regs.v",
    "firmware-hooks/registers/generated/ff_regs_quad.v",
    "firmware-hooks/registers/generated/ff_regs_select.v",
    "firmware-hooks/registers/generated/freezeframe.h",
    "firmware-hooks/registers/generated/html/index.html",
    "firmware-hooks/registers/generated/map.txt",
)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A copy of everything that generate.py looks at in the repository."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A copy of the two sources, to be damaged."""
    folder = tmp_path / "source"
    folder.mkdir()
    for name in ("freezeframe.rdl", "formats.toml"):
        shutil.copy(REGISTERS / name, folder / name)
    return folder


def test_the_files_in_the_repository_are_what_the_sources_say() -> None:
    told = generate("--check")
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


def test_one_changed_byte_of_any_file_is_noticed_and_left_as_it_is(repository: Path) -> None:
    damaged, lines = {}, {}
    for name in FILES:
        data = bytearray((repository / name).read_bytes())
        half = len(data) // 2
        data[half] ^= 1
        damaged[name], lines[name] = bytes(data), 1 + bytes(data[:half]).count(b"\n")
        (repository / name).write_bytes(data)
    told = generate("--check", "--root", repository)
    assert told.returncode == 1
    assert sorted(told.stdout.splitlines()) == [
        f"{name}: stale, first difference in line {lines[name]}" for name in FILES
    ]
    assert {name: (repository / name).read_bytes() for name in FILES} == damaged


def test_every_stale_file_gets_a_line(repository: Path) -> None:
    with (repository / FILES[0]).open("a", encoding="utf-8") as file:
        file.write("# one line more\n")
    (repository / FILES[3]).unlink()
    (repository / "firmware-hooks/registers/generated/old.h").write_text("", encoding="utf-8")
    told = generate("--check", "--root", repository)
    assert told.returncode == 1
    assert [line.split(",")[0] for line in told.stdout.splitlines()] == [
        f"{FILES[0]}: stale",
        f"{FILES[3]}: missing",
        "firmware-hooks/registers/generated/old.h: made by no exporter; remove it",
    ]
    assert "run: python firmware-hooks/registers/generate.py" in told.stderr


def test_writing_into_an_empty_folder_gives_the_files_of_the_repository(tmp_path: Path) -> None:
    told = generate("--root", tmp_path)
    assert told.returncode == 0
    assert sorted(told.stdout.splitlines()) == sorted(FILES)
    written = sorted(file for file in tmp_path.rglob("*") if file.is_file())
    assert [file.relative_to(tmp_path).as_posix() for file in written] == list(FILES)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (REPOSITORY / name).read_bytes(), name
    assert generate("--root", tmp_path).stdout == ""  # nothing is written twice


def test_no_generated_file_holds_a_date_or_a_path_of_the_machine() -> None:
    for name in FILES:
        text = (REPOSITORY / name).read_text(encoding="utf-8")
        assert not re.search(r"\b20[23]\d[-/.]\d\d|\b1[78]\d{8}\b", text), name
        assert str(REPOSITORY) not in text and str(Path.home()) + "/" not in text, name


def test_the_page_shows_every_register_and_loads_nothing_from_elsewhere() -> None:
    page = (GENERATED / "html" / "index.html").read_text(encoding="utf-8")
    text = (GENERATED / "map.txt").read_text(encoding="ascii")
    missing = [
        name
        for name in (line.split()[1] for line in text.splitlines())
        if f'id="{name}"' not in page
    ]
    assert missing == []
    assert not re.search(r"<script|<link|\bsrc=|@import|https?:", page)


def test_a_register_moved_changes_the_hash_and_makes_the_table_stale(
    source: Path, repository: Path
) -> None:
    rdl = source / "freezeframe.rdl"
    text = rdl.read_text(encoding="utf-8")
    assert text.count("build_hash @ 0x0C") == 1
    rdl.write_text(text.replace("build_hash @ 0x0C", "build_hash @ 0x64"), encoding="utf-8")
    told = generate("--check", "--source", source, "--root", repository)
    assert told.returncode == 1
    assert {line.split(":")[0] for line in told.stdout.splitlines()} == set(FILES) - set(FILES[:2])


def test_a_text_changed_does_not_change_the_hash(source: Path) -> None:
    model = exporter("model")
    before = model.load(model.elaborate(REGISTERS / "freezeframe.rdl")).map_hash()
    rdl = source / "freezeframe.rdl"
    text = rdl.read_text(encoding="utf-8")
    rdl.write_text(text.replace("Counts arms", "Number of arms so far"), encoding="utf-8")
    device = model.load(model.elaborate(rdl))
    assert device.map_hash() == before
    assert any(register.doc == "Number of arms so far" for register in device.registers)


def test_sources_that_contradict_each_other_are_refused(source: Path, tmp_path: Path) -> None:
    toml = source / "formats.toml"
    text = toml.read_text(encoding="utf-8")
    toml.write_text(text.replace("format_version = [1, 0]", "format_version = [1, 1]"), "utf-8")
    told = generate("--source", source, "--root", tmp_path / "out")
    assert told.returncode == 2
    assert told.stderr.strip() == "id.format is (1, 0) in the map and (1, 1) in formats.toml"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "flow = [8, 7]\nlength",
            "flow = [7, 8]\nlength",
            r"header\.flow \[7, 8\] must lie in bits",
        ),
        ("crc = [48, 16]\n\n[layout.address]", "crc = [48, 17]\n\n[layout.address]", "bits 48..63"),
        ("dt = [68, 4]", "dt = [68]", r"record\.dt is \[68\]; write \[lsb, width\]"),
        ("TIME = 15", "TIME = 14", "enum.kind.TIME: number 14 is taken already"),
        ("[layout.loss]", "[layuot.loss]", "no meaning is known for layuot"),
    ],
)
def test_formats_that_cannot_be_are_refused_with_their_place(
    old: str, new: str, message: str, source: Path
) -> None:
    toml = source / "formats.toml"
    text = toml.read_text(encoding="utf-8")
    assert text.count(old) == 1
    toml.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^formats\.toml: .*{message}"):
        exporter("formats").load(toml)


@pytest.mark.slow
def test_the_stock_site_can_be_written_for_browsing(tmp_path: Path) -> None:
    told = generate("--root", tmp_path, "--site", tmp_path / "site")
    assert told.returncode == 0
    assert "PeakRDL-html" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "site" / "content").glob("*.html"))) > 200
