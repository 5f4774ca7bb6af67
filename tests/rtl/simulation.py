"""What the tests of the Verilog share: where the sources stand, and a cocotb module run in Icarus.

Icarus knows x and z: a value that is one has no number, so a test that reads it as an int fails.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.processes import run_program

REPOSITORY = Path(__file__).resolve().parents[2]
RTL = REPOSITORY / "firmware-hooks" / "rtl"
GENERATED = REPOSITORY / "firmware-hooks" / "registers" / "generated"

_IN_THE_SIMULATOR = {
    "PYTHONPATH": str(REPOSITORY),
    # cocotb has pytest rewrite the tests' asserts; with it would come every plug-in that is installed, Qt's and
    # textual's too: 2 s of CPU for each simulation, none of which it needs.
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
}


def tool(name: str) -> str:
    """Return the path of a program, or skip the test with the reason."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed; sh tools/system-packages.sh installs it")
    return found


def folders() -> list[Path]:
    """Return every folder that holds modules of the product."""
    return [
        RTL,
        RTL / "adapters",
        RTL / "check",
        RTL / "card",
        RTL / "example_nic",
        RTL.parent / "examples",
        GENERATED,
    ]


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module, by the module's name."""
    return {
        file.stem: file for folder in folders() if folder.is_dir() for file in folder.glob("*.v")
    }


def simulate(
    top: str, module: str, folder: Path, parameters: Mapping[str, object] | None = None
) -> None:
    """Run the cocotb tests of a Python module on a top in Icarus; a failing one fails here.

    Args:
        top: name of the Verilog module.
        module: dotted name of the Python module, as ``__name__`` gives it.
        folder: where the simulation is built and run.
        parameters: the top's parameters.
    """
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    tool("iverilog")
    runner = get_runner("icarus")
    runner.build(
        sources=[modules()[top]], hdl_toplevel=top, parameters=dict(parameters or {}), always=True,
        build_args=["-g2005", *(arg for path in folders() for arg in ("-y", str(path)))],
        build_dir=folder, timescale=("1ns", "1ps"), log_file=folder / "build.log",
    )  # fmt: skip
    try:
        results = runner.test(
            hdl_toplevel=top, hdl_toplevel_lang="verilog", test_module=module, build_dir=folder,
            test_dir=folder, extra_env=_IN_THE_SIMULATOR, log_file=folder / "test.log",
        )  # fmt: skip
    except SystemExit as told:  # cocotb's way to say that a test failed
        raise AssertionError((folder / "test.log").read_text("utf-8", "replace")[-8000:]) from told
    run, failed = get_results(results)
    assert (run > 0, failed) == (True, 0), f"{module}: {run} tests run, {failed} failed"


def in_icarus(top: str, module: str, *builds: Mapping[str, object]) -> Callable[..., None]:
    """Return the test that runs the cocotb tests of a module on a top, once with the parameters of each build."""

    @pytest.mark.parametrize("parameters", builds or [{}], ids=_id)
    def test(tmp_path: Path, parameters: Mapping[str, object]) -> None:
        simulate(top, module, tmp_path, parameters)

    return test


def _id(parameters: Mapping[str, object]) -> str:
    return "-".join(f"{name}={value}" for name, value in parameters.items()) or "as-it-is"


def lint(top: str, parameters: Mapping[str, object] | None = None) -> str:
    """Return what Verilator says of a module and all below it with ``-Wall``: nothing, where it is clean."""
    told = run_program([tool("verilator"), "--lint-only", "-Wall", *(f"-I{path}" for path in folders()),
         *(f"-G{name}={value}" for name, value in (parameters or {}).items()),
         "--top-module", top, str(modules()[top])])  # fmt: skip
    return told.stdout + told.stderr


def elaborate(top: str, output: Path, parameters: Iterable[tuple[str, object]] = ()) -> str:
    """Return what Icarus says while it elaborates a module: nothing, where it is content."""
    told = run_program([tool("iverilog"), "-g2005", "-Wall", "-Wno-portbind", "-Wno-timescale",
         *(arg for path in folders() for arg in ("-y", str(path))),
         *(f"-P{top}.{name}={value}" for name, value in parameters),
         "-s", top, "-o", str(output), str(modules()[top])])  # fmt: skip
    return told.stdout + told.stderr
