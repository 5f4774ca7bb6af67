"""A capture of format 2.0: the card's text in it, chunks by their hashes, what is known of its history."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.folder.manifest import manifest_digest, manifest_text
from freezeframe.capture.folder.of_cards import is_card_folder
from freezeframe.capture.folder.reader import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import CardImage
from tests.capture.card.recorded import TEXT, card, recording

_TEXT_FILE = f"cards/{card().hash:016x}.json"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    pull(CardImage([recording()]), tmp_path / "x.ff", freeze=True)
    return tmp_path / "x.ff"


def _resign(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    manifest["digest"] = manifest_digest(manifest)
    (folder / "manifest.json").write_bytes(manifest_text(manifest))


def test_the_manifest_says_what_is_known_and_null_where_nothing_is(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == ["freezeframe-capture", 2, 0]
    assert is_card_folder(folder)
    armed, frozen, pulled = manifest["history"]
    assert armed == {
        "what": "armed",
        "when": None,
        "who": None,
        "where": None,
        "generation": {"A": 1},
    }
    assert (frozen["what"], frozen["when"]) == ("frozen", None)  # it was frozen when it was met
    assert frozen["seen"].endswith("+00:00")
    assert pulled["what"] == "pulled"
    assert pulled["when"].endswith("+00:00")
    assert manifest["custody"] == []
    (device,) = manifest["devices"]
    assert device["clocks"][1] == {
        "name": "rx", "hz": 199_999_000, "ppm": 50, "alive": True,
        "first": {"number": 1, "cycle": 205}, "last": None,
    }  # fmt: skip
    assert device["memories"]["wide.1"] == {
        "file": "raw/A.wide.1.rec", "tap": "wide", "lane": 1, "records": 16, "gaps": [],
    }  # fmt: skip
    assert len(manifest["raw"]["raw/A.byte.rec"]["chunks"]) == 2
    assert (folder / _TEXT_FILE).read_text() == card().text


def test_a_damaged_chunk_is_named(folder: Path) -> None:
    file = folder / "raw/A.byte.rec"
    data = bytearray(file.read_bytes())
    data[9 * 300] ^= 1
    file.write_bytes(data)
    with pytest.raises(
        CaptureFormatError, match=r"A.byte.rec: altered in chunk 1 \(records 256..511\) of 2; copy"
    ):
        CardFolder.open(folder)


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (lambda f: (f / "raw/A.byte.rec").write_bytes(b"\0" * 9), r"A.byte.rec: cut: 9 B, and 4608 B"),
        (lambda f: (f / "raw/A.wide.1.rec").unlink(), r"A.wide.1.rec: missing; 144 B were pulled"),
        (lambda f: (f / "raw/more").write_bytes(b""), r"raw/more: is not in the manifest"),
        (lambda f: (f / _TEXT_FILE).write_text("{}"), r"\.json: cut: 2 B"),
        (
            lambda f: _resign(f, lambda m: m["devices"][0]["memories"].pop("byte")),
            r"device A has memories wide.0, wide.1; its card wide has byte, wide.0, wide.1",
        ),
        (
            lambda f: _resign(f, lambda m: m["devices"][0]["taps"]["byte"].update(write_ptr=513)),
            r"byte: write_ptr 513 is outside 0..512",
        ),
        (
            lambda f: _resign(f, lambda m: m["devices"][0]["identity"].update(chunk="9")),
            r"identity: chunk is '9', not a word",
        ),
        (
            lambda f: _resign(f, lambda m: m["raw"].update({"../x": m["raw"][_TEXT_FILE]})),
            r"'../x' is not the name, size and SHA-256",
        ),
        (lambda f: _resign(f, lambda m: m.update(devices=[])), r"A.byte.rec belongs to no device"),
        (lambda f: _resign(f, lambda m: m["devices"][0].pop("taps")), r"'taps' is missing"),
    ],
)  # fmt: skip
def test_a_folder_that_is_not_as_it_was_written_is_refused(
    folder: Path, harm: Callable[[Path], object], says: str
) -> None:
    harm(folder)
    with pytest.raises(CaptureFormatError, match=says) as caught:
        CardFolder.open(folder)
    assert "\n" not in str(caught.value)


def test_a_capture_without_its_card_asks_for_it_and_takes_it_by_its_hash(
    folder: Path, tmp_path: Path
) -> None:
    (folder / _TEXT_FILE).unlink()
    with pytest.raises(InputError, match=r"\.json: the capture is without its card, and none of"):
        CardFolder.open(folder)
    cards = tmp_path / "config/freezeframe/cards"
    cards.mkdir(parents=True)
    (cards / "mine.toml").write_text(TEXT)
    assert CardFolder.open(folder).device("A").card.name == "wide"


def test_a_newer_format_asks_for_an_update(folder: Path) -> None:
    _resign(folder, lambda m: m.update(format=["freezeframe-capture", 2, 1]))
    with pytest.raises(CaptureVersionError, match=r"version 2\.1, this program reads 2\.0; update"):
        CardFolder.open(folder)


def test_what_knows_the_built_in_card_alone_says_so(folder: Path) -> None:
    with pytest.raises(CaptureVersionError, match="this step knows the built-in card alone"):
        CaptureFolder.open(folder)
