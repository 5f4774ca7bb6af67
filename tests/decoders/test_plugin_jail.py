"""Decoders of --plugin run in a worker that has shut itself in; whatever they do, a line is all that comes of it."""

from __future__ import annotations

import logging
import os
import platform
import re
import sys
from pathlib import Path

import pytest

from freezeframe.capture.errors import InputError
from freezeframe.decoders.plugin import load_with_plugins
from freezeframe.decoders.plugin_worker import (
    MEMORY_MIB,
    MEMORY_VARIABLE,
    TIMEOUT_S,
    TIMEOUT_VARIABLE,
)
from freezeframe.decoders.registry import GROUP, load_decoders
from freezeframe.decoders.run import decode_file
from tests.decoders.test_adding_a_decoder import PAGE, write_bus
from tests.gui.cli import run_inside

PLUGIN = """
import ctypes, os, socket, subprocess, sys, time
import numpy as np
import pyarrow as pa
from freezeframe.decoders.contract import EDGES, Channel, Decoder, Option, Output, Texts

def schema():
    return pa.schema([pa.field("t_ps", pa.int64()), pa.field("source", pa.string()),
                      pa.field("kind", pa.string())])

def new_state(options):
    return []

def does(what, edges):
{does}

def decode(edges, options, state, last):
    says = does(options.text("does"), edges) if last else None
    said = [str(says)] if last else []
    return pa.table({{"t_ps": [0] * len(said), "source": ["s"] * len(said), "kind": said}},
                    schema=schema())

ONE = Decoder(id="one", name="one", doc="one", consumes=EDGES, decode=decode, new_state=new_state,
    produces=(Output("one", schema),), channels=(Channel("mdc", "clock"),),
    options=(Option("does", "well", "what it does"),),
    texts=lambda row: Texts(row["kind"], row["kind"], row["kind"]))
"""
DOES = """
    if what == "segfault":
        ctypes.string_at(0)
    if what == "exit":
        os._exit(0)
    if what == "allocate":
        held = []
        while True:
            held.append(np.ones(1 << 24))
    if what == "sleep":
        time.sleep(1000)
    if what == "connect":
        socket.create_connection(("127.0.0.1", 9))
    if what == "program":
        subprocess.run(["/bin/true"])
    if what == "raise":
        raise ValueError("a line\\nand another")
    if what == "quit":
        sys.exit(3)
    if what == "print":
        print("here \\x1b[31m I am")
        os.write(1, b"and here\\n")
        sys.stderr.write("and here")
    if what == "read":
        return repr(sys.stdin.read()) if False else repr(os.read(0, 10))
    if what == "answer":
        for fd in range(3, 9):
            try:
                os.write(fd, b"nonsense\\n")
            except OSError:
                pass
    return f"well, in {os.getpid()}"
"""
shut = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="the kernel's filter is of Linux",
)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    path = tmp_path / "one.py"
    path.write_text(PLUGIN.format(does=DOES))
    write_bus(tmp_path / "board.sr")
    return path


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("segfault", "decoder one: the worker process died of SIGSEGV"),
        ("exit", "decoder one: the worker process ended with code 0"),
        ("allocate", "decoder one: more than 1500 MiB of memory were asked for"),
        (
            "sleep",
            "decoder one: no answer within 5 s, so the worker was ended; the decoder hangs, or FREEZEFRAME",
        ),
        pytest.param("connect", "decoder one failed: PermissionError: [Errno 1]", marks=shut),
        pytest.param("program", "decoder one failed: PermissionError: [Errno 1]", marks=shut),
        ("raise", r"decoder one failed: ValueError: a line\nand another (one.py line 31)"),
        ("quit", "SystemExit: 3"),
        ("answer", "the worker answers nonsense"),
    ],
)
def test_what_a_decoder_does_wrong_is_one_line_and_the_next_run_is_well(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, does: str, said: str
) -> None:
    monkeypatch.setenv("FREEZEFRAME_PLUGIN_TIMEOUT_S", "5" if does == "sleep" else "300")
    monkeypatch.setenv("FREEZEFRAME_PLUGIN_MEMORY_MIB", "1500")
    registry = load_with_plugins([plugin])
    board = plugin.with_name("board.sr")
    with pytest.raises(InputError) as caught:
        decode_file(board, ["mdio", f"one:does={does}"], registry=registry)
    text = str(caught.value)
    assert said in text
    assert "\n" not in text
    (mdio, _), (_, table) = decode_file(board, ["mdio", "one"], registry=registry)
    assert mdio == "mdio"
    assert table["kind"][0].as_py().startswith("well, in ")


