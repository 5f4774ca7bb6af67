"""Wrong options: one line that names verb, option and value, and says where to read on."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from freezeframe.gui.cli.usage import seconds
from tests.gui.cli import process_environment, refusal
from tests.gui.made_capture import made_capture

PULL = ("pull", "emu:", "-o", "/no/such/x.ff")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            (*PULL, "--wait", "nan"),
            "pull: --wait: 'nan' is not a number of seconds from 0 to 100,000,000",
        ),
        (
            (*PULL, "--wait=-1"),
            "pull: --wait: '-1' is not a number of seconds from 0 to 100,000,000",
        ),
        (
            (*PULL, "--outage", "inf"),
            "pull: --outage: 'inf' is not a number of seconds from 0 to 100,000,000",
        ),
        (("emulate", "--seed", "x"), "emulate: --seed: 'x' is not a whole number"),
        (("emulate", "--seed", "-1"), "emulate: --seed: '-1' is below 0, the least"),
        (
            ("inject", "emu:", "--flow", "128"),
            "inject: --flow: '128' is not a number from 0 to 127",
        ),
        (("emulate", "--speed", "fast"), "emulate: --speed: 'fast' is not a number from 0"),
        (("pull", "emu:"), "pull: -o/--output is missing"),
        (("explain",), "explain: CAPTURE is missing"),
        (("pull", "emu:", "--forc"), "pull: no such option: --forc; did you mean --force?"),
        (("explain", "a", "b"), "explain: got unexpected extra argument(s) (b)"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_error_of_usage_is_one_line(arguments: tuple[str, ...], line: str) -> None:
    said = refusal(*arguments)
    verb = arguments[0]
    assert said == f"freezeframe {line}; see freezeframe {verb} --help\n"


def test_an_error_of_usage_shows_no_control_character() -> None:
    assert "\x1b" not in refusal("emulate", "--seed", "\x1b[2J\n")


@pytest.mark.parametrize(("text", "value"), [("0", 0.0), ("1.5", 1.5), ("1e8", 1e8)])
def test_seconds_are_numbers_from_0_to_three_years(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "nan", "inf", "-0.1", "1e9", "1s"])
def test_what_no_clock_can_wait_is_no_number_of_seconds(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a number of seconds"):
        seconds(text)


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_capture(tmp_path_factory.mktemp("made") / "fault.ff").path


PRINTED = (
    ("--help",),
    ("--version",),
    ("decoders",),
    ("verify", "fault.ff"),
    ("explain", "fault.ff"),  # which finds a fault: 1, were it not for that
)


def _into(redirection: str, words: tuple[str, ...], folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-m", "freezeframe", *words],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=folder,
        env=process_environment(),
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_one_line_that_says_so(
    words: tuple[str, ...], capture: Path
) -> None:
    full = "freezeframe: standard output: No space left on device; not all was printed\n"
    assert _into(">/dev/full", words, capture.parent) == (2, full)


@pytest.mark.parametrize("words", PRINTED, ids=" ".join)
def test_results_that_nobody_can_see_because_standard_output_is_closed_are_no_success(
    words: tuple[str, ...], capture: Path
) -> None:
    closed = "freezeframe: standard output: is closed; not all was printed\n"
    assert _into(">&-", words, capture.parent) == (2, closed)


@pytest.mark.parametrize("name", ["e.pcap", "e.pcapng", "e.vcd", "e"])
@pytest.mark.parametrize(
    "words",
    [
        ("explain",), ("report",), ("decode",), ("decode", "-d", "tcp"), ("analyze", "pressure"), ("verify",),
        ("export", "--to", "csv", "-o", "made"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_file_that_is_empty_is_called_that(
    words: tuple[str, ...], name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.touch()
    said = refusal(words[0], str(path), *words[1:])
    assert said == f"freezeframe: {path}: the file is empty\n"


def test_a_disk_that_is_full_for_a_file_is_told_as_before(
    capture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("freezeframe.gui.cli.work.verify.emit_json", full)
    assert refusal("verify", str(capture), "--json") == (
        "freezeframe: the disk is full; nothing was kept, free some space and run this again\n"
    )


def test_an_encoding_without_the_letters_shows_escapes_and_goes_on(tmp_path: Path) -> None:
    folder = made_capture(tmp_path / "made.ff").path
    done = subprocess.run(
        [sys.executable, "-m", "freezeframe", "explain", str(folder)],
        capture_output=True,
        check=False,
        env={**process_environment(), "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\xb5s" in done.stdout
