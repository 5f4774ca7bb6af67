"""--plugin FILE: the page's decoder as a plain file, and what is said of files that cannot be used."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.blame import blamed
from freezeframe.decoders.plugin import load_with_plugins
from tests.decoders.test_adding_a_decoder import PAGE, WHOLE_FILE, write_bus
from tests.gui.cli import run_inside

MDIO_FILE = Path(__file__).parents[2] / "decoders" / "serial" / "mdio.py"
DECLARATION = """
from freezeframe.decoders.contract import Decoder, Output

def decode(piece, options, state, last):
    raise NotImplementedError

{name} = Decoder(id="{id}", name="x", doc="x", consumes="mdio",
    produces=(Output("{id}.rows", dict),), decode=decode)
"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "phylink.py"
    path.write_text(WHOLE_FILE)
    return path


def test_the_command_of_the_page_runs_the_decoder_of_the_page(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(page.parent)
    write_bus(Path("board.sr"))
    command = re.search(r"^freezeframe (decode board\.sr --plugin .*)$", PAGE.read_text(), re.M)
    assert command
    done = run_inside(*command[1].split())
    assert (done.code, done.err) == (0, "")
    assert [line.split()[-1] for line in done.out.splitlines()] == ["down", "up", "up", "down"]


def test_the_listing_has_it_with_its_options(page: Path) -> None:
    done = run_inside("decoders", "phylink", "--plugin", str(page))
    assert "makes: phylink  one row a change" in done.out
    assert "t_ps int64, source text, kind text, phy int8" in done.out
    assert "option phy=-1  only this PHY; -1 for all (-1..31)" in done.out
    assert run_inside("decoders", "phylink").code == 2


def test_an_export_takes_it_too(page: Path, tmp_path: Path) -> None:
    board, out = write_bus(tmp_path / "board.sr"), tmp_path / "rows.csv"
    spec = ("-d", "mdio+phylink", "--plugin", str(page))
    done = run_inside("export", str(board), "--to", "csv", "-o", str(out), *spec)
    assert (done.code, done.err) == (0, "")
    assert [line.split(",")[2] for line in out.read_text().splitlines()[1:]] == [
        *('"down"', '"up"', '"up"', '"down"')
    ]


def test_all_decoders_of_a_file_are_taken_but_not_those_it_imports(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(
        "from freezeframe.decoders.serial.mdio import MDIO\n"
        + DECLARATION.format(name="A", id="one")
        + DECLARATION.format(name="B", id="two")
    )
    assert {"one", "two", "mdio"} <= set(load_with_plugins([path]).decoders)


def test_the_file_of_an_installed_decoder_may_be_given_too() -> None:
    registry = load_with_plugins([MDIO_FILE])
    assert registry.find("mdio").produces[0].kind == "mdio"
    assert set(registry.native) == set(load_with_plugins(()).native)


def test_a_copy_of_an_installed_decoder_is_another_of_its_id(tmp_path: Path) -> None:
    copy = tmp_path / "mdio.py"
    copy.write_text(MDIO_FILE.read_text())
    with pytest.raises(InputError, match=r"MDIO is a decoder 'mdio', and there is one of that id"):
        load_with_plugins([copy])


def test_two_files_of_one_name_are_two_plugins(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "mine.py" for folder in ("a", "b")]
    for path, name in zip(paths, ("one", "two"), strict=True):
        path.parent.mkdir()
        path.write_text(DECLARATION.format(name="A", id=name))
    assert {"one", "two"} <= set(load_with_plugins(paths).decoders)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ndef decode(:\n", r"mine\.py: line 2: invalid syntax"),
        ("x = 1\n\nraise KeyError('no')\n", r"mine\.py: line 3: KeyError: 'no'"),
        ("import sys\nsys.exit(4)\n", r"mine\.py: line 2: SystemExit: 4"),
        ("import no_such_module\n", r"line 1: ModuleNotFoundError: No module named"),
        ("x = 1\n", r"there is no Decoder in it; bind one to a name"),
        (DECLARATION.format(name="A", id="spi"), r"A is a decoder 'spi', and there is one of that"),
        (
            DECLARATION.format(name="A", id="one") + DECLARATION.format(name="B", id="one"),
            r"B is a second decoder 'one'",
        ),
        (DECLARATION.format(name="A", id="Big!"), r"line 8: ValueError: output kind 'Big!.rows'"),
        ("x = '\0'", r"mine\.py: .*null bytes"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_with_its_line(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        load_with_plugins([path])


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = run_inside("decoders", "--plugin", str(tmp_path / "none.py"))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "none.py: cannot be read: No such file" in done.err


def test_long_tells_channels_options_and_columns_of_every_decoder() -> None:
    text = run_inside("decoders", "--long").out
    names = {each["id"] for each in json.loads(run_inside("decoders", "--json").out)["decoders"]}
    assert names <= {line.partition("  ")[0] for line in text.splitlines()}
    mdio = text[text.index("\nmdio  MDIO\n") :].partition("\n\n")[0]
    assert "    channel mdc  clock" in mdio
    assert "    option clause=auto  frames that are expected (auto, 22, 45)" in mdio
    assert "        t_ps int64, source text, kind text, t_end_ps int64" in mdio


FAILING = """
import pyarrow as pa
from freezeframe.decoders.columns import table
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Output, Texts

def schema():
    return pa.schema([pa.field("t_ps", pa.int64()), pa.field("source", pa.string()),
                      pa.field("kind", pa.string())])

def decode(edges, options, state, last):
    {decode}

def words(row):
    {words}

ZD = Decoder(id="zd", name="zd", doc="zd", consumes=EDGES, decode=decode, texts=words,
    produces=(Output("zd", schema),), channels=(Channel("mdc", "x"),))
"""
GOOD = 'return table(schema(), {"t_ps": [1], "source": ["s"], "kind": ["k"]})'


@pytest.mark.parametrize(
    ("decode", "words", "said"),
    [
        (
            "return 1 // 0",
            "return Texts('', '', '')",
            "decoder zd failed: ZeroDivisionError: integer division or modulo by zero "
            "(zd.py line 11); tell its author",
        ),
        (
            'return table(schema(), {"t_ps": ["soon"], "source": ["s"], "kind": ["k"]})',
            "return Texts('', '', '')",
            "(zd.py line 11); tell its author",
        ),
        (GOOD, 'return row["speed"]', "decoder zd failed: KeyError: 'speed' (zd.py line 14)"),
    ],
)
def test_a_fault_inside_a_plugin_is_one_line_with_its_place(
    tmp_path: Path, decode: str, words: str, said: str
) -> None:
    plugin = tmp_path / "zd.py"
    plugin.write_text(FAILING.format(decode=decode, words=words))
    board = write_bus(tmp_path / "board.sr")
    done = run_inside("decode", str(board), "-d", "zd", "--plugin", str(plugin))
    assert done.code == 2
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_fault_inside_a_decoder_of_ours_keeps_its_traceback() -> None:
    mdio = load_with_plugins(()).find("mdio")
    with pytest.raises(ZeroDivisionError), blamed(mdio, mdio.decode):
        raise ZeroDivisionError


OLD_PLUGIN = """
import numpy as np
import pyarrow as pa
from freezeframe.capture.files.edges import samples_to_ps
from freezeframe.decoders.columns import one_name, table
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output, Texts

def schema():
    return pa.schema([pa.field("t_ps", pa.int64()), pa.field("source", pa.string()),
                      pa.field("kind", pa.string())])

def new_state(options):
    return {"edges": 0}

def decode(edges, options, state, last):
    state["edges"] += len(edges)
    kinds = [f"{state['edges']} edges"] if last else []
    return table(schema(), {"t_ps": np.zeros(len(kinds), np.int64),
                            "source": one_name("old", len(kinds)), "kind": kinds})

OLD = Decoder(id="old", name="old", doc="as in 0.1", consumes=EDGES, decode=decode,
    new_state=new_state, produces=(Output("old", schema),), channels=(Channel("mdc", "clock"),),
    texts=lambda row: Texts(row["kind"], row["kind"], row["kind"]))
"""


def test_a_plugin_written_for_0_1_works_as_it_stands(tmp_path: Path) -> None:
    plugin = tmp_path / "old.py"
    plugin.write_text(OLD_PLUGIN)
    board = write_bus(tmp_path / "board.sr")
    done = run_inside("decode", str(board), "-d", "old", "--plugin", str(plugin))
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"\s*0 ps  \d+ edges\n", done.out)


def test_a_plugin_that_imports_what_has_moved_is_one_clear_line(tmp_path: Path) -> None:
    plugin = tmp_path / "old.py"
    plugin.write_text("from freezeframe.decoders.registry import no_longer_here\n" + OLD_PLUGIN)
    done = run_inside("decoders", "--plugin", str(plugin))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "old.py: line 1: ImportError: cannot import name 'no_longer_here'" in done.err


def test_code_that_a_plugin_names_and_that_does_not_load_is_one_line(tmp_path: Path) -> None:
    plugin = tmp_path / "named.py"
    plugin.write_text(
        "from freezeframe.capture.code import code\n"
        + OLD_PLUGIN.replace("decode=decode", 'decode=code("no_such_module:decode")')
    )
    board = write_bus(tmp_path / "board.sr")
    done = run_inside("decode", str(board), "-d", "old", "--plugin", str(plugin))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "decoder old failed: ModuleNotFoundError: No module named 'no_such_module'" in done.err
