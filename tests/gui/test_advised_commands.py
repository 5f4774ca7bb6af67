"""What an error or an advice says to type can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from freezeframe.capture.files.sigrok_sr_writer import write_sr
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget
from freezeframe.gui.cli.work.session import open_logged
from freezeframe.gui.report import advice
from tests.decoders.test_guess import i2c
from tests.gui.cli import refusal, run_inside

ADVICE = Path(advice.__file__).with_name("advice.toml").read_text()
COMMANDS = sorted(
    command
    for command in set(re.findall(r"'freezeframe ([^']*)'", ADVICE))
    if "CAPTURE.ff" in command
)


def typed(text: str) -> list[str]:
    """Return the arguments of the command in a message."""
    (command,) = re.findall(r"freezeframe (?:decode|explain) \S+(?: -d \w+)?", text)[:1]
    return shlex.split(command.rstrip(","))[1:]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advised") / "fault.ff"
    pull(EmulatorTarget(fault="word-omitted", seed=2), path)
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_of_an_advice_runs_on_the_capture_that_it_is_given_for(
    command: str, capture: Path, tmp_path: Path
) -> None:
    words = shlex.split(command.replace("CAPTURE.ff", str(capture)))
    if words[0] == "export":
        words += ["-o", str(tmp_path / "out.pcapng")]
    done = run_inside(*words)
    assert done.code in (0, 1), done.err  # 1: what was checked does not hold
    assert done.out


def test_an_advice_names_decode_with_what_it_needs() -> None:
    assert any(command.startswith("decode ") for command in COMMANDS)


def test_a_folder_of_samples_is_sent_to_a_decode_that_reads_it(tmp_path: Path) -> None:
    write_sr(i2c(), tmp_path / "bus.sr")
    folder = tmp_path / "bus.ff"
    assert run_inside("import", str(tmp_path / "bus.sr"), "-o", str(folder)).code == 0
    for verb in ("explain", "check"):
        refused = run_inside(verb, str(folder))
        assert refused.code == 2
        done = run_inside(*typed(refused.err))
        assert (done.code, done.err) == (0, "")
        assert "1. i2c  (" in done.out


def test_a_folder_of_samples_without_its_manifest_is_still_no_recording_of_a_card(
    tmp_path: Path,
) -> None:
    write_sr(i2c(), tmp_path / "bus.sr")
    folder = tmp_path / "bus.ff"
    run_inside("import", str(tmp_path / "bus.sr"), "-o", str(folder))
    (folder / "manifest.json").unlink()
    said = refusal("decode", str(folder))
    assert said.startswith(f"freezeframe: {folder}/manifest.json: ")
    assert "missing" in said
    assert "-d trace" not in said


@pytest.mark.parametrize("profile", ["forth", "pci-sci"])
def test_of_a_folder_with_recordings_of_cards_each_is_told_a_decode_that_reads_it(
    profile: str, tmp_path: Path
) -> None:
    path = tmp_path / "some" / "card.ff"
    path.parent.mkdir()
    with open_logged(f"emu:?profile={profile}") as target:
        pull(target, path, freeze=True)
    listed = run_inside("decode", str(path.parent))
    assert listed.code == 0
    done = run_inside(*typed(listed.out))
    assert done.code == 0, done.err
