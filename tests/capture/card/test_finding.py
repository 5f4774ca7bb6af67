"""Whose card a device is: by hash alone, from ROM, known cards or a file; damaged and lying ROMs."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from msgspec import json, to_builtins

from freezeframe.capture.card.device import CardDevice, open_any
from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.finding import rom_words, text_hash, text_of_rom
from freezeframe.capture.card.reading import parse_card
from freezeframe.capture.card.recording import Feature
from freezeframe.capture.errors import DeviceUnknownError, FreezeframeError, InputError
from freezeframe.capture.folder.card_folder import CardFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.card_image import SERVED, CardImage, empty_recording
from tests.capture.card.test_reading import MAC

_CARD = elaborate(parse_card(MAC))
_NO_ROM = SERVED & ~Feature.ROM


@pytest.fixture(autouse=True)
def _no_cards_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def _card(image: CardImage, file: Path | None = None) -> CardDevice:
    (device,) = open_any(image, file)
    assert isinstance(device, CardDevice)
    return device


def test_a_rom_is_the_length_and_the_zlib_stream_first_byte_least_significant() -> None:
    words = rom_words("{}")
    assert words[0] == 10
    assert words[1] & 0xFFFF == 0xDA78
    assert len(words) == 4
    assert text_of_rom(words, "here") == "{}"


def test_a_card_is_read_from_its_rom() -> None:
    device = _card(CardImage([empty_recording(_CARD)]))
    assert device.found.text == _CARD.text
    assert device.found.where == "image:: device 0 at 0x00000000, ROM"


def test_a_card_whose_text_was_written_with_every_default_keeps_that_text_and_its_hash(
    tmp_path: Path,
) -> None:
    """As devices were built, and captures written, before keys at their default were left out."""
    text = json.encode(to_builtins(_CARD.said)).decode()
    assert len(text) > len(_CARD.text)
    image = CardImage([empty_recording(_CARD)], texts={0: text})
    image.device(0).set("id.card_hash_lo", text_hash(text) & 0xFFFFFFFF)
    image.device(0).set("id.card_hash_hi", text_hash(text) >> 32)
    device = _card(image)
    assert (device.found.text, device.found.card.text) == (text, text)
    assert device.found.card.said == _CARD.said
    assert device.found.card.hash == text_hash(text) != _CARD.hash
    report = pull(image, tmp_path / "x.ff")
    (there,) = CardFolder.open(report.path).devices
    assert there.card.hash == text_hash(text)
    assert (tmp_path / "x.ff" / "cards" / f"{text_hash(text):016x}.json").read_text() == text


def test_without_a_rom_it_is_looked_up_by_its_hash_whatever_the_file_is_called(
    tmp_path: Path,
) -> None:
    image = CardImage([empty_recording(_CARD, _NO_ROM)])
    with pytest.raises(InputError, match=rf"known cards has its hash {_CARD.hash:016x}: put"):
        open_any(image)
    folder = tmp_path / "config" / "freezeframe" / "cards"
    folder.mkdir(parents=True)
    # Two cards with one name: the one that was changed is not taken.
    (folder / "a.toml").write_text(MAC.replace("hz = 156_250_000", "hz = 156_250_001", 1))
    (folder / "b.toml").write_text(MAC)
    (folder / "c.toml").write_text("nothing")
    assert _card(image).found.where == str(folder / "b.toml")


def test_a_file_is_taken_only_with_the_right_hash_and_both_are_named(tmp_path: Path) -> None:
    image = CardImage([empty_recording(_CARD, _NO_ROM)])
    right, other = tmp_path / "right.toml", tmp_path / "other.toml"
    right.write_text(MAC)
    other.write_text(MAC.replace("hz = 156_250_000", "hz = 156_250_001", 1))
    assert _card(image, right).found.card.name == _CARD.name
    with pytest.raises(
        InputError, match=rf"other.toml: .*has hash [0-9a-f]{{16}}, .*{_CARD.hash:016x}: give"
    ):
        open_any(image, other)


def _at_fault(words: list[int]) -> str:
    with pytest.raises(InputError) as caught:
        text_of_rom(words, "dev")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_damaged_rom_is_one_line_with_place_and_remedy() -> None:
    words = rom_words(_CARD.text)
    assert "dev: the card's ROM is damaged: it says 0 B and holds 0 B; give" in _at_fault([0])
    assert "it says 4096 B and holds 4 B" in _at_fault([4096, 1])
    assert "the stream does not end" in _at_fault([words[0] - 8, *words[1:]])
    assert "dev: the card's ROM is damaged (Error -3" in _at_fault(
        [words[0], words[1] ^ 1, *words[2:]]
    )
    bomb = zlib.compress(bytes(2 << 20))
    padded = bomb + bytes(-len(bomb) % 4)
    packed = [int.from_bytes(padded[n : n + 4], "little") for n in range(0, len(padded), 4)]
    assert "inflates to more than 1048576 B" in _at_fault([len(bomb), *packed])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (_CARD.text.replace("4096", "1024", 1), "it is another card, or its text was altered"),
        (_CARD.text.replace('"schema":1', '"schema":2'), "is of schema 2, this program reads 1: update"),
        (_CARD.text.replace('"keep":', '"kep":', 1), "written by another release; update"),
        (_CARD.text.replace('"clock":"rx"', '"clock":"xr"', 1), "contradicts itself: tap.rx_in.clock: .*; update"),
        ("[" * 50_000 + "]" * 50_000, r"cannot be read \(maximum recursion depth .*; update"),
        ("[]", "names no schema, this program reads 1: update"),
    ],
)  # fmt: skip
def test_a_text_that_cannot_be_used_is_refused(text: str, says: str) -> None:
    image = CardImage([empty_recording(_CARD)], texts={0: text})
    if "another card" not in says:
        image.device(0).set("id.card_hash_lo", text_hash(text) & 0xFFFFFFFF)
        image.device(0).set("id.card_hash_hi", text_hash(text) >> 32)
    with pytest.raises(DeviceUnknownError, match=says) as caught:
        open_any(image)
    assert str(caught.value).startswith("image:: device 0 at 0x00000000, ROM: ")


@pytest.mark.parametrize(
    ("register", "value", "says"),
    [
        ("id.shape", 3 | 2 << 8 | 2 << 16, "says it has 3 clocks, its card mac10g has 2"),
        ("id.shape", 2 | 2 << 8 | 900 << 16, "says it has 900 memories, its card mac10g has 2"),
        ("id.counters", 9, "says it has 0 causes"),
        ("id.card_rom", 0x2001, "says its ROM has 8193 words; the map has room for 8192"),
        ("id.chunk", 0, "has chunks of 0 records"),
        ("id.devices", 1 | 12 << 16, "spans 2\\^12 B"),
        ("id.devices", 0x20FF, "one of 255, each 2\\^0 B apart|spans 2\\^0 B"),
        ("id.format", 3 << 16, "format version 3.0"),
        ("id.magic", 0x465A5246, "not 0x46525a46"),
    ],
)
def test_a_device_that_lies_about_itself_is_refused(register: str, value: int, says: str) -> None:
    image = CardImage([empty_recording(_CARD)])
    image.device(0).set(register, value)
    with pytest.raises(DeviceUnknownError, match=says):
        open_any(image)


def test_two_devices_of_different_cards_stand_side_by_side() -> None:
    other = elaborate(parse_card(MAC.replace("hz = 156_250_000", "hz = 156_250_001", 1)))
    devices = open_any(CardImage([empty_recording(_CARD), empty_recording(other)]))
    assert [device.base for device in devices] == [0, 1 << 24]
    assert [isinstance(d, CardDevice) and d.found.card.hash for d in devices] == [
        _CARD.hash,
        other.hash,
    ]


def test_an_address_that_is_not_there_is_an_error_that_is_counted() -> None:
    device = _card(CardImage([empty_recording(_CARD)]))
    with pytest.raises(FreezeframeError, match=r"0x00000160 \(nothing\)"):
        device.read_words([0x160])
    assert device.read_many(["id.bus_errors", "id.bus_error_addr"]) == [1, 0x160]
