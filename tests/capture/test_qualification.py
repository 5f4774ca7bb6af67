"""The file of a qualification: it comes back as it was, and whatever is not one is refused in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from freezeframe.capture.errors import CaptureFormatError, CaptureVersionError, InputError
from freezeframe.capture.folder.manifest import manifest_digest
from freezeframe.capture.qualification import (
    Check,
    ClockRate,
    Qualification,
    QualifiedDevice,
    place_of_qualification,
    read_qualification,
    write_qualification,
)

MADE = {"what": "qualified", "when": "2026-11-26T17:20:00+00:00", "who": "ada", "where": "lab"}
DEVICE = QualifiedDevice.of("A", 0x1234, {"clk_bus": 100_000_000, "boot_nonce": 77})
FOUND = Qualification(
    MADE,
    "etherbone://192.0.2.7",
    (DEVICE,),
    (ClockRate("A", "bus", "host", 37_250, 400), ClockRate("A", "link", "A.bus", -12, 3)),
    (
        Check("level", "A", "rx_level", False, 4, "A.rx_level is +1", 1),
        Check("law", "A", "packets received", True, 4, "held 4 of 4 times"),
    ),
    ("A does not count bad-length",),
)


def test_it_comes_back_as_it_was_and_knows_its_place(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    write_qualification(FOUND, path, overwrite=False)
    back = read_qualification(path)
    assert back == FOUND
    assert back.said == f"the qualification of 2026-11-26T17:20:00+00:00 ({path})"
    assert [check.part for check in back.failed] == ["rx_level"]
    assert back.crystal("A", "bus", "host") == (37_250, 400)
    assert (back.crystal("A", "link"), back.crystal("A", "bus")) == ((-12, 3), None)
    assert (back.value("level", "A", "rx_level"), back.value("late", "A", "rx_level")) == (1, None)


def test_the_boot_nonce_is_no_part_of_a_card() -> None:
    assert QualifiedDevice.of("A", 0x1234, {"clk_bus": 100_000_000, "boot_nonce": 78}) == DEVICE
    places = {
        place_of_qualification(source, [QualifiedDevice.of("A", card, {"clk_bus": hz})])
        for source, card, hz in (("x", 1, 5), ("y", 1, 5), ("x", 2, 5), ("x", 1, 6))
    }
    assert len(places) == 4


def test_what_stands_there_is_replaced_only_where_that_was_said(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    write_qualification(FOUND, path, overwrite=False)
    with pytest.raises(InputError, match="exists already"):
        write_qualification(FOUND, path, overwrite=False)
    write_qualification(FOUND, path, overwrite=True)
    assert [each.name for each in tmp_path.iterdir()] == ["card.json"]


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the file with something else in it, and the digest that belongs to that."""
    document = FOUND.to_json()
    change(document)
    return json.dumps({**document, "digest": manifest_digest(document)}).encode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Expecting value"),
        (b"[1]", 'it does not say "format": "freezeframe-qualification"'),
        (b'{"format": "freezeframe-qualification"}', "'version'"),
        (json.dumps(FOUND.to_json()).encode()[:-40], "Expecting|Unterminated|delimiter"),
        (json.dumps(FOUND.to_json()).replace("37250", "37251").encode(), "its digest does not fit its content"),
        (changed(lambda d: d["checks"][0].update(holds="no")), "holds is 'no'"),
        (changed(lambda d: d["checks"][0].update(what="taste")), "it asks for 'taste'"),
        (changed(lambda d: d["clocks"][0].pop("ppb")), "'ppb'"),
        (changed(lambda d: d["devices"][0].update(name=7)), "name is 7"),
        (b"[" * 100_000, "recursion"),
    ],
    ids=range(10),
)  # fmt: skip
def test_what_is_damaged_is_refused_in_one_line(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(data)
    with pytest.raises(CaptureFormatError, match=said) as refused:
        read_qualification(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert "qualify the card again" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "card.json"
    path.write_bytes(changed(lambda d: d.update(version=[2, 0])))
    with pytest.raises(
        CaptureVersionError, match="is a qualification of version 2; this program reads version 1"
    ):
        read_qualification(path)


def test_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureFormatError, match="cannot be read: No such file"):
        read_qualification(tmp_path / "none.json")
