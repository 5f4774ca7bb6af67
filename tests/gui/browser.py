"""A page in headless Chromium, as a reader opens it; skips with its reason where there is none."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--virtual-time-budget=5000",
)


def dump_dom(page: Path, home: Path, *flags: str) -> str:
    """Return the document as it stands when its scripts have run."""
    return _run(home, *flags, "--dump-dom", page.as_uri()).stdout.decode()


def screenshot(page: Path, home: Path, picture: Path, width: int, height: int) -> None:
    """Write what a window of this size shows."""
    _run(home, f"--screenshot={picture}", f"--window-size={width},{height}", page.as_uri())


def print_pdf(page: Path, home: Path, pdf: Path) -> None:
    """Write the page as it is printed."""
    _run(home, f"--print-to-pdf={pdf}", "--no-pdf-header-footer", page.as_uri())


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed (Debian: apt install chromium)")
    return subprocess.run(
        [program, *_FLAGS, f"--user-data-dir={home}", *arguments],
        capture_output=True,
        check=True,
        timeout=120,
    )
