"""Profiles written down in tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from freezeframe.emulator.adapter.outcome import Outcome, run_adapter
from freezeframe.emulator.adapter.reading import Described, load_adapter


def load_text(folder: Path, text: str, **settings: Any) -> Described:
    """Read a profile given as text; settings by key, ``__`` for a dot."""
    path = folder / "own.toml"
    path.write_text(text)
    found = {key.replace("__", "."): value for key, value in settings.items()}
    return load_adapter(str(path), found)


def run_text(folder: Path, text: str, **settings: Any) -> Outcome:
    """Run a profile given as text."""
    return run_adapter(load_text(folder, text, **settings))


ONE = """
[resource.cpu]
[stage.work]
uses = ["cpu"]
fixed_ns = 100
[flow.messages]
arrivals = "saturating"
"""
