"""Dialects: the shipped one by its programmer's guide, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.capture.instruments import dialect as module
from freezeframe.capture.instruments.dialect import dialect_for, load_dialect, shipped_dialects

SHIPPED = Path(module.__file__).parent / "dialects" / "dsox.toml"


@pytest.mark.parametrize(
    "model", ["MSO-X 3054A", "DSO-X 2024A", "MSOX3054T", "DSO-X 4104A", "MSOX2024A"]
)
def test_the_shipped_dialect_is_found_by_the_model(model: str) -> None:
    known = list(shipped_dialects().values())
    assert dialect_for(f"MAKER,{model},MY1,1.0", known).name == "dsox"


@pytest.mark.parametrize("idn", ["MAKER,DSO9000,MY1,1.0", "nonsense", "", "MAKER,MSO-X 3054A-B,1"])
def test_another_model_is_refused_with_what_to_do(idn: str) -> None:
    with pytest.raises(InputError, match=r"no dialect is for .*--dialect FILE\.toml"):
        dialect_for(idn, list(shipped_dialects().values()))


def test_sixteen_digital_channels_come_in_two_pods() -> None:
    dialect = load_dialect("dsox")
    pods = dialect.group_of("D9")
    assert (pods.source_of("D0"), pods.source_of("D7"), pods.source_of("D8")) == (
        *("POD1", "POD1", "POD2"),
    )
    assert pods.members("D9") == tuple(f"D{n}" for n in range(8, 16))
    assert dialect.group_of("CHAN3").source_of("CHAN3") == "CHANnel3"
    with pytest.raises(InputError, match="there is no channel CH1; there is CHAN1, CHAN2"):
        dialect.group_of("CH1")


def test_a_file_of_ones_own_is_taken(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(SHIPPED.read_text().replace('name = "dsox"', 'name = "mine"'))
    assert load_dialect(str(mine)).name == "mine"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[errors]", "[mistakes]", "'errors' is missing"),
        ('preamble = ":WAVeform:PREamble?"', "preamble = 3", "3 is not a text"),
        ('"points", "count"', '"dots", "count"', "fields dots are not known, points are missing"),
        ('volts = "reference"', 'volts = "guess"', "volts is reference or origin"),
        ("bits_per_byte = 8", "bits_per_byte = 9", "9 bits a byte"),
        ("SOURce {source}", "SOURce {what}", "'what' is missing"),
        ('name = "dsox"', "name = ", "no dialect: "),
        ("(DSO|MSO)", "(DSO|MSO", "no dialect: "),
        ("(DSO|MSO)", "(DSO|MSO){99999999999}", "no dialect: the repetition number is too large"),
    ],
)
def test_a_file_that_declares_none_is_told_why(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    text = SHIPPED.read_text()
    assert old in text
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_dialect(str(mine))


def test_a_dialect_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no dialect 'x'; there is dsox"):
        load_dialect("x")
    with pytest.raises(InputError, match=r"no\.toml: cannot be read"):
        load_dialect(str(tmp_path / "no.toml"))