@pytest.fixture
def package(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The plug-in as an installed package, `others` 2.1, with two modules that do not load beside it."""
    site = plugin.parent
    (site / "fatal.py").write_text("import ctypes\nctypes.string_at(0)\n")
    (site / "lost.py").write_text("import no_such_module_at_all\n")
    metadata = site / "others-2.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 2.1\n")
    points = (
        "one = one:ONE\nfatal = fatal:X\nlost = lost:X\nother = one:ONE\nword = one:PLUGIN_WORD\n"
    )
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\n{points}")
    plugin.write_text(plugin.read_text() + "PLUGIN_WORD = 'none'\n")
    monkeypatch.syspath_prepend(str(site))
    return site


def test_a_decoder_of_an_installed_package_runs_in_the_jail_and_never_in_the_program(
    package: Path,
) -> None:
    registry = load_decoders()
    ((_, table),) = decode_file(package / "board.sr", ["one"], registry=registry)
    (said,) = table["kind"].to_pylist()
    assert said.startswith("well, in ")
    assert said != f"well, in {os.getpid()}"
    assert "one" not in sys.modules
    with pytest.raises(InputError, match=r"decoder one: the worker process died of SIGSEGV$"):
        decode_file(package / "board.sr", ["one:does=segfault"], registry=registry)


def test_what_does_not_load_of_an_installed_package_is_a_line_each_and_the_others_work(
    package: Path,
) -> None:
    registry = load_decoders()
    assert registry.native["one"].name == "one"
    broken = {each.name: f"{each.origin}: {each.error}" for each in registry.broken}
    assert {name: broken[name] for name in ("fatal", "lost", "other", "word")} == {
        "fatal": "fatal:X of others 2.1: others 2.1: loading fatal: the worker process died of SIGSEGV",
        "lost": "lost:X of others 2.1: ModuleNotFoundError: No module named 'no_such_module_at_all'",
        "other": "one:ONE of others 2.1: the entry point is named other but the decoder says it is one",
        "word": "one:PLUGIN_WORD of others 2.1: one:PLUGIN_WORD is a str, not a Decoder",
    }


def test_a_death_is_one_line_of_the_program(plugin: Path) -> None:
    done = run_inside(
        "decode",
        str(plugin.with_name("board.sr")),
        "-d",
        "one:does=segfault",
        "--plugin",
        str(plugin),
    )
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "one.py: decoder one: the worker process died of SIGSEGV" in done.err


def test_what_it_prints_is_told_and_taken_for_nothing(
    plugin: Path, caplog: pytest.LogCaptureFixture
) -> None:
    registry = load_with_plugins([plugin])
    board = plugin.with_name("board.sr")
    with caplog.at_level(logging.WARNING):
        ((_, table),) = decode_file(board, ["one:does=print"], registry=registry)
    assert table["kind"][0].as_py().startswith("well, in ")
    (record,) = [each for each in caplog.records if "plugin" in each.name]
    said = record.getMessage()
    assert said.startswith(f"{plugin}: printed ")
    assert "\x1b" not in said
    assert "\n" not in said


def test_standard_input_is_not_a_decoder_s(plugin: Path) -> None:
    board = plugin.with_name("board.sr")
    ((_, table),) = decode_file(board, ["one:does=read"], registry=load_with_plugins([plugin]))
    assert table["kind"].to_pylist() == ["b''"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("import ctypes; ctypes.string_at(0)", "running it: the worker process died of SIGSEGV"),
        ("import time; time.sleep(1000)", "running it: no answer within 8 s"),
        pytest.param("import socket; socket.socket()", "PermissionError: [Errno 1]", marks=shut),
        ("held = bytearray(1 << 40)", "MiB of memory were asked for"),
    ],
)
def test_a_file_that_fails_while_it_is_run_is_one_line(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.setenv("FREEZEFRAME_PLUGIN_TIMEOUT_S", "8")
    plugin.write_text(f"{line}\n{plugin.read_text()}")
    with pytest.raises(InputError) as caught:
        load_with_plugins([plugin])
    text = str(caught.value)
    assert said in text
    assert "\n" not in text


def test_a_file_is_not_run_in_this_process(plugin: Path) -> None:
    plugin.write_text(f"import sys; sys.modules['a_mark_of_it'] = sys\n{plugin.read_text()}")
    before = set(sys.modules)
    registry = load_with_plugins([plugin])
    decode_file(plugin.with_name("board.sr"), ["one"], registry=registry)
    assert not [n for n in set(sys.modules) - before if "plugin_one" in n or n == "a_mark_of_it"]


def test_a_worker_that_was_well_takes_the_next_stream(plugin: Path) -> None:
    registry = load_with_plugins([plugin])
    board = plugin.with_name("board.sr")
    said = {
        decode_file(board, ["one"], registry=registry)[0].table["kind"][0].as_py() for _ in range(3)
    }
    assert len(said) == 1  # with the number of its process


@pytest.mark.parametrize(
    ("variable", "value"),
    [("FREEZEFRAME_PLUGIN_TIMEOUT_S", "soon"), ("FREEZEFRAME_PLUGIN_MEMORY_MIB", "-1")],
)
def test_a_limit_that_is_no_number_is_told(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    done = run_inside("decoders", "--plugin", str(plugin))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"{variable}={value}: not a number of" in done.err


def test_the_page_says_the_limits() -> None:
    rows = dict(
        re.findall(r"^\| `(FREEZEFRAME_PLUGIN_\w+)` \|.*?; (\d+)\b", PAGE.read_text(), re.M)
    )
    assert {name: float(value) for name, value in rows.items()} == {
        TIMEOUT_VARIABLE: TIMEOUT_S,
        MEMORY_VARIABLE: MEMORY_MIB,
    }
