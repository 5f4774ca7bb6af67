"""Who has no folder for compiled kernels has them among the temporary files, and in a folder of nobody else's."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from freezeframe.capture import kernel_cache
from freezeframe.capture.errors import InputError
from tests.house.environments import ROOT
from tests.house.test_kernel_locks import KERNEL
from tests.processes import run_program

PROGRAM = """
import os, sys
import freezeframe
import numpy as np
from kernel import outer
assert outer(np.arange(4)) == 8
print(os.environ.get("NUMBA_CACHE_DIR"), sum(outer.stats.cache_hits.values()))
"""
compiled = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)


def run_without_home(folder: Path, **more: str) -> tuple[list[str], str]:
    """Run the kernel where neither the home nor the place of the program can be written, also by root."""
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "__pycache__").touch()  # a file: no folder can be made there
    (folder / "tmp").mkdir(exist_ok=True)
    env = {n: v for n, v in os.environ.items() if not n.startswith(("NUMBA_CACHE", "XDG_"))}
    env |= {"HOME": "/dev/null", "TMPDIR": str(folder / "tmp"), **more}
    env["PYTHONPATH"] = f"{folder}:{ROOT / 'src'}"
    done = run_program([sys.executable, "-c", PROGRAM], env=env, check=True)
    return done.stdout.split(), done.stderr


@compiled
def test_kernels_stand_in_a_folder_of_the_user_s_own_and_one_line_names_what_to_set(
    tmp_path: Path,
) -> None:
    (kept, hits), said = run_without_home(tmp_path)
    folder = tmp_path / "tmp" / f"freezeframe-kernels-{os.geteuid()}"
    assert (kept, hits) == (str(folder), "0")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert said.count("NUMBA_CACHE_DIR") == 1
    assert str(folder) in said
    assert run_without_home(tmp_path)[0] == [str(folder), "1"], "it is not compiled again"


@compiled
def test_a_folder_that_others_can_write_is_not_loaded_from(tmp_path: Path) -> None:
    folder = tmp_path / "tmp" / f"freezeframe-kernels-{os.geteuid()}"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    (kept, _), said = run_without_home(tmp_path)
    assert re.fullmatch(rf"{tmp_path}/tmp/freezeframe-kernels-\w{{8}}", kept)
    assert kept in said
    assert list((tmp_path / "tmp").iterdir()) == [folder], "that of the process is gone with it"
    assert list(folder.iterdir()) == []


@compiled
def test_a_folder_that_is_given_is_used_without_a_word(tmp_path: Path) -> None:
    given = tmp_path / "given"
    (kept, _), said = run_without_home(tmp_path, NUMBA_CACHE_DIR=str(given))
    assert (kept, said) == (str(given), "")
    assert list(given.rglob("*.nbi"))


def test_without_any_folder_one_line_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    with pytest.raises(InputError, match=r"no folder for compiled kernels.*set NUMBA_CACHE_DIR"):
        kernel_cache.private_folder.__wrapped__()
