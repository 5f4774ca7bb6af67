"""Files of expectations: literal text in, rules out; what is wrong is named with its rule and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from freezeframe.analyzers.expectations.rules import Count, Rule, read_rules
from freezeframe.capture.errors import InputError


def written(folder: Path, text: str) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_file_gives_decoders_and_rules(tmp_path: Path) -> None:
    said = read_rules(
        written(
            tmp_path,
            """
decode = ["spi:clk=SCK", "uart"]
[[expect]]
name = "the flash answers"
table = "spi"
where = "mosi == 0x9f"
answered_by = "miso == 0xef"
within = "20us"
[[expect]]
where = "kind == error"
rows = 0
[[expect]]
where = "kind == data"
[[expect]]
sequence = ["data == 1", "data == 2"]
rows = "2..9"
""",
        )
    )
    assert said.decode == ("spi:clk=SCK", "uart")
    assert said.rules == (
        Rule(
            "the flash answers", "spi", "mosi == 0x9f", answered_by="miso == 0xef", within_ps=20_000_000
        ),
        Rule("where kind == error, rows 0", where="kind == error", rows=Count(0, 0)),
        Rule("where kind == data", where="kind == data", rows=Count(1, None)),
        Rule(
            "sequence data == 1, data == 2, rows 2..9",
            rows=Count(2, 9),
            sequence=("data == 1", "data == 2"),
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no \[\[expect\]\] in it"),
        ("expect = 3", r"no \[\[expect\]\] in it"),
        ("x = [", "Invalid value"),
        ("x = " + "[" * 5000 + "]" * 5000, "recursion"),
        ("x = " + "9" * 5000, "5000 digits"),
        ("[[expect]]\nrow = 1", r"expect 1: there is no key 'row'; there is name, table, where"),
        ("[[expect]]\n[[expect]]\nrows = -1", r"expect 2: rows: -1 is no count"),
        ("[[expect]]\nrows = true", r"expect 1: rows: True is no count"),
        ("[[expect]]\nrows = '5..2'", r"rows: '5..2' begins after its end"),
        ("[[expect]]\nrows = '..'", r"rows: '..' is no count"),
        ("[[expect]]\nrows = '1" + " " * 200_000 + "x'", r"rows: '1 +x' is no count"),
        ("[[expect]]\nwhere = 'a ='", r"where: 'a =': character 4: a value"),
        ("[[expect]]\nevery = 3", r"every: 3 is no text"),
        ("[[expect]]\nsequence = ['a == 1']", r"sequence: takes 2 expressions or more"),
        ("[[expect]]\nwithin = '3us'", r"within: limits sequence or answered_by"),
        (
            "[[expect]]\nanswered_by = 'a == 1'\nwithin = '3'",
            r"within: '3' is not a time with h, min, s, ms",
        ),
        ("decode = [3]\n[[expect]]", r"decode: 3 is no text"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_rules(written(tmp_path, text))
    assert str(tmp_path / "rules.toml") in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_rules(tmp_path / "none.toml")
    (tmp_path / "raw").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="can't decode byte 0xff"):
        read_rules(tmp_path / "raw")
    (tmp_path / "long").write_bytes(b"#" * ((1 << 20) + 1))
    with pytest.raises(InputError, match="is it a file of rules"):
        read_rules(tmp_path / "long")
