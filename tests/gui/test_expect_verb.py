"""expect: a capture held against a file of rules, for people, programs and test servers; and --where of decode."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pyarrow.parquet import read_table

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.decoders.serial.mdio_encode import MdioFrame, encode_frames
from tests.gui.cli import refusal, run_inside
from tests.gui.mdio import FRAMES

NO_LINK = MdioFrame(22, "read", phy=1, reg=1, data=0x782D)
RULES = """
decode = ["mdio"]
[[expect]]
name = "the PHY is told to be at 100 Mbit/s"
where = "op == write and reg == 0"
rows = 1
[[expect]]
name = "it has a link"
where = "reg == 1"
last = "data == 0x7829"
"""


@pytest.fixture
def phy(tmp_path: Path) -> Path:
    path = tmp_path / "phy.sr"
    write_sr(encode_frames((*FRAMES, NO_LINK), samplerate_hz=10_000_000), path)
    (tmp_path / "rules.toml").write_text(RULES)
    return path


def test_what_does_not_hold_is_printed_with_its_row_and_the_exit_code_is_1(phy: Path) -> None:
    xml = phy.with_name("r.xml")
    done = run_inside("expect", str(phy), str(phy.with_name("rules.toml")), "--junit", str(xml))
    assert (done.code, done.err) == (1, "")
    head, good, bad, row = done.out.splitlines()
    assert head == f"{phy}: 1 of 2 expectations hold"
    assert good == "ok      the PHY is told to be at 100 Mbit/s: 1 row"
    assert bad == "FAILED  it has a link: 1 of 1 rows are not 'data == 0x7829'"
    assert row.startswith("        row 2 at ")
    assert row.endswith("read PHY 1 register 1 status -> 0x782d")
    suite = ElementTree.fromstring(xml.read_bytes())
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")
    said = refusal("expect", str(phy), str(phy.with_name("rules.toml")), "--junit", str(xml))
    assert "--force" in said


def test_all_that_holds_is_exit_code_0_and_json_says_each(phy: Path) -> None:
    rules = phy.with_name("rules.toml")
    rules.write_text(RULES.replace("0x7829", "0x782d"))
    done = run_inside("expect", str(phy), str(rules), "-d", "mdio:mdc=MDC,mdio=MDIO", "--json")
    assert done.code == 0
    said = json.loads(done.out)
    assert (said["holds"], [e["holds"] for e in said["expectations"]]) == (True, [True, True])


def test_bad_rules_and_rules_without_decoders_are_one_line(phy: Path) -> None:
    rules = phy.with_name("rules.toml")
    for text, message in (
        ("[[expect]]\nrows = 1", "names no decoders"),
        (RULES.replace("data ==", "dat =="), "did you mean data?"),
        (RULES.replace('"mdio"', '"mdoi"'), "mdoi"),
    ):
        rules.write_text(text)
        assert message in refusal("expect", str(phy), str(rules))


def test_decode_prints_and_writes_only_the_rows_that_match(phy: Path) -> None:
    done = run_inside("decode", str(phy), "-d", "mdio", "--where", "op == write")
    assert (done.code, len(done.out.splitlines())) == (0, 1)
    assert "write PHY 1 register 0" in done.out
    place = phy.with_name("rows.parquet")
    done = run_inside("decode", str(phy), "-d", "mdio", "--where", "reg > 0", "-o", str(place))
    assert done.out == f"{place}: mdio, 2 rows\n"
    assert read_table(place).column("reg").to_pylist() == [2, 1]
    none = run_inside("decode", str(phy), "-d", "mdio", "--where", "reg == 9")
    assert (none.code, none.out, none.err) == (0, "", "0 rows match reg == 9\n")
    for words in (("decode",), ("export", "--to", "csv", "-o", str(phy.with_name("rows.csv")))):
        typed = run_inside(*words, str(phy), "-d", "mdio", "--where", "op == raed")
        assert "op == raed: op is never 'raed'; did you mean read?\n" in typed.out + typed.err


def test_where_that_cannot_be_is_one_line(phy: Path) -> None:
    said = refusal("decode", str(phy), "--where", "reg == 9")
    assert said == "freezeframe: --where chooses among the rows of decoders; name one with -d\n"
    said = refusal("decode", str(phy), "-d", "mdio", "--where", "reg ==")
    assert "character 7: a value to compare with" in said
    out = phy.with_name("x.vcd")
    said = refusal("export", str(phy), "--to", "vcd", "--where", "reg == 1", "-o", str(out))
    assert "name a decoder by -d" in said


def test_export_writes_only_the_rows_that_match(phy: Path) -> None:
    place = phy.with_name("x.csv")
    done = run_inside(
        "export", str(phy), "-d", "mdio", "--where", "op == read", "--to", "csv", "-o", str(place)
    )
    assert (done.code, len(place.read_text().splitlines())) == (0, 3)


def test_a_rule_that_asks_a_column_for_a_text_that_it_never_has_is_told_also_where_it_holds(
    phy: Path, tmp_path: Path
) -> None:
    rules = tmp_path / "slip.toml"
    rules.write_text(
        "decode = ['mdio']\n[[expect]]\nname = 'no raeds'\nwhere = 'op == raed'\nrows = 0\n"
    )
    done = run_inside("expect", str(phy), str(rules))
    assert done.code == 0
    slip = "no raeds: op == raed: op is never 'raed'; did you mean read?"
    assert done.err == f"note: {slip}\n"
    document = json.loads(run_inside("expect", str(phy), str(rules), "--json").out)
    assert document["expectations"][0]["never"] == [slip]
