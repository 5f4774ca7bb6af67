"""Captures of an emulated pair, for tests and for pictures; nothing of a window."""

from __future__ import annotations

from pathlib import Path

from freezeframe.capture.recorder.pull import pull
from freezeframe.emulator.target import EmulatorTarget

_LIMIT_PS = 20_000_000_000


def emulated(path: Path, fault: str = "word-omitted", seed: int = 2) -> Path:
    """Write the capture of an emulated pair with a fault, as ``freezeframe demo`` does."""
    target = EmulatorTarget(profile="forth", fault=fault, seed=seed)
    target.run_until_frozen(_LIMIT_PS)
    pull(target, path, freeze=True)
    target.close()
    return path
