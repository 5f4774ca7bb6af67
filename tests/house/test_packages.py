"""What a user installs holds all that runs: source archive, the wheel built from it, the Verilog in the wheel."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.house.environments import ROOT, Environment, checked

LINKS = {f"src/freezeframe/{room}" for room in ("capture", "decoders", "analyzers", "emulator", "gui")}  # fmt: skip
DEVICE_SIDE = ("rtl", "board", "simulation", "c", "registers/generated")


def tracked() -> set[str]:
    """Return the files that git knows, but not the links."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no clone: git does not say what belongs to the project")
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()} - LINKS


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source archive, built and unpacked."""
    folder = tmp_path_factory.mktemp("source")
    checked(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as members:
        members.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel that was built from the source archive."""
    folder = tmp_path_factory.mktemp("wheel")
    checked(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=unpacked)
    (built,) = folder.glob("*.whl")
    return Environment.install(folder / "env", built)


def test_the_source_archive_is_whole(unpacked: Path) -> None:
    """So that ``make test`` runs from it: Makefile, lock, tools, tests, and all else that git knows."""
    archived = {
        str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()
    } - {"PKG-INFO"}
    assert tracked() - archived == set()


def test_the_source_archive_runs_as_it_was_unpacked(unpacked: Path) -> None:
    run = checked(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/capture/registers",
        "tests/house/test_import_rule.py", cwd=unpacked, PYTHONPATH=str(unpacked / "src"),
    )  # fmt: skip
    assert " passed" in run


def test_the_wheel_offers_the_program_the_module_and_every_entry_point(wheel: Environment) -> None:
    version = checked(wheel.folder / "bin" / "freezeframe", "--version", cwd=wheel.folder)
    assert wheel.run("-m", "freezeframe", "--version") == version
    names = wheel.run(
        "-c",
        "from importlib.metadata import distribution\n"
        "for entry in distribution('freezeframe').entry_points: entry.load()\n"
        "import freezeframe; print(freezeframe.__file__, freezeframe.__version__)",
    ).split()
    assert names[0] == str(wheel.packages / "freezeframe" / "__init__.py")
    assert names[1] in version


def test_the_wheel_brings_the_device_side_and_finds_it_there(wheel: Environment) -> None:
    found = Path(
        wheel.run(
            "-c", "from freezeframe.capture.device_side import hooks_folder; print(hooks_folder())"
        ).strip()
    )
    assert found == wheel.packages / "freezeframe" / "firmware_hooks"
    hooks = ROOT / "firmware-hooks"
    for part in DEVICE_SIDE:
        ours = {
            path.relative_to(hooks)
            for path in (hooks / part).rglob("*")
            if path.suffix in (".v", ".cpp", ".c", ".h")
        }
        assert ours
        assert ours <= {path.relative_to(found) for path in found.rglob("*")}
