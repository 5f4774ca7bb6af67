"""Freezeframe: a flight recorder for network cards."""

from pathlib import Path

__version__ = "0.2.0"

_root = Path(__file__).resolve().parents[2]
if (_root / "pyproject.toml").is_file():  # a checkout: the rooms are its top-level folders
    __path__.insert(0, str(_root))
