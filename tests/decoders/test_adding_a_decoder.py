"""What docs/adding-a-decoder.md says, done: the file, its test, the package, the commands."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.run import decode_file
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.processes import run_program

PAGE = Path(__file__).parents[2] / "docs" / "adding-a-decoder.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


WHOLE_FILE, ITS_TEST, EDGES_TEST, DECLARATION = blocks("python")
(ENTRY_POINT,) = blocks("toml")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install the page's package: its two modules, and the metadata an installer writes for it."""
    site = tmp_path / "site"
    metadata = site / "phylink-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "phylink.py").write_text(DECLARATION)
    (site / "phylink_code.py").write_text(WHOLE_FILE.partition("PHYLINK = Decoder(")[0])
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: phylink\nVersion: 1.0\n")
    section, point = ENTRY_POINT.splitlines()
    group = section.removeprefix('[project.entry-points."').removesuffix('"]')
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{point.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(str(site))
    for name in ("phylink", "phylink_code"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def write_bus(path: Path) -> Path:
    status = [(1, 0x7809), (1, 0x7809), (2, 0x782D), (1, 0x782D), (1, 0x782D), (2, 0x7829)]
    frames = [MdioFrame(22, "read", phy, 1, data) for phy, data in status]
    frames += [MdioFrame(22, "write", 1, 1, 0x0000), MdioFrame(22, "read", 1, 2, 0x0000)]
    frames.append(MdioFrame(22, "read", 1, 1, 0xFFFB, ta=0b11))  # nothing answered
    write_sr(encode_frames(frames, samplerate_hz=10_000_000), path)
    return path


@pytest.mark.parametrize("text", [ITS_TEST, EDGES_TEST], ids=["file", "edges"])
def test_the_tests_of_the_page_pass(tmp_path: Path, text: str) -> None:
    (tmp_path / "phylink.py").write_text(WHOLE_FILE)
    (tmp_path / "test_phylink.py").write_text(text)
    done = run_program(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_phylink.py"],
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_both_forms_of_the_page_declare_the_same() -> None:
    declared: list[dict[str, object]] = [{}, {}]
    for text, names in zip((WHOLE_FILE, DECLARATION), declared, strict=True):
        exec(text, names)
    one, two = (names["PHYLINK"] for names in declared)
    assert (one.id, one.name, one.doc, one.options) == (two.id, two.name, two.doc, two.options)  # type: ignore[attr-defined]


def test_the_decoder_of_the_page_is_found(installed: Path) -> None:
    registry = load_decoders()
    assert registry.find("phylink").consumes == "mdio"
    assert registry.broken == ()


def test_the_decoder_of_the_page_gives_the_link_changes(installed: Path) -> None:
    ((name, table),) = decode_file(write_bus(installed / "board.sr"), ["mdio+phylink"])
    assert name == "mdio+phylink"
    assert [(row["kind"], row["phy"]) for row in table.to_pylist()] == [
        ("down", 1),
        ("up", 2),
        ("up", 1),
        ("down", 2),
    ]
    texts = load_decoders().find("phylink").texts
    assert texts is not None
    assert texts(table.to_pylist()[2]).long == "MDIO: link up at PHY 1"


def test_the_command_of_the_page_selects_a_phy(installed: Path) -> None:
    command = re.search(r"`freezeframe decode board\.sr -d (\S+)`", PAGE.read_text())
    assert command
    ((_, table),) = decode_file(write_bus(installed / "board.sr"), [command[1]])
    assert [(row["kind"], row["phy"]) for row in table.to_pylist()] == [("down", 1), ("up", 1)]
    with pytest.raises(InputError, match=r"option phy=32: too large; allowed: -1\.\.31"):
        decode_file(installed / "board.sr", ["mdio+phylink:phy=32"])
