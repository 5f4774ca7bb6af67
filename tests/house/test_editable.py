"""Who works on the code works on the files that git shows: breakpoints, tracebacks and coverage name them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.environments import ROOT, Environment, checked

FILE = ROOT / "capture" / "time_text.py"


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return Environment.install(tmp_path_factory.mktemp("editable") / "env", "-e", ROOT)


@pytest.fixture(scope="module")
def line() -> int:
    """The first line of a function's body that every call of it runs."""
    import ast

    functions = [
        node
        for node in ast.parse(FILE.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    (format_ps,) = (node for node in functions if node.name == "format_ps")
    return format_ps.body[1].lineno  # after the docstring


def test_nothing_is_copied(editable: Environment) -> None:
    ours = [path.name for path in editable.packages.iterdir() if "freezeframe" in path.name]
    assert sorted(name.rpartition(".")[2] for name in ours) == ["dist-info", "pth"]


def test_modules_are_the_files_that_git_shows(editable: Environment) -> None:
    code = "import freezeframe.capture.time_text as m; print(m.__file__)"
    assert editable.run("-c", code).strip() == str(FILE)


def test_a_breakpoint_on_the_file_that_git_shows_is_hit(editable: Environment, line: int) -> None:
    program = editable.folder / "program.py"
    program.write_text("from freezeframe.capture.time_text import format_ps\nformat_ps(1000)\n")
    told = editable.run(
        "-m", "pdb", "-c", f"b {FILE}:{line}", "-c", "c", "-c", "w", "-c", "q", program
    )
    assert f"> {FILE}({line})format_ps()" in told


def test_a_traceback_names_the_file_that_git_shows(editable: Environment) -> None:
    code = (
        "import traceback\nfrom freezeframe.capture.time_text import format_ps\n"
        "try: format_ps(None)\nexcept TypeError: print(traceback.format_exc())"
    )
    assert f'File "{FILE}", line ' in editable.run("-c", code)


def test_coverage_names_the_file_that_git_shows(editable: Environment) -> None:
    data = editable.folder / "coverage.data"
    program = editable.folder / "covered.py"
    program.write_text("from freezeframe.capture.time_text import format_ps\nformat_ps(1000)\n")
    editable.run(
        "-m", "coverage", "run", f"--data-file={data}", f"--source={ROOT}/capture", program
    )
    assert str(FILE) in editable.run(
        "-m", "coverage", "json", "-q", "-o", "-", f"--data-file={data}"
    )


def test_a_clone_without_symbolic_links_runs(tmp_path: Path) -> None:
    """All but the type check, which needs the links."""
    clone = tmp_path / "clone"
    cloned = subprocess.run(
        ["git", "clone", "-q", "--shared", "-c", "core.symlinks=false", str(ROOT), str(clone)],
        capture_output=True, check=False,
    )  # fmt: skip
    if cloned.returncode:
        pytest.skip("this is no clone: nothing to clone from")
    assert (clone / "src" / "freezeframe" / "capture").is_file()
    source = str(clone / "src")
    code = "import freezeframe.capture.errors as m, freezeframe.gui.cli.main; print(m.__file__)"
    told = checked(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=source)
    assert told.strip() == str(clone / "capture" / "errors.py")
    run = checked(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/capture/registers",
        "tests/house/test_import_rule.py", cwd=clone, PYTHONPATH=source,
    )  # fmt: skip
    assert " passed" in run


def test_a_python_that_is_too_old_is_one_line() -> None:
    """Nothing of the package's root needs a newer Python before it says so: here an old number is put in its place."""
    code = "import sys; sys.version_info = (3, 10, 13, 'final', 0); import freezeframe"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT / "src")}, cwd=ROOT,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "freezeframe needs Python 3.11 or newer; this is 3.10\n"
