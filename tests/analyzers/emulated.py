"""Captures of the emulated pair for the tests of analyses: pulled in process, and profiles that differ from FORTH."""

from __future__ import annotations

import re
from pathlib import Path

from freezeframe.analyzers.view import CaptureView
from freezeframe.capture.folder import CaptureFolder
from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget

_FORTH = Path(__file__).parents[2] / "emulator" / "profiles" / "forth.toml"


def pulled(
    path: Path,
    seed: int,
    *,
    fault: str = "none",
    profile: str = "forth",
    limit_us: int = 400,
    load: str | None = None,
) -> CaptureView:
    """Run a pair until it freezes or the time is over, with a fault until that shows; freeze and pull it."""
    target = EmulatorTarget(profile, fault, seed, load=load)
    if fault == "none":
        target.run_until_frozen(limit_us * 1_000_000)
    else:
        target.run_until_evident(40_000_000_000)
    where = path / f"{fault}-{seed}-{Path(profile).stem}.ff"
    pull(target, where, freeze=True)
    return CaptureView(CaptureFolder.open(where))


def varied_profile(path: Path, **values: int) -> str:
    """Write a profile that differs from FORTH in some keys; return its path."""
    text = _FORTH.read_text()
    for key, value in values.items():
        text, count = re.subn(rf"(?m)^{key} = \S+", f"{key} = {value}", text)
        assert count == 1, key
    path.write_text(text)
    return str(path)
