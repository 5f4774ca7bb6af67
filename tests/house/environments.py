"""Fresh environments for what is installed: the packages from ours, Freezeframe from what was built, no download."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checked(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a program without our PYTHONPATH and return what it prints; one that fails fails the test."""
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=outside | variables, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A virtual environment with Freezeframe installed in one of its ways."""

    folder: Path

    @classmethod
    def install(cls, folder: Path, *what: str | Path) -> Environment:
        """Make an environment at ``folder`` and install ``what`` as pip is told."""
        checked(sys.executable, "-m", "venv", "--without-pip", folder, cwd=ROOT)
        made = cls(folder)
        # A line of a .pth file: the packages are found there, its own .pth files (our checkout) are not read.
        (made.packages / "packages_of_the_tests.pth").write_text(sysconfig.get_path("purelib"))
        checked(
            sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", made.python,
            "install", "--no-deps", "--no-index", "--no-build-isolation", *what, cwd=folder,
        )  # fmt: skip
        return made

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def packages(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def run(self, *arguments: str | Path) -> str:
        """Run Python in the environment, away from the checkout, and return what it prints."""
        return checked(self.python, *arguments, cwd=self.folder)
