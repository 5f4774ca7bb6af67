"""Analyses are found by their declarations; what does not load is one line, and the others still do."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from freezeframe.analyzers.registry import GROUP, load_analyses
from tests.processes import run_program

OWN = "freezeframe.analyzers.declarations:DMA"
BROKEN = {
    "written for 0.1": (
        "from freezeframe.analyzers.analysis import AnalysisResult, Material\n",
        r"ImportError: cannot import name 'Material' from 'freezeframe.analyzers.analysis' .*"
        r"\(was it written for Freezeframe 0\.1\?\)$",
    ),
    "a module that is gone": (
        "import freezeframe.analyzers.diagnosis.interrupts\n",
        r"ModuleNotFoundError: No module named .* \(was it written for Freezeframe 0\.1\?\)$",
    ),
    "not installed": ("import no_such_module\n", r"No module named 'no_such_module'$"),
    "ends the program": ("raise SystemExit(3)\n", "SystemExit: 3$"),
    "something else": ("PLUGIN = 7\n", "is a int, not an Analysis$"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_plug_in_that_does_not_load_is_one_line_and_the_others_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    text, line = BROKEN[name]
    module = f"plugin_{list(BROKEN).index(name)}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    registry = load_analyses(
        [EntryPoint("mine", f"{module}:PLUGIN", GROUP), EntryPoint("dma", OWN, GROUP)]
    )
    assert list(registry.analyses) == ["dma"]
    (why,) = registry.broken.values()
    assert "\n" not in why
    with pytest.raises(Exception, match=line):
        registry.find("mine")


def test_listing_analyses_loads_no_tables_and_no_kernels() -> None:
    script = (
        "import sys; from freezeframe.analyzers.registry import load_analyses\n"
        "assert len(load_analyses().analyses) >= 9\n"
        "print([name for name in ('numpy', 'numba', 'pandas', 'pyarrow') if name in sys.modules])"
    )
    done = run_program([sys.executable, "-c", script])
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
