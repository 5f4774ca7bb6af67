"""All installed decoders are listed with channels and options; the list is kept until it changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from freezeframe.decoders.contract import EDGES
from freezeframe.decoders.registry import load_decoders
from freezeframe.decoders.srd import catalogue
from freezeframe.decoders.srd.adapter import srd_decoder
from freezeframe.decoders.srd.catalogue import SrdChannel, SrdDescription, read_catalogue
from freezeframe.decoders.srd.location import SrdLocation, find_sigrok
from tests.decoders.srd.sigrok_side import add_decoder


@pytest.fixture
def few(tmp_path: Path) -> SrdLocation:
    """A folder with two decoders."""
    folder = tmp_path / "few"
    for name in ("ff_one", "ff_two"):
        add_decoder(folder, name, "self.wait({0: 'e'})")
    found = find_sigrok()
    return SrdLocation(found.library, (folder,), found.python)


def test_the_decoders_are_those_that_sigrok_cli_lists() -> None:
    done = subprocess.run(["sigrok-cli", "-L"], capture_output=True, text=True, check=True)
    section = done.stdout.partition("Supported protocol decoders:")[2].splitlines()
    theirs = {line.split()[0] for line in section if line.startswith("  ")}
    ours = {name for name in load_decoders().decoders if name.startswith("srd-")}
    assert ours == {f"srd-{name}" for name in theirs}
    assert len(ours) > 100


def test_a_decoder_of_wires_has_its_channels_and_options() -> None:
    spi = load_decoders().find("srd-spi")
    assert (spi.consumes, [out.kind for out in spi.produces]) == (EDGES, ["srd.spi"])
    assert [(c.id, c.optional) for c in spi.channels] == [
        ("clk", False),
        ("miso", True),
        ("mosi", True),
        ("cs", True),
    ]
    options = {o.id: (o.default, o.choices) for o in spi.options}
    assert options["cpol"] == (0, (0, 1))
    assert options["wordsize"] == (8, ())


def test_a_decoder_that_stands_on_another_has_no_channels() -> None:
    flash = load_decoders().find("srd-spiflash")
    assert (flash.consumes, flash.channels) == ("srd.spi", ())


def test_the_second_reading_comes_from_the_cache(
    few: SrdLocation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_catalogue(few, cache=tmp_path / "cache")
    assert sorted(first.decoders) == ["ff_one", "ff_two"]
    monkeypatch.setattr(catalogue, "SrdWorker", None)
    assert read_catalogue(few, cache=tmp_path / "cache") == first


@pytest.mark.parametrize("change", ["added", "removed", "edited", "library"])
def test_a_change_is_seen(change: str, few: SrdLocation, tmp_path: Path) -> None:
    read_catalogue(few, cache=tmp_path / "cache")
    (folder,) = few.folders
    want = ["ff_one", "ff_two"]
    if change == "added":
        add_decoder(folder, "ff_new", "pass")
        want = ["ff_new", *want]
    elif change == "removed":
        shutil.rmtree(folder / "ff_one")
        want = ["ff_two"]
    elif change == "edited":
        file = folder / "ff_one" / "pd.py"
        file.write_text(file.read_text().replace("'default': 3", "'default': 44"))
    else:
        library = tmp_path / "libsigrokdecode.so.4"
        shutil.copy(few.library, library)
        few = SrdLocation(library, few.folders, few.python)
    again = read_catalogue(few, cache=tmp_path / "cache")
    assert sorted(again.decoders) == want
    assert again.decoders["ff_two"].options[0].default == 3
    if change == "edited":
        assert again.decoders["ff_one"].options[0].default == 44
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": "1"}', '{"version": 1, "decoders": 5}']
)
def test_a_damaged_cache_is_made_again(text: str, few: SrdLocation, tmp_path: Path) -> None:
    first = read_catalogue(few, cache=tmp_path / "cache")
    (file,) = (tmp_path / "cache").iterdir()
    file.write_text(text)
    assert read_catalogue(few, cache=tmp_path / "cache") == first
    assert json.loads(file.read_text())["version"] == first.version


def test_a_cache_that_cannot_be_written_is_no_error(few: SrdLocation, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert sorted(read_catalogue(few, cache=tmp_path / "cache").decoders) == ["ff_one", "ff_two"]


def test_the_first_folder_wins(few: SrdLocation, tmp_path: Path) -> None:
    own = add_decoder(tmp_path / "own", "ff_one", "pass")
    file = own / "ff_one" / "pd.py"
    file.write_text(file.read_text().replace("'default': 3", "'default': 5"))
    both = SrdLocation(few.library, (own, *few.folders), few.python)
    found = read_catalogue(both, cache=tmp_path / "cache").decoders
    assert [found[name].options[0].default for name in ("ff_one", "ff_two")] == [5, 3]


def test_a_decoder_with_more_channels_than_edges_have_is_refused_with_the_number() -> None:
    channels = tuple(SrdChannel(f"d{n}", "data", False) for n in range(65))
    said = SrdDescription("wide", "Wide", "wide", ("logic",), (), channels, (), ("a",), ())
    with pytest.raises(ValueError, match="has 65 channels; 64 are possible"):
        srd_decoder(find_sigrok(), said)


def test_names_that_ours_cannot_have_are_changed_and_reach_sigrok_unchanged() -> None:
    channels = (SrdChannel("D+", "plus", False), SrdChannel("1W", "wire", True))
    said = SrdDescription("USB", "USB", "usb", ("logic",), ("USB x",), channels, (), ("a",), ())
    made = srd_decoder(find_sigrok(), said)
    assert made.id == "srd-usb"
    assert [channel.id for channel in made.channels] == ["d_", "x1w"]
    assert made.produces[0].kind == "srd.usb_x"
    assert os.fspath(made.decode.location.library) == os.fspath(find_sigrok().library)  # type: ignore[attr-defined] # it is an SrdDecode
