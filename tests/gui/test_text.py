"""Names from outside: what a terminal and a shell get to see of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from freezeframe.gui.text import folder_name, folder_title, printable, shell_path, shell_word
from tests.gui.cli import run_process
from tests.gui.made_capture import made_capture


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fault.ff", "fault.ff"),
        ("a\x1b[2J\nb", r"a\x1b[2J\nb"),
        ("\udcff.ff", r"\udcff.ff"),
        ("µs", "µs"),
    ],
)
def test_control_characters_are_shown_and_not_sent(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    "name", ["fault.ff", "my fault.ff", "it's.ff", "$(date)", "a\nb", "-x\x1b\\'", "\udcff.ff", ";"]
)
def test_a_word_for_the_shell_comes_back_as_it_was(name: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"printf %s {shell_word(name)}"], capture_output=True, check=True
    )
    # bash's printf takes a leading dash for an option, which is not what is looked at here
    assert done.stdout == os.fsencode(name) or name.startswith("-")
    assert shell_word(name).isprintable()


def test_a_name_that_looks_like_an_option_is_given_as_a_path() -> None:
    assert shell_path("-x.ff") == "./-x.ff"
    assert shell_path("x y.ff") == "'x y.ff'"
    assert shell_word("etherbone://192.0.2.7:1234") == "etherbone://192.0.2.7:1234"


def test_a_generic_name_is_given_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tuesday" / "capture.ff").mkdir(parents=True)
    assert folder_title(tmp_path / "tuesday" / "capture.ff") == "tuesday/capture.ff"
    assert folder_title(tmp_path / "tuesday" / "rx-crc.ff") == "rx-crc.ff"
    monkeypatch.chdir(tmp_path / "tuesday" / "capture.ff")
    assert folder_name(Path()) == "capture.ff"
    assert folder_title(Path()) == "tuesday/capture.ff"


def test_a_name_that_is_no_text_is_reported_all_the_same(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe.ff"))
    made_capture(folder)
    out = tmp_path / "r.html"
    done = run_process("report", os.fsdecode(os.fsencode(folder)), "-o", str(out))
    assert (done.code, done.err) == (0, "")
    page = out.read_text(encoding="utf-8")
    assert r"Freezeframe report of \udcff\udcfe.ff" in page
    assert r"freezeframe explain $&#x27;\xff\xfe.ff&#x27;" in page
