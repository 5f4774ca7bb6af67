"""A card file that extends another says only what differs, and is then the card that it would be written out."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.card.elaborated import elaborate
from freezeframe.capture.card.extending import laid_over
from freezeframe.capture.card.finding import card_of_text, text_hash
from freezeframe.capture.card.reading import parse_card, read_card
from freezeframe.capture.card.toml_text import CardError
from freezeframe.capture.errors import InputError

BASE = """\
schema = 1
[card]
name = "base"
[clock.bus]
hz = 100_000_000
registers = true
[tap.a]
kind = "words"
clock = "bus"
[tap.b]
kind = "words"
clock = "bus"
[counter]
first = { wire = "first", unit = "words" }
last = { wire = "last" }
[law.kept]
plus = ["first"]
minus = ["last"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.toml").write_text(BASE)
    return tmp_path


def own(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def refused(folder: Path, text: str) -> list[str]:
    with pytest.raises(CardError) as error:
        read_card(own(folder, text))
    return [line.replace(f"{folder}/", "") for line in error.value.lines]


@pytest.mark.parametrize(
    ("name", "was"),
    [
        ("forth", 0xF2C6EDD5475ECFE3),
        ("forth-x4", 0x6CB3D1C9DFAFDB62),
        ("forth-regions", 0x82C73DB79F971234),
    ],
)
def test_the_forms_of_the_example_card_are_what_they_were_when_each_was_written_out(
    name: str, was: int
) -> None:
    card = elaborate(read_card(name))
    assert (card.name, card.hash) == (name, was)
    assert text_hash(card.text) == was
    assert "extends" not in card.text
    assert card_of_text(card.text, was, "a device").card.said == card.said


def test_what_is_not_said_is_from_the_base_and_what_is_said_stands_over_it_key_by_key(
    folder: Path,
) -> None:
    text = 'extends = "base.toml"\n[card]\nname = "own"\n[clock]\nbus = { hz = 50_000_000 }\n[tap.a]\nbits = 8\n'
    card = read_card(own(folder, text))
    assert (card.card.name, card.schema) == ("own", 1)
    assert (card.clock["bus"].hz, card.clock["bus"].registers) == (50_000_000, True)
    assert (card.tap["a"].bits, card.tap["a"].kind, card.tap["b"].bits) == (8, "words", 64)
    assert card.law["kept"].minus == ["last"]


def test_it_is_the_card_that_it_would_be_written_out(folder: Path) -> None:
    over = 'extends = "base.toml"\n[counter]\nfirst = { unit = "packets" }\nmiddle = { wire = "middle" }\n'
    whole = BASE.replace(
        'first = { wire = "first", unit = "words" }',
        'first = { wire = "first", unit = "packets" }\nmiddle = { wire = "middle" }',
    )
    assert elaborate(read_card(own(folder, over))).text == elaborate(parse_card(whole)).text


def test_a_new_name_stands_behind_the_one_before_it_else_at_the_end() -> None:
    below = {"a": 1, "b": 2, "c": 3}
    assert list(laid_over(below, {"x": 0, "y": 0})) == ["a", "b", "c", "x", "y"]
    assert list(laid_over(below, {"a": 5, "x": 0, "y": 0, "c": 0})) == ["a", "x", "y", "b", "c"]
    assert list(laid_over(below, {"x": 0, "b": 0, "y": 0})) == ["a", "b", "y", "c", "x"]
    assert list(laid_over(below, {"b": {}, "y": 0})) == ["a", "y", "c"]


def test_a_table_takes_the_place_of_a_value_and_a_list_that_of_a_list() -> None:
    below = {"store": "all", "stretch": [{"a": 1}, {"a": 2}], "keep": {"n": 1}}
    above = {"store": {"first_bytes": 64}, "stretch": [{"b": 1}], "keep": "tail"}
    assert laid_over(below, above) == above
    assert below["stretch"] == [{"a": 1}, {"a": 2}]


def test_a_table_with_nothing_in_it_takes_the_base_s_away(folder: Path) -> None:
    text = 'extends = "base.toml"\n[law]\nkept = {}\n[counter]\nlast = {}\n'
    card = read_card(own(folder, text))
    assert (list(card.counter), card.law) == (["first"], {})


def test_bases_stand_one_behind_the_other_and_are_looked_for_beside_the_file(folder: Path) -> None:
    (folder / "in").mkdir()
    middle = folder / "in" / "middle.toml"
    middle.write_text('extends = "../base.toml"\n[tap.a]\nbits = 32\nkeep = "tail"\n')
    card = read_card(own(folder, 'extends = "in/middle.toml"\n[tap.a]\nbits = 16\n'))
    assert (card.tap["a"].bits, card.tap["a"].keep, card.tap["a"].clock) == (16, "tail", "bus")


def test_a_card_that_ships_is_extended_by_its_name_also_where_a_file_of_that_name_lies(
    folder: Path,
) -> None:
    (folder / "forth").write_text("no card")
    card = elaborate(read_card(own(folder, 'extends = "forth"\n[card]\nname = "mine"\n')))
    assert (card.name, len(card.taps), card.map) == ("mine", 4, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('extends = "fort"', "own.toml:1: extends = 'fort': no card of that name ships; did you mean forth? "
         "(a file's path ends in .toml)"),
        ('\nextends = "bass.toml"', "own.toml:2: extends = 'bass.toml': there is no file 'bass.toml'"),
        ("extends = 3", "own.toml:1: extends = 3: name a card that ships, or the path of a file that ends in .toml"),
        ("[extends]\na = 1", "own.toml:1: extends = a table: name a card that ships, or the path of a file that "
         "ends in .toml"),
        ('extends = "a\\u0000.toml"', "own.toml:1: extends = 'a\\x00.toml': there is no file 'a\\x00.toml'"),
        ('extends = "own.toml"', "own.toml:1: extends = 'own.toml': goes round: own.toml extends own.toml"),
        ('extends = "base.toml"\n[law]\nkeep = {}', "own.toml:3: 'law.keep' has nothing in it, which takes away what "
         "is there of that name, and base.toml has none; did you mean kept?"),
        ('extends = "base.toml"\n[way]', "own.toml:2: 'way' has nothing in it, which takes away what is there of "
         "that name, and base.toml has none; there is schema, card, clock, tap, counter, law"),
        ('extends = "base.toml"\n[tap.a]\nclok = "bus"', "own.toml:3: unknown key 'clok' in tap.a; did you mean "
         "clock?"),
        ('extends = "base.toml"\n[tap.c]\nbits = 8', "own.toml:2: tap.c: kind is missing"),
        ('extends = "base.toml"\n[counter]\nlast = {}', "base.toml:16: law kept: there is no counter or register "
         "of the bank 'last'; there is first"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_the_file_that_makes_it_its_line_and_the_key(
    folder: Path, text: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    own(folder, text)
    with pytest.raises(CardError) as error:
        read_card("own.toml")
    assert error.value.lines == (says,)


def test_a_circle_of_several_files_is_shown_round(folder: Path) -> None:
    (folder / "a.toml").write_text('extends = "b.toml"\n')
    (folder / "b.toml").write_text('# first a\nextends = "./a.toml"\n')
    assert refused(folder, 'extends = "a.toml"\n') == [
        "b.toml:2: extends = './a.toml': goes round: a.toml extends b.toml extends a.toml"
    ]


def test_a_base_that_cannot_be_read_is_the_file_that_is_named(folder: Path) -> None:
    (folder / "bad.toml").write_text("schema = 1\n[card\n")
    (said,) = refused(folder, 'extends = "bad.toml"\n')
    assert said.startswith("bad.toml:2: no TOML: ")
    (folder / "big.toml").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match=r"big\.toml: larger than 1,048,576 B"):
        read_card(own(folder, 'extends = "big.toml"\n'))
    long = "n" * 300
    assert refused(folder, f'extends = "{long}.toml"\n')[0].startswith("own.toml:1: extends = 'nnn")


def test_tables_that_no_reader_can_lay_over_each_other_are_refused(folder: Path) -> None:
    deep = ".".join(["a"] * 5000)
    (folder / "deep.toml").write_text(f"{deep} = 1\n")
    assert refused(folder, f'extends = "deep.toml"\n{deep} = 2\n') == [
        "own.toml: tables stand too deep in each other"
    ]


def test_the_text_of_a_device_has_to_be_whole() -> None:
    card = elaborate(parse_card(BASE))
    text = card.text.replace('{"schema":1', '{"schema":1,"extends":"forth"', 1)
    assert text != card.text
    with pytest.raises(InputError, match=r"extends: 'forth' stands in a text that has to be whole"):
        card_of_text(text, text_hash(text), "A")
